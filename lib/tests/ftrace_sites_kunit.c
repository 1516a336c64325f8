// SPDX-License-Identifier: GPL-2.0
/*
 * ftrace_sites_kunit.c - ftrace_ops whose callsites have a site each
 *
 * Whatever else traces a function, each call of it calls each of its sites once.
 */

#include <linux/completion.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/ftrace_ops_set.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/string.h>

#include <kunit/test.h>
#include <kunit/visibility.h>

#define NR_TARGETS	4
#define NR_LINKS	3
#define NR_OTHERS	4

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

static void (*const targets[NR_TARGETS])(void) = { target_0, target_1, target_2, target_3 };

struct test_site {
	struct ftrace_site	site;
	atomic_t		hits, wrong;
} __aligned(FTRACE_CALLEE_ALIGN);

/* An ops, and a site of it for each function */
struct test_link {
	struct ftrace_ops	ops;
	struct test_site	sites[NR_TARGETS];
	atomic_t		lookups;
};

static struct test_link *links;
static struct ftrace_ops *others;
static atomic_t other_hits;

static notrace void site_func(unsigned long ip, unsigned long parent_ip,
			      struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	struct test_site *site = container_of(ftrace_site_of(op), struct test_site, site);

	atomic_inc(site->site.entry.ip == ip ? &site->hits : &site->wrong);
}

/* For a hit that finds the ops and not the site: look that up, and count as above. */
static notrace void ops_func(unsigned long ip, unsigned long parent_ip,
			     struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	struct test_link *link = container_of(op, struct test_link, ops);
	struct ftrace_site *site = ftrace_find_site(op, ip);

	atomic_inc(&link->lookups);
	if (site)
		atomic_inc(&container_of(site, struct test_site, site)->hits);
}

static notrace void other_func(unsigned long ip, unsigned long parent_ip,
			       struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	atomic_inc(&other_hits);
}

static unsigned long addr_of(int target)
{
	return (unsigned long)targets[target];
}

/* Sites for the functions in @mask; NULL if there is no memory for that */
static struct ftrace_hash *make_sites(struct test_link *link, unsigned long mask)
{
	struct ftrace_hash *hash = ftrace_alloc_sites(hweight_long(mask));

	for (int i = 0; hash && i < NR_TARGETS; i++) {
		struct test_site *site = &link->sites[i];

		site->site.callee.func = site_func;
		if (mask & BIT(i))
			WARN_ON(ftrace_add_site(hash, &site->site, addr_of(i)));
	}
	return hash;
}

static int attach_link(struct test_link *link, unsigned long mask)
{
	struct ftrace_hash *hash = make_sites(link, mask);
	int err;

	if (!hash)
		return -ENOMEM;
	link->ops.func = ops_func;
	err = register_ftrace_sites(&link->ops, hash);
	if (err)
		ftrace_free_sites(hash);
	return err;
}

static int detach_link(struct test_link *link)
{
	int err = unregister_ftrace_sites(&link->ops);

	ftrace_free_filter(&link->ops);
	return err;
}

static int attach_other(struct ftrace_ops *ops, unsigned long mask)
{
	int err = 0;

	ops->func = other_func;
	for (int i = 0; i < NR_TARGETS && !err; i++) {
		if (mask & BIT(i))
			err = ftrace_set_filter_ip(ops, addr_of(i), 0, 0);
	}
	return err ?: register_ftrace_function(ops);
}

static int detach_other(struct ftrace_ops *ops)
{
	int err = unregister_ftrace_function(ops);

	ftrace_free_filter(ops);
	return err;
}

static unsigned long nr_sets(void)
{
	struct ftrace_ops_set_stats now;

	ftrace_ops_set_get_stats(&now);
	return now.sets;
}

/*
 * Call each function once. Of the first @nr_links links, each must be hit once on every
 * function in its mask, and on no other; other ops must have @others hits in all.
 */
