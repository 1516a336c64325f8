// SPDX-License-Identifier: GPL-2.0
#include <vmlinux.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

char _license[] SEC("license") = "GPL";

/* The task that counts, and whose calls are modified */
int tid;

/* What the programs return */
__s64 result, second_result, sleepable_result, single_result;

__u64 runs, second_runs, sleepable_runs, single_runs, entries, exits, wrong;
__u64 single_entries, single_exits;
__u64 breakpoints, breakpoint_exits, symbol_exits;
/* What the function returned last */
__s64 returned;

static bool is_ours(void)
{
	return (int)bpf_get_current_pid_tgid() == tid;
}

/* The program that overrides is the last: each finds 0. */
static void check_ret(void *ctx)
{
	__u64 ret = 1;

	if (bpf_get_func_ret(ctx, &ret) || ret)
		wrong++;
}

SEC("fmod_ret.multi")
__s64 on_modify(__u64 *ctx)
{
	if (!is_ours())
		return 0;
	runs++;
	check_ret(ctx);
	return result;
}

SEC("fmod_ret.multi")
__s64 on_modify_second(__u64 *ctx)
{
	if (!is_ours())
		return 0;
	second_runs++;
	check_ret(ctx);
	return second_result;
}

SEC("fmod_ret.multi/bpf_modify_return_test*")
__s64 on_pattern(__u64 *ctx)
{
	return is_ours() ? result : 0;
}

SEC("?fmod_ret.multi.s")
__s64 on_modify_sleepable(__u64 *ctx)
{
	char byte;

	if (!is_ours())
		return 0;
	bpf_copy_from_user(&byte, sizeof(byte), (void *)1);
	sleepable_runs++;
	check_ret(ctx);
	return sleepable_result;
}

SEC("fentry.multi")
int on_entry(__u64 *ctx)
{
	if (is_ours())
		entries++;
	return 0;
}

SEC("fexit.multi")
int on_exit(__u64 *ctx)
{
	__u64 ret = 0;

	if (!is_ours())
		return 0;
	exits++;
	bpf_get_func_ret(ctx, &ret);
	returned = (int)ret;
	return 0;
}

SEC("fentry/bpf_modify_return_test")
int BPF_PROG(on_single_entry, int a, int *b)
{
	if (is_ours())
		single_entries++;
	return 0;
}

SEC("fexit/bpf_modify_return_test")
int BPF_PROG(on_single_exit, int a, int *b, int ret)
{
	if (is_ours())
		single_exits++;
	return 0;
}

SEC("fmod_ret/bpf_modify_return_test")
int BPF_PROG(on_single_modify, int a, int *b, int ret)
{
	if (!is_ours())
		return 0;
	single_runs++;
	return single_result;
}

SEC("kprobe/bpf_modify_return_test")
int on_breakpoint(struct pt_regs *ctx)
{
	if (is_ours())
		breakpoints++;
	return 0;
}

SEC("kretprobe/bpf_modify_return_test")
int on_breakpoint_exit(struct pt_regs *ctx)
{
	if (is_ours())
		breakpoint_exits++;
	return 0;
}

SEC("kretprobe.multi/bpf_modify_return_test*")
int on_symbol_exit(struct pt_regs *ctx)
{
	if (is_ours())
		symbol_exits++;
	return 0;
}
