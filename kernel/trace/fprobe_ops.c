// SPDX-License-Identifier: GPL-2.0
/*
 * fprobes that are called by an ftrace_ops of their own, and at a function's
 * return by rethook
 *
 * A callsite holds what it calls, be it one ops or a set of them. So the ops
 * leads to the fprobe, and nothing is looked up when a function is hit. What a
 * fprobe needs beyond the life of the struct fprobe is in a struct fprobe_hook:
 *
 *	fprobe <----> hook [ ops, rethook ] <---- node, one for each call that is hooked
 *
 * A fprobe is gone for its user once the pointer from the hook to it is NULL and an
 * RCU grace period has passed. The ops lives until no task is in a trampoline that
 * has loaded it, which is an RCU-tasks grace period that nobody waits for here. The
 * hook itself lives until the last function has returned whose return it hooks:
 * each node has a reference, and a task may sleep in such a function for days.
 *
 * Nodes come from a few that each CPU keeps for each hook, and from the slab
 * allocator, in any context, if there is none. A call that is hooked takes one until
 * it returns; what it has reached when a task sleeps is no bound for others. Only
 * if the allocator has none either, the exit of the function is missed.
 *
 * A fprobe on all functions hooks those, too, that free its nodes, and takes nodes for
 * that. While it is registered, interrupts free none, and a task only if many are spare.
 */
#define pr_fmt(fmt) "fprobe: " fmt

#include <linux/cleanup.h>
#include <linux/err.h>
#include <linux/fprobe.h>
#include <linux/ftrace.h>
#include <linux/kmemleak.h>
#include <linux/kprobes.h>
#include <linux/list.h>
#include <linux/llist.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/rethook.h>
#include <linux/slab.h>
#include <linux/suspend.h>
#include <linux/workqueue.h>

#include "fprobe.h"
#include "trace.h"

/* How many nodes a CPU keeps for a hook: calls of other contexts nest, and tasks sleep. */
#define NODES_PER_CPU	4

/* How many more it keeps before a task frees one; calls do nest deeper than that. */
#define SPARE_PER_CPU	32

struct fprobe_node {
	struct rethook_node	rhn;
	union {
		unsigned long		ip;
		struct llist_node	spare;
	};
	unsigned long		data[];
};

struct fprobe_nodes {
	struct fprobe_node	*node[NODES_PER_CPU];
	struct llist_head	spare;
	int			nr_spare;
};

/**
 * struct fprobe_hook - what ftrace and rethook know of a fprobe
 * @ops: what the callsites call
 * @fp: the fprobe; NULL until it is registered and once it is not any more. Read with
 *	preemption disabled.
 * @nodes: those that each CPU keeps; NULL for a fprobe without exit handler
 * @rethook: where its nodes belong to
 * @node_size: of each, with the entry data
 * @ref: one, and one for each node
 * @attached: @ops is registered
 * @list: in fprobe_hooks
 * @garbage: in the list of those that wait to be freed
 * @rcu: to be freed
 */
struct fprobe_hook {
	struct ftrace_ops		ops;
	struct fprobe			*fp;
	struct fprobe_nodes __percpu	*nodes;
	struct rethook			rethook;
	unsigned int			node_size;
	refcount_t			ref;
	bool				attached;
	struct list_head		list;
	struct llist_node		garbage;
	struct rcu_head			rcu;
};

static LIST_HEAD(fprobe_hooks);
static DEFINE_MUTEX(fprobe_mutex);
static LLIST_HEAD(fprobe_garbage);

/* --- Nodes ------------------------------------------------------------------ */

/* Any context: the memory goes after a grace period, for who unwinds another task. */
static void put_hook(struct fprobe_hook *hook)
{
	if (refcount_dec_and_test(&hook->ref))
		kfree_call_rcu_nolock((struct kvfree_rcu_head *)&hook->rcu, hook);
}

