// SPDX-License-Identifier: GPL-2.0
/*
 * fprobe_return_kunit.c - what fprobes and kretprobes see of functions that return
 *
 * And of those that do not: that sleep while the probe goes, whose task exits in
 * them, that call themselves, that leave by calling another. The suite knows
 * nothing about how a return is hooked.
 */
#include <linux/atomic.h>
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/fprobe.h>
#include <linux/ftrace.h>
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/prandom.h>
#include <linux/rcupdate.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/stacktrace.h>
#include <linux/string.h>
#include <linux/vmstat.h>
#include <linux/wait.h>

#include <kunit/test.h>

#define NR_TASKS	100
#define DEPTH		40
#define MANY		200

static unsigned int stress_seconds = 20;
module_param(stress_seconds, uint, 0444);
MODULE_PARM_DESC(stress_seconds, "How long fprobe_return_survives_stress runs");

static unsigned int nr_exits = 6000;
module_param(nr_exits, uint, 0444);
MODULE_PARM_DESC(nr_exits, "How many tasks exit in fprobe_of_tasks_reaped_elsewhere");

/* --- What is probed ---------------------------------------------------------- */

static noinline __noclone unsigned long plain(unsigned long x)
{
	barrier_data((void *)x);
	return x + 1;
}

static noinline __noclone unsigned long leaves_by_plain(unsigned long x)
{
	barrier_data((void *)(x + 1));
	return plain(x + 10);
}

static noinline __noclone unsigned long recursive(unsigned long depth)
{
	unsigned long below = depth ? recursive(depth - 1) : 0;

	barrier_data((void *)below);
	return below + depth;
}

static DECLARE_WAIT_QUEUE_HEAD(sleepers);
static bool awake;

static noinline __noclone unsigned long sleeps(unsigned long x)
{
	wait_event(sleepers, READ_ONCE(awake));
	return x + 2;
}

static noinline __noclone unsigned long exits(unsigned long x)
{
	if (x)
		kthread_complete_and_exit(NULL, 0);
	return 3;
}

static noinline __noclone unsigned long exits_after_move(unsigned long x)
{
	set_cpus_allowed_ptr(current, cpumask_of(cpumask_first(cpu_online_mask)));
	if (x)
		kthread_complete_and_exit(NULL, 0);
	return 3;
}

static unsigned long frame_of_caller;

static noinline __noclone unsigned long calls_plain(unsigned long x)
{
	unsigned long ret;

	WRITE_ONCE(frame_of_caller, (unsigned long)__builtin_frame_address(0));
	ret = plain(x);
	barrier_data((void *)ret);
	return ret + 1;
}

static noinline __noclone unsigned long calls_leaver(unsigned long x)
{
	unsigned long ret = leaves_by_plain(x);

	barrier_data((void *)ret);
	return ret + 1;
}

/* --- Probes ------------------------------------------------------------------ */

struct probe {
	struct fprobe	fp;
	atomic_t	entries;
	atomic_t	exits;
	atomic_t	wrong;
	/* of the last exit */
	unsigned long	ret_ip;
	unsigned long	value;
	unsigned long	frame;
	unsigned int	depth;
	unsigned long	stack[16];
};

struct entry_data {
	unsigned long	ip;
	unsigned long	arg;
};

static int on_entry(struct fprobe *fp, unsigned long ip, unsigned long ret_ip,
		    struct ftrace_regs *fregs, void *data)
{
	struct probe *p = container_of(fp, struct probe, fp);
	struct entry_data *d = data;

	d->ip = ip;
	d->arg = ftrace_regs_get_argument(fregs, 0);
	atomic_inc(&p->entries);
	return 0;
}

static void on_exit(struct fprobe *fp, unsigned long ip, unsigned long ret_ip,
		    struct ftrace_regs *fregs, void *data)
{
	struct probe *p = container_of(fp, struct probe, fp);
	struct entry_data *d = data;

	if (d->ip != ip || ftrace_regs_get_instruction_pointer(fregs) != ret_ip)
		atomic_inc(&p->wrong);
	p->ret_ip = ret_ip;
	p->value = ftrace_regs_get_return_value(fregs) - d->arg;
	p->frame = ftrace_regs_get_frame_pointer(fregs);
	p->depth = stack_trace_save(p->stack, ARRAY_SIZE(p->stack), 0);
	atomic_inc(&p->exits);
}

static int do_nothing(struct fprobe *fp, unsigned long ip, unsigned long ret_ip,
		      struct ftrace_regs *fregs, void *data)
{
	return 0;
}

static void count_exit(struct fprobe *fp, unsigned long ip, unsigned long ret_ip,
		       struct ftrace_regs *fregs, void *data)
{
	struct probe *p = container_of(fp, struct probe, fp);
	struct entry_data *d = data;

	if (d->ip != ip)
		atomic_inc(&p->wrong);
	atomic_inc(&p->exits);
}

static void count_any_exit(struct fprobe *fp, unsigned long ip, unsigned long ret_ip,
			   struct ftrace_regs *fregs, void *data)
{
	atomic_inc(&container_of(fp, struct probe, fp)->exits);
}

static int attach(struct probe *p, void *func)
{
	unsigned long addr = (unsigned long)func;

	memset(p, 0, sizeof(*p));
	p->fp.entry_handler = on_entry;
	p->fp.exit_handler = on_exit;
	p->fp.entry_data_size = sizeof(struct entry_data);
	return register_fprobe_ips(&p->fp, &addr, 1);
}

static void expect(struct kunit *test, struct probe *p, int entries, int exits)
{
	KUNIT_EXPECT_EQ(test, atomic_read(&p->entries), entries);
	KUNIT_EXPECT_EQ(test, atomic_read(&p->exits), exits);
	KUNIT_EXPECT_EQ(test, atomic_read(&p->wrong), 0);
	KUNIT_EXPECT_EQ(test, p->fp.nmissed, 0);
}

