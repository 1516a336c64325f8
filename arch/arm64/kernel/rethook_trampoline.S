/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where a function returns to whose return is hooked
 */
#include <linux/linkage.h>

#include <asm/asm-offsets.h>
#include <asm/assembler.h>

	.text

/*
 * x0 - x7 hold what the function returns; C keeps x19 - x28. A return defines no
 * others, but a kretprobe may be on a function with a calling convention of its
 * own: x8 - x17 are as it has left them.
 *
 * The frame record says that this was called from where it is itself, which is
 * what the unwinder finds for a function whose return is hooked.
 */
SYM_CODE_START(arch_rethook_trampoline)
	adr	x30, arch_rethook_trampoline
	stp	x9, x10, [sp, #-96]!
	stp	x11, x12, [sp, #16]
	stp	x13, x14, [sp, #32]
	stp	x15, x16, [sp, #48]
	str	x17, [sp, #64]
	add	x9, sp, #96
	stp	x29, x30, [sp, #-16]!

	stp	x0, x1, [sp, #FREGS_X0 - FREGS_SIZE]!
	stp	x2, x3, [sp, #FREGS_X2]
	stp	x4, x5, [sp, #FREGS_X4]
	stp	x6, x7, [sp, #FREGS_X6]
	str	x8, [sp, #FREGS_X8]
	str	x29, [sp, #FREGS_FP]
	str	x30, [sp, #FREGS_LR]
	str	x9, [sp, #FREGS_SP]
#ifdef CONFIG_DYNAMIC_FTRACE_WITH_REGS
	str	xzr, [sp, #FREGS_PSTATE]	// not all registers
#endif
	add	x29, sp, #FREGS_SIZE

	mov	x0, sp
	bl	arch_rethook_trampoline_callback
	mov	x30, x0

	ldp	x2, x3, [sp, #FREGS_X2]
	ldp	x4, x5, [sp, #FREGS_X4]
	ldp	x6, x7, [sp, #FREGS_X6]
	ldp	x0, x1, [sp, #FREGS_X0]
	ldr	x8, [sp, #FREGS_X8]
	ldr	x29, [sp, #FREGS_FP]
	add	sp, sp, #FREGS_SIZE + 16
	ldp	x11, x12, [sp, #16]
	ldp	x13, x14, [sp, #32]
	ldp	x15, x16, [sp, #48]
	ldr	x17, [sp, #64]
	ldp	x9, x10, [sp], #96
	ret
SYM_CODE_END(arch_rethook_trampoline)
NOKPROBE(arch_rethook_trampoline)