static noinline void free_node(struct fprobe_node *node)
{
	struct fprobe_hook *hook = node->rhn.rethook->data;
	int bit;

	/* The returns of what is called here would need nodes that are freed here. */
	bit = ftrace_test_recursion_trylock(_THIS_IP_, _RET_IP_);
	kfree_call_rcu_nolock((struct kvfree_rcu_head *)&node->rhn.rcu, node);
	put_hook(hook);
	if (bit >= 0)
		ftrace_test_recursion_unlock(bit);
}
NOKPROBE_SYMBOL(free_node);

static void init_node(struct fprobe_node *node, struct fprobe_hook *hook)
{
	node->rhn.rethook = &hook->rethook;
	refcount_inc(&hook->ref);
}

/*
 * With preemption disabled, as all that follows. Who takes a spare node takes all, and
 * gives the others back: to an interrupt there is none then, rather than a wrong one.
 */
static noinline struct fprobe_node *alloc_node(struct fprobe_hook *hook,
					       struct fprobe_nodes *nodes)
{
	struct llist_node *first = llist_del_all(&nodes->spare), *last;
	struct fprobe_node *node;

	if (first) {
		this_cpu_dec(hook->nodes->nr_spare);
		if (first->next) {
			for (last = first->next; last->next; last = last->next)
				;
			llist_add_batch(first->next, last, &nodes->spare);
		}
		return container_of(first, struct fprobe_node, spare);
	}

	node = kmalloc_nolock(hook->node_size, __GFP_ZERO, NUMA_NO_NODE);
	if (node)
		init_node(node, hook);
	return node;
}
NOKPROBE_SYMBOL(alloc_node);

/*
 * With preemption disabled. Each pointer is taken and given as a whole: an interrupt
 * or an NMI may come at any time.
 */
static __always_inline struct fprobe_node *get_node(struct fprobe_hook *hook)
{
	struct fprobe_nodes *nodes = this_cpu_ptr(hook->nodes);
	struct fprobe_node *node;

	for (int i = 0; i < NODES_PER_CPU; i++) {
		node = READ_ONCE(nodes->node[i]);
		if (likely(node && try_cmpxchg_local(&nodes->node[i], &node, NULL)))
			return node;
	}
	return alloc_node(hook, nodes);
}

static noinline void put_spare_node(struct fprobe_node *node, struct fprobe_hook *hook,
				    struct fprobe_nodes *nodes)
{
	if (in_task() && nodes->nr_spare >= SPARE_PER_CPU) {
		free_node(node);
		return;
	}
	this_cpu_inc(hook->nodes->nr_spare);
	llist_add(&node->spare, &nodes->spare);
}
NOKPROBE_SYMBOL(put_spare_node);

static void put_node(struct rethook_node *rhn)
{
	struct fprobe_node *node = container_of(rhn, struct fprobe_node, rhn);
	struct fprobe_hook *hook = rhn->rethook->data;
	struct fprobe_node *none = NULL;

	/* With preemption disabled: what this adds, free_nodes() sees. */
	if (likely(READ_ONCE(hook->fp))) {
		struct fprobe_nodes *nodes = this_cpu_ptr(hook->nodes);

		for (int i = 0; i < NODES_PER_CPU; i++, none = NULL) {
			if (!READ_ONCE(nodes->node[i]) &&
			    try_cmpxchg_local(&nodes->node[i], &none, node))
				return;
		}
		put_spare_node(node, hook, nodes);
		return;
	}
	free_node(node);
}
NOKPROBE_SYMBOL(put_node);

/* When nobody gets or puts one any more. Some may be in use yet. */
static void free_nodes(struct fprobe_hook *hook)
{
	int cpu;

	if (!hook->nodes)
		return;
	for_each_possible_cpu(cpu) {
		struct fprobe_nodes *nodes = per_cpu_ptr(hook->nodes, cpu);
		struct fprobe_node *node, *next;

		for (int i = 0; i < NODES_PER_CPU; i++) {
			if (nodes->node[i])
				free_node(nodes->node[i]);
		}
		llist_for_each_entry_safe(node, next, llist_del_all(&nodes->spare), spare)
			free_node(node);
	}
	free_percpu(hook->nodes);
	hook->nodes = NULL;
}

