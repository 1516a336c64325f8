// SPDX-License-Identifier: GPL-2.0
/* BPF programs that decide what the tracers record */
#include <test_progs.h>
#include <fcntl.h>
#include <linux/bpf_ftrace.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include "bpftool_helpers.h"
#include "fail_nth.h"
#include "link_log.h"
#include "trace_helpers.h"
#include "ftrace_filter.skel.h"
#include "verifier_ftrace.skel.h"

#define TRACEFS		"/sys/kernel/tracing"
#define INSTANCES	TRACEFS "/instances"
#define FUNC		"bpf_fentry_test1"

static struct ftrace_filter *skel;
/* The instance's path, and its directory */
static const char *inst = INSTANCES "/ftrace_filter";
static int inst_fd;

static bool write_at(const char *dir, const char *file, const char *text, int flags)
{
	char path[PATH_MAX];
	ssize_t len;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, file);
	fd = open(path, O_WRONLY | flags);
	if (!ASSERT_OK_FD(fd, path))
		return false;
	len = write(fd, text, strlen(text));
	close(fd);
	return ASSERT_EQ(len, strlen(text), path);
}

static bool set(const char *file, const char *text)
{
	return write_at(inst, file, text, O_TRUNC);
}

static bool define(const char *event)
{
	return write_at(TRACEFS, "dynamic_events", event, O_APPEND);
}

/* How many lines of a file have @text */
static int count_at(const char *dir, const char *file, const char *text)
{
	char path[PATH_MAX], line[512];
	int nr = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, file);
	f = fopen(path, "r");
	if (!ASSERT_OK_PTR(f, path))
		return -1;
	while (fgets(line, sizeof(line), f))
		nr += line[0] != '#' && strstr(line, text);
	fclose(f);
	return nr;
}

static int recorded(const char *text)
{
	return count_at(inst, "trace", text);
}

/* For uprobes */
static noinline int in_user_space(void)
{
	asm volatile ("");
	return 7;
}

/* The traced functions are called once. */
static void hit(void)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts);

	skel->bss->hits = 0;
	set("trace", "");
	in_user_space();
	ASSERT_OK(bpf_prog_test_run_opts(bpf_program__fd(skel->progs.trigger), &opts), "run");
}

static int filter_fd(int fd, __u32 what, __u64 cookie)
{
	LIBBPF_OPTS(bpf_link_create_opts, opts);

	opts.ftrace.what = what;
	opts.ftrace.cookie = cookie;
	return bpf_link_create(bpf_program__fd(skel->progs.filter), fd, BPF_FTRACE, &opts);
}

static struct bpf_link *attach(const struct bpf_program *prog, __u32 what)
{
	LIBBPF_OPTS(bpf_ftrace_opts, opts, .what = what, .cookie = 0x1234);
	struct bpf_link *link = bpf_program__attach_ftrace(prog, inst_fd, &opts);

	return ASSERT_OK_PTR(link, bpf_program__name(prog)) ? link : NULL;
}

/*
 * Without a program events are recorded, then as it says, and without it again. It is asked
 * about @asks of them each time.
 */
static void __check_filter(const char *name, __u32 what, const char *text, int nr, int asks)
{
	struct bpf_link *link;

	hit();
	ASSERT_EQ(recorded(text), nr, name);
	link = attach(skel->progs.filter, what);
	if (!link)
		return;
	skel->bss->keep = 1;
	hit();
	ASSERT_EQ(recorded(text), nr, "kept");
	ASSERT_EQ(skel->bss->hits, asks, "asked");
	ASSERT_EQ(skel->bss->flags & 0xffff, what, "flags");
	ASSERT_EQ(skel->bss->cookie, 0x1234, "cookie");
	ASSERT_EQ(skel->bss->func_ip, skel->bss->ip, "bpf_get_func_ip");
	skel->bss->keep = 0;
	hit();
	ASSERT_EQ(recorded(text), 0, "dropped");
	ASSERT_EQ(skel->bss->hits, asks, "asked, to drop");
	bpf_link__destroy(link);
	hit();
	ASSERT_EQ(recorded(text), nr, "detached");
	ASSERT_EQ(skel->bss->hits, 0, "asked, detached");
}

static void check_filter(const char *name, __u32 what, const char *text, int nr)
{
	__check_filter(name, what, text, nr, 1);
}

