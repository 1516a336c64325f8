/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Ops sets: how a callsite calls several ftrace_ops.
 *
 * For kernel/trace/ and the architectures; users of ftrace do not see sets.
 */
#ifndef _LINUX_FTRACE_OPS_SET_H
#define _LINUX_FTRACE_OPS_SET_H

#include <linux/ftrace.h>
#include <linux/llist.h>
#include <linux/rhashtable-types.h>

const struct ftrace_ops *ftrace_rec_dispatch(struct dyn_ftrace *rec);

#ifdef CONFIG_FTRACE_OPS_SETS

/**
 * struct ftrace_ops_set - the ops of a callsite
 * @callee: what a trampoline loads, as it does from an ops. Its func is
 *	ftrace_ops_set_lean_func() if @lean; a function for just @nr members if there are two to
 *	ten and not @assist; otherwise ftrace_ops_set_func(). It has no direct call.
 * @func_without_regs: as that of an ops
 * @node: in the table of all sets, by content
 * @garbage: instead of @node, once no callsite runs the set
 * @trampoline: what callsites without a literal call; 0 if none was needed
 * @refs: one for each callsite that runs the set or is about to, and one for the ops that
 *	is its only member, as long as that is registered
 * @id: what the record of a callsite holds
 * @hash: of the members, whatever their order
 * @nr: how many members
 * @lone: literals point to the one member, or to its site, and not to the set
 * @assist: a member has FTRACE_OPS_FL_RECURSION or FTRACE_OPS_FL_RCU
 * @plain: a member has neither
 * @regs: a member has FTRACE_OPS_FL_SAVE_REGS
 * @direct: a member has FTRACE_OPS_FL_DIRECT
 * @hands: a member has FTRACE_OPS_FL_HANDOVER
 * @handover: several members have it; @assist and @plain are set, too
 * @sites: a member has FTRACE_OPS_FL_SITES
 * @lean: there are several members, and ftrace_lean_caller() can call all of them
 * @nr_sleepers: how many members have FTRACE_OPS_FL_SLEEPS; 0 if @nr is 1, or if any member
 *	has FTRACE_OPS_FL_IPMODIFY. If not 0, @assist and @plain are set, too
 * @ops: what a hit calls, in the order of registration, those with
 *	FTRACE_OPS_FL_OVERRIDES last: the members. If there are several and one has sites,
 *	the set is for one callsite, and a member with sites is replaced by its site for that
 *	callsite, cast to an ops. Behind these come the members themselves, then the address
 *	of the callsite, then once more the sites of the members that sleep.
 *
 * Only these fields change: @refs, @node and @garbage; @trampoline, just once; and @ops,
 * after ftrace has died, see ftrace_ops_set_unregister(). ftrace_lock protects them.
 * A set with a reference stays as long as ftrace_lock is held. When its last reference
 * is gone, a CPU may still enter it, or a task be preempted in it: a set is freed after
 * synchronize_rcu_tasks(), synchronize_rcu_tasks_rude() and cpus_wait_for_dying(), as
 * an ftrace_ops is. With @nr_sleepers, synchronize_srcu() follows these.
 */
struct ftrace_ops_set {
	struct ftrace_callee	callee;
#ifdef arch_ftrace_func_without_regs
	ftrace_func_t		func_without_regs;
#endif
	union {
		struct rhash_head	node;
		struct llist_node	garbage;
	};
#ifdef CONFIG_ARCH_FTRACE_OPS_SET_TRAMPOLINE
	unsigned long		trampoline;
#endif
	u32			refs;
	u32			id;
	u32			hash;
	u16			nr;
	u16			lone : 1,
				assist : 1,
				plain : 1,
				regs : 1,
				direct : 1,
				hands : 1,
				handover : 1,
				sites : 1,
				lean : 1;
	u16			nr_sleepers;
	struct ftrace_ops	*ops[];
};

/**
 * struct ftrace_ops_set_stats - what sets take
 * @sets: how many there are; each ops that is registered has one of its own
 * @members: the members of all sets
 * @bytes: the memory of all sets
 * @list_walks: callsites that walk the list of all ops, for want of memory or because of
 *	ftrace_ops_sets=off
 * @fallbacks: how many times a callsite was left to walk the list, since boot
 * @garbage_sets: sets that nothing runs any more, and that wait to be freed
 * @garbage_bytes: their memory, without that of sets which only wait for tasks asleep in them
 */
