/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Trampolines, put in place of the return addresses of hooked functions
 */
#include <linux/linkage.h>

#include <asm/alternative.h>
#include <asm/asm-offsets.h>
#include <asm/assembler.h>
#include <asm/ptrace.h>
#include <asm/sysreg.h>

#include "ftrace_regs_macros.S"

	.text

/*
 * Call rethook_ftrace_handler(), and load x30 with the address that it returns. x0 - x8
 * are then as the function or a handler left them. @above: how many bytes the trampoline
 * has pushed before. @all: make a struct pt_regs, if the kernel has
 * DYNAMIC_FTRACE_WITH_REGS.
 *
 * The frame record names the trampoline itself as the return address: by that the
 * unwinder recognises a function whose return is hooked.
 */
	.macro	call_handler, above=0, all=1
	/* Live: x0 - x8, x18 - x29, sp; with \above also x9 - x17, for the handlers; not x30. */

	/* Room for a struct ftrace_regs, and a frame record above */
	sub	sp, sp, #(FREGS_SIZE + 16)
	stp	x0, x1, [sp, #FREGS_X0]
	stp	x2, x3, [sp, #FREGS_X2]
	stp	x4, x5, [sp, #FREGS_X4]
	stp	x6, x7, [sp, #FREGS_X6]

	/* x1: the frame; x2: the SP that the function left; x30: where this is */
	mov	x1, x29
	add	x2, sp, #(FREGS_SIZE + 16 + \above)
	adr	x30, arch_rethook_trampoline
#ifdef CONFIG_DYNAMIC_FTRACE_WITH_REGS
	.if \all
	regs_save_x8_to_x29
	stp	x30, x2, [sp, #S_LR]

	/* x2: PSTATE. C does not know the flags at a return. x3 is free. */
	regs_read_pstate x2, x3
	.if \above
	ldr	x3, [sp, #(FREGS_SIZE + 16 + 72)]	// NZCV, from the trampoline
	orr	x2, x2, x3
	.endif
	str	x2, [sp, #S_PSTATE]

	regs_save_rest 2, 3
	.else
	/* PSTATE 0: not a whole struct pt_regs, see arch_ftrace_get_regs() */
	stp	x8, xzr, [sp, #FREGS_X8]	// see FTRACE_REGS_NR_CLEARED
	str	x29, [sp, #FREGS_FP]
	stp	x30, x2, [sp, #S_LR]
	str	xzr, [sp, #S_PSTATE]
	.endif
#else
	str	x8, [sp, #FREGS_X8]
	stp	x29, x30, [sp, #FREGS_FP]
	str	x2, [sp, #FREGS_SP]
#endif
	/* The frame record */
	stp	x29, x30, [sp, #FREGS_SIZE]
	add	x29, sp, #FREGS_SIZE

	/* rethook_ftrace_handler(regs, frame) */
	mov	x0, sp
	bl	rethook_ftrace_handler
	mov	x30, x0					// where to go on

	/* x0 - x8 as a handler has left them; the callee has kept x18 - x28. */
	ldp	x2, x3, [sp, #FREGS_X2]
	ldp	x4, x5, [sp, #FREGS_X4]
	ldp	x6, x7, [sp, #FREGS_X6]
	ldp	x0, x1, [sp, #FREGS_X0]
	ldr	x8, [sp, #FREGS_X8]
	ldr	x29, [sp, #FREGS_FP]
	add	sp, sp, #FREGS_SIZE + 16
	.endm

/*
 * Three trampolines, RETHOOK_TRAMPOLINE_SIZE apart, as is_rethook_trampoline() expects. The
 * first two go on below, as they are too long.
 */
	.balign	RETHOOK_TRAMPOLINE_SIZE
SYM_CODE_START(arch_rethook_trampoline)
	b	rethook_return_any
SYM_CODE_END(arch_rethook_trampoline)
NOKPROBE(arch_rethook_trampoline)

	.org	arch_rethook_trampoline + RETHOOK_TRAMPOLINE_SIZE
SYM_CODE_START_NOALIGN(arch_rethook_ftrace_trampoline)
	b	rethook_return_ftrace
SYM_CODE_END(arch_rethook_ftrace_trampoline)
NOKPROBE(arch_rethook_ftrace_trampoline)

	/* For a handler that wants what the function returns, and no struct pt_regs */
	.org	arch_rethook_trampoline + 2 * RETHOOK_TRAMPOLINE_SIZE
SYM_CODE_START_NOALIGN(arch_rethook_return_trampoline)
	call_handler all=0
	ret
SYM_CODE_END(arch_rethook_return_trampoline)
NOKPROBE(arch_rethook_return_trampoline)

/* For a function that the compiler made: a return defines no more than x0 - x8. */
SYM_CODE_START_LOCAL(rethook_return_ftrace)
	call_handler
	ret
SYM_CODE_END(rethook_return_ftrace)
NOKPROBE(rethook_return_ftrace)

/* A kretprobe may be on a function with a calling convention of its own. */
SYM_CODE_START_LOCAL(rethook_return_any)
	/* Keep x9 - x17 and the condition flags for the caller, and x9 for the handlers. */
	stp	x9, x10, [sp, #-80]!
	stp	x11, x12, [sp, #16]
	stp	x13, x14, [sp, #32]
	stp	x15, x16, [sp, #48]
	mrs	x9, nzcv
	stp	x17, x9, [sp, #64]
	ldr	x9, [sp]

	call_handler above=80

	/* x30 has where to go on. */
	ldp	x11, x12, [sp, #16]
	ldp	x13, x14, [sp, #32]
	ldp	x15, x16, [sp, #48]
	ldp	x17, x9, [sp, #64]
	msr	nzcv, x9
	ldp	x9, x10, [sp], #80
	ret
SYM_CODE_END(rethook_return_any)
NOKPROBE(rethook_return_any)
