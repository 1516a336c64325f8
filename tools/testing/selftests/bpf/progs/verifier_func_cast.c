// SPDX-License-Identifier: GPL-2.0
/* What the verifier takes for bpf_func_arg_cast() and bpf_func_info(), and what not */
#define BPF_NO_KFUNC_PROTOTYPES
#include <vmlinux.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "bpf_misc.h"
#include "func_info.h"

char _license[] SEC("license") = "GPL";

/* Keeps what casts return in use: programs on many functions return 0. */
__u64 sum;

SEC("fentry.multi/bpf_fentry_test*")
__success
int six(void *ctx)
{
	struct task_struct *task = CAST(struct task_struct, 0);

	sum += !CAST(struct task_struct, 1);
	sum += !CAST(struct task_struct, 2);
	sum += !CAST(struct file, ANY_ARG);
	sum += !CAST(struct file, 11);
	sum += !CAST(struct sk_buff, 0);
	/* The same again takes no room. */
	sum += !CAST(struct task_struct, 0);
	if (task)
		sum += task->pid;
	return 0;
}

SEC("fexit.multi/bpf_fentry_test*")
__success
int at_exit(void *ctx)
{
	struct task_struct *task = CAST(struct task_struct, 0);

	if (task)
		sum += task->pid;
	return 0;
}

SEC("fsession.multi/bpf_fentry_test*")
__success
int in_session(void *ctx)
{
	struct task_struct *task = CAST(struct task_struct, 0);

	if (task)
		sum += task->pid;
	return 0;
}

SEC("fentry.multi/bpf_fentry_test*")
__failure __msg("more than 6 pairs of argument and type")
int seven(void *ctx)
{
	sum += !CAST(struct task_struct, 0);
	sum += !CAST(struct task_struct, 1);
	sum += !CAST(struct task_struct, 2);
	sum += !CAST(struct task_struct, 3);
	sum += !CAST(struct task_struct, 4);
	sum += !CAST(struct task_struct, 5);
	sum += !CAST(struct task_struct, 6);
	return 0;
}

SEC("fentry.multi/bpf_fentry_test*")
__failure __msg("no function has an argument 12")
int number_too_large(void *ctx)
{
	sum += !CAST(struct task_struct, 12);
	return 0;
}

SEC("fentry.multi/bpf_fentry_test*")
__failure __msg("no function has an argument 4294967295")
int number_negative(void *ctx)
{
	sum += !CAST(struct task_struct, -1);
	return 0;
}

SEC("fentry.multi/bpf_fentry_test*")
__failure __msg("the number of the argument must be a constant")
int number_not_constant(void *ctx)
{
	sum += !CAST(struct task_struct, bpf_get_prandom_u32() & 1);
	return 0;
}

SEC("fentry.multi/bpf_fentry_test*")
__failure __msg("one call with different constants")
int number_of_two(void *ctx)
{
	__u32 n = bpf_get_prandom_u32() & 1;

	asm volatile ("if %[n] == 0 goto +1; %[n] = 1;" : [n]"+r"(n));
	sum += !CAST(struct task_struct, n);
	return 0;
}

SEC("fentry.multi/bpf_fentry_test*")
__failure __msg("must be a known constant")
int type_not_constant(void *ctx)
{
	sum += !bpf_func_arg_cast(ctx, 0, bpf_get_prandom_u32());
	return 0;
}

SEC("fentry.multi/bpf_fentry_test*")
__failure __msg("is neither a struct nor a union")
int type_no_struct(void *ctx)
{
	sum += !bpf_func_arg_cast(ctx, 0, bpf_core_type_id_kernel(enum bpf_prog_type));
	return 0;
}

SEC("fentry.multi/bpf_fentry_test*")
__failure __msg("is neither a struct nor a union")
int type_typedef(void *ctx)
{
	sum += !bpf_func_arg_cast(ctx, 0, bpf_core_type_id_kernel(spinlock_t));
	return 0;
}