static struct probe probe, other;
static struct probe *many;

/* By name: how large a function is depends on all that a debug kernel checks. */
static bool within(unsigned long addr, void *func)
{
	static char name[KSYM_SYMBOL_LEN], wanted[KSYM_SYMBOL_LEN];

	snprintf(name, sizeof(name), "%ps", (void *)addr);
	snprintf(wanted, sizeof(wanted), "%ps", func);
	return !strcmp(name, wanted);
}

static bool on_stack(struct probe *p, void *func)
{
	for (int i = 0; i < p->depth; i++) {
		if (within(p->stack[i], func))
			return true;
	}
	return false;
}

/* In the graph tracer's exit handlers, arm64's caller is in no frame. */
static bool caller_on_stack(struct probe *p, void *caller)
{
	return (IS_ENABLED(CONFIG_ARM64) && !IS_ENABLED(CONFIG_FPROBE_OPS)) ||
	       on_stack(p, caller);
}

/* --- The cases --------------------------------------------------------------- */

static void fprobe_return_sees_value_and_caller(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, attach(&probe, plain), 0);
	KUNIT_EXPECT_EQ(test, calls_plain(5), 7);
	KUNIT_EXPECT_EQ(test, unregister_fprobe(&probe.fp), 0);
	expect(test, &probe, 1, 1);
	KUNIT_EXPECT_EQ(test, probe.value, 1);
	KUNIT_EXPECT_TRUE(test, within(probe.ret_ip, calls_plain));
	if (IS_ENABLED(CONFIG_FPROBE_OPS) && IS_ENABLED(CONFIG_FRAME_POINTER))
		KUNIT_EXPECT_EQ(test, probe.frame, READ_ONCE(frame_of_caller));
	/* The caller is there, and the caller's caller. */
	KUNIT_EXPECT_TRUE(test, caller_on_stack(&probe, calls_plain));
	KUNIT_EXPECT_TRUE(test, on_stack(&probe, fprobe_return_sees_value_and_caller));
	plain(5);
	expect(test, &probe, 1, 1);
}

static int no_exit(struct fprobe *fp, unsigned long ip, unsigned long ret_ip,
		   struct ftrace_regs *fregs, void *data)
{
	on_entry(fp, ip, ret_ip, fregs, data);
	return 1;
}

static void fprobe_entry_can_decline(struct kunit *test)
{
	unsigned long addr = (unsigned long)plain;

	memset(&probe, 0, sizeof(probe));
	probe.fp.entry_handler = no_exit;
	probe.fp.exit_handler = on_exit;
	probe.fp.entry_data_size = sizeof(struct entry_data);
	KUNIT_ASSERT_EQ(test, register_fprobe_ips(&probe.fp, &addr, 1), 0);
	for (int i = 0; i < MANY; i++)
		KUNIT_EXPECT_EQ(test, plain(i), i + 1);
	expect(test, &probe, MANY, 0);
	KUNIT_EXPECT_EQ(test, unregister_fprobe(&probe.fp), 0);
}

static void fprobe_return_of_recursion(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, attach(&probe, recursive), 0);
	KUNIT_EXPECT_EQ(test, recursive(DEPTH), DEPTH * (DEPTH + 1) / 2);
	expect(test, &probe, DEPTH + 1, DEPTH + 1);
	/* The last to return was the first that was called. */
	KUNIT_EXPECT_TRUE(test, within(probe.ret_ip, fprobe_return_of_recursion));
	KUNIT_EXPECT_EQ(test, unregister_fprobe(&probe.fp), 0);
}

static void fprobe_return_of_tail_call(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, attach(&probe, leaves_by_plain), 0);
	KUNIT_ASSERT_EQ(test, attach(&other, plain), 0);
	KUNIT_EXPECT_EQ(test, calls_leaver(1), 13);
	expect(test, &probe, 1, 1);
	expect(test, &other, 1, 1);
	KUNIT_EXPECT_EQ(test, probe.value, 11);
	KUNIT_EXPECT_EQ(test, other.value, 1);
	KUNIT_EXPECT_TRUE(test, within(probe.ret_ip, calls_leaver));
	KUNIT_EXPECT_EQ(test, unregister_fprobe(&other.fp), 0);
	KUNIT_EXPECT_EQ(test, unregister_fprobe(&probe.fp), 0);
}

static void fprobes_in_great_number(struct kunit *test)
{
	int n;

	many = kunit_kcalloc(test, MANY, sizeof(*many), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, many);
	for (n = 0; n < MANY; n++) {
		if (attach(&many[n], plain))
			break;
	}
	KUNIT_EXPECT_EQ(test, n, MANY);
	/* The function graph tracer has no room for all, and counts what it misses. */
	if (IS_ENABLED(CONFIG_FPROBE_OPS)) {
		KUNIT_EXPECT_EQ(test, plain(1), 2);
		for (int i = 0; i < n; i++)
			expect(test, &many[i], 1, 1);
	}
	while (n--)
		KUNIT_EXPECT_EQ(test, unregister_fprobe(&many[n].fp), 0);
	KUNIT_EXPECT_EQ(test, plain(1), 2);
}

