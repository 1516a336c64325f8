// SPDX-License-Identifier: GPL-2.0
/*
 * ftrace_ops_kunit.c - what a callsite owes the ftrace_ops attached to it
 *
 * Several ftrace_ops on one function, seen from the callbacks: which of them
 * run, in what order, with which arguments, and what happens while others come
 * and go. The suite knows nothing about how a callsite reaches its ops.
 */

#include <linux/cpumask.h>
#include <linux/ftrace.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/sched.h>

#include <kunit/test.h>

#define MAX_OPS		10
#define MAX_HITS	64
#define ROUNDS		25

struct test_ops {
	struct ftrace_ops	ops;
	atomic_long_t		hits;
	atomic_long_t		strays;
	bool			registered;
};

/* What the callbacks saw, in the order in which they ran */
static struct hit {
	struct ftrace_ops	*ops;
	unsigned long		ip;
	unsigned long		parent_ip;
} hits[MAX_HITS];
static int nr_hits;

static struct test_ops *test_ops;

/* Where the last call of a target came from */
static unsigned long caller;

static noinline void target_one(void)
{
	WRITE_ONCE(caller, _RET_IP_);
}

/* One more barrier(), or the compiler could make one function of the two */
static noinline void target_two(void)
{
	WRITE_ONCE(caller, _RET_IP_);
	barrier();
}

static notrace void note_hit(unsigned long ip, unsigned long parent_ip,
			     struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	if (nr_hits < MAX_HITS)
		hits[nr_hits++] = (struct hit) { ops, ip, parent_ip };
}

/* Runs on any CPU, at any time: says whether it should have */
static notrace void count_hit(unsigned long ip, unsigned long parent_ip,
			      struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	struct test_ops *self = container_of(ops, struct test_ops, ops);

	atomic_long_inc(READ_ONCE(self->registered) ? &self->hits : &self->strays);
}

static notrace void call_again(unsigned long ip, unsigned long parent_ip,
			       struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	note_hit(ip, parent_ip, ops, fregs);
	if (READ_ONCE(nr_hits) < MAX_HITS)
		target_one();
}

static void attach(struct kunit *test, struct test_ops *op, void *target,
		   ftrace_func_t func, unsigned long flags)
{
	int err;

	op->ops.func = func;
	op->ops.flags = flags;
	KUNIT_ASSERT_EQ(test, 0, ftrace_set_filter_ip(&op->ops, (unsigned long)target, 0, 1));
	WRITE_ONCE(op->registered, true);
	err = register_ftrace_function(&op->ops);
	if (err) {
		WRITE_ONCE(op->registered, false);
		ftrace_free_filter(&op->ops);
	}
	KUNIT_ASSERT_EQ(test, 0, err);
}

/* Tells the callback only after unregistering returned: later it must not run */
static void detach(struct kunit *test, struct test_ops *op)
{
	KUNIT_EXPECT_EQ(test, 0, unregister_ftrace_function(&op->ops));
	WRITE_ONCE(op->registered, false);
	ftrace_free_filter(&op->ops);
}

/*
 * Call a target and count its hits. The compiler cannot know that a call of an
 * empty function changes nr_hits.
 */
static int hits_of(void (*call)(void))
{
	WRITE_ONCE(nr_hits, 0);
	call();
	return READ_ONCE(nr_hits);
}

/* Every hit must name the ops of @order, and no others run */
static void expect_order(struct kunit *test, void (*call)(void), int nr, const int *order)
{
	KUNIT_ASSERT_EQ(test, nr, hits_of(call));
	for (int i = 0; i < nr; i++) {
		KUNIT_EXPECT_PTR_EQ(test, &test_ops[order[i]].ops, hits[i].ops);
		/* The patch-site: behind a landing pad, where there is one */
		KUNIT_EXPECT_LT(test, hits[i].ip - (unsigned long)call, 16UL);
		KUNIT_EXPECT_EQ(test, hits[0].ip, hits[i].ip);
		KUNIT_EXPECT_EQ(test, READ_ONCE(caller), hits[i].parent_ip);
	}
}

