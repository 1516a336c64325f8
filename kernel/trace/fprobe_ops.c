// SPDX-License-Identifier: GPL-2.0
/*
 * fprobes that are called by an ftrace_ops of their own, and at a function's
 * return by rethook
 *
 * A callsite holds what it calls, be it one ops or a set of them. So the ops
 * leads to the fprobe, and nothing is looked up when a function is hit. What an
 * fprobe needs beyond the life of the struct fprobe is in a struct fprobe_hook:
 *
 *	fprobe <----> hook [ ops, rethook ] <---- node, one for each call that is hooked
 *
 * An fprobe is gone for its user once the pointer from the hook to it is NULL and an
 * RCU grace period has passed. The ops lives until no task is in a trampoline that
 * has loaded it, which is an RCU-tasks grace period that nobody waits for here. The
 * hook itself lives until the last function has returned whose return it hooks:
 * each node has a reference, and a task may sleep in such a function for days.
 *
 * Each CPU keeps a stock of nodes for each hook. A call that is hooked takes one of
 * them until it returns: a node held by a sleeping task must not limit other tasks.
 * A task that exits in a hooked function gives its node back on the CPU that reaps it,
 * in softirq. So where calls begin and where nodes come back need not be the same CPU.
 *
 * An irq_work of the CPU keeps its stock within bounds: it refills one that runs low
 * and takes away what is too much. The hit itself can be in the middle of the slab
 * allocator, and calling that is its last resort. If that fails, the exit of the
 * function is missed.
 *
 * An fprobe on all functions also hooks the functions that lead to the irq_work and those
 * that it calls. So that these do not keep it busy, they take fewer nodes than lie between
 * what it leaves and the bounds, and fprobe_balance_nodes() does not nest.
 */
#define pr_fmt(fmt) "fprobe: " fmt

#include <linux/cleanup.h>
#include <linux/cpu.h>
#include <linux/err.h>
#include <linux/fprobe.h>
#include <linux/ftrace.h>
#include <linux/irq_work.h>
#include <linux/kmemleak.h>
#include <linux/kprobes.h>
#include <linux/list.h>
#include <linux/llist.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/rethook.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "fprobe.h"
#include "ftrace_ops_set.h"
#include "trace.h"

/* What a CPU has at hand: calls of other contexts nest, and tasks sleep. */
#define NODES_PER_CPU	4

/*
 * How many more are spare: an irq_work makes them SPARE_FILL when there are fewer than
 * SPARE_LOW or more than SPARE_MAX. On either side of that there is room for calls that
 * nest deeply. Above, also for the nodes of the functions that lead to the irq_work:
 * these are in use while it counts, and come back when it is done.
 */
#define SPARE_LOW	8
#define SPARE_FILL	24
#define SPARE_MAX	48

/* How many a hook keeps for each CPU beyond that: what one has too many, another lacks. */
#define SHARED_PER_CPU	12

struct fprobe_node {
	struct rethook_node	rhn;
	union {
		unsigned long		ip;
		struct llist_node	spare;
		struct kvfree_rcu_head	rcu;
	};
	unsigned long		data[];
};

struct fprobe_nodes {
	struct fprobe_node	*node[NODES_PER_CPU];
	struct llist_head	spare;
	int			nr_spare;
	struct irq_work		balance;
	unsigned long		refill_at;
	struct fprobe_hook	*hook;
};

/**
 * struct fprobe_hook - what ftrace and rethook know of an fprobe
 * @ops: what the callsites call
 * @fp: the fprobe; NULL until it is registered and once it is not any more. Read with
 *	preemption disabled.
 * @nodes: those that each CPU keeps; NULL for an fprobe without exit handler
 * @shared: those that CPUs had too many of
 * @nr_shared: how many
 * @rethook: where its nodes belong to
 * @node_size: of each, with the entry data
 * @ref: one, and one for each node
 * @attached: @ops is registered
 * @leaving: the functions of a module that it is to leave
 * @nr_leaving: how many; 0 while no module goes
 * @leavers: in the list of those that leave functions
 * @garbage: in the list of those that wait to be freed
 * @size: bytes of memory that wait with it
 * @rcu: to be freed
 */
