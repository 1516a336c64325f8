// SPDX-License-Identifier: GPL-2.0
/* One program that modifies what many functions return. */
#include <test_progs.h>
#include <bpf/btf.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include "link_log.h"
#include "testing_helpers.h"
#include "tracing_multi_fmod_ret.skel.h"

#define INSTANCE	"/sys/kernel/tracing/instances/tracing_multi_fmod_ret"
#define FUNC		"bpf_modify_return_test"

/* What the functions return together, and how many of them then have run */
#define UNMODIFIED	33
#define ALL_RUN		2

#ifdef __x86_64__
#define GETPGID		"__x64_sys_getpgid"
#elif defined(__aarch64__)
#define GETPGID		"__arm64_sys_getpgid"
#else
#define GETPGID		"sys_getpgid"
#endif

static struct tracing_multi_fmod_ret *skel;
static struct btf *btf;
/* Of both functions that the kernel has for such programs */
static __u32 ids[2];

static __u32 id_of(const char *func)
{
	__s32 id = btf__find_by_name_kind(btf, func, BTF_KIND_FUNC);

	return ASSERT_GT(id, 0, func) ? id : 0;
}

static struct bpf_link *attach_ids(const struct bpf_program *prog, const __u32 *which, __u32 cnt)
{
	LIBBPF_OPTS(bpf_tracing_multi_opts, opts, .ids = which, .cnt = cnt);
	struct bpf_link *link = bpf_program__attach_tracing_multi(prog, NULL, &opts);

	return ASSERT_OK_PTR(link, bpf_program__name(prog)) ? link : NULL;
}

static struct bpf_link *attach(const struct bpf_program *prog)
{
	return attach_ids(prog, ids, ARRAY_SIZE(ids));
}

static void clear_trace(void)
{
	FILE *file = fopen(INSTANCE "/trace", "w");

	if (ASSERT_OK_PTR(file, "trace"))
		fclose(file);
}

/* How many calls the instance's graph tracer has seen */
static int traced_calls(void)
{
	FILE *file = fopen(INSTANCE "/trace", "r");
	char line[512];
	int nr = 0;

	if (!ASSERT_OK_PTR(file, "trace"))
		return -1;
	while (fgets(line, sizeof(line), file))
		nr += line[0] != '#' && strstr(line, FUNC);
	fclose(file);
	return nr;
}

/* Both functions are called. */
static bool expect(int want, int want_run)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts);
	struct tracing_multi_fmod_ret__bss *seen = skel->bss;
	bool good;

	seen->runs = 0;
	seen->second_runs = 0;
	seen->single_runs = 0;
	seen->entries = 0;
	seen->exits = 0;
	seen->single_entries = 0;
	seen->single_exits = 0;
	seen->breakpoints = 0;
	seen->breakpoint_exits = 0;
	seen->symbol_exits = 0;
	good = ASSERT_OK(bpf_prog_test_run_opts(bpf_program__fd(skel->progs.on_modify), &opts),
			 "test_run");
	good &= ASSERT_EQ((__s16)(opts.retval & 0xffff), want, "returned");
	good &= ASSERT_EQ(opts.retval >> 16, want_run, "functions that ran");
	return good & ASSERT_EQ(seen->wrong, 0, "returned before");
}

/* With 0 the functions run, with another value they do not, and return it. */
static bool expect_modified(void)
{
	bool good;

	skel->bss->result = 0;
	good = expect(UNMODIFIED, ALL_RUN) && ASSERT_EQ(skel->bss->runs, 2, "runs");
	skel->bss->result = -EINVAL;
	good &= expect(2 * -EINVAL, 0) && ASSERT_EQ(skel->bss->runs, 2, "runs");
	return good;
}

static void test_alone(void)
{
	struct bpf_link *link = attach(skel->progs.on_modify);

	if (link)
		expect_modified();
	bpf_link__destroy(link);
	expect(UNMODIFIED, ALL_RUN);
	ASSERT_EQ(skel->bss->runs, 0, "runs after it was detached");

	/* By the section's name */
	link = bpf_program__attach(skel->progs.on_pattern);
	skel->bss->result = -EINVAL;
	if (ASSERT_OK_PTR(link, "pattern"))
		expect(2 * -EINVAL, 0);
	bpf_link__destroy(link);
}

