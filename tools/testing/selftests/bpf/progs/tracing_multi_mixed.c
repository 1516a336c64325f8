// SPDX-License-Identifier: GPL-2.0
#include <vmlinux.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

char _license[] SEC("license") = "GPL";

/* The task that counts */
int tid;

__u64 multi_entries, multi_exits, sessions, session_exits, single_entries, single_exits;
__u64 breakpoints, breakpoint_exits, symbols, symbol_exits;

/* The program, and what called it; on arm64 the program is there twice. */
#ifdef __TARGET_ARCH_arm64
#define SKIP	3
#else
#define SKIP	2
#endif
#define STACK_SIZE	(2 * sizeof(__u64))

/* Of entries: the function and its caller */
__u64 entry_stack[2], exit_stack[2], session_stack[2], session_exit_stack[2];

static void take_stack(void *ctx, __u64 *stack)
{
	if ((int)bpf_get_current_pid_tgid() == tid)
		bpf_get_stack(ctx, stack, STACK_SIZE, SKIP);
}

static void count(__u64 *counter)
{
	if ((int)bpf_get_current_pid_tgid() == tid)
		__sync_fetch_and_add(counter, 1);
}

SEC("fentry.multi")
int BPF_PROG(on_multi_entry)
{
	take_stack(ctx, entry_stack);
	count(&multi_entries);
	return 0;
}

SEC("fexit.multi")
int BPF_PROG(on_multi_exit)
{
	take_stack(ctx, exit_stack);
	count(&multi_exits);
	return 0;
}

SEC("fsession.multi")
int BPF_PROG(on_session)
{
	bool is_return = bpf_session_is_return(ctx);

	take_stack(ctx, is_return ? session_exit_stack : session_stack);
	count(is_return ? &session_exits : &sessions);
	return 0;
}

SEC("fentry/cmdline_proc_show")
int BPF_PROG(on_single_entry)
{
	count(&single_entries);
	return 0;
}

SEC("fexit/cmdline_proc_show")
int BPF_PROG(on_single_exit)
{
	count(&single_exits);
	return 0;
}

SEC("kprobe/cmdline_proc_show")
int on_breakpoint(struct pt_regs *ctx)
{
	count(&breakpoints);
	return 0;
}

SEC("kretprobe/cmdline_proc_show")
int on_breakpoint_exit(struct pt_regs *ctx)
{
	count(&breakpoint_exits);
	return 0;
}

SEC("kprobe.multi/cmdline_proc_show")
int on_symbol(struct pt_regs *ctx)
{
	count(&symbols);
	return 0;
}

SEC("kretprobe.multi/cmdline_proc_show")
int on_symbol_exit(struct pt_regs *ctx)
{
	count(&symbol_exits);
	return 0;
}