struct fprobe_hook {
	struct ftrace_ops		ops;
	struct fprobe			*fp;
	struct fprobe_nodes __percpu	*nodes;
	struct llist_head		shared;
	atomic_t			nr_shared;
	struct rethook			rethook;
	unsigned int			node_size;
	refcount_t			ref;
	bool				attached;
	unsigned long			*leaving;
	unsigned int			nr_leaving;
	struct list_head		leavers;
	struct llist_node		garbage;
	unsigned long			size;
	struct kvfree_rcu_head		rcu;
};

static DEFINE_MUTEX(fprobe_mutex);
static LLIST_HEAD(fprobe_garbage);
static atomic_long_t fprobe_garbage_size;

/* With more than that to be freed, the next fprobe waits until some of it is. */
#define GARBAGE_MAX	SZ_8M

/* --- Nodes ------------------------------------------------------------------ */

/* Any context. The memory stays for a grace period: another task may be unwinding over it. */
static void fprobe_put_hook(struct fprobe_hook *hook)
{
	if (refcount_dec_and_test(&hook->ref))
		kfree_rcu_nolock(hook, rcu);
}

static noinline void fprobe_free_node(struct fprobe_node *node)
{
	struct fprobe_hook *hook = node->rhn.rethook->data;

	kfree_rcu_nolock(node, rcu);
	fprobe_put_hook(hook);
}
NOKPROBE_SYMBOL(fprobe_free_node);

static void fprobe_free_node_list(struct llist_node *list)
{
	struct fprobe_node *node, *next;

	llist_for_each_entry_safe(node, next, list, spare)
		fprobe_free_node(node);
}

static void fprobe_init_node(struct fprobe_node *node, struct fprobe_hook *hook)
{
	node->rhn.rethook = &hook->rethook;
	refcount_inc(&hook->ref);
}

static struct fprobe_node *fprobe_new_node(struct fprobe_hook *hook, gfp_t gfp, int nid)
{
	struct fprobe_node *node = kzalloc_node(hook->node_size, gfp, nid);

	if (!node)
		return NULL;
	/* A node in use may be reachable only from one that kmemleak does not scan. */
	kmemleak_not_leak(node);
	fprobe_init_node(node, hook);
	return node;
}

/*
 * The functions from here to fprobe_put_node() run with preemption disabled, on the stock of
 * their own CPU. An interrupt or an NMI may come at any time: @nr_spare is increased
 * before a node is added, and reduced after one is taken.
 */

/* This CPU is in irq_work_queue() below. */
static DEFINE_PER_CPU(bool, fprobe_queues_balance);

static noinline void fprobe_balance_nodes(struct fprobe_nodes *nodes)
{
	/*
	 * The functions that irq_work_queue() calls can be probed. The irq_work may have
	 * run before they return, and not be pending: they must not queue it again, or
	 * that of another hook, and so on until the stack is full.
	 */
	if (irq_work_is_pending(&nodes->balance) || this_cpu_read(fprobe_queues_balance))
		return;
	/*
	 * A CPU that goes offline stops running irq_work; with PREEMPT_RT already when its
	 * threads are parked. What is queued after that stays pending.
	 */
	if (!cpu_active(raw_smp_processor_id()))
		return;

	this_cpu_write(fprobe_queues_balance, true);
	irq_work_queue(&nodes->balance);
	this_cpu_write(fprobe_queues_balance, false);
}
NOKPROBE_SYMBOL(fprobe_balance_nodes);

static void fprobe_add_spare(struct fprobe_node *node, struct fprobe_nodes *nodes)
{
	this_cpu_inc(nodes->hook->nodes->nr_spare);
	llist_add(&node->spare, &nodes->spare);
}
NOKPROBE_SYMBOL(fprobe_add_spare);

/*
 * Take the whole list, and give back all but one node. Interrupts and other CPUs find the
 * list empty meanwhile, but never a stale head.
 */
static struct fprobe_node *fprobe_take_node(struct llist_head *list)
{
	struct llist_node *first = llist_del_all(list), *none = NULL, *last;

	if (!first)
		return NULL;
	if (first->next && unlikely(!try_cmpxchg(&list->first, &none, first->next))) {
		for (last = first->next; last->next; last = last->next)
			;
		llist_add_batch(first->next, last, list);
	}
	return container_of(first, struct fprobe_node, spare);
}
NOKPROBE_SYMBOL(fprobe_take_node);

