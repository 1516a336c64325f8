// SPDX-License-Identifier: GPL-2.0
/*
 * fprobes, each called by an ftrace_ops of its own, and by rethook when a function returns
 *
 * A callsite calls its ops, or a set that names them, and the ops leads to the
 * fprobe: a hit looks nothing up. What must outlive the struct fprobe is in a
 * struct fprobe_hook:
 *
 *	fprobe <----> hook [ ops, stock ] <---- node, one for each call that is hooked
 *
 * An fprobe is gone for its user once the pointer from the hook to it is NULL and an
 * RCU grace period has passed. The ops lives until no task is in a trampoline that
 * has loaded it: a worker waits for an RCU-tasks grace period before it releases the ops.
 * The hook itself lives until the last function whose return it hooks has returned:
 * each node has a reference, and a task may sleep in such a function for days.
 *
 * Nodes come from a stock of the hook, see rethook_stock.c. A call that gets none is
 * missed: neither handler runs.
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
#include <linux/rethook_ftrace.h>
#include <linux/seq_file.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "fprobe.h"
#include "ftrace_ops_set.h"
#include "rethook_stock.h"
#include "trace.h"

/**
 * struct fprobe_hook - what ftrace and rethook know of an fprobe
 * @ops: what the callsites call
 * @fp: the fprobe while it is registered, otherwise NULL. Read with preemption disabled,
 *	or under rcu_read_lock().
 * @stock: the nodes; none if the fprobe has no exit handler. Its @ref counts the
 *	references to the hook, too.
 * @attached: @ops is registered
 * @leaving: callsites in module text that is about to be freed, which @ops must leave;
 *	NULL if there was no memory
 * @nr_leaving: how many; 0 outside of fprobe_module_callback()
 * @leavers: in the list of hooks with @nr_leaving
 * @garbage: in fprobe_garbage, once it waits to be freed
 * @size: its part of fprobe_garbage_size
 * @rcu: for kfree_rcu_nolock()
 */
struct fprobe_hook {
	struct ftrace_ops		ops;
	struct fprobe			*fp;
	struct rethook_stock		stock;
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

/* --- Hits ------------------------------------------------------------------- */

/*
 * These handlers need not ask whether RCU is watching: with ARCH_WANTS_NO_INSTR, code
 * that runs while it is not has no callsites.
 *
 * On the way into suspend and hibernation, where pause_graph_tracing() marks the window,
 * no return is hooked: some functions called there never return, as execution resumes in
 * one of their callers, after hibernation in another boot.
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

static __always_inline void fprobe_hook_return(struct fprobe *fp, struct rethook_node *rhn,
					       struct ftrace_regs *fregs)
{
	if (IS_ENABLED(CONFIG_FPROBE_SAVE_REGS) && fp->flags & FPROBE_FL_SAVE_REGS)
		rethook_hook_ftrace(rhn, fregs);
	else
		rethook_hook_return(rhn, fregs);
}

static __always_inline void fprobe_enter_and_hook(struct fprobe_hook *hook, unsigned long ip,
						  unsigned long parent_ip,
						  struct ftrace_regs *fregs)
{
	struct fprobe *fp = READ_ONCE(hook->fp);
	struct rethook_stock_node *node;

	if (unlikely(!fp || fprobe_disabled(fp)))
		return;
	if (unlikely(atomic_read(&current->tracing_graph_pause)))
		return;
	node = rethook_stock_get_fast(&hook->stock);
	if (unlikely(!node)) {
		/* This calls traceable functions; the caller's recursion lock stops their hits. */
		node = rethook_stock_get_slow(&hook->stock);
		if (!node) {
			fp->nmissed++;
			return;
		}
	}

	node->ip = ip;
	if (fp->entry_handler &&
	    unlikely(fprobe_call_entry(ip, parent_ip, fp, fregs,
				       fp->entry_data_size ? node->data : NULL)))
		rethook_stock_put(&node->rhn);
	else
		fprobe_hook_return(fp, &node->rhn, fregs);
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
	if (hook->stock.cpus)
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

static __always_inline void fprobe_call_exit(struct fprobe *fp, struct rethook_stock_node *node,
					     unsigned long ret_ip, struct ftrace_regs *fregs)
{
	fp->exit_handler(fp, node->ip, ret_ip, fregs, fp->entry_data_size ? node->data : NULL);
}

