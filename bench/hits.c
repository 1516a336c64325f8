// SPDX-License-Identifier: GPL-2.0
/*
 * hits - what BPF tracing costs, in nanoseconds of this machine's clock; under
 * QEMU's "-icount shift=0" one nanosecond is one instruction.
 *
 *   hits hit TYPE [2]		what a program, or two, adds to one getpgid system call
 *   hits attach TYPE COUNT	attaching to COUNT functions, and detaching
 *   hits write NAME FILE TEXT	one write to a file of tracefs
 *   hits insmod NAME FILE		load a module
 *   hits rmmod NAME MODULE	unload it
 *   hits hold FUNCTION		stay attached to a function's entry; for each empty line
 *				of input, say how often it ran since the last; detach
 *				for the line "off", and attach again for "on"
 *   hits hold FUNCTION OFFSET	likewise, by a kprobe; and say where it is
 *   hits override TYPE [fexit]	does a kprobe or kprobe.multi that makes getpgid return at
 *				once do so, and only as long as it is attached? With a
 *				fexit on it, too, that runs each time?
 *
 *   hits filter TRACER		what the function or the graph tracer of an instance, a kprobe
 *				event there, or an fprobe event of two arguments, adds to one
 *				getpgid: alone, and with a program that drops what it is asked
 *				about, and one that does not
 *   hits cgroup WAY		what "this cgroup only" adds to one getpgid in another one: a
 *				function tracer of vfs_* and getpgid with a program, an event
 *				with a filter (of a PID, as it knows no cgroup), or a
 *				kprobe.multi program with a ring buffer of its own
 *   hits sample COUNT		bytes that an instance records which traces all functions, and
 *				beside it one with a program that keeps one call in COUNT
 *
 * Each prints one line: the words it was called with, then "name=value" pairs,
 * or "error=NAME". Times of attaching are those of this thread on a CPU, so
 * that waiting (for RCU, say) is not counted.
 */
#define _GNU_SOURCE
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <search.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* TARGET, the function behind the getpgid system call, comes from the command line. */
#define TRACEFS "/sys/kernel/tracing/"
#define MAX_FUNCS 100000
#define BATCHES 10
#define CALLS 1000
#define MAX_PROGRAMS 2
#define ROUNDS 10

/* libbpf's own test of a function's BTF; it is in the archive, not the header. */
bool btf_type_is_traceable_func(const struct btf *btf, const struct btf_type *t);

static const struct type {
	const char *name;
	const char *prog;
	enum { TRAMPOLINE, TRACING_MULTI, KPROBE_MULTI, KPROBE_SESSION, KPROBE } how;
	bool ret;
} types[] = {
	{ "fentry",          "on_fentry",          TRAMPOLINE,    false },
	{ "fexit",           "on_fexit",           TRAMPOLINE,    true },
	{ "fsession",        "on_fsession",        TRAMPOLINE,    true },
	{ "fentry.multi",    "on_fentry_multi",    TRACING_MULTI, false },
	{ "fexit.multi",     "on_fexit_multi",     TRACING_MULTI, true },
	{ "fsession.multi",  "on_fsession_multi",  TRACING_MULTI, true },
	{ "fmod_ret.multi",  "on_fmod_ret_multi",  TRACING_MULTI, false },
	{ "fentry.multi-cast", "on_fentry_multi_cast", TRACING_MULTI, false },
	{ "fentry.multi-casts", "on_fentry_multi_casts", TRACING_MULTI, false },
	{ "fentry.multi-read", "on_fentry_multi_read", TRACING_MULTI, false },
	{ "fentry.multi-info", "on_fentry_multi_info", TRACING_MULTI, false },
	{ "kprobe.multi",    "on_kprobe_multi",    KPROBE_MULTI,  false },
	{ "kprobe.multi-table", "on_kprobe_multi_table", KPROBE_MULTI, false },
	{ "kprobe.multi-cgroup", "on_kprobe_multi_cgroup", KPROBE_MULTI, false },
	{ "kretprobe.multi", "on_kretprobe_multi", KPROBE_MULTI,  true },
	{ "kprobe.session",  "on_kprobe_session",  KPROBE_SESSION, true },
	{ "kprobe",          "on_kprobe",          KPROBE,        false },
	{ "kretprobe",       "on_kretprobe",       KPROBE,        true },
};

