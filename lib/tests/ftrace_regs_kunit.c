// SPDX-License-Identifier: GPL-2.0
/*
 * ftrace_regs_kunit.c - the registers that a callback of ftrace gets and gives, on arm64
 *
 * A function in assembly is called with a known value in every register, and writes
 * down what it receives. What is between the two is seen, and changed, by a callback.
 */
#include <linux/fprobe.h>
#include <linux/ftrace.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/stacktrace.h>

#include <asm/insn.h>
#include <asm/ptrace.h>

#include <kunit/test.h>

#define NZCV	(PSR_N_BIT | PSR_Z_BIT | PSR_C_BIT | PSR_V_BIT)

/* x9 keeps no value: it has the LR at the callsite, and then the address to go on at. */
#define NO_VALUE	BIT(9)
/* Not to be changed: the shadow call stack, if there is one */
#define NO_CHANGE	(NO_VALUE | (IS_ENABLED(CONFIG_SHADOW_CALL_STACK) ? BIT(18) : 0))

struct regs_values {
	unsigned long x[31];
	unsigned long sp;
	unsigned long nzcv;
};

static_assert(offsetof(struct regs_values, sp) == 248);
static_assert(offsetof(struct regs_values, nzcv) == 256);

/* What the function was called with, and what it received */
struct regs_values regs_kunit_given, regs_kunit_received;
unsigned long regs_kunit_other_ran;

/* Call regs_kunit_target() with the values in regs_kunit_given; note sp, fp and lr there. */
asmlinkage void regs_kunit_call(void);
asmlinkage void regs_kunit_target(void);
/* Where regs_kunit_call() goes on, as well as after its call */
asmlinkage void regs_kunit_landed(void);
asmlinkage void regs_kunit_other(void);

#ifdef CONFIG_ARM64_BTI_KERNEL
# define BTI_C	"	hint	#34\n"
#else
# define BTI_C	""
#endif

#ifdef CONFIG_DYNAMIC_FTRACE_WITH_CALL_OPS
# define PATCHABLE(name)					\
	"	.p2align 3\n"					\
	"99:	nop\n	nop\n"					\
	#name ":\n"						\
	BTI_C							\
	"	nop\n	nop\n"
#else
# define PATCHABLE(name)					\
	#name ":\n"						\
	BTI_C							\
	"99:	nop\n	nop\n"
#endif