/* The first that does not return 0 wins, and those after it do not run. */
static void test_first_wins(void)
{
	struct bpf_link *first = attach(skel->progs.on_modify);
	struct bpf_link *second = attach(skel->progs.on_modify_second);

	if (!first || !second)
		goto out;
	skel->bss->result = 0;
	skel->bss->second_result = 0;
	expect(UNMODIFIED, ALL_RUN);
	ASSERT_EQ(skel->bss->runs, 2, "runs of the first");
	ASSERT_EQ(skel->bss->second_runs, 2, "runs of the second");
	skel->bss->second_result = -EPERM;
	expect(2 * -EPERM, 0);
	ASSERT_EQ(skel->bss->second_runs, 2, "runs of the second that overrides");
	skel->bss->result = -EINVAL;
	expect(2 * -EINVAL, 0);
	ASSERT_EQ(skel->bss->runs, 2, "runs of the first that overrides");
	ASSERT_EQ(skel->bss->second_runs, 0, "runs of the second after that");
	/* The first goes. */
	bpf_link__destroy(first);
	first = NULL;
	expect(2 * -EPERM, 0);
	ASSERT_EQ(skel->bss->second_runs, 2, "runs of the one that is left");
out:
	bpf_link__destroy(first);
	bpf_link__destroy(second);
}

/* --- Beside all else that attaches to the functions --------------------------- */

enum kind { ENTRY, EXIT, BREAKPOINT, SYMBOL, SINGLE, SINGLE_MODIFY, GRAPH, NR_KINDS };

static struct bpf_link *links[2];

static bool attach_kind(enum kind kind)
{
	switch (kind) {
	case ENTRY:
		links[0] = attach(skel->progs.on_entry);
		break;
	case EXIT:
		links[0] = attach(skel->progs.on_exit);
		break;
	case BREAKPOINT:
		links[0] = bpf_program__attach(skel->progs.on_breakpoint);
		links[1] = bpf_program__attach(skel->progs.on_breakpoint_exit);
		break;
	case SYMBOL:
		links[0] = bpf_program__attach(skel->progs.on_symbol_exit);
		break;
	case SINGLE:
		links[0] = bpf_program__attach(skel->progs.on_single_entry);
		links[1] = bpf_program__attach(skel->progs.on_single_exit);
		break;
	case SINGLE_MODIFY:
		links[0] = bpf_program__attach(skel->progs.on_single_modify);
		break;
	default:
		return ASSERT_OK(write_sysctl(INSTANCE "/current_tracer", "function_graph"),
				 "function_graph");
	}
	for (int i = 0; i < ARRAY_SIZE(links); i++) {
		if (links[i] && !ASSERT_OK_PTR(links[i], "attach")) {
			links[i] = NULL;
			return false;
		}
	}
	return ASSERT_OK_PTR(links[0], "attach");
}

static void detach_kind(enum kind kind)
{
	for (int i = 0; i < ARRAY_SIZE(links); i++) {
		bpf_link__destroy(links[i]);
		links[i] = NULL;
	}
	if (kind == GRAPH)
		write_sysctl(INSTANCE "/current_tracer", "nop");
}

/* Those at the entry and at the return run, whether the function does or not. */
static bool check_others(enum kind kind, int returned)
{
	switch (kind) {
	case ENTRY:
		return ASSERT_EQ(skel->bss->entries, 2, "fentry.multi");
	case EXIT:
		return ASSERT_EQ(skel->bss->exits, 2, "fexit.multi") &
		       ASSERT_EQ(skel->bss->returned, returned, "what fexit.multi saw");
	case BREAKPOINT:
		return ASSERT_EQ(skel->bss->breakpoints, 1, "kprobe") &
		       ASSERT_EQ(skel->bss->breakpoint_exits, 1, "kretprobe");
	case SYMBOL:
		return ASSERT_EQ(skel->bss->symbol_exits, 2, "kretprobe.multi");
	case SINGLE:
		/* A modified call does not reach the image of fentry and fexit. */
		if (returned < 0)
			return true;
		return ASSERT_EQ(skel->bss->single_entries, 1, "fentry") &
		       ASSERT_EQ(skel->bss->single_exits, 1, "fexit");
	case GRAPH:
		return ASSERT_EQ(traced_calls(), 2, "graph tracer");
	default:
		return true;
	}
}

