/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KERNEL_TRACE_BPF_FILTER_H
#define _KERNEL_TRACE_BPF_FILTER_H

#include <linux/bits.h>
#include <linux/bpf.h>
#include <linux/filter.h>
#include <linux/ftrace.h>
#include <linux/log2.h>
#include <linux/trace_events.h>
#include <uapi/linux/bpf_ftrace.h>

#include "trace.h"

struct dentry;
struct pt_regs;

#ifdef CONFIG_BPF_FTRACE

/**
 * struct trace_bpf_link - a program that filters an instance
 * @link: and its program, which can be exchanged
 * @tr: the instance; NULL once it, or the link, is gone
 * @name: of the instance
 * @what: BPF_FTRACE_*, what it filters there
 * @reads: the program may read its context
 * @cookie: what bpf_get_attach_cookie() returns
 */
struct trace_bpf_link {
	struct bpf_link		link;
	struct trace_array	*tr;
	char			*name;
	u32			what;
	bool			reads;
	u64			cookie;
};

/* A program gets a pointer to @args; bpf_get_attach_cookie() reads the word before it. */
struct trace_bpf_ctx {
	struct trace_bpf_link	*link;
	struct bpf_ftrace_args	args;
};

/* RCU does not wait for a CPU that is not online: what is hit there finds no link. */
static __always_inline struct trace_bpf_link *trace_bpf_link(struct trace_array *tr, u32 what)
{
	if (unlikely(!cpu_online(raw_smp_processor_id())))
		return NULL;
	return READ_ONCE(tr->bpf_links[ilog2(what)]);
}

/*
 * Returns: what the program returned; 0 means drop. Not a bool: to make it one costs a hit two
 * instructions. With preemption disabled RCU waits for this anyway, but lockdep does not see it.
 */
static __always_inline u32 trace_bpf_keeps(struct trace_bpf_ctx *ctx)
{
	u32 keep;

	if (IS_ENABLED(CONFIG_DEBUG_LOCK_ALLOC))
		rcu_read_lock();
	keep = bpf_prog_run(READ_ONCE(ctx->link->link.prog), &ctx->args);
	if (IS_ENABLED(CONFIG_DEBUG_LOCK_ALLOC))
		rcu_read_unlock();
	return keep;
}

/* What is returned for a call if there is no program that could be asked */
#define TRACE_BPF_NOT_ASKED	2

void trace_bpf_fill_call(struct bpf_ftrace_args *args, u32 flags, unsigned long ip,
			 unsigned long parent_ip, struct ftrace_regs *fregs);
u32 trace_bpf_keeps_call_slow(struct ftrace_ops *op, u32 what, unsigned long ip,
			      unsigned long parent_ip, struct ftrace_regs *fregs);

/* With preemption disabled and a lock against recursion. @link: may be NULL */
static __always_inline u32
trace_bpf_link_keeps_call(struct trace_bpf_link *link, u32 what, unsigned long ip,
			  unsigned long parent_ip, struct ftrace_regs *fregs)
{
	struct trace_bpf_ctx ctx __uninitialized;

	if (unlikely(!link))
		return TRACE_BPF_NOT_ASKED;
	ctx.link = link;
	if (READ_ONCE(link->reads))
		trace_bpf_fill_call(&ctx.args, what, ip, parent_ip, fregs);
	return trace_bpf_keeps(&ctx);
}

/* The link whose program to ask about a hit of @op, or NULL. With preemption disabled */
static __always_inline struct trace_bpf_link *trace_bpf_ops_link(struct ftrace_ops *op, u32 what)
{
	struct fgraph_ops *gops;

	if (what == BPF_FTRACE_FUNCTION)
		return trace_bpf_link(op->private, what);
	gops = fgraph_ops_of(op);
	return gops ? trace_bpf_link(gops->private, what) : NULL;
}

/**
 * trace_bpf_keeps_call - ask a program whether a call is to be recorded
 * @op: the ops that the call hit, of the function or the graph tracer
 * @what: BPF_FTRACE_FUNCTION or BPF_FTRACE_GRAPH
 * @ip: the function
 * @parent_ip: where it is called from
 * @fregs: at its entry
 *
 * Takes ftrace's lock against recursion. A hit that cannot take it comes from something that
 * a program called, and is dropped. Most hits are in tasks: the lock for tasks is tried first.
 *
 * Context: any, where a callback of ftrace runs, without the lock.
 * Returns: 0 if not; TRACE_BPF_NOT_ASKED if there is no program.
 */