static void fprobe_is_registered_once(struct kunit *test)
{
	unsigned long addr = (unsigned long)plain;

	KUNIT_ASSERT_EQ(test, attach(&probe, plain), 0);
	KUNIT_EXPECT_EQ(test, register_fprobe_ips(&probe.fp, &addr, 1), -EEXIST);
	KUNIT_EXPECT_EQ(test, unregister_fprobe(&probe.fp), 0);
	KUNIT_EXPECT_EQ(test, unregister_fprobe(&probe.fp), -EINVAL);

	KUNIT_EXPECT_EQ(test, register_fprobe_ips(&probe.fp, &addr, 0), -EINVAL);
	probe.fp.entry_data_size = MAX_FPROBE_DATA_SIZE + 1;
	KUNIT_EXPECT_EQ(test, register_fprobe_ips(&probe.fp, &addr, 1), -E2BIG);
	probe.fp.entry_data_size = sizeof(struct entry_data);
	addr = (unsigned long)&addr;
	KUNIT_EXPECT_EQ(test, register_fprobe_ips(&probe.fp, &addr, 1), -ENOENT);
	KUNIT_EXPECT_EQ(test, unregister_fprobe(&probe.fp), -EINVAL);
}

/* --- Tasks ------------------------------------------------------------------- */

static struct task_struct *tasks[NR_TASKS];
static atomic_t running, wrong_results;

static int sleep_in(void *arg)
{
	if (sleeps((unsigned long)arg) != (unsigned long)arg + 2)
		atomic_inc(&wrong_results);
	atomic_dec(&running);
	wait_event(sleepers, kthread_should_stop());
	return 0;
}

/* All sleep in sleeps() when this returns. */
static void start_sleepers(struct kunit *test, struct probe *p)
{
	WRITE_ONCE(awake, false);
	atomic_set(&running, NR_TASKS);
	atomic_set(&wrong_results, 0);
	for (long i = 0; i < NR_TASKS; i++) {
		tasks[i] = kthread_run(sleep_in, (void *)i, "fprobe-return/%ld", i);
		KUNIT_ASSERT_FALSE(test, IS_ERR(tasks[i]));
	}
	for (int i = 0; i < 500 && atomic_read(&p->entries) < NR_TASKS; i++)
		msleep(20);
	KUNIT_EXPECT_EQ(test, atomic_read(&p->entries), NR_TASKS);
}

static void wake_sleepers(struct kunit *test)
{
	WRITE_ONCE(awake, true);
	wake_up_all(&sleepers);
	for (int i = 0; i < 500 && atomic_read(&running); i++)
		msleep(20);
	KUNIT_EXPECT_EQ(test, atomic_read(&running), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&wrong_results), 0);
}

static void stop_sleepers(void)
{
	for (int i = 0; i < NR_TASKS; i++)
		kthread_stop(tasks[i]);
}

static void fprobe_return_of_many_sleepers(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, attach(&probe, sleeps), 0);
	start_sleepers(test, &probe);
	expect(test, &probe, NR_TASKS, 0);
	wake_sleepers(test);
	expect(test, &probe, NR_TASKS, NR_TASKS);
	KUNIT_EXPECT_EQ(test, unregister_fprobe(&probe.fp), 0);
	stop_sleepers();
}

/* The probe's memory is used for another that knows nothing of those who sleep. */
static void fprobe_goes_while_they_sleep(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, attach(&probe, sleeps), 0);
	start_sleepers(test, &probe);
	KUNIT_EXPECT_EQ(test, unregister_fprobe(&probe.fp), 0);
	KUNIT_ASSERT_EQ(test, attach(&probe, plain), 0);
	/* Long enough for what is freed when nobody runs it. */
	msleep(500);
	wake_sleepers(test);
	expect(test, &probe, 0, 0);
	plain(1);
	expect(test, &probe, 1, 1);
	KUNIT_EXPECT_EQ(test, unregister_fprobe(&probe.fp), 0);
	stop_sleepers();
}

static int exit_in(void *arg)
{
	exits(1);
	return 0;
}

static void fprobe_of_task_that_exits(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, attach(&probe, exits), 0);
	for (long i = 0; i < NR_TASKS; i++)
		KUNIT_ASSERT_FALSE(test, IS_ERR(kthread_run(exit_in, NULL, "fprobe-exit")));
	for (int i = 0; i < 500 && atomic_read(&probe.entries) < NR_TASKS; i++)
		msleep(20);
	msleep(100);
	KUNIT_EXPECT_EQ(test, exits(0), 3);
	expect(test, &probe, NR_TASKS + 1, 1);
	KUNIT_EXPECT_EQ(test, unregister_fprobe(&probe.fp), 0);
}

/* It is called on one CPU, and the task is reaped on the other. */
static int exit_elsewhere(void *arg)
{
	exits_after_move((unsigned long)arg);
	return 0;
}

static void start_exits(struct kunit *test, int nr)
{
	int cpu = cpumask_next(cpumask_first(cpu_online_mask), cpu_online_mask);
	struct task_struct *task;

	for (int i = 0; i < nr; i++) {
		task = kthread_create_on_cpu(exit_elsewhere, (void *)1, cpu, "fprobe-exit/%u");
		KUNIT_ASSERT_FALSE(test, IS_ERR(task));
		get_task_struct(task);
		wake_up_process(task);
		while (!READ_ONCE(task->exit_state))
			usleep_range(20, 100);
		put_task_struct(task);
	}
	rcu_barrier();
}

static unsigned long slab_bytes(void)
{
	return global_node_page_state_pages(NR_SLAB_UNRECLAIMABLE_B) * PAGE_SIZE;
}