static struct fprobe_node *fprobe_take_spare(struct fprobe_nodes *nodes)
{
	struct fprobe_node *node = fprobe_take_node(&nodes->spare);

	if (node)
		this_cpu_dec(nodes->hook->nodes->nr_spare);
	return node;
}
NOKPROBE_SYMBOL(fprobe_take_spare);

static noinline struct fprobe_node *fprobe_alloc_node(struct fprobe_hook *hook,
						      struct fprobe_nodes *nodes)
{
	struct fprobe_node *node = fprobe_take_spare(nodes);

	if (READ_ONCE(nodes->nr_spare) < SPARE_LOW &&
	    time_after_eq(jiffies, READ_ONCE(nodes->refill_at)))
		fprobe_balance_nodes(nodes);
	if (likely(node))
		return node;

	node = kmalloc_nolock(hook->node_size, __GFP_ZERO, NUMA_NO_NODE);
	if (node)
		fprobe_init_node(node, hook);
	return node;
}
NOKPROBE_SYMBOL(fprobe_alloc_node);

/* A slot is taken or filled by one instruction: an interrupt never sees it in between. */
static __always_inline struct fprobe_node *fprobe_get_node(struct fprobe_hook *hook)
{
	struct fprobe_nodes *nodes = this_cpu_ptr(hook->nodes);
	struct fprobe_node *node;

	for (int i = 0; i < NODES_PER_CPU; i++) {
		node = READ_ONCE(nodes->node[i]);
		if (likely(node && try_cmpxchg_local(&nodes->node[i], &node, NULL)))
			return node;
	}
	return fprobe_alloc_node(hook, nodes);
}

static noinline void fprobe_put_spare_node(struct fprobe_node *node, struct fprobe_nodes *nodes)
{
	fprobe_add_spare(node, nodes);
	if (READ_ONCE(nodes->nr_spare) > SPARE_MAX)
		fprobe_balance_nodes(nodes);
}
NOKPROBE_SYMBOL(fprobe_put_spare_node);

static void fprobe_put_node(struct rethook_node *rhn)
{
	struct fprobe_node *node = container_of(rhn, struct fprobe_node, rhn);
	struct fprobe_hook *hook = rhn->rethook->data;
	struct fprobe_node *none = NULL;

	/* Preemption is disabled: fprobe_free_nodes() runs later, and sees what is added here. */
	if (likely(READ_ONCE(hook->fp))) {
		struct fprobe_nodes *nodes = this_cpu_ptr(hook->nodes);

		for (int i = 0; i < NODES_PER_CPU; i++, none = NULL) {
			if (!READ_ONCE(nodes->node[i]) &&
			    try_cmpxchg_local(&nodes->node[i], &none, node))
				return;
		}
		fprobe_put_spare_node(node, nodes);
		return;
	}
	fprobe_free_node(node);
}
NOKPROBE_SYMBOL(fprobe_put_node);

static void fprobe_refill_spare(struct fprobe_nodes *nodes)
{
	struct fprobe_hook *hook = nodes->hook;
	struct fprobe_node *node;

	while (READ_ONCE(nodes->nr_spare) < SPARE_FILL) {
		node = fprobe_take_node(&hook->shared);
		if (node)
			atomic_dec(&hook->nr_shared);
		else
			node = fprobe_new_node(hook, GFP_ATOMIC | __GFP_NOWARN, NUMA_NO_NODE);
		if (!node) {
			/* Allocating may hit the probe again: do not come back at once. */
			WRITE_ONCE(nodes->refill_at, jiffies + 1);
			return;
		}
		fprobe_add_spare(node, nodes);
	}
}

static void fprobe_reduce_spare(struct fprobe_nodes *nodes)
{
	struct fprobe_hook *hook = nodes->hook;
	struct fprobe_node *node;

	while (READ_ONCE(nodes->nr_spare) > SPARE_FILL && (node = fprobe_take_spare(nodes))) {
		if (atomic_inc_return(&hook->nr_shared) <= SHARED_PER_CPU * num_online_cpus()) {
			llist_add(&node->spare, &hook->shared);
		} else {
			atomic_dec(&hook->nr_shared);
			fprobe_free_node(node);
		}
	}
}