static __always_inline u32
trace_bpf_keeps_call(struct ftrace_ops *op, u32 what, unsigned long ip,
		     unsigned long parent_ip, struct ftrace_regs *fregs)
{
	u32 keeps;

	if (unlikely(!ftrace_test_recursion_trylock_task()))
		return trace_bpf_keeps_call_slow(op, what, ip, parent_ip, fregs);
	preempt_disable_notrace();
	keeps = trace_bpf_link_keeps_call(trace_bpf_ops_link(op, what), what, ip, parent_ip,
					  fregs);
	preempt_enable_notrace();
	ftrace_test_recursion_unlock_task();
	return keeps;
}

/* Whether there is a program for the function tracer. Context: any */
static __always_inline bool trace_bpf_filters_functions(struct trace_array *tr)
{
	return READ_ONCE(tr->bpf_links[ilog2(BPF_FTRACE_FUNCTION)]);
}

bool trace_bpf_filters(struct trace_array *tr, u32 what);
void trace_bpf_create_file(struct trace_array *tr, struct dentry *parent);
void trace_bpf_add_event(struct trace_array *tr, struct trace_event_file *file);
void trace_bpf_instance_gone(struct trace_array *tr);

static __always_inline bool trace_bpf_may_drop(struct trace_event_file *file)
{
	return unlikely(file->flags & EVENT_FILE_FL_BPF_FILTER);
}

#else /* !CONFIG_BPF_FTRACE */

static inline bool trace_bpf_filters_functions(struct trace_array *tr)
{
	return false;
}

static inline bool trace_bpf_filters(struct trace_array *tr, u32 what)
{
	return false;
}

static inline void trace_bpf_create_file(struct trace_array *tr, struct dentry *parent)
{
}

static inline void trace_bpf_add_event(struct trace_array *tr, struct trace_event_file *file)
{
}

static inline void trace_bpf_instance_gone(struct trace_array *tr)
{
}

static inline bool trace_bpf_may_drop(struct trace_event_file *file)
{
	return false;
}

#endif /* CONFIG_BPF_FTRACE */

/* Without CONFIG_BPF_FTRACE nobody calls them. */
bool trace_bpf_drops_graph(struct trace_array *tr, struct ftrace_graph_ent *trace,
			   struct ftrace_regs *fregs);
bool trace_bpf_drops_graph_return(struct trace_array *tr, struct ftrace_graph_ret *trace,
				  struct ftrace_regs *fregs);
bool __trace_bpf_drops_event(struct trace_event_file *file, u32 flags, unsigned long ip,
			     unsigned long parent_ip, struct pt_regs *regs);
bool __trace_bpf_drops_fprobe(struct trace_event_file *file, u32 flags, unsigned long ip,
			      unsigned long parent_ip, struct ftrace_regs *fregs);

/**
 * trace_bpf_drops_event - whether a BPF program drops an event
 * @file: the event, in an instance
 * @flags: BPF_FTRACE_KPROBE or the like, and BPF_FTRACE_RETURN at the return of a function
 * @ip: the function or the instruction, or 0
 * @parent_ip: where it was called from, or 0
 * @regs: at a function's entry or return; otherwise NULL
 *
 * Context: any, where the event can be hit.
 * Returns: true if it is dropped.
 */
static __always_inline bool
trace_bpf_drops_event(struct trace_event_file *file, u32 flags, unsigned long ip,
		      unsigned long parent_ip, struct pt_regs *regs)
{
	return trace_bpf_may_drop(file) &&
	       __trace_bpf_drops_event(file, flags, ip, parent_ip, regs);
}

/* The same for what gets no pt_regs */
static __always_inline bool
trace_bpf_drops_fprobe(struct trace_event_file *file, u32 flags, unsigned long ip,
		       unsigned long parent_ip, struct ftrace_regs *fregs)
{
	return trace_bpf_may_drop(file) &&
	       __trace_bpf_drops_fprobe(file, flags, ip, parent_ip, fregs);
}

#endif /* _KERNEL_TRACE_BPF_FILTER_H */
