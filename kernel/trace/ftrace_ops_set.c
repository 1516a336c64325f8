// SPDX-License-Identifier: GPL-2.0
/*
 * Ops sets: how a callsite calls several ftrace_ops.
 *
 * Every callsite that is traced has a set: the ops that trace it, in the order
 * of their registration. A hit costs what the members of its set cost. Ops that
 * trace only other callsites do not matter: a hit walks no list and looks up no
 * filter. A set never changes. Callsites with the same members share one; when
 * an ops comes to a callsite or leaves it, the callsite moves to another set.
 *
 * A change is made in two steps. The first does all that can fail: it finds
 * or builds the set that each callsite will move to, and holds a reference
 * for it. The second moves the callsites, a batch at a time: first the record,
 * then the text. Both touch the callsites that the change names, and no other.
 *
 * Removing an ops must not fail, but there may be no memory for the smaller set.
 * The callsite then walks the list of all ops and looks up its address in their
 * filters at every hit, until it changes again. The file ftrace_ops_sets in
 * tracefs counts such callsites.
 *
 * See Documentation/trace/ftrace-ops-sets.rst.
 */
#include <linux/context_tracking.h>
#include <linux/cpu.h>
#include <linux/hash.h>
#include <linux/jhash.h>
#include <linux/kmsan-checks.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/overflow.h>
#include <linux/rhashtable.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/rcupdate_wait.h>
#include <linux/srcu.h>
#include <linux/unroll.h>
#include <linux/workqueue.h>

#include <kunit/visibility.h>

#include "bpf_sites.h"
#include "ftrace_ops_set.h"
#include "ftrace_record.h"

/* Clearing a flag of a record with ~ must keep the upper half, where the id of its set is. */
static_assert((unsigned long)~FTRACE_FL_REGS >> 32 == U32_MAX);
static_assert((unsigned long)~FTRACE_FL_ENABLED >> 32 == U32_MAX);

/* Members with one of these need help: a recursion lock, and RCU watching if FTRACE_OPS_FL_RCU */
#define OPS_FL_ASSIST	(FTRACE_OPS_FL_RECURSION | FTRACE_OPS_FL_RCU)

/* --- Hits ------------------------------------------------------------------ */

static nokprobe_inline void set_call_ops(unsigned long ip, unsigned long parent_ip,
					 struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	op->func(ip, parent_ip, op, fregs);
}

/* As rcu_is_watching(), for callers that have disabled preemption already */
static __always_inline bool set_rcu_is_watching(void)
{
#ifdef CONFIG_CONTEXT_TRACKING_IDLE
	return rcu_is_watching_curr_cpu();
#else
	return rcu_is_watching();
#endif
}

/* Call the ops from @p up to @end, which all need help, under one recursion lock. */
static nokprobe_inline void set_call_assisted(unsigned long ip, unsigned long parent_ip,
					      struct ftrace_ops **p, struct ftrace_ops **end,
					      unsigned int offset, struct ftrace_regs *fregs)
{
	int bit = trace_test_and_set_recursion(ip, parent_ip, TRACE_LIST_START);

	if (bit < 0)
		return;

	if (likely(set_rcu_is_watching())) {
		do {
			set_call_ops(ip, parent_ip, *p, fregs);
		} while (++p < end);
	} else {
		do {
			if (!(p[offset]->flags & FTRACE_OPS_FL_RCU))
				set_call_ops(ip, parent_ip, *p, fregs);
		} while (++p < end);
	}
	trace_clear_recursion(bit);
}

/*
 * Choose which of the members with FTRACE_OPS_FL_HANDOVER to call: there can be several while
 * one hands over to another. If all registers were saved, prefer one that asked for them: it
 * can do what the others do, but not the reverse.
 */
static __always_inline struct ftrace_ops *
set_handover_ops(struct ftrace_ops_set *set, bool all_regs)
{
	struct ftrace_ops *found = NULL;

	for (unsigned int i = 0; i < set->nr; i++) {
		struct ftrace_ops *ops = ftrace_ops_set_members(set)[i];

		if (!(ops->flags & FTRACE_OPS_FL_HANDOVER))
			continue;
		if (!found || (all_regs && !(found->flags & FTRACE_OPS_FL_SAVE_REGS)))
			found = ops;
	}
	return found;
}

/*
 * Call the members one by one, but only one of those with FTRACE_OPS_FL_HANDOVER: the
 * function is being moved from one of these to another, and a hit must be handled once.
 * Members without FTRACE_OPS_FL_HANDOVER are not called if they have a flag of @skip.
 */
static noinline void set_call_each(unsigned long ip, unsigned long parent_ip,
				   struct ftrace_ops_set *set, struct ftrace_regs *fregs,
				   unsigned long skip)
{
	struct ftrace_ops *handover = set_handover_ops(set, !(skip & FTRACE_OPS_FL_SAVE_REGS));
	unsigned int offset = ftrace_ops_set_offset(set);

	for (struct ftrace_ops **p = set->ops; p < set->ops + set->nr; p++) {
		unsigned long flags = p[offset]->flags;

		if (flags & FTRACE_OPS_FL_HANDOVER) {
			if (*p != handover)
				continue;
		} else if (flags & skip) {
			continue;
		}
		if (flags & OPS_FL_ASSIST)
			set_call_assisted(ip, parent_ip, p, p + 1, offset, fregs);
		else
			set_call_ops(ip, parent_ip, *p, fregs);
	}
}
NOKPROBE_SYMBOL(set_call_each);

/* Held for reading while sites of a set may sleep: neither the set nor these sites are freed. */
DEFINE_STATIC_SRCU_FAST(set_srcu);

/*
 * Once a task has slept, RCU-tasks no longer waits for it: the other members, and a direct
 * call's target, may be freed. So call the members that do not sleep first. Look up the direct
 * call last, and only if the function is still to run. The set and its sites that sleep stay:
 * before they are freed, ftrace_ops_set_wait_sleepers() waits for set_srcu.
 */
static noinline void set_call_sleepers(unsigned long ip, unsigned long parent_ip,
				       struct ftrace_ops_set *set, struct ftrace_regs *fregs,
				       unsigned long skip)
{
	struct ftrace_ops **sleepers = set->ops + 2 * set->nr + 1;
	unsigned long pc = ftrace_regs_get_instruction_pointer(fregs);

	guard(srcu_fast_notrace)(&set_srcu);
	set_call_each(ip, parent_ip, set, fregs,
		      skip | FTRACE_OPS_FL_SLEEPS | FTRACE_OPS_FL_DIRECT);
	for (unsigned int i = 0; i < set->nr_sleepers; i++)
		set_call_ops(ip, parent_ip, sleepers[i], fregs);
	if (set->direct && ftrace_regs_get_instruction_pointer(fregs) == pc) {
		unsigned long addr = ftrace_find_rec_direct(ip);

		if (addr)
			arch_ftrace_set_direct_caller(fregs, addr);
	}
}
NOKPROBE_SYMBOL(set_call_sleepers);

static void set_call_srcu(struct rcu_head *head, rcu_callback_t func)
{
	call_srcu(&set_srcu, head, func);
}

/**
 * ftrace_ops_set_wait_sleepers - wait for the tasks that are in a set with sites that sleep
 *
 * The owner of such sites calls this once it has unregistered their ops and done the other
 * waits for it, and before it frees what the sites use.
 *
 * Context: may sleep, for as long as what the sites call does.
 */
void ftrace_ops_set_wait_sleepers(void)
{
	/* Sites may sleep for hours: TASK_IDLE counts neither as hung nor as load. */
	wait_rcu_gp_state(TASK_IDLE, set_call_srcu);
	smp_mb(); /* as in synchronize_srcu() */
}
EXPORT_SYMBOL_IF_KUNIT(ftrace_ops_set_wait_sleepers);

static nokprobe_inline void set_call_slowly(unsigned long ip, unsigned long parent_ip,
					    struct ftrace_ops_set *set, struct ftrace_regs *fregs,
					    unsigned long skip)
{
	if (set->nr_sleepers)
		set_call_sleepers(ip, parent_ip, set, fregs, skip);
	else
		set_call_each(ip, parent_ip, set, fregs, skip);
}

/* For a set where some members need help: adjacent ones share the recursion lock. */
static noinline void set_mixed_func(unsigned long ip, unsigned long parent_ip,
				    struct ftrace_ops_set *set, struct ftrace_regs *fregs)
{
	struct ftrace_ops **p = set->ops, **end = p + set->nr;
	unsigned int offset = ftrace_ops_set_offset(set);

	if (unlikely(set->handover || set->nr_sleepers)) {
		set_call_slowly(ip, parent_ip, set, fregs, 0);
		return;
	}

	do {
		struct ftrace_ops **from = p;

		while (p < end && p[offset]->flags & OPS_FL_ASSIST)
			p++;
		if (p > from)
			set_call_assisted(ip, parent_ip, from, p, offset, fregs);
		else
			set_call_ops(ip, parent_ip, *p++, fregs);
	} while (p < end);
}
NOKPROBE_SYMBOL(set_mixed_func);

/*
 * For a set where all members need help. Not inlined, or ftrace_ops_set_func() would save
 * registers for it in the other cases, too.
 */
static noinline void set_assist_func(unsigned long ip, unsigned long parent_ip,
				     struct ftrace_ops_set *set, struct ftrace_regs *fregs)
{
	/* An ops with sites needs no help, so no member has any: @offset is 0. */
	set_call_assisted(ip, parent_ip, set->ops, set->ops + set->nr, 0, fregs);
}
NOKPROBE_SYMBOL(set_assist_func);