static void fprobe_of_tasks_reaped_elsewhere(struct kunit *test)
{
	/* At most 64 nodes for each CPU. A node is less than twice as large as its data. */
	long grown = LONG_MAX, most = 64L * num_online_cpus() * 2 * MAX_FPROBE_DATA_SIZE;
	unsigned long addr = (unsigned long)exits_after_move, before;
	int rounds;

	if (num_online_cpus() < 2)
		kunit_skip(test, "needs two CPUs");
	if (IS_ENABLED(CONFIG_KASAN))
		kunit_skip(test, "KASAN keeps what is freed");
	memset(&probe, 0, sizeof(probe));
	probe.fp.entry_handler = on_entry;
	probe.fp.exit_handler = on_exit;
	probe.fp.entry_data_size = MAX_FPROBE_DATA_SIZE;
	KUNIT_ASSERT_EQ(test, register_fprobe_ips(&probe.fp, &addr, 1), 0);
	/* As many before, so that all else that grows with exits has grown. */
	start_exits(test, nr_exits);
	/* Others take pages meanwhile, too. But what grows with exits does so each time. */
	for (rounds = 0; rounds < 4 && grown >= most; rounds++) {
		before = slab_bytes();
		start_exits(test, nr_exits);
		grown = min(grown, (long)(slab_bytes() - before));
	}
	expect(test, &probe, (rounds + 1) * nr_exits, 0);
	KUNIT_EXPECT_LT(test, grown, most);
	/* With many CPUs that is more than half of what was taken. */
	KUNIT_EXPECT_LT(test, grown, (long)(nr_exits / 2 * MAX_FPROBE_DATA_SIZE));
	kunit_info(test, "%u exits took %ld bytes\n", nr_exits, grown);
	KUNIT_EXPECT_EQ(test, unregister_fprobe(&probe.fp), 0);
}

static int allocate(void *arg)
{
	void *objects[64];

	for (int round = 0; round < 500; round++) {
		for (int i = 0; i < ARRAY_SIZE(objects); i++)
			objects[i] = kmalloc(16 << (round + i) % 8, GFP_KERNEL);
		for (int i = 0; i < ARRAY_SIZE(objects); i++)
			kfree(objects[i]);
		if (!(round % 100))
			kthread_run(exit_in, NULL, "fprobe-exit");
		cond_resched();
	}
	atomic_dec(&running);
	return 0;
}

/* An interrupt that makes room for hooked returns is hooked, and must not raise the next one. */
static void fprobe_return_of_interrupts(struct kunit *test)
{
	unsigned long end;

	memset(&probe, 0, sizeof(probe));
	probe.fp.exit_handler = count_any_exit;
	KUNIT_ASSERT_EQ(test, register_fprobe(&probe.fp, "*irq*", NULL), 0);
	end = jiffies + HZ;
	while (time_before(jiffies, end))
		usleep_range(1000, 2000);
	KUNIT_EXPECT_EQ(test, unregister_fprobe(&probe.fp), 0);
	KUNIT_EXPECT_GT(test, atomic_read(&probe.exits), 0);
}

/* What takes memory for a hooked return must not need that of another. */
static void fprobe_return_of_allocators(struct kunit *test)
{
	memset(&probe, 0, sizeof(probe));
	probe.fp.entry_handler = on_entry;
	probe.fp.exit_handler = count_exit;
	probe.fp.entry_data_size = sizeof(struct entry_data);
	KUNIT_ASSERT_EQ(test, register_fprobe(&probe.fp, "*alloc*", NULL), 0);
	atomic_set(&running, NR_TASKS / 10);
	for (int i = 0; i < NR_TASKS / 10; i++)
		KUNIT_ASSERT_FALSE(test, IS_ERR(kthread_run(allocate, NULL, "fprobe-alloc")));
	for (int i = 0; i < 3000 && atomic_read(&running); i++)
		msleep(20);
	KUNIT_EXPECT_EQ(test, atomic_read(&running), 0);
	KUNIT_EXPECT_EQ(test, unregister_fprobe(&probe.fp), 0);
	KUNIT_EXPECT_EQ(test, probe.fp.nmissed, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&probe.wrong), 0);
	KUNIT_EXPECT_GT(test, atomic_read(&probe.exits), 1000);
	kunit_info(test, "%d entries, %d exits\n", atomic_read(&probe.entries),
		   atomic_read(&probe.exits));
}

static int rounds;

/*
 * This may be preempted, but never sleeps: no RCU-tasks grace period ends meanwhile. It
 * stops after 10 seconds without a new round, as fprobes wait for a grace period then;
 * or after 40 rounds, as they obviously do not.
 */
static int never_sleep(void *arg)
{
	unsigned long end = jiffies + 10 * HZ;
	int seen = 0;

	while (seen < 40 && time_before(jiffies, end)) {
		if (seen != READ_ONCE(rounds)) {
			seen = READ_ONCE(rounds);
			end = jiffies + 10 * HZ;
		}
		cpu_relax();
	}
	atomic_dec(&running);
	return 0;
}

static void fprobes_that_come_and_go_are_freed(struct kunit *test)
{
	unsigned long before, now, peak = 0;

	if (!IS_ENABLED(CONFIG_PREEMPTION) || num_online_cpus() < 2)
		kunit_skip(test, "needs preemption, and two CPUs");
	if (IS_ENABLED(CONFIG_KASAN))
		kunit_skip(test, "KASAN keeps what is freed");
	before = slab_bytes();
	rounds = 0;
	atomic_set(&running, 1);
	KUNIT_ASSERT_FALSE(test, IS_ERR(kthread_run(never_sleep, NULL, "fprobe-never-sleep")));
	while (atomic_read(&running)) {
		memset(&probe, 0, sizeof(probe));
		probe.fp.entry_handler = do_nothing;
		KUNIT_EXPECT_EQ(test, register_fprobe(&probe.fp, "*", NULL), 0);
		KUNIT_EXPECT_EQ(test, unregister_fprobe(&probe.fp), 0);
		WRITE_ONCE(rounds, rounds + 1);
		now = slab_bytes();
		peak = max(peak, now > before ? now - before : 0);
	}
	KUNIT_EXPECT_LT(test, peak, SZ_16M);
	kunit_info(test, "%d rounds, %lu bytes\n", rounds, peak);
}

/* --- Registers --------------------------------------------------------------- */

static struct pt_regs *seen_regs;
static unsigned long seen_ip;

