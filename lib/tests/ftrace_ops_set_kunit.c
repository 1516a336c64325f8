// SPDX-License-Identifier: GPL-2.0
/*
 * ftrace_ops_set_kunit.c - how many ops sets there are, and what they take
 *
 * What a callsite does with its ops is in ftrace_ops_kunit.c.
 */

#include <linux/completion.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/ftrace_ops_set.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/sched.h>

#include <kunit/test.h>
#include <kunit/visibility.h>

#define MAX_OPS		8

static struct ftrace_ops *test_ops;
static int nr_hits;

static noinline void target_0(void)
{
	barrier_data((void *)0UL);
}

static noinline void target_1(void)
{
	barrier_data((void *)1UL);
}

static noinline void target_2(void)
{
	barrier_data((void *)2UL);
}

static noinline void target_3(void)
{
	barrier_data((void *)3UL);
}

static void (*const targets[])(void) = { target_0, target_1, target_2, target_3 };

static notrace void count_hit(unsigned long ip, unsigned long parent_ip,
			      struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	nr_hits++;
}

static int hits_of(int target)
{
	WRITE_ONCE(nr_hits, 0);
	targets[target]();
	return READ_ONCE(nr_hits);
}

static int name_target(struct ftrace_ops *ops, int target, bool remove)
{
	return ftrace_set_filter_ip(ops, (unsigned long)targets[target], remove, 0);
}

static int attach(struct ftrace_ops *ops, unsigned long mask)
{
	int err = 0;

	ops->func = count_hit;
	for (int i = 0; i < ARRAY_SIZE(targets) && !err; i++) {
		if (mask & BIT(i))
			err = name_target(ops, i, false);
	}
	return err ?: register_ftrace_function(ops);
}

static int detach(struct ftrace_ops *ops)
{
	int err = unregister_ftrace_function(ops);

	ftrace_free_filter(ops);
	return err;
}

/* Without the sets that wait to be freed: how many these are changes by itself. */
static struct ftrace_ops_set_stats stats(void)
{
	struct ftrace_ops_set_stats now;

	ftrace_ops_set_get_stats(&now);
	now.garbage_sets = 0;
	now.garbage_bytes = 0;
	return now;
}

/* Each ops has a set of its own, and all that trace the same share one more. */
static void ftrace_ops_set_is_shared(struct kunit *test)
{
	struct ftrace_ops_set_stats before = stats(), now;

	KUNIT_ASSERT_EQ(test, 0, attach(&test_ops[0], 0xf));
	KUNIT_EXPECT_EQ(test, before.sets + 1, stats().sets);
	KUNIT_ASSERT_EQ(test, 0, attach(&test_ops[1], 0xf));
	KUNIT_EXPECT_EQ(test, before.sets + 3, stats().sets);
	KUNIT_EXPECT_EQ(test, before.members + 4, stats().members);
	KUNIT_ASSERT_EQ(test, 0, attach(&test_ops[2], 0x3));
	KUNIT_EXPECT_EQ(test, before.sets + 5, stats().sets);
	for (int i = 0; i < 4; i++)
		KUNIT_EXPECT_EQ(test, i < 2 ? 3 : 2, hits_of(i));

	now = stats();
	KUNIT_EXPECT_LE(test, now.bytes - before.bytes,
			(now.sets - before.sets) * 64 +
			(now.members - before.members) * sizeof(void *));

	/* One set for the first two functions is gone, that of the others serves. */
	KUNIT_ASSERT_EQ(test, 0, detach(&test_ops[2]));
	KUNIT_EXPECT_EQ(test, before.sets + 3, stats().sets);
	KUNIT_ASSERT_EQ(test, 0, detach(&test_ops[0]));
	KUNIT_EXPECT_EQ(test, before.sets + 1, stats().sets);
	KUNIT_ASSERT_EQ(test, 0, detach(&test_ops[1]));
	KUNIT_EXPECT_EQ(test, before.sets, stats().sets);
	KUNIT_EXPECT_EQ(test, before.members, stats().members);
	KUNIT_EXPECT_EQ(test, before.bytes, stats().bytes);
}

