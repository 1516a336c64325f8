/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where a function returns to whose return is hooked
 */
#include <linux/linkage.h>

#include <asm/alternative.h>
#include <asm/asm-offsets.h>
#include <asm/assembler.h>
#include <asm/ptrace.h>
#include <asm/sysreg.h>

	.text

/*
 * Call rethook_ftrace_handler(), which returns where to go on, with x0 - x8 as the
 * function left them or a handler has made them. @above: how many bytes of the stack
 * the trampoline has taken before.
 *
 * The frame record says that this was called from where it is itself, which is
 * what the unwinder finds for a function whose return is hooked.
 */
	.macro	call_handler, above=0
	sub	sp, sp, #(FREGS_SIZE + 16)
	stp	x0, x1, [sp, #FREGS_X0]
	stp	x2, x3, [sp, #FREGS_X2]
	stp	x4, x5, [sp, #FREGS_X4]
	stp	x6, x7, [sp, #FREGS_X6]
	mov	x1, x29					// frame
	add	x2, sp, #(FREGS_SIZE + 16 + \above)	// SP
	adr	x30, arch_rethook_trampoline
#ifdef CONFIG_DYNAMIC_FTRACE_WITH_REGS
	/* A struct pt_regs; C does not know the flags at a return. */
	stp	x8, x9, [sp, #S_X8]
	stp	x10, x11, [sp, #S_X10]
	stp	x12, x13, [sp, #S_X12]
	stp	x14, x15, [sp, #S_X14]
	stp	x16, x17, [sp, #S_X16]
	stp	x18, x19, [sp, #S_X18]
	stp	x20, x21, [sp, #S_X20]
	stp	x22, x23, [sp, #S_X22]
	stp	x24, x25, [sp, #S_X24]
	stp	x26, x27, [sp, #S_X26]
	stp	x28, x29, [sp, #S_X28]
	stp	x30, x2, [sp, #S_LR]
	mrs	x2, daif
	mrs	x3, CurrentEL
	orr	x2, x2, x3
	mrs	x3, SPSel
	orr	x2, x2, x3
	.if \above
	ldr	x3, [sp, #(FREGS_SIZE + 16 + 72)]	// NZCV, from the trampoline
	orr	x2, x2, x3
	.endif
	str	x2, [sp, #S_PSTATE]
	mov	w2, #NO_SYSCALL
	str	xzr, [sp, #FREGS_DIRECT_TRAMP]
	str	w2, [sp, #S_SYSCALLNO]
	mov	w3, wzr
#ifdef CONFIG_ARM64_PSEUDO_NMI
alternative_if ARM64_HAS_GIC_PRIO_MASKING
	mrs_s	x3, SYS_ICC_PMR_EL1
alternative_else_nop_endif
#endif
	str	w3, [sp, #S_PMR]
	stp	xzr, xzr, [sp, #S_SDEI_TTBR1]
	stp	xzr, xzr, [sp, #S_STACKFRAME + 8]
#else
	str	x8, [sp, #FREGS_X8]
	stp	x29, x30, [sp, #FREGS_FP]
	str	x2, [sp, #FREGS_SP]
#endif
	stp	x29, x30, [sp, #FREGS_SIZE]
	add	x29, sp, #FREGS_SIZE

	mov	x0, sp
	bl	rethook_ftrace_handler
	mov	x30, x0

	ldp	x2, x3, [sp, #FREGS_X2]
	ldp	x4, x5, [sp, #FREGS_X4]
	ldp	x6, x7, [sp, #FREGS_X6]
	ldp	x0, x1, [sp, #FREGS_X0]
	ldr	x8, [sp, #FREGS_X8]
	ldr	x29, [sp, #FREGS_FP]
	add	sp, sp, #FREGS_SIZE + 16
	.endm

/* For a function that the compiler made: a return defines no more than x0 - x8. */
SYM_CODE_START(arch_rethook_ftrace_trampoline)
	call_handler
	ret
SYM_CODE_END(arch_rethook_ftrace_trampoline)
NOKPROBE(arch_rethook_ftrace_trampoline)

/* A kretprobe may be on a function with a calling convention of its own. */
SYM_CODE_START(arch_rethook_trampoline)
	stp	x9, x10, [sp, #-80]!
	stp	x11, x12, [sp, #16]
	stp	x13, x14, [sp, #32]
	stp	x15, x16, [sp, #48]
	mrs	x9, nzcv
	stp	x17, x9, [sp, #64]
	ldr	x9, [sp]
	call_handler above=80
	ldp	x11, x12, [sp, #16]
	ldp	x13, x14, [sp, #32]
	ldp	x15, x16, [sp, #48]
	ldp	x17, x9, [sp, #64]
	msr	nzcv, x9
	ldp	x9, x10, [sp], #80
	ret
SYM_CODE_END(arch_rethook_trampoline)
NOKPROBE(arch_rethook_trampoline)
