/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KERNEL_TRACE_FTRACE_OPS_SET_H
#define _KERNEL_TRACE_FTRACE_OPS_SET_H

#include <linux/ftrace_ops_set.h>
#include "ftrace_internal.h"
#include "trace.h"

struct ftrace_ops_hash;

#ifdef CONFIG_FTRACE_OPS_SETS

#define FTRACE_OPS_SETS		1

/*
 * Walk the records that one or two hashes name.
 *
 * Costs what the hashes hold, but for a hash that names a good part of all
 * records: then all are walked, in the order of their addresses.
 */
struct ftrace_walk {
	struct ftrace_hash		*hash[2];
	struct ftrace_func_entry	*entry;
	int				which;
	unsigned long			bucket;
	bool				all;
	struct ftrace_page		*page;
	int				index;
};

void ftrace_walk_start(struct ftrace_walk *walk, bool all,
		       struct ftrace_hash *a, struct ftrace_hash *b);
struct dyn_ftrace *ftrace_walk_next(struct ftrace_walk *walk);

int ftrace_ops_set_prepare(struct ftrace_ops *ops, struct ftrace_ops_hash *old,
			   struct ftrace_ops_hash *new);
bool ftrace_ops_set_adds(struct ftrace_ops *ops, struct ftrace_ops_hash *old,
			 struct ftrace_ops_hash *new);
void ftrace_ops_set_cancel(struct ftrace_ops *ops, struct ftrace_ops_hash *old,
			   struct ftrace_ops_hash *new);
void ftrace_ops_set_commit(struct ftrace_ops *ops, struct ftrace_ops_hash *old,
			   struct ftrace_ops_hash *new, bool prepared);
int ftrace_ops_set_register(struct ftrace_ops *ops);
void ftrace_ops_set_abort(struct ftrace_ops *ops);
void ftrace_ops_set_unregister(struct ftrace_ops *ops);
void ftrace_ops_set_reclaim(bool waited);

struct ftrace_ops __rcu **ftrace_ops_set_link(struct ftrace_ops *ops);
struct ftrace_ops __rcu **ftrace_ops_set_unlink(struct ftrace_ops *ops);

struct ftrace_ops_set *ftrace_rec_set(struct dyn_ftrace *rec);
void ftrace_rec_enable_sets(struct dyn_ftrace *rec);
void ftrace_rec_put_set(struct dyn_ftrace *rec);
unsigned long ftrace_rec_set_addr(struct dyn_ftrace *rec, bool curr);

int ftrace_batch_count(void);
struct dyn_ftrace *ftrace_batch_rec(int index);

void ftrace_ops_set_init_tracefs(struct dentry *parent);

#else /* !CONFIG_FTRACE_OPS_SETS */

#define FTRACE_OPS_SETS		0

#ifdef CONFIG_DYNAMIC_FTRACE
/* All records, as ever */
struct ftrace_walk {
	struct ftrace_page	*page;
	int			index;
};

static inline void ftrace_walk_start(struct ftrace_walk *walk, bool all,
				     struct ftrace_hash *a, struct ftrace_hash *b)
{
	walk->page = ftrace_pages_start;
	walk->index = 0;
}

static inline struct dyn_ftrace *ftrace_walk_next(struct ftrace_walk *walk)
{
	while (walk->page && walk->index >= walk->page->index) {
		walk->page = walk->page->next;
		walk->index = 0;
	}
	return walk->page ? &walk->page->records[walk->index++] : NULL;
}
#endif

static inline int ftrace_ops_set_prepare(struct ftrace_ops *ops,
					 struct ftrace_ops_hash *old,
					 struct ftrace_ops_hash *new)
{
	return 0;
}

static inline void ftrace_ops_set_cancel(struct ftrace_ops *ops,
					 struct ftrace_ops_hash *old,
					 struct ftrace_ops_hash *new) { }
static inline void ftrace_ops_set_commit(struct ftrace_ops *ops,
					 struct ftrace_ops_hash *old,
					 struct ftrace_ops_hash *new,
					 bool prepared) { }
static inline int ftrace_ops_set_register(struct ftrace_ops *ops) { return 0; }
static inline void ftrace_ops_set_abort(struct ftrace_ops *ops) { }
static inline void ftrace_ops_set_unregister(struct ftrace_ops *ops) { }
static inline void ftrace_ops_set_reclaim(bool waited) { }
static inline struct ftrace_ops __rcu **ftrace_ops_set_link(struct ftrace_ops *ops)
{
	return NULL;
}

static inline struct ftrace_ops __rcu **ftrace_ops_set_unlink(struct ftrace_ops *ops)
{
	return NULL;
}

static inline struct ftrace_ops_set *ftrace_rec_set(struct dyn_ftrace *rec)
{
	return NULL;
}

static inline void ftrace_rec_enable_sets(struct dyn_ftrace *rec) { }
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