/**
 * ftrace_ops_set_func - call the ops of a callsite
 * @ip: the callsite
 * @parent_ip: its caller
 * @op: its set
 * @fregs: its registers
 *
 * A trampoline calls this for a set that has no faster function. A member needs a recursion
 * lock or RCU only if its flags say so, as if it were alone on the callsite. This function
 * itself needs neither: struct ftrace_ops_set says why @op and its members stay.
 *
 * Context: any that a function can be traced in.
 */
void ftrace_ops_set_func(unsigned long ip, unsigned long parent_ip,
			 struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	struct ftrace_ops_set *set = ftrace_ops_set_of(op);
	struct ftrace_ops **p, **end;

	kmsan_unpoison_memory(fregs, ftrace_regs_size());

	if (set->assist) {
		if (set->plain)
			set_mixed_func(ip, parent_ip, set, fregs);
		else
			set_assist_func(ip, parent_ip, set, fregs);
		return;
	}

	p = set->ops;
	end = p + set->nr;
	do {
		set_call_ops(ip, parent_ip, *p, fregs);
	} while (++p < end);
}
NOKPROBE_SYMBOL(ftrace_ops_set_func);

/* For @nr members, none of which needs help. A loop takes 2 or 3 instructions more for each. */
static nokprobe_inline void set_call_nr(unsigned long ip, unsigned long parent_ip,
					struct ftrace_ops *op, struct ftrace_regs *fregs,
					unsigned int nr)
{
	struct ftrace_ops **p = ftrace_ops_set_of(op)->ops, **end = p + nr;

	kmsan_unpoison_memory(fregs, ftrace_regs_size());

	unrolled_full
	do {
		set_call_ops(ip, parent_ip, *p, fregs);
	} while (++p < end);
}