/* Whichever way a function came to its ops, the same ops are one set. */
static void ftrace_ops_set_is_known_by_content(struct kunit *test)
{
	struct ftrace_ops_set_stats before = stats();

	KUNIT_ASSERT_EQ(test, 0, attach(&test_ops[0], 0x1));
	KUNIT_ASSERT_EQ(test, 0, attach(&test_ops[1], 0x2));
	KUNIT_EXPECT_EQ(test, before.sets + 2, stats().sets);
	KUNIT_ASSERT_EQ(test, 0, name_target(&test_ops[0], 1, false));
	KUNIT_ASSERT_EQ(test, 0, name_target(&test_ops[1], 0, false));
	KUNIT_EXPECT_EQ(test, before.sets + 3, stats().sets);

	/* The second ops leaves the first function, and all is as before. */
	KUNIT_ASSERT_EQ(test, 0, name_target(&test_ops[1], 0, true));
	KUNIT_EXPECT_EQ(test, 1, hits_of(0));
	KUNIT_EXPECT_EQ(test, 2, hits_of(1));
	KUNIT_ASSERT_EQ(test, 0, name_target(&test_ops[0], 1, true));
	KUNIT_EXPECT_EQ(test, before.sets + 2, stats().sets);

	KUNIT_ASSERT_EQ(test, 0, detach(&test_ops[0]));
	KUNIT_ASSERT_EQ(test, 0, detach(&test_ops[1]));
	KUNIT_EXPECT_EQ(test, before.sets, stats().sets);
}

/* Members with different flags share a set, and each is called as if it were alone. */
static void ftrace_ops_set_mixes_flags(struct kunit *test)
{
	struct ftrace_ops_set_stats before = stats();
	unsigned long regs = IS_ENABLED(CONFIG_DYNAMIC_FTRACE_WITH_REGS) ?
			     FTRACE_OPS_FL_SAVE_REGS : 0;
	const unsigned long flags[] = {
		0, FTRACE_OPS_FL_RECURSION, regs, FTRACE_OPS_FL_RCU,
		regs | FTRACE_OPS_FL_RECURSION, FTRACE_OPS_FL_RCU | FTRACE_OPS_FL_RECURSION,
	};

	for (int i = 0; i < ARRAY_SIZE(flags); i++) {
		test_ops[i].flags = flags[i];
		KUNIT_ASSERT_EQ(test, 0, attach(&test_ops[i], i & 1 ? 0x3 : 0x1));
		KUNIT_EXPECT_EQ(test, i + 1, hits_of(0));
		KUNIT_EXPECT_EQ(test, (i + 1) / 2, hits_of(1));
	}
	for (int i = 0; i < ARRAY_SIZE(flags); i++) {
		KUNIT_ASSERT_EQ(test, 0, detach(&test_ops[i]));
		KUNIT_EXPECT_EQ(test, (int)ARRAY_SIZE(flags) - 1 - i, hits_of(0));
	}
	KUNIT_EXPECT_EQ(test, before.sets, stats().sets);
}