/* An irq_work of the CPU, in hardirq; with PREEMPT_RT in a thread of that CPU. */
static void fprobe_balance_nodes_func(struct irq_work *work)
{
	struct fprobe_nodes *nodes = container_of(work, struct fprobe_nodes, balance);
	int nr_spare = READ_ONCE(nodes->nr_spare);

	if (nr_spare < SPARE_LOW)
		fprobe_refill_spare(nodes);
	else if (nr_spare > SPARE_MAX)
		fprobe_reduce_spare(nodes);
}

/* Call this when no hit can get or put a node any more. Some may still be in use. */
static void fprobe_free_nodes(struct fprobe_hook *hook)
{
	int cpu;

	if (!hook->nodes)
		return;
	for_each_possible_cpu(cpu) {
		struct fprobe_nodes *nodes = per_cpu_ptr(hook->nodes, cpu);

		for (int i = 0; i < NODES_PER_CPU; i++) {
			if (nodes->node[i])
				fprobe_free_node(nodes->node[i]);
		}
		fprobe_free_node_list(llist_del_all(&nodes->spare));
	}
	fprobe_free_node_list(llist_del_all(&hook->shared));
	free_percpu(hook->nodes);
	hook->nodes = NULL;
}

/*
 * The first hits take these nodes, even inside the allocator, until the irq_work refills
 * the stock. The more functions are probed, the deeper calls nest.
 */
static int fprobe_alloc_nodes(struct fprobe_hook *hook)
{
	int nr_spare = min(hook->ops.func_hash->filter_hash->count, SPARE_LOW);
	struct fprobe_nodes *nodes;
	struct fprobe_node *node;
	int cpu;

	hook->nodes = alloc_percpu(struct fprobe_nodes);
	if (!hook->nodes)
		return -ENOMEM;
	for_each_possible_cpu(cpu) {
		nodes = per_cpu_ptr(hook->nodes, cpu);
		nodes->balance = IRQ_WORK_INIT(fprobe_balance_nodes_func);
		nodes->refill_at = jiffies;
		nodes->hook = hook;
		for (int i = 0; i < NODES_PER_CPU + nr_spare; i++) {
			node = fprobe_new_node(hook, GFP_KERNEL, cpu_to_node(cpu));
			if (!node)
				return -ENOMEM;
			if (i < NODES_PER_CPU) {
				nodes->node[i] = node;
			} else {
				llist_add(&node->spare, &nodes->spare);
				nodes->nr_spare++;
			}
		}
	}
	return 0;
}

/* Call this when @hook cannot be hit any more: then no irq_work becomes pending again. */
static void fprobe_wait_for_balance(struct fprobe_hook *hook)
{
	int cpu;

	if (!hook->nodes)
		return;
	for_each_possible_cpu(cpu) {
		struct irq_work *work = &per_cpu_ptr(hook->nodes, cpu)->balance;

		if (irq_work_is_busy(work))
			irq_work_sync(work);
	}
}

/* --- Hits ------------------------------------------------------------------- */

/*
 * These handlers need not ask whether RCU is watching: with ARCH_WANTS_NO_INSTR, code
 * that runs while it is not has no callsites.
 *
 * Nor is a return hooked on the way into suspend and hibernation: some of these
 * functions never return, or not in this boot, as hibernation resumes in a new one.
 * pause_graph_tracing() marks the window.
 */

static void fprobe_count_missed(struct fprobe_hook *hook)
{
	struct fprobe *fp;

	guard(preempt_notrace)();
	fp = READ_ONCE(hook->fp);
	if (fp)
		fp->nmissed++;
}
NOKPROBE_SYMBOL(fprobe_count_missed);

/* For most hits. If it fails, fprobe_entry_in_any_context() finds out whether this recurses. */
static __always_inline bool fprobe_trylock_task(void)
{
	if (unlikely(!ftrace_test_recursion_trylock_task()))
		return false;
	preempt_disable_notrace();
	return true;
}

static __always_inline void fprobe_unlock_task(void)
{
	preempt_enable_notrace();
	ftrace_test_recursion_unlock_task();
}

static noinline int fprobe_call_shared(unsigned long ip, unsigned long parent_ip, struct fprobe *fp,
				       struct ftrace_regs *fregs, void *data)
{
	return __fprobe_kprobe_handler(ip, parent_ip, fp, fregs, data);
}
NOKPROBE_SYMBOL(fprobe_call_shared);

