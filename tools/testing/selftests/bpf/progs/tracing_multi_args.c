// SPDX-License-Identifier: GPL-2.0
#include <vmlinux.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#define MAX_ARGS 12

char _license[] SEC("license") = "GPL";

struct seen {
	__u64 calls;
	__u64 ip;
	__u64 cnt;
	__u64 args[MAX_ARGS];
};

/* What a program that is attached to one function gets, and what fentry.multi gets there. */
struct seen one[13];
struct seen multi[13];

static void note(struct seen *seen, void *ctx)
{
	__u64 value;

	seen->calls++;
	seen->ip = bpf_get_func_ip(ctx);
	seen->cnt = bpf_get_func_arg_cnt(ctx);
	for (int i = 0; i < MAX_ARGS; i++) {
		if (!bpf_get_func_arg(ctx, i, &value))
			seen->args[i] = value;
	}
}

#define ONE(n, func)			\
SEC("fentry/bpf_testmod:" #func)	\
int BPF_PROG(one_##n)			\
{					\
	note(&one[n], ctx);		\
	return 0;			\
}

ONE(0, bpf_testmod_test_struct_arg_1)
ONE(1, bpf_testmod_test_struct_arg_2)
ONE(2, bpf_testmod_test_struct_arg_3)
ONE(3, bpf_testmod_test_struct_arg_4)
ONE(4, bpf_testmod_test_struct_arg_5)
ONE(5, bpf_testmod_test_struct_arg_6)
ONE(6, bpf_testmod_test_struct_arg_7)
ONE(7, bpf_testmod_test_struct_arg_8)
ONE(8, bpf_testmod_test_struct_arg_9)
ONE(9, bpf_testmod_test_union_arg_1)
ONE(10, bpf_testmod_test_union_arg_2)
ONE(11, bpf_testmod_fentry_test7)
ONE(12, bpf_testmod_fentry_test11)

SEC("fentry.multi/bpf_testmod:bpf_testmod_*")
int BPF_PROG(on_all)
{
	__u64 ip = bpf_get_func_ip(ctx);

	for (int i = 0; i < 13; i++) {
		if (one[i].ip == ip)
			note(&multi[i], ctx);
	}
	return 0;
}
