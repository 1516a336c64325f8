/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the entries of ops sets jump to, see ftrace_set.c. Included by
 * ftrace_64.S, for its macros.
 *
 * An entry pushes its set and jumps here. For the unwinder both functions
 * begin with such a push, which never runs: objtool then knows the stack from
 * there on, and unwind_orc.c takes an entry for the begin of its function.
 *
 * These differ from ftrace_caller and ftrace_regs_caller in the word that is
 * on the stack below the return address, and in that one function is called,
 * always the same, with the set as its ops. As no text is generated from them,
 * nothing in them is patched.
 */

SYM_FUNC_START(ftrace_set_caller)
	ANNOTATE_NOENDBR
	pushq $0
SYM_INNER_LABEL(ftrace_set_caller_entered, SYM_L_GLOBAL)
	ANNOTATE_NOENDBR
	/* save_mcount_regs fills in first two parameters */
	save_mcount_regs 8

	CALL_DEPTH_ACCOUNT

	/* Stack - skipping the set and the return address */
	leaq MCOUNT_REG_SIZE+8*2(%rsp), %rcx
	movq %rcx, RSP(%rsp)

	/* The set goes into the 3rd parameter, regs into the 4th */
	movq MCOUNT_REG_SIZE(%rsp), %rdx
	movq %rsp, %rcx

	/* Only ops with REGS flag set should have CS register set */
	movq $0, CS(%rsp)

	/* Account for the function call below */
	CALL_DEPTH_ACCOUNT
	call ftrace_ops_set_func

	/* Handlers can change the RIP */
	movq RIP(%rsp), %rax
	movq %rax, MCOUNT_REG_SIZE+8(%rsp)

	/* Drop the set, too */
	restore_mcount_regs -8
	RET
SYM_FUNC_END(ftrace_set_caller)
STACK_FRAME_NON_STANDARD_FP(ftrace_set_caller)

SYM_FUNC_START(ftrace_set_regs_caller)
	ANNOTATE_NOENDBR
	pushq $0
SYM_INNER_LABEL(ftrace_set_regs_caller_entered, SYM_L_GLOBAL)
	ANNOTATE_NOENDBR
	/* Save the current flags before any operations that can change them */
	pushfq

	/* The flags and the set */
	save_mcount_regs 8*2

	CALL_DEPTH_ACCOUNT

	/* Save the rest of pt_regs */
	movq %r15, R15(%rsp)
	movq %r14, R14(%rsp)
	movq %r13, R13(%rsp)
	movq %r12, R12(%rsp)
	movq %r11, R11(%rsp)
	movq %r10, R10(%rsp)
	movq %rbx, RBX(%rsp)
	/* Copy saved flags */
	movq MCOUNT_REG_SIZE(%rsp), %rcx
	movq %rcx, EFLAGS(%rsp)
	/* Kernel segments */
	movq $__KERNEL_DS, %rcx
	movq %rcx, SS(%rsp)
	movq $__KERNEL_CS, %rcx
	movq %rcx, CS(%rsp)
	/* Stack - skipping flags, set and return address */
	leaq MCOUNT_REG_SIZE+8*3(%rsp), %rcx
	movq %rcx, RSP(%rsp)

	/* The set goes into the 3rd parameter */
	movq MCOUNT_REG_SIZE+8(%rsp), %rdx

	ENCODE_FRAME_POINTER

	/* regs go into 4th parameter */
	movq %rsp, %rcx

	/* Account for the function call below */
	CALL_DEPTH_ACCOUNT
	call ftrace_ops_set_func

	/* restore the rest of pt_regs */
	movq R15(%rsp), %r15
	movq R14(%rsp), %r14
	movq R13(%rsp), %r13
	movq R12(%rsp), %r12
	movq R10(%rsp), %r10
	movq RBX(%rsp), %rbx

	/* Handlers can change the RIP */
	movq RIP(%rsp), %rax
	movq %rax, MCOUNT_REG_SIZE+8*2(%rsp)

	/*
	 * If ORIG_RAX is anything but zero, make this a call to that.
	 * See arch_ftrace_set_direct_caller().
	 */
	movq EFLAGS(%rsp), %rcx
	movq ORIG_RAX(%rsp), %rax
	testq %rax, %rax
	jnz 1f

	/* Put the flags where the set is, to drop the word below */
.Lset_regs_out:
	movq %rcx, MCOUNT_REG_SIZE+8(%rsp)
	restore_mcount_regs -8
	popfq
	RET

	/* The jmp form: return there instead of to the callsite */
1:	testb $1, %al
	jz 2f
	andq $~1, %rax
	movq %rax, MCOUNT_REG_SIZE+8*2(%rsp)
	jmp .Lset_regs_out

	/* The call form: return there, and from there to the callsite */
2:	movq %rcx, MCOUNT_REG_SIZE(%rsp)
	movq %rax, MCOUNT_REG_SIZE+8(%rsp)
	restore_mcount_regs
	popfq
	UNWIND_HINT_FUNC

	/* For the RSB, see ftrace_regs_caller */
	ANNOTATE_INTRA_FUNCTION_CALL
	CALL .Lset_do_rebalance
	int3
.Lset_do_rebalance:
	add $8, %rsp
	ALTERNATIVE __stringify(RET), \
		    __stringify(ANNOTATE_UNRET_SAFE; ret; int3), \
		    X86_FEATURE_CALL_DEPTH
SYM_FUNC_END(ftrace_set_regs_caller)
STACK_FRAME_NON_STANDARD_FP(ftrace_set_regs_caller)
