/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What functions call that have a literal, see ftrace_literal.c. Included by
 * ftrace_64.S, after ftrace_ops_set_64.S.
 */

/* %rdx is behind the call. */
.macro load_literal added:req
#ifdef CONFIG_X86_KERNEL_IBT
	/* That is 5 bytes into the function, or 9 if it begins with ENDBR. */
	andq $-16, %rdx
	movq -FTRACE_LITERAL_OFFSET(%rdx), %rdx
#else
	movq -(FTRACE_LITERAL_OFFSET + MCOUNT_INSN_SIZE)(%rdx), %rdx
#endif
.endm

.macro load_literal_regs added:req
	load_literal 0
	/* Anything can be called with all registers. */
	andq $~FTRACE_LITERAL_REGS, %rdx
.endm

/* %rdi, %rsi, %rdx and %rcx are what an ops is called with. */
.macro call_literal
#ifdef CONFIG_CFI
	/* Only the compiler knows how to call what a pointer points to. */
	call ftrace_literal_func
#else
# ifdef CONFIG_MITIGATION_RETPOLINE
	movq FTRACE_OPS_FUNC(%rdx), %rax
	CALL_NOSPEC rax
# else
	call *FTRACE_OPS_FUNC(%rdx)
# endif
#endif
.endm

/*
 * If an ops that needs all registers joins after this was entered, and before it
 * loads the literal, it calls ftrace_literal_func_without_regs().
 */
SYM_FUNC_START(ftrace_literal_caller)
	ANNOTATE_NOENDBR
	ops_caller load_literal, call_literal
SYM_FUNC_END(ftrace_literal_caller)
STACK_FRAME_NON_STANDARD_FP(ftrace_literal_caller)

SYM_FUNC_START(ftrace_literal_regs_caller)
	ANNOTATE_NOENDBR
	ops_regs_caller load_literal_regs, call_literal
SYM_FUNC_END(ftrace_literal_regs_caller)
STACK_FRAME_NON_STANDARD_FP(ftrace_literal_regs_caller)