static void expect_hits(struct kunit *test, const unsigned long *masks, int nr_links, int others)
{
	for (int i = 0; i < nr_links; i++) {
		for (int t = 0; t < NR_TARGETS; t++)
			atomic_set(&links[i].sites[t].hits, 0);
	}
	atomic_set(&other_hits, 0);
	for (int t = 0; t < NR_TARGETS; t++)
		targets[t]();
	for (int i = 0; i < nr_links; i++) {
		for (int t = 0; t < NR_TARGETS; t++) {
			KUNIT_EXPECT_EQ_MSG(test, !!(masks[i] & BIT(t)),
					    atomic_read(&links[i].sites[t].hits),
					    "link %d, function %d", i, t);
			KUNIT_EXPECT_EQ(test, 0, atomic_read(&links[i].sites[t].wrong));
		}
	}
	KUNIT_EXPECT_EQ(test, others, atomic_read(&other_hits));
}

static void ftrace_sites_are_called(struct kunit *test)
{
	static const unsigned long mask = 0x7, none;
	unsigned long before = nr_sets();

	KUNIT_ASSERT_EQ(test, 0, attach_link(&links[0], mask));
	expect_hits(test, &mask, 1, 0);
	/* One for the ops, and none for each callsite */
	KUNIT_EXPECT_EQ(test, before + 1, nr_sets());
	/* Without literals, the lone ops has a trampoline, and that the ops only. */
	if (arch_ftrace_literals_enabled())
		KUNIT_EXPECT_EQ(test, 0, atomic_read(&links[0].lookups));
	KUNIT_ASSERT_EQ(test, 0, detach_link(&links[0]));
	expect_hits(test, &none, 1, 0);
	KUNIT_EXPECT_EQ(test, before, nr_sets());

	/* And once more, with the same memory */
	KUNIT_ASSERT_EQ(test, 0, attach_link(&links[0], mask));
	expect_hits(test, &mask, 1, 0);
	KUNIT_ASSERT_EQ(test, 0, detach_link(&links[0]));
}

/* In a set a hit calls the site, and looks nothing up. */
static void ftrace_sites_are_in_sets(struct kunit *test)
{
	static const unsigned long masks[] = { 0x7, 0xe };
	unsigned long before = nr_sets();

	KUNIT_ASSERT_EQ(test, 0, attach_link(&links[0], masks[0]));
	KUNIT_ASSERT_EQ(test, 0, attach_link(&links[1], masks[1]));
	atomic_set(&links[0].lookups, 0);
	atomic_set(&links[1].lookups, 0);
	for (int i = 0; i < 100; i++)
		targets[1]();
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&links[0].lookups));
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&links[1].lookups));
	/* Each callsite with two has a set of its own. */
	KUNIT_EXPECT_EQ(test, before + 4, nr_sets());
	expect_hits(test, masks, 2, 0);

	/* The second leaves, and what the first has needs no set. */
	KUNIT_ASSERT_EQ(test, 0, detach_link(&links[1]));
	KUNIT_EXPECT_EQ(test, before + 1, nr_sets());
	expect_hits(test, masks, 1, 0);
	KUNIT_ASSERT_EQ(test, 0, detach_link(&links[0]));
	KUNIT_EXPECT_EQ(test, before, nr_sets());
}

/* Two links and two other ops come in every order, one ops with each of @flags, and go. */
static void ftrace_sites_stand_every_order(struct kunit *test)
{
	static const unsigned long masks[] = { 0x7, 0xe };
	static const unsigned long flags[] = {
		0, FTRACE_OPS_FL_RECURSION, FTRACE_OPS_FL_RCU,
		IS_ENABLED(CONFIG_DYNAMIC_FTRACE_WITH_REGS) ? FTRACE_OPS_FL_SAVE_REGS : 0,
	};
	unsigned long before = nr_sets();

	for (int n = 0; n < 24 * ARRAY_SIZE(flags); n++) {
		int order[4], left[4] = { 0, 1, 2, 3 }, rest = n % 24;
		unsigned long now[2] = {};
		int nr_others = 0;

		for (int i = 0; i < 4; i++) {
			int pick = rest % (4 - i);

			rest /= 4 - i;
			order[i] = left[pick];
			memmove(&left[pick], &left[pick + 1], (3 - pick) * sizeof(*left));
		}
		memset(others, 0, 2 * sizeof(*others));
		others[1].flags = flags[n / 24];
		for (int i = 0; i < 4; i++) {
			int who = order[i];

			if (who < 2) {
				KUNIT_ASSERT_EQ(test, 0, attach_link(&links[who], masks[who]));
				now[who] = masks[who];
			} else {
				KUNIT_ASSERT_EQ(test, 0, attach_other(&others[who - 2], 0xf));
				nr_others += NR_TARGETS;
			}
			expect_hits(test, now, 2, nr_others);
		}
		for (int i = 0; i < 4; i++) {
			int who = order[(i + n / 24) % 4];

			if (who < 2) {
				KUNIT_ASSERT_EQ(test, 0, detach_link(&links[who]));
				now[who] = 0;
			} else {
				KUNIT_ASSERT_EQ(test, 0, detach_other(&others[who - 2]));
				nr_others -= NR_TARGETS;
			}
			expect_hits(test, now, 2, nr_others);
		}
		KUNIT_EXPECT_EQ(test, before, nr_sets());
	}
}

