// SPDX-License-Identifier: GPL-2.0
/*
 * Stocks of rethook nodes, for users that hook any number of calls
 *
 * Each CPU keeps spare nodes of each stock. A hooked call holds a node until it returns.
 * The number of nodes is not fixed: a node held by a sleeping task must not limit other
 * tasks. A task that exits in a hooked function gives its node back on the CPU that reaps
 * it, in softirq. So a node may come back on another CPU than the one that it came from.
 *
 * An irq_work of the CPU keeps its nodes within bounds: it refills them when they run low
 * and takes away the excess. A hit allocates a node only as a last resort, as it may come
 * in the middle of the slab allocator. If that fails, the return cannot be hooked.
 *
 * If all functions are hooked, so are those that lead to the irq_work and those that it
 * calls. Were their hits to queue it again, the CPU would do nothing else. So the irq_work
 * always leaves SPARE_FILL nodes, even if it finds enough: that is too far from both bounds
 * for these hits to reach one. And rethook_stock_balance() does not nest.
 *
 * The stock lives until the last function whose return it hooks has returned: each node
 * has a reference, and a task may sleep in such a function for days.
 */
#include <linux/cpu.h>
#include <linux/jiffies.h>
#include <linux/kmemleak.h>
#include <linux/kprobes.h>
#include <linux/slab.h>
#include <linux/topology.h>

#include "rethook_stock.h"

/*
 * Spare nodes of a CPU, beyond those at hand. If there are fewer than SPARE_LOW or more
 * than SPARE_MAX, an irq_work makes them SPARE_FILL. That leaves room for calls that nest
 * deeply, on either side; and above also for the nodes of the functions that lead to the
 * irq_work, which are in use while it counts and come back when it is done.
 */
#define SPARE_LOW	8
#define SPARE_FILL	24
#define SPARE_MAX	48

/* Nodes that a stock keeps beyond those, for each CPU: one CPU's excess serves another. */
#define SHARED_PER_CPU	12

static struct rethook_stock *rethook_stock_of(struct rethook_stock_node *node)
{
	return container_of(node->rhn.rethook, struct rethook_stock, rethook);
}

/* Any context */
static void rethook_stock_unref(struct rethook_stock *stock)
{
	if (refcount_dec_and_test(&stock->ref))
		stock->release(stock);
}

static noinline void rethook_stock_free_node(struct rethook_stock_node *node)
{
	struct rethook_stock *stock = rethook_stock_of(node);

	kfree_rcu_nolock(node, rcu);
	rethook_stock_unref(stock);
}
NOKPROBE_SYMBOL(rethook_stock_free_node);

static void rethook_stock_free_list(struct llist_node *list)
{
	struct rethook_stock_node *node, *next;

	llist_for_each_entry_safe(node, next, list, spare)
		rethook_stock_free_node(node);
}

static void rethook_stock_init_node(struct rethook_stock_node *node, struct rethook_stock *stock)
{
	node->rhn.rethook = &stock->rethook;
	refcount_inc(&stock->ref);
}

static struct rethook_stock_node *rethook_stock_new_node(struct rethook_stock *stock, gfp_t gfp,
							 int nid)
{
	struct rethook_stock_node *node = kzalloc_node(stock->node_size, gfp, nid);

	if (!node)
		return NULL;
	/* A node in use may be reachable only from one that kmemleak does not scan. */
	kmemleak_not_leak(node);
	rethook_stock_init_node(node, stock);
	return node;
}

/*
 * The functions from here to rethook_stock_balance_func() work on the nodes of their own CPU. Hits
 * have preemption disabled; with PREEMPT_RT the irq_work runs in a thread bound to the CPU.
 * An interrupt, an NMI or another task may come at any time: @nr_spare is increased before a
 * node is added, and reduced after one is taken.
 */

/* This CPU is in irq_work_queue() below. */
static DEFINE_PER_CPU(bool, rethook_stock_queues_balance);

static noinline void rethook_stock_balance(struct rethook_stock_cpu *here)
{
	/*
	 * The functions that irq_work_queue() calls can be hooked. The irq_work may have
	 * run before they return, and not be pending: they must not queue it again, or
	 * that of another stock, and so on until the stack is full.
	 */
	if (irq_work_is_pending(&here->balance) || this_cpu_read(rethook_stock_queues_balance))
		return;
	/*
	 * A CPU that goes offline stops running irq_work; with PREEMPT_RT already when its
	 * threads are parked. What is queued after that stays pending.
	 */
	if (!cpu_active(raw_smp_processor_id()))
		return;

	this_cpu_write(rethook_stock_queues_balance, true);
	irq_work_queue(&here->balance);
	this_cpu_write(rethook_stock_queues_balance, false);
}
NOKPROBE_SYMBOL(rethook_stock_balance);

static void rethook_stock_add_spare(struct rethook_stock_node *node, struct rethook_stock_cpu *here)
{
	this_cpu_inc(here->stock->cpus->nr_spare);
	llist_add(&node->spare, &here->spare);
}
NOKPROBE_SYMBOL(rethook_stock_add_spare);

