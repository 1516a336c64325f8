// SPDX-License-Identifier: GPL-2.0
/*
 * ftrace_ops_kunit.c - what a callsite owes the ftrace_ops attached to it
 *
 * Several ftrace_ops on one function, seen from the callbacks: which of them
 * run, in what order, with which arguments, and what happens while others come
 * and go. The suite knows nothing about how a callsite reaches its ops.
 */

#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/ftrace.h>
#include <linux/kprobes.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/prandom.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include <kunit/test.h>

/* More than a set calls without a loop */
#define MAX_OPS		12
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

/*
 * Every hit must name the ops of @order, which is the order of registration,
 * and no others run. Sets call in that order; the list of all ops, where there
 * are none, begins with the newest.
 */
static void expect_order(struct kunit *test, void (*call)(void), int nr, const int *order)
{
	KUNIT_ASSERT_EQ(test, nr, hits_of(call));
	for (int i = 0; i < nr; i++) {
		int nth = IS_ENABLED(CONFIG_FTRACE_OPS_SETS) ? i : nr - 1 - i;

		KUNIT_EXPECT_PTR_EQ(test, &test_ops[order[nth]].ops, hits[i].ops);
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

/* Also if it is aligned to a word only */
static void ftrace_ops_runs_packed_ops(struct kunit *test)
{
	struct test_ops *packed = kunit_kzalloc(test, sizeof(*packed) + 16, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, packed);
	packed = (void *)PTR_ALIGN(packed, 16) + 8;
	for (int i = 0; i < 2; i++) {
		attach(test, packed, target_one, note_hit,
		       i ? FTRACE_OPS_FL_SAVE_REGS | FTRACE_OPS_FL_SAVE_REGS_IF_SUPPORTED : 0);
		KUNIT_EXPECT_EQ(test, 1, hits_of(target_one));
		KUNIT_EXPECT_PTR_EQ(test, &packed->ops, hits[0].ops);
		detach(test, packed);
	}
}

static void ftrace_ops_runs_in_order(struct kunit *test)
{
	int order[MAX_OPS];

	for (int i = 0; i < MAX_OPS; i++) {
		attach(test, &test_ops[i], target_one, note_hit, 0);
		order[i] = i;
		expect_order(test, target_one, i + 1, order);
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
	expect_order(test, target_one, 3, (int[]) { 0, 1, 3 });
	detach(test, &test_ops[3]);
	expect_order(test, target_one, 2, (int[]) { 0, 1 });
	attach(test, &test_ops[2], target_one, note_hit, 0);
	expect_order(test, target_one, 3, (int[]) { 0, 1, 2 });
	detach(test, &test_ops[1]);
	expect_order(test, target_one, 2, (int[]) { 0, 2 });
	detach(test, &test_ops[0]);
	expect_order(test, target_one, 1, (int[]) { 2 });
	detach(test, &test_ops[2]);
}

/* An ops that comes to a function late runs where its registration puts it */
static void ftrace_ops_keeps_order_over_filters(struct kunit *test)
{
	struct ftrace_ops *first = &test_ops[0].ops;

	attach(test, &test_ops[0], target_two, note_hit, 0);
	attach(test, &test_ops[1], target_one, note_hit, 0);
	KUNIT_EXPECT_EQ(test, 0, ftrace_set_filter_ip(first, (unsigned long)target_one, 0, 0));
	expect_order(test, target_one, 2, (int[]) { 0, 1 });
	expect_order(test, target_two, 1, (int[]) { 0 });
	KUNIT_EXPECT_EQ(test, 0, ftrace_set_filter_ip(first, (unsigned long)target_two, 1, 0));
	expect_order(test, target_one, 2, (int[]) { 0, 1 });
	expect_order(test, target_two, 0, NULL);
	KUNIT_EXPECT_EQ(test, 0, ftrace_set_filter_ip(first, (unsigned long)target_two, 0, 1));
	expect_order(test, target_one, 1, (int[]) { 1 });
	expect_order(test, target_two, 1, (int[]) { 0 });
	detach(test, &test_ops[0]);
	expect_order(test, target_one, 1, (int[]) { 1 });
	expect_order(test, target_two, 0, NULL);
	detach(test, &test_ops[1]);
}

static void ftrace_ops_runs_only_its_own(struct kunit *test)
{
	attach(test, &test_ops[0], target_one, note_hit, 0);
	attach(test, &test_ops[1], target_two, note_hit, 0);
	attach(test, &test_ops[2], target_one, note_hit, 0);
	attach(test, &test_ops[3], target_two, note_hit, 0);
	expect_order(test, target_one, 2, (int[]) { 0, 2 });
	expect_order(test, target_two, 2, (int[]) { 1, 3 });
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
	expect_order(test, target_one, 4, (int[]) { 0, 1, 2, 3 });
	for (int i = 3; i >= 0; i--) {
		detach(test, &test_ops[i]);
		expect_order(test, target_one, i, (int[]) { 0, 1, 2 });
	}
}

/*
 * A callback that calls its own function does not come back for ever. One
 * level is let through: it could be an interrupt that arrived before the
 * context was noted. An ops in a set that needs no lock sees all three calls.
 */
static void ftrace_ops_stops_recursion(struct kunit *test)
{
	attach(test, &test_ops[0], target_one, call_again, FTRACE_OPS_FL_RECURSION);
	KUNIT_EXPECT_EQ(test, 2, hits_of(target_one));

	attach(test, &test_ops[1], target_one, note_hit, 0);
	KUNIT_EXPECT_EQ(test, IS_ENABLED(CONFIG_FTRACE_OPS_SETS) ? 5 : 4, hits_of(target_one));
	detach(test, &test_ops[0]);
	detach(test, &test_ops[1]);
}

#ifdef CONFIG_X86_64
#define STALE		0xdeadbeef0badcafeUL

static unsigned long seen_ax;

static notrace void note_ax(unsigned long ip, unsigned long parent_ip,
			    struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	WRITE_ONCE(seen_ax, ftrace_regs_get_return_value(fregs));
}

/* Leave something below the stack pointer, and not in %rax, which ftrace may save. */
static noinline notrace void make_stack_stale(void)
{
	unsigned long stale[128];

	for (int i = 0; i < ARRAY_SIZE(stale); i++)
		WRITE_ONCE(stale[i], STALE);
	asm volatile("" : : "a" (0UL));
}

/* A register that is not saved is 0, and not what was on the stack. */
static void ftrace_ops_shows_no_stale_stack(struct kunit *test)
{
	for (int i = 0; i < 2; i++) {
		attach(test, &test_ops[i], target_one, note_ax, 0);
		WRITE_ONCE(seen_ax, STALE);
		make_stack_stale();
		target_one();
		KUNIT_EXPECT_NE(test, STALE, READ_ONCE(seen_ax));
	}
	for (int i = 0; i < 2; i++)
		detach(test, &test_ops[i]);
}
#endif /* CONFIG_X86_64 */

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

/* So many on each CPU, but no more than @max */
static int start_hammers(struct kunit *test, struct task_struct **threads, int max, int per_cpu)
{
	int nr, wanted = min(max, per_cpu * (int)num_online_cpus()), cpu = -1;

	for (nr = 0; nr < wanted; nr++) {
		struct task_struct *t;

		cpu = cpumask_next_wrap(cpu, cpu_online_mask);
		t = kthread_run_on_cpu(hammer, NULL, cpu, "ftrace_ops/%u");
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, t);
		KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, stop_hammer, t));
		threads[nr] = t;
	}
	return nr;
}

