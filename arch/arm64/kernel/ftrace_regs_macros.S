/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A struct pt_regs that no exception saved, at sp.
 */
	/* Save x8 - x29. */
	.macro	regs_save_x8_to_x29
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
	.endm

	/* Put D, A, I, F, EL and SP of PSTATE into \pstate. Clobbers \tmp. */
	.macro	regs_read_pstate, pstate, tmp
	mrs	\pstate, daif
	mrs	\tmp, CurrentEL
	orr	\pstate, \pstate, \tmp
	mrs	\tmp, SPSel
	orr	\pstate, \pstate, \tmp
	.endm

	/*
	 * Fill in the rest of the struct pt_regs: no direct call, no system call, no TTBR1
	 * of SDEI, the interrupt priority mask, and a frame record that is not an exception's.
	 * Clobbers x\a and x\b.
	 */
	.macro	regs_save_rest, a, b
	str	xzr, [sp, #FREGS_DIRECT_TRAMP]
	mov	w\a, #NO_SYSCALL
	mov	w\b, wzr
#ifdef CONFIG_ARM64_PSEUDO_NMI
alternative_if ARM64_HAS_GIC_PRIO_MASKING
	mrs_s	x\b, SYS_ICC_PMR_EL1
alternative_else_nop_endif
#endif
	str	w\a, [sp, #S_SYSCALLNO]
	str	w\b, [sp, #S_PMR]
	stp	xzr, xzr, [sp, #S_SDEI_TTBR1]
	stp	xzr, xzr, [sp, #S_STACKFRAME + 8]
	.endm