/*
 * Take the whole list, and give back all but one node. Interrupts and other CPUs find the
 * list empty meanwhile, but never a stale head.
 */
static struct rethook_stock_node *rethook_stock_take_node(struct llist_head *list)
{
	struct llist_node *first = llist_del_all(list), *none = NULL, *last;

	if (!first)
		return NULL;
	if (first->next && unlikely(!try_cmpxchg(&list->first, &none, first->next))) {
		for (last = first->next; last->next; last = last->next)
			;
		llist_add_batch(first->next, last, list);
	}
	return container_of(first, struct rethook_stock_node, spare);
}
NOKPROBE_SYMBOL(rethook_stock_take_node);

static struct rethook_stock_node *rethook_stock_take_spare(struct rethook_stock_cpu *here)
{
	struct rethook_stock_node *node = rethook_stock_take_node(&here->spare);

	if (node)
		this_cpu_dec(here->stock->cpus->nr_spare);
	return node;
}
NOKPROBE_SYMBOL(rethook_stock_take_spare);

/**
 * rethook_stock_get_slow - take a node when the CPU has none at hand
 * @stock: the stock
 *
 * This may call functions that can be traced: the caller keeps their hits from coming here.
 *
 * Context: any, with preemption disabled.
 * Returns: the node, or NULL.
 */
noinline struct rethook_stock_node *rethook_stock_get_slow(struct rethook_stock *stock)
{
	struct rethook_stock_cpu *here = this_cpu_ptr(stock->cpus);
	struct rethook_stock_node *node = rethook_stock_take_spare(here);

	if (READ_ONCE(here->nr_spare) < SPARE_LOW &&
	    time_after_eq(jiffies, READ_ONCE(here->refill_at)))
		rethook_stock_balance(here);
	if (likely(node))
		return node;

	node = kmalloc_nolock(stock->node_size, __GFP_ZERO, NUMA_NO_NODE);
	if (node)
		rethook_stock_init_node(node, stock);
	return node;
}
NOKPROBE_SYMBOL(rethook_stock_get_slow);

static noinline void rethook_stock_put_spare(struct rethook_stock_node *node,
					     struct rethook_stock_cpu *here)
{
	rethook_stock_add_spare(node, here);
	if (READ_ONCE(here->nr_spare) > SPARE_MAX)
		rethook_stock_balance(here);
}
NOKPROBE_SYMBOL(rethook_stock_put_spare);

static __always_inline bool rethook_stock_keep_at(struct rethook_stock_cpu *here, int i,
						  struct rethook_stock_node *node)
{
	struct rethook_stock_node *none = NULL;

	return !READ_ONCE(here->node[i]) && try_cmpxchg_local(&here->node[i], &none, node);
}

/**
 * rethook_stock_put - give back a node
 * @rhn: of a call that has returned, or was not hooked
 *
 * Context: any, with preemption disabled.
 */
void rethook_stock_put(struct rethook_node *rhn)
{
	struct rethook_stock_node *node = container_of(rhn, struct rethook_stock_node, rhn);
	struct rethook_stock *stock = rethook_stock_of(node);

	/* Preemption is disabled: rethook_stock_free() runs later, and sees what is added here. */
	if (likely(READ_ONCE(stock->open))) {
		struct rethook_stock_cpu *here = this_cpu_ptr(stock->cpus);

		static_assert(RETHOOK_STOCK_AT_HAND == 4);
		if (rethook_stock_keep_at(here, 0, node) || rethook_stock_keep_at(here, 1, node) ||
		    rethook_stock_keep_at(here, 2, node) || rethook_stock_keep_at(here, 3, node))
			return;
		rethook_stock_put_spare(node, here);
		return;
	}
	/* Hits of what frees the node must take no more nodes. Pairs with rethook_stock_close(). */
	smp_rmb();
	rethook_stock_free_node(node);
}
NOKPROBE_SYMBOL(rethook_stock_put);

static void rethook_stock_refill(struct rethook_stock_cpu *here)
{
	struct rethook_stock *stock = here->stock;
	struct rethook_stock_node *node;

	while (READ_ONCE(here->nr_spare) < SPARE_FILL) {
		node = rethook_stock_take_node(&stock->shared);
		if (node)
			atomic_dec(&stock->nr_shared);
		else
			node = rethook_stock_new_node(stock, GFP_ATOMIC | __GFP_NOWARN,
						      NUMA_NO_NODE);
		if (!node) {
			/* Allocating may take nodes again: do not come back at once. */
			WRITE_ONCE(here->refill_at, jiffies + 1);
			return;
		}
		rethook_stock_add_spare(node, here);
	}
}

static void rethook_stock_reduce(struct rethook_stock_cpu *here)
{
	struct rethook_stock *stock = here->stock;
	struct rethook_stock_node *node;

	while (READ_ONCE(here->nr_spare) > SPARE_FILL && (node = rethook_stock_take_spare(here))) {
		if (atomic_inc_return(&stock->nr_shared) <= SHARED_PER_CPU * num_online_cpus()) {
			llist_add(&node->spare, &stock->shared);
		} else {
			atomic_dec(&stock->nr_shared);
			rethook_stock_free_node(node);
		}
	}
}

