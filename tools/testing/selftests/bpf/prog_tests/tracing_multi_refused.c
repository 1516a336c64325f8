// SPDX-License-Identifier: GPL-2.0
/* A link of many functions that cannot be made says why, and leaves nothing attached. */
#include <test_progs.h>
#include <bpf/btf.h>
#include <sys/wait.h>
#include "fail_nth.h"
#include "link_log.h"
#include "trace_helpers.h"
#include "tracing_multi_refused.skel.h"

#define ENABLED		"/sys/kernel/tracing/enabled_functions"
#define TOO_MANY	((1U << 20) + 1)

static struct tracing_multi_refused *skel;
static struct btf *btf;
static char said[4096];

static char *enabled_functions(void)
{
	char *text = NULL;
	size_t size = 0;
	FILE *f;

	f = fopen(ENABLED, "r");
	if (!f)
		return NULL;
	if (getdelim(&text, &size, '\0', f) < 0) {
		free(text);
		text = strdup("");
	}
	fclose(f);
	return text;
}

/* What was detached may be listed for a moment. */
static void check_enabled(const char *before, const char *name)
{
	bool same = false;

	for (int i = 0; i < 100 && !same; i++) {
		char *now = enabled_functions();

		same = now && !strcmp(now, before);
		free(now);
		if (!same)
			usleep(50000);
	}
	ASSERT_TRUE(same, name);
}

/* The link's file descriptor, or an error; @said is what the kernel says of it. */
static int create(struct bpf_program *prog, enum bpf_attach_type type, const __u32 *ids,
		  const __u64 *cookies, __u32 cnt, __u32 flags)
{
	union bpf_attr attr = {};

	attr.link_create.prog_fd = bpf_program__fd(prog);
	attr.link_create.attach_type = type;
	attr.link_create.flags = flags;
	attr.link_create.tracing_multi.ids = ptr_to_u64(ids);
	attr.link_create.tracing_multi.cookies = ptr_to_u64(cookies);
	attr.link_create.tracing_multi.cnt = cnt;
	return link_create_log(&attr, said, sizeof(said));
}

static void refuse(const char *name, struct bpf_program *prog, enum bpf_attach_type type,
		   const __u32 *ids, const __u64 *cookies, __u32 cnt, __u32 flags, int error,
		   const char *reason)
{
	char *before;
	int fd;

	if (!test__start_subtest(name))
		return;
	before = enabled_functions();
	if (!ASSERT_OK_PTR(before, ENABLED))
		return;
	fd = create(prog, type, ids, cookies, cnt, flags);
	ASSERT_EQ(fd, error, "error");
	if (fd >= 0)
		close(fd);
	if (reason)
		ASSERT_HAS_SUBSTR(said, reason, "reason");
	check_enabled(before, "nothing is attached");
	free(before);
}

static __u32 id_of(const char *func)
{
	int id = btf__find_by_name_kind(btf, func, BTF_KIND_FUNC);

	return id < 0 ? 0 : id;
}

/* One function that can be traced, and another that is what the case is about. */
static void refuse_function(const char *name, struct bpf_program *prog, enum bpf_attach_type type,
			    __u32 id, int error, const char *reason)
{
	__u32 ids[2] = { id_of("bpf_fentry_test1"), id };

	if (!id) {
		if (test__start_subtest(name))
			test__skip();
		return;
	}
	refuse(name, prog, type, ids, NULL, 2, 0, error, reason);
}

static const struct btf_type *proto_of(__u32 id)
{
	const struct btf_type *t = btf__type_by_id(btf, id);

	return t && btf_is_func(t) ? btf__type_by_id(btf, t->type) : NULL;
}

static __u32 find_function(bool (*is_it)(const struct btf_type *proto))
{
	for (__u32 id = 1; id < btf__type_cnt(btf); id++) {
		const struct btf_type *proto = proto_of(id);

		if (proto && is_it(proto))
			return id;
	}
	return 0;
}

static bool has_many_args(const struct btf_type *proto)
{
	return btf_vlen(proto) > 12;
}