static const char *target = TARGET;
static const char *funcs[MAX_FUNCS];
static __u32 ids[MAX_FUNCS];
static unsigned long addrs[MAX_FUNCS];

static long long now(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

static long free_kib(void)
{
	struct sysinfo info;

	sysinfo(&info);
	return info.freeram * info.mem_unit / 1024;
}

static int fail(long err)
{
	printf(" error=%s\n", strerrorname_np(err < 0 ? -err : err) ?: "?");
	return 0;
}

/* Nanoseconds for one system call: the lowest of the batches. */
static double one_call(void)
{
	long long best = -1;

	for (int batch = 0; batch < BATCHES; batch++) {
		long long start = now(CLOCK_MONOTONIC), took;

		for (int i = 0; i < CALLS; i++)
			syscall(__NR_getpgid, 0);
		took = now(CLOCK_MONOTONIC) - start;
		if (best < 0 || took < best)
			best = took;
	}
	return (double)best / CALLS;
}

static int compare(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* Names that stand more than once among the kernel's symbols. */
static void *duplicates(void)
{
	char line[512], name[256];
	void *seen = NULL, *dups = NULL;
	FILE *f = fopen("/proc/kallsyms", "r");

	while (f && fgets(line, sizeof(line), f)) {
		char *copy;

		if (sscanf(line, "%*s %*s %255s", name) != 1)
			continue;
		copy = strdup(name);
		if (*(char **)tsearch(copy, &seen, compare) != copy)
			tsearch(copy, &dups, compare);
	}
	if (f)
		fclose(f);
	return dups;
}

/* What the kernel refuses to a BPF trampoline, or would recurse through. */
static bool denied(const char *name)
{
	static const char *const prefixes[] = {
		"__bpf_prog_", "__rcu_read_", "rcu_", "migrate_", "arch_cpu_idle",
		"___migrate_", "default_idle", "preempt_count_",
		"bpf_dispatcher_", "bpf_lsm_",
	};

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
		if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
			return true;
	return !strcmp(name, "do_exit") || !strcmp(name, "do_group_exit") ||
	       !strcmp(name, "kthread_exit") || !strcmp(name, "make_task_dead") ||
	       strstr(name, "_sys_exit");
}

/*
 * Fill the tables with the first @want functions that can be traced. The
 * benchmark's own target does for one. @btf: they must have one BTF id, too.
 */
static int pick(int want, const struct btf *btf)
{
	void *dups = duplicates();
	char line[512], name[256];
	int n = 0;
	FILE *f;

	if (want == 1) {
		funcs[n++] = TARGET;
		if (btf)
			ids[0] = btf__find_by_name_kind(btf, TARGET, BTF_KIND_FUNC);
		return n;
	}
	f = fopen(TRACEFS "available_filter_functions_addrs", "r");
	while (f && n < want && n < MAX_FUNCS && fgets(line, sizeof(line), f)) {
		unsigned long addr;
		int id = 0;

		if (strchr(line, '[') || sscanf(line, "%lx %255s", &addr, name) != 2)
			continue;
		if (btf) {
			if (tfind(name, &dups, compare) || denied(name))
				continue;
			id = btf__find_by_name_kind(btf, name, BTF_KIND_FUNC);
			if (id < 0 || !btf_type_is_traceable_func(btf, btf__type_by_id(btf, id)))
				continue;
		}
		addrs[n] = addr;
		ids[n] = id;
		funcs[n++] = strdup(name);
	}
	if (f)
		fclose(f);
	return n;
}

static struct bpf_link *attach(const struct type *type, struct bpf_program *prog, int n)
{
	LIBBPF_OPTS(bpf_tracing_multi_opts, tracing);
	LIBBPF_OPTS(bpf_kprobe_multi_opts, multi, .retprobe = type->ret);

	switch (type->how) {
	case TRAMPOLINE:
		return bpf_program__attach_trace(prog);
	case TRACING_MULTI:
		tracing.ids = ids;
		tracing.cnt = n;
		return bpf_program__attach_tracing_multi(prog, NULL, &tracing);
	case KPROBE_SESSION:
		multi.retprobe = false;
		multi.session = true;
		/* fall through */
	case KPROBE_MULTI:
		/* By address where there are many: symbol look-up is not the point. */
		multi.cnt = n;
		if (n > 1)
			multi.addrs = addrs;
		else
			multi.syms = funcs;
		return bpf_program__attach_kprobe_multi_opts(prog, NULL, &multi);
	default:
		return bpf_program__attach_kprobe(prog, type->ret, TARGET);
	}
}

/* The type that on_kprobe_multi_table looks for is the target's first argument. */
static void fill_table(struct bpf_object *obj)
{
	int fd = bpf_object__find_map_fd_by_name(obj, "table");
	FILE *f = fopen("/proc/kallsyms", "r");
	char line[512], name[256];
	__u64 addr;
	__u32 arg = 0;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%llx %*s %255s", (unsigned long long *)&addr, name) == 2 &&
		    !strcmp(name, TARGET))
			bpf_map_update_elem(fd, &addr, &arg, BPF_ANY);
	if (f)
		fclose(f);
}

/* Load the object with the program of @type alone in it. */
static struct bpf_object *load(const struct type *type, struct bpf_program **prog)
{
	struct bpf_object *obj = bpf_object__open_file("hits.bpf.o", NULL);
	struct bpf_program *p;

	if (!obj)
		return NULL;
	bpf_object__for_each_program(p, obj)
		bpf_program__set_autoload(p, !strcmp(bpf_program__name(p), type->prog));
	*prog = bpf_object__find_program_by_name(obj, type->prog);
	bpf_map__set_autocreate(bpf_object__find_map_by_name(obj, "table"),
				!strcmp(type->prog, "on_kprobe_multi_table"));
	if (type->how == TRAMPOLINE)
		bpf_program__set_attach_target(*prog, 0, target);
	if (bpf_object__load(obj)) {
		bpf_object__close(obj);
		return NULL;
	}
	if (!strcmp(type->prog, "on_kprobe_multi_table"))
		fill_table(obj);
	return obj;
}

static int hit(const struct type *type, int programs)
{
	struct bpf_object *objs[MAX_PROGRAMS];
	struct bpf_program *prog;
	struct bpf_link *links[MAX_PROGRAMS];
	struct btf *btf = NULL;
	double before, after;
	__u32 zero = 0;

	printf("hit %s", type->name);
	if (programs > 1)
		printf(" %d", programs);
	if (type->how == TRACING_MULTI)
		btf = btf__load_vmlinux_btf();
	before = one_call();
	for (int i = 0; i < programs; i++) {
		objs[i] = load(type, &prog);
		if (!objs[i])
			return fail(errno);
		links[i] = attach(type, prog, pick(1, btf));
		if (!links[i])
			return fail(errno);
	}
	after = one_call();
	for (int i = 0; i < programs; i++) {
		__u64 count = 0;

		bpf_map_lookup_elem(bpf_object__find_map_fd_by_name(objs[i], ".bss"), &zero, &count);
		bpf_link__destroy(links[i]);
		/* A session runs at entry and at exit. */
		if (count != BATCHES * CALLS * (strstr(type->name, "session") ? 2 : 1))
			printf(" wrong_count=%llu", (unsigned long long)count);
	}
	printf(" added=%.0f\n", after - before);
	return 0;
}

static int attach_many(const struct type *type, int want)
{
	/* What caches happen to hold decides on one function: the lowest of some rounds. */
	int rounds = want == 1 ? ROUNDS : 1, n;
	long long start, took, on = 0, off = 0;
	struct bpf_program *prog;
	struct bpf_object *obj;
	struct bpf_link *link;
	struct btf *btf = NULL;
	long mem, mem_on;

	printf("attach %s %d", type->name, want);
	obj = load(type, &prog);
	if (!obj)
		return fail(errno);
	if (type->how == TRACING_MULTI)
		btf = btf__load_vmlinux_btf();
	n = pick(want, btf);
	mem = free_kib();
	for (int i = 0; i < rounds; i++) {
		start = now(CLOCK_THREAD_CPUTIME_ID);
		link = attach(type, prog, n);
		took = now(CLOCK_THREAD_CPUTIME_ID) - start;
		if (!link)
			return fail(errno);
		on = i && on < took ? on : took;
		mem_on = free_kib();
		start = now(CLOCK_THREAD_CPUTIME_ID);
		bpf_link__destroy(link);
		took = now(CLOCK_THREAD_CPUTIME_ID) - start;
		off = i && off < took ? off : took;
	}
	printf(" functions=%d attach=%lld detach=%lld free_before_kib=%ld free_attached_kib=%ld\n",
	       n, on, off, mem, mem_on);
	return 0;
}

static int write_file(const char *name, const char *path, const char *text)
{
	long long start;
	ssize_t done;
	int fd;

	printf("write %s", name);
	if (chdir(TRACEFS))
		return fail(errno);
	start = now(CLOCK_THREAD_CPUTIME_ID);
	fd = open(path, O_WRONLY | O_APPEND);
	if (fd < 0)
		return fail(errno);
	done = write(fd, text, strlen(text));
	if (done < 0)
		return fail(errno);
	close(fd);
	printf(" cost=%lld\n", now(CLOCK_THREAD_CPUTIME_ID) - start);
	return 0;
}

static int insmod(const char *name, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	long long start;

	printf("insmod %s", name);
	start = now(CLOCK_THREAD_CPUTIME_ID);
	if (fd < 0 || syscall(__NR_finit_module, fd, "", 0))
		return fail(errno);
	printf(" cost=%lld\n", now(CLOCK_THREAD_CPUTIME_ID) - start);
	return 0;
}

static int rmmod(const char *name, const char *module)
{
	long long start;

	printf("rmmod %s", name);
	start = now(CLOCK_THREAD_CPUTIME_ID);
	if (syscall(__NR_delete_module, module, O_NONBLOCK))
		return fail(errno);
	printf(" cost=%lld\n", now(CLOCK_THREAD_CPUTIME_ID) - start);
	return 0;
}

/* By perf, as tools do */
static struct bpf_link *attach_kprobe_at(struct bpf_program *prog, const char *offset)
{
	LIBBPF_OPTS(bpf_kprobe_opts, opts, .offset = strtoul(offset, NULL, 0),
		    .attach_mode = PROBE_ATTACH_MODE_LINK);

	return bpf_program__attach_kprobe_opts(prog, target, &opts);
}

/* Where a kprobe is, as its link says */
static void show_kprobe(struct bpf_link *link)
{
	char name[256] = "";
	struct bpf_link_info info = {
		.perf_event.kprobe.func_name = (unsigned long)name,
		.perf_event.kprobe.name_len = sizeof(name),
	};
	__u32 size = sizeof(info);

	if (bpf_link_get_info_by_fd(bpf_link__fd(link), &info, &size))
		printf(" no link info");
	else
		printf(" %s+%u at %llx", name, info.perf_event.kprobe.offset,
		       (unsigned long long)info.perf_event.kprobe.addr);
}

static int hold(const char *function, const char *offset)
{
	static const struct type kprobe_ip = { "kprobe", "on_kprobe_ip", KPROBE, false };
	const struct type *type = offset ? &kprobe_ip : &types[0];
	struct bpf_link *link = NULL;
	struct bpf_program *prog;
	struct bpf_object *obj;
	__u64 count, ip, last = 0;
	char line[16];
	__u32 zero = 0;
	int map;

	target = function;
	strcpy(line, "on\n");
	obj = load(type, &prog);
	map = obj ? bpf_object__find_map_fd_by_name(obj, ".bss") : -1;
	do {
		if (!strcmp(line, "on\n")) {
			if (obj && !link)
				link = offset ? attach_kprobe_at(prog, offset) : attach(type, prog, 1);
			if (!link) {
				printf("hold %s", function);
				fail(errno);
				return 1;
			}
			printf("attached");
			if (offset)
				show_kprobe(link);
		} else if (!strcmp(line, "off\n")) {
			bpf_link__destroy(link);
			link = NULL;
			printf("detached");
		} else {
			bpf_map_lookup_elem(map, &zero, &count);
			printf("%llu", (unsigned long long)(count - last));
			if (offset) {
				bpf_map_lookup_elem(bpf_object__find_map_fd_by_name(obj, ".bss.ip"), &zero, &ip);
				printf(" in %llx", (unsigned long long)ip);
			}
			last = count;
		}
		printf("\n");
		fflush(stdout);
	} while (fgets(line, sizeof(line), stdin));
	return 0;
}

static int override(bool multi, bool beside_fexit)
{
	static const struct type fexit = { "fexit", "on_fexit", TRAMPOLINE, true };
	const struct type type = {
		multi ? "kprobe.multi" : "kprobe",
		multi ? "override_kprobe_multi" : "override_kprobe",
		multi ? KPROBE_MULTI : KPROBE, false
	};
	struct bpf_object *obj, *beside = NULL;
	struct bpf_program *prog;
	struct bpf_link *link;
	long overridden, after;
	__u64 exits = 2;
	__u32 zero = 0;

	printf("override %s", type.name);
	if (beside_fexit) {
		beside = load(&fexit, &prog);
		if (!beside || !bpf_program__attach(prog))
			return fail(errno);
	}
	obj = load(&type, &prog);
	if (!obj)
		return fail(errno);
	link = attach(&type, prog, pick(1, NULL));
	if (!link)
		return fail(errno);
	overridden = syscall(__NR_getpgid, 0) < 0 ? errno : 0;
	bpf_link__destroy(link);
	after = syscall(__NR_getpgid, 0);
	if (beside)
		bpf_map_lookup_elem(bpf_object__find_map_fd_by_name(beside, ".bss"), &zero, &exits);
	printf(" works=%d\n", overridden == EUCLEAN && after >= 0 && exits == 2);
	return 0;
}

static bool put(const char *dir, const char *file, const char *text)
{
	char path[256];
	int fd, len = strlen(text), done = 0, ret = 0;

	snprintf(path, sizeof(path), "%s%s", dir, file);
	fd = open(path, O_WRONLY | O_TRUNC);
	/* Some files take one word at a time. */
	while (fd >= 0 && done < len && (ret = write(fd, text + done, len - done)) > 0)
		done += ret;
	close(fd);
	return done == len;
}

/* One that there is not, as in hits.bpf.c */
#define OTHER_CGROUP		999999999

/* By numbers, as the libbpf of the pristine base does not know them. */
#define PROG_TYPE_FTRACE	33
#define ATTACH_FTRACE		63

/* A link that lets a program filter the instance, or an error */
static int filter_link(int instance, int what, const struct bpf_insn *insns, size_t count)
{
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = ATTACH_FTRACE);
	struct {
		__u32 prog_fd, target_fd, attach_type, flags;
		__u64 cookie;
		__u32 what, zero;
	} attr = { .target_fd = instance, .attach_type = ATTACH_FTRACE, .what = what };
	int prog = bpf_prog_load(PROG_TYPE_FTRACE, "filter", "GPL", insns, count, &opts), link;

	if (prog < 0)
		return prog;
	attr.prog_fd = prog;
	link = syscall(__NR_bpf, BPF_LINK_CREATE, &attr, sizeof(attr));
	close(prog);
	return link < 0 ? -errno : link;
}

