/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KERNEL_TRACE_FTRACE_OPS_SET_H
#define _KERNEL_TRACE_FTRACE_OPS_SET_H

#include <linux/ftrace_ops_set.h>
#include "ftrace_internal.h"
#include "ftrace_walk.h"
#include "trace.h"

struct ftrace_ops_hash;
struct ftrace_page;

#ifdef CONFIG_FTRACE_OPS_SETS

void ftrace_ops_set_commit(struct ftrace_ops *ops, struct ftrace_ops_hash *old,
			   struct ftrace_ops_hash *new, bool prepared);

/* The filter or notrace hash of @ops is about to be replaced; @moved is its place in @new. */
struct ftrace_ops_set_move {
	struct ftrace_ops	*ops;
	struct ftrace_ops_hash	old, new;
	struct ftrace_hash	**moved;
	bool			enabled, prepared;
};

int ftrace_ops_set_move_prepare(struct ftrace_ops_set_move *move, struct ftrace_ops *ops,
				bool filter, struct ftrace_hash *hash);
void ftrace_ops_set_move_cancel(struct ftrace_ops_set_move *move, struct ftrace_hash *hash);
void ftrace_ops_set_move_commit(struct ftrace_ops_set_move *move, struct ftrace_hash *hash);

int ftrace_ops_set_register(struct ftrace_ops *ops);
void ftrace_ops_set_abort(struct ftrace_ops *ops, bool prepared);
void ftrace_ops_set_unregister(struct ftrace_ops *ops);
void ftrace_ops_set_reclaim(bool waited);
void ftrace_ops_set_throttle(void);
void ftrace_ops_set_load(struct module *mod);
void ftrace_ops_set_unload(struct ftrace_page *pg);
bool ftrace_ops_set_is_any_left(void);

struct ftrace_ops __rcu **ftrace_ops_set_link(struct ftrace_ops *ops);
void ftrace_ops_set_unlink(struct ftrace_ops *ops);
struct ftrace_ops *ftrace_ops_next(struct ftrace_ops *op, u64 *seq);

struct ftrace_ops_set *ftrace_rec_set(struct dyn_ftrace *rec);
void ftrace_rec_put_set(struct dyn_ftrace *rec);

typedef void (*ftrace_ops_fn)(struct ftrace_ops *ops, unsigned long ip, void *data);
void ftrace_on_each_module_ops(struct module *mod, bool init, ftrace_ops_fn fn, void *data);
int ftrace_ops_set_leave(struct ftrace_ops *ops, unsigned long *ips, unsigned int nr);

#if defined(CONFIG_ARCH_FTRACE_OPS_SET_TRAMPOLINE) || defined(CONFIG_BPF_SITE_CALLER)
unsigned long ftrace_rec_set_addr(struct dyn_ftrace *rec, bool curr);
#else
/* All callsites have literals, and call one of the architecture's two trampolines. */
static inline unsigned long ftrace_rec_set_addr(struct dyn_ftrace *rec, bool curr)
{
	return 0;
}
#endif

/*
 * The records whose text is about to change, in the order of their addresses,
 * which lets x86 patch many at once; it takes about as many in one go.
 */
struct ftrace_ops_set_batch {
	int	nr;
	bool	unsorted;
	struct {
		struct dyn_ftrace	*rec;
		struct ftrace_ops_set	*old;
	} entries[256];
};

extern struct ftrace_ops_set_batch ftrace_ops_set_batch;

static inline int ftrace_batch_count(void)
{
	return ftrace_ops_set_batch.nr;
}

static inline struct dyn_ftrace *ftrace_batch_rec(int index)
{
	return ftrace_ops_set_batch.entries[index].rec;
}

void ftrace_ops_set_init_tracefs(struct dentry *parent);

#else /* !CONFIG_FTRACE_OPS_SETS */

struct ftrace_ops_set_move { };

static inline int ftrace_ops_set_move_prepare(struct ftrace_ops_set_move *move,
					      struct ftrace_ops *ops, bool filter,
					      struct ftrace_hash *hash)
{
	return 0;
}

static inline void ftrace_ops_set_move_cancel(struct ftrace_ops_set_move *move,
					      struct ftrace_hash *hash) { }
static inline void ftrace_ops_set_move_commit(struct ftrace_ops_set_move *move,
					      struct ftrace_hash *hash) { }
static inline void ftrace_ops_set_commit(struct ftrace_ops *ops,
					 struct ftrace_ops_hash *old,
					 struct ftrace_ops_hash *new,
					 bool prepared) { }
static inline int ftrace_ops_set_register(struct ftrace_ops *ops) { return 0; }
static inline void ftrace_ops_set_abort(struct ftrace_ops *ops, bool prepared) { }
static inline void ftrace_ops_set_unregister(struct ftrace_ops *ops) { }
static inline void ftrace_ops_set_reclaim(bool waited) { }
static inline void ftrace_ops_set_throttle(void) { }
static inline void ftrace_ops_set_load(struct module *mod) { }
static inline void ftrace_ops_set_unload(struct ftrace_page *pg) { }
static inline bool ftrace_ops_set_is_any_left(void) { return false; }
static inline struct ftrace_ops __rcu **ftrace_ops_set_link(struct ftrace_ops *ops)
{
	return NULL;
}

static inline void ftrace_ops_set_unlink(struct ftrace_ops *ops) { }

static inline struct ftrace_ops *ftrace_ops_next(struct ftrace_ops *op, u64 *seq)
{
	struct ftrace_ops __rcu **link = op ? &op->next : &ftrace_ops_list;

	return rcu_dereference_raw_check(*link);
}

static inline struct ftrace_ops_set *ftrace_rec_set(struct dyn_ftrace *rec)
{
	return NULL;
}

static inline void ftrace_rec_put_set(struct dyn_ftrace *rec) { }
static inline unsigned long ftrace_rec_set_addr(struct dyn_ftrace *rec, bool curr)
{
	return 0;
}

static inline int ftrace_batch_count(void) { return 0; }
static inline struct dyn_ftrace *ftrace_batch_rec(int index) { return NULL; }
static inline void ftrace_ops_set_init_tracefs(struct dentry *parent) { }

#endif /* CONFIG_FTRACE_OPS_SETS */
#endif /* _KERNEL_TRACE_FTRACE_OPS_SET_H */