static __always_inline int fprobe_call_entry(unsigned long ip, unsigned long parent_ip,
					     struct fprobe *fp, struct ftrace_regs *fregs,
					     void *data)
{
	if (unlikely(fprobe_shared_with_kprobes(fp)))
		return fprobe_call_shared(ip, parent_ip, fp, fregs, data);
	return __fprobe_handler(ip, parent_ip, fp, fregs, data);
}

/* Called with preemption disabled, which keeps the fprobe alive. */
static __always_inline void fprobe_enter(struct fprobe_hook *hook, unsigned long ip,
					 unsigned long parent_ip, struct ftrace_regs *fregs)
{
	struct fprobe *fp = READ_ONCE(hook->fp);

	if (unlikely(!fp || fprobe_disabled(fp)))
		return;
	fprobe_call_entry(ip, parent_ip, fp, fregs, NULL);
}

static __always_inline void fprobe_enter_and_hook(struct fprobe_hook *hook, unsigned long ip,
						  unsigned long parent_ip,
						  struct ftrace_regs *fregs)
{
	struct fprobe *fp = READ_ONCE(hook->fp);
	struct fprobe_node *node;

	if (unlikely(!fp || fprobe_disabled(fp)))
		return;
	if (unlikely(atomic_read(&current->tracing_graph_pause)))
		return;
	node = fprobe_get_node(hook);
	if (unlikely(!node)) {
		fp->nmissed++;
		return;
	}

	node->ip = ip;
	if (fp->entry_handler &&
	    unlikely(fprobe_call_entry(ip, parent_ip, fp, fregs,
				       fp->entry_data_size ? node->data : NULL)))
		fprobe_put_node(&node->rhn);
	else
		rethook_hook_ftrace(&node->rhn, fregs);
}

static noinline void fprobe_entry_in_any_context(unsigned long ip, unsigned long parent_ip,
						 struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	struct fprobe_hook *hook = container_of(ops, struct fprobe_hook, ops);
	int bit;

	bit = ftrace_test_recursion_trylock(ip, parent_ip);
	if (bit < 0) {
		fprobe_count_missed(hook);
		return;
	}
	if (hook->nodes)
		fprobe_enter_and_hook(hook, ip, parent_ip, fregs);
	else
		fprobe_enter(hook, ip, parent_ip, fregs);
	ftrace_test_recursion_unlock(bit);
}
NOKPROBE_SYMBOL(fprobe_entry_in_any_context);

/* For an fprobe without exit handler */
static void fprobe_entry(unsigned long ip, unsigned long parent_ip,
			 struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	if (unlikely(!fprobe_trylock_task())) {
		fprobe_entry_in_any_context(ip, parent_ip, ops, fregs);
		return;
	}
	fprobe_enter(container_of(ops, struct fprobe_hook, ops), ip, parent_ip, fregs);
	fprobe_unlock_task();
}
NOKPROBE_SYMBOL(fprobe_entry);

/* For an fprobe with exit handler */
static void fprobe_entry_hook(unsigned long ip, unsigned long parent_ip,
			      struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	if (unlikely(!fprobe_trylock_task())) {
		fprobe_entry_in_any_context(ip, parent_ip, ops, fregs);
		return;
	}
	fprobe_enter_and_hook(container_of(ops, struct fprobe_hook, ops), ip, parent_ip, fregs);
	fprobe_unlock_task();
}
NOKPROBE_SYMBOL(fprobe_entry_hook);

static __always_inline void fprobe_call_exit(struct fprobe *fp, struct fprobe_node *node,
					     unsigned long ret_ip, struct ftrace_regs *fregs)
{
	fp->exit_handler(fp, node->ip, ret_ip, fregs, fp->entry_data_size ? node->data : NULL);
}

static noinline void fprobe_exit_in_any_context(struct fprobe *fp, struct fprobe_node *node,
						unsigned long ret_ip, struct ftrace_regs *fregs)
{
	int bit = ftrace_test_recursion_trylock(node->ip, ret_ip);

	if (bit < 0) {
		fp->nmissed++;
		return;
	}
	fprobe_call_exit(fp, node, ret_ip, fregs);
	ftrace_test_recursion_unlock(bit);
}
NOKPROBE_SYMBOL(fprobe_exit_in_any_context);

