/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Called by functions that only sites with BPF programs trace, see bpf_sites.c
 *
 * The argument registers are saved in the context of the program, without a struct
 * ftrace_regs. If the task was preempted on its way here, the literal may lead to something
 * else by now: ftrace_literal_caller calls that.
 */
#include <linux/linkage.h>
#include <asm/asm-offsets.h>
#include <asm/ftrace.h>
#include <asm/nospec-branch.h>
#include <asm/unwind_hints.h>

/* struct bpf_site_ctx with six arguments */
#define CTX_SIZE	80
#define CTX_FUNC	16
#define CTX_ARG(n)	(32 + 8 * (n))

	.code64
	.section .text, "ax"

SYM_FUNC_START(bpf_site_caller)
	ANNOTATE_NOENDBR
	subq $CTX_SIZE, %rsp
	movq %rdi, CTX_ARG(0)(%rsp)
	movq %rsi, CTX_ARG(1)(%rsp)
	movq %rdx, CTX_ARG(2)(%rsp)
	movq %rcx, CTX_ARG(3)(%rsp)
	movq %r8, CTX_ARG(4)(%rsp)
	movq %r9, CTX_ARG(5)(%rsp)

	/* The function is aligned, and begins with the call, or with ENDBR and the call. */
	movq CTX_SIZE(%rsp), %rdi
	andq $-16, %rdi
	movq %rdi, CTX_FUNC(%rsp)
	movq -FTRACE_LITERAL_OFFSET(%rdi), %rdi
	/* If FTRACE_LITERAL_REGS is set, this finds ftrace_literal_func_without_regs(). */
	cmpq $bpf_site_fentry, FTRACE_OPS_FUNC(%rdi)
	jne .Lfmod_ret

	CALL_DEPTH_ACCOUNT
	movq %rsp, %rsi
	call bpf_site_call

.Lrestore:
	movq CTX_ARG(0)(%rsp), %rdi
	movq CTX_ARG(1)(%rsp), %rsi
	movq CTX_ARG(2)(%rsp), %rdx
	movq CTX_ARG(3)(%rsp), %rcx
	movq CTX_ARG(4)(%rsp), %r8
	movq CTX_ARG(5)(%rsp), %r9
	addq $CTX_SIZE, %rsp
	RET

.Lfmod_ret:
	cmpq $bpf_site_fmod_ret, FTRACE_OPS_FUNC(%rdi)
	jne .Lset
	CALL_DEPTH_ACCOUNT
	movq %rsp, %rsi
	call bpf_site_call_fmod_ret
	testq %rax, %rax
	jz .Lrestore
	/* The function does not run: return to its caller, with what it is to return. */
	addq $CTX_SIZE+8, %rsp
	UNWIND_HINT_FUNC
	RET

.Lset:
	cmpq $ftrace_ops_set_lean_func, FTRACE_OPS_FUNC(%rdi)
	jne .Lanything
	CALL_DEPTH_ACCOUNT
	movq %rsp, %rsi
	call bpf_site_call_set
	jmp .Lrestore

.Lanything:
	movq CTX_ARG(0)(%rsp), %rdi
	addq $CTX_SIZE, %rsp
	jmp ftrace_literal_caller
SYM_FUNC_END(bpf_site_caller)
