/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KERNEL_TRACE_FTRACE_WALK_H
#define _KERNEL_TRACE_FTRACE_WALK_H

#include "ftrace_internal.h"
#include "trace.h"

#ifdef CONFIG_DYNAMIC_FTRACE
/* A walk over the records that one or two hashes name, see ftrace_walk.c */
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
struct dyn_ftrace *ftrace_walk_on(struct ftrace_walk *walk);

/* Go on with a walk, and return the next record, or NULL at the end. As ftrace_walk_on() */
static __always_inline struct dyn_ftrace *ftrace_walk_next(struct ftrace_walk *walk)
{
	if (walk->all && walk->page && walk->index < walk->page->index)
		return &walk->page->records[walk->index++];
	return ftrace_walk_on(walk);
}
#endif

#endif /* _KERNEL_TRACE_FTRACE_WALK_H */
