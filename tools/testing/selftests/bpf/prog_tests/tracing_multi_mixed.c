// SPDX-License-Identifier: GPL-2.0
/* Programs on many functions beside all else that attaches to one of them. */
#include <test_progs.h>
#include <bpf/btf.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include "testing_helpers.h"
#include "tracing_multi_mixed.skel.h"

#define FUNC		"cmdline_proc_show"
#define INSTANCE	"/sys/kernel/tracing/instances/tracing_multi_mixed"
#define LIVEPATCH	"/sys/kernel/livepatch/livepatch_sample/enabled"
#define CHURN_SECONDS	10
#define MAX_THREADS	16

static struct tracing_multi_mixed *skel;
static struct btf *btf;
static __u32 func_id;
static __u64 func_addr;

/* What attaches, in the orders that are tried */
enum kind { MULTI, KPROBE, FPROBE, SINGLE, GRAPH, NR_KINDS };

static struct bpf_link *links[NR_KINDS][3];
static bool attached[NR_KINDS];

/* One call of the function that shows the file */
static int read_file(const char *path, char *buf, size_t size)
{
	int fd = open(path, O_RDONLY), n;

	if (fd < 0)
		return -errno;
	n = read(fd, buf, size - 1);
	close(fd);
	if (n >= 0)
		buf[n] = '\0';
	return n;
}

static void call(void)
{
	char buf[4096];

	ASSERT_GT(read_file("/proc/cmdline", buf, sizeof(buf)), 0, "call");
}

static int count_in_trace(void)
{
	char *line = NULL;
	size_t size = 0;
	int found = 0;
	FILE *f;

	f = fopen(INSTANCE "/trace", "r");
	if (!f)
		return -1;
	while (getline(&line, &size, f) > 0)
		/* Not its return, which has a line of its own if it is on another CPU */
		found += line[0] != '#' && strstr(line, FUNC "(");
	free(line);
	fclose(f);
	return found;
}

static struct bpf_link *attach_multi(const struct bpf_program *prog, const __u32 *ids, __u32 cnt)
{
	LIBBPF_OPTS(bpf_tracing_multi_opts, opts, .ids = ids, .cnt = cnt);

	return bpf_program__attach_tracing_multi(prog, NULL, &opts);
}

static bool attach(enum kind kind)
{
	struct bpf_link **link = links[kind];
	int nr = 2;

	switch (kind) {
	case MULTI:
		link[0] = attach_multi(skel->progs.on_multi_entry, &func_id, 1);
		link[1] = attach_multi(skel->progs.on_multi_exit, &func_id, 1);
		link[2] = attach_multi(skel->progs.on_session, &func_id, 1);
		nr = 3;
		break;
	case KPROBE:
		link[0] = bpf_program__attach(skel->progs.on_breakpoint);
		link[1] = bpf_program__attach(skel->progs.on_breakpoint_exit);
		break;
	case FPROBE:
		link[0] = bpf_program__attach(skel->progs.on_symbol);
		link[1] = bpf_program__attach(skel->progs.on_symbol_exit);
		break;
	case SINGLE:
		link[0] = bpf_program__attach(skel->progs.on_single_entry);
		link[1] = bpf_program__attach(skel->progs.on_single_exit);
		break;
	default:
		nr = 0;
		if (write_sysctl(INSTANCE "/current_tracer", "function_graph"))
			return false;
	}
	attached[kind] = true;
	for (int i = 0; i < nr; i++) {
		if (!ASSERT_OK_PTR(link[i], "attach")) {
			link[i] = NULL;
			return false;
		}
	}
	return true;
}

static void detach(enum kind kind)
{
	if (kind == GRAPH && attached[kind])
		write_sysctl(INSTANCE "/current_tracer", "nop");
	for (int i = 0; i < ARRAY_SIZE(links[kind]); i++) {
		bpf_link__destroy(links[kind][i]);
		links[kind][i] = NULL;
	}
	attached[kind] = false;
}

/* An entry's stack begins at the function, that of an exit at the same place in its caller. */
static bool check_stacks(const struct tracing_multi_mixed__bss *seen)
{
	__u64 caller = seen->entry_stack[1];
	bool good = true;

	if (!attached[MULTI])
		return true;
	good &= ASSERT_LE(seen->entry_stack[0] - func_addr, 16, "fentry.multi, stack");
	good &= ASSERT_LE(seen->session_stack[0] - func_addr, 16, "fsession.multi, stack");
	good &= ASSERT_NEQ(caller, 0, "fentry.multi, caller");
	good &= ASSERT_EQ(seen->session_stack[1], caller, "fsession.multi, caller");
	good &= ASSERT_EQ(seen->exit_stack[0], caller, "fexit.multi, stack");
	good &= ASSERT_EQ(seen->session_exit_stack[0], caller,
			  "exit of fsession.multi, stack");
	return good;
}