/* A function moves from one ops to another: of the two a hit calls one. */
static void ftrace_ops_set_hands_over(struct kunit *test)
{
	static const unsigned long others[] = { 0, FTRACE_OPS_FL_RCU | FTRACE_OPS_FL_RECURSION };
	struct ftrace_ops_set_stats before = stats();

	for (int i = 0; i < ARRAY_SIZE(others); i++) {
		memset(test_ops, 0, 3 * sizeof(*test_ops));
		test_ops[0].flags = FTRACE_OPS_FL_HANDOVER;
		test_ops[1].flags = others[i];
		test_ops[2].flags = FTRACE_OPS_FL_HANDOVER | FTRACE_OPS_FL_RECURSION;
		KUNIT_ASSERT_EQ(test, 0, attach(&test_ops[0], 0x1));
		KUNIT_ASSERT_EQ(test, 0, attach(&test_ops[1], 0x1));
		KUNIT_ASSERT_EQ(test, 0, attach(&test_ops[2], 0x2));
		for (int j = 0; j < 4; j++) {
			/* To the one that came later, and back; and each time with another set */
			struct ftrace_ops *from = &test_ops[j & 1 ? 2 : 0];
			struct ftrace_ops *to = &test_ops[j & 1 ? 0 : 2];

			if (j == 2)
				KUNIT_ASSERT_EQ(test, 0, detach(&test_ops[1]));
			KUNIT_EXPECT_EQ(test, 0, name_target(from, 3, false));
			KUNIT_EXPECT_EQ(test, j < 2 ? 2 : 1, hits_of(0));
			KUNIT_EXPECT_EQ(test, 0, name_target(to, 0, false));
			KUNIT_EXPECT_EQ(test, j < 2 ? 2 : 1, hits_of(0));
			KUNIT_EXPECT_EQ(test, 0, name_target(from, 0, true));
			KUNIT_EXPECT_EQ(test, j < 2 ? 2 : 1, hits_of(0));
		}
		KUNIT_EXPECT_EQ(test, 0, detach(&test_ops[0]));
		KUNIT_EXPECT_EQ(test, 0, detach(&test_ops[2]));
	}
	KUNIT_EXPECT_EQ(test, before.sets, stats().sets);
}

#ifdef CONFIG_X86_64
/*
 * Functions as no compiler makes them: one is aligned, and what lies before it is
 * not padding; the other has the padding, and is not aligned.
 */
asmlinkage void without_padding(void);
asmlinkage void not_aligned(void);

#ifdef CONFIG_FTRACE_MCOUNT_USE_CC
# define RECORD_MCOUNT	".pushsection __mcount_loc, \"a\"\n .quad 1b\n .popsection\n"
#else
# define RECORD_MCOUNT
#endif

#define ASM_FUNCTION(name)					\
	".type " #name ", @function\n" #name ":\n"		\
	ASM_ENDBR "1: call __fentry__\n" RECORD_MCOUNT ASM_RET	\
	".size " #name ", . - " #name "\n"

asm(".pushsection .text, \"ax\"\n"
	".balign 64, 0xcc\n .fill 64, 1, 0xcc\n"
	ASM_FUNCTION(without_padding)
	".balign 64, 0xcc\n .fill 40, 1, 0x90\n"
	ASM_FUNCTION(not_aligned)
	".popsection\n");

/* The functions have no kCFI hash. */
static __nocfi void expect_no_literal(struct kunit *test, void (*f)(void))
{
	const unsigned long flags[] = { 0, FTRACE_OPS_FL_SAVE_REGS, FTRACE_OPS_FL_RCU };
	unsigned long ip = (unsigned long)f;
	u8 before[32];

	memcpy(before, (void *)f - sizeof(before), sizeof(before));
	WRITE_ONCE(nr_hits, 0);
	for (int i = 0; i < ARRAY_SIZE(flags); i++) {
		test_ops[i].func = count_hit;
		test_ops[i].flags = flags[i];
		KUNIT_ASSERT_EQ(test, 0, ftrace_set_filter_ip(&test_ops[i], ip, 0, 0));
		KUNIT_ASSERT_EQ(test, 0, register_ftrace_function(&test_ops[i]));
		f();
	}
	KUNIT_EXPECT_EQ(test, 1 + 2 + 3, READ_ONCE(nr_hits));
	for (int i = 0; i < ARRAY_SIZE(flags); i++) {
		KUNIT_ASSERT_EQ(test, 0, detach(&test_ops[i]));
		f();
	}
	KUNIT_EXPECT_EQ(test, 1 + 2 + 3 + 2 + 1, READ_ONCE(nr_hits));
	KUNIT_EXPECT_MEMEQ(test, before, (u8 *)f - sizeof(before), sizeof(before));
}