static int note_regs(struct fprobe *fp, unsigned long ip, unsigned long ret_ip,
		     struct ftrace_regs *fregs, void *data)
{
	struct pt_regs *regs = ftrace_get_regs(fregs);

	WRITE_ONCE(seen_regs, regs);
	WRITE_ONCE(seen_ip, regs ? instruction_pointer(regs) : 0);
	return 0;
}

static void fprobe_gets_registers_it_asks_for(struct kunit *test)
{
	unsigned long addr = (unsigned long)plain;
	int ret;

	memset(&probe, 0, sizeof(probe));
	probe.fp.entry_handler = note_regs;
	KUNIT_ASSERT_EQ(test, register_fprobe_ips(&probe.fp, &addr, 1), 0);
	WRITE_ONCE(seen_regs, (void *)1);
	plain(1);
	KUNIT_EXPECT_NULL(test, READ_ONCE(seen_regs));
	KUNIT_EXPECT_EQ(test, unregister_fprobe(&probe.fp), 0);

	if (!IS_ENABLED(CONFIG_FPROBE_OPS))
		return;
	probe.fp.flags |= FPROBE_FL_SAVE_REGS;
	ret = register_fprobe_ips(&probe.fp, &addr, 1);
	if (!IS_ENABLED(CONFIG_FPROBE_SAVE_REGS)) {
		KUNIT_EXPECT_EQ(test, ret, -EOPNOTSUPP);
		return;
	}
	KUNIT_ASSERT_EQ(test, ret, 0);
	plain(1);
	KUNIT_EXPECT_NOT_NULL(test, READ_ONCE(seen_regs));
	KUNIT_EXPECT_TRUE(test, within(READ_ONCE(seen_ip), plain));
	KUNIT_EXPECT_EQ(test, unregister_fprobe(&probe.fp), 0);
}

/* --- kretprobes -------------------------------------------------------------- */

static unsigned long kret_value;
static bool kret_got_all;

/* Where few registers are saved, for an fprobe's exit handler, cs or pstate is 0. */
static bool has_all_registers(struct pt_regs *regs)
{
#ifdef CONFIG_X86_64
	return regs->cs == __KERNEL_CS;
#else
	return !user_mode(regs);
#endif
}

static int on_kret(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	WRITE_ONCE(kret_value, regs_return_value(regs));
	WRITE_ONCE(kret_got_all, has_all_registers(regs));
	regs_set_return_value(regs, regs_return_value(regs) + 100);
	return 0;
}

static struct kretprobe kret;

static void kretprobe_beside_fprobe(struct kunit *test, bool kret_first)
{
	memset(&kret, 0, sizeof(kret));
	kret.kp.addr = (void *)plain;
	kret.handler = on_kret;
	if (kret_first)
		KUNIT_ASSERT_EQ(test, register_kretprobe(&kret), 0);
	KUNIT_ASSERT_EQ(test, attach(&probe, plain), 0);
	if (!kret_first)
		KUNIT_ASSERT_EQ(test, register_kretprobe(&kret), 0);

	WRITE_ONCE(kret_value, 0);
	KUNIT_EXPECT_EQ(test, calls_plain(1), 103);
	expect(test, &probe, 1, 1);
	/* Who hooks last sees the value first. */
	KUNIT_EXPECT_EQ(test, READ_ONCE(kret_value), 2);
	KUNIT_EXPECT_TRUE(test, READ_ONCE(kret_got_all));
	KUNIT_EXPECT_EQ(test, kret.nmissed, 0);
	/* Unless both use rethook, an fprobe takes a kretprobe's trampoline for the caller. */
	if (IS_ENABLED(CONFIG_FPROBE_OPS) && IS_ENABLED(CONFIG_KRETPROBE_ON_RETHOOK))
		KUNIT_EXPECT_TRUE(test, within(probe.ret_ip, calls_plain));
	KUNIT_EXPECT_TRUE(test, caller_on_stack(&probe, calls_plain));

	unregister_kretprobe(&kret);
	KUNIT_EXPECT_EQ(test, calls_plain(1), 3);
	expect(test, &probe, 2, 2);
	KUNIT_EXPECT_EQ(test, unregister_fprobe(&probe.fp), 0);
}

static void kretprobe_and_fprobe(struct kunit *test)
{
	kretprobe_beside_fprobe(test, true);
	kretprobe_beside_fprobe(test, false);
}

static int on_kret_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	return 0;
}

/* What hooks a return can be traced, and its own return is hooked before that one. */
static void fprobe_return_of_what_hooks_returns(struct kunit *test)
{
	static const char * const names[] = {
		"kretprobe_ftrace_handler", "pre_handler_kretprobe", "kprobe_ftrace_handler",
	};
	int exits = 0;

	for (int i = 0; i < 2 * ARRAY_SIZE(names); i++) {
		memset(&kret, 0, sizeof(kret));
		kret.kp.addr = (void *)plain;
		kret.handler = on_kret;
		kret.entry_handler = i % 2 ? on_kret_entry : NULL;
		memset(&other, 0, sizeof(other));
		other.fp.entry_handler = on_entry;
		other.fp.exit_handler = on_exit;
		other.fp.entry_data_size = sizeof(struct entry_data);
		if (register_fprobe(&other.fp, names[i / 2], NULL))
			continue;
		KUNIT_EXPECT_EQ(test, register_kretprobe(&kret), 0);
		WRITE_ONCE(kret_value, 0);
		KUNIT_EXPECT_EQ(test, calls_plain(1), 103);
		KUNIT_EXPECT_EQ(test, READ_ONCE(kret_value), 2);
		unregister_kretprobe(&kret);
		KUNIT_EXPECT_EQ(test, unregister_fprobe(&other.fp), 0);
		KUNIT_EXPECT_EQ(test, atomic_read(&other.wrong), 0);
		exits += atomic_read(&other.exits);
	}
	if (!exits && test->status == KUNIT_SUCCESS)
		kunit_skip(test, "none of what hooks returns can be traced");
}