static void check_args(void)
{
	ASSERT_EQ(skel->bss->ip, ksym_get_addr(FUNC), "ip");
	ASSERT_EQ(skel->bss->nr_args, BPF_FTRACE_MAX_ARGS, "nr_args");
	ASSERT_EQ((int)skel->bss->arg, 1, "arg");
	ASSERT_EQ(skel->bss->retval, 0, "retval");
	ASSERT_FALSE(skel->bss->flags & BPF_FTRACE_RETURN, "entry");
}

static void test_function(void)
{
	struct bpf_link *link;

	set("set_ftrace_filter", FUNC);
	set("current_tracer", "function");
	check_filter("function", BPF_FTRACE_FUNCTION, FUNC, 1);
	check_args();
	ASSERT_NEQ(skel->bss->parent_ip, 0, "parent_ip");
	ASSERT_EQ(skel->bss->event_id, 0, "event_id");

	/* The other callbacks of the tracer */
	set("options/func_stack_trace", "1");
	check_filter("stack", BPF_FTRACE_FUNCTION, " <-", 1);
	set("options/func-no-repeats", "1");
	/* A second function, as the same call again is not recorded. */
	write_at(inst, "set_ftrace_filter", "bpf_fentry_test2", O_APPEND);
	__check_filter("stack and no repeats", BPF_FTRACE_FUNCTION, " <-", 2, 2);
	set("options/func_stack_trace", "0");
	__check_filter("no repeats", BPF_FTRACE_FUNCTION, " <-", 2, 2);
	set("options/func-no-repeats", "0");
	set("set_ftrace_filter", FUNC);
	if (!access(INSTANCES "/ftrace_filter/options/func-args", F_OK)) {
		set("options/func-args", "1");
		check_filter("args", BPF_FTRACE_FUNCTION, " <-", 1);
		set("options/func-args", "0");
	}
	set("current_tracer", "nop");

	/* A program that is there before the tracer, and an option that changes meanwhile */
	link = attach(skel->progs.drop, BPF_FTRACE_FUNCTION);
	set("current_tracer", "function");
	hit();
	ASSERT_EQ(recorded(FUNC), 0, "tracer after program");
	set("options/func_stack_trace", "1");
	hit();
	ASSERT_EQ(recorded(FUNC), 0, "option after program");
	set("options/func_stack_trace", "0");
	bpf_link__destroy(link);
	set("current_tracer", "nop");
	set("set_ftrace_filter", "");
}

static void test_graph(void)
{
	static const char other[] = INSTANCES "/ftrace_filter_graph";
	struct bpf_link *link;
	char pid[16];

	set("set_ftrace_filter", FUNC);
	set("current_tracer", "function_graph");
	check_filter("graph", BPF_FTRACE_GRAPH, FUNC "()", 1);
	check_args();

	/* What is dropped at entry has no return. */
	set("options/funcgraph-tail", "1");
	link = attach(skel->progs.filter, BPF_FTRACE_GRAPH);
	skel->bss->keep = 0;
	hit();
	ASSERT_EQ(recorded("us"), 0, "return of what was dropped");
	bpf_link__destroy(link);

	/* What a program asks about at the return */
	link = attach(skel->progs.filter, BPF_FTRACE_GRAPH_RETURN);
	skel->bss->keep = 1;
	hit();
	ASSERT_EQ(skel->bss->hits, 1, "returns");
	ASSERT_EQ((int)skel->bss->retval, 2, "retval");
	ASSERT_EQ(skel->bss->flags, BPF_FTRACE_GRAPH_RETURN | BPF_FTRACE_RETURN, "flags");
	ASSERT_EQ(skel->bss->nr_args, 0, "nr_args");
	ASSERT_EQ(recorded("us"), 1, "return");
	skel->bss->keep = 0;
	hit();
	ASSERT_EQ(recorded("us"), 0, "dropped return");
	bpf_link__destroy(link);
	set("options/funcgraph-tail", "0");

	/* With filters that come before the program it cannot be asked first. */
	write_at(TRACEFS, "max_graph_depth", "9", O_TRUNC);
	check_filter("graph with depth", BPF_FTRACE_GRAPH, FUNC "()", 1);
	write_at(TRACEFS, "max_graph_depth", "0", O_TRUNC);
	snprintf(pid, sizeof(pid), "%d", getpid());
	set("set_ftrace_pid", pid);
	check_filter("graph with PID", BPF_FTRACE_GRAPH, FUNC "()", 1);
	set("set_ftrace_pid", "");
	check_filter("graph without", BPF_FTRACE_GRAPH, FUNC "()", 1);

	/* Nor beside another user of function graph, whichever comes or goes first */
	if (!ASSERT_OK(mkdir(other, 0700), other))
		return;
	write_at(other, "set_ftrace_filter", FUNC, O_TRUNC);
	write_at(other, "current_tracer", "function_graph", O_TRUNC);
	check_filter("second came", BPF_FTRACE_GRAPH, FUNC "()", 1);
	link = attach(skel->progs.filter, BPF_FTRACE_GRAPH);
	for (int i = 0; i < 8; i++) {
		write_at(other, "current_tracer", i & 2 ? "nop" : "function_graph", O_TRUNC);
		write_at(other, "trace", "", O_TRUNC);
		skel->bss->keep = i & 1;
		hit();
		ASSERT_EQ(skel->bss->hits, 1, "asked");
		ASSERT_EQ(recorded(FUNC "()"), i & 1, "recorded here");
		ASSERT_EQ(count_at(other, "trace", FUNC "()"), !(i & 2), "recorded there");
	}
	bpf_link__destroy(link);
	write_at(other, "current_tracer", "function_graph", O_TRUNC);
	set("current_tracer", "nop");
	set("current_tracer", "function_graph");
	check_filter("second was first", BPF_FTRACE_GRAPH, FUNC "()", 1);
	write_at(other, "current_tracer", "nop", O_TRUNC);
	check_filter("first went", BPF_FTRACE_GRAPH, FUNC "()", 1);
	ASSERT_OK(rmdir(other), "rmdir");
	set("current_tracer", "nop");
	set("set_ftrace_filter", "");
}

