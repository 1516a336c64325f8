/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the entries of ops sets jump to, see ftrace_ops_set.c. Included by
 * ftrace_64.S, for its macros.
 *
 * Unlike ftrace_caller and ftrace_regs_caller, these find the ops by @load, and are not
 * copied into generated trampolines: ftrace patches nothing in them.
 */

/*
 * @load: puts the ops into %rdx, which holds the return address. Its argument: how many
 *	bytes are on the stack between the saved registers and the return address
 * @call: calls the ops, with the four parameters of an ftrace_func_t
 * @added: how many bytes were pushed below the return address before
 *
 * objtool knows of the calls in @call, so these need no CALL_DEPTH_ACCOUNT.
 */
.macro ops_caller load:req call:req added=0
	/* save_mcount_regs fills in first two parameters */
	save_mcount_regs \added, 1
	/* Not saved: handlers find 0. If the function is not run, it returns what they set. */
	movq $0, RAX(%rsp)

	CALL_DEPTH_ACCOUNT

	/* The ops goes into the 3rd parameter */
	\load \added

	/* Stack - skipping the return address, and what was added */
	leaq MCOUNT_REG_SIZE+8+\added(%rsp), %rcx
	movq %rcx, RSP(%rsp)

	/* regs go into 4th parameter */
	movq %rsp, %rcx

	/* Only ops with REGS flag set should have CS register set */
	movq $0, CS(%rsp)

	\call

	/* Handlers can change the RIP, and for a function that is not run, RAX */
	movq RIP(%rsp), %rax
	movq %rax, MCOUNT_REG_SIZE+\added(%rsp)
	movq RAX(%rsp), %rax

	/* Drop what was added, too */
	restore_mcount_regs -\added, 1

	/* objtool takes the %rbp stored above for a saved one, and would want it restored. */
	UNWIND_HINT_FUNC
	RET
.endm

/* As ops_caller, with all registers */
.macro ops_regs_caller load:req call:req added=0
	/* Save the current flags before any operations that can change them */
	pushfq

	/* The flags, and what was added before */
	save_mcount_regs 8+\added, 1
	movq %rax, RAX(%rsp)
	movq $0, ORIG_RAX(%rsp)

	CALL_DEPTH_ACCOUNT

	/* The ops goes into the 3rd parameter */
	\load 8+\added

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
	movq $__KERNEL_DS, SS(%rsp)
	movq $__KERNEL_CS, CS(%rsp)
	/* Stack - skipping flags, return address and what was added */
	leaq MCOUNT_REG_SIZE+8*2+\added(%rsp), %rcx
	movq %rcx, RSP(%rsp)

	ENCODE_FRAME_POINTER

	/* regs go into 4th parameter */
	movq %rsp, %rcx

	\call

	/* restore the rest of pt_regs */
	movq R15(%rsp), %r15
	movq R14(%rsp), %r14
	movq R13(%rsp), %r13
	movq R12(%rsp), %r12
	movq R10(%rsp), %r10
	movq RBX(%rsp), %rbx
#ifndef CONFIG_FRAME_POINTER
	movq RBP(%rsp), %rbp
#endif

	/* Handlers can change the RIP */
	movq RIP(%rsp), %rax
	movq %rax, MCOUNT_REG_SIZE+8+\added(%rsp)

	/*
	 * If ORIG_RAX is anything but zero, make this a call to that.
	 * See arch_ftrace_set_direct_caller().
	 */
	movq EFLAGS(%rsp), %rcx
	movq ORIG_RAX(%rsp), %rax
	testq %rax, %rax
	jnz 1f

	/* Put the flags next to the return address, to drop what is below */
3:	movq %rcx, MCOUNT_REG_SIZE+\added(%rsp)
	movq RAX(%rsp), %rax
	restore_mcount_regs -\added, 1
	popfq
	RET

	/* The jmp form: return there instead of to the callsite */
1:	testb $1, %al
	jz 2f
	andq $~1, %rax
	movq %rax, MCOUNT_REG_SIZE+8+\added(%rsp)
	jmp 3b

	/*
	 * The call form: return there, and from there to the callsite. The address takes
	 * the word below the return address, and the flags the next one down. These words
	 * held the pushed set, the saved flags or the end of regs, and are free by now.
	 */
2:	movq %rcx, MCOUNT_REG_SIZE-8+\added(%rsp)
	movq %rax, MCOUNT_REG_SIZE+\added(%rsp)
	movq RAX(%rsp), %rax
	restore_mcount_regs 8-\added, 1
	popfq
	UNWIND_HINT_FUNC

	/* For the RSB, see ftrace_regs_caller */
	ANNOTATE_INTRA_FUNCTION_CALL
	CALL .Ldo_rebalance_\@
	int3
.Ldo_rebalance_\@:
	add $8, %rsp
	ALTERNATIVE __stringify(RET), \
		    __stringify(ANNOTATE_UNRET_SAFE; ret; int3), \
		    X86_FEATURE_CALL_DEPTH
.endm

.macro load_pushed_set added:req
	movq MCOUNT_REG_SIZE-8+\added(%rsp), %rdx
.endm

.macro call_set
	call ftrace_ops_set_func
.endm

/*
 * An entry pushes its set and jumps here. For the unwinder both functions begin
 * with such a push, which never runs: objtool then knows the stack from there
 * on, and unwind_orc.c takes an entry for the start of its function.
 */
SYM_FUNC_START(ftrace_ops_set_caller)
	ANNOTATE_NOENDBR
	pushq $0
SYM_INNER_LABEL(ftrace_ops_set_caller_entered, SYM_L_GLOBAL)
	ANNOTATE_NOENDBR
	ops_caller load_pushed_set, call_set, 8
SYM_FUNC_END(ftrace_ops_set_caller)
STACK_FRAME_NON_STANDARD_FP(ftrace_ops_set_caller)

SYM_FUNC_START(ftrace_ops_set_regs_caller)
	ANNOTATE_NOENDBR
	pushq $0
SYM_INNER_LABEL(ftrace_ops_set_regs_caller_entered, SYM_L_GLOBAL)
	ANNOTATE_NOENDBR
	ops_regs_caller load_pushed_set, call_set, 8
SYM_FUNC_END(ftrace_ops_set_regs_caller)
STACK_FRAME_NON_STANDARD_FP(ftrace_ops_set_regs_caller)