/* What is wrong is refused, and changes nothing. */
static void ftrace_sites_refuse_what_is_wrong(struct kunit *test)
{
	static const unsigned long mask = 0x3, none;
	struct ftrace_hash *hash = ftrace_alloc_sites(2);
	struct test_link *link = &links[0];
	unsigned long before = nr_sets();
	struct test_site *site = &link->sites[0];
	struct ftrace_site *packed;

	KUNIT_ASSERT_NOT_NULL(test, hash);
	link->ops.func = ops_func;
	KUNIT_EXPECT_EQ(test, -EINVAL, register_ftrace_sites(&link->ops, hash));

	site->site.callee.func = NULL;
	KUNIT_EXPECT_EQ(test, 0, ftrace_add_site(hash, &site->site, addr_of(0)));
	KUNIT_EXPECT_EQ(test, -EINVAL, register_ftrace_sites(&link->ops, hash));
	site->site.callee.func = site_func;
	KUNIT_EXPECT_EQ(test, -EEXIST,
			ftrace_add_site(hash, &link->sites[1].site, addr_of(0)));

	link->ops.flags = FTRACE_OPS_FL_RECURSION;
	KUNIT_EXPECT_EQ(test, -EINVAL, register_ftrace_sites(&link->ops, hash));
	link->ops.flags = 0;

	link->sites[1].site.callee.func = site_func;
	KUNIT_EXPECT_EQ(test, -ENOENT,
			ftrace_add_site(hash, &link->sites[1].site, (unsigned long)links));
	ftrace_free_sites(hash);

	/* Aligned to a word only */
	packed = kunit_kzalloc(test, sizeof(*packed) + 16, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, packed);
	packed = (void *)PTR_ALIGN(packed, 16) + 8;
	packed->callee.func = site_func;
	hash = ftrace_alloc_sites(1);
	KUNIT_ASSERT_NOT_NULL(test, hash);
	KUNIT_EXPECT_EQ(test, 0, ftrace_add_site(hash, packed, addr_of(0)));
	if (FTRACE_CALLEE_ALIGN > 8)
		KUNIT_EXPECT_EQ(test, -EINVAL, register_ftrace_sites(&link->ops, hash));
	ftrace_free_sites(hash);

	hash = make_sites(link, mask);
	KUNIT_ASSERT_NOT_NULL(test, hash);
	KUNIT_ASSERT_EQ(test, 0, ftrace_set_filter_ip(&link->ops, addr_of(0), 0, 0));
	KUNIT_EXPECT_EQ(test, -EINVAL, register_ftrace_sites(&link->ops, hash));
	ftrace_free_filter(&link->ops);
	ftrace_free_sites(hash);
	expect_hits(test, &none, 1, 0);
	KUNIT_EXPECT_EQ(test, before, nr_sets());

	/* A filter that is sites does not change. */
	KUNIT_ASSERT_EQ(test, 0, attach_link(link, mask));
	KUNIT_EXPECT_EQ(test, -EINVAL, ftrace_set_filter_ip(&link->ops, addr_of(2), 0, 0));
	KUNIT_EXPECT_EQ(test, -EINVAL, ftrace_set_filter_ip(&link->ops, addr_of(0), 1, 0));
	KUNIT_EXPECT_EQ(test, -EINVAL, ftrace_set_notrace(&link->ops, "target_0", 8, 0));
	hash = ftrace_alloc_sites(1);
	KUNIT_EXPECT_EQ(test, -EBUSY, register_ftrace_sites(&link->ops, hash));
	ftrace_free_sites(hash);
	expect_hits(test, &mask, 1, 0);
	KUNIT_ASSERT_EQ(test, 0, detach_link(link));
	KUNIT_EXPECT_EQ(test, before, nr_sets());
}

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