#define NOT_ZERO	-1

static void check_event(const char *name, const char *definition, __u32 what, __u32 flags,
			int arg, int retval)
{
	char file[PATH_MAX], text[64], id[32];
	FILE *f;

	if (!define(definition))
		return;
	snprintf(file, sizeof(file), "events/ftrace_filter/%s/enable", name);
	if (set(file, "1")) {
		snprintf(text, sizeof(text), " %s: ", name);
		check_filter(name, what, text, 1);
		ASSERT_EQ(skel->bss->flags, what | flags, "flags");
		if (arg == NOT_ZERO)
			ASSERT_NEQ(skel->bss->arg, 0, "arg");
		else
			ASSERT_EQ((int)skel->bss->arg, arg, "arg");
		ASSERT_EQ((int)skel->bss->retval, retval, "retval");
		snprintf(file, sizeof(file), "%s/events/ftrace_filter/%s/id", inst, name);
		f = fopen(file, "r");
		if (ASSERT_OK_PTR(f, file)) {
			ASSERT_OK_PTR(fgets(id, sizeof(id), f), file);
			fclose(f);
			ASSERT_EQ(skel->bss->event_id, atoi(id), "event_id");
		}
		snprintf(file, sizeof(file), "events/ftrace_filter/%s/enable", name);
		set(file, "0");
	}
	snprintf(text, sizeof(text), "-:ftrace_filter/%s", name);
	define(text);
}

static void test_events(void)
{
	char uprobe[PATH_MAX];
	ssize_t offset = get_uprobe_offset(in_user_space);

	check_event("kp", "p:ftrace_filter/kp " FUNC, BPF_FTRACE_KPROBE, 0, 1, 0);
	check_event("krp", "r:ftrace_filter/krp " FUNC, BPF_FTRACE_KPROBE, BPF_FTRACE_RETURN, 0, 2);
	check_event("fp", "f:ftrace_filter/fp " FUNC, BPF_FTRACE_FPROBE, 0, 1, 0);
	check_event("frp", "f:ftrace_filter/frp " FUNC "%return", BPF_FTRACE_FPROBE,
		    BPF_FTRACE_RETURN, 0, 2);
	check_event("tp", "t:ftrace_filter/tp bpf_test_finish", BPF_FTRACE_TPROBE, 0, NOT_ZERO, 0);
	check_event("ep", "e:ftrace_filter/ep bpf_test_run.bpf_test_finish", BPF_FTRACE_EPROBE, 0,
		    0, 0);
	snprintf(uprobe, sizeof(uprobe), "p:ftrace_filter/up /proc/self/exe:%#zx", offset);
	check_event("up", uprobe, BPF_FTRACE_UPROBE, 0, 0, 0);
	snprintf(uprobe, sizeof(uprobe), "r:ftrace_filter/urp /proc/self/exe:%#zx", offset);
	check_event("urp", uprobe, BPF_FTRACE_UPROBE, BPF_FTRACE_RETURN, 0, 7);
}