/* A function without room for a literal is traced, and what is before it stays. */
static void ftrace_ops_set_leaves_other_text_alone(struct kunit *test)
{
	expect_no_literal(test, without_padding);
	expect_no_literal(test, not_aligned);
}
#endif /* CONFIG_X86_64 */

#ifdef CONFIG_FAILSLAB
/* Run @try with its n-th allocation failing; was there one? */
static bool fail_nth(int n, int (*try)(void), int *err)
{
	bool failed;

	WRITE_ONCE(current->fail_nth, n);
	*err = try();
	failed = !READ_ONCE(current->fail_nth);
	WRITE_ONCE(current->fail_nth, 0);
	return failed;
}

static int try_register(void)
{
	return register_ftrace_function(&test_ops[1]);
}

static int try_name(void)
{
	return name_target(&test_ops[1], 2, false);
}

static int try_unname(void)
{
	return name_target(&test_ops[1], 1, true);
}

/*
 * Whichever allocation fails: either it does not matter, or there is an error
 * and nothing has changed.
 */
static void expect_all_or_nothing(struct kunit *test, int (*try)(void), int (*undo)(void),
				  const int *without, const int *with)
{
	int failures = 0, err;

	for (int n = 1; n < 200; n++) {
		struct ftrace_ops_set_stats before = stats(), now;
		unsigned long flags = test_ops[1].flags;
		bool failed = fail_nth(n, try, &err);

		for (int i = 0; i < ARRAY_SIZE(targets); i++)
			KUNIT_EXPECT_EQ(test, err ? without[i] : with[i], hits_of(i));
		if (!err) {
			KUNIT_ASSERT_EQ(test, 0, undo());
		} else {
			KUNIT_EXPECT_EQ(test, -ENOMEM, err);
			KUNIT_EXPECT_EQ(test, flags | FTRACE_OPS_FL_DYNAMIC,
					test_ops[1].flags | FTRACE_OPS_FL_DYNAMIC);
			failures++;
		}
		now = stats();
		/* To take a function away need not fail, see below. */
		now.fallbacks = before.fallbacks;
		KUNIT_EXPECT_MEMEQ(test, &before, &now, sizeof(now));
		if (!failed)
			break;
	}
	/* The kernel lets allocations fail only where it is told to. */
	if (!failures)
		kunit_skip(test, "no allocation failed");
}

static int undo_register(void)
{
	return unregister_ftrace_function(&test_ops[1]);
}

static int undo_name(void)
{
	return name_target(&test_ops[1], 2, true);
}

static int undo_unname(void)
{
	return name_target(&test_ops[1], 1, false);
}

static void ftrace_ops_set_survives_failing_register(struct kunit *test)
{
	struct ftrace_ops_set_stats before = stats();

	/* It takes several sets, so that one can fail when others are there already. */
	KUNIT_ASSERT_EQ(test, 0, attach(&test_ops[0], 0x1));
	KUNIT_ASSERT_EQ(test, 0, attach(&test_ops[2], 0x2));
	test_ops[1].func = count_hit;
	for (int i = 0; i < 3; i++)
		KUNIT_ASSERT_EQ(test, 0, name_target(&test_ops[1], i, false));
	expect_all_or_nothing(test, try_register, undo_register,
			      (int[]) { 1, 1, 0, 0 }, (int[]) { 2, 2, 1, 0 });
	ftrace_free_filter(&test_ops[1]);
	KUNIT_ASSERT_EQ(test, 0, detach(&test_ops[0]));
	KUNIT_ASSERT_EQ(test, 0, detach(&test_ops[2]));
	KUNIT_EXPECT_EQ(test, before.sets, stats().sets);
}