static int try_attach(void)
{
	return attach_link(&links[1], 0x7);
}

static int try_unregister_link(void)
{
	return unregister_ftrace_sites(&links[1].ops);
}

static int try_unregister_other(void)
{
	return unregister_ftrace_function(&others[1]);
}

/* Whichever allocation fails: all sites are called, or none. */
static void ftrace_sites_survive_failing_attach(struct kunit *test)
{
	static const unsigned long masks[] = { 0xf, 0x7, 0 };
	unsigned long before = nr_sets();
	bool failed = true, any = false;
	int err;

	KUNIT_ASSERT_EQ(test, 0, attach_link(&links[0], masks[0]));
	KUNIT_ASSERT_EQ(test, 0, attach_other(&others[0], 0x2));
	for (int n = 1; failed && n < 200; n++) {
		failed = fail_nth(n, try_attach, &err);
		if (err)
			KUNIT_EXPECT_EQ(test, -ENOMEM, err);
		any |= !!err;
		expect_hits(test, err ? (unsigned long[]) { 0xf, 0 } : masks, 2, 1);
		if (!err)
			KUNIT_ASSERT_EQ(test, 0, detach_link(&links[1]));
		expect_hits(test, (unsigned long[]) { 0xf, 0 }, 2, 1);
	}
	KUNIT_ASSERT_EQ(test, 0, detach_link(&links[0]));
	KUNIT_ASSERT_EQ(test, 0, detach_other(&others[0]));
	KUNIT_EXPECT_EQ(test, before, nr_sets());
	if (!any && test->status == KUNIT_SUCCESS)
		kunit_skip(test, "no allocation failed");
}

/* Without memory for a smaller set a callsite walks the list, and finds the sites. */
static void ftrace_sites_are_found_by_the_list(struct kunit *test)
{
	static const unsigned long masks[] = { 0xf, 0x7, 0x3 };
	unsigned long before = nr_sets();
	bool failed = true, walked = false;
	int err;

	for (int n = 1; failed && n < 200; n++) {
		struct ftrace_ops_set_stats now;

		for (int i = 0; i < NR_LINKS; i++)
			KUNIT_ASSERT_EQ(test, 0, attach_link(&links[i], masks[i]));
		KUNIT_ASSERT_EQ(test, 0, attach_other(&others[0], 0x2));
		KUNIT_ASSERT_EQ(test, 0, attach_other(&others[1], 0x6));
		failed = fail_nth(n, n & 1 ? try_unregister_link : try_unregister_other, &err);
		KUNIT_ASSERT_EQ(test, 0, err);
		if (n & 1)
			ftrace_free_filter(&links[1].ops);
		else
			ftrace_free_filter(&others[1]);
		ftrace_ops_set_get_stats(&now);
		walked |= now.list_walks;
		expect_hits(test, n & 1 ? (unsigned long[]) { 0xf, 0, 0x3 } : masks, NR_LINKS,
			    n & 1 ? 3 : 1);
		if (n & 1)
			KUNIT_ASSERT_EQ(test, 0, attach_link(&links[1], masks[1]));
		else
			KUNIT_ASSERT_EQ(test, 0, attach_other(&others[1], 0x6));
		expect_hits(test, masks, NR_LINKS, 3);
		for (int i = 0; i < NR_LINKS; i++)
			KUNIT_ASSERT_EQ(test, 0, detach_link(&links[i]));
		KUNIT_ASSERT_EQ(test, 0, detach_other(&others[0]));
		KUNIT_ASSERT_EQ(test, 0, detach_other(&others[1]));
		KUNIT_EXPECT_EQ(test, before, nr_sets());
	}
	if (!walked && test->status == KUNIT_SUCCESS)
		kunit_skip(test, "no allocation failed");
}
#endif