static void check_fdinfo(struct bpf_link *link, const char *name, __u32 what)
{
	char file[64], text[64];

	snprintf(file, sizeof(file), "%d", bpf_link__fd(link));
	snprintf(text, sizeof(text), "instance:\t%s\n", name);
	ASSERT_EQ(count_at("/proc/self/fdinfo", file, text), 1, "instance in fdinfo");
	snprintf(text, sizeof(text), "what:\t0x%x\n", what);
	ASSERT_EQ(count_at("/proc/self/fdinfo", file, text), 1, "what in fdinfo");
	ASSERT_EQ(count_at("/proc/self/fdinfo", file, "cookie:\t4660\n"), 1, "cookie in fdinfo");
}

static void check_info(struct bpf_link *link, const char *name, __u32 what)
{
	struct bpf_link_info info = {};
	__u32 len = sizeof(info);
	char buf[64] = {};

	check_fdinfo(link, name, what);
	info.ftrace.instance = ptr_to_u64(buf);
	info.ftrace.instance_len = sizeof(buf);
	if (!ASSERT_OK(bpf_link_get_info_by_fd(bpf_link__fd(link), &info, &len), "info"))
		return;
	ASSERT_EQ(info.type, BPF_LINK_TYPE_FTRACE, "type");
	ASSERT_EQ(info.ftrace.what, what, "what");
	ASSERT_EQ(info.ftrace.cookie, 0x1234, "cookie");
	ASSERT_EQ(info.ftrace.instance_len, strlen(name) + 1, "instance_len");
	ASSERT_STREQ(buf, name, "instance");
	if (strlen(name) < 4)
		return;
	/* Too short a buffer gets what fits. */
	info.ftrace.instance_len = 4;
	ASSERT_EQ(bpf_link_get_info_by_fd(bpf_link__fd(link), &info, &len), -ENOSPC, "short");
	ASSERT_EQ(strlen(buf), 3, "cut");
}

static void check_bpftool(struct bpf_link *link, const char *plain, const char *json)
{
	struct bpf_link_info info = {};
	__u32 len = sizeof(info);
	char args[64], said[2048];

	if (!ASSERT_OK(bpf_link_get_info_by_fd(bpf_link__fd(link), &info, &len), "info"))
		return;
	for (int i = 0; i < 2; i++) {
		memset(said, 0, sizeof(said));
		snprintf(args, sizeof(args), "%s link show id %u", i ? "-j" : "", info.id);
		ASSERT_OK(get_bpftool_command_output(args, said, sizeof(said) - 1), args);
		ASSERT_HAS_SUBSTR(said, i ? json : plain, args);
	}
}