asm("	.pushsection .text, \"ax\"\n"
"	.p2align 3\n"
"	.type	regs_kunit_call, %function\n"
"regs_kunit_call:\n"
	BTI_C
"	stp	x29, x30, [sp, #-112]!\n"
"	mov	x29, sp\n"
"	stp	x19, x20, [sp, #16]\n"
"	stp	x21, x22, [sp, #32]\n"
"	stp	x23, x24, [sp, #48]\n"
"	stp	x25, x26, [sp, #64]\n"
"	stp	x27, x28, [sp, #80]\n"
"	str	x18, [sp, #96]\n"
"	adrp	x9, regs_kunit_given\n"
"	add	x9, x9, :lo12:regs_kunit_given\n"
"	adr	x10, regs_kunit_returned\n"
"	stp	x29, x10, [x9, #29 * 8]\n"
"	mov	x10, sp\n"
"	str	x10, [x9, #248]\n"
"	str	x18, [x9, #18 * 8]\n"
"	ldr	x10, [x9, #256]\n"
"	msr	nzcv, x10\n"
"	ldp	x0, x1, [x9, #0 * 8]\n"
"	ldp	x2, x3, [x9, #2 * 8]\n"
"	ldp	x4, x5, [x9, #4 * 8]\n"
"	ldp	x6, x7, [x9, #6 * 8]\n"
"	ldr	x8, [x9, #8 * 8]\n"
"	ldp	x10, x11, [x9, #10 * 8]\n"
"	ldp	x12, x13, [x9, #12 * 8]\n"
"	ldp	x14, x15, [x9, #14 * 8]\n"
"	ldp	x16, x17, [x9, #16 * 8]\n"
"	ldp	x19, x20, [x9, #19 * 8]\n"
"	ldp	x21, x22, [x9, #21 * 8]\n"
"	ldp	x23, x24, [x9, #23 * 8]\n"
"	ldp	x25, x26, [x9, #25 * 8]\n"
"	ldp	x27, x28, [x9, #27 * 8]\n"
"	bl	regs_kunit_target\n"
"regs_kunit_returned:\n"
"	nop\n"
"regs_kunit_landed:\n"
"	ldp	x19, x20, [sp, #16]\n"
"	ldp	x21, x22, [sp, #32]\n"
"	ldp	x23, x24, [sp, #48]\n"
"	ldp	x25, x26, [sp, #64]\n"
"	ldp	x27, x28, [sp, #80]\n"
"	ldr	x18, [sp, #96]\n"
"	ldp	x29, x30, [sp], #112\n"
"	ret\n"
"	.size	regs_kunit_call, . - regs_kunit_call\n"

"	.type	regs_kunit_target, %function\n"
	PATCHABLE(regs_kunit_target)
"	adrp	x9, regs_kunit_received\n"
"	add	x9, x9, :lo12:regs_kunit_received\n"
"	stp	x0, x1, [x9, #0 * 8]\n"
"	stp	x2, x3, [x9, #2 * 8]\n"
"	stp	x4, x5, [x9, #4 * 8]\n"
"	stp	x6, x7, [x9, #6 * 8]\n"
"	str	x8, [x9, #8 * 8]\n"
"	stp	x10, x11, [x9, #10 * 8]\n"
"	stp	x12, x13, [x9, #12 * 8]\n"
"	stp	x14, x15, [x9, #14 * 8]\n"
"	stp	x16, x17, [x9, #16 * 8]\n"
"	stp	x18, x19, [x9, #18 * 8]\n"
"	stp	x20, x21, [x9, #20 * 8]\n"
"	stp	x22, x23, [x9, #22 * 8]\n"
"	stp	x24, x25, [x9, #24 * 8]\n"
"	stp	x26, x27, [x9, #26 * 8]\n"
"	stp	x28, x29, [x9, #28 * 8]\n"
"	str	x30, [x9, #30 * 8]\n"
"	mov	x10, sp\n"
"	mrs	x11, nzcv\n"
"	stp	x10, x11, [x9, #248]\n"
"	ret\n"
"	.size	regs_kunit_target, . - regs_kunit_target\n"

"	.type	regs_kunit_other, %function\n"
"regs_kunit_other:\n"
"	adrp	x9, regs_kunit_other_ran\n"
"	str	x0, [x9, :lo12:regs_kunit_other_ran]\n"
"	ret\n"
"	.size	regs_kunit_other, . - regs_kunit_other\n"
"	.popsection\n"

"	.pushsection __patchable_function_entries, \"awo\", @progbits, .text\n"
"	.p2align 3\n"
"	.8byte	99b\n"
"	.popsection\n"
);

/* Where ftrace patches: the second instruction, but for a BTI before it */
static unsigned long callsite_of(void (*f)(void))
{
	bool bti = aarch64_insn_is_bti(le32_to_cpup((__le32 *)f));

	return (unsigned long)f + AARCH64_INSN_SIZE * (bti ? 2 : 1);
}

/* What keeps no value: a module far from ftrace calls it by a PLT entry, which takes x16, x17. */
static unsigned long no_value(void)
{
	unsigned long callsite = callsite_of(regs_kunit_target);
	s32 offset = sign_extend32(le32_to_cpup((__le32 *)callsite), 25) * AARCH64_INSN_SIZE;

	if (THIS_MODULE && within_module(callsite + offset, THIS_MODULE))
		return NO_VALUE | BIT(16) | BIT(17);
	return NO_VALUE;
}

static noinline void plain_target(void)
{
	barrier_data(&regs_kunit_other_ran);
}

static struct pt_regs seen;
static int nr_hits, nr_without;

static notrace void count_hit(unsigned long ip, unsigned long parent_ip,
			      struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	nr_hits++;
	nr_without += !ftrace_get_regs(fregs);
}

