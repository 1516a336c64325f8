// SPDX-License-Identifier: GPL-2.0
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include "bpf_misc.h"

SEC("ftrace")
__success
int reads_all(struct bpf_ftrace_args *args)
{
	__u64 sum = args->ip + args->parent_ip + args->args[0] + args->args[5] + args->retval +
		    args->nr_args + args->flags + args->event_id;

	return sum & 1;
}

SEC("ftrace")
__success
int asks_helpers(struct bpf_ftrace_args *args)
{
	__u64 sum = bpf_get_func_ip(args) + bpf_get_attach_cookie(args) +
		    bpf_get_current_cgroup_id() + bpf_get_prandom_u32();
	struct task_struct *task = bpf_get_current_task_btf();

	return (sum + task->pid) & 1;
}

SEC("ftrace")
__success
int follows_an_argument(struct bpf_ftrace_args *args)
{
	struct file *file = bpf_rdonly_cast((void *)args->args[0],
					    bpf_core_type_id_kernel(struct file));

	return file->f_flags & 1;
}

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} ring SEC(".maps");

SEC("ftrace")
__success
int has_a_ring_buffer(struct bpf_ftrace_args *args)
{
	__u64 ip = args->ip;

	return !bpf_ringbuf_output(&ring, &ip, sizeof(ip), 0);
}

struct {
	__uint(type, BPF_MAP_TYPE_STACK_TRACE);
	__uint(max_entries, 16);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, 32 * sizeof(__u64));
} stacks SEC(".maps");

SEC("ftrace")
__success
int asks_for_stacks(struct bpf_ftrace_args *args)
{
	__u64 ips[4];

	return bpf_get_stackid(args, &stacks, 0) >= 0 &&
	       bpf_get_stack(args, ips, sizeof(ips), 0) > 0;
}

SEC("ftrace")
__success
int reads_memory(struct bpf_ftrace_args *args)
{
	int value = 0;

	bpf_probe_read_kernel(&value, sizeof(value), (void *)args->args[0]);
	return value & 1;
}

SEC("ftrace")
__failure __msg("At program exit the register R0 has")
int returns_two(struct bpf_ftrace_args *args)
{
	return 2;
}

SEC("ftrace")
__failure __msg("At program exit the register R0 has")
int returns_anything(struct bpf_ftrace_args *args)
{
	return args->ip;
}

SEC("ftrace")
__failure __msg("invalid bpf_context access")
int writes(struct bpf_ftrace_args *args)
{
	args->retval = 0;
	return 1;
}

SEC("ftrace")
__failure __msg("invalid bpf_context access")
int reads_behind(struct bpf_ftrace_args *args)
{
	return *(__u64 *)(args + 1) == 1234;
}

SEC("ftrace")
__failure __msg("invalid bpf_context access")
int reads_across(struct bpf_ftrace_args *args)
{
	return *(__u64 *)((void *)args + 4) == 1234;
}

SEC("ftrace")
__failure __msg("program of this type cannot use helper bpf_override_return")
int overrides(struct bpf_ftrace_args *args)
{
	bpf_override_return((void *)args, 0);
	return 0;
}

char _license[] SEC("license") = "GPL";