/* Called by rethook, with preemption disabled */
static void fprobe_exit(struct rethook_node *rhn, void *data, unsigned long ret_ip,
			struct ftrace_regs *fregs)
{
	struct fprobe_node *node = container_of(rhn, struct fprobe_node, rhn);
	struct fprobe_hook *hook = data;
	struct fprobe *fp = READ_ONCE(hook->fp);

	if (unlikely(!fp || fprobe_disabled(fp)))
		return;
	if (unlikely(!ftrace_test_recursion_trylock_task())) {
		fprobe_exit_in_any_context(fp, node, ret_ip, fregs);
		return;
	}
	fprobe_call_exit(fp, node, ret_ip, fregs);
	ftrace_test_recursion_unlock_task();
}
NOKPROBE_SYMBOL(fprobe_exit);

/* --- Registration ----------------------------------------------------------- */

static void fprobe_free_hook(struct fprobe_hook *hook)
{
	ftrace_ops_release(&hook->ops);
	fprobe_free_nodes(hook);
	/* From now on, only nodes point to it. */
	kmemleak_not_leak(hook);
	fprobe_put_hook(hook);
}

static void fprobe_free_hooks_work(struct work_struct *work)
{
	struct llist_node *garbage = llist_del_all(&fprobe_garbage);
	struct fprobe_hook *hook, *next;

	/*
	 * As for any ops, see ftrace_shutdown(). synchronize_rcu() also waits for handlers
	 * that still hold a pointer to the fprobe.
	 */
	synchronize_rcu_tasks_rude();
	synchronize_rcu_tasks();
	synchronize_rcu();
	cpus_wait_for_dying();

	llist_for_each_entry(hook, garbage, garbage)
		fprobe_wait_for_balance(hook);
	/* As in irq_work_sync(): the thread that ran an irq_work may still look at it. */
	if (IS_ENABLED(CONFIG_PREEMPT_RT) || !arch_irq_work_has_interrupt())
		synchronize_rcu();

	llist_for_each_entry_safe(hook, next, garbage, garbage) {
		atomic_long_sub(hook->size, &fprobe_garbage_size);
		fprobe_free_hook(hook);
	}
}

static DECLARE_WORK(fprobe_free_hooks, fprobe_free_hooks_work);

/*
 * Attaching and detaching in a loop must not fill the memory during a long grace period.
 * Call this without locks held.
 */
static void fprobe_wait_for_garbage(void)
{
	if (atomic_long_read(&fprobe_garbage_size) > GARBAGE_MAX)
		flush_work(&fprobe_free_hooks);
}

static unsigned long fprobe_hook_size(struct fprobe_hook *hook)
{
	struct ftrace_hash *hash = hook->ops.func_hash->filter_hash;
	unsigned long size = sizeof(*hook);

	size += hash->count * sizeof(struct ftrace_func_entry);
	size += sizeof(struct hlist_head) << hash->size_bits;
	if (hook->nodes)
		size += num_possible_cpus() * (SPARE_MAX + SHARED_PER_CPU) * hook->node_size;
	return size;
}

static void fprobe_add_garbage(struct fprobe_hook *hook)
{
	hook->size = fprobe_hook_size(hook);
	atomic_long_add(hook->size, &fprobe_garbage_size);
	if (llist_add(&hook->garbage, &fprobe_garbage))
		queue_work(system_dfl_wq, &fprobe_free_hooks);
}

/* The fprobe may be freed after an RCU grace period. */
static void fprobe_retire_hook(struct fprobe_hook *hook)
{
	WRITE_ONCE(hook->fp, NULL);
	if (hook->attached && !unregister_ftrace_function(&hook->ops))
		hook->attached = false;
	/* If ftrace has been killed, callsites may call it until the end. */
	if (!hook->attached && !ftrace_is_dead())
		fprobe_add_garbage(hook);
}

/*
 * Is @addr in what initialised a module, and goes soon? Until the module is live, it
 * can be probed: fprobe_module_callback() waits for fprobe_mutex and takes it off.
 */
static bool fprobe_has_initialised(unsigned long addr)
{
	struct module *mod;

	guard(rcu)();
	mod = __module_text_address(addr);
	return mod && within_module_init(addr, mod) && !module_is_coming(mod);
}