static void test_link(void)
{
	char dir[] = "/tmp/ftrace_filterXXXXXX", pin[64];
	struct bpf_link *link, *other;

	set("set_ftrace_filter", FUNC);
	set("current_tracer", "function");
	link = attach(skel->progs.drop, BPF_FTRACE_FUNCTION | BPF_FTRACE_KPROBE);
	if (!link)
		return;
	check_info(link, "ftrace_filter", BPF_FTRACE_FUNCTION | BPF_FTRACE_KPROBE);
	check_bpftool(link, "instance ftrace_filter  function  kprobe  cookie 4660",
		      "\"what\":[\"function\",\"kprobe\"],\"cookie\":4660");
	ASSERT_EQ(count_at(inst, "bpf_filter", " drop"), 2, "bpf_filter");

	/* One program for each, and several links */
	ASSERT_EQ(filter_fd(inst_fd, BPF_FTRACE_FUNCTION, 0), -EBUSY, "second");
	ASSERT_EQ(filter_fd(inst_fd, BPF_FTRACE_GRAPH | BPF_FTRACE_KPROBE, 0), -EBUSY, "overlap");
	other = attach(skel->progs.filter, BPF_FTRACE_GRAPH);
	ASSERT_EQ(count_at(inst, "bpf_filter", "graph: link "), 1, "other");
	bpf_link__destroy(other);

	/* The program is exchanged while it is used. */
	hit();
	ASSERT_EQ(recorded(FUNC), 0, "drop");
	skel->bss->keep = 1;
	ASSERT_OK(bpf_link__update_program(link, skel->progs.filter), "update");
	hit();
	ASSERT_EQ(recorded(FUNC), 1, "updated");
	ASSERT_EQ(skel->bss->hits, 1, "asked after the update");
	ASSERT_OK(bpf_link__update_program(link, skel->progs.sample), "update");
	skel->bss->calls = 0;
	set("trace", "");
	for (int i = 0; i < 8; i++) {
		LIBBPF_OPTS(bpf_test_run_opts, opts);

		bpf_prog_test_run_opts(bpf_program__fd(skel->progs.trigger), &opts);
	}
	ASSERT_EQ(recorded(FUNC), 2, "one in four");
	ASSERT_EQ(bpf_link_update(bpf_link__fd(link), bpf_program__fd(skel->progs.trigger), NULL),
		  -EINVAL, "update with another type");

	/* A pinned link filters without the process that made it. */
	ASSERT_OK_PTR(mkdtemp(dir), "mkdtemp");
	ASSERT_OK(mount("bpf", dir, "bpf", 0, NULL), "mount");
	snprintf(pin, sizeof(pin), "%s/link", dir);
	ASSERT_OK(bpf_link__update_program(link, skel->progs.drop), "update");
	if (ASSERT_OK(bpf_link__pin(link, pin), "pin")) {
		bpf_link__destroy(link);
		hit();
		ASSERT_EQ(recorded(FUNC), 0, "pinned");
		link = bpf_link__open(pin);
		ASSERT_OK_PTR(link, "open");
		unlink(pin);
	}
	ASSERT_OK(umount(dir), "umount");
	rmdir(dir);
	ASSERT_OK(bpf_link__detach(link), "detach");
	check_info(link, "ftrace_filter", 0);
	check_bpftool(link, "instance ftrace_filter (gone)",
		      "\"instance\":\"ftrace_filter\",\"what\":[]");
	hit();
	ASSERT_EQ(recorded(FUNC), 1, "detached");
	ASSERT_EQ(bpf_link__update_program(link, skel->progs.filter), -ENOLINK, "update, detached");
	ASSERT_OK(bpf_link__detach(link), "detach again");
	bpf_link__destroy(link);
	set("current_tracer", "nop");
	set("set_ftrace_filter", "");
}

static void test_instances(void)
{
	LIBBPF_OPTS(bpf_ftrace_opts, opts, .what = BPF_FTRACE_FUNCTION, .cookie = 0x1234);
	const char *path = INSTANCES "/ftrace_filter2";
	struct bpf_link *link;
	int fd, root;

	/* What one records does not depend on the other's program. */
	ASSERT_OK(mkdir(path, 0700), "mkdir");
	fd = open(path, O_RDONLY | O_DIRECTORY);
	if (!ASSERT_OK_FD(fd, path))
		return;
	set("set_ftrace_filter", FUNC);
	set("current_tracer", "function");
	write_at(path, "set_ftrace_filter", FUNC, O_TRUNC);
	write_at(path, "current_tracer", "function", O_TRUNC);
	link = bpf_program__attach_ftrace(skel->progs.drop, fd, &opts);
	ASSERT_OK_PTR(link, "attach");
	hit();
	ASSERT_EQ(recorded(FUNC), 1, "without a program");
	ASSERT_EQ(count_at(path, "trace", FUNC), 0, "with one");
	set("current_tracer", "nop");
	set("set_ftrace_filter", "");

	/* The link does not keep the directory, nor the directory the link. */
	close(fd);
	write_at(path, "current_tracer", "nop", O_TRUNC);
	ASSERT_OK(rmdir(path), "rmdir with a link");
	check_info(link, "ftrace_filter2", 0);
	ASSERT_EQ(bpf_link__update_program(link, skel->progs.filter), -ENOLINK, "update, gone");
	ASSERT_OK(bpf_link__detach(link), "detach, gone");
	bpf_link__destroy(link);

	/* An instance that goes while the program is asked */
	mkdir(path, 0700);
	fd = open(path, O_RDONLY | O_DIRECTORY);
	write_at(path, "set_ftrace_filter", FUNC, O_TRUNC);
	write_at(path, "current_tracer", "function", O_TRUNC);
	link = bpf_program__attach_ftrace(skel->progs.drop, fd, &opts);
	close(fd);
	ASSERT_OK_PTR(link, "attach");
	ASSERT_OK(rmdir(path), "rmdir while tracing");
	hit();
	bpf_link__destroy(link);

	/* The top directory is an instance, too. */
	root = open(TRACEFS, O_RDONLY | O_DIRECTORY);
	if (ASSERT_OK_FD(root, TRACEFS)) {
		link = bpf_program__attach_ftrace(skel->progs.drop, root, &opts);
		if (ASSERT_OK_PTR(link, "top"))
			check_info(link, "", BPF_FTRACE_FUNCTION);
		bpf_link__destroy(link);
		close(root);
	}
}