#define COUNT(array)		(sizeof(array) / sizeof(*(array)))
#define SET(reg, value)		\
	{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = reg, .imm = value }
#define CALL(id)		{ .code = BPF_JMP | BPF_CALL, .imm = id }
#define RETURN			{ .code = BPF_JMP | BPF_EXIT }
#define SKIP_IF_NOT(reg, value)	\
	{ .code = BPF_JMP | BPF_JNE | BPF_K, .dst_reg = reg, .imm = value, .off = 1 }
#define COPY(to, from)		\
	{ .code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = to, .src_reg = from }

static const char hits_dir[] = TRACEFS "instances/hits/", all_dir[] = TRACEFS "instances/all/";

static int make_instance(const char *dir)
{
	mkdir(dir, 0700);
	return open(dir, O_RDONLY | O_DIRECTORY);
}

static void remove_instance(const char *dir)
{
	put(dir, "current_tracer", "nop");
	rmdir(dir);
}

static int filter(const char *tracer)
{
	bool graph = !strcmp(tracer, "function_graph"), fprobe = !strcmp(tracer, "fprobe");
	bool event = fprobe || !strcmp(tracer, "kprobe");
	/* The function has one argument, which two can be made of. */
	const char *text = fprobe ? "f:hits/hits " TARGET " a=$arg1 b=$arg1" : "p:hits/hits " TARGET;
	int what = fprobe ? 1 << 4 : event ? 1 << 3 : graph ? 1 << 1 : 1 << 0, fd, link;
	double before, figures[3];

	printf("filter %s", tracer);
	before = one_call();
	fd = make_instance(hits_dir);
	if (event ? !put(TRACEFS, "dynamic_events", text) ||
		    !put(hits_dir, "events/hits/hits/enable", "1") :
		    !put(hits_dir, "set_ftrace_filter", TARGET) ||
		    !put(hits_dir, "current_tracer", tracer))
		return fail(errno);
	figures[0] = one_call() - before;
	for (int result = 0; result < 2; result++) {
		const struct bpf_insn insns[] = { SET(BPF_REG_0, result), RETURN };

		link = filter_link(fd, what, insns, COUNT(insns));
		figures[1 + result] = link < 0 ? link : one_call() - before;
		close(link);
	}
	close(fd);
	put(hits_dir, "events/hits/hits/enable", "0");
	remove_instance(hits_dir);
	put(TRACEFS, "dynamic_events", "");
	printf(" alone=%.0f", figures[0]);
	if (figures[1] < 0)
		return fail(figures[1]);
	printf(" dropped=%.0f kept=%.0f\n", figures[1], figures[2]);
	return 0;
}