/* One for each CPU, so that a first hit finds one */
static int alloc_nodes(struct fprobe_hook *hook)
{
	int cpu;

	hook->nodes = alloc_percpu(struct fprobe_nodes);
	if (!hook->nodes)
		return -ENOMEM;
	for_each_possible_cpu(cpu) {
		struct fprobe_node *node = kzalloc_node(hook->node_size, GFP_KERNEL,
							cpu_to_node(cpu));

		if (!node)
			return -ENOMEM;
		/* Others, which kmemleak does not know, can lead to one in use. */
		kmemleak_not_leak(node);
		init_node(node, hook);
		per_cpu_ptr(hook->nodes, cpu)->node[0] = node;
	}
	return 0;
}

/* --- Hits ------------------------------------------------------------------- */

/*
 * What is here is not called where RCU is not watching: there is nothing that
 * ftrace could patch, on an architecture with ARCH_WANTS_NO_INSTR.
 *
 * Nor is a return hooked on the way into suspend and hibernation: those functions
 * do not return, or in another life. The graph tracer's pause says when.
 */

static void count_missed(struct fprobe_hook *hook)
{
	struct fprobe *fp;

	guard(preempt_notrace)();
	fp = READ_ONCE(hook->fp);
	if (fp)
		fp->nmissed++;
}
NOKPROBE_SYMBOL(count_missed);

/*
 * ftrace_test_recursion_trylock() for most hits, those in a task: there is no need
 * to find out what context this is, and nothing to be kept for the unlock.
 */
#define TASK_BIT	BIT(TRACE_FTRACE_START + TRACE_CTX_NORMAL)

static __always_inline bool trylock_task_preempt_disabled(void)
{
	if (unlikely(preempt_count() & (NMI_MASK | HARDIRQ_MASK | SOFTIRQ_OFFSET)))
		return false;
	if (IS_ENABLED(CONFIG_FTRACE_VALIDATE_RCU_IS_WATCHING) ||
	    unlikely(current->trace_recursion & TASK_BIT))
		return false;
	current->trace_recursion |= TASK_BIT;
	barrier();
	return true;
}

static __always_inline void unlock_task_preempt_disabled(void)
{
	barrier();
	current->trace_recursion &= ~TASK_BIT;
}

static __always_inline bool trylock_task(void)
{
	if (!trylock_task_preempt_disabled())
		return false;
	preempt_disable_notrace();
	return true;
}

static __always_inline void unlock_task(void)
{
	preempt_enable_notrace();
	unlock_task_preempt_disabled();
}

static noinline int call_shared(unsigned long ip, unsigned long parent_ip, struct fprobe *fp,
				struct ftrace_regs *fregs, void *data)
{
	return __fprobe_kprobe_handler(ip, parent_ip, fp, fregs, data);
}
NOKPROBE_SYMBOL(call_shared);

static __always_inline int call_entry(unsigned long ip, unsigned long parent_ip,
				      struct fprobe *fp, struct ftrace_regs *fregs,
				      void *data)
{
	if (unlikely(fprobe_shared_with_kprobes(fp)))
		return call_shared(ip, parent_ip, fp, fregs, data);
	return __fprobe_handler(ip, parent_ip, fp, fregs, data);
}

/* With preemption disabled, which is what the life of the fprobe depends on */
static __always_inline void enter(struct fprobe_hook *hook, unsigned long ip,
				  unsigned long parent_ip, struct ftrace_regs *fregs)
{
	struct fprobe *fp = READ_ONCE(hook->fp);

	if (unlikely(!fp || fprobe_disabled(fp)))
		return;
	call_entry(ip, parent_ip, fp, fregs, NULL);
}