static bool returns_struct(const struct btf_type *proto)
{
	int id = btf__resolve_type(btf, proto->type);

	return id > 0 && btf_is_struct(btf__type_by_id(btf, id));
}

/* The ids of functions that can be traced and begin with @prefix, @cnt of them, or NULL */
static __u32 *ids_of(const char *prefix, __u32 *cnt)
{
	struct ksyms *ksyms = NULL;
	__u32 *ids = NULL;

	*cnt = 0;
	if (ASSERT_OK(bpf_get_ksyms(&ksyms, true), "get_ksyms"))
		ids = calloc(ksyms->filtered_cnt, sizeof(*ids));
	for (size_t i = 0; ids && i < ksyms->filtered_cnt; i++) {
		if (!strncmp(ksyms->filtered_syms[i], prefix, strlen(prefix)))
			ids[*cnt] = id_of(ksyms->filtered_syms[i]);
		*cnt += !!ids[*cnt];
	}
	free_kallsyms_local(ksyms);
	return ids;
}

/* A program of a link of many probes has no such link on a perf event. */
static void test_perf_event(void)
{
	LIBBPF_OPTS(bpf_kprobe_opts, opts, .attach_mode = PROBE_ATTACH_MODE_PERF);
	struct bpf_link *link;

	link = bpf_program__attach_kprobe_opts(skel->progs.on_kprobe_multi, "bpf_fentry_test1",
					       &opts);
	ASSERT_ERR_PTR(link, "kprobe.multi on a perf event");
	bpf_link__destroy(link);
}

/* A task is killed that does nothing but attach and detach. */
static void test_signal(void)
{
	__u32 *ids, cnt;
	char *before;
	int fd;

	before = enabled_functions();
	ids = ids_of("vfs_", &cnt);
	if (!ASSERT_OK_PTR(before, ENABLED) || !ASSERT_OK_PTR(ids, "ids"))
		goto out;
	fd = create(skel->progs.at_exit, BPF_TRACE_FEXIT_MULTI, ids, NULL, cnt, 0);
	if (!ASSERT_OK_FD(fd, "without a signal"))
		goto out;
	close(fd);
	for (int i = 0; i < 50; i++) {
		pid_t child = fork();

		if (!child) {
			for (;;)
				close(create(skel->progs.at_exit, BPF_TRACE_FEXIT_MULTI, ids, NULL,
					     cnt, 0));
		}
		if (!ASSERT_GT(child, 0, "fork"))
			break;
		usleep(20000 + 1700 * i);
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
		check_enabled(before, "nothing is attached");
	}
out:
	free(ids);
	free(before);
}

/* The first allocation fails, then the second, and so on until none is left. */
static void test_memory(void)
{
	__u32 ids[3] = { id_of("bpf_fentry_test1"), id_of("bpf_fentry_test2"),
			 id_of("bpf_fentry_test3") };
	int fd = -1, nth = fail_nth_open(), n, refused = 0;
	__u64 cookies[3] = { 1, 2, 3 };
	bool failed = true;
	char *before;

	if (nth < 0) {
		test__skip();
		return;
	}
	before = enabled_functions();
	if (!ASSERT_OK_PTR(before, ENABLED))
		goto out;
	for (n = 1; failed && n < FAIL_NTH_MAX && fail_nth_set(nth, n); n++) {
		fd = create(skel->progs.at_exit, BPF_TRACE_FEXIT_MULTI, ids, cookies, 3, 0);
		failed = fail_nth_end(nth);
		if (fd >= 0)
			close(fd);
		else if (!ASSERT_EQ(fd, -ENOMEM, "error"))
			break;
		refused += fd < 0;
		check_enabled(before, "nothing is attached");
	}
	ASSERT_GE(fd, 0, "without a failure");
	ASSERT_FALSE(failed, "all allocations failed");
	ASSERT_GT(refused, 3, "times refused");
out:
	fail_nth_close(nth);
	free(before);
}