static void ftrace_ops_runs_lone_ops(struct kunit *test)
{
	attach(test, &test_ops[0], target_one, note_hit, 0);
	expect_order(test, target_one, 1, (int[]) { 0 });
	expect_order(test, target_two, 0, NULL);
	detach(test, &test_ops[0]);
	expect_order(test, target_one, 0, NULL);
}

/* The newest registration runs first: that is the order of ftrace_ops_list */
static void ftrace_ops_runs_newest_first(struct kunit *test)
{
	int order[MAX_OPS];

	for (int i = 0; i < MAX_OPS; i++) {
		attach(test, &test_ops[i], target_one, note_hit, 0);
		order[MAX_OPS - 1 - i] = i;
		expect_order(test, target_one, i + 1, &order[MAX_OPS - 1 - i]);
	}
	for (int i = 0; i < MAX_OPS; i++)
		detach(test, &test_ops[i]);
	expect_order(test, target_one, 0, NULL);
}

static void ftrace_ops_keeps_order_over_removal(struct kunit *test)
{
	for (int i = 0; i < 4; i++)
		attach(test, &test_ops[i], target_one, note_hit, 0);
	detach(test, &test_ops[2]);
	expect_order(test, target_one, 3, (int[]) { 3, 1, 0 });
	detach(test, &test_ops[3]);
	expect_order(test, target_one, 2, (int[]) { 1, 0 });
	attach(test, &test_ops[2], target_one, note_hit, 0);
	expect_order(test, target_one, 3, (int[]) { 2, 1, 0 });
	detach(test, &test_ops[1]);
	expect_order(test, target_one, 2, (int[]) { 2, 0 });
	detach(test, &test_ops[0]);
	expect_order(test, target_one, 1, (int[]) { 2 });
	detach(test, &test_ops[2]);
}

static void ftrace_ops_runs_only_its_own(struct kunit *test)
{
	attach(test, &test_ops[0], target_one, note_hit, 0);
	attach(test, &test_ops[1], target_two, note_hit, 0);
	attach(test, &test_ops[2], target_one, note_hit, 0);
	attach(test, &test_ops[3], target_two, note_hit, 0);
	expect_order(test, target_one, 2, (int[]) { 2, 0 });
	expect_order(test, target_two, 2, (int[]) { 3, 1 });
	for (int i = 0; i < 4; i++)
		detach(test, &test_ops[i]);
}

static void ftrace_ops_runs_assisted_with_others(struct kunit *test)
{
	attach(test, &test_ops[0], target_one, note_hit, 0);
	attach(test, &test_ops[1], target_one, note_hit, FTRACE_OPS_FL_RECURSION);
	attach(test, &test_ops[2], target_one, note_hit, FTRACE_OPS_FL_RCU);
	attach(test, &test_ops[3], target_one, note_hit,
	       FTRACE_OPS_FL_RECURSION | FTRACE_OPS_FL_RCU);
	expect_order(test, target_one, 4, (int[]) { 3, 2, 1, 0 });
	for (int i = 3; i >= 0; i--) {
		detach(test, &test_ops[i]);
		expect_order(test, target_one, i, (int[]) { 2, 1, 0 } + 3 - i);
	}
}

/*
 * A callback that calls its own function does not come back for ever. One
 * level is let through: it could be an interrupt that arrived before the
 * context was noted.
 */
static void ftrace_ops_stops_recursion(struct kunit *test)
{
	attach(test, &test_ops[0], target_one, call_again, FTRACE_OPS_FL_RECURSION);
	KUNIT_EXPECT_EQ(test, 2, hits_of(target_one));

	attach(test, &test_ops[1], target_one, note_hit, 0);
	KUNIT_EXPECT_EQ(test, 4, hits_of(target_one));
	detach(test, &test_ops[0]);
	detach(test, &test_ops[1]);
}