static void check_beside(enum kind kind)
{
	skel->bss->single_result = 0;
	skel->bss->result = 0;
	clear_trace();
	expect(UNMODIFIED, ALL_RUN);
	/* 4 and 29 */
	check_others(kind, 29);
	ASSERT_EQ(skel->bss->runs, 2, "runs");
	skel->bss->result = -EINVAL;
	clear_trace();
	expect(2 * -EINVAL, 0);
	check_others(kind, -EINVAL);
	ASSERT_EQ(skel->bss->runs, 2, "runs");
	if (kind == SINGLE_MODIFY) {
		skel->bss->result = 0;
		skel->bss->single_result = -EPERM;
		expect(29 - EPERM, 1);
		/* Also on the function of fmod_ret, unless that runs first. */
		ASSERT_GE(skel->bss->runs, 1, "runs beside fmod_ret");
		ASSERT_EQ(skel->bss->single_runs, 1, "runs of fmod_ret");
	}
}

static void test_beside(void)
{
	if (!ASSERT_OK(mkdir(INSTANCE, 0755), INSTANCE))
		return;
	write_sysctl(INSTANCE "/set_ftrace_filter", FUNC "*");
	for (enum kind kind = 0; kind < NR_KINDS; kind++) {
		for (int late = 0; late < 2; late++) {
			struct bpf_link *link = NULL;
			bool good = true;

			if (late)
				good = attach_kind(kind);
			link = attach(skel->progs.on_modify);
			if (!late)
				good = attach_kind(kind);
			if (good && link)
				check_beside(kind);
			if (late)
				detach_kind(kind);
			if (good && link && late)
				expect_modified();
			bpf_link__destroy(link);
			if (!late)
				detach_kind(kind);
			expect(UNMODIFIED, ALL_RUN);
		}
	}
	rmdir(INSTANCE);
}

/* --- System calls and security hooks ------------------------------------------- */

static void test_syscall(void)
{
	__u32 id = id_of(GETPGID);
	long pgid = getpgid(0);
	struct bpf_link *link;

	link = attach_ids(skel->progs.on_modify, &id, 1);
	if (!link)
		return;
	skel->bss->result = 0;
	ASSERT_EQ(syscall(SYS_getpgid, 0), pgid, "getpgid");
	skel->bss->result = -EUCLEAN;
	ASSERT_EQ(syscall(SYS_getpgid, 0), -1, "getpgid that is to fail");
	ASSERT_EQ(errno, EUCLEAN, "errno");
	/* All 64 bits */
	skel->bss->result = 0x123456789abcdef;
	ASSERT_EQ(syscall(SYS_getpgid, 0), 0x123456789abcdef, "getpgid that returns a long");
	bpf_link__destroy(link);
	ASSERT_EQ(syscall(SYS_getpgid, 0), pgid, "getpgid in the end");
}

static void test_security(void)
{
	struct bpf_link *link = bpf_program__attach_tracing_multi(skel->progs.on_modify,
								  "security_inode_*", NULL);
	char dir[] = "/tmp/fmod_retXXXXXX";

	if (!ASSERT_OK_PTR(link, "attach"))
		return;
	skel->bss->result = -EUCLEAN;
	ASSERT_ERR_PTR(mkdtemp(dir), "mkdir that is to fail");
	ASSERT_EQ(errno, EUCLEAN, "errno");
	skel->bss->result = 0;
	strcpy(dir, "/tmp/fmod_retXXXXXX");
	if (ASSERT_OK_PTR(mkdtemp(dir), "mkdir"))
		rmdir(dir);
	bpf_link__destroy(link);
}

/* With six arguments, as many as registers can pass on x86-64 */
static void test_six_args(void)
{
	__u32 id = id_of("security_inode_setxattr");
	char file[] = "/tmp/fmod_retXXXXXX";
	struct bpf_link *link;
	int fd = mkstemp(file);

	if (!ASSERT_OK_FD(fd, "mkstemp"))
		return;
	link = attach_ids(skel->progs.on_modify, &id, 1);
	if (!link)
		goto out;
	skel->bss->runs = 0;
	skel->bss->result = -EUCLEAN;
	ASSERT_ERR(fsetxattr(fd, "trusted.six", "value", 5, 0), "setxattr that is to fail");
	ASSERT_EQ(errno, EUCLEAN, "errno");
	ASSERT_EQ(skel->bss->runs, 1, "runs");
	skel->bss->result = 0;
	if (fsetxattr(fd, "trusted.six", "value", 5, 0))
		ASSERT_NEQ(errno, EUCLEAN, "errno of the function");
	ASSERT_EQ(skel->bss->runs, 2, "runs");
out:
	bpf_link__destroy(link);
	close(fd);
	unlink(file);
}