static __always_inline void enter_and_hook(struct fprobe_hook *hook, unsigned long ip,
					   unsigned long parent_ip,
					   struct ftrace_regs *fregs)
{
	struct fprobe *fp = READ_ONCE(hook->fp);
	struct fprobe_node *node;

	if (unlikely(!fp || fprobe_disabled(fp)))
		return;
	if (unlikely(atomic_read(&current->tracing_graph_pause)))
		return;
	node = get_node(hook);
	if (unlikely(!node)) {
		fp->nmissed++;
		return;
	}

	node->ip = ip;
	if (fp->entry_handler &&
	    unlikely(call_entry(ip, parent_ip, fp, fregs,
				fp->entry_data_size ? node->data : NULL)))
		put_node(&node->rhn);
	else
		rethook_hook_ftrace(&node->rhn, fregs);
}

static noinline void entry_in_any_context(unsigned long ip, unsigned long parent_ip,
					  struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	struct fprobe_hook *hook = container_of(ops, struct fprobe_hook, ops);
	int bit;

	bit = ftrace_test_recursion_trylock(ip, parent_ip);
	if (bit < 0) {
		count_missed(hook);
		return;
	}
	if (hook->nodes)
		enter_and_hook(hook, ip, parent_ip, fregs);
	else
		enter(hook, ip, parent_ip, fregs);
	ftrace_test_recursion_unlock(bit);
}
NOKPROBE_SYMBOL(entry_in_any_context);

/* For a fprobe without exit handler */
static void fprobe_entry(unsigned long ip, unsigned long parent_ip,
			 struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	if (unlikely(!trylock_task())) {
		entry_in_any_context(ip, parent_ip, ops, fregs);
		return;
	}
	enter(container_of(ops, struct fprobe_hook, ops), ip, parent_ip, fregs);
	unlock_task();
}
NOKPROBE_SYMBOL(fprobe_entry);

/* For a fprobe with exit handler */
static void fprobe_entry_hook(unsigned long ip, unsigned long parent_ip,
			      struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	if (unlikely(!trylock_task())) {
		entry_in_any_context(ip, parent_ip, ops, fregs);
		return;
	}
	enter_and_hook(container_of(ops, struct fprobe_hook, ops), ip, parent_ip, fregs);
	unlock_task();
}
NOKPROBE_SYMBOL(fprobe_entry_hook);

static __always_inline void call_exit(struct fprobe *fp, struct fprobe_node *node,
				      unsigned long ret_ip, struct ftrace_regs *fregs)
{
	fp->exit_handler(fp, node->ip, ret_ip, fregs, fp->entry_data_size ? node->data : NULL);
}

static noinline void exit_in_any_context(struct fprobe *fp, struct fprobe_node *node,
					 unsigned long ret_ip, struct ftrace_regs *fregs)
{
	int bit = ftrace_test_recursion_trylock(node->ip, ret_ip);

	if (bit < 0) {
		fp->nmissed++;
		return;
	}
	call_exit(fp, node, ret_ip, fregs);
	ftrace_test_recursion_unlock(bit);
}
NOKPROBE_SYMBOL(exit_in_any_context);

/* From rethook, which has disabled preemption */
static void fprobe_exit(struct rethook_node *rhn, void *data, unsigned long ret_ip,
			struct ftrace_regs *fregs)
{
	struct fprobe_node *node = container_of(rhn, struct fprobe_node, rhn);
	struct fprobe_hook *hook = data;
	struct fprobe *fp = READ_ONCE(hook->fp);

	if (unlikely(!fp || fprobe_disabled(fp)))
		return;
	if (unlikely(!trylock_task_preempt_disabled())) {
		exit_in_any_context(fp, node, ret_ip, fregs);
		return;
	}
	call_exit(fp, node, ret_ip, fregs);
	unlock_task_preempt_disabled();
}
NOKPROBE_SYMBOL(fprobe_exit);