static char said[256];

/* Returns: a link's file descriptor, or an error; then the kernel's log is in @said */
static int create(const struct bpf_program *prog, int fd, __u32 what, __u32 flags)
{
	union bpf_attr attr = {};

	attr.link_create.prog_fd = bpf_program__fd(prog);
	attr.link_create.target_fd = fd;
	attr.link_create.attach_type = BPF_FTRACE;
	attr.link_create.flags = flags;
	attr.link_create.ftrace.what = what;
	return link_create_log(&attr, said, sizeof(said));
}

/* The kernel says @why in its log, or nothing if that is NULL, and attaches nothing. */
static void refuse(const struct bpf_program *prog, int fd, __u32 what, __u32 flags, int error,
		   const char *why)
{
	int attached = count_at(inst, "bpf_filter", "");
	int link = create(prog, fd, what, flags);

	ASSERT_EQ(link, error, why ?: "error");
	if (why)
		ASSERT_HAS_SUBSTR(said, why, why);
	else
		ASSERT_STREQ(said, "", "log");
	if (link >= 0)
		close(link);
	ASSERT_EQ(count_at(inst, "bpf_filter", ""), attached, "attached");
}

static void refuse_dir(const char *path, int error, const char *why)
{
	int fd = open(path, O_RDONLY);

	if (!ASSERT_OK_FD(fd, path))
		return;
	refuse(skel->progs.filter, fd, BPF_FTRACE_FUNCTION, 0, error, why);
	close(fd);
}

static void test_bad_input(void)
{
	char dir[] = "/tmp/ftrace_filterXXXXXX";
	struct bpf_link *link;
	int fd;

	refuse(skel->progs.filter, -1, BPF_FTRACE_FUNCTION, 0, -EBADF, "target_fd: not open");
	refuse_dir("/", -EINVAL, "target_fd: not of tracefs");
	refuse_dir(INSTANCES "/ftrace_filter/trace", -ENOTDIR, "target_fd: not a directory");
	refuse_dir(INSTANCES, -ENOENT, "target_fd: not the directory of an instance");
	refuse_dir(INSTANCES "/ftrace_filter/events", -ENOENT,
		   "target_fd: not the directory of an instance");
	mkdir(INSTANCES "/ftrace_filter2", 0700);
	fd = open(INSTANCES "/ftrace_filter2", O_RDONLY | O_DIRECTORY);
	ASSERT_OK(rmdir(INSTANCES "/ftrace_filter2"), "rmdir");
	refuse(skel->progs.filter, fd, BPF_FTRACE_FUNCTION, 0, -ENOENT, "or it is removed");
	close(fd);

	if (ASSERT_OK_PTR(mkdtemp(dir), "mkdtemp") &&
	    ASSERT_OK(mount(inst, dir, NULL, MS_BIND, NULL), "bind")) {
		ASSERT_OK(mount(NULL, dir, NULL, MS_REMOUNT | MS_BIND | MS_RDONLY, NULL),
			  "read-only");
		refuse_dir(dir, -EROFS, "target_fd: mounted read-only");
		ASSERT_OK(umount(dir), "umount");
	}
	rmdir(dir);

	refuse(skel->progs.filter, inst_fd, 0, 0, -EINVAL, "ftrace.what: 0x0 is nothing");
	refuse(skel->progs.filter, inst_fd, BPF_FTRACE_RETURN, 0, -EINVAL,
	       "ftrace.what: 0x10000 is nothing");
	refuse(skel->progs.filter, inst_fd, BPF_FTRACE_UPROBE << 1, 0, -EINVAL,
	       "ftrace.what: 0x100 is nothing");
	refuse(skel->progs.filter, inst_fd, BPF_FTRACE_FUNCTION, 1, -EINVAL,
	       "flags: 0x1 is unknown");
	/* That is refused before the tracers are asked. */
	refuse(skel->progs.trigger, inst_fd, BPF_FTRACE_FUNCTION, 0, -EINVAL, NULL);

	link = attach(skel->progs.filter, BPF_FTRACE_KPROBE);
	refuse(skel->progs.drop, inst_fd, BPF_FTRACE_FUNCTION | BPF_FTRACE_KPROBE, 0, -EBUSY,
	       "target_fd: has a program for kprobe");
	bpf_link__destroy(link);
	ASSERT_EQ(count_at(inst, "bpf_filter", ""), 0, "nothing attached");
}

