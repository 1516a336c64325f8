// SPDX-License-Identifier: GPL-2.0
/* Programs for ftrace_filter */
#include <linux/bpf.h>
#include <linux/bpf_ftrace.h>
#include <bpf/bpf_helpers.h>

char _license[] SEC("license") = "GPL";

/* What tasks of one cgroup do: ftrace_filter -g /sys/fs/cgroup/... examples.bpf.o cgroup ... */
SEC("ftrace")
int cgroup(struct bpf_ftrace_args *args)
{
	return bpf_get_current_cgroup_id() == bpf_get_attach_cookie(args);
}

/* What one process does, all of its threads: ftrace_filter -c PID examples.bpf.o process ... */
SEC("ftrace")
int process(struct bpf_ftrace_args *args)
{
	return bpf_get_current_pid_tgid() >> 32 == bpf_get_attach_cookie(args);
}

/* One event in that many: ftrace_filter -c 1000 examples.bpf.o sample ... */
SEC("ftrace")
int sample(struct bpf_ftrace_args *args)
{
	__u64 in = bpf_get_attach_cookie(args);

	return !in || bpf_get_prandom_u32() % in == 0;
}

/* What returns an error: for graph_return, with tracing_thresh, and for events at a return */
SEC("ftrace")
int errors(struct bpf_ftrace_args *args)
{
	return (int)args->retval < 0 && (int)args->retval >= -4095;
}