/* An irq_work of the CPU, in hardirq; with PREEMPT_RT in a thread of that CPU. */
static void rethook_stock_balance_func(struct irq_work *work)
{
	struct rethook_stock_cpu *here = container_of(work, struct rethook_stock_cpu, balance);

	rethook_stock_refill(here);
	rethook_stock_reduce(here);
}

/**
 * rethook_stock_init - make a stock without nodes
 * @stock: the stock, zeroed
 * @data_size: bytes of data of each node
 * @release: see struct rethook_stock
 *
 * The caller has a reference, which rethook_stock_free() drops.
 *
 * Context: any.
 */
void rethook_stock_init(struct rethook_stock *stock, unsigned int data_size,
			void (*release)(struct rethook_stock *stock))
{
	stock->rethook.recycle = rethook_stock_put;
	stock->node_size = sizeof(struct rethook_stock_node) + data_size;
	stock->open = true;
	stock->release = release;
	refcount_set(&stock->ref, 1);
}

/**
 * rethook_stock_fill - give each CPU the nodes that it begins with
 * @stock: the stock
 * @nr_functions: how many functions are hooked
 *
 * The first hits take these nodes, even inside the allocator, until the irq_work refills
 * them. The more functions are hooked, the deeper calls nest.
 *
 * Context: may sleep.
 * Returns: 0 or -ENOMEM; in any case rethook_stock_free() frees what there is.
 */
int rethook_stock_fill(struct rethook_stock *stock, unsigned int nr_functions)
{
	int nr_spare = min(nr_functions, SPARE_LOW);
	struct rethook_stock_node *node;
	struct rethook_stock_cpu *there;
	int cpu;

	stock->cpus = alloc_percpu(struct rethook_stock_cpu);
	if (!stock->cpus)
		return -ENOMEM;
	for_each_possible_cpu(cpu) {
		there = per_cpu_ptr(stock->cpus, cpu);
		there->balance = IRQ_WORK_INIT(rethook_stock_balance_func);
		there->refill_at = jiffies;
		there->stock = stock;
		for (int i = 0; i < RETHOOK_STOCK_AT_HAND + nr_spare; i++) {
			node = rethook_stock_new_node(stock, GFP_KERNEL, cpu_to_node(cpu));
			if (!node)
				return -ENOMEM;
			if (i < RETHOOK_STOCK_AT_HAND) {
				there->node[i] = node;
			} else {
				llist_add(&node->spare, &there->spare);
				there->nr_spare++;
			}
		}
	}
	return 0;
}

/**
 * rethook_stock_close - free nodes from now on when they come back
 * @stock: the stock
 *
 * Before this, the caller stores what stops hits from taking nodes.
 *
 * Context: any. Nodes may be kept until an RCU grace period has passed.
 */
void rethook_stock_close(struct rethook_stock *stock)
{
	/* Pairs with rethook_stock_put(). */
	smp_store_release(&stock->open, false);
}

/**
 * rethook_stock_wait - wait for the irq_works of a stock
 * @stock: the stock; it is closed, and no hit can take a node any more
 *
 * With PREEMPT_RT, or without interrupts for irq_work, the code that ran an irq_work may still
 * read it after this: the caller must also wait for an RCU grace period.
 *
 * Context: may sleep.
 */
void rethook_stock_wait(struct rethook_stock *stock)
{
	int cpu;

	if (!stock->cpus)
		return;
	for_each_possible_cpu(cpu) {
		struct irq_work *work = &per_cpu_ptr(stock->cpus, cpu)->balance;

		if (irq_work_is_busy(work))
			irq_work_sync(work);
	}
}

/**
 * rethook_stock_free - free the nodes that are not in use, and drop the caller's reference
 * @stock: the stock, after rethook_stock_wait(), or one with which nothing was ever hooked
 *
 * Context: any.
 */
void rethook_stock_free(struct rethook_stock *stock)
{
	int cpu;

	if (stock->cpus) {
		for_each_possible_cpu(cpu) {
			struct rethook_stock_cpu *there = per_cpu_ptr(stock->cpus, cpu);

			for (int i = 0; i < RETHOOK_STOCK_AT_HAND; i++) {
				if (there->node[i])
					rethook_stock_free_node(there->node[i]);
			}
			rethook_stock_free_list(llist_del_all(&there->spare));
		}
		rethook_stock_free_list(llist_del_all(&stock->shared));
		free_percpu(stock->cpus);
		stock->cpus = NULL;
	}
	rethook_stock_unref(stock);
}

/**
 * rethook_stock_size - the memory of the spare and the shared nodes of a stock that is full
 * @stock: the stock
 *
 * Context: any.
 * Returns: bytes.
 */
unsigned long rethook_stock_size(const struct rethook_stock *stock)
{
	if (!stock->cpus)
		return 0;
	return num_possible_cpus() * (SPARE_MAX + SHARED_PER_CPU) * stock->node_size;
}