/*
 * While the function runs on every CPU, ops come and go. The one that stays
 * must see each call; those that went must not be heard of again.
 */
static void ftrace_ops_comes_and_goes_under_load(struct kunit *test)
{
	struct task_struct *threads[8];
	long gone = 0;
	int nr;

	atomic_long_set(&calls, 0);
	attach(test, &test_ops[0], target_one, count_hit, 0);
	nr = start_hammers(test, threads, ARRAY_SIZE(threads), 1);
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

static unsigned int pair_seconds = 10;
module_param(pair_seconds, uint, 0444);
MODULE_PARM_DESC(pair_seconds, "How long ftrace_ops_is_never_anothers runs");

#define SAVE_REGS	(IS_ENABLED(CONFIG_DYNAMIC_FTRACE_WITH_REGS) ? FTRACE_OPS_FL_SAVE_REGS : 0)

static struct ftrace_ops pair[2];
static atomic_long_t pair_hits, mispaired, pair_failures;

static notrace bool lacks_regs(struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	return ops->flags & FTRACE_OPS_FL_SAVE_REGS && !ftrace_get_regs(fregs);
}

/* @ops may be anything: it is compared, and not looked into. */
static notrace void pair_0(unsigned long ip, unsigned long parent_ip,
			   struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	atomic_long_inc(ops == &pair[0] ? &pair_hits : &mispaired);
}

static notrace void pair_1(unsigned long ip, unsigned long parent_ip,
			   struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	atomic_long_inc(ops == &pair[1] && !lacks_regs(ops, fregs) ? &pair_hits : &mispaired);
}

static struct ftrace_ops pair[2] = {
	{ .func = pair_0 },
	{ .func = pair_1, .flags = SAVE_REGS },
};

/*
 * Unregister and register again one of the two ops, then the other, over and over.
 * Meanwhile most tasks that call the function are preempted in that call, perhaps
 * between the instruction that loads the ops and the one that calls its function.
 */
static int replace(void *arg)
{
	long done = 0;

	sched_set_fifo(current);
	while (!kthread_should_stop()) {
		struct ftrace_ops *ops = &pair[done++ % ARRAY_SIZE(pair)];

		usleep_range(50, 2000);
		if (unregister_ftrace_function(ops))
			atomic_long_inc(&pair_failures);
		usleep_range(50, 2000);
		if (register_ftrace_function(ops))
			atomic_long_inc(&pair_failures);
	}
	atomic_long_add(done, &calls);
	return 0;
}

static void drop_pair(void *unused)
{
	for (int i = 0; i < ARRAY_SIZE(pair); i++) {
		if (pair[i].flags & FTRACE_OPS_FL_ENABLED)
			unregister_ftrace_function(&pair[i]);
		ftrace_free_filter(&pair[i]);
	}
}

/*
 * A callback gets its own ops, and all registers if it asked for them, also if the
 * ops of the function are replaced while a task is preempted on its way to the
 * callback. Without sets, on x86-64, what loads the ops and what calls the function
 * are changed one after the other: with full preemption, one can get another's.
 */
static void ftrace_ops_is_never_anothers(struct kunit *test)
{
	struct task_struct *threads[32], *t;
	int nr;

	atomic_long_set(&calls, 0);
	atomic_long_set(&pair_hits, 0);
	atomic_long_set(&mispaired, 0);
	atomic_long_set(&pair_failures, 0);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, drop_pair, NULL));
	/*
	 * One of them is there before anybody is in a loop: QEMU (7.2, arm64, several
	 * threads) may go on with its translation of a function that all are calling.
	 */
	for (int i = 0; i < ARRAY_SIZE(pair); i++) {
		KUNIT_ASSERT_EQ(test, 0, ftrace_set_filter_ip(&pair[i], (unsigned long)target_one,
							      0, 0));
		KUNIT_ASSERT_EQ(test, 0, register_ftrace_function(&pair[i]));
	}
	nr = start_hammers(test, threads, ARRAY_SIZE(threads), 16);
	t = kthread_run(replace, NULL, "ftrace_ops/replace");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, t);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, stop_hammer, t));
	schedule_timeout_uninterruptible(pair_seconds * HZ);
	kunit_release_action(test, stop_hammer, t);
	kunit_info(test, "replaced %ld times, %ld hits, %ld with another's ops",
		   atomic_long_read(&calls), atomic_long_read(&pair_hits),
		   atomic_long_read(&mispaired));
	KUNIT_EXPECT_GT(test, atomic_long_read(&calls), 0L);
	while (nr--)
		kunit_release_action(test, stop_hammer, threads[nr]);

	KUNIT_EXPECT_EQ(test, 0L, atomic_long_read(&pair_failures));
	KUNIT_EXPECT_GT(test, atomic_long_read(&pair_hits), 0L);
	if (IS_ENABLED(CONFIG_FTRACE_OPS_SETS))
		KUNIT_EXPECT_EQ(test, 0L, atomic_long_read(&mispaired));
}