static unsigned long calls[2];
static bool stop;

static int call_targets(void *data)
{
	unsigned long *count = data;

	while (!READ_ONCE(stop)) {
		for (int i = 0; i < 100; i++)
			targets[0]();
		*count += 100;
		cond_resched_tasks_rcu_qs();
	}
	while (!kthread_should_stop())
		msleep(20);
	return 0;
}

/* A site that stays is called once for each call, while all others come and go. */
static void ftrace_sites_miss_nothing(struct kunit *test)
{
	struct task_struct *threads[ARRAY_SIZE(calls)];
	unsigned long sum = 0;

	WRITE_ONCE(stop, false);
	memset(calls, 0, sizeof(calls));
	KUNIT_ASSERT_EQ(test, 0, attach_link(&links[0], 0x1));
	for (int i = 0; i < ARRAY_SIZE(threads); i++)
		threads[i] = kthread_run(call_targets, &calls[i], "sites/%d", i);
	for (int i = 0; i < 20; i++) {
		KUNIT_EXPECT_EQ(test, 0, attach_link(&links[1], 0x3));
		KUNIT_EXPECT_EQ(test, 0, attach_other(&others[0], 0x1));
		KUNIT_EXPECT_EQ(test, 0, attach_link(&links[2], 0x1));
		KUNIT_EXPECT_EQ(test, 0, detach_link(&links[1]));
		KUNIT_EXPECT_EQ(test, 0, detach_other(&others[0]));
		KUNIT_EXPECT_EQ(test, 0, detach_link(&links[2]));
	}
	WRITE_ONCE(stop, true);
	for (int i = 0; i < ARRAY_SIZE(threads); i++) {
		if (!IS_ERR(threads[i]))
			kthread_stop(threads[i]);
		sum += calls[i];
	}
	KUNIT_EXPECT_GT(test, sum, 0UL);
	KUNIT_EXPECT_EQ(test, sum, (unsigned long)atomic_read(&links[0].sites[0].hits));
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&links[0].sites[0].wrong));
	KUNIT_ASSERT_EQ(test, 0, detach_link(&links[0]));
}

static DECLARE_COMPLETION(asleep);
static DECLARE_COMPLETION(wake);

static notrace void sleeping_site_func(unsigned long ip, unsigned long parent_ip,
				       struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	struct test_site *site = container_of(ftrace_site_of(op), struct test_site, site);

	complete(&asleep);
	wait_for_completion(&wake);
	atomic_inc(&site->hits);
}

static bool waits_for_sleepers;
static bool link_is_gone;
static atomic_t late_hits;

static notrace void late_site_func(unsigned long ip, unsigned long parent_ip,
				   struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	atomic_inc(&late_hits);
}

static int call_target_0(void *data)
{
	targets[0]();
	while (!kthread_should_stop())
		msleep(20);
	return 0;
}

static unsigned long nr_garbage_sets(void)
{
	struct ftrace_ops_set_stats now;

	ftrace_ops_set_get_stats(&now);
	return now.garbage_sets;
}

/* As the owner of a site that may sleep has to */
static int detach_sleeper(struct test_link *link)
{
	int err = unregister_ftrace_sites(&link->ops);

	synchronize_rcu_tasks_rude();
	synchronize_rcu_tasks();
	WRITE_ONCE(waits_for_sleepers, true);
	ftrace_ops_set_wait_sleepers();
	ftrace_ops_release(&link->ops);
	/* Whoever still looked at the sites would find nothing to call. */
	memset(link->sites, 0, sizeof(link->sites));
	return err;
}

/* What waits for a sleeping task is neither hung nor load. */
static bool waits_idle(struct task_struct *task)
{
	return READ_ONCE(waits_for_sleepers) && READ_ONCE(task->__state) == TASK_IDLE;
}

static int detach_sleeper_thread(void *data)
{
	int err = detach_sleeper(data);

	WRITE_ONCE(link_is_gone, true);
	while (!kthread_should_stop())
		msleep(20);
	return err;
}

/*
 * While a task sleeps in a site, an ops leaves the function, and another set takes the
 * place of the one that the task runs. The task must still go on to the next site, whose
 * owner waits for it. Only then is the old set freed.
 */