/* Change all that can be */
static notrace void change_all(unsigned long ip, unsigned long parent_ip,
			       struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	struct pt_regs *regs = ftrace_get_regs(fregs);

	nr_hits++;
	if (!regs)
		return;
	seen = *regs;
	for (int i = 0; i < 30; i++) {
		if (!(NO_CHANGE & BIT(i)))
			regs->regs[i] = ~regs->regs[i];
	}
	regs->regs[30] = (unsigned long)regs_kunit_landed;
	regs->pstate ^= NZCV;
}

static notrace void leave_all(unsigned long ip, unsigned long parent_ip,
			      struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	struct pt_regs *regs = ftrace_get_regs(fregs);

	nr_hits++;
	if (regs)
		seen = *regs;
}

static notrace void go_elsewhere(unsigned long ip, unsigned long parent_ip,
				 struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	struct pt_regs *regs = ftrace_get_regs(fregs);

	nr_hits++;
	if (regs)
		instruction_pointer_set(regs, (unsigned long)regs_kunit_other);
}

static void attach(struct kunit *test, struct ftrace_ops *ops, ftrace_func_t func,
		   unsigned long flags, void (*target)(void))
{
	*ops = (struct ftrace_ops) { .func = func, .flags = flags };
	KUNIT_ASSERT_EQ(test, 0, ftrace_set_filter_ip(ops, (unsigned long)target, 0, 0));
	KUNIT_ASSERT_EQ(test, 0, register_ftrace_function(ops));
	nr_hits = 0;
	nr_without = 0;
}

static void detach(struct kunit *test, struct ftrace_ops *ops)
{
	KUNIT_EXPECT_EQ(test, 0, unregister_ftrace_function(ops));
	ftrace_free_filter(ops);
}

static void give_values(unsigned long nzcv)
{
	for (int i = 0; i < 29; i++)
		regs_kunit_given.x[i] = 0x1111222233330000UL * (i & 1) + 0x100010001UL * (i + 1);
	regs_kunit_given.nzcv = nzcv;
	memset(&regs_kunit_received, 0, sizeof(regs_kunit_received));
	memset(&seen, 0, sizeof(seen));
}

static void expect_seen(struct kunit *test)
{
	for (int i = 0; i < 31; i++) {
		if (!(no_value() & BIT(i)))
			KUNIT_EXPECT_EQ_MSG(test, regs_kunit_given.x[i], seen.regs[i], "x%d", i);
	}
	/* As the documentation says */
	KUNIT_EXPECT_EQ(test, regs_kunit_given.x[30], seen.regs[9]);
	KUNIT_EXPECT_EQ(test, regs_kunit_given.sp, seen.sp);
	KUNIT_EXPECT_EQ(test, regs_kunit_given.nzcv, seen.pstate & NZCV);
	KUNIT_EXPECT_EQ(test, callsite_of(regs_kunit_target) + 4, seen.pc);
}

static struct ftrace_ops ops[3];

/* Every register is seen, and nothing changes by that. */
static void ftrace_regs_are_real(struct kunit *test)
{
	attach(test, &ops[0], leave_all, FTRACE_OPS_FL_SAVE_REGS, regs_kunit_target);
	for (unsigned long flags = 0; flags < 16; flags++) {
		give_values(flags << 28);
		regs_kunit_call();
		expect_seen(test);
		for (int i = 0; i < 31; i++) {
			if (no_value() & BIT(i))
				regs_kunit_given.x[i] = regs_kunit_received.x[i];
		}
		KUNIT_EXPECT_MEMEQ(test, &regs_kunit_given, &regs_kunit_received,
				   sizeof(regs_kunit_given));
	}
	KUNIT_EXPECT_EQ(test, 16, nr_hits);
	detach(test, &ops[0]);
}

/* What a callback makes of them is what the function receives. */
static void ftrace_regs_can_be_changed(struct kunit *test)
{
	attach(test, &ops[0], change_all, FTRACE_OPS_FL_SAVE_REGS, regs_kunit_target);
	for (unsigned long flags = 0; flags < 16; flags++) {
		give_values(flags << 28);
		regs_kunit_call();
		expect_seen(test);
		for (int i = 0; i < 30; i++) {
			unsigned long given = regs_kunit_given.x[i];

			if (!(no_value() & BIT(i)))
				KUNIT_EXPECT_EQ_MSG(test, NO_CHANGE & BIT(i) ? given : ~given,
						    regs_kunit_received.x[i], "x%d", i);
		}
		KUNIT_EXPECT_EQ(test, (unsigned long)regs_kunit_landed, regs_kunit_received.x[30]);
		KUNIT_EXPECT_EQ(test, regs_kunit_given.sp, regs_kunit_received.sp);
		KUNIT_EXPECT_EQ(test, regs_kunit_given.nzcv ^ NZCV, regs_kunit_received.nzcv);
	}
	KUNIT_EXPECT_EQ(test, 16, nr_hits);
	detach(test, &ops[0]);
}

