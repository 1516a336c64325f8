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
	__u64 ret;
};

/*
 * What a program that is attached to one function gets, and what one on many gets there.
 * The last two functions are for the entry alone.
 */
struct seen one[13], one_exit[13];
struct seen multi[13], multi_exit[13], session[13], session_exit[13];

__u64 wrong_cookies;

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

static void note_exit(struct seen *seen, void *ctx)
{
	note(seen, ctx);
	bpf_get_func_ret(ctx, &seen->ret);
}

#define ENTRY(n, func)				\
SEC("fentry/bpf_testmod:" #func)		\
int BPF_PROG(one_##n)				\
{						\
	note(&one[n], ctx);			\
	return 0;				\
}

#define EXIT(n, func)				\
SEC("fexit/bpf_testmod:" #func)			\
int BPF_PROG(one_exit_##n)			\
{						\
	note_exit(&one_exit[n], ctx);		\
	return 0;				\
}

ENTRY(0, bpf_testmod_test_struct_arg_1)
ENTRY(1, bpf_testmod_test_struct_arg_2)
ENTRY(2, bpf_testmod_test_struct_arg_3)
ENTRY(3, bpf_testmod_test_struct_arg_4)
ENTRY(4, bpf_testmod_test_struct_arg_5)
ENTRY(5, bpf_testmod_test_struct_arg_6)
ENTRY(6, bpf_testmod_test_struct_arg_7)
ENTRY(7, bpf_testmod_test_struct_arg_8)
ENTRY(8, bpf_testmod_test_struct_arg_9)
ENTRY(9, bpf_testmod_test_union_arg_1)
ENTRY(10, bpf_testmod_test_union_arg_2)
ENTRY(11, bpf_testmod_fentry_test7)
ENTRY(12, bpf_testmod_fentry_test11)

EXIT(0, bpf_testmod_test_struct_arg_1)
EXIT(1, bpf_testmod_test_struct_arg_2)
EXIT(2, bpf_testmod_test_struct_arg_3)
EXIT(3, bpf_testmod_test_struct_arg_4)
EXIT(4, bpf_testmod_test_struct_arg_5)
EXIT(5, bpf_testmod_test_struct_arg_6)
EXIT(6, bpf_testmod_test_struct_arg_7)
EXIT(7, bpf_testmod_test_struct_arg_8)
EXIT(8, bpf_testmod_test_struct_arg_9)
EXIT(9, bpf_testmod_test_union_arg_1)
EXIT(10, bpf_testmod_test_union_arg_2)
EXIT(11, bpf_testmod_fentry_test7)
EXIT(12, bpf_testmod_fentry_test11)

static struct seen *seen_at(struct seen *seen, void *ctx)
{
	__u64 ip = bpf_get_func_ip(ctx);

	for (int i = 0; i < 13; i++) {
		if (one[i].ip == ip)
			return &seen[i];
	}
	return NULL;
}

SEC("fentry.multi/bpf_testmod:bpf_testmod_*")
int BPF_PROG(on_all)
{
	struct seen *seen = seen_at(multi, ctx);

	if (seen)
		note(seen, ctx);
	return 0;
}

SEC("fexit.multi/bpf_testmod:bpf_testmod_test_*_arg_?")
int BPF_PROG(on_all_exits)
{
	struct seen *seen = seen_at(multi_exit, ctx);

	if (seen)
		note_exit(seen, ctx);
	return 0;
}

SEC("fsession.multi/bpf_testmod:bpf_testmod_test_*_arg_?")
int BPF_PROG(on_all_sessions)
{
	__u64 *cookie = bpf_session_cookie(ctx);
	bool is_return = bpf_session_is_return(ctx);
	struct seen *seen = seen_at(is_return ? session_exit : session, ctx);

	if (is_return) {
		wrong_cookies += *cookie != bpf_get_func_ip(ctx);
		if (seen)
			note_exit(seen, ctx);
	} else {
		wrong_cookies += *cookie;
		*cookie = bpf_get_func_ip(ctx);
		if (seen)
			note(seen, ctx);
	}
	return 0;
}