/* Only literals lead to these. */
#if !defined(CONFIG_ARCH_FTRACE_OPS_SET_TRAMPOLINE) || defined(arch_ftrace_literals_enabled)
#define SET_FUNC(nr)								\
static void set_##nr##_func(unsigned long ip, unsigned long parent_ip,		\
			    struct ftrace_ops *op, struct ftrace_regs *fregs)	\
{										\
	set_call_nr(ip, parent_ip, op, fregs, nr);				\
}										\
NOKPROBE_SYMBOL(set_##nr##_func)

SET_FUNC(2);
SET_FUNC(3);
SET_FUNC(4);
SET_FUNC(5);
SET_FUNC(6);
SET_FUNC(7);
SET_FUNC(8);
SET_FUNC(9);
SET_FUNC(10);

static const ftrace_func_t set_funcs[] = {
	[2] = set_2_func, set_3_func, set_4_func, set_5_func, set_6_func,
	set_7_func, set_8_func, set_9_func, set_10_func,
};
#else
static const ftrace_func_t set_funcs[] = {};
#endif

/* As ftrace_ops_set_func(). The address tells bpf_site_caller that the set is lean. */
void ftrace_ops_set_lean_func(unsigned long ip, unsigned long parent_ip,
			      struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	ftrace_ops_set_func(ip, parent_ip, op, fregs);
}
NOKPROBE_SYMBOL(ftrace_ops_set_lean_func);

/* The func that a literal calls for @set */
static ftrace_func_t set_func(const struct ftrace_ops_set *set)
{
	if (set->lean)
		return ftrace_ops_set_lean_func;
	if (set->assist || set->nr < 2 || set->nr >= ARRAY_SIZE(set_funcs))
		return ftrace_ops_set_func;
	return set_funcs[set->nr];
}

/**
 * ftrace_ops_is_set - does a literal point to a set
 * @op: what it points to
 *
 * Context: any.
 * Returns: false if @op is an ops or a site.
 */
bool ftrace_ops_is_set(const struct ftrace_ops *op)
{
	for (unsigned int i = 2; i < ARRAY_SIZE(set_funcs); i++) {
		if (op->func == set_funcs[i])
			return true;
	}
	return op->func == ftrace_ops_set_func || op->func == ftrace_ops_set_lean_func;
}
NOKPROBE_SYMBOL(ftrace_ops_is_set);

/**
 * ftrace_ops_set_func_without_regs - call the members of the set that do not need all registers
 * @ip: the callsite
 * @parent_ip: its caller
 * @op: its set
 * @fregs: its registers, of which not all have been saved
 *
 * For a hit that entered the trampoline before an ops that needs all registers joined the
 * set: that ops is skipped, as ftrace_ops_test() does in a walk of the list. But an ops with
 * FTRACE_OPS_FL_HANDOVER is called even so: the one that it takes over from may have left.
 */
void ftrace_ops_set_func_without_regs(unsigned long ip, unsigned long parent_ip,
				      struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	set_call_slowly(ip, parent_ip, ftrace_ops_set_of(op), fregs,
			FTRACE_OPS_FL_SAVE_REGS);
}
NOKPROBE_SYMBOL(ftrace_ops_set_func_without_regs);

/* --- Sets; under ftrace_lock ----------------------------------------------- */

/*
 * The members of a set to look for or to build: @head, then @ops if it is not
 * NULL, then @tail. @base is a set that lacks only @ops, or NULL. @sites: a member has
 * sites. @ip: the only callsite that the set is for, or 0 if it can be for several.
 */
struct set_key {
	const struct ftrace_ops_set	*base;
	struct ftrace_ops * const	*head;
	struct ftrace_ops		*ops;
	struct ftrace_ops * const	*tail;
	unsigned int			nr_head, nr_tail, nr;
	u32				hash;
	bool				sites;
	unsigned long			ip;
};

static struct rhashtable set_table;
static u64 set_last_seq;

/* How many ops are registered */
static unsigned int set_nr_ops;

/*
 * Sets by id. Not an xarray: tracers that start with the kernel need it before there
 * are xarrays. A free entry holds the next free id, as an odd number: id * 2 + 1.
 */
static struct ftrace_ops_set **set_ids;
static u32 set_nr_ids, set_free_id;

static struct ftrace_ops_set_stats set_stats;

static u32 set_key_hash(const void *data, u32 len, u32 seed)
{
	const struct set_key *key = data;

	return jhash_2words(key->hash, hash_long(key->ip, 32), seed);
}

/* The callsite that @set is for, or 0 for several */
static unsigned long set_ip(const struct ftrace_ops_set *set)
{
	unsigned int offset = ftrace_ops_set_offset(set);

	return offset ? (unsigned long)set->ops[2 * offset] : 0;
}

static u32 set_hash(const void *data, u32 len, u32 seed)
{
	const struct ftrace_ops_set *set = data;

	return jhash_2words(set->hash, hash_long(set_ip(set), 32), seed);
}

static void set_id_free(u32 id)
{
	set_ids[id] = (void *)(set_free_id * 2UL + 1);
	set_free_id = id;
}

static int set_id_alloc(struct ftrace_ops_set *set)
{
	if (!set_free_id) {
		u32 nr = max(2 * set_nr_ids, PAGE_SIZE / sizeof(*set_ids));
		struct ftrace_ops_set **new;

		if (nr > FTRACE_SET_ID_MAX)
			return -ENOSPC;
		new = kvrealloc(set_ids, array_size(nr, sizeof(*set_ids)), GFP_KERNEL);
		if (!new)
			return -ENOMEM;
		set_ids = new;
		/* 0 is no id, and ends the list of those that are free. */
		for (u32 id = nr - 1; id >= max(set_nr_ids, 1U); id--)
			set_id_free(id);
		set_nr_ids = nr;
	}
	set->id = set_free_id;
	set_free_id = (unsigned long)set_ids[set_free_id] >> 1;
	set_ids[set->id] = set;
	return 0;
}

static bool set_same_ops(struct ftrace_ops * const *a, struct ftrace_ops * const *b,
			 unsigned int nr)
{
	return !memcmp(a, b, nr * sizeof(*a));
}

static int set_differs(struct rhashtable_compare_arg *arg, const void *obj)
{
	const struct set_key *key = arg->key;
	const struct ftrace_ops_set *set = obj;
	struct ftrace_ops * const *p = ftrace_ops_set_members(set);

	if (set->nr != key->nr || set_ip(set) != key->ip ||
	    !set_same_ops(p, key->head, key->nr_head))
		return 1;
	p += key->nr_head;
	if (key->ops && *p++ != key->ops)
		return 1;
	return !set_same_ops(p, key->tail, key->nr_tail);
}

static const struct rhashtable_params set_table_params = {
	.head_offset		= offsetof(struct ftrace_ops_set, node),
	.hashfn			= set_key_hash,
	.obj_hashfn		= set_hash,
	.obj_cmpfn		= set_differs,
	.automatic_shrinking	= true,
};

/*
 * How many members of @set come before @ops. Members are in the order of their seq: that
 * of registration, with those that have FTRACE_OPS_FL_OVERRIDES after all others.
 */
static unsigned int set_pos(const struct ftrace_ops_set *set, const struct ftrace_ops *ops)
{
	struct ftrace_ops * const *members = ftrace_ops_set_members(set);
	unsigned int from = 0, to = set->nr;

	while (from < to) {
		unsigned int middle = (from + to) / 2;

		if (members[middle]->seq < ops->seq)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

static bool set_contains(const struct ftrace_ops_set *set, const struct ftrace_ops *ops)
{
	unsigned int pos = set_pos(set, ops);

	return pos < set->nr && ftrace_ops_set_members(set)[pos] == ops;
}

static bool ops_has_sites(const struct ftrace_ops *ops)
{
	return ops->flags & FTRACE_OPS_FL_SITES;
}

static bool ops_any_has_sites(struct ftrace_ops * const *ops, unsigned int nr)
{
	while (nr--) {
		if (ops_has_sites(ops[nr]))
			return true;
	}
	return false;
}

static unsigned int ops_nr_with_flag(struct ftrace_ops * const *ops, unsigned int nr,
				     unsigned long flag)
{
	unsigned int found = 0;

	while (nr--)
		found += !!(ops[nr]->flags & flag);
	return found;
}

static unsigned int set_key_nr_with_flag(const struct set_key *key, unsigned long flag)
{
	return ops_nr_with_flag(key->head, key->nr_head, flag) +
	       ops_nr_with_flag(&key->ops, !!key->ops, flag) +
	       ops_nr_with_flag(key->tail, key->nr_tail, flag);
}

/*
 * A set of several members of which one has sites is for one callsite, @ip. An ops alone has
 * one set for all its callsites, and ftrace_rec_dispatch() finds its site.
 */
static unsigned long set_key_ip(const struct set_key *key, unsigned long ip)
{
	return key->nr > 1 && key->sites ? ip : 0;
}

/*
 * Make the key of the set that @from becomes when @ops is added or removed at @ip. @from is NULL
 * if the callsite has no ops.
 */
static void set_key_init(struct set_key *key, const struct ftrace_ops_set *from,
			 struct ftrace_ops *ops, bool add, unsigned long ip)
{
	u32 hash = hash_ptr(ops, 32);

	*key = (struct set_key) { .base = add ? from : NULL, .ops = add ? ops : NULL };
	if (from) {
		key->head = ftrace_ops_set_members(from);
		key->nr_head = set_pos(from, ops);
		key->tail = key->head + key->nr_head + !add;
		key->nr_tail = from->nr - key->nr_head - !add;
		key->sites = from->sites;
		key->hash = from->hash;
	}
	key->nr = key->nr_head + add + key->nr_tail;
	if (ops_has_sites(ops))
		key->sites = add || ops_any_has_sites(key->head, key->nr_head) ||
			     ops_any_has_sites(key->tail, key->nr_tail);
	key->hash += add ? hash : -hash;
	key->ip = set_key_ip(key, ip);
}

static void set_reclaim_func(struct work_struct *work);
static LLIST_HEAD(set_garbage);
static atomic_long_t set_garbage_sets, set_garbage_bytes;
static DECLARE_WORK(set_reclaim_work, set_reclaim_func);

/*
 * A loop that registers many ops on one function replaces large sets faster than
 * grace periods end. With more garbage than SET_GARBAGE_MAX, a change waits for
 * set_reclaim_work after it has released ftrace_lock; with more than
 * SET_GARBAGE_LIMIT, it waits while it holds the lock.
 */
#define SET_GARBAGE_MAX	SZ_4M
#define SET_GARBAGE_LIMIT	SZ_32M

/* The length of the array of a set */
static unsigned int set_len(unsigned int nr, unsigned int offset, unsigned int sleepers)
{
	return offset ? 2 * nr + 1 + sleepers : nr;
}

static unsigned long set_bytes(const struct ftrace_ops_set *set)
{
	unsigned int offset = ftrace_ops_set_offset(set);

	unsigned int len = set_len(set->nr, offset, set->nr_sleepers);

	return is_vmalloc_addr(set) ? PAGE_ALIGN(struct_size(set, ops, len)) : ksize(set);
}

static void set_free(struct ftrace_ops_set *set)
{
	atomic_long_dec(&set_garbage_sets);
	arch_ftrace_ops_set_free(set);
	kvfree(set);
}

/*
 * Garbage in which tasks may still sleep, perhaps for hours. It does not count towards
 * SET_GARBAGE_MAX, so that nobody waits for it.
 */
static LLIST_HEAD(set_slept_in);

static void set_free_slept_in_func(struct work_struct *work)
{
	struct llist_node *list = llist_del_all(&set_slept_in);
	struct ftrace_ops_set *set, *next;

	ftrace_ops_set_wait_sleepers();
	llist_for_each_entry_safe(set, next, list, garbage)
		set_free(set);
}

static DECLARE_WORK(set_free_slept_in, set_free_slept_in_func);

static void set_free_list(struct llist_node *list)
{
	struct ftrace_ops_set *set, *next;

	llist_for_each_entry_safe(set, next, list, garbage) {
		atomic_long_sub(set_bytes(set), &set_garbage_bytes);
		if (!set->nr_sleepers)
			set_free(set);
		else if (llist_add(&set->garbage, &set_slept_in))
			queue_work(system_dfl_wq, &set_free_slept_in);
	}
}

/* After these waits, only a task that sleeps in a site can still be in one of the sets. */
static void set_reclaim_func(struct work_struct *work)
{
	struct llist_node *list = llist_del_all(&set_garbage);

	synchronize_rcu_tasks_rude();
	synchronize_rcu_tasks();
	cpus_wait_for_dying();
	set_free_list(list);
}

/**
 * ftrace_ops_set_reclaim - free the sets that are not used any more
 * @waited: true if the caller has waited, as struct ftrace_ops_set says, after the last
 *	set_put() and without releasing ftrace_lock in between: free the sets now. If
 *	false, a worker waits, and frees them later.
 *
 * Context: may sleep; under ftrace_lock.
 */
void ftrace_ops_set_reclaim(bool waited)
{
	lockdep_assert_held(&ftrace_lock);

	if (waited)
		set_free_list(llist_del_all(&set_garbage));
	/* Early in boot there are no workqueues: a later call frees these. */
	if (llist_empty(&set_garbage) || !system_dfl_wq)
		return;
	queue_work(system_dfl_wq, &set_reclaim_work);
	if (atomic_long_read(&set_garbage_bytes) > SET_GARBAGE_LIMIT)
		flush_work(&set_reclaim_work);
}

/**
 * ftrace_ops_set_throttle - if much memory waits to be freed, wait until it has been freed
 *
 * Context: may sleep; not under ftrace_lock.
 */
void ftrace_ops_set_throttle(void)
{
	if (atomic_long_read(&set_garbage_bytes) > SET_GARBAGE_MAX)
		flush_work(&set_reclaim_work);
}

/* Whoever may put the last reference calls ftrace_ops_set_reclaim() after it. */
static void set_put(struct ftrace_ops_set *set)
{
	unsigned long bytes;

	if (--set->refs)
		return;

	bytes = set_bytes(set);
	set_stats.sets--;
	set_stats.members -= set->nr;
	set_stats.bytes -= bytes;
	rhashtable_remove_fast(&set_table, &set->node, set_table_params);
	set_id_free(set->id);
	atomic_long_inc(&set_garbage_sets);
	atomic_long_add(bytes, &set_garbage_bytes);
	llist_add(&set->garbage, &set_garbage);
}

static void set_account(struct ftrace_ops_set *set, unsigned long flags)
{
	if (flags & OPS_FL_ASSIST)
		set->assist = true;
	else
		set->plain = true;
	set->regs |= !!(flags & FTRACE_OPS_FL_SAVE_REGS);
	set->direct |= !!(flags & FTRACE_OPS_FL_DIRECT);
	if (flags & FTRACE_OPS_FL_HANDOVER) {
		set->handover |= set->hands;
		set->hands = true;
	}
	if (set->handover) {
		set->assist = true;
		set->plain = true;
	}
}

/* As set_account() for each of the members, but in one pass: there can be thousands. */
static void set_account_all(struct ftrace_ops_set *set, struct ftrace_ops * const *members)
{
	unsigned int hands = 0, assisted = 0;
	unsigned long flags = 0;

	for (unsigned int i = 0; i < set->nr; i++) {
		flags |= members[i]->flags;
		assisted += !!(members[i]->flags & OPS_FL_ASSIST);
		hands += !!(members[i]->flags & FTRACE_OPS_FL_HANDOVER);
	}
	set->hands = hands > 1;
	set_account(set, flags);
	set->plain |= assisted < set->nr;
}

/*
 * What a hit at @ip calls for @ops: the site of @ip, cast to an ops, or @ops itself if it has
 * no sites. As long as @ops is registered and traces @ip, its filter has an entry for @ip:
 * ftrace_ops_set_leave() ends both under one hold of ftrace_lock. A site is freed only when
 * nobody can run the set any more.
 */
static struct ftrace_ops *ops_site(struct ftrace_ops *ops, unsigned long ip)
{
	struct ftrace_func_entry *entry;

	if (!ops_has_sites(ops))
		return ops;
	entry = ftrace_lookup_ip(ops->func_hash->filter_hash, ip);
	if (WARN_ON_ONCE(!entry))
		return ops;
	return ftrace_site_as_ops(container_of(entry, struct ftrace_site, entry));
}

/* Can ftrace_lean_caller() call @site, which a hit calls for @ops? */
static bool site_is_lean(const struct ftrace_ops *ops, const struct ftrace_ops *site)
{
#ifdef CONFIG_BPF_SITE_CALLER
	return ops->flags & FTRACE_OPS_FL_LEAN && site->func == bpf_site_fentry;
#else
	return false;
#endif
}

static struct ftrace_ops_set *set_build(struct set_key *key)
{
	unsigned int offset = key->ip ? key->nr : 0, sleepers = 0;
	struct ftrace_ops_set *set;
	struct ftrace_ops **p;

	if (key->nr > U16_MAX)
		return ERR_PTR(-E2BIG);

	/*
	 * If a task slept after a member with IPMODIFY has redirected it, the replacement could
	 * be gone by then: livepatch does not see that the task will go there. With such a
	 * member, do not call the sites that sleep, but their ops: these only count a miss.
	 */
	if (offset && !set_key_nr_with_flag(key, FTRACE_OPS_FL_IPMODIFY))
		sleepers = set_key_nr_with_flag(key, FTRACE_OPS_FL_SLEEPS);
	/* kmalloc() aligns to a power of two that the size is a multiple of. */
	set = kvmalloc(ALIGN(struct_size(set, ops, set_len(key->nr, offset, sleepers)),
			     FTRACE_CALLEE_ALIGN), GFP_KERNEL);
	if (!set)
		return ERR_PTR(-ENOMEM);

	/* The array is filled below. */
	memset(set, 0, sizeof(*set));
	set->refs = 1;
	set->hash = key->hash;
	set->nr = key->nr;
	set->sites = key->sites;

	p = set->ops + offset;
	memcpy(p, key->head, key->nr_head * sizeof(*p));
	p += key->nr_head;
	if (key->ops)
		*p++ = key->ops;
	memcpy(p, key->tail, key->nr_tail * sizeof(*p));
	if (offset) {
		p = set->ops + 2 * offset;
		*p++ = (void *)key->ip;
	}
	set->lean = !!offset;
	for (unsigned int i = 0; i < offset; i++) {
		struct ftrace_ops *ops = set->ops[offset + i];
		bool sleeps = ops->flags & FTRACE_OPS_FL_SLEEPS;

		set->ops[i] = sleeps && !sleepers ? ops : ops_site(ops, key->ip);
		set->lean &= site_is_lean(ops, set->ops[i]);
		if (sleeps && sleepers)
			*p++ = set->ops[i];
	}
	if (key->base) {
		set->assist = key->base->assist;
		set->plain = key->base->plain;
		set->regs = key->base->regs;
		set->direct = key->base->direct;
		set->hands = key->base->hands;
		set->handover = key->base->handover;
		set_account(set, key->ops->flags);
	} else {
		set_account_all(set, set->ops + offset);
	}
	set->nr_sleepers = sleepers;
	if (sleepers) {
		set->assist = true;
		set->plain = true;
	}
	set->lone = set->nr == 1 && !set->assist &&
		    IS_ALIGNED((unsigned long)set->ops[0], FTRACE_CALLEE_ALIGN);
	set->callee.func = set_func(set);
#ifdef arch_ftrace_func_without_regs
	set->func_without_regs = arch_ftrace_func_without_regs;
#endif
	return set;
}

/*
 * The trampoline that callsites without a literal call for @set, or 0. That of the set comes
 * first: an ops that had no memory for its own trampoline may get one later, but its callsites
 * already call that of its set.
 */
static unsigned long set_addr(const struct ftrace_ops_set *set)
{
#ifdef CONFIG_ARCH_FTRACE_OPS_SET_TRAMPOLINE
	if (set->trampoline)
		return set->trampoline;
#endif
	return set->nr == 1 ? set->ops[0]->trampoline : 0;
}

/* Let callsites without a literal run @set. */
static int set_make_trampoline(struct ftrace_ops_set *set)
{
#ifdef CONFIG_ARCH_FTRACE_OPS_SET_TRAMPOLINE
	/* One ops enters through its own trampoline, if it has one. */
	if (!set_addr(set)) {
		set->trampoline = arch_ftrace_ops_set_trampoline(set);
		if (!set->trampoline)
			return -ENOMEM;
	}
#endif
	return 0;
}

static int set_publish(struct ftrace_ops_set *set)
{
	int ret;

	/* Where there are literals, few callsites need it: see rec_can_run() */
	if (!arch_ftrace_literals_enabled()) {
		ret = set_make_trampoline(set);
		if (ret)
			return ret;
	}
	ret = set_id_alloc(set);
	if (ret)
		goto free_arch;
	ret = rhashtable_insert_fast(&set_table, &set->node, set_table_params);
	if (ret)
		goto set_free_id;

	set_stats.sets++;
	set_stats.members += set->nr;
	set_stats.bytes += set_bytes(set);
	return 0;

set_free_id:
	set_id_free(set->id);
free_arch:
	arch_ftrace_ops_set_free(set);
	return ret;
}

/* With ftrace_ops_sets=off, a callsite with several ops walks the list of all ops. */
static bool sets_enabled __ro_after_init = true;

static int __init set_early_param(char *arg)
{
	return kstrtobool(arg, &sets_enabled);
}
early_param("ftrace_ops_sets", set_early_param);

/* Are sets of several ops built? Decided before anything can be traced. */
bool ftrace_ops_sets_enabled(void)
{
	return sets_enabled;
}

/* The set with the members of @key, with a reference; it is built if it is not there. */
static struct ftrace_ops_set *set_get_key(struct set_key *key)
{
	struct ftrace_ops_set *set;
	int ret;

	if (unlikely(!sets_enabled) && key->nr > 1)
		return ERR_PTR(-EOPNOTSUPP);

	set = rhashtable_lookup_fast(&set_table, key, set_table_params);
	if (set) {
		set->refs++;
		return set;
	}

	set = set_build(key);
	if (IS_ERR(set))
		return set;
	ret = set_publish(set);
	if (ret) {
		kvfree(set);
		return ERR_PTR(ret);
	}
	return set;
}

/*
 * The set that @from becomes when @ops is added or removed at @ip. With @get, build it if it
 * does not exist, and take a reference. @from is NULL if the callsite has no ops; the result is
 * NULL if none is left.
 */
static struct ftrace_ops_set *set_get(const struct ftrace_ops_set *from,
				      struct ftrace_ops *ops, bool add, unsigned long ip,
				      bool get)
{
	struct ftrace_ops_set *set;
	struct set_key key;

	set_key_init(&key, from, ops, add, ip);
	if (!key.nr)
		return NULL;
	if (get)
		return set_get_key(&key);
	set = rhashtable_lookup_fast(&set_table, &key, set_table_params);
	return WARN_ON_ONCE(!set) ? ERR_PTR(-ENOENT) : set;
}

/* --- Records --------------------------------------------------------------- */

struct ftrace_ops_set *ftrace_rec_set(struct dyn_ftrace *rec)
{
	unsigned long id = rec->flags >> FTRACE_SET_SHIFT;

	return id ? set_ids[id] : NULL;
}

/*
 * Does @rec have a literal, or will it have one when it is traced? A callsite that is already
 * traced without one stays without. Only ftrace writes to the room for a literal, so room that
 * was found once is not checked again.
 */
static bool rec_has_literal(struct dyn_ftrace *rec)
{
	if (rec->flags & FTRACE_FL_LITERAL)
		return true;
	if (ftrace_rec_count(rec) || !arch_ftrace_can_have_literal(rec->ip))
		return false;
	rec->flags |= FTRACE_FL_LITERAL;
	return true;
}

/* Give @set what @rec needs to run it; false if there is no memory for that. */
static bool rec_can_run(struct dyn_ftrace *rec, struct ftrace_ops_set *set)
{
	/* Without literals, set_publish() has made a trampoline for each set. */
	if (!arch_ftrace_literals_enabled() || rec_has_literal(rec))
		return true;
	/* A direct call alone is called by the callsite itself. */
	return (set->direct && set->nr == 1) || !set_make_trampoline(set);
}

/* How many records have ops */
static unsigned long rec_nr_traced;

/*
 * Let @rec run @set, and take over the caller's reference; the text is changed later. If @set
 * is NULL, @count ops trace @rec, without a set.
 */
static void rec_set_set(struct dyn_ftrace *rec, struct ftrace_ops_set *set, unsigned long count)
{
	bool was = ftrace_rec_count(rec), literal = rec_has_literal(rec);
	unsigned long flags = rec->flags & (GENMASK(31, FTRACE_REF_MAX_SHIFT) | FTRACE_FL_LITERAL);

	flags &= ~(FTRACE_FL_REGS | FTRACE_FL_DIRECT | FTRACE_FL_TRAMP | FTRACE_FL_CALL_OPS);
	flags |= FTRACE_FL_SET_CHANGED;
	if (set) {
		count = set->nr;
		flags |= (unsigned long)set->id << FTRACE_SET_SHIFT;
		if (set->regs)
			flags |= FTRACE_FL_REGS;
		if (set->direct)
			flags |= FTRACE_FL_DIRECT;
		if (!literal && set_addr(set) &&
		    set_addr(set) == ftrace_ops_set_members(set)[0]->trampoline)
			flags |= FTRACE_FL_TRAMP;
		if (literal && set->lone)
			flags |= FTRACE_FL_CALL_OPS;
	}
	rec->flags = flags | count;
	rec_nr_traced += !!count - was;
}

/**
 * ftrace_rec_dispatch - what a literal has to point to
 * @rec: the record of the callsite
 *
 * Context: under ftrace_lock.
 * Returns: the ops, or its site, if the set of the callsite is lone; else the set, which a
 * trampoline can take for an ops; or NULL if the callsite has to walk the list of all ops.
 */
const struct ftrace_ops *ftrace_rec_dispatch(struct dyn_ftrace *rec)
{
	struct ftrace_ops_set *set = ftrace_rec_set(rec);

	if (!set)
		return NULL;
	return set->lone ? ops_site(set->ops[0], rec->ip) : ftrace_ops_set_as_ops(set);
}

/* @rec has to walk the list of all ops; @count of them trace it, with these @flags. */
static void rec_set_list(struct dyn_ftrace *rec, unsigned long count, unsigned long flags)
{
	rec_set_set(rec, NULL, count);
	if (flags & FTRACE_OPS_FL_SAVE_REGS)
		rec->flags |= FTRACE_FL_REGS;
	if (flags & FTRACE_OPS_FL_DIRECT)
		rec->flags |= FTRACE_FL_DIRECT;
	set_stats.list_walks++;
	set_stats.fallbacks++;
}

/*
 * @ops: the ops of one callsite. They are chosen from @all, the ops that can trace any of the
 * callsites to come. Neighbouring callsites often have the same ops, so @last keeps the set of
 * the previous one.
 */
struct set_members {
	struct ftrace_ops	**all;
	struct ftrace_ops	**ops;
	unsigned int		nr_all, nr;
	bool			sites;
	unsigned long		flags;
	struct ftrace_ops_set	*last;
};

/*
 * Can @ops trace a function of @mod? Also true if its filter is larger than @mod: then it is
 * less work to look each function up than to go through the filter.
 */
static bool ops_can_trace_module(struct ftrace_ops *ops, struct module *mod)
{
	struct ftrace_hash *hash = ops->func_hash->filter_hash;
	struct ftrace_func_entry *entry;

	if (ftrace_hash_empty(hash) || hash->count > mod->num_ftrace_callsites)
		return true;

	for (int i = 0; i < 1 << hash->size_bits; i++) {
		hlist_for_each_entry(entry, &hash->buckets[i], hlist) {
			if (within_module(entry->ip, mod))
				return true;
		}
	}
	return false;
}

/*
 * For the functions of @mod, or for any if that is NULL. Without memory, callsites get
 * no set: see members_get_set().
 */
static void members_start(struct set_members *members, struct module *mod)
{
	struct ftrace_ops *ops;

	*members = (struct set_members) {
		.all = kvmalloc_array(set_nr_ops, 2 * sizeof(*members->all), GFP_KERNEL),
	};
	if (!members->all)
		return;

	members->ops = members->all + set_nr_ops;
	do_for_each_ftrace_op(ops, ftrace_ops_list) {
		if (ops != &ftrace_list_end && (!mod || ops_can_trace_module(ops, mod)))
			members->all[members->nr_all++] = ops;
	} while_for_each_ftrace_op(ops);
}

static void members_end(struct set_members *members)
{
	kvfree(members->all);
}

static __always_inline void members_add(struct set_members *members, struct ftrace_ops *ops,
					unsigned long ip, bool new)
{
	if (!hash_contains_ip(ip, ops->func_hash))
		return;
	/* Direct calls and IPMODIFY name only existing functions: none of a module being loaded. */
	if (new && WARN_ON_ONCE(ops->flags & (FTRACE_OPS_FL_DIRECT | FTRACE_OPS_FL_IPMODIFY)))
		return;
	if (members->ops)
		members->ops[members->nr] = ops;
	members->nr++;
	members->sites |= ops_has_sites(ops);
	members->flags |= ops->flags;
}

static void members_collect(struct set_members *members, unsigned long ip, bool new)
{
	struct ftrace_ops *ops;

	members->nr = 0;
	members->sites = false;
	members->flags = 0;

	for (unsigned int i = 0; i < members->nr_all; i++)
		members_add(members, members->all[i], ip, new);
	if (members->all)
		return;

	do_for_each_ftrace_op(ops, ftrace_ops_list) {
		if (ops != &ftrace_list_end)
			members_add(members, ops, ip, new);
	} while_for_each_ftrace_op(ops);
}

/* The set of those collected at @ip, with a reference; NULL if there are none */
static struct ftrace_ops_set *members_get_set(struct set_members *members, unsigned long ip)
{
	struct set_key key = {
		.head		= members->ops,
		.nr_head	= members->nr,
		.nr		= members->nr,
		.sites		= members->sites,
	};
	struct ftrace_ops_set *set = members->last;

	if (!members->nr)
		return NULL;
	if (!members->ops)
		return ERR_PTR(-ENOMEM);
	key.ip = set_key_ip(&key, ip);
	if (set && set_ip(set) == key.ip && set->nr == members->nr &&
	    set_same_ops(ftrace_ops_set_members(set), members->ops, set->nr)) {
		set->refs++;
		return set;
	}
	for (unsigned int i = 0; i < members->nr; i++)
		key.hash += hash_ptr(members->ops[i], 32);
	set = set_get_key(&key);
	members->last = IS_ERR(set) ? NULL : set;
	return set;
}

/*
 * Find the ops of @rec in the list of all ops, and let it run their set. For callsites of a
 * new module, and for those that walk the list. If there is no memory for a set, the callsite
 * walks the list.
 */
static void rec_rebuild(struct dyn_ftrace *rec, struct set_members *members, bool new)
{
	struct ftrace_ops_set *set;

	if (!new)
		set_stats.list_walks--;

	members_collect(members, rec->ip, new);
	set = members_get_set(members, rec->ip);
	if (!IS_ERR_OR_NULL(set) && !rec_can_run(rec, set)) {
		set_put(set);
		/* @last may be @set, and that was perhaps its last reference. */
		members->last = NULL;
		set = ERR_PTR(-ENOMEM);
	}
	if (IS_ERR(set))
		rec_set_list(rec, members->nr, members->flags);
	else
		rec_set_set(rec, set, 0);
}

/*
 * @ops comes to @rec or leaves it, but there is no set for the members that it would have then,
 * or no trampoline for that set. Let @rec, which runs @set, walk the list.
 */
static void rec_leave_set(struct dyn_ftrace *rec, struct ftrace_ops_set *set,
			  struct ftrace_ops *ops, bool add)
{
	unsigned long flags = add ? ops->flags : 0;

	for (unsigned int i = 0; i < set->nr; i++) {
		if (ftrace_ops_set_members(set)[i] != ops)
			flags |= ftrace_ops_set_members(set)[i]->flags;
	}
	rec_set_list(rec, set->nr + (add ? 1 : -1), flags);
}

/* --- The list of all ops ---------------------------------------------------- */

/*
 * The list of all ops is in the order in which sets call their members. Adding or removing
 * an ops takes the same time however many there are.
 */
static struct ftrace_ops __rcu **set_list_tail = &ftrace_ops_list;
/* The link to the first ops with FTRACE_OPS_FL_OVERRIDES */
static struct ftrace_ops __rcu **set_list_overriders = &ftrace_ops_list;

/* Set in the seq of ops with FTRACE_OPS_FL_OVERRIDES, which puts it above that of all others. */
#define SET_SEQ_OVERRIDES	BIT_ULL(63)

/* Where in the list @ops is to be added */
struct ftrace_ops __rcu **ftrace_ops_set_link(struct ftrace_ops *ops)
{
	bool overrides = ops->flags & FTRACE_OPS_FL_OVERRIDES;
	struct ftrace_ops __rcu **link = overrides ? set_list_tail : set_list_overriders;
	struct ftrace_ops *next = rcu_dereference_protected(*link,
							    lockdep_is_held(&ftrace_lock));
	u64 seq = ++set_last_seq;

	if (overrides)
		seq |= SET_SEQ_OVERRIDES;
	set_nr_ops++;
	/* Pairs with ftrace_ops_next(): a walk that sees this seq sees earlier list changes. */
	smp_store_release(&ops->seq, seq);
	/* Likewise: a walk that sees this @pprev sees the new seq. */
	smp_store_release(&ops->pprev, link);
	if (next == &ftrace_list_end)
		set_list_tail = &ops->next;
	else
		WRITE_ONCE(next->pprev, &ops->next);
	if (!overrides)
		set_list_overriders = &ops->next;
	return link;
}

void ftrace_ops_set_unlink(struct ftrace_ops *ops)
{
	struct ftrace_ops *next = rcu_dereference_protected(ops->next,
							    lockdep_is_held(&ftrace_lock));

	set_nr_ops--;
	if (next == &ftrace_list_end)
		set_list_tail = ops->pprev;
	else
		WRITE_ONCE(next->pprev, ops->pprev);
	if (set_list_overriders == &ops->next)
		set_list_overriders = ops->pprev;
	rcu_assign_pointer(*ops->pprev, next);
	/* Pairs with ftrace_ops_next(): a walk that sees NULL finds the list without @ops. */
	smp_store_release(&ops->pprev, NULL);
}

/**
 * ftrace_ops_next - the next ops of a walk over the list without ftrace_lock
 * @op: the last one, or NULL for the first
 * @seq: 0 for the first; then as the last call left it
 *
 * While a walk stands on an ops, or is about to get there, the ops can be unregistered
 * and registered again. It is then near the end of the list, and a walk that went on
 * from there would miss all ops behind the old place. So a step counts only if @op has
 * stayed in the list, with the same seq, until the seq of the next ops was read. If
 * not, the walk starts again at the front, and skips what it has passed: the list is
 * in the order of seq.
 *
 * Context: any; with preemption disabled.
 * Returns: an ops, or &ftrace_list_end.
 */
struct ftrace_ops *ftrace_ops_next(struct ftrace_ops *op, u64 *seq)
{
	struct ftrace_ops __rcu **link = op ? &op->next : &ftrace_ops_list;
	u64 op_seq = *seq;

	for (;;) {
		struct ftrace_ops *next = rcu_dereference_raw_check(*link);
		/* Pairs with ftrace_ops_set_link() */
		u64 next_seq = smp_load_acquire(&next->seq);

		/* Pairs with ftrace_ops_set_link() and ftrace_ops_set_unlink() */
		if (op && (!smp_load_acquire(&op->pprev) || READ_ONCE(op->seq) != op_seq)) {
			op = NULL;
			link = &ftrace_ops_list;
			continue;
		}
		if (rcu_access_pointer(*link) != next)
			continue;
		if (next == &ftrace_list_end || next_seq > *seq) {
			*seq = next_seq;
			return next;
		}
		op = next;
		op_seq = next_seq;
		link = &next->next;
	}
}
NOKPROBE_SYMBOL(ftrace_ops_next);

/* --- Text ------------------------------------------------------------------ */

struct ftrace_ops_set_batch ftrace_ops_set_batch;

#if defined(CONFIG_ARCH_FTRACE_OPS_SET_TRAMPOLINE) || defined(CONFIG_BPF_SITE_CALLER)
/*
 * The set that the text of @rec runs. For a record in the batch that is the old one, as its
 * text is not changed yet. Callers go through the batch in its order, so the search begins
 * after the last match.
 */
static struct ftrace_ops_set *rec_text_set(struct dyn_ftrace *rec)
{
	struct ftrace_ops_set_batch *batch = &ftrace_ops_set_batch;
	static int next;

	for (int i = 0; i < batch->nr; i++) {
		if (next >= batch->nr)
			next = 0;
		if (batch->entries[next++].rec == rec)
			return batch->entries[next - 1].old;
	}
	return ftrace_rec_set(rec);
}

/**
 * ftrace_rec_set_addr - the trampoline of what a callsite runs
 * @rec: the record of the callsite
 * @curr: true for what its text calls, false for what it has to call
 *
 * Returns: the address, or 0 for FTRACE_ADDR or FTRACE_REGS_ADDR.
 */
unsigned long ftrace_rec_set_addr(struct dyn_ftrace *rec, bool curr)
{
	struct ftrace_ops_set *set = curr ? rec_text_set(rec) : ftrace_rec_set(rec);

	if (!set)
		return 0;
	if (!(rec->flags & FTRACE_FL_LITERAL))
		return set_addr(set);
	if (IS_ENABLED(CONFIG_BPF_SITE_CALLER) &&
	    (set->lean || (set->lone && set->ops[0]->flags & FTRACE_OPS_FL_LEAN)))
		return ftrace_lean_caller();
	return arch_ftrace_literal_caller(set->regs);
}
#endif

static int batch_cmp(const void *a, const void *b)
{
	const typeof(*ftrace_ops_set_batch.entries) *x = a, *y = b;

	return cmp_int(x->rec->ip, y->rec->ip);
}

/* Change the text of what is in the batch, and let go of the old sets. */
static void batch_flush(void)
{
	struct ftrace_ops_set_batch *batch = &ftrace_ops_set_batch;

	if (!batch->nr)
		return;

	if (batch->unsorted)
		sort(batch->entries, batch->nr, sizeof(*batch->entries), batch_cmp, NULL);
	ftrace_update_calls();

	/* If that killed ftrace, some text may still run old sets: keep these. */
	for (int i = 0; i < batch->nr && !ftrace_is_dead(); i++) {
		if (batch->entries[i].old)
			set_put(batch->entries[i].old);
	}
	batch->nr = 0;
	batch->unsorted = false;
}

/* Returns: true if the batch was full and has been flushed: sets may have been put for good. */
static bool batch_add(struct dyn_ftrace *rec, struct ftrace_ops_set *old)
{
	struct ftrace_ops_set_batch *batch = &ftrace_ops_set_batch;
	unsigned int nr = batch->nr++;

	batch->entries[nr].rec = rec;
	batch->entries[nr].old = old;
	if (nr && batch->entries[nr - 1].rec->ip > rec->ip)
		batch->unsorted = true;
	if (batch->nr < ARRAY_SIZE(batch->entries))
		return false;
	batch_flush();
	cond_resched();
	return true;
}

/* --- Modules --------------------------------------------------------------- */

#ifdef CONFIG_MODULES
/**
 * ftrace_ops_set_load - choose what the callsites of a module run
 * @mod: the module, whose records are new
 *
 * The text is to follow.
 *
 * Context: may sleep; under ftrace_lock, not under text_mutex.
 */
void ftrace_ops_set_load(struct module *mod)
{
	struct set_members members;
	struct ftrace_page *pg;

	lockdep_assert_held(&ftrace_lock);

	members_start(&members, mod);
	/* If no ops can trace the module, its records stay as they are. */
	if (members.all && !members.nr_all)
		goto end;

	for (pg = ftrace_pages_start; pg; pg = pg->next) {
		if (!pg->index || !within_module(pg->records[0].ip, mod))
			continue;
		for (int i = 0; i < pg->index; i++) {
			rec_rebuild(&pg->records[i], &members, true);
			cond_resched();
		}
	}
end:
	members_end(&members);
	ftrace_ops_set_reclaim(false);
}

/**
 * ftrace_ops_set_unload - stop tracing the callsites of a module that is unloaded
 * @pg: their records
 *
 * Asynchronous work of the module may still run. Once its records are gone, nothing can
 * change its text any more: by then the text must not lead to a set.
 *
 * Context: may sleep; under ftrace_lock, not under text_mutex.
 */
void ftrace_ops_set_unload(struct ftrace_page *pg)
{
	lockdep_assert_held(&ftrace_lock);

	for (int i = 0; i < pg->index; i++) {
		struct dyn_ftrace *rec = &pg->records[i];
		struct ftrace_ops_set *set;

		if (!ftrace_rec_count(rec))
			continue;
		set = ftrace_rec_set(rec);
		if (!set)
			set_stats.list_walks--;
		rec_set_set(rec, NULL, 0);
		batch_add(rec, set);
	}
	batch_flush();
	ftrace_ops_set_reclaim(false);
}

static void rec_on_each_ops(struct dyn_ftrace *rec, ftrace_ops_fn fn, void *data)
{
	struct ftrace_ops_set *set = ftrace_rec_set(rec);
	struct ftrace_ops *ops;

	if (set) {
		for (unsigned int i = 0; i < set->nr; i++)
			fn(ftrace_ops_set_members(set)[i], rec->ip, data);
		return;
	}

	do_for_each_ftrace_op(ops, ftrace_ops_list) {
		if (ops != &ftrace_list_end && hash_contains_ip(rec->ip, ops->func_hash))
			fn(ops, rec->ip, data);
	} while_for_each_ftrace_op(ops);
}

/**
 * ftrace_on_each_module_ops - find what traces the functions of a module
 * @mod: the module
 * @init: only its init functions
 * @fn: called under ftrace_lock, for each function and each ops that traces it
 * @data: for @fn
 *
 * Context: may sleep. Takes ftrace_lock.
 */
void ftrace_on_each_module_ops(struct module *mod, bool init, ftrace_ops_fn fn, void *data)
{
	guard(mutex)(&ftrace_lock);
	for (struct ftrace_page *page = ftrace_pages_start; page; page = page->next) {
		if (!page->index || !within_module(page->records[0].ip, mod))
			continue;
		for (int i = 0; i < page->index; i++) {
			struct dyn_ftrace *rec = &page->records[i];

			if (ftrace_rec_count(rec) &&
			    (!init || within_module_mem_type(rec->ip, mod, MOD_INIT_TEXT)))
				rec_on_each_ops(rec, fn, data);
		}
		cond_resched();
	}
}

#endif /* CONFIG_MODULES */

/*
 * @rec goes away: its function is an overridden weak one, or in init memory that is freed.
 * Its text stays as it is, since nothing runs it any more.
 */
void ftrace_rec_put_set(struct dyn_ftrace *rec)
{
	struct ftrace_ops_set *set = ftrace_rec_set(rec);

	if (set)
		set_put(set);
	else if (ftrace_rec_count(rec))
		set_stats.list_walks--;
	rec_nr_traced -= !!ftrace_rec_count(rec);
	rec->flags &= GENMASK(31, 0);
	ftrace_ops_set_reclaim(false);
}

/* --- Changes --------------------------------------------------------------- */

/*
 * Callsites that run @from are to run @to, as an ops comes (@add) or leaves. If @from is NULL
 * there is no step; otherwise @to is not NULL.
 */
struct set_step {
	struct ftrace_ops_set	*from, *to;
	bool			add;
};

/* A walk over the records that @ops traces with either @old or @new as its filter, but not both */
struct set_change {
	struct ftrace_walk	walk;
	struct ftrace_ops	*ops;
	struct ftrace_ops_hash	*old, *new;
	/* @old, or @new, names no function: it gives the same answer for all */
	bool			old_is_same, new_is_same;
	bool			add;
	struct set_step		last;
};

/* Does @hash name no function, so that an ops traces all functions or none? */
static bool ops_hash_is_same(struct ftrace_ops_hash *hash)
{
	return !hash || (ftrace_hash_empty(hash->filter_hash) &&
			 ftrace_hash_empty(hash->notrace_hash));
}

static void change_start(struct set_change *change, struct ftrace_ops *ops,
			 struct ftrace_ops_hash *old, struct ftrace_ops_hash *new)
{
	struct ftrace_hash *a = old ? old->filter_hash : NULL;
	struct ftrace_hash *b = new ? new->filter_hash : NULL;
	bool all = (old && ftrace_hash_empty(a)) || (new && ftrace_hash_empty(b));

	*change = (struct set_change) { .ops = ops, .old = old, .new = new };
	change->old_is_same = ops_hash_is_same(old);
	change->new_is_same = ops_hash_is_same(new);
	if (old && new && ftrace_hash_empty(a) && ftrace_hash_empty(b)) {
		/* All before and all after, but for those named here */
		a = old->notrace_hash;
		b = new->notrace_hash;
		all = false;
	}
	ftrace_walk_start(&change->walk, all, a, b);
}

static struct dyn_ftrace *change_next(struct set_change *change)
{
	struct dyn_ftrace *rec;
	bool was;

	while ((rec = ftrace_walk_next(&change->walk))) {
		/*
		 * Weak functions that others replace, and functions of modules
		 * that are not loaded yet
		 */
		if (ftrace_skip_record(rec) && !ftrace_rec_count(rec))
			continue;
		was = change->old &&
		      (change->old_is_same || hash_contains_ip(rec->ip, change->old));
		change->add = change->new &&
			      (change->new_is_same || hash_contains_ip(rec->ip, change->new));
		if (was != change->add)
			return rec;
	}
	return NULL;
}

/* change_step() for a step other than the last */
static noinline struct ftrace_ops_set *change_other_step(struct set_change *change,
							 struct ftrace_ops_set *from,
							 unsigned long ip, bool get)
{
	struct ftrace_ops_set *to;

	if (set_contains(from, change->ops) == change->add)
		return from;
	to = set_get(from, change->ops, change->add, ip, get);
	if (!IS_ERR_OR_NULL(to))
		change->last = (struct set_step) { .from = from, .to = to, .add = change->add };
	return to;
}

/*
 * The set that a record with the set @from is to run: @from itself if that has the change already,
 * NULL if no ops is left, or an error. With @get, take a reference to another set, and build it if
 * need be; without, change_prepare() has done that.
 *
 * @from has the change already when several ops share a filter that changes: rec_rebuild() puts
 * all of them into a set at once. Without @from the result is NULL: there is nothing to step from.
 * The caller gives such a record the set of the ops alone, or lets it walk the list.
 *
 * Most callsites make the step that the last one made. It is known without a look at members,
 * as those of a set never change. While @change remembers a step, neither of its sets may lose
 * its last reference.
 */
static inline struct ftrace_ops_set *change_step(struct set_change *change,
						 struct ftrace_ops_set *from, unsigned long ip,
						 bool get)
{
	const struct set_step *last = &change->last;

	if (!from)
		return NULL;
	/* The ops alone */
	if (from == change->ops->set)
		return change->add ? from : NULL;
	if (last->from != from || last->add != change->add ||
	    (set_ip(last->to) && set_ip(last->to) != ip))
		return change_other_step(change, from, ip, get);
	last->to->refs += get;
	return last->to;
}

/* Does the change from @old to @new add functions, or only take some away? */
static bool change_adds(struct ftrace_ops *ops, struct ftrace_ops_hash *old,
			struct ftrace_ops_hash *new)
{
	struct set_change change __uninitialized;

	change_start(&change, ops, old, new);
	while (change_next(&change)) {
		if (change.add)
			return true;
	}
	return false;
}

/*
 * The last step that change_prepare() found. ftrace_ops_set_commit() makes the same steps under
 * the same hold of ftrace_lock, and need not compare thousands of members to find the set again.
 * Until then both sets stay: a callsite runs the first, and change_prepare() holds the second.
 */
static struct set_step prepared_step;

/* Undo change_prepare(), or the first @prepared sets of it. */
static void change_cancel(struct ftrace_ops *ops, struct ftrace_ops_hash *old,
			  struct ftrace_ops_hash *new, unsigned long prepared)
{
	struct set_change change __uninitialized;
	struct dyn_ftrace *rec;

	if (!sets_enabled)
		return;

	prepared_step.from = NULL;
	change_start(&change, ops, old, new);
	while (prepared && (rec = change_next(&change))) {
		struct ftrace_ops_set *set = ftrace_rec_set(rec), *to;

		to = change_step(&change, set, rec->ip, false);
		if (to == set)
			continue;
		if (!IS_ERR_OR_NULL(to))
			set_put(to);
		/* @to may have ended. */
		change.last.from = NULL;
		prepared--;
	}
	ftrace_ops_set_reclaim(false);
}

/*
 * Prepare for @ops to trace what @new says instead of @old; either can be NULL for nothing.
 * This does all that can fail: it finds or builds the sets that ftrace_ops_set_commit() or
 * change_cancel() will need. One of these two must follow under the same hold of ftrace_lock.
 * Nothing visible changes yet.
 *
 * Returns: 0, -ENOMEM, -ENOSPC, or -E2BIG if a callsite has too many ops.
 */
static int change_prepare(struct ftrace_ops *ops, struct ftrace_ops_hash *old,
			  struct ftrace_ops_hash *new)
{
	unsigned long prepared = 0;
	struct dyn_ftrace *rec;
	struct set_change change __uninitialized;
	int ret;

	lockdep_assert_held(&ftrace_lock);

	/* With ftrace_ops_sets=off, ftrace_ops_set_commit() takes sets of one ops, or the list. */
	if (!sets_enabled)
		return 0;
	prepared_step.from = NULL;
	/* While nothing is traced, each callsite only needs the set of @ops, which is there. */
	if (!rec_nr_traced && !IS_ENABLED(CONFIG_ARCH_FTRACE_OPS_SET_TRAMPOLINE))
		return 0;

	change_start(&change, ops, old, new);
	while ((rec = change_next(&change))) {
		struct ftrace_ops_set *set = ftrace_rec_set(rec), *to;

		to = change_step(&change, set, rec->ip, true);
		if (to == set) {
			if (ftrace_rec_count(rec))
				continue;
			/* Without any ops so far, it will get this one's. */
			to = ops->set;
		} else if (IS_ERR(to)) {
			ret = PTR_ERR(to);
			goto cancel;
		} else if (!(++prepared % ARRAY_SIZE(ftrace_ops_set_batch.entries))) {
			cond_resched();
		}
		if (to && !rec_can_run(rec, to)) {
			ret = -ENOMEM;
			goto cancel;
		}
	}
	prepared_step = change.last;
	return 0;

cancel:
	change_cancel(ops, old, new, prepared);
	return ret;
}

/**
 * ftrace_ops_set_commit - change what an ops traces
 * @ops: the ops
 * @old: what it traces, or NULL for nothing
 * @new: what it shall trace, or NULL for nothing
 * @prepared: change_prepare() has succeeded; if not, callsites for whose new set
 *	there is no memory walk the list
 *
 * The list of all ops and the hashes of @ops have the change already, and callsites
 * without a set follow these at once. The others follow when their text is changed here.
 *
 * Context: may sleep; under ftrace_lock.
 */
void ftrace_ops_set_commit(struct ftrace_ops *ops, struct ftrace_ops_hash *old,
			   struct ftrace_ops_hash *new, bool prepared)
{
	struct set_members members = {};
	struct dyn_ftrace *rec;
	struct set_change change __uninitialized;

	lockdep_assert_held(&ftrace_lock);

	prepared &= sets_enabled;
	if (set_stats.list_walks)
		members_start(&members, NULL);
	change_start(&change, ops, old, new);
	if (prepared) {
		change.last = prepared_step;
		prepared_step.from = NULL;
	}
	while ((rec = change_next(&change))) {
		struct ftrace_ops_set *set = ftrace_rec_set(rec), *to;

		if (!set && ftrace_rec_count(rec)) {
			rec_rebuild(rec, &members, false);
		} else if (!set && change.add) {
			if (ops->set && (prepared || rec_can_run(rec, ops->set))) {
				ops->set->refs++;
				rec_set_set(rec, ops->set, 0);
			} else {
				rec_set_list(rec, 1, ops->flags);
			}
		} else {
			to = change_step(&change, set, rec->ip, !prepared);
			if (to == set)
				continue;
			if (!IS_ERR_OR_NULL(to) && !rec_can_run(rec, to)) {
				set_put(to);
				change.last.from = NULL;
				to = ERR_PTR(-ENOMEM);
			}
			if (!IS_ERR(to))
				rec_set_set(rec, to, 0);
			else	/* No memory, and no way back */
				rec_leave_set(rec, set, ops, change.add);
		}
		if (!batch_add(rec, set))
			continue;
		/* The sets of the last step may have ended. */
		change.last.from = NULL;
		members.last = NULL;
		if (ftrace_is_dead())
			break;
	}
	batch_flush();
	members_end(&members);

	/* Without @new, the caller does it: ftrace_shutdown() may have waited by then. */
	if (new)
		ftrace_ops_set_reclaim(false);
}

/**
 * ftrace_ops_set_move_prepare - do what can fail in a change of a filter
 * @move: for ftrace_ops_set_move_commit() or ftrace_ops_set_move_cancel(), one of which
 *	must follow under the same hold of ftrace_lock
 * @ops: the ops, registered or not
 * @filter: true if the filter hash is about to change, false if the notrace hash is
 * @hash: the new content of that hash
 *
 * Context: may sleep; under ftrace_lock.
 * Returns: 0, -ENOMEM, -ENOSPC, or -E2BIG if a callsite has too many ops. Taking functions
 * away never fails.
 */
int ftrace_ops_set_move_prepare(struct ftrace_ops_set_move *move, struct ftrace_ops *ops,
				bool filter, struct ftrace_hash *hash)
{
	int ret = 0;

	move->ops = ops;
	move->old = *ops->func_hash;
	move->new = move->old;
	move->moved = filter ? &move->new.filter_hash : &move->new.notrace_hash;
	*move->moved = hash;
	move->enabled = ops->flags & FTRACE_OPS_FL_ENABLED;
	if (move->enabled) {
		ret = change_prepare(ops, &move->old, &move->new);
		if (ret && change_adds(ops, &move->old, &move->new))
			return ret;
	}
	move->prepared = move->enabled && !ret;
	return 0;
}

/**
 * ftrace_ops_set_move_cancel - leave the filter as it is
 * @move: from ftrace_ops_set_move_prepare()
 * @hash: the hash that holds the content of the new filter now
 *
 * Context: under ftrace_lock.
 */
void ftrace_ops_set_move_cancel(struct ftrace_ops_set_move *move, struct ftrace_hash *hash)
{
	*move->moved = hash;
	if (move->prepared)
		change_cancel(move->ops, &move->old, &move->new, ULONG_MAX);
}

/**
 * ftrace_ops_set_move_commit - let callsites follow a filter that has changed
 * @move: from ftrace_ops_set_move_prepare()
 * @hash: the new filter, which the ops has already
 *
 * Context: may sleep; under ftrace_lock.
 */
void ftrace_ops_set_move_commit(struct ftrace_ops_set_move *move, struct ftrace_hash *hash)
{
	struct ftrace_ops *ops = move->ops, *op;

	*move->moved = hash;
	if (move->enabled)
		ftrace_ops_set_commit(ops, &move->old, &move->new, move->prepared);

	/* Others can share the hash of global_ops. For them it is too late to fail. */
	if (ops->func_hash != &global_ops.local_hash)
		return;
	do_for_each_ftrace_op(op, ftrace_ops_list) {
		if (op != ops && op->func_hash == ops->func_hash)
			ftrace_ops_set_commit(op, &move->old, &move->new, false);
	} while_for_each_ftrace_op(op);
}

#ifdef CONFIG_MODULES
/**
 * ftrace_ops_set_leave - take a few functions out of the filter of an ops
 * @ops: it is registered, and has a filter of its own. Sites are not freed.
 * @ips: callsites that the filter names; it must name at least one more
 * @nr: the length of @ips
 *
 * Does what ftrace_set_filter_ips() does with @remove. But that copies the filter and may look
 * at all callsites, while the cost of this function depends on @nr alone.
 *
 * Context: may sleep. Takes the regex_lock of @ops, and ftrace_lock.
 * Returns: 0, -ENOMEM, or -ENODEV if ftrace has been killed. On error nothing has changed.
 */
int ftrace_ops_set_leave(struct ftrace_ops *ops, unsigned long *ips, unsigned int nr)
{
	struct ftrace_ops_hash gone = {};
	struct ftrace_func_entry *entry;
	struct ftrace_hash *hash;
	bool prepared;

	gone.filter_hash = alloc_ftrace_hash(min(fls(nr / 2), 12));
	if (!gone.filter_hash)
		return -ENOMEM;
	for (unsigned int i = 0; i < nr; i++) {
		if (!add_ftrace_hash_entry_direct(gone.filter_hash, ips[i], 0)) {
			free_ftrace_hash(gone.filter_hash);
			return -ENOMEM;
		}
	}

	scoped_guard(mutex, &ops->func_hash->regex_lock) {
		guard(mutex)(&ftrace_lock);
		if (ftrace_is_dead()) {
			free_ftrace_hash(gone.filter_hash);
			return -ENODEV;
		}
		prepared = !change_prepare(ops, &gone, NULL);
		hash = ops->func_hash->filter_hash;
		for (unsigned int i = 0; i < nr; i++) {
			entry = ftrace_lookup_ip(hash, ips[i]);
			if (!entry)
				continue;
			hlist_del_rcu(&entry->hlist);
			hash->count--;
			if (!ops_has_sites(ops))
				kfree_rcu_mightsleep(entry);
		}
		ftrace_ops_set_commit(ops, &gone, NULL, prepared);
		ftrace_ops_set_reclaim(false);
	}
	free_ftrace_hash(gone.filter_hash);
	return 0;
}
#endif

/**
 * ftrace_ops_set_register - prepare for an ops that is about to be registered
 * @ops: the ops, its flags and its trampoline being those it will have
 *
 * ftrace_ops_set_commit(@ops, NULL, @ops->func_hash, ...) or
 * ftrace_ops_set_abort(@ops, ...) must follow under the same hold of ftrace_lock.
 *
 * Context: may sleep; under ftrace_lock.
 * Returns: 0, -ENOMEM, -ENOSPC, or -E2BIG if a callsite has too many ops. For an ops with
 * FTRACE_OPS_FL_STUB, 1 instead of an error, unless it is the first ops of all: it can be
 * committed, and a callsite walks the list if there is no memory for its set.
 */
int ftrace_ops_set_register(struct ftrace_ops *ops)
{
	/*
	 * update_ftrace_direct_mod() registers a stub on the functions whose direct calls it
	 * changes. This must not fail while BPF programs are being detached.
	 */
	bool must = ops->flags & FTRACE_OPS_FL_STUB;
	static bool initialized;
	struct ftrace_ops_set *set;
	int ret;

	lockdep_assert_held(&ftrace_lock);

	if (!initialized) {
		ret = rhashtable_init(&set_table, &set_table_params);
		if (ret)
			return ret;
		initialized = true;
	}

#ifdef arch_ftrace_func_without_regs
	ops->func_without_regs = arch_ftrace_func_without_regs;
#endif
	set = set_get(NULL, ops, true, 0, true);
	if (IS_ERR(set))
		return must ? 1 : PTR_ERR(set);
	/* Held as long as @ops is registered: a callsite left with @ops alone needs no new set. */
	ops->set = set;

	ret = change_prepare(ops, NULL, ops->func_hash);
	if (ret && must)
		return 1;
	if (ret) {
		ftrace_ops_set_unregister(ops);
		ftrace_ops_set_reclaim(false);
	}
	return ret;
}

/**
 * ftrace_ops_set_abort - undo ftrace_ops_set_register()
 * @ops: the ops
 * @prepared: that returned 0
 *
 * Context: under ftrace_lock.
 */
void ftrace_ops_set_abort(struct ftrace_ops *ops, bool prepared)
{
	if (prepared)
		change_cancel(ops, NULL, ops->func_hash, ULONG_MAX);
	ftrace_ops_set_unregister(ops);
	ftrace_ops_set_reclaim(false);
}

/**
 * ftrace_ops_set_unregister - drop the set that an ops has of its own
 * @ops: the ops, which traces no function any more, unless ftrace has died
 *
 * Context: under ftrace_lock.
 */
void ftrace_ops_set_unregister(struct ftrace_ops *ops)
{
	lockdep_assert_held(&ftrace_lock);

	if (!ops->set)
		return;

	/*
	 * If ftrace died, some text still calls sets that have @ops. Text that calls
	 * a lone @ops itself cannot be helped.
	 */
	for (u32 id = 1; unlikely(ftrace_is_dead()) && id < set_nr_ids; id++) {
		struct ftrace_ops_set *set = set_ids[id];

		for (unsigned int i = 0; !((unsigned long)set & 1) && i < set->nr; i++) {
			if (ftrace_ops_set_members(set)[i] != ops)
				continue;
			/* Its sites stay, see unregister_ftrace_sites(). */
			if (ops_has_sites(ops))
				break;
			WRITE_ONCE(set->ops[i], &ftrace_list_end);
			WRITE_ONCE(set->ops[ftrace_ops_set_offset(set) + i], &ftrace_list_end);
		}
	}

	/* Any other reference is that of a callsite, which would call @ops. */
	WARN_ON_ONCE(ops->set->refs != 1 && !ftrace_is_dead());
	if (!ftrace_is_dead())
		set_put(ops->set);
	ops->set = NULL;
}

/* Without any ops, is there a record that holds a set, or walks the list? */
bool ftrace_ops_set_is_any_left(void)
{
	return set_stats.sets || set_stats.list_walks;
}

/* --- What it costs --------------------------------------------------------- */

/**
 * ftrace_ops_set_get_stats - what sets take now
 * @now: where to store it
 *
 * Context: may sleep; takes ftrace_lock.
 */
void ftrace_ops_set_get_stats(struct ftrace_ops_set_stats *now)
{
	guard(mutex)(&ftrace_lock);
	*now = set_stats;
	now->garbage_sets = atomic_long_read(&set_garbage_sets);
	now->garbage_bytes = atomic_long_read(&set_garbage_bytes);
}
EXPORT_SYMBOL_IF_KUNIT(ftrace_ops_set_get_stats);

static int ops_sets_show(struct seq_file *m, void *v)
{
	struct ftrace_ops_set_stats now;

	ftrace_ops_set_get_stats(&now);
	seq_printf(m, "sets:             %lu\n", now.sets);
	seq_printf(m, "members:          %lu\n", now.members);
	seq_printf(m, "bytes:            %lu\n", now.bytes);
	seq_printf(m, "trampoline pages: %lu\n", arch_ftrace_ops_set_pages());
	seq_printf(m, "list walks:       %lu\n", now.list_walks);
	seq_printf(m, "fallbacks:        %lu\n", now.fallbacks);
	seq_printf(m, "garbage sets:     %lu\n", now.garbage_sets);
	seq_printf(m, "garbage bytes:    %lu\n", now.garbage_bytes);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(ops_sets);

void ftrace_ops_set_init_tracefs(struct dentry *parent)
{
	if (sets_enabled)
		trace_create_file("ftrace_ops_sets", TRACE_MODE_READ, parent, NULL, &ops_sets_fops);
}