static noinline void fprobe_exit_in_any_context(struct fprobe *fp, struct rethook_stock_node *node,
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
	struct rethook_stock_node *node = container_of(rhn, struct rethook_stock_node, rhn);
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

/* The last node is gone, and nothing points to the hook. */
static void fprobe_release_hook(struct rethook_stock *stock)
{
	struct fprobe_hook *hook = container_of(stock, struct fprobe_hook, stock);

	kfree_rcu_nolock(hook, rcu);
}
NOKPROBE_SYMBOL(fprobe_release_hook);

static void fprobe_free_hook(struct fprobe_hook *hook)
{
	ftrace_ops_release(&hook->ops);
	/* From now on, only nodes point to it. */
	kmemleak_not_leak(hook);
	rethook_stock_free(&hook->stock);
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
		rethook_stock_wait(&hook->stock);
	/* See rethook_stock_wait(). */
	if (IS_ENABLED(CONFIG_PREEMPT_RT) || !arch_irq_work_has_interrupt())
		synchronize_rcu();

	llist_for_each_entry_safe(hook, next, garbage, garbage) {
		atomic_long_sub(hook->size, &fprobe_garbage_size);
		fprobe_free_hook(hook);
	}
}

static DECLARE_WORK(fprobe_free_hooks, fprobe_free_hooks_work);

/*
 * Attaching and detaching in a loop must not fill the memory during a long grace period. The
 * worker takes ftrace_lock, so do not call this under it.
 */
static void fprobe_wait_for_garbage(void)
{
	if (atomic_long_read(&fprobe_garbage_size) > GARBAGE_MAX)
		flush_work(&fprobe_free_hooks);
}

static unsigned long fprobe_hook_size(struct fprobe_hook *hook)
{
	struct ftrace_hash *hash = hook->ops.func_hash->filter_hash;
	unsigned long size = sizeof(*hook) + rethook_stock_size(&hook->stock);

	size += hash->count * sizeof(struct ftrace_func_entry);
	size += sizeof(struct hlist_head) << hash->size_bits;
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
	rethook_stock_close(&hook->stock);
	if (hook->attached && !unregister_ftrace_function(&hook->ops))
		hook->attached = false;
	/* If ftrace has been killed, callsites may call the ops for ever: keep the hook. */
	if (!hook->attached && !ftrace_is_dead())
		fprobe_add_garbage(hook);
}

/*
 * Is @addr in the init text of a module that is live already? That text is freed soon. As long
 * as the module is coming it can be probed: fprobe_module_callback(), which needs
 * fprobe_mutex, takes the probe off before the text is freed.
 */
static bool fprobe_has_initialised(unsigned long addr)
{
	struct module *mod;

	guard(rcu)();
	mod = __module_text_address(addr);
	return mod && within_module_init(addr, mod) && !module_is_coming(mod);
}

/* ftrace_set_filter_ips() finds the callsite of each address, and adds no callsite twice. */
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

/* An fprobe is freed after an RCU grace period. */
static bool fprobe_ops_show_user(struct seq_file *m, struct ftrace_ops *ops, unsigned long ip)
{
	struct fprobe *fp;

	guard(rcu)();
	fp = READ_ONCE(container_of(ops, struct fprobe_hook, ops)->fp);
	if (!fp)
		return false;
	if (fp->show_user)
		return fp->show_user(m, fp);
	seq_printf(m, "fprobe %ps", (void *)fp->entry_handler ?: (void *)fp->exit_handler);
	return true;
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
	hook->ops.show_user = fprobe_ops_show_user;
	hook->ops.flags = FTRACE_OPS_FL_SAVE_ARGS | FTRACE_OPS_FL_DEFER_FREE;
	if (fp->flags & FPROBE_FL_SAVE_REGS)
		hook->ops.flags |= FTRACE_OPS_FL_SAVE_REGS;
	rethook_stock_init(&hook->stock, size, fprobe_release_hook);
	hook->stock.rethook.data = hook;
	rcu_assign_pointer(hook->stock.rethook.handler, fprobe_exit);

	ret = fprobe_set_filter(&hook->ops, addrs, num);
	if (!ret && fp->exit_handler)
		ret = rethook_stock_fill(&hook->stock, hook->ops.func_hash->filter_hash->count);
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
 * Return: 0 if @fp is registered successfully, -EINVAL if an argument is wrong, -EEXIST if
 * @fp is registered already, -ENOENT if an address is not one of ftrace's, -E2BIG if its
 * entry data is too large,
 * -EOPNOTSUPP if it wants all registers and the kernel has no FPROBE_SAVE_REGS,
 * -ENOMEM; and what register_ftrace_function() returns. On error nothing has changed.
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
	scoped_guard(mutex, &fprobe_mutex) {
		struct fprobe_hook *hook;

		if (!fp || !fp->hook)
			return -EINVAL;

		hook = fp->hook;
		fp->hook = NULL;
		fprobe_retire_hook(hook);
	}
	/* The caller frees @fp after an RCU grace period, which does not wait for a dying CPU. */
	cpus_wait_for_dying();
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

	if (!ret)
		synchronize_rcu();
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
 * Stop tracing what @mod is about to free, all of its text or its init text: another
 * module may be loaded there.
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
		pr_warn("cannot detach a probe from module %s alone (%d): detaching it from all\n",
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