static void ftrace_ops_set_survives_failing_filter(struct kunit *test)
{
	struct ftrace_ops_set_stats before = stats();

	KUNIT_ASSERT_EQ(test, 0, attach(&test_ops[0], 0x7));
	KUNIT_ASSERT_EQ(test, 0, attach(&test_ops[1], 0x3));
	KUNIT_ASSERT_EQ(test, 0, attach(&test_ops[2], 0x6));
	expect_all_or_nothing(test, try_name, undo_name,
			      (int[]) { 2, 3, 2, 0 }, (int[]) { 2, 3, 3, 0 });
	expect_all_or_nothing(test, try_unname, undo_unname,
			      (int[]) { 2, 3, 2, 0 }, (int[]) { 2, 2, 2, 0 });
	for (int i = 0; i < 3; i++)
		KUNIT_ASSERT_EQ(test, 0, detach(&test_ops[i]));
	KUNIT_EXPECT_EQ(test, before.sets, stats().sets);
}

static struct ftrace_ops *leaving;

static int try_unregister(void)
{
	return unregister_ftrace_function(leaving);
}

/*
 * An ops can leave even if there is no memory for a smaller set. The traced function
 * then walks the list, which calls the right ops, until its ops change again.
 */
static void ftrace_ops_set_survives_failing_unregister(struct kunit *test)
{
	struct ftrace_ops_set_stats before = stats();
	bool fell_back = false, failed = true;
	int err;

	for (int n = 1; failed && n < 200; n++) {
		for (int i = 0; i < 4; i++)
			KUNIT_ASSERT_EQ(test, 0, attach(&test_ops[i], 0x1));
		leaving = &test_ops[1];
		failed = fail_nth(n, try_unregister, &err);
		KUNIT_ASSERT_EQ(test, 0, err);
		ftrace_free_filter(leaving);
		KUNIT_EXPECT_EQ(test, 3, hits_of(0));
		if (stats().list_walks) {
			fell_back = true;
			KUNIT_ASSERT_EQ(test, 0, attach(&test_ops[1], 0x1));
			KUNIT_EXPECT_EQ(test, 0UL, stats().list_walks);
			KUNIT_EXPECT_EQ(test, 4, hits_of(0));
			KUNIT_ASSERT_EQ(test, 0, detach(&test_ops[1]));
		}
		KUNIT_EXPECT_EQ(test, 3, hits_of(0));
		for (int i = 0; i < 4; i++) {
			if (i != 1)
				KUNIT_ASSERT_EQ(test, 0, detach(&test_ops[i]));
		}
		KUNIT_EXPECT_EQ(test, before.sets, stats().sets);
		KUNIT_EXPECT_EQ(test, 0, hits_of(0));
	}
	if (!fell_back)
		kunit_skip(test, "no allocation failed");
}

static DECLARE_COMPLETION(walk_done);
static atomic_t walk_state;
enum { WALK_WANTED, WALK_WAITS, WALK_GOES_ON };

/* Keep the walk that is wanted on this ops. */
static notrace void hold_walk(unsigned long ip, unsigned long parent_ip,
			      struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	unsigned long end = jiffies + 10 * HZ;

	if (atomic_cmpxchg(&walk_state, WALK_WANTED, WALK_WAITS) != WALK_WANTED)
		return;
	while (atomic_read(&walk_state) == WALK_WAITS && time_before(jiffies, end))
		cpu_relax();
}

static int call_target(void *data)
{
	targets[0]();
	kthread_complete_and_exit(&walk_done, 0);
}

/*
 * With FTRACE_OPS_FL_DEFER_FREE, an ops can be unregistered and be back, at the end of
 * the list, while a walk is still on it. All others are called nevertheless, once.
 */