static void ftrace_sites_may_sleep(struct kunit *test)
{
	struct task_struct *caller, *detacher;

	for (int i = 0; i < 2; i++)
		links[i].ops.flags = FTRACE_OPS_FL_SLEEPS | FTRACE_OPS_FL_DEFER_FREE;
	KUNIT_ASSERT_EQ(test, 0, attach_link(&links[0], 0x1));
	links[0].sites[0].site.callee.func = sleeping_site_func;
	KUNIT_ASSERT_EQ(test, 0, attach_other(&others[0], 0x1));
	KUNIT_ASSERT_EQ(test, 0, attach_link(&links[1], 0x1));
	links[1].sites[0].site.callee.func = late_site_func;

	atomic_set(&late_hits, 0);
	WRITE_ONCE(waits_for_sleepers, false);
	WRITE_ONCE(link_is_gone, false);
	reinit_completion(&asleep);
	reinit_completion(&wake);
	caller = kthread_run(call_target_0, NULL, "sites");
	KUNIT_ASSERT_FALSE(test, IS_ERR(caller));
	wait_for_completion(&asleep);
	/* Others run first. */
	KUNIT_EXPECT_EQ(test, 1, atomic_read(&other_hits));

	detacher = kthread_run(detach_sleeper_thread, &links[1], "sites-detach");
	KUNIT_EXPECT_EQ(test, 0, detach_other(&others[0]));
	memset(&others[0], 0, sizeof(others[0]));
	KUNIT_EXPECT_EQ(test, 0, attach_other(&others[1], 0x1));
	msleep(2000);
	KUNIT_EXPECT_NOT_ERR_OR_NULL(test, detacher);
	if (!IS_ERR(detacher)) {
		/* It waits for RCU tasks first, for seconds if the CPUs are slow. */
		for (int i = 0; i < 1000 && !waits_idle(detacher); i++)
			msleep(20);
		KUNIT_EXPECT_TRUE(test, waits_idle(detacher));
	}
	KUNIT_EXPECT_GT(test, nr_garbage_sets(), 0UL);
	KUNIT_EXPECT_FALSE(test, READ_ONCE(link_is_gone));
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&late_hits));

	complete_all(&wake);
	kthread_stop(caller);
	KUNIT_EXPECT_EQ(test, 1, atomic_read(&links[0].sites[0].hits));
	KUNIT_EXPECT_EQ(test, 1, atomic_read(&late_hits));
	KUNIT_EXPECT_EQ(test, 1, atomic_read(&other_hits));
	if (!IS_ERR(detacher))
		KUNIT_EXPECT_EQ(test, 0, kthread_stop(detacher));
	for (int i = 0; i < 1000 && nr_garbage_sets(); i++)
		msleep(20);
	KUNIT_EXPECT_EQ(test, 0UL, nr_garbage_sets());

	KUNIT_EXPECT_EQ(test, 0, detach_other(&others[1]));
	KUNIT_EXPECT_EQ(test, 0, detach_sleeper(&links[0]));
}

static atomic_t wanted_before;

/* Those without FTRACE_OPS_FL_OVERRIDES have been called. */
static notrace void last_site_func(unsigned long ip, unsigned long parent_ip,
				   struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	struct test_site *site = container_of(ftrace_site_of(op), struct test_site, site);

	if (atomic_read(&other_hits) == atomic_read(&wanted_before))
		atomic_inc(&site->hits);
	else
		atomic_inc(&site->wrong);
}

static void expect_called_last(struct kunit *test, int first, int last, int nr_others)
{
	atomic_set(&other_hits, 0);
	atomic_set(&wanted_before, nr_others);
	for (int i = 0; i < NR_LINKS; i++)
		atomic_set(&links[i].sites[0].hits, 0);
	targets[0]();
	for (int i = first; i <= last; i++) {
		KUNIT_EXPECT_EQ(test, 1, atomic_read(&links[i].sites[0].hits));
		KUNIT_EXPECT_EQ(test, 0, atomic_read(&links[i].sites[0].wrong));
	}
	KUNIT_EXPECT_EQ(test, nr_others, atomic_read(&other_hits));
}

