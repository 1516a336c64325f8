// SPDX-License-Identifier: GPL-2.0
/* tracefs names the links and programs that trace a function. */
#include <test_progs.h>
#include "ftrace_users.skel.h"

#define FUNC		"bpf_fentry_test1"
#define TRACEFS		"/sys/kernel/tracing"

/* What enabled_functions says of the function; false if that is nothing */
static bool read_line(char *line, int size)
{
	FILE *file = fopen(TRACEFS "/enabled_functions", "r");
	bool found = false;
	int len;

	if (!ASSERT_OK_PTR(file, "enabled_functions"))
		return false;
	while (!found && fgets(line, size, file))
		found = !strncmp(line, FUNC " ", sizeof(FUNC));
	if (found) {
		/* A direct call is in a line of its own. */
		len = strlen(line);
		if (fgets(line + len, size - len, file) && line[len] != '\t')
			line[len] = '\0';
	}
	fclose(file);
	return found;
}

/*
 * @func: which function of the kernel calls the program
 * @symbol: skip if the kernel does not have it. NULL: a trampoline image may call the program
 */
static void check(const struct bpf_program *prog, const char *func, const char *symbol,
		  bool has_link)
{
	struct bpf_prog_info prog_info = {};
	struct bpf_link_info link_info = {};
	int fd = bpf_program__fd(prog);
	__u32 len = sizeof(prog_info);
	char line[4096], expected[256];
	bool direct;
	unsigned long long addr;
	struct bpf_link *link;

	link = bpf_program__attach(prog);
	if (libbpf_get_error(link) == -EOPNOTSUPP) {
		test__skip();
		return;
	}
	if (!ASSERT_OK_PTR(link, "attach"))
		return;
	if (symbol && kallsyms_find(symbol, &addr)) {
		test__skip();
		goto out;
	}
	if (!ASSERT_TRUE(read_line(line, sizeof(line)), "is traced"))
		goto out;
	direct = !symbol && strstr(line, "-->bpf_trampoline_");
	if (!direct)
		ASSERT_HAS_SUBSTR(line, func, "who calls the program");
	if (!ASSERT_OK(bpf_prog_get_info_by_fd(fd, &prog_info, &len), "prog info"))
		goto out;
	len = sizeof(link_info);
	if (has_link &&
	    !ASSERT_OK(bpf_link_get_info_by_fd(bpf_link__fd(link), &link_info, &len), "link info"))
		goto out;

	if (direct)
		snprintf(expected, sizeof(expected), " {bpf program %u %s}\n", prog_info.id,
			 prog_info.name);
	else if (has_link)
		snprintf(expected, sizeof(expected), "bpf link %u, bpf program %u %s (",
			 link_info.id, prog_info.id, prog_info.name);
	else
		snprintf(expected, sizeof(expected), "bpf program %u %s (", prog_info.id,
			 prog_info.name);
	ASSERT_HAS_SUBSTR(line, expected, "enabled_functions");
out:
	ASSERT_OK(bpf_link__destroy(link), "detach");
	if (read_line(line, sizeof(line)))
		ASSERT_NULL(strstr(line, bpf_program__name(prog)), "named after the detach");
}

void serial_test_ftrace_users(void)
{
	struct ftrace_users *skel = ftrace_users__open_and_load();

	if (!ASSERT_OK_PTR(skel, "open_and_load"))
		return;
	if (test__start_subtest("kprobe_multi"))
		check(skel->progs.users_multi, "(fprobe_entry+", "fprobe_entry", true);
	if (test__start_subtest("kprobe"))
		check(skel->progs.users_kprobe, "(kprobe_ftrace_handler+",
		      "kprobe_ftrace_handler", false);
	if (test__start_subtest("fentry_multi"))
		check(skel->progs.users_fentries, "(bpf_site_", "bpf_site_fentry", true);
	if (test__start_subtest("fentry"))
		check(skel->progs.users_fentry, "(bpf_site_", NULL, true);
	ftrace_users__destroy(skel);
}
