/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Called by functions that only sites with BPF programs trace, see bpf_sites.c
 *
 * As ftrace_caller, but the argument registers are saved in the context of the program,
 * without a struct ftrace_regs. If the task was preempted on its way here, the literal may
 * lead to something else by now: ftrace_caller calls that.
 */
#include <linux/linkage.h>
#include <asm/asm-offsets.h>
#include <asm/assembler.h>
#include <asm/insn.h>

/* struct bpf_site_ctx with eight arguments, then x8, then two frame records */
#define CTX_ARG(n)	(32 + 8 * (n))
#define CTX_X8		96
#define OUR_FRAME	112
#define CALLSITE_FRAME	128
#define CTX_SIZE	144

/*
 * Call \func with the site or set in x11, and with the context. If \nonzero is given, branch
 * there unless \func returns 0.
 * Live: x0 - x8, x11, x18 - x30, and x9, which is the callsite's LR.
 */
	.macro	call_site func, nonzero
	sub	sp, sp, #CTX_SIZE
	stp	x0, x1, [sp, #CTX_ARG(0)]
	stp	x2, x3, [sp, #CTX_ARG(2)]
	stp	x4, x5, [sp, #CTX_ARG(4)]
	stp	x6, x7, [sp, #CTX_ARG(6)]
	str	x8,     [sp, #CTX_X8]

	/* A frame record for the callsite, and ours */
	stp	x29, x9, [sp, #CALLSITE_FRAME]
	add	x29, sp, #CALLSITE_FRAME
	stp	x29, x30, [sp, #OUR_FRAME]
	add	x29, sp, #OUR_FRAME

	mov	x0, x11						// site or set
	mov	x1, sp						// ctx
	bl	\func
	.ifnb	\nonzero
	cbnz	x0, \nonzero
	.endif

	ldp	x0, x1, [sp, #CTX_ARG(0)]
	ldp	x2, x3, [sp, #CTX_ARG(2)]
	ldp	x4, x5, [sp, #CTX_ARG(4)]
	ldp	x6, x7, [sp, #CTX_ARG(6)]
	ldr	x8,     [sp, #CTX_X8]

	/* The callsite's PC, FP and LR */
	ldr	x9, [sp, #OUR_FRAME + 8]
	ldp	x29, x30, [sp, #CALLSITE_FRAME]
	add	sp, sp, #CTX_SIZE
	ret	x9
	.endm

/* x0-x8 and x18-x30 are live, and x9 is the callsite's LR. */
SYM_CODE_START(bpf_site_caller)
	bti	c

	/* The literal: see ftrace_caller */
	bic	x11, x30, 0x7
	ldr	x11, [x11, #-(4 * AARCH64_INSN_SIZE)]		// site or set
	/* If bit 0 (all registers) is set, this loads one byte too high: no func below matches. */
	ldr	x12, [x11, #FTRACE_OPS_FUNC]			// its func
	adr_l	x13, bpf_site_fentry
	cmp	x12, x13
	b.ne	.Lfmod_ret
	call_site bpf_site_call

.Lfmod_ret:
	adr_l	x13, bpf_site_fmod_ret
	cmp	x12, x13
	b.ne	.Lset
	call_site bpf_site_call_fmod_ret, .Loverridden

.Lset:
	adr_l	x13, ftrace_ops_set_lean_func
	cmp	x12, x13
	b.ne	.Lanything
	call_site bpf_site_call_set

.Loverridden:
	/* The function does not run: return to its caller, with what it is to return in x0. */
	ldp	x29, x30, [sp, #CALLSITE_FRAME]
	add	sp, sp, #CTX_SIZE
	ret

.Lanything:
	b	ftrace_caller
SYM_CODE_END(bpf_site_caller)