static atomic_t kprobe_hits, kret_entries, kret_exits;

static int count_kprobe(struct kprobe *kp, struct pt_regs *regs)
{
	atomic_inc(&kprobe_hits);
	return 0;
}

static void after_kprobe(struct kprobe *kp, struct pt_regs *regs, unsigned long flags)
{
}

static int count_kret_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	/* As for each handler of a kprobe: these are whole, and of the function. */
	if (within(instruction_pointer(regs), plain) && !user_mode(regs))
		atomic_inc(&kret_entries);
	return 0;
}

static int count_kret_exit(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	if (within(instruction_pointer(regs), calls_plain) && !user_mode(regs))
		atomic_inc(&kret_exits);
	return 0;
}

static void expect_hits(struct kunit *test, int kprobe, int entries, int exits)
{
	atomic_set(&kprobe_hits, 0);
	atomic_set(&kret_entries, 0);
	atomic_set(&kret_exits, 0);
	KUNIT_EXPECT_EQ(test, calls_plain(1), 3);
	KUNIT_EXPECT_EQ(test, atomic_read(&kprobe_hits), kprobe);
	KUNIT_EXPECT_EQ(test, atomic_read(&kret_entries), entries);
	KUNIT_EXPECT_EQ(test, atomic_read(&kret_exits), exits);
}

static void kretprobe_with_company(struct kunit *test, bool entry, bool post)
{
	struct kprobe kp = {
		.addr = (void *)plain,
		.pre_handler = count_kprobe,
		.post_handler = post ? after_kprobe : NULL,
	};

	memset(&kret, 0, sizeof(kret));
	kret.kp.addr = (void *)plain;
	kret.handler = count_kret_exit;
	kret.entry_handler = entry ? count_kret_entry : NULL;
	KUNIT_ASSERT_EQ(test, register_kretprobe(&kret), 0);
	expect_hits(test, 0, entry, 1);
	KUNIT_EXPECT_EQ(test, disable_kretprobe(&kret), 0);
	expect_hits(test, 0, 0, 0);
	KUNIT_EXPECT_EQ(test, enable_kretprobe(&kret), 0);
	expect_hits(test, 0, entry, 1);

	KUNIT_ASSERT_EQ(test, register_kprobe(&kp), 0);
	expect_hits(test, 1, entry, 1);
	KUNIT_EXPECT_EQ(test, disable_kretprobe(&kret), 0);
	expect_hits(test, 1, 0, 0);
	KUNIT_EXPECT_EQ(test, disable_kprobe(&kp), 0);
	expect_hits(test, 0, 0, 0);
	KUNIT_EXPECT_EQ(test, enable_kretprobe(&kret), 0);
	expect_hits(test, 0, entry, 1);
	KUNIT_EXPECT_EQ(test, enable_kprobe(&kp), 0);
	expect_hits(test, 1, entry, 1);
	unregister_kprobe(&kp);
	expect_hits(test, 0, entry, 1);

	unregister_kretprobe(&kret);
	expect_hits(test, 0, 0, 0);
	KUNIT_EXPECT_EQ(test, kret.nmissed, 0);
	KUNIT_EXPECT_EQ(test, kret.kp.nmissed, 0);
}

static void kretprobe_and_kprobe(struct kunit *test)
{
	for (int i = 0; i < 4; i++)
		kretprobe_with_company(test, i & 1, i & 2);
}

/* --- Functions that return at once ------------------------------------------- */

static noinline __noclone __maybe_unused unsigned long returns_77(void)
{
	return 77;
}

/* As bpf_override_return(), but what that calls on x86 is not there for modules. */
static int return_at_once(struct fprobe *fp, unsigned long ip, unsigned long ret_ip,
			  struct ftrace_regs *fregs, void *data)
{
#ifdef CONFIG_ARM64
	ftrace_regs_set_return_value(fregs, 77);
	ftrace_override_function_with_return(fregs);
#else
	ftrace_regs_set_instruction_pointer(fregs, (unsigned long)returns_77);
#endif
	return 0;
}

/* Whichever of the two is registered first, the function returns 77 to the kretprobe. */
static void override_with_kretprobe(struct kunit *test, bool kret_first, bool entry)
{
	unsigned long addr = (unsigned long)plain;

	memset(&probe, 0, sizeof(probe));
	probe.fp.entry_handler = return_at_once;
	memset(&kret, 0, sizeof(kret));
	kret.kp.addr = (void *)plain;
	kret.handler = count_kret_exit;
	kret.entry_handler = entry ? count_kret_entry : NULL;
	if (kret_first)
		KUNIT_ASSERT_EQ(test, register_kretprobe(&kret), 0);
	KUNIT_ASSERT_EQ(test, register_fprobe_ips(&probe.fp, &addr, 1), 0);
	if (!kret_first)
		KUNIT_ASSERT_EQ(test, register_kretprobe(&kret), 0);

	atomic_set(&kret_exits, 0);
	for (int i = 0; i < MANY; i++)
		KUNIT_EXPECT_EQ(test, calls_plain(1), 78);
	KUNIT_EXPECT_EQ(test, atomic_read(&kret_exits), MANY);

	KUNIT_EXPECT_EQ(test, unregister_fprobe(&probe.fp), 0);
	KUNIT_EXPECT_EQ(test, calls_plain(1), 3);
	KUNIT_EXPECT_EQ(test, atomic_read(&kret_exits), MANY + 1);
	unregister_kretprobe(&kret);
}

static void kretprobe_of_function_that_returns_at_once(struct kunit *test)
{
	for (int i = 0; i < 4; i++)
		override_with_kretprobe(test, i & 1, i & 2);
}