/* ftrace looks for each of @addrs: the filter has every function once. */
static int fprobe_set_filter(struct ftrace_ops *ops, unsigned long *addrs, int num)
{
	int ret = -ENOENT;

	for (int from = 0, to; from < num; from = to + 1) {
		for (to = from; to < num && !fprobe_has_initialised(addrs[to]); to++)
			;
		if (to == from)
			continue;
		ret = ftrace_set_filter_ips(ops, addrs + from, to - from, 0, 0);
		if (ret)
			return ret == -EINVAL ? -ENOENT : ret;
	}
	return ret;
}

static struct fprobe_hook *fprobe_alloc_hook(struct fprobe *fp, unsigned long *addrs, int num)
{
	struct fprobe_hook *hook;
	unsigned int size = ALIGN(fp->entry_data_size, sizeof(long));
	int ret;

	if (size > MAX_FPROBE_DATA_SIZE)
		return ERR_PTR(-E2BIG);
	if ((fp->flags & FPROBE_FL_SAVE_REGS) && !IS_ENABLED(CONFIG_FPROBE_SAVE_REGS))
		return ERR_PTR(-EOPNOTSUPP);

	hook = kzalloc_obj(*hook);
	if (!hook)
		return ERR_PTR(-ENOMEM);
	hook->ops.func = fp->exit_handler ? fprobe_entry_hook : fprobe_entry;
	hook->ops.flags = FTRACE_OPS_FL_SAVE_ARGS | FTRACE_OPS_FL_DEFER_FREE;
	if (fp->flags & FPROBE_FL_SAVE_REGS)
		hook->ops.flags |= FTRACE_OPS_FL_SAVE_REGS;
	hook->rethook.data = hook;
	hook->rethook.recycle = fprobe_put_node;
	rcu_assign_pointer(hook->rethook.handler, fprobe_exit);
	hook->node_size = sizeof(struct fprobe_node) + size;
	refcount_set(&hook->ref, 1);

	ret = fprobe_set_filter(&hook->ops, addrs, num);
	if (!ret && fp->exit_handler)
		ret = fprobe_alloc_nodes(hook);
	if (ret) {
		fprobe_free_hook(hook);
		return ERR_PTR(ret);
	}
	fp->entry_data_size = size;
	return hook;
}

/**
 * register_fprobe_ips() - Register fprobe to ftrace by address.
 * @fp: An fprobe data structure to be registered, zeroed but for what the user sets.
 * @addrs: An array of target function address.
 * @num: The number of entries of @addrs.
 *
 * Register @fp to ftrace for enabling the probe on the address given by @addrs.
 * The @addrs must be the addresses of ftrace location address, which may be
 * the symbol address + arch-dependent offset.
 * If you unsure what this mean, please use other registration functions.
 *
 * Context: may sleep.
 *
 * Return: 0 if @fp is registered successfully, -EEXIST if it is registered, -ENOENT
 * if ftrace has none of the functions, -E2BIG if its entry data is too large,
 * -EOPNOTSUPP if it wants all registers and the kernel has no FPROBE_SAVE_REGS,
 * -ENOMEM; and what register_ftrace_function() returns. Then nothing has changed.
 */
int register_fprobe_ips(struct fprobe *fp, unsigned long *addrs, int num)
{
	struct fprobe_hook *hook;
	int ret;

	if (!fp || !addrs || num <= 0)
		return -EINVAL;

	fprobe_wait_for_garbage();
	guard(mutex)(&fprobe_mutex);
	if (fp->hook)
		return -EEXIST;

	hook = fprobe_alloc_hook(fp, addrs, num);
	if (IS_ERR(hook))
		return PTR_ERR(hook);

	ret = register_ftrace_function(&hook->ops);
	if (ret) {
		fprobe_retire_hook(hook);
		return ret;
	}
	hook->attached = true;
	fp->nmissed = 0;
	fp->hook = hook;
	/*
	 * Publish the handlers only now: had they been live earlier, patching the
	 * remaining callsites would itself have been traced, at twice the cost.
	 */
	smp_store_release(&hook->fp, fp);
	return 0;
}
EXPORT_SYMBOL_GPL(register_fprobe_ips);

bool fprobe_is_registered(struct fprobe *fp)
{
	return fp && fp->hook;
}