static atomic_long_t calls;

static int hammer(void *arg)
{
	long done = 0;

	while (!kthread_should_stop()) {
		target_one();
		done++;
		/* Unregistering waits for every task to pass through here */
		cond_resched_tasks_rcu_qs();
	}
	atomic_long_add(done, &calls);
	return 0;
}

static void stop_hammer(void *thread)
{
	kthread_stop(thread);
}

/*
 * While the function runs on every CPU, ops come and go. The one that stays
 * must see each call; those that went must not be heard of again.
 */
static void ftrace_ops_comes_and_goes_under_load(struct kunit *test)
{
	struct task_struct *threads[8];
	int cpu, nr = 0;
	long gone = 0;

	atomic_long_set(&calls, 0);
	attach(test, &test_ops[0], target_one, count_hit, 0);
	for_each_online_cpu(cpu) {
		struct task_struct *t;

		if (nr == ARRAY_SIZE(threads))
			break;
		t = kthread_run_on_cpu(hammer, NULL, cpu, "ftrace_ops/%u");
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, t);
		KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, stop_hammer, t));
		threads[nr++] = t;
	}
	for (int round = 0; round < ROUNDS; round++) {
		struct test_ops *a = &test_ops[1 + round % 3], *b = &test_ops[4 + round % 2];

		attach(test, a, target_one, count_hit, round & 4 ? FTRACE_OPS_FL_RECURSION : 0);
		attach(test, b, target_one, count_hit, round & 8 ? FTRACE_OPS_FL_RCU : 0);
		detach(test, a);
		detach(test, b);
		cond_resched();
	}
	while (nr--)
		kunit_release_action(test, stop_hammer, threads[nr]);
	detach(test, &test_ops[0]);

	KUNIT_EXPECT_EQ(test, atomic_long_read(&calls), atomic_long_read(&test_ops[0].hits));
	for (int i = 0; i < MAX_OPS; i++)
		KUNIT_EXPECT_EQ(test, 0L, atomic_long_read(&test_ops[i].strays));
	for (int i = 1; i < MAX_OPS; i++)
		gone += atomic_long_read(&test_ops[i].hits);
	KUNIT_EXPECT_GT(test, gone, 0L);
}

static int ftrace_ops_test_init(struct kunit *test)
{
	test_ops = kunit_kcalloc(test, MAX_OPS, sizeof(*test_ops), GFP_KERNEL);
	return test_ops ? 0 : -ENOMEM;
}

/* An assertion may have left some registered; their memory is about to go */
static void ftrace_ops_test_exit(struct kunit *test)
{
	for (int i = 0; test_ops && i < MAX_OPS; i++)
		if (test_ops[i].registered)
			detach(test, &test_ops[i]);
}

static struct kunit_case ftrace_ops_cases[] = {
	KUNIT_CASE(ftrace_ops_runs_lone_ops),
	KUNIT_CASE_SLOW(ftrace_ops_runs_newest_first),
	KUNIT_CASE_SLOW(ftrace_ops_keeps_order_over_removal),
	KUNIT_CASE(ftrace_ops_runs_only_its_own),
	KUNIT_CASE(ftrace_ops_runs_assisted_with_others),
	KUNIT_CASE(ftrace_ops_stops_recursion),
	KUNIT_CASE_SLOW(ftrace_ops_comes_and_goes_under_load),
	{}
};

static struct kunit_suite ftrace_ops_suite = {
	.name = "ftrace_ops",
	.init = ftrace_ops_test_init,
	.exit = ftrace_ops_test_exit,
	.test_cases = ftrace_ops_cases,
};

kunit_test_suite(ftrace_ops_suite);

MODULE_DESCRIPTION("KUnit tests of several ftrace_ops on one function");
MODULE_LICENSE("GPL");