/* --- Registration ----------------------------------------------------------- */

static void free_hook(struct fprobe_hook *hook)
{
	ftrace_ops_release(&hook->ops);
	free_nodes(hook);
	/* From now on, only nodes lead to it. */
	kmemleak_not_leak(hook);
	put_hook(hook);
}

static void free_hooks_work(struct work_struct *work)
{
	struct llist_node *garbage = llist_del_all(&fprobe_garbage);
	struct fprobe_hook *hook, *next;

	/* As for any ops: see ftrace_shutdown(). And who saw a hook with its fprobe is done. */
	synchronize_rcu_tasks_rude();
	synchronize_rcu_tasks();
	synchronize_rcu();

	llist_for_each_entry_safe(hook, next, garbage, garbage)
		free_hook(hook);
}

static DECLARE_WORK(free_hooks, free_hooks_work);

/* Its fprobe is gone when an RCU grace period has passed. */
static void retire_hook(struct fprobe_hook *hook)
{
	WRITE_ONCE(hook->fp, NULL);
	if (hook->attached && !unregister_ftrace_function(&hook->ops))
		hook->attached = false;
	/* If ftrace has been killed, callsites may call it until the end. */
	if (!hook->attached && !ftrace_is_dead() && llist_add(&hook->garbage, &fprobe_garbage))
		queue_work(system_dfl_wq, &free_hooks);
}

/*
 * Is @addr in what initialised a module, and goes soon? Until the module is live, it
 * can be probed: fprobe_module_callback() waits for fprobe_mutex and takes it off.
 */
static bool has_initialised(unsigned long addr)
{
	struct module *mod;

	guard(rcu)();
	mod = __module_text_address(addr);
	return mod && within_module_init(addr, mod) && !module_is_coming(mod);
}

/* ftrace looks for each of @addrs: the filter has every function once. */
static int set_filter(struct ftrace_ops *ops, unsigned long *addrs, int num)
{
	int ret = -ENOENT;

	for (int from = 0, to; from < num; from = to + 1) {
		for (to = from; to < num && !has_initialised(addrs[to]); to++)
			;
		if (to == from)
			continue;
		ret = ftrace_set_filter_ips(ops, addrs + from, to - from, 0, 0);
		if (ret)
			return ret == -EINVAL ? -ENOENT : ret;
	}
	return ret;
}

static struct fprobe_hook *alloc_hook(struct fprobe *fp, unsigned long *addrs, int num)
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
	hook->rethook.recycle = put_node;
	rcu_assign_pointer(hook->rethook.handler, fprobe_exit);
	hook->node_size = sizeof(struct fprobe_node) + size;
	refcount_set(&hook->ref, 1);

	ret = set_filter(&hook->ops, addrs, num);
	if (!ret && fp->exit_handler)
		ret = alloc_nodes(hook);
	if (ret) {
		free_hook(hook);
		return ERR_PTR(ret);
	}
	fp->entry_data_size = size;
	return hook;
}

/**
 * register_fprobe_ips() - Register fprobe to ftrace by address.
 * @fp: A fprobe data structure to be registered, zeroed but for what the user sets.
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

	guard(mutex)(&fprobe_mutex);
	if (fp->hook)
		return -EEXIST;

	hook = alloc_hook(fp, addrs, num);
	if (IS_ERR(hook))
		return PTR_ERR(hook);

	ret = register_ftrace_function(&hook->ops);
	if (ret) {
		retire_hook(hook);
		return ret;
	}
	hook->attached = true;
	list_add_tail(&hook->list, &fprobe_hooks);
	fp->nmissed = 0;
	fp->hook = hook;
	/*
	 * From now on hits reach its handlers. Before, they would run in what
	 * changes the rest of the text, and that would take twice as long.
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
 * @fp: A fprobe data structure to be unregistered.
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
	list_del(&hook->list);
	retire_hook(hook);
	return 0;
}

/**
 * unregister_fprobe() - Unregister fprobe with RCU GP wait
 * @fp: A fprobe data structure to be unregistered.
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

	if (!ret)
		synchronize_rcu();
	return ret;
}
EXPORT_SYMBOL_GPL(unregister_fprobe);

#ifdef CONFIG_MODULES
/*
 * What @hook has in @mod, or in its initialisation: how many, and with @addrs which.
 * There may be no function any more where one was: that of a module that failed to
 * load just when it was named. To ftrace, such an address is an error.
 */