/* So is where it goes. */
static void ftrace_regs_can_go_elsewhere(struct kunit *test)
{
	attach(test, &ops[0], go_elsewhere, FTRACE_OPS_FL_SAVE_REGS | FTRACE_OPS_FL_IPMODIFY,
	       regs_kunit_target);
	give_values(0);
	regs_kunit_other_ran = 0;
	regs_kunit_call();
	KUNIT_EXPECT_EQ(test, 1, nr_hits);
	KUNIT_EXPECT_EQ(test, regs_kunit_given.x[0], regs_kunit_other_ran);
	KUNIT_EXPECT_EQ(test, 0UL, regs_kunit_received.x[30]);
	detach(test, &ops[0]);
}

/* Who does not ask for all registers gets some, and the function has all of its own. */
static void ftrace_regs_are_for_those_who_ask(struct kunit *test)
{
	attach(test, &ops[0], count_hit, 0, regs_kunit_target);
	give_values(PSR_C_BIT);
	regs_kunit_call();
	KUNIT_EXPECT_EQ(test, 1, nr_hits);
	KUNIT_EXPECT_EQ(test, 1, nr_without);
	for (int i = 0; i < 31; i++) {
		/* The short path is free to use these. */
		if (i < 9 || i > 17)
			KUNIT_EXPECT_EQ_MSG(test, regs_kunit_given.x[i],
					    regs_kunit_received.x[i], "x%d", i);
	}

	/* Beside one that asks, also if that needs help */
	attach(test, &ops[1], count_hit, FTRACE_OPS_FL_SAVE_REGS, regs_kunit_target);
	attach(test, &ops[2], change_all, FTRACE_OPS_FL_SAVE_REGS | FTRACE_OPS_FL_RCU |
	       FTRACE_OPS_FL_RECURSION, regs_kunit_target);
	give_values(PSR_C_BIT);
	regs_kunit_call();
	KUNIT_EXPECT_EQ(test, 3, nr_hits);
	expect_seen(test);
	KUNIT_EXPECT_EQ(test, ~regs_kunit_given.x[28], regs_kunit_received.x[28]);

	detach(test, &ops[2]);
	detach(test, &ops[1]);
	nr_hits = 0;
	nr_without = 0;
	regs_kunit_call();
	KUNIT_EXPECT_EQ(test, 1, nr_hits);
	KUNIT_EXPECT_EQ(test, 1, nr_without);
	detach(test, &ops[0]);
}

static notrace void see_partial(unsigned long ip, unsigned long parent_ip,
				struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	struct pt_regs regs;

	nr_hits++;
	seen = *ftrace_partial_regs(fregs, &regs);
}

static notrace void see_partial_exit(struct fprobe *fp, unsigned long entry_ip,
				     unsigned long ret_ip, struct ftrace_regs *fregs, void *data)
{
	see_partial(entry_ip, ret_ip, NULL, fregs);
}

/* Leave values where a trampoline is going to save registers. */
static noinline void fill_stack(void)
{
	unsigned long words[128];

	memset(words, 0x5a, sizeof(words));
	barrier_data(words);
}

/* Call the function: what was not saved shows nothing of the stack. */
static void expect_nothing_stale(struct kunit *test)
{
	nr_hits = 0;
	memset(&seen, 0, sizeof(seen));
	fill_stack();
	regs_kunit_call();
	KUNIT_EXPECT_EQ(test, 1, nr_hits);
	for (int i = 9; i < 29; i++)
		KUNIT_EXPECT_EQ_MSG(test, 0UL, seen.regs[i], "x%d", i);
}

