/* SPDX-License-Identifier: GPL-2.0 */
/* A stock of rethook nodes that grows with the calls that are hooked. See rethook_stock.c. */
#ifndef _KERNEL_TRACE_RETHOOK_STOCK_H
#define _KERNEL_TRACE_RETHOOK_STOCK_H

#include <linux/irq_work.h>
#include <linux/llist.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/rethook.h>

/* What a CPU has at hand: calls of other contexts nest, and tasks sleep. */
#define RETHOOK_STOCK_AT_HAND	4

struct rethook_stock;

/**
 * struct rethook_stock_node - one call whose return is hooked
 * @rhn: what rethook knows
 * @ip: for the owner, while the node is in use
 * @spare: while it is not
 * @rcu: for kfree_rcu_nolock()
 * @data: for the owner, while the node is in use
 */
struct rethook_stock_node {
	struct rethook_node	rhn;
	union {
		unsigned long		ip;
		struct llist_node	spare;
		struct kvfree_rcu_head	rcu;
	};
	unsigned long		data[];
};

/* The nodes that a CPU keeps */
struct rethook_stock_cpu {
	struct rethook_stock_node	*node[RETHOOK_STOCK_AT_HAND];
	struct llist_head		spare;
	int				nr_spare;
	struct irq_work			balance;
	unsigned long			refill_at;
	struct rethook_stock		*stock;
};

/**
 * struct rethook_stock - nodes for all calls that are hooked at a time
 * @rethook: what its nodes belong to; the owner sets data and handler
 * @cpus: the nodes that each CPU keeps; NULL until rethook_stock_fill()
 * @shared: those that CPUs had too many of
 * @nr_shared: how many
 * @node_size: bytes of each
 * @open: nodes that come back are kept
 * @ref: one for the owner, until rethook_stock_free(), and one for each node
 * @release: called when @ref is 0, in any context; frees what the stock is embedded in,
 *	after an RCU grace period: until then, another task may be unwinding over a node
 */
struct rethook_stock {
	struct rethook			rethook;
	struct rethook_stock_cpu __percpu *cpus;
	struct llist_head		shared;
	atomic_t			nr_shared;
	unsigned int			node_size;
	bool				open;
	refcount_t			ref;
	void				(*release)(struct rethook_stock *stock);
};

void rethook_stock_init(struct rethook_stock *stock, unsigned int data_size,
			void (*release)(struct rethook_stock *stock));
int rethook_stock_fill(struct rethook_stock *stock, unsigned int nr_functions);
void rethook_stock_close(struct rethook_stock *stock);
void rethook_stock_wait(struct rethook_stock *stock);
void rethook_stock_free(struct rethook_stock *stock);
unsigned long rethook_stock_size(const struct rethook_stock *stock);

struct rethook_stock_node *rethook_stock_get_slow(struct rethook_stock *stock);
void rethook_stock_put(struct rethook_node *rhn);

/* A slot is taken or filled in one step: an interrupt never sees it in between. */
static __always_inline struct rethook_stock_node *
rethook_stock_take_at(struct rethook_stock_cpu *here, int i)
{
	struct rethook_stock_node *node = READ_ONCE(here->node[i]);

	return node && try_cmpxchg_local(&here->node[i], &node, NULL) ? node : NULL;
}

/**
 * rethook_stock_get_fast - take a node of those that the CPU has at hand
 * @stock: the stock
 *
 * No function that can be traced is called.
 *
 * Context: any, with preemption disabled.
 * Returns: the node, or NULL if rethook_stock_get_slow() has to find one.
 */
static __always_inline struct rethook_stock_node *
rethook_stock_get_fast(struct rethook_stock *stock)
{
	struct rethook_stock_cpu *here = this_cpu_ptr(stock->cpus);

	static_assert(RETHOOK_STOCK_AT_HAND == 4);
	return rethook_stock_take_at(here, 0) ?: rethook_stock_take_at(here, 1) ?:
	       rethook_stock_take_at(here, 2) ?: rethook_stock_take_at(here, 3);
}

#endif