static int hooked_in_module(struct fprobe_hook *hook, struct module *mod, bool init,
			    unsigned long *addrs)
{
	/* Only who has fprobe_mutex changes it. */
	struct ftrace_hash *hash = hook->ops.func_hash->filter_hash;
	struct ftrace_func_entry *entry;
	int n = 0;

	for (unsigned long i = 0; i < 1UL << hash->size_bits; i++) {
		hlist_for_each_entry(entry, &hash->buckets[i], hlist) {
			if (!(init ? within_module_init(entry->ip, mod) :
				     within_module(entry->ip, mod)))
				continue;
			if (addrs) {
				if (ftrace_location(entry->ip) != entry->ip)
					continue;
				addrs[n] = entry->ip;
			}
			n++;
		}
	}
	return n;
}

/*
 * Another module's function may come to be where @mod's are, or those of its
 * initialisation alone.
 */
static void remove_module(struct fprobe_hook *hook, struct module *mod, bool init)
{
	int nr = hook->attached ? hooked_in_module(hook, mod, init, NULL) : 0;
	unsigned long *addrs;
	int ret = -ENOMEM;

	if (!nr)
		return;

	/* An ops without functions in its filter would trace all. */
	if (nr < hook->ops.func_hash->filter_hash->count) {
		addrs = kvmalloc_array(nr, sizeof(*addrs), GFP_KERNEL);
		if (addrs) {
			nr = hooked_in_module(hook, mod, init, addrs);
			ret = ftrace_set_filter_ips(&hook->ops, addrs, nr, 1, 0);
			kvfree(addrs);
			if (!ret)
				return;
		}
		pr_warn("cannot take a probe off module %s (%d): it is off everywhere\n",
			mod->name, ret);
	}
	if (!unregister_ftrace_function(&hook->ops))
		hook->attached = false;
}

static int fprobe_module_callback(struct notifier_block *nb, unsigned long val, void *mod)
{
	struct fprobe_hook *hook;

	/* What initialises a module goes when that is done. */
	if (val != MODULE_STATE_GOING && val != MODULE_STATE_LIVE)
		return NOTIFY_DONE;

	guard(mutex)(&fprobe_mutex);
	list_for_each_entry(hook, &fprobe_hooks, list)
		remove_module(hook, mod, val == MODULE_STATE_LIVE);
	return NOTIFY_DONE;
}

static struct notifier_block fprobe_module_nb = {
	.notifier_call = fprobe_module_callback,
};

static int __init init_fprobe_module(void)
{
	return register_module_notifier(&fprobe_module_nb);
}
early_initcall(init_fprobe_module);
#endif

/* The graph tracer pauses for hibernation, too, but only while it is on. */
static int fprobe_pm_callback(struct notifier_block *nb, unsigned long val, void *data)
{
	if (val == PM_HIBERNATION_PREPARE)
		pause_graph_tracing();
	else if (val == PM_POST_HIBERNATION)
		unpause_graph_tracing();
	return NOTIFY_DONE;
}

static struct notifier_block fprobe_pm_nb = {
	.notifier_call = fprobe_pm_callback,
};

static int __init init_fprobe_pm(void)
{
	return register_pm_notifier(&fprobe_pm_nb);
}
early_initcall(init_fprobe_pm);