/* Of a register that was not saved, a callback sees nothing, at a return neither. */
static void ftrace_regs_show_no_stale_stack(struct kunit *test)
{
	unsigned long addr = callsite_of(regs_kunit_target);
	static struct fprobe fp;
	int ret;

	give_values(0);
	attach(test, &ops[0], see_partial, 0, regs_kunit_target);
	expect_nothing_stale(test);
	detach(test, &ops[0]);

	fp = (struct fprobe) { .exit_handler = see_partial_exit };
	ret = register_fprobe_ips(&fp, &addr, 1);
	if (ret == -EOPNOTSUPP)
		return;
	KUNIT_ASSERT_EQ(test, 0, ret);
	expect_nothing_stale(test);
	KUNIT_EXPECT_EQ(test, 0, unregister_fprobe(&fp));
}

static struct pt_regs at_exception;

static int note_regs(struct kprobe *p, struct pt_regs *regs)
{
	at_exception = *regs;
	return 0;
}

/* What an exception in the function says of the state it was called in */
static void ftrace_regs_are_those_of_an_exception(struct kunit *test)
{
	unsigned long body = callsite_of(plain_target) + 4, flags;
	struct kprobe kp = { .addr = (void *)body, .pre_handler = note_regs };
	unsigned long differ = NZCV | PSR_BTYPE_MASK | PSR_IL_BIT | PSR_SSBS_BIT | DBG_SPSR_SS;

	attach(test, &ops[0], leave_all, FTRACE_OPS_FL_SAVE_REGS, plain_target);
	KUNIT_ASSERT_EQ(test, 0, register_kprobe(&kp));
	for (int irqs = 0; irqs < 2; irqs++) {
		if (!irqs)
			local_irq_save(flags);
		plain_target();
		if (!irqs)
			local_irq_restore(flags);
		KUNIT_EXPECT_EQ(test, at_exception.pstate & ~differ, seen.pstate & ~differ);
		KUNIT_EXPECT_EQ(test, irqs, interrupts_enabled(&seen));
		KUNIT_EXPECT_FALSE(test, user_mode(&seen));
		KUNIT_EXPECT_EQ(test, at_exception.sp, seen.sp);
		KUNIT_EXPECT_EQ(test, at_exception.regs[29], seen.regs[29]);
		KUNIT_EXPECT_EQ(test, at_exception.regs[30], seen.regs[30]);
	}
	unregister_kprobe(&kp);
	detach(test, &ops[0]);
}

static unsigned long trace[32];
static unsigned int nr_trace;

static notrace void take_trace(unsigned long ip, unsigned long parent_ip,
			       struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	nr_hits++;
	nr_trace = stack_trace_save(trace, ARRAY_SIZE(trace), 0);
}

static noinline void caller_of_target(void)
{
	plain_target();
	barrier();
}

static bool in_trace(void *function, unsigned long size)
{
	unsigned long from = (unsigned long)function;

	for (unsigned int i = 0; i < nr_trace; i++) {
		if (trace[i] >= from && trace[i] < from + size)
			return true;
	}
	return false;
}

/* The function and those who called it are in the stack trace of a callback. */
static void ftrace_regs_caller_is_unwound(struct kunit *test)
{
	attach(test, &ops[0], take_trace, FTRACE_OPS_FL_SAVE_REGS, plain_target);
	caller_of_target();
	KUNIT_EXPECT_EQ(test, 1, nr_hits);
	KUNIT_EXPECT_TRUE(test, in_trace(plain_target, 20));
	KUNIT_EXPECT_TRUE(test, in_trace(caller_of_target, 40));
	KUNIT_EXPECT_TRUE(test, in_trace(ftrace_regs_caller_is_unwound, 2048));
	detach(test, &ops[0]);
}

/* --- kprobes at the entry --------------------------------------------------- */

static unsigned long pc_in_pre, pc_in_post;
static int nr_pre[2], nr_post;

static int pre_0(struct kprobe *p, struct pt_regs *regs)
{
	nr_pre[0]++;
	seen = *regs;
	pc_in_pre = instruction_pointer(regs);
	return 0;
}

static int pre_1(struct kprobe *p, struct pt_regs *regs)
{
	nr_pre[1]++;
	return 0;
}