static unsigned int stress_seconds = 60;
module_param(stress_seconds, uint, 0444);
MODULE_PARM_DESC(stress_seconds, "How long ftrace_ops_survives_stress runs");

/* With barriers that differ, or the compiler could make one function of them */
static noinline void stress_0(void)
{
	barrier_data((void *)0UL);
}

static noinline void stress_1(void)
{
	barrier_data((void *)1UL);
}

static noinline void stress_2(void)
{
	barrier_data((void *)2UL);
}

static noinline void stress_3(void)
{
	barrier_data((void *)3UL);
}

static void (*const stress_targets[])(void) = { stress_0, stress_1, stress_2, stress_3 };

/* Allocated for each registration: a callback that is late finds no such thing */
struct stress_ops {
	struct ftrace_ops	ops;
	struct stress_ops	*self;
	bool			registered;
};

static atomic_long_t stress_hits, stress_strays, stress_failures;

static notrace void stress_hit(unsigned long ip, unsigned long parent_ip,
			       struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	struct stress_ops *self = container_of(ops, struct stress_ops, ops);

	if (READ_ONCE(self->self) != self || !READ_ONCE(self->registered) ||
	    lacks_regs(ops, fregs))
		atomic_long_inc(&stress_strays);
	else
		atomic_long_inc(&stress_hits);
}