/* The first allocation of an attach fails, then the second, and so on. */
static void check_memory(int nth, const char *tracer, __u32 what)
{
	int fd = -1, n, err, refused = 0;
	bool failed = true;

	set("set_ftrace_filter", FUNC);
	set("current_tracer", tracer);
	skel->bss->keep = 0;
	for (n = 1; failed && n < FAIL_NTH_MAX && fail_nth_set(nth, n); n++) {
		fd = filter_fd(inst_fd, what, 0);
		failed = fail_nth_end(nth);
		if (fd < 0 && !ASSERT_EQ(fd, -ENOMEM, "error"))
			break;
		refused += fd < 0;
		ASSERT_EQ(count_at(inst, "bpf_filter", ""), fd >= 0, "bpf_filter");
		hit();
		ASSERT_EQ(recorded(FUNC), fd < 0, "recorded");
		if (fd >= 0)
			close(fd);
	}
	ASSERT_GE(fd, 0, "without a failure");
	ASSERT_FALSE(failed, "all allocations failed");
	ASSERT_GT(refused, 0, "times refused");
	hit();
	ASSERT_EQ(recorded(FUNC), 1, "detached");

	/* An allocation that fails keeps no program attached, and no tracer from recording. */
	failed = true;
	for (n = 1; failed && n < FAIL_NTH_MAX; n++) {
		fd = filter_fd(inst_fd, what, 0);
		if (!ASSERT_OK_FD(fd, "attach"))
			break;
		if (!fail_nth_set(nth, n)) {
			close(fd);
			break;
		}
		err = bpf_link_detach(fd);
		failed = fail_nth_end(nth);
		ASSERT_OK(err, "detach");
		ASSERT_EQ(count_at(inst, "bpf_filter", ""), 0, "bpf_filter, detached");
		hit();
		ASSERT_EQ(recorded(FUNC), 1, "recorded, detached");
		close(fd);
	}
	ASSERT_FALSE(failed, "all allocations failed, detaching");
	set("current_tracer", "nop");
	set("set_ftrace_filter", "");
}

static void test_memory(void)
{
	int nth = fail_nth_open();
	char pid[16];

	if (nth < 0) {
		test__skip();
		return;
	}
	check_memory(nth, "function", BPF_FTRACE_FUNCTION);
	check_memory(nth, "function_graph", BPF_FTRACE_GRAPH);
	/* With the callbacks for PIDs */
	snprintf(pid, sizeof(pid), "%d", getpid());
	set("set_ftrace_pid", pid);
	check_memory(nth, "function", BPF_FTRACE_FUNCTION);
	check_memory(nth, "function_graph", BPF_FTRACE_GRAPH);
	set("set_ftrace_pid", "");
	fail_nth_close(nth);
}

static void pin_to(int cpu)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	sched_setaffinity(0, sizeof(cpus), &cpus);
}

/*
 * Attach, exchange the program and detach, again and again, as far as nobody else has attached
 * one; and go on for a while if somebody else had one all the time. Returns: how often
 */
static int come_and_go(int instance, __u32 what, int seconds)
{
	time_t end = time(NULL) + seconds;
	int nr = 0, err;

	while (time(NULL) < end + (nr ? 0 : 300)) {
		int fd = filter_fd(instance, what, 0);

		if (fd == -EBUSY)
			continue;
		if (fd < 0)
			return -1;
		err = bpf_link_update(fd, bpf_program__fd(skel->progs.sample), NULL) ?:
		      bpf_link_update(fd, bpf_program__fd(skel->progs.drop), NULL);
		close(fd);
		if (err)
			return -1;
		nr++;
	}
	return nr;
}

static pid_t start_child(int instance, __u32 what)
{
	pid_t child = fork();

	if (!child) {
		pin_to(1);
		_exit(come_and_go(instance, what, 5) > 0 ? 0 : 1);
	}
	return child;
}

static void end_child(pid_t child, const char *name)
{
	int status = -1;

	ASSERT_EQ(waitpid(child, &status, 0), child, "wait");
	ASSERT_EQ(status, 0, name);
}