static void ftrace_ops_set_walks_past_ops_that_came_back(struct kunit *test)
{
	struct ftrace_ops *moving = &test_ops[0];
	struct task_struct *thread;
	bool failed = true;
	int err;

	if (num_online_cpus() < 2)
		kunit_skip(test, "needs two CPUs");

	atomic_set(&walk_state, WALK_GOES_ON);
	moving->func = hold_walk;
	moving->flags = FTRACE_OPS_FL_DEFER_FREE;
	KUNIT_ASSERT_EQ(test, 0, name_target(moving, 0, false));
	KUNIT_ASSERT_EQ(test, 0, register_ftrace_function(moving));
	KUNIT_ASSERT_EQ(test, 0, attach(&test_ops[1], 0x1));
	KUNIT_ASSERT_EQ(test, 0, attach(&test_ops[2], 0x1));
	leaving = &test_ops[3];
	for (int n = 1; failed && n < 200 && !stats().list_walks; n++) {
		KUNIT_ASSERT_EQ(test, 0, attach(leaving, 0x1));
		failed = fail_nth(n, try_unregister, &err);
		KUNIT_ASSERT_EQ(test, 0, err);
		ftrace_free_filter(leaving);
	}

	if (stats().list_walks) {
		migrate_disable();
		thread = kthread_create(call_target, NULL, "ftrace_walk");
		if (!IS_ERR(thread)) {
			kthread_bind(thread, cpumask_any_but(cpu_online_mask, smp_processor_id()));
			WRITE_ONCE(nr_hits, 0);
			atomic_set(&walk_state, WALK_WANTED);
			wake_up_process(thread);
			while (atomic_read(&walk_state) == WALK_WANTED)
				msleep(20);
			KUNIT_EXPECT_EQ(test, 0, unregister_ftrace_function(moving));
			KUNIT_EXPECT_EQ(test, 0, register_ftrace_function(moving));
			KUNIT_EXPECT_EQ(test, 0, READ_ONCE(nr_hits));
			atomic_set(&walk_state, WALK_GOES_ON);
			wait_for_completion(&walk_done);
			KUNIT_EXPECT_EQ(test, 2, READ_ONCE(nr_hits));
		}
		migrate_enable();
		KUNIT_EXPECT_NOT_ERR_OR_NULL(test, thread);
		KUNIT_EXPECT_EQ(test, 2, hits_of(0));
	}

	/* Now wait, as the memory goes. */
	moving->flags &= ~FTRACE_OPS_FL_DEFER_FREE;
	for (int i = 0; i < 3; i++)
		KUNIT_EXPECT_EQ(test, 0, detach(&test_ops[i]));
	if (failed)
		return;
	kunit_skip(test, "no allocation failed");
}

#if defined(CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS) && \
	(defined(CONFIG_X86_64) || defined(CONFIG_ARM64))
/* Called by the function itself; they count and let it run. */
asmlinkage void direct_first(void);
asmlinkage void direct_second(void);
static int __used direct_first_calls, direct_second_calls;

#ifdef CONFIG_X86_64
# define ASM_DIRECT(name)					\
	".balign 16\n .type " #name ", @function\n" #name ":\n"		\
	ASM_ENDBR "incl " #name "_calls(%rip)\n" ASM_RET	\
	".size " #name ", . - " #name "\n"
#else
/* The function's return address is in x9, and that into the function in x30. */
# define ASM_DIRECT(name)					\
	".balign 16\n .type " #name ", @function\n" #name ":\n hint 34\n"	\
	"adrp x10, " #name "_calls\n"				\
	"ldr w11, [x10, #:lo12:" #name "_calls]\n"		\
	"add w11, w11, #1\n"					\
	"str w11, [x10, #:lo12:" #name "_calls]\n"		\
	"mov x10, x30\n mov x30, x9\n ret x10\n"		\
	".size " #name ", . - " #name "\n"
#endif

asm(".pushsection .text, \"ax\"\n"
	ASM_DIRECT(direct_first)
	ASM_DIRECT(direct_second)
	".popsection\n");

static int try_modify_direct(void)
{
	return modify_ftrace_direct(&test_ops[0], (unsigned long)direct_second);
}

