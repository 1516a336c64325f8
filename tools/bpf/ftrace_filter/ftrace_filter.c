// SPDX-License-Identifier: GPL-2.0
/*
 * Let a BPF program decide what an instance of the tracers records, for as long as this runs
 *
 *	ftrace_filter [-g CGROUP | -c COOKIE] OBJECT PROGRAM INSTANCE WHAT[,WHAT]... [COMMAND...]
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/bpf_ftrace.h>
#include <linux/kernel.h>

#define TRACEFS	"/sys/kernel/tracing"

static const struct {
	const char *name;
	__u32 what;
} kinds[] = {
	{ "function",		BPF_FTRACE_FUNCTION },
	{ "graph",		BPF_FTRACE_GRAPH },
	{ "graph_return",	BPF_FTRACE_GRAPH_RETURN },
	{ "kprobe",		BPF_FTRACE_KPROBE },
	{ "fprobe",		BPF_FTRACE_FPROBE },
	{ "tprobe",		BPF_FTRACE_TPROBE },
	{ "eprobe",		BPF_FTRACE_EPROBE },
	{ "uprobe",		BPF_FTRACE_UPROBE },
};

#define NR_KINDS	ARRAY_SIZE(kinds)

static void fail(const char *what, const char *why)
{
	fprintf(stderr, "ftrace_filter: %s: %s\n", what, why);
	exit(1);
}

static void help(void)
{
	fprintf(stderr,
		"usage: ftrace_filter [-g CGROUP | -c COOKIE] OBJECT PROGRAM INSTANCE WHAT[,WHAT]... [COMMAND...]\n"
		"INSTANCE is a directory: a path, or a name in " TRACEFS "/instances.\n"
		"The program's cookie is COOKIE, or the id of CGROUP, a directory.\n"
		"The program is attached while COMMAND runs, or until a signal comes. WHAT is one of:\n");
	for (size_t i = 0; i < NR_KINDS; i++)
		fprintf(stderr, "  %s\n", kinds[i].name);
	exit(2);
}

static __u32 parse_what(char *list)
{
	__u32 what = 0;
	size_t i;

	for (char *name = strtok(list, ","); name; name = strtok(NULL, ",")) {
		for (i = 0; i < NR_KINDS && strcmp(name, kinds[i].name); i++)
			;
		if (i == NR_KINDS)
			fail(name, "nothing that can be filtered");
		what |= kinds[i].what;
	}
	return what;
}

static __u64 parse_number(const char *text)
{
	char *end;
	__u64 number;

	errno = 0;
	number = strtoull(text, &end, 0);
	if (errno || end == text || *end)
		fail(text, "not a number");
	return number;
}

/* A cgroup's id is the inode number of its directory. */
static __u64 cgroup_id(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		fail(path, strerror(errno));
	if (!S_ISDIR(st.st_mode))
		fail(path, "not a directory");
	return st.st_ino;
}

static int open_instance(const char *name)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), strchr(name, '/') ? "%s" : TRACEFS "/instances/%s", name);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		fail(path, strerror(errno));
	return fd;
}

static int run(char **command)
{
	pid_t child = fork();
	int status;

	if (child < 0)
		fail("fork", strerror(errno));
	if (!child) {
		execvp(command[0], command);
		fail(command[0], strerror(errno));
	}
	if (waitpid(child, &status, 0) < 0)
		fail("wait", strerror(errno));
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int argc, char **argv)
{
	LIBBPF_OPTS(bpf_ftrace_opts, opts);
	struct bpf_program *prog, *other;
	struct bpf_object *obj;
	sigset_t signals;
	int opt, sig;

	/* Options of the command are its own. */
	while ((opt = getopt(argc, argv, "+c:g:")) != -1) {
		if (opt == 'c')
			opts.cookie = parse_number(optarg);
		else if (opt == 'g')
			opts.cookie = cgroup_id(optarg);
		else
			help();
	}
	argv += optind;
	argc -= optind;
	if (argc < 4)
		help();
	opts.what = parse_what(argv[3]);

	obj = bpf_object__open_file(argv[0], NULL);
	if (!obj)
		fail(argv[0], strerror(errno));
	prog = bpf_object__find_program_by_name(obj, argv[1]);
	if (!prog)
		fail(argv[1], "no such program");
	/* Load no other program: it may need what this kernel lacks. */
	bpf_object__for_each_program(other, obj)
		bpf_program__set_autoload(other, other == prog);
	if (bpf_object__load(obj))
		fail(argv[0], strerror(errno));

	/* Without a command, run until sigwait() gets one of these signals. */
	sigemptyset(&signals);
	if (argc == 4) {
		sigaddset(&signals, SIGINT);
		sigaddset(&signals, SIGTERM);
		sigprocmask(SIG_BLOCK, &signals, NULL);
	}
	if (!bpf_program__attach_ftrace(prog, open_instance(argv[2]), &opts))
		fail(argv[2], errno == EBUSY ? "it has a program for that" : strerror(errno));

	if (argc > 4)
		return run(argv + 4);
	sigwait(&signals, &sig);
	return 0;
}