/* Two CPUs do so, while all functions and some events are traced. */
static void test_load(void)
{
	static const char other[] = INSTANCES "/ftrace_filter_graph";
	pid_t there, same;
	int fd;

	if (!ASSERT_OK(mkdir(other, 0700), other))
		return;
	fd = open(other, O_RDONLY | O_DIRECTORY);
	define("f:ftrace_filter/load vfs_*");
	set("events/ftrace_filter/load/enable", "1");
	set("current_tracer", "function");
	write_at(other, "current_tracer", "function_graph", O_TRUNC);
	there = start_child(fd, BPF_FTRACE_GRAPH | BPF_FTRACE_GRAPH_RETURN);
	same = start_child(inst_fd, BPF_FTRACE_FUNCTION | BPF_FTRACE_KPROBE);
	pin_to(0);
	ASSERT_GT(come_and_go(inst_fd, BPF_FTRACE_FUNCTION | BPF_FTRACE_FPROBE, 5), 0, "here");
	end_child(there, "there");
	end_child(same, "the same instance");
	close(fd);
	write_at(other, "current_tracer", "nop", O_TRUNC);
	ASSERT_OK(rmdir(other), "rmdir");
	set("events/ftrace_filter/load/enable", "0");
	define("-:ftrace_filter/load");
	ASSERT_EQ(count_at(inst, "bpf_filter", ""), 0, "nothing attached");
	set("current_tracer", "nop");
}

/* Another skeleton, of which one program is to be attached to sample() of the first */
static struct ftrace_filter *open_on_sample(bool reads)
{
	struct ftrace_filter *other = ftrace_filter__open();
	struct bpf_program *prog;

	if (!ASSERT_OK_PTR(other, "open"))
		return NULL;
	prog = reads ? other->progs.read_sample : other->progs.count_sample;
	bpf_program__set_autoload(prog, true);
	ASSERT_OK(bpf_program__set_attach_target(prog, bpf_program__fd(skel->progs.sample),
						 "sample"), "target");
	return other;
}

/* A program on a filter counts its runs. It must not read a context that is not filled in. */
static void test_traced(void)
{
	struct bpf_link *filter, *link;
	struct ftrace_filter *other;

	other = open_on_sample(true);
	ASSERT_EQ(ftrace_filter__load(other), -EACCES, "reads the context");
	ftrace_filter__destroy(other);

	other = open_on_sample(false);
	if (!ASSERT_OK(ftrace_filter__load(other), "counts"))
		goto out;
	link = bpf_program__attach(other->progs.count_sample);
	ASSERT_OK_PTR(link, "attach");
	set("set_ftrace_filter", FUNC);
	set("current_tracer", "function");
	filter = attach(skel->progs.sample, BPF_FTRACE_FUNCTION);
	hit();
	ASSERT_EQ(other->bss->runs, 1, "runs");
	bpf_link__destroy(filter);
	set("current_tracer", "nop");
	bpf_link__destroy(link);
out:
	ftrace_filter__destroy(other);
}

/* A user who may not write to the instance may not filter it either. */
static void test_rights(void)
{
	pid_t child = fork();
	int status;

	if (!ASSERT_GE(child, 0, "fork"))
		return;
	if (!child) {
		if (setresuid(65534, 65534, 65534))
			_exit(2);
		if (create(skel->progs.filter, inst_fd, BPF_FTRACE_FUNCTION, 0) != -EACCES)
			_exit(1);
		_exit(strstr(said, "target_fd: no permission to write") ? 0 : 3);
	}
	ASSERT_EQ(waitpid(child, &status, 0), child, "wait");
	ASSERT_EQ(status, 0, "refused");
}

void test_ftrace_filter(void)
{
	mkdir(inst, 0700);
	inst_fd = open(inst, O_RDONLY | O_DIRECTORY);
	if (!ASSERT_OK_FD(inst_fd, inst))
		return;
	if (!ASSERT_OK(load_kallsyms(), "kallsyms"))
		goto out;
	skel = ftrace_filter__open_and_load();
	if (!ASSERT_OK_PTR(skel, "load"))
		goto out;
	skel->bss->pid = getpid();

	if (test__start_subtest("function"))
		test_function();
	if (test__start_subtest("graph"))
		test_graph();
	if (test__start_subtest("events"))
		test_events();
	if (test__start_subtest("link"))
		test_link();
	if (test__start_subtest("instances"))
		test_instances();
	if (test__start_subtest("bad_input"))
		test_bad_input();
	if (test__start_subtest("memory"))
		test_memory();
	if (test__start_subtest("load"))
		test_load();
	if (test__start_subtest("traced"))
		test_traced();
	if (test__start_subtest("rights"))
		test_rights();
	RUN_TESTS(verifier_ftrace);
	ftrace_filter__destroy(skel);
out:
	close(inst_fd);
	ASSERT_OK(rmdir(inst), "rmdir");
}
