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
 * @wants_all: the program reads more of its context than the address
 * @cookie: what bpf_get_attach_cookie() returns
 */
struct trace_bpf_link {
	struct bpf_link		link;
	struct trace_array	*tr;
	char			*name;
	u32			what;
	bool			wants_all;
	u64			cookie;
};

/* What a program gets: @args; before them is what a helper looks for. */
struct trace_bpf_ctx {
	struct trace_bpf_link	*link;
	struct bpf_ftrace_args	args;
};

static __always_inline struct trace_bpf_link *trace_bpf_link(struct trace_array *tr, u32 what)
{
	return READ_ONCE(tr->bpf_links[ilog2(what)]);
}

/* With preemption disabled RCU waits for this anyway, but lockdep does not see it. */
static __always_inline bool trace_bpf_keeps(struct trace_bpf_ctx *ctx)
{
	bool keep;

	if (IS_ENABLED(CONFIG_PROVE_RCU))
		rcu_read_lock();
	keep = bpf_prog_run(READ_ONCE(ctx->link->link.prog), &ctx->args);
	if (IS_ENABLED(CONFIG_PROVE_RCU))
		rcu_read_unlock();
	return keep;
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
void trace_bpf_fill_call(struct bpf_ftrace_args *args, u32 flags, unsigned long parent_ip,
			 struct ftrace_regs *fregs);
bool trace_bpf_drops_graph(struct trace_array *tr, struct ftrace_graph_ent *trace,
			   struct ftrace_regs *fregs);
bool trace_bpf_drops_graph_return(struct trace_array *tr, struct ftrace_graph_ret *trace,
				  struct ftrace_regs *fregs);
bool __trace_bpf_drops_event(struct trace_event_file *file, u32 flags, unsigned long ip,
			     unsigned long parent_ip, struct pt_regs *regs);
bool __trace_bpf_drops_fprobe(struct trace_event_file *file, u32 flags, unsigned long ip,
			      unsigned long parent_ip, struct ftrace_regs *fregs);

/**
 * trace_bpf_drops_event - whether a BPF program wants an event not to be recorded
 * @file: the event, in an instance
 * @flags: BPF_FTRACE_KPROBE or the like, and BPF_FTRACE_RETURN at the return of a function
 * @ip: the function or the instruction, or 0
 * @parent_ip: where it was called from, or 0
 * @regs: at a function's entry or return; otherwise NULL
 *
 * Context: any, where the event can be hit.
 * Returns: true if it does.
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