static int call_until_stopped(void *calls)
{
	while (!kthread_should_stop()) {
		calls_plain(1);
		WRITE_ONCE(*(int *)calls, *(int *)calls + 1);
		cond_resched_tasks_rcu_qs();
	}
	return 0;
}

static atomic_t first_hits;

static int count_first(struct kprobe *kp, struct pt_regs *regs)
{
	atomic_inc(&first_hits);
	return 0;
}

/*
 * While a function is called, a kprobe comes to it and goes, beside a kprobe, a kretprobe
 * or both: each must see each call once. One that was alone becomes part of an aggregate.
 */
static void keep_count(struct kunit *test, bool with_kprobe, bool with_kretprobe, bool post)
{
	struct kprobe first = { .addr = (void *)plain, .pre_handler = count_first };
	struct kprobe kp = {
		.addr = (void *)plain,
		.pre_handler = count_kprobe,
		.post_handler = post ? after_kprobe : NULL,
	};
	struct task_struct *task;
	int calls = 0;

	memset(&kret, 0, sizeof(kret));
	kret.kp.addr = (void *)plain;
	kret.handler = count_kret_exit;
	if (with_kretprobe)
		KUNIT_ASSERT_EQ(test, register_kretprobe(&kret), 0);
	if (with_kprobe)
		KUNIT_ASSERT_EQ(test, register_kprobe(&first), 0);

	atomic_set(&first_hits, 0);
	atomic_set(&kret_exits, 0);
	task = kthread_run(call_until_stopped, &calls, "fprobe-calls");
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	get_task_struct(task);
	/* QEMU may keep what it translates while that is patched: let it be done. */
	while (READ_ONCE(calls) < 100)
		msleep(20);
	KUNIT_EXPECT_EQ(test, register_kprobe(&kp), 0);
	msleep(20);
	unregister_kprobe(&kp);
	kthread_stop_put(task);

	if (with_kprobe) {
		KUNIT_EXPECT_EQ(test, atomic_read(&first_hits), calls);
		KUNIT_EXPECT_EQ(test, first.nmissed, 0);
		unregister_kprobe(&first);
	}
	if (with_kretprobe) {
		KUNIT_EXPECT_EQ(test, atomic_read(&kret_exits), calls);
		KUNIT_EXPECT_EQ(test, kret.nmissed, 0);
		KUNIT_EXPECT_EQ(test, kret.kp.nmissed, 0);
		unregister_kretprobe(&kret);
	}
}

static void probes_keep_count(struct kunit *test)
{
	for (int i = 0; i < 10; i++) {
		keep_count(test, false, true, false);
		keep_count(test, false, true, true);
		keep_count(test, true, false, true);
		keep_count(test, true, true, true);
	}
}

/* --- Registers at a return --------------------------------------------------- */

#ifdef CONFIG_ARM64
/* A function that leaves a value in each register, and one that calls it */
asmlinkage void kret_kunit_target(void);
asmlinkage void kret_kunit_call(void);

#define KRET_FLAGS	(PSR_Z_BIT | PSR_C_BIT)
/* Which registers have their number there; x18 may be the shadow call stack's. */
#define KRET_VALUES	(GENMASK(28, 0) & ~BIT(18))
#define KRET_VALUE(n)	((0x4567UL << 32) + (n))

asm("	.pushsection .text, \"ax\"\n"
"	.p2align 3\n"
"	.type	kret_kunit_target, %function\n"
"kret_kunit_target:\n"
"	hint	#34\n"
"	mov	x9, #0x60000000\n"
"	msr	nzcv, x9\n"
"	.irp	n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,19,20,21,22,23,24,25,26,27,28\n"
"	mov	x\\n, #\\n\n"
"	movk	x\\n, #0x4567, lsl #32\n"
"	.endr\n"
"	ret\n"
"	.size	kret_kunit_target, . - kret_kunit_target\n"

"	.p2align 3\n"
"	.type	kret_kunit_call, %function\n"
"kret_kunit_call:\n"
"	hint	#34\n"
"	stp	x29, x30, [sp, #-96]!\n"
"	mov	x29, sp\n"
"	stp	x19, x20, [sp, #16]\n"
"	stp	x21, x22, [sp, #32]\n"
"	stp	x23, x24, [sp, #48]\n"
"	stp	x25, x26, [sp, #64]\n"
"	stp	x27, x28, [sp, #80]\n"
"	bl	kret_kunit_target\n"
"	ldp	x19, x20, [sp, #16]\n"
"	ldp	x21, x22, [sp, #32]\n"
"	ldp	x23, x24, [sp, #48]\n"
"	ldp	x25, x26, [sp, #64]\n"
"	ldp	x27, x28, [sp, #80]\n"
"	ldp	x29, x30, [sp], #96\n"
"	ret\n"
"	.size	kret_kunit_call, . - kret_kunit_call\n"
"	.popsection\n");

static struct pt_regs kret_regs;

static int note_kret_regs(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	kret_regs = *regs;
	return 0;
}

/* Whatever the function is: one that the compiler did not make can return any of them. */
static void kretprobe_gets_all_registers(struct kunit *test)
{
	memset(&kret, 0, sizeof(kret));
	memset(&kret_regs, 0, sizeof(kret_regs));
	kret.kp.addr = (void *)kret_kunit_target;
	kret.handler = note_kret_regs;
	KUNIT_ASSERT_EQ(test, register_kretprobe(&kret), 0);
	kret_kunit_call();
	unregister_kretprobe(&kret);

	for (int i = 0; i < 31; i++) {
		if (KRET_VALUES & BIT(i))
			KUNIT_EXPECT_EQ_MSG(test, kret_regs.regs[i], KRET_VALUE(i), "x%d", i);
	}
	KUNIT_EXPECT_EQ(test, kret_regs.pstate & GENMASK(31, 28), KRET_FLAGS);
	KUNIT_EXPECT_FALSE(test, user_mode(&kret_regs));
	KUNIT_EXPECT_TRUE(test, within(kret_regs.pc, kret_kunit_call));
}
#else
static void kretprobe_gets_all_registers(struct kunit *test)
{
	kunit_skip(test, "for arm64");
}
#endif