/* Each one that is attached sees each call once, and no other sees any. */
static bool check(void)
{
	struct tracing_multi_mixed__bss *seen = skel->bss;
	int tid = seen->tid;
	bool good = true;

	memset(seen, 0, sizeof(*seen));
	seen->tid = tid;
	/* This clears the trace. */
	close(open(INSTANCE "/trace", O_WRONLY | O_TRUNC));
	call();
	good &= check_stacks(seen);
	good &= ASSERT_EQ(seen->multi_entries, attached[MULTI], "fentry.multi");
	good &= ASSERT_EQ(seen->multi_exits, attached[MULTI], "fexit.multi");
	good &= ASSERT_EQ(seen->sessions, attached[MULTI], "fsession.multi");
	good &= ASSERT_EQ(seen->session_exits, attached[MULTI], "exit of fsession.multi");
	good &= ASSERT_EQ(seen->breakpoints, attached[KPROBE], "kprobe");
	good &= ASSERT_EQ(seen->breakpoint_exits, attached[KPROBE], "kretprobe");
	good &= ASSERT_EQ(seen->symbols, attached[FPROBE], "kprobe.multi");
	good &= ASSERT_EQ(seen->symbol_exits, attached[FPROBE], "kretprobe.multi");
	good &= ASSERT_EQ(seen->single_entries, attached[SINGLE], "fentry");
	good &= ASSERT_EQ(seen->single_exits, attached[SINGLE], "fexit");
	good &= ASSERT_EQ(count_in_trace(), attached[GRAPH], "function_graph");
	return good;
}

static bool attach_and_detach(const enum kind *order)
{
	bool good = true;

	for (int i = 0; i < NR_KINDS && good; i++)
		good = attach(order[i]) && check();
	for (int i = 0; i < NR_KINDS && good; i++) {
		detach(order[i]);
		good = check();
	}
	for (int i = 0; i < NR_KINDS; i++)
		detach(i);
	if (!good) {
		printf("order:");
		for (int i = 0; i < NR_KINDS; i++)
			printf(" %d", order[i]);
		printf("\n");
	}
	return good;
}

/* @order from @at on in every order */
static bool try_orders(enum kind *order, int at)
{
	bool good = true;

	if (at == NR_KINDS)
		return attach_and_detach(order);
	for (int i = at; i < NR_KINDS && good; i++) {
		enum kind first = order[i];

		order[i] = order[at];
		order[at] = first;
		good = try_orders(order, at + 1);
		order[at] = order[i];
		order[i] = first;
	}
	return good;
}

static bool make_instance(void)
{
	if (!ASSERT_OK(mkdir(INSTANCE, 0755), INSTANCE))
		return false;
	return !write_sysctl(INSTANCE "/set_ftrace_filter", FUNC);
}

static void test_orders(void)
{
	enum kind order[NR_KINDS] = { MULTI, KPROBE, FPROBE, SINGLE, GRAPH };

	if (make_instance())
		try_orders(order, 0);
	rmdir(INSTANCE);
}

static int load_livepatch(void)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/samples/livepatch/livepatch-sample.ko",
		 getenv("KBUILD_OUTPUT") ? : "../../../..");
	return load_module(path, env_verbosity > VERBOSE_NONE);
}

static bool is_patched(void)
{
	char buf[4096];

	return read_file("/proc/cmdline", buf, sizeof(buf)) > 0 &&
	       strstr(buf, "this has been live patched");
}

static bool wait_patched(bool patched)
{
	for (int i = 0; i < 1200; i++) {
		if (is_patched() == patched)
			return true;
		usleep(100000);
	}
	return false;
}

/* The sample replaces the function, before, among and after the others. */
static void test_livepatch(void)
{
	if (!make_instance())
		goto out;
	for (int at = 0; at <= NR_KINDS; at++) {
		bool good = true;

		for (int i = 0; i <= NR_KINDS && good; i++) {
			if (i == at) {
				good = ASSERT_OK(load_livepatch(), "livepatch") &&
				       ASSERT_TRUE(wait_patched(true), "patched") && check();
			}
			if (i < NR_KINDS && good)
				good = attach(i) && check();
		}
		ASSERT_EQ(is_patched(), true, "still patched");
		for (int i = 0; i < NR_KINDS; i++) {
			detach(i);
			if (good)
				good = check();
		}
		if (!access(LIVEPATCH, F_OK))
			write_sysctl(LIVEPATCH, "0");
		wait_patched(false);
		for (int i = 0; i < 1200 && !access(LIVEPATCH, F_OK); i++)
			usleep(100000);
		good &= ASSERT_OK(unload_module("livepatch_sample", env_verbosity > VERBOSE_NONE),
				  "unload");
		if (!good)
			break;
	}
out:
	rmdir(INSTANCE);
}

/* --- Links that overlap come and go on all CPUs ------------------------------- */

static const struct {
	const char *func, *path;
} shown[] = {
	{ "cmdline_proc_show", "/proc/cmdline" },
	{ "version_proc_show", "/proc/version" },
	{ "uptime_proc_show", "/proc/uptime" },
	{ "loadavg_proc_show", "/proc/loadavg" },
	{ "meminfo_proc_show", "/proc/meminfo" },
};