/* A direct call can always be changed: to detach a BPF program relies on that. */
static void ftrace_ops_set_changes_direct_call_without_memory(struct kunit *test)
{
	struct ftrace_ops_set_stats before = stats();
	unsigned long first = (unsigned long)direct_first;
	bool failed = true;
	int err, n;

	KUNIT_ASSERT_EQ(test, 0, name_target(&test_ops[0], 0, false));
	KUNIT_ASSERT_EQ(test, 0, register_ftrace_direct(&test_ops[0], first));
	for (n = 1; failed && n < 200; n++) {
		direct_first_calls = 0;
		direct_second_calls = 0;
		targets[0]();
		failed = fail_nth(n, try_modify_direct, &err);
		KUNIT_EXPECT_EQ(test, 0, err);
		targets[0]();
		KUNIT_EXPECT_EQ(test, 1, READ_ONCE(direct_first_calls));
		KUNIT_EXPECT_EQ(test, 1, READ_ONCE(direct_second_calls));
		KUNIT_EXPECT_EQ(test, before.list_walks, stats().list_walks);
		KUNIT_ASSERT_EQ(test, 0, modify_ftrace_direct(&test_ops[0], first));
	}
	KUNIT_EXPECT_EQ(test, 0, unregister_ftrace_direct(&test_ops[0], first, true));
	KUNIT_EXPECT_EQ(test, before.sets, stats().sets);
	if (n == 2)
		kunit_skip(test, "no allocation failed");
}

#define HAVE_DIRECT_TEST	1
#endif
#endif /* CONFIG_FAILSLAB */

static int ftrace_ops_set_test_init(struct kunit *test)
{
	test_ops = kunit_kcalloc(test, MAX_OPS, sizeof(*test_ops), GFP_KERNEL);
	return test_ops ? 0 : -ENOMEM;
}

/* An assertion may have left some registered; their memory is about to go */
static void ftrace_ops_set_test_exit(struct kunit *test)
{
	for (int i = 0; test_ops && i < MAX_OPS; i++) {
		if (test_ops[i].flags & FTRACE_OPS_FL_ENABLED)
			detach(&test_ops[i]);
		else
			ftrace_free_filter(&test_ops[i]);
	}
}

static struct kunit_case ftrace_ops_set_cases[] = {
	KUNIT_CASE(ftrace_ops_set_is_shared),
	KUNIT_CASE(ftrace_ops_set_is_known_by_content),
	KUNIT_CASE_SLOW(ftrace_ops_set_mixes_flags),
	KUNIT_CASE(ftrace_ops_set_hands_over),
#ifdef CONFIG_X86_64
	KUNIT_CASE_SLOW(ftrace_ops_set_leaves_other_text_alone),
#endif
#ifdef CONFIG_FAILSLAB
	KUNIT_CASE_SLOW(ftrace_ops_set_survives_failing_register),
	KUNIT_CASE_SLOW(ftrace_ops_set_survives_failing_filter),
	KUNIT_CASE_SLOW(ftrace_ops_set_survives_failing_unregister),
	KUNIT_CASE_SLOW(ftrace_ops_set_walks_past_ops_that_came_back),
#ifdef HAVE_DIRECT_TEST
	KUNIT_CASE_SLOW(ftrace_ops_set_changes_direct_call_without_memory),
#endif
#endif
	{}
};

static struct kunit_suite ftrace_ops_set_suite = {
	.name = "ftrace_ops_set",
	.init = ftrace_ops_set_test_init,
	.exit = ftrace_ops_set_test_exit,
	.test_cases = ftrace_ops_set_cases,
};

kunit_test_suite(ftrace_ops_set_suite);

MODULE_DESCRIPTION("KUnit tests of ftrace ops sets");
MODULE_LICENSE("GPL");
MODULE_IMPORT_NS("EXPORTED_FOR_KUNIT_TESTING");
