/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ftrace_regs_caller(): as ftrace_caller(), for callbacks that want all registers
 *
 * At the callsite, x9 holds the return address of the function, and x30 that of the
 * callsite. Everything else is as the caller of the function left it, but for x16
 * and x17 in a module that is too far away for a BL: the PLT took these. The function
 * goes on with what the callback leaves in x0 - x8, x10 - x30, pc and the condition
 * flags. The callback cannot change sp or the rest of pstate. x9 is lost: it has the
 * address to go on at, or for a direct call the function's return address.
 */
#include <linux/linkage.h>
#include <asm/alternative.h>
#include <asm/asm-offsets.h>
#include <asm/assembler.h>
#include <asm/ftrace.h>
#include <asm/insn.h>
#include <asm/ptrace.h>
#include <asm/sysreg.h>

#include "ftrace_regs_macros.S"

#define SYS_PSTATE_DIT	sys_reg(3, 3, 4, 2, 5)
#define SYS_PSTATE_TCO	sys_reg(3, 3, 4, 2, 7)

	/* Add a part of PSTATE to x10, where there is such a part. */
	.macro	add_pstate, reg, cap
alternative_if \cap
	mrs_s	x11, \reg
	orr	x10, x10, x11
alternative_else_nop_endif
	.endm

SYM_CODE_START(ftrace_regs_caller)
	bti	c

	/* Live: x0 - x8, x18 - x30 and sp; x9 and x30 are said above. */

	/* Room for a struct pt_regs, and two frame records above */
	sub	sp, sp, #(FREGS_SIZE + 32)

	/* Save all as they are. From here on, x0 - x17 are free. */
	stp	x0, x1, [sp, #S_X0]
	stp	x2, x3, [sp, #S_X2]
	stp	x4, x5, [sp, #S_X4]
	stp	x6, x7, [sp, #S_X6]
	regs_save_x8_to_x29

	/* The function's LR (x9) and SP */
	add	x10, sp, #(FREGS_SIZE + 32)
	stp	x9, x10, [sp, #S_LR]

	/*
	 * x10: PSTATE as an exception would save it. What cannot be read is 0 here: UAO,
	 * which the kernel does not use, IL, SS and BTYPE; and SSBS, which not every
	 * CPU that has it can read. Nothing has changed the condition flags yet.
	 */
	regs_read_pstate x10, x11
	mrs	x11, nzcv
	orr	x10, x10, x11
	add_pstate SYS_PSTATE_PAN, ARM64_HAS_PAN
	add_pstate SYS_PSTATE_DIT, ARM64_HAS_DIT
#ifdef CONFIG_ARM64_MTE
	add_pstate SYS_PSTATE_TCO, ARM64_MTE
#endif
	/* The PC after the callsite (x30), and PSTATE */
	stp	x30, x10, [sp, #S_PC]

	regs_save_rest 10, 11

	/*
	 * Frame records for the callsite and for us, as in ftrace_caller(): the function
	 * seems to have been called by its caller, and this by the function.
	 */
	stp	x29, x9, [sp, #FREGS_SIZE + 16]
	add	x29, sp, #FREGS_SIZE + 16
	stp	x29, x30, [sp, #FREGS_SIZE]
	add	x29, sp, #FREGS_SIZE

	/* What an ops is called with */
	sub	x0, x30, #AARCH64_INSN_SIZE		// ip (callsite's BL insn)
	mov	x1, x9					// parent_ip (callsite's LR)
	mov	x3, sp					// regs

#ifdef CONFIG_DYNAMIC_FTRACE_WITH_CALL_OPS
	/*
	 * x2: the literal, found by the address after the callsite as in ftrace_caller().
	 * All registers are here, so the bit that asks for them is of no interest.
	 */
	bic	x2, x30, 0x7
	ldr	x2, [x2, #-(4 * AARCH64_INSN_SIZE)]
	and	x2, x2, #~(1 << FTRACE_LITERAL_REGS_SHIFT)	// op
	ldr	x4, [x2, #FTRACE_OPS_FUNC]		// op->func
	blr	x4					// op->func(ip, parent_ip, op, regs)
#else
	ldr_l	x2, function_trace_op			// op

SYM_INNER_LABEL(ftrace_regs_call, SYM_L_GLOBAL)
	bl	ftrace_stub				// func(ip, parent_ip, op, regs)
#endif

	/* Go on with the condition flags and registers that the callback left there. */
	ldr	x9, [sp, #S_PSTATE]
	msr	nzcv, x9

	ldp	x0, x1, [sp, #S_X0]
	ldp	x2, x3, [sp, #S_X2]
	ldp	x4, x5, [sp, #S_X4]
	ldp	x6, x7, [sp, #S_X6]
	ldr	x8,     [sp, #S_X8]
	ldp	x10, x11, [sp, #S_X10]
	ldp	x12, x13, [sp, #S_X12]
	ldp	x14, x15, [sp, #S_X14]
	ldp	x16, x17, [sp, #S_X16]
	ldp	x18, x19, [sp, #S_X18]
	ldp	x20, x21, [sp, #S_X20]
	ldp	x22, x23, [sp, #S_X22]
	ldp	x24, x25, [sp, #S_X24]
	ldp	x26, x27, [sp, #S_X26]
	ldp	x28, x29, [sp, #S_X28]

	/* Left to load: x30. Free: x9, and sp tells where the registers are. */
#ifdef CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS
	ldr	x9, [sp, #FREGS_DIRECT_TRAMP]
	cbnz	x9, 1f
#endif
	/* Into the function, or where the callback has put the pc */
	ldr	x30, [sp, #S_LR]
	ldr	x9,  [sp, #S_PC]
	add	sp, sp, #FREGS_SIZE + 32
	ret	x9

#ifdef CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS
1:
	/*
	 * Jump to the direct call (x9) by BR X17, which a BTI C there accepts. The direct call
	 * expects the function's LR in x9, and in x30 the address to go on at in the function.
	 */
	mov	x17, x9
	ldr	x9,  [sp, #S_LR]
	ldr	x30, [sp, #S_PC]
	add	sp, sp, #FREGS_SIZE + 32
	br	x17
#endif
SYM_CODE_END(ftrace_regs_caller)
