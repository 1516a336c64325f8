/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
#ifndef _UAPI__LINUX_BPF_FTRACE_H__
#define _UAPI__LINUX_BPF_FTRACE_H__

#include <linux/types.h>

/*
 * What a BPF_PROG_TYPE_FTRACE program decides about: link_create.ftrace.what is any
 * combination of these; bpf_ftrace_args.flags has the one that the program is asked about.
 */
enum {
	/* the function tracer */
	BPF_FTRACE_FUNCTION	= 1U << 0,
	/* the function graph tracer, at entry: if dropped, the return is not traced either */
	BPF_FTRACE_GRAPH	= 1U << 1,
	/* the function graph tracer, at the return of what was not dropped at entry */
	BPF_FTRACE_GRAPH_RETURN	= 1U << 2,
	/* kprobe and kretprobe events */
	BPF_FTRACE_KPROBE	= 1U << 3,
	/* fprobe events */
	BPF_FTRACE_FPROBE	= 1U << 4,
	/* tracepoint-probe events */
	BPF_FTRACE_TPROBE	= 1U << 5,
	/* event-probe events */
	BPF_FTRACE_EPROBE	= 1U << 6,
	/* uprobe and uretprobe events */
	BPF_FTRACE_UPROBE	= 1U << 7,

	/* In bpf_ftrace_args.flags alone: the function returns, and retval is valid. */
	BPF_FTRACE_RETURN	= 1U << 16,
};

#define BPF_FTRACE_MAX_ARGS	6

/*
 * The context of a BPF_PROG_TYPE_FTRACE program, which returns 1 for the event to be
 * recorded, and 0 for it to be dropped. It is the same on all architectures, cannot be
 * written to, and may grow at its end.
 */
struct bpf_ftrace_args {
	/* of the function, or of the probed instruction; 0 if there is none */
	__u64	ip;
	/* where the function was called from; 0 if that is not known */
	__u64	parent_ip;
	/* the registers that pass the first arguments, at entry */
	__u64	args[BPF_FTRACE_MAX_ARGS];
	/* what the function returns, at its return */
	__u64	retval;
	/* how many of args[] are valid: it does not say how many the function takes */
	__u32	nr_args;
	/* one of the above, and BPF_FTRACE_RETURN */
	__u32	flags;
	/* of a dynamic event, as in its file "id" */
	__u64	event_id;
};

#endif /* _UAPI__LINUX_BPF_FTRACE_H__ */