static int stress_filter(struct stress_ops *op, struct rnd_state *rnd)
{
	int n = prandom_u32_state(rnd) % ARRAY_SIZE(stress_targets), err;

	/* The first one stays: an empty filter is that of all functions. */
	err = ftrace_set_filter_ip(&op->ops, (unsigned long)stress_targets[n],
				   n && prandom_u32_state(rnd) & 1, 0);
	return err == -ENOENT ? 0 : err;
}

static struct stress_ops *stress_attach(struct rnd_state *rnd)
{
	static const unsigned long flags[] = {
		0, FTRACE_OPS_FL_RECURSION, FTRACE_OPS_FL_RCU,
		FTRACE_OPS_FL_RECURSION | FTRACE_OPS_FL_RCU,
		SAVE_REGS,
	};
	struct stress_ops *op = kzalloc(sizeof(*op), GFP_KERNEL);

	if (!op)
		return NULL;
	op->self = op;
	op->ops.func = stress_hit;
	op->ops.flags = flags[prandom_u32_state(rnd) % ARRAY_SIZE(flags)];
	op->registered = true;
	if (ftrace_set_filter_ip(&op->ops, (unsigned long)stress_0, 0, 1) ||
	    stress_filter(op, rnd) || register_ftrace_function(&op->ops)) {
		atomic_long_inc(&stress_failures);
		ftrace_free_filter(&op->ops);
		kfree(op);
		return NULL;
	}
	return op;
}

static void stress_detach(struct stress_ops *op)
{
	if (unregister_ftrace_function(&op->ops))
		atomic_long_inc(&stress_failures);
	WRITE_ONCE(op->registered, false);
	WRITE_ONCE(op->self, NULL);
	ftrace_free_filter(&op->ops);
	kfree(op);
}

#ifdef CONFIG_KPROBES
static atomic_long_t stress_probed;

struct stress_probe {
	struct kprobe	kp;
	bool		registered;
};

static int stress_probe_hit(struct kprobe *kp, struct pt_regs *regs)
{
	struct stress_probe *probe = container_of(kp, struct stress_probe, kp);

	atomic_long_inc(READ_ONCE(probe->registered) ? &stress_probed : &stress_strays);
	return 0;
}

/* A kprobe comes to the entry of a function, where it may be on ftrace, and goes. */
static void stress_probe(struct rnd_state *rnd)
{
	int n = prandom_u32_state(rnd) % ARRAY_SIZE(stress_targets);
	struct stress_probe *probe = kzalloc(sizeof(*probe), GFP_KERNEL);

	if (!probe)
		return;
	probe->kp.addr = (void *)stress_targets[n];
	probe->kp.pre_handler = stress_probe_hit;
	probe->registered = true;
	if (register_kprobe(&probe->kp)) {
		atomic_long_inc(&stress_failures);
	} else {
		stress_targets[n]();
		atomic_long_inc(&calls);
		unregister_kprobe(&probe->kp);
	}
	WRITE_ONCE(probe->registered, false);
	kfree(probe);
}
#else
static void stress_probe(struct rnd_state *rnd)
{
}
#endif

/* Ops come, change and go */
static int stress_change(void *arg)
{
	struct stress_ops *ops[4] = {};
	struct rnd_state rnd;

	prandom_seed_state(&rnd, (unsigned long)arg);
	while (!kthread_should_stop()) {
		struct stress_ops **op = &ops[prandom_u32_state(&rnd) % ARRAY_SIZE(ops)];

		if (!(prandom_u32_state(&rnd) % 16)) {
			stress_probe(&rnd);
		} else if (!*op) {
			*op = stress_attach(&rnd);
		} else if (prandom_u32_state(&rnd) % 4) {
			if (stress_filter(*op, &rnd))
				atomic_long_inc(&stress_failures);
		} else {
			stress_detach(*op);
			*op = NULL;
		}
		cond_resched_tasks_rcu_qs();
	}
	for (int i = 0; i < ARRAY_SIZE(ops); i++) {
		if (ops[i])
			stress_detach(ops[i]);
	}
	return 0;
}