static int cgroup(const char *way)
{
	const struct bpf_insn insns[] = {
		CALL(BPF_FUNC_get_current_cgroup_id),
		COPY(BPF_REG_1, BPF_REG_0),
		SET(BPF_REG_0, 0),
		SKIP_IF_NOT(BPF_REG_1, OTHER_CGROUP),
		SET(BPF_REG_0, 1),
		RETURN,
	};
	bool event = !strcmp(way, "event");
	double before;
	int fd, link = 0;

	printf("cgroup %s", way);
	before = one_call();
	fd = make_instance(hits_dir);
	if (event ? !put(TRACEFS, "dynamic_events", "f:hits/hits " TARGET) ||
		    !put(hits_dir, "events/hits/hits/filter", "common_pid == 1") ||
		    !put(hits_dir, "events/hits/hits/enable", "1") :
		    !put(hits_dir, "set_ftrace_filter", "vfs_* " TARGET) ||
		    !put(hits_dir, "current_tracer", "function"))
		return fail(errno);
	if (!event)
		link = filter_link(fd, 1 << 0, insns, COUNT(insns));
	if (link < 0)
		fail(link);
	else
		printf(" ns=%.0f\n", one_call() - before);
	close(link);
	close(fd);
	put(hits_dir, "events/hits/hits/enable", "0");
	remove_instance(hits_dir);
	put(TRACEFS, "dynamic_events", "");
	return 0;
}