void serial_test_tracing_multi_refused(void)
{
	__u32 ids[2], *many;
	__u64 cookies[2] = {};

	btf = btf__load_vmlinux_btf();
	if (!ASSERT_OK_PTR(btf, "vmlinux BTF"))
		return;
	skel = tracing_multi_refused__open_and_load();
	many = calloc(TOO_MANY, sizeof(*many));
	if (!ASSERT_OK_PTR(skel, "open_and_load") || !ASSERT_OK_PTR(many, "memory"))
		goto out;

	refuse_function("no function", skel->progs.entry, BPF_TRACE_FENTRY_MULTI,
			btf__find_by_name_kind(btf, "task_struct", BTF_KIND_STRUCT), -EINVAL,
			"task_struct is not a function");
	refuse_function("no such type", skel->progs.entry, BPF_TRACE_FENTRY_MULTI,
			btf__type_cnt(btf) + 1000000, -EINVAL, "there is no such type");
	refuse_function("notrace", skel->progs.entry, BPF_TRACE_FENTRY_MULTI,
			id_of("register_ftrace_function"), -ENOENT,
			"register_ftrace_function cannot be traced");
	refuse_function("init", skel->progs.entry, BPF_TRACE_FENTRY_MULTI,
			id_of("start_kernel"), -ENOENT, "start_kernel cannot be traced");
	refuse_function("variadic", skel->progs.entry, BPF_TRACE_FENTRY_MULTI,
			id_of("_printk"), -EINVAL, "variable args");
	refuse_function("many arguments", skel->progs.entry, BPF_TRACE_FENTRY_MULTI,
			find_function(has_many_args), -EINVAL, "Too many");
	refuse_function("returns a struct", skel->progs.at_exit, BPF_TRACE_FEXIT_MULTI,
			find_function(returns_struct), -EINVAL, "return type");
	refuse_function("does not return", skel->progs.at_exit, BPF_TRACE_FEXIT_MULTI,
			id_of("do_exit"), -EINVAL, "a function that does not return");
	refuse_function("must not sleep", skel->progs.sleeping_entry, BPF_TRACE_FENTRY_MULTI,
			id_of("bpf_fentry_test2"), -EINVAL, "must not sleep in bpf_fentry_test");
	refuse_function("called by programs", skel->progs.entry, BPF_TRACE_FENTRY_MULTI,
			id_of("migrate_disable"), -EINVAL, "programs themselves call");

	ids[0] = id_of("bpf_fentry_test1");
	ids[1] = ids[0];
	refuse("twice", skel->progs.entry, BPF_TRACE_FENTRY_MULTI, ids, NULL, 2, 0, -EINVAL,
	       "given twice");
	refuse("no ids", skel->progs.entry, BPF_TRACE_FENTRY_MULTI, NULL, NULL, 2, 0, -EINVAL,
	       "no BTF ids");
	refuse("cookies alone", skel->progs.entry, BPF_TRACE_FENTRY_MULTI, NULL, cookies, 2, 0,
	       -EINVAL, "no BTF ids");
	refuse("too many", skel->progs.entry, BPF_TRACE_FENTRY_MULTI, many, NULL, TOO_MANY, 0,
	       -E2BIG, "at most 1048576");
	refuse("flags", skel->progs.entry, BPF_TRACE_FENTRY_MULTI, ids, NULL, 1, 1, -EINVAL,
	       "flags and target_fd must be 0");
	refuse("ids of a bad address", skel->progs.entry, BPF_TRACE_FENTRY_MULTI, (void *)8, NULL,
	       2, 0, -EFAULT, NULL);
	refuse("program of one function", skel->progs.single, BPF_TRACE_FENTRY_MULTI, ids, NULL, 1,
	       0, -EINVAL, NULL);
	refuse("type of exits", skel->progs.entry, BPF_TRACE_FEXIT_MULTI, ids, NULL, 1, 0, -EINVAL,
	       NULL);
	if (test__start_subtest("perf_event"))
		test_perf_event();
	if (test__start_subtest("signal"))
		test_signal();
	if (test__start_subtest("memory"))
		test_memory();
out:
	free(many);
	tracing_multi_refused__destroy(skel);
	btf__free(btf);
}