static __u32 shown_ids[ARRAY_SIZE(shown)];

struct churn {
	pthread_t thread;
	int cpu;
	time_t end;
	const char *failed;
	__u64 rounds;
};

static int compare_ids(const void *a, const void *b)
{
	return *(const __u32 *)a < *(const __u32 *)b ? -1 : 1;
}

/* All are called: @seen counts the calls of those that @on has. */
static const char *churn_calls(struct tracing_multi_mixed__bss *seen, int on)
{
	int tid = seen->tid, calls = 0;
	char buf[4096];

	memset(seen, 0, sizeof(*seen));
	seen->tid = tid;
	for (int n = 0; n < 4; n++) {
		for (int i = 0; i < ARRAY_SIZE(shown); i++) {
			if (read_file(shown[i].path, buf, sizeof(buf)) <= 0)
				return "read";
			calls += on >> i & 1;
		}
	}
	if (seen->multi_entries != calls)
		return "fentry.multi";
	if (seen->multi_exits != calls)
		return "fexit.multi";
	if (seen->sessions != calls)
		return "fsession.multi";
	if (seen->session_exits != calls)
		return "exit of fsession.multi";
	return NULL;
}

static void *churn(void *arg)
{
	struct tracing_multi_mixed *own = tracing_multi_mixed__open_and_load();
	struct bpf_link *link[3] = {};
	struct churn *churn = arg;
	cpu_set_t cpus;

	if (!own) {
		churn->failed = "load";
		return NULL;
	}
	CPU_ZERO(&cpus);
	CPU_SET(churn->cpu, &cpus);
	pthread_setaffinity_np(pthread_self(), sizeof(cpus), &cpus);
	own->bss->tid = syscall(SYS_gettid);
	while (!churn->failed && (!churn->rounds || time(NULL) < churn->end)) {
		__u32 ids[ARRAY_SIZE(shown)], nr = 0;
		int on = 1 + (churn->rounds * 7 + churn->cpu * 5) % ((1 << ARRAY_SIZE(shown)) - 1);

		for (int i = 0; i < ARRAY_SIZE(shown); i++) {
			if (on >> i & 1)
				ids[nr++] = shown_ids[i];
		}
		qsort(ids, nr, sizeof(*ids), compare_ids);
		link[0] = attach_multi(own->progs.on_multi_entry, ids, nr);
		link[1] = attach_multi(own->progs.on_multi_exit, ids, nr);
		link[2] = attach_multi(own->progs.on_session, ids, nr);
		if (link[0] && link[1] && link[2])
			churn->failed = churn_calls(own->bss, on);
		else
			churn->failed = "attach";
		for (int i = 0; i < ARRAY_SIZE(link); i++)
			bpf_link__destroy(link[i]);
		if (!churn->failed && churn_calls(own->bss, 0))
			churn->failed = "runs after it was detached";
		churn->rounds++;
	}
	tracing_multi_mixed__destroy(own);
	return NULL;
}

static void test_churn(void)
{
	struct churn threads[MAX_THREADS] = {};
	int nr = libbpf_num_possible_cpus();

	for (int i = 0; i < ARRAY_SIZE(shown); i++) {
		shown_ids[i] = btf__find_by_name_kind(btf, shown[i].func, BTF_KIND_FUNC);
		if (!ASSERT_GT((int)shown_ids[i], 0, shown[i].func))
			return;
	}
	if (nr > MAX_THREADS)
		nr = MAX_THREADS;
	for (int i = 0; i < nr; i++) {
		threads[i].cpu = i;
		threads[i].end = time(NULL) + CHURN_SECONDS;
		if (!ASSERT_OK(pthread_create(&threads[i].thread, NULL, churn, &threads[i]),
			       "thread"))
			nr = i;
	}
	for (int i = 0; i < nr; i++) {
		pthread_join(threads[i].thread, NULL);
		ASSERT_STREQ(threads[i].failed ?: "nothing", "nothing", "failed");
		ASSERT_GT(threads[i].rounds, 0, "rounds");
	}
}

void serial_test_tracing_multi_mixed(void)
{
	btf = btf__load_vmlinux_btf();
	if (!ASSERT_OK_PTR(btf, "vmlinux BTF"))
		return;
	func_id = btf__find_by_name_kind(btf, FUNC, BTF_KIND_FUNC);
	skel = tracing_multi_mixed__open_and_load();
	if (!ASSERT_OK_PTR(skel, "open_and_load"))
		goto out;
	if (!ASSERT_OK(load_kallsyms(), "load_kallsyms"))
		goto out;
	func_addr = ksym_get_addr(FUNC);
	if (!ASSERT_NEQ(func_addr, 0, FUNC))
		goto out;
	skel->bss->tid = syscall(SYS_gettid);

	if (test__start_subtest("orders"))
		test_orders();
	if (test__start_subtest("livepatch"))
		test_livepatch();
	if (test__start_subtest("churn"))
		test_churn();
out:
	tracing_multi_mixed__destroy(skel);
	btf__free(btf);
}
