// SPDX-License-Identifier: GPL-2.0
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

char _license[] SEC("license") = "GPL";

int pid;
/* What the program returns, and how often it ran */
int keep;
int hits;
/* The context of the last run, and what helpers say of it */
__u64 ip, parent_ip, arg, retval, event_id, func_ip, cookie;
__u32 nr_args, flags;

SEC("ftrace")
int filter(struct bpf_ftrace_args *args)
{
	if (bpf_get_current_pid_tgid() >> 32 != pid)
		return 1;
	hits++;
	ip = args->ip;
	parent_ip = args->parent_ip;
	arg = args->args[0];
	retval = args->retval;
	event_id = args->event_id;
	nr_args = args->nr_args;
	flags = args->flags;
	func_ip = bpf_get_func_ip(args);
	cookie = bpf_get_attach_cookie(args);
	return keep != 0;
}

SEC("ftrace")
int drop(struct bpf_ftrace_args *args)
{
	return 0;
}

/* One call in four */
int calls;

SEC("ftrace")
int sample(struct bpf_ftrace_args *args)
{
	return __sync_fetch_and_add(&calls, 1) % 4 == 0;
}

/* For programs that are attached to sample() */
__u64 sample_ip;
int runs;

SEC("?fentry")
int BPF_PROG(read_sample, struct bpf_ftrace_args *args)
{
	sample_ip = args->ip;
	return 0;
}

SEC("?fexit")
int BPF_PROG(count_sample)
{
	runs++;
	return 0;
}

/* Calls bpf_fentry_test1() and others when it is run. */
SEC("fentry/bpf_fentry_test1")
int BPF_PROG(trigger, int a)
{
	return 0;
}