static void post(struct kprobe *p, struct pt_regs *regs, unsigned long flags)
{
	nr_post++;
	pc_in_post = instruction_pointer(regs);
}

static int pre_elsewhere(struct kprobe *p, struct pt_regs *regs)
{
	nr_pre[0]++;
	instruction_pointer_set(regs, (unsigned long)regs_kunit_other);
	return 1;
}

static void forget(void)
{
	memset(nr_pre, 0, sizeof(nr_pre));
	nr_post = 0;
	pc_in_pre = 0;
	pc_in_post = 0;
	regs_kunit_other_ran = 0;
	give_values(PSR_Z_BIT);
}

/* A probe at the function is on ftrace, and sees it as an exception there would. */
static void kprobe_at_entry_is_on_ftrace(struct kunit *test)
{
	struct kprobe kp = { .addr = (void *)regs_kunit_target, .pre_handler = pre_0 };
	struct kprobe second = { .addr = (void *)regs_kunit_target, .pre_handler = pre_1,
				 .post_handler = post };

	KUNIT_ASSERT_EQ(test, 0, register_kprobe(&kp));
	KUNIT_EXPECT_TRUE(test, kprobe_ftrace(&kp));
	forget();
	regs_kunit_call();
	KUNIT_EXPECT_EQ(test, 1, nr_pre[0]);
	KUNIT_EXPECT_EQ(test, (unsigned long)regs_kunit_target, pc_in_pre);
	for (int i = 0; i < 31; i++) {
		if (!(no_value() & BIT(i)))
			KUNIT_EXPECT_EQ_MSG(test, regs_kunit_given.x[i], seen.regs[i], "x%d", i);
	}
	KUNIT_EXPECT_MEMEQ(test, regs_kunit_given.x, regs_kunit_received.x, 9 * sizeof(long));

	/* A second one, with a handler for what is after */
	KUNIT_ASSERT_EQ(test, 0, register_kprobe(&second));
	forget();
	regs_kunit_call();
	KUNIT_EXPECT_EQ(test, 1, nr_pre[0]);
	KUNIT_EXPECT_EQ(test, 1, nr_pre[1]);
	KUNIT_EXPECT_EQ(test, 1, nr_post);
	KUNIT_EXPECT_EQ(test, (unsigned long)regs_kunit_target, pc_in_pre);
	KUNIT_EXPECT_EQ(test, callsite_of(regs_kunit_target) + 4, pc_in_post);
	KUNIT_EXPECT_EQ(test, regs_kunit_given.x[30], regs_kunit_received.x[30]);

	KUNIT_EXPECT_EQ(test, 0, disable_kprobe(&kp));
	forget();
	regs_kunit_call();
	KUNIT_EXPECT_EQ(test, 0, nr_pre[0]);
	KUNIT_EXPECT_EQ(test, 1, nr_pre[1]);
	KUNIT_EXPECT_EQ(test, 0, enable_kprobe(&kp));
	unregister_kprobe(&second);
	forget();
	regs_kunit_call();
	KUNIT_EXPECT_EQ(test, 1, nr_pre[0]);
	KUNIT_EXPECT_EQ(test, 0, nr_pre[1]);

	unregister_kprobe(&kp);
	forget();
	regs_kunit_call();
	KUNIT_EXPECT_EQ(test, 0, nr_pre[0]);
}

/* A handler that returns true has changed the PC. */
static void kprobe_at_entry_goes_elsewhere(struct kunit *test)
{
	struct kprobe kp = { .addr = (void *)regs_kunit_target, .pre_handler = pre_elsewhere,
			     .post_handler = post };

	KUNIT_ASSERT_EQ(test, 0, register_kprobe(&kp));
	KUNIT_EXPECT_TRUE(test, kprobe_ftrace(&kp));
	forget();
	regs_kunit_call();
	unregister_kprobe(&kp);
	KUNIT_EXPECT_EQ(test, 1, nr_pre[0]);
	KUNIT_EXPECT_EQ(test, 0, nr_post);
	KUNIT_EXPECT_EQ(test, regs_kunit_given.x[0], regs_kunit_other_ran);
	KUNIT_EXPECT_EQ(test, 0UL, regs_kunit_received.x[30]);
}