/* Whatever comes and goes, those with FTRACE_OPS_FL_OVERRIDES are called after all others. */
static void ftrace_sites_override_last(struct kunit *test)
{
	for (int i = 0; i < 2; i++)
		links[i].ops.flags = FTRACE_OPS_FL_OVERRIDES;
	KUNIT_ASSERT_EQ(test, 0, attach_link(&links[0], 0x1));
	links[0].sites[0].site.callee.func = last_site_func;
	KUNIT_ASSERT_EQ(test, 0, attach_other(&others[0], 0x1));
	expect_called_last(test, 0, 0, 1);
	KUNIT_ASSERT_EQ(test, 0, attach_link(&links[1], 0x1));
	links[1].sites[0].site.callee.func = last_site_func;
	KUNIT_ASSERT_EQ(test, 0, attach_other(&others[1], 0x1));
	expect_called_last(test, 0, 1, 2);
	KUNIT_ASSERT_EQ(test, 0, detach_link(&links[0]));
	KUNIT_ASSERT_EQ(test, 0, attach_other(&others[2], 0x1));
	expect_called_last(test, 1, 1, 3);
	KUNIT_ASSERT_EQ(test, 0, detach_other(&others[2]));
	KUNIT_ASSERT_EQ(test, 0, detach_link(&links[1]));
	/* None is left, and the list ends where it did before. */
	KUNIT_ASSERT_EQ(test, 0, detach_other(&others[1]));
	KUNIT_ASSERT_EQ(test, 0, attach_other(&others[2], 0x1));
	links[2].ops.flags = FTRACE_OPS_FL_OVERRIDES;
	KUNIT_ASSERT_EQ(test, 0, attach_link(&links[2], 0x1));
	links[2].sites[0].site.callee.func = last_site_func;
	KUNIT_ASSERT_EQ(test, 0, attach_other(&others[3], 0x1));
	expect_called_last(test, 2, 2, 3);
}

static int ftrace_sites_test_init(struct kunit *test)
{
	atomic_set(&other_hits, 0);
	links = kunit_kcalloc(test, NR_LINKS, sizeof(*links), GFP_KERNEL);
	others = kunit_kcalloc(test, NR_OTHERS, sizeof(*others), GFP_KERNEL);
	return links && others ? 0 : -ENOMEM;
}

/* An assertion may have left some registered; their memory is about to go */
static void ftrace_sites_test_exit(struct kunit *test)
{
	for (int i = 0; links && i < NR_LINKS; i++) {
		if (links[i].ops.flags & FTRACE_OPS_FL_ENABLED)
			detach_link(&links[i]);
	}
	for (int i = 0; others && i < NR_OTHERS; i++) {
		if (others[i].flags & FTRACE_OPS_FL_ENABLED)
			detach_other(&others[i]);
	}
}

static struct kunit_case ftrace_sites_cases[] = {
	KUNIT_CASE(ftrace_sites_are_called),
	KUNIT_CASE(ftrace_sites_are_in_sets),
	KUNIT_CASE_SLOW(ftrace_sites_stand_every_order),
	KUNIT_CASE_SLOW(ftrace_sites_refuse_what_is_wrong),
#ifdef CONFIG_FAILSLAB
	KUNIT_CASE_SLOW(ftrace_sites_survive_failing_attach),
	KUNIT_CASE_SLOW(ftrace_sites_are_found_by_the_list),
#endif
	KUNIT_CASE_SLOW(ftrace_sites_miss_nothing),
	KUNIT_CASE_SLOW(ftrace_sites_may_sleep),
	KUNIT_CASE_SLOW(ftrace_sites_override_last),
	{}
};

static struct kunit_suite ftrace_sites_suite = {
	.name = "ftrace_sites",
	.init = ftrace_sites_test_init,
	.exit = ftrace_sites_test_exit,
	.test_cases = ftrace_sites_cases,
};

kunit_test_suite(ftrace_sites_suite);

MODULE_DESCRIPTION("KUnit tests of sites of ftrace_ops");
MODULE_LICENSE("GPL");
MODULE_IMPORT_NS("EXPORTED_FOR_KUNIT_TESTING");