/* --- Stress ------------------------------------------------------------------ */

static int busy(void *arg)
{
	while (!kthread_should_stop()) {
		for (unsigned long i = 0; i < 100; i++) {
			if (calls_plain(i) != i + 2 || leaves_by_plain(i) != i + 11 ||
			    recursive(3) != 6)
				atomic_inc(&wrong_results);
		}
		/* Freeing a probe waits for a quiescent state of each task. */
		cond_resched_tasks_rcu_qs();
	}
	return 0;
}

static int dozing(void *arg)
{
	while (!kthread_should_stop()) {
		if (sleeps(1) != 3)
			atomic_inc(&wrong_results);
		usleep_range(100, 1000);
	}
	return 0;
}

/* How often it saw a function return, none of which was wrong */
static int detach(struct kunit *test, struct probe *p)
{
	KUNIT_EXPECT_EQ(test, unregister_fprobe(&p->fp), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&p->wrong), 0);
	return atomic_read(&p->exits);
}

static void fprobe_return_survives_stress(struct kunit *test)
{
	static void *const funcs[] = { plain, leaves_by_plain, recursive, sleeps, exits };
	unsigned long end = jiffies + stress_seconds * HZ;
	struct task_struct *task[8] = {};
	struct rnd_state rnd;
	unsigned long rounds = 0;
	bool attached[8] = {};
	u64 n = 0;

	many = kunit_kcalloc(test, ARRAY_SIZE(attached), sizeof(*many), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, many);
	prandom_seed_state(&rnd, 1);
	atomic_set(&wrong_results, 0);
	WRITE_ONCE(awake, false);
	/* Attach before a function is hot; see what emulators keep of it. */
	for (int i = 0; i < ARRAY_SIZE(funcs); i++) {
		KUNIT_ASSERT_EQ(test, attach(&many[i], funcs[i]), 0);
		attached[i] = true;
	}
	for (int i = 0; i < ARRAY_SIZE(task); i++) {
		task[i] = kthread_run(i < 4 ? busy : dozing, NULL, "fprobe-stress/%d", i);
		if (IS_ERR(task[i]))
			task[i] = NULL;
	}

	while (time_before(jiffies, end)) {
		u32 r = prandom_u32_state(&rnd);
		int i = r % ARRAY_SIZE(attached);

		if (attached[i])
			n += detach(test, &many[i]);
		else if (attach(&many[i], funcs[(r >> 8) % ARRAY_SIZE(funcs)]))
			break;
		attached[i] = !attached[i];
		if (++rounds % 8)
			continue;
		kthread_run(exit_in, NULL, "fprobe-exit");
		WRITE_ONCE(awake, true);
		wake_up_all(&sleepers);
		usleep_range(100, 1000);
		WRITE_ONCE(awake, false);
	}
	KUNIT_EXPECT_FALSE(test, time_before(jiffies, end));

	WRITE_ONCE(awake, true);
	wake_up_all(&sleepers);
	for (int i = 0; i < ARRAY_SIZE(task); i++) {
		if (task[i])
			kthread_stop(task[i]);
	}
	for (int i = 0; i < ARRAY_SIZE(attached); i++) {
		if (attached[i])
			n += detach(test, &many[i]);
	}
	KUNIT_EXPECT_EQ(test, atomic_read(&wrong_results), 0);
	KUNIT_EXPECT_GT(test, n, 0ULL);
	kunit_info(test, "%lu probes came or went\n", rounds);
}

static struct kunit_case fprobe_return_cases[] = {
	KUNIT_CASE(fprobe_return_sees_value_and_caller),
	KUNIT_CASE(fprobe_entry_can_decline),
	KUNIT_CASE(fprobe_return_of_recursion),
	KUNIT_CASE(fprobe_return_of_tail_call),
	KUNIT_CASE(fprobes_in_great_number),
	KUNIT_CASE(fprobe_is_registered_once),
	KUNIT_CASE_SLOW(fprobe_return_of_many_sleepers),
	KUNIT_CASE_SLOW(fprobe_goes_while_they_sleep),
	KUNIT_CASE_SLOW(fprobe_of_task_that_exits),
	KUNIT_CASE_SLOW(fprobe_of_tasks_reaped_elsewhere),
	KUNIT_CASE_SLOW(fprobe_return_of_allocators),
	KUNIT_CASE_SLOW(fprobe_return_of_interrupts),
	KUNIT_CASE_SLOW(fprobes_that_come_and_go_are_freed),
	KUNIT_CASE(fprobe_gets_registers_it_asks_for),
	KUNIT_CASE(kretprobe_and_fprobe),
	KUNIT_CASE(fprobe_return_of_what_hooks_returns),
	KUNIT_CASE(kretprobe_and_kprobe),
	KUNIT_CASE_SLOW(probes_keep_count),
	KUNIT_CASE(kretprobe_gets_all_registers),
	KUNIT_CASE(kretprobe_of_function_that_returns_at_once),
	KUNIT_CASE_SLOW(fprobe_return_survives_stress),
	{}
};

static struct kunit_suite fprobe_return_suite = {
	.name = "fprobe_return",
	.test_cases = fprobe_return_cases,
};

kunit_test_suite(fprobe_return_suite);

MODULE_DESCRIPTION("KUnit tests of what fprobes and kretprobes see of returns");
MODULE_LICENSE("GPL");