/**
 * unregister_fprobe_async() - Unregister fprobe without RCU GP wait
 * @fp: An fprobe data structure to be unregistered.
 *
 * Unregister fprobe (and remove ftrace hooks from the function entries).
 * This function will NOT wait until the fprobe is no longer used: its handlers
 * may run until an RCU grace period has passed.
 *
 * Context: may sleep.
 *
 * Return: 0 if @fp is unregistered successfully, -EINVAL if it is not registered.
 */
int unregister_fprobe_async(struct fprobe *fp)
{
	struct fprobe_hook *hook;

	guard(mutex)(&fprobe_mutex);
	if (!fp || !fp->hook)
		return -EINVAL;

	hook = fp->hook;
	fp->hook = NULL;
	fprobe_retire_hook(hook);
	return 0;
}

/**
 * unregister_fprobe() - Unregister fprobe with RCU GP wait
 * @fp: An fprobe data structure to be unregistered.
 *
 * Unregister fprobe (and remove ftrace hooks from the function entries).
 * This function will block until the fprobe is no longer used. Functions whose
 * return it had hooked may return later; its exit handler is not called then.
 *
 * Context: may sleep.
 *
 * Return: 0 if @fp is unregistered successfully, -EINVAL if it is not registered.
 */
int unregister_fprobe(struct fprobe *fp)
{
	int ret = unregister_fprobe_async(fp);

	if (!ret) {
		synchronize_rcu();
		cpus_wait_for_dying();
	}
	return ret;
}
EXPORT_SYMBOL_GPL(unregister_fprobe);

#ifdef CONFIG_MODULES
struct fprobe_leavers {
	struct list_head	hooks;
	unsigned int		max;
};

/* Called under ftrace_lock. If @ops is an fprobe's, note that it must leave the function at @ip. */
static void fprobe_note_leaving(struct ftrace_ops *ops, unsigned long ip, void *data)
{
	struct fprobe_leavers *leavers = data;
	struct fprobe_hook *hook;

	if (ops->saved_func != fprobe_entry && ops->saved_func != fprobe_entry_hook)
		return;
	hook = container_of(ops, struct fprobe_hook, ops);
	if (!hook->nr_leaving) {
		list_add_tail(&hook->leavers, &leavers->hooks);
		hook->leaving = kvmalloc_array(leavers->max, sizeof(*hook->leaving), GFP_KERNEL);
	}
	if (hook->leaving)
		hook->leaving[hook->nr_leaving] = ip;
	hook->nr_leaving++;
}

/*
 * Another module may be loaded to where @mod's functions were, or where those of its
 * initialisation were.
 */
static void fprobe_leave_module(struct fprobe_hook *hook, struct module *mod)
{
	int ret = -ENOMEM;

	/* An ops without functions in its filter would trace all. */
	if (hook->nr_leaving < hook->ops.func_hash->filter_hash->count) {
		if (hook->leaving)
			ret = ftrace_ops_set_leave(&hook->ops, hook->leaving, hook->nr_leaving);
		if (!ret)
			return;
		pr_warn("cannot take a probe off module %s (%d): it is off everywhere\n",
			mod->name, ret);
	}
	if (!unregister_ftrace_function(&hook->ops))
		hook->attached = false;
}

static int fprobe_module_callback(struct notifier_block *nb, unsigned long val, void *data)
{
	struct fprobe_leavers leavers = { .hooks = LIST_HEAD_INIT(leavers.hooks) };
	struct fprobe_hook *hook, *next;
	struct module *mod = data;

	/* The init functions of a module are freed once it is live. */
	if (val != MODULE_STATE_GOING && val != MODULE_STATE_LIVE)
		return NOTIFY_DONE;

	guard(mutex)(&fprobe_mutex);
	leavers.max = mod->num_ftrace_callsites;
	ftrace_on_each_module_ops(mod, val == MODULE_STATE_LIVE, fprobe_note_leaving, &leavers);
	list_for_each_entry_safe(hook, next, &leavers.hooks, leavers) {
		fprobe_leave_module(hook, mod);
		kvfree(hook->leaving);
		hook->leaving = NULL;
		hook->nr_leaving = 0;
	}
	return NOTIFY_DONE;
}

static struct notifier_block fprobe_module_nb = {
	.notifier_call = fprobe_module_callback,
};

static int __init fprobe_init_module(void)
{
	return register_module_notifier(&fprobe_module_nb);
}
early_initcall(fprobe_init_module);
#endif