static long recorded_bytes(const char *dir)
{
	char path[256], line[256];
	long bytes = -1;
	FILE *f;

	snprintf(path, sizeof(path), "%sper_cpu/cpu0/stats", dir);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f)) {
		sscanf(line, "bytes: %ld", &bytes);
		if (!strncmp(line, "overrun:", 8) && strtol(line + 8, NULL, 10))
			return -1;
	}
	if (f)
		fclose(f);
	return bytes;
}

static int sample(int one_in)
{
	int calls = bpf_map_create(BPF_MAP_TYPE_ARRAY, "calls", 4, 8, 1, NULL);
	const struct bpf_insn insns[] = {
		{ .code = BPF_LD | BPF_DW | BPF_IMM, .dst_reg = BPF_REG_1,
		  .src_reg = BPF_PSEUDO_MAP_VALUE, .imm = calls }, {},
		SET(BPF_REG_2, 1),
		{ .code = BPF_STX | BPF_ATOMIC | BPF_DW, .dst_reg = BPF_REG_1,
		  .src_reg = BPF_REG_2, .imm = BPF_ADD | BPF_FETCH },
		{ .code = BPF_ALU64 | BPF_MOD | BPF_K, .dst_reg = BPF_REG_2, .imm = one_in },
		SET(BPF_REG_0, 0),
		SKIP_IF_NOT(BPF_REG_2, 0),
		SET(BPF_REG_0, 1),
		RETURN,
	};
	int fd, link;

	printf("sample %d", one_in);
	fd = make_instance(hits_dir);
	close(make_instance(all_dir));
	link = filter_link(fd, 1 << 0, insns, COUNT(insns));
	if (link < 0) {
		fail(link);
	} else if (!put(all_dir, "buffer_size_kb", "131072") ||
		   !put(hits_dir, "current_tracer", "function") ||
		   !put(all_dir, "current_tracer", "function")) {
		fail(errno);
	} else {
		put(hits_dir, "trace", "");
		put(all_dir, "trace", "");
		for (int i = 0; i < 10000; i++)
			close(open("/proc/self/stat", O_RDONLY));
		put(all_dir, "tracing_on", "0");
		put(hits_dir, "tracing_on", "0");
		printf(" all=%ld kept=%ld\n", recorded_bytes(all_dir), recorded_bytes(hits_dir));
	}
	close(link);
	close(fd);
	remove_instance(hits_dir);
	remove_instance(all_dir);
	return 0;
}