struct ftrace_ops_set_stats {
	unsigned long	sets;
	unsigned long	members;
	unsigned long	bytes;
	unsigned long	list_walks;
	unsigned long	fallbacks;
	unsigned long	garbage_sets;
	unsigned long	garbage_bytes;
};

bool ftrace_ops_sets_enabled(void);
void ftrace_ops_set_wait_sleepers(void);
void ftrace_ops_set_get_stats(struct ftrace_ops_set_stats *stats);

/* A trampoline takes a set for an ops. */
static inline struct ftrace_ops *ftrace_ops_set_as_ops(struct ftrace_ops_set *set)
{
	return container_of(&set->callee, struct ftrace_ops, callee);
}

/* The set, from what its func was called with */
static inline struct ftrace_ops_set *ftrace_ops_set_of(struct ftrace_ops *op)
{
	return container_of(&op->callee, struct ftrace_ops_set, callee);
}

/* How far behind its site a member is in @set->ops, or 0 if hits call the members themselves */
static __always_inline unsigned int ftrace_ops_set_offset(const struct ftrace_ops_set *set)
{
	return set->sites && set->nr > 1 ? set->nr : 0;
}

/* The members, each an ops */
static inline struct ftrace_ops * const *ftrace_ops_set_members(const struct ftrace_ops_set *set)
{
	return set->ops + ftrace_ops_set_offset(set);
}

void ftrace_ops_set_func(unsigned long ip, unsigned long parent_ip,
			 struct ftrace_ops *op, struct ftrace_regs *fregs);
void ftrace_ops_set_lean_func(unsigned long ip, unsigned long parent_ip,
			      struct ftrace_ops *op, struct ftrace_regs *fregs);
bool ftrace_ops_is_set(const struct ftrace_ops *op);
void ftrace_ops_set_func_without_regs(unsigned long ip, unsigned long parent_ip,
				      struct ftrace_ops *op, struct ftrace_regs *fregs);

#ifndef arch_ftrace_literals_enabled
/* Are there callsites that find what they run in a literal? */
static inline bool arch_ftrace_literals_enabled(void)
{
	return !IS_ENABLED(CONFIG_ARCH_FTRACE_OPS_SET_TRAMPOLINE);
}

/* Is the one at @ip such a callsite? */
static inline bool arch_ftrace_can_have_literal(unsigned long ip)
{
	return arch_ftrace_literals_enabled();
}

/* What it calls, or 0 for FTRACE_ADDR or FTRACE_REGS_ADDR */
static inline unsigned long arch_ftrace_literal_caller(bool regs)
{
	return 0;
}
#endif

void bpf_site_caller(void);

/* What a callsite calls if all it has are sites that need no struct ftrace_regs; or 0 */
static inline unsigned long ftrace_lean_caller(void)
{
	return IS_ENABLED(CONFIG_BPF_SITE_CALLER) ? (unsigned long)bpf_site_caller : 0;
}

#ifdef CONFIG_ARCH_FTRACE_OPS_SET_TRAMPOLINE
unsigned long arch_ftrace_ops_set_trampoline(struct ftrace_ops_set *set);
void arch_ftrace_ops_set_free(struct ftrace_ops_set *set);
bool arch_is_ftrace_ops_set_trampoline(unsigned long addr);
unsigned long arch_ftrace_ops_set_pages(void);
#else
static inline void arch_ftrace_ops_set_free(struct ftrace_ops_set *set) { }
static inline bool arch_is_ftrace_ops_set_trampoline(unsigned long addr)
{
	return false;
}

static inline unsigned long arch_ftrace_ops_set_pages(void) { return 0; }
#endif

/* ftrace_replace.c checks up to this many callsites before it writes any of them. */
#define FTRACE_REPLACE_MAX	256

/*
 * Check that the text of @rec calls @curr, or nothing if that is 0, and note that it is to call
 * @addr, or nothing. Under ftrace_lock; one of the other two follows.
 */
int arch_ftrace_replace_check(struct dyn_ftrace *rec, unsigned long curr, unsigned long addr);
int arch_ftrace_replace_write(void);
void arch_ftrace_replace_cancel(void);

#else /* !CONFIG_FTRACE_OPS_SETS */

static inline bool arch_ftrace_literals_enabled(void)
{
	return false;
}

static inline bool arch_is_ftrace_ops_set_trampoline(unsigned long addr)
{
	return false;
}

#endif /* CONFIG_FTRACE_OPS_SETS */
#endif /* _LINUX_FTRACE_OPS_SET_H */