static int stress_call(void *arg)
{
	long done = 0;

	while (!kthread_should_stop()) {
		for (int i = 0; i < ARRAY_SIZE(stress_targets); i++)
			stress_targets[i]();
		done += ARRAY_SIZE(stress_targets);
		cond_resched_tasks_rcu_qs();
	}
	atomic_long_add(done, &calls);
	return 0;
}

/*
 * As above for a while and at random: functions run on every CPU while ops are
 * registered, change what they trace, and are unregistered. No callback may be
 * called with an ops that is gone, and those that stay must see every call.
 */
static void ftrace_ops_survives_stress(struct kunit *test)
{
	struct task_struct *threads[8];
	int cpu, nr = 0, err = 0;

	atomic_long_set(&calls, 0);
	atomic_long_set(&stress_strays, 0);
	atomic_long_set(&stress_hits, 0);
	atomic_long_set(&stress_failures, 0);
#ifdef CONFIG_KPROBES
	atomic_long_set(&stress_probed, 0);
#endif
	for (int i = 0; i < 2; i++) {
		struct ftrace_ops *ops = &test_ops[i].ops;

		for (int n = 0; n < ARRAY_SIZE(stress_targets); n++)
			err |= ftrace_set_filter_ip(ops, (unsigned long)stress_targets[n], 0, 0);
		KUNIT_ASSERT_EQ(test, 0, err);
		ops->func = count_hit;
		ops->flags |= i ? FTRACE_OPS_FL_RECURSION : 0;
		test_ops[i].registered = true;
		KUNIT_ASSERT_EQ(test, 0, register_ftrace_function(ops));
	}
	for_each_online_cpu(cpu) {
		for (int i = 0; i < 2 && nr < ARRAY_SIZE(threads); i++) {
			struct task_struct *t;

			t = kthread_run_on_cpu(i ? stress_change : stress_call,
					       (void *)(unsigned long)nr, cpu, "stress/%u");
			KUNIT_ASSERT_NOT_ERR_OR_NULL(test, t);
			KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, stop_hammer, t));
			threads[nr++] = t;
		}
	}
	for (int i = 0; i < stress_seconds; i++)
		schedule_timeout_uninterruptible(HZ);
	while (nr--)
		kunit_release_action(test, stop_hammer, threads[nr]);
	for (int i = 0; i < 2; i++)
		detach(test, &test_ops[i]);

	kunit_info(test, "%ld calls, %ld hits of ops that came and went",
		   atomic_long_read(&calls), atomic_long_read(&stress_hits));
	KUNIT_EXPECT_GT(test, atomic_long_read(&stress_hits), 0L);
#ifdef CONFIG_KPROBES
	KUNIT_EXPECT_GT(test, atomic_long_read(&stress_probed), 0L);
#endif
	KUNIT_EXPECT_EQ(test, 0L, atomic_long_read(&stress_strays));
	KUNIT_EXPECT_EQ(test, 0L, atomic_long_read(&stress_failures));
	for (int i = 0; i < 2; i++) {
		long hits = atomic_long_read(&test_ops[i].hits);

		KUNIT_EXPECT_EQ(test, atomic_long_read(&calls), hits);
		KUNIT_EXPECT_EQ(test, 0L, atomic_long_read(&test_ops[i].strays));
	}
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
	KUNIT_CASE(ftrace_ops_runs_packed_ops),
	KUNIT_CASE_SLOW(ftrace_ops_runs_in_order),
	KUNIT_CASE_SLOW(ftrace_ops_keeps_order_over_removal),
	KUNIT_CASE(ftrace_ops_keeps_order_over_filters),
	KUNIT_CASE(ftrace_ops_runs_only_its_own),
	KUNIT_CASE(ftrace_ops_runs_assisted_with_others),
	KUNIT_CASE(ftrace_ops_stops_recursion),
#ifdef CONFIG_X86_64
	KUNIT_CASE(ftrace_ops_shows_no_stale_stack),
#endif
	KUNIT_CASE_SLOW(ftrace_ops_comes_and_goes_under_load),
	KUNIT_CASE_SLOW(ftrace_ops_is_never_anothers),
	KUNIT_CASE_SLOW(ftrace_ops_survives_stress),
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