static void test_sleepable(void)
{
	struct tracing_multi_fmod_ret *own = tracing_multi_fmod_ret__open();
	struct bpf_link *link, *first = NULL;
	__u32 id = id_of(GETPGID);
	long pgid = getpgid(0);

	if (!ASSERT_OK_PTR(own, "open"))
		return;
	bpf_program__set_autoload(own->progs.on_modify_sleepable, true);
	if (!ASSERT_OK(tracing_multi_fmod_ret__load(own), "load"))
		goto out;
	own->bss->tid = syscall(SYS_gettid);
	link = attach_ids(own->progs.on_modify_sleepable, &id, 1);
	if (!link)
		goto out;
	own->bss->sleepable_result = 0;
	ASSERT_EQ(syscall(SYS_getpgid, 0), pgid, "getpgid");
	ASSERT_EQ(own->bss->sleepable_runs, 1, "runs");
	own->bss->sleepable_result = -EUCLEAN;
	ASSERT_EQ(syscall(SYS_getpgid, 0), -1, "getpgid that is to fail");
	ASSERT_EQ(errno, EUCLEAN, "errno");
	/* One that does not sleep beside it */
	first = attach_ids(own->progs.on_modify, &id, 1);
	own->bss->result = 0;
	ASSERT_EQ(syscall(SYS_getpgid, 0), -1, "getpgid that is to fail");
	own->bss->sleepable_result = 0;
	own->bss->result = -EPERM;
	ASSERT_EQ(syscall(SYS_getpgid, 0), -1, "getpgid that is to fail");
	ASSERT_EQ(errno, EPERM, "errno of the one that does not sleep");
	bpf_link__destroy(first);
	bpf_link__destroy(link);
	ASSERT_EQ(syscall(SYS_getpgid, 0), pgid, "getpgid in the end");
	ASSERT_EQ(own->bss->wrong, 0, "returned before");
out:
	tracing_multi_fmod_ret__destroy(own);
}

/* --- What is refused ------------------------------------------------------------ */

static void refuse(const char *func, const char *why)
{
	char said[1024];
	union bpf_attr attr = {};
	__u32 id = id_of(func);
	int fd;

	attr.link_create.prog_fd = bpf_program__fd(skel->progs.on_modify);
	attr.link_create.attach_type = BPF_MODIFY_RETURN_MULTI;
	attr.link_create.tracing_multi.ids = ptr_to_u64(&id);
	attr.link_create.tracing_multi.cnt = 1;
	fd = link_create_log(&attr, said, sizeof(said));
	if (fd >= 0)
		close(fd);
	ASSERT_EQ(fd < 0 ? fd : 0, -EINVAL, func);
	ASSERT_HAS_SUBSTR(said, why, func);
}

static void test_refused(void)
{
	refuse("cmdline_proc_show", "cmdline_proc_show() is not modifiable");
	refuse("security_inode_free", "security_inode_free does not return a number");
	refuse("d_path", "d_path does not return a number");
	refuse("do_exit", "a function that does not return");
	expect(UNMODIFIED, ALL_RUN);
}

/* Without sites, and without an image for each of many functions */
static bool is_supported(void)
{
	LIBBPF_OPTS(bpf_link_create_opts, opts);
	int fd;

	opts.tracing_multi.ids = ids;
	opts.tracing_multi.cnt = ARRAY_SIZE(ids);
	fd = bpf_link_create(bpf_program__fd(skel->progs.on_modify), 0, BPF_MODIFY_RETURN_MULTI,
			     &opts);
	if (fd >= 0)
		close(fd);
	return fd >= 0 || errno != EOPNOTSUPP;
}

void serial_test_tracing_multi_fmod_ret(void)
{
	btf = btf__load_vmlinux_btf();
	if (!ASSERT_OK_PTR(btf, "vmlinux BTF"))
		return;
	ids[0] = id_of(FUNC);
	ids[1] = id_of(FUNC "2");
	skel = tracing_multi_fmod_ret__open_and_load();
	if (!ASSERT_OK_PTR(skel, "open_and_load"))
		goto out;
	skel->bss->tid = syscall(SYS_gettid);
	if (!is_supported()) {
		test__skip();
		goto out;
	}

	if (test__start_subtest("alone"))
		test_alone();
	if (test__start_subtest("first_wins"))
		test_first_wins();
	if (test__start_subtest("beside"))
		test_beside();
	if (test__start_subtest("syscall"))
		test_syscall();
	if (test__start_subtest("security"))
		test_security();
	if (test__start_subtest("six_args"))
		test_six_args();
	if (test__start_subtest("sleepable"))
		test_sleepable();
	if (test__start_subtest("refused"))
		test_refused();
out:
	tracing_multi_fmod_ret__destroy(skel);
	btf__free(btf);
}