SEC("fentry.multi/bpf_fentry_test*")
__failure __msg("type 4294967295 is neither a struct nor a union")
int type_unknown(void *ctx)
{
	sum += !bpf_func_arg_cast(ctx, 0, -1);
	return 0;
}

SEC("fentry.multi/bpf_fentry_test*")
__failure __msg("invalid mem access 'ptr_or_null_'")
int not_compared(void *ctx)
{
	sum += CAST(struct task_struct, 0)->pid;
	return 0;
}

SEC("fentry.multi/bpf_fentry_test*")
__failure __msg("only read is supported")
int written(void *ctx)
{
	struct task_struct *task = CAST(struct task_struct, 0);

	if (task)
		task->pid = 1;
	return 0;
}

SEC("fentry.multi/bpf_fentry_test*")
__failure __msg("R1 must be a rcu pointer")
int not_trusted(void *ctx)
{
	struct task_struct *task = CAST(struct task_struct, 0), *acquired;

	if (!task)
		return 0;
	acquired = bpf_task_acquire(task);
	if (acquired)
		bpf_task_release(acquired);
	return 0;
}

SEC("fentry.multi/bpf_fentry_test*")
__failure __msg("R1 expected pointer to ctx")
int not_ctx(void *ctx)
{
	__u64 room = 0;

	sum += !bpf_func_arg_cast(&room, 0, bpf_core_type_id_kernel(struct task_struct));
	return 0;
}

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(__u32));
} progs SEC(".maps");

SEC("fentry.multi/bpf_fentry_test*")
__success
int tail_call(void *ctx)
{
	bpf_tail_call(ctx, &progs, 0);
	return 0;
}

/* With a tail call the two kfuncs are refused, for which the verifier has no message. */
SEC("fentry.multi/bpf_fentry_test*")
__failure
int cast_and_tail_call(void *ctx)
{
	sum += !CAST(struct task_struct, 0);
	bpf_tail_call(ctx, &progs, 0);
	return 0;
}

SEC("fentry.multi/bpf_fentry_test*")
__failure
int info_and_tail_call(void *ctx)
{
	struct traced_func info;

	sum += FUNC_INFO(ctx, &info, sizeof(info));
	bpf_tail_call(ctx, &progs, 0);
	return 0;
}

SEC("fentry/bpf_fentry_test1")
__failure __msg("calling kernel function bpf_func_arg_cast is not allowed")
int cast_on_one(void *ctx)
{
	sum += !CAST(struct task_struct, 0);
	return 0;
}

SEC("kprobe.multi/bpf_fentry_test*")
__failure __msg("calling kernel function bpf_func_arg_cast is not allowed")
int cast_at_kprobe(void *ctx)
{
	sum += !CAST(struct task_struct, 0);
	return 0;
}

SEC("fentry/bpf_fentry_test1")
__failure __msg("calling kernel function bpf_func_info is not allowed")
int info_on_one(void *ctx)
{
	struct traced_func info;

	sum += FUNC_INFO(ctx, &info, sizeof(info));
	return 0;
}

SEC("kprobe/bpf_fentry_test1")
__failure __msg("calling kernel function bpf_func_info is not allowed")
int info_at_kprobe(void *ctx)
{
	struct traced_func info;

	sum += FUNC_INFO(ctx, &info, sizeof(info));
	return 0;
}

SEC("fentry.multi/bpf_fentry_test*")
__failure __msg("must be a known constant")
int info_size_not_constant(void *ctx)
{
	struct traced_func info;

	sum += FUNC_INFO(ctx, &info, 8 + (bpf_get_prandom_u32() & 8));
	return 0;
}

SEC("fentry.multi/bpf_fentry_test*")
__failure __msg("R2 and R3 memory, len pair leads to invalid memory access")
int info_too_large(void *ctx)
{
	__u64 room;

	sum += FUNC_INFO(ctx, &room, 4096);
	return 0;
}