static int quiet(enum libbpf_print_level level, const char *format, va_list args)
{
	return getenv("HITS_VERBOSE") ? vfprintf(stderr, format, args) : 0;
}

int main(int argc, char **argv)
{
	const struct type *type = NULL;

	libbpf_set_print(quiet);
	/* Page faults must not be measured. mlockall() leaves out the vDSO, so call that once. */
	if (mlockall(MCL_CURRENT | MCL_FUTURE)) {
		perror("mlockall");
		return 1;
	}
	now(CLOCK_THREAD_CPUTIME_ID);
	if (argc == 5 && !strcmp(argv[1], "write"))
		return write_file(argv[2], argv[3], argv[4]);
	if (argc == 3 && !strcmp(argv[1], "filter"))
		return filter(argv[2]);
	if (argc == 3 && !strcmp(argv[1], "cgroup"))
		return cgroup(argv[2]);
	if (argc == 3 && !strcmp(argv[1], "sample"))
		return sample(atoi(argv[2]));
	if (argc == 4 && !strcmp(argv[1], "insmod"))
		return insmod(argv[2], argv[3]);
	if (argc == 4 && !strcmp(argv[1], "rmmod"))
		return rmmod(argv[2], argv[3]);
	if ((argc == 3 || argc == 4) && !strcmp(argv[1], "hold"))
		return hold(argv[2], argv[3]);
	if ((argc == 3 || argc == 4) && !strcmp(argv[1], "override"))
		return override(!strcmp(argv[2], "kprobe.multi"), argc == 4);
	for (size_t i = 0; argc >= 3 && i < sizeof(types) / sizeof(*types); i++)
		if (!strcmp(argv[2], types[i].name))
			type = &types[i];
	if (type && (argc == 3 || argc == 4) && !strcmp(argv[1], "hit"))
		return hit(type, argc == 4 ? MAX_PROGRAMS : 1);
	if (type && argc == 4 && !strcmp(argv[1], "attach"))
		return attach_many(type, atoi(argv[3]));
	fprintf(stderr, "usage: hits hit TYPE [2] | attach TYPE COUNT | write NAME FILE TEXT | "
		"insmod NAME FILE | rmmod NAME MODULE | hold FUNCTION [OFFSET] | override TYPE [fexit] | "
		"filter TRACER | cgroup WAY | sample COUNT\n");
	return 2;
}