/* What the compiler put at the start, and before it for a literal, is one entry. */
static void kprobe_is_at_entry_or_after(struct kunit *test)
{
	unsigned long entry = (unsigned long)regs_kunit_target;
	unsigned long after = callsite_of(regs_kunit_target) + 4;
	unsigned long before = IS_ENABLED(CONFIG_DYNAMIC_FTRACE_WITH_CALL_OPS) ? 8 : 0;

	for (unsigned long addr = entry - before; addr <= after; addr += 4) {
		struct kprobe kp = { .addr = (void *)addr, .pre_handler = pre_0 };
		bool possible = addr == entry || addr == after;

		KUNIT_EXPECT_EQ(test, possible ? 0 : -EILSEQ, register_kprobe(&kp));
		if (!possible)
			continue;
		KUNIT_EXPECT_EQ(test, addr == entry, kprobe_ftrace(&kp));
		forget();
		regs_kunit_call();
		KUNIT_EXPECT_EQ(test, 1, nr_pre[0]);
		KUNIT_EXPECT_EQ(test, addr, pc_in_pre);
		unregister_kprobe(&kp);
	}
}

static int nr_returns;

static int note_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	nr_returns++;
	return 0;
}

/* The return of a function can be probed, and its body, while others trace it. */
static void kprobe_at_entry_is_not_alone(struct kunit *test)
{
	struct kretprobe rp = { .kp.addr = (void *)plain_target, .handler = note_return };
	struct kprobe entry = { .addr = (void *)plain_target, .pre_handler = pre_0 };
	struct kprobe body = { .addr = (void *)callsite_of(plain_target) + 4,
			       .pre_handler = pre_1 };

	nr_returns = 0;
	attach(test, &ops[0], count_hit, 0, plain_target);
	KUNIT_ASSERT_EQ(test, 0, register_kretprobe(&rp));
	KUNIT_ASSERT_EQ(test, 0, register_kprobe(&entry));
	KUNIT_ASSERT_EQ(test, 0, register_kprobe(&body));
	forget();
	plain_target();
	KUNIT_EXPECT_EQ(test, 1, nr_hits);
	KUNIT_EXPECT_EQ(test, 1, nr_pre[0]);
	KUNIT_EXPECT_EQ(test, 1, nr_pre[1]);
	KUNIT_EXPECT_EQ(test, 1, nr_returns);
	unregister_kprobe(&body);
	unregister_kprobe(&entry);
	unregister_kretprobe(&rp);
	detach(test, &ops[0]);
	plain_target();
	KUNIT_EXPECT_EQ(test, 1, nr_hits);
	KUNIT_EXPECT_EQ(test, 1, nr_pre[0]);
	KUNIT_EXPECT_EQ(test, 1, nr_returns);
}

static void ftrace_regs_test_exit(struct kunit *test)
{
	for (int i = 0; i < ARRAY_SIZE(ops); i++) {
		if (ops[i].flags & FTRACE_OPS_FL_ENABLED)
			detach(test, &ops[i]);
	}
}

static struct kunit_case ftrace_regs_cases[] = {
	KUNIT_CASE(ftrace_regs_are_real),
	KUNIT_CASE(ftrace_regs_can_be_changed),
	KUNIT_CASE(ftrace_regs_can_go_elsewhere),
	KUNIT_CASE(ftrace_regs_are_for_those_who_ask),
	KUNIT_CASE(ftrace_regs_show_no_stale_stack),
	KUNIT_CASE(ftrace_regs_are_those_of_an_exception),
	KUNIT_CASE(ftrace_regs_caller_is_unwound),
	KUNIT_CASE(kprobe_at_entry_is_on_ftrace),
	KUNIT_CASE(kprobe_at_entry_goes_elsewhere),
	KUNIT_CASE(kprobe_is_at_entry_or_after),
	KUNIT_CASE(kprobe_at_entry_is_not_alone),
	{}
};

static struct kunit_suite ftrace_regs_suite = {
	.name = "ftrace_regs",
	.exit = ftrace_regs_test_exit,
	.test_cases = ftrace_regs_cases,
};

kunit_test_suite(ftrace_regs_suite);

MODULE_DESCRIPTION("KUnit tests of the registers that ftrace saves on arm64");
MODULE_LICENSE("GPL");
