// SPDX-License-Identifier: GPL-2.0
/* A program on many functions gets the arguments that a program on one function gets. */
#include <test_progs.h>

/* As in the program */
struct seen {
	__u64 calls;
	__u64 ip;
	__u64 cnt;
	__u64 args[12];
	__u64 ret;
};

#include "tracing_multi_args.skel.h"

/* fexit.multi cannot be attached to all functions: some return more than 8 bytes. */
#define NR_EXITS	11

static void compare(const struct seen *multi, const struct seen *one, const char *what)
{
	ASSERT_GE(multi->calls, 2, what);
	ASSERT_EQ(multi->cnt, one->cnt, "number of arguments");
	for (int i = 0; i < ARRAY_SIZE(one->args); i++)
		ASSERT_EQ(multi->args[i], one->args[i], "argument");
	ASSERT_EQ(multi->ret, one->ret, "what it returned");
}

void serial_test_tracing_multi_args(void)
{
	struct tracing_multi_args *skel;

	skel = tracing_multi_args__open_and_load();
	if (!ASSERT_OK_PTR(skel, "open_and_load"))
		return;
	if (!ASSERT_OK(tracing_multi_args__attach(skel), "attach"))
		goto cleanup;

	/* The first tells which function has which number. */
	for (int i = 0; i < 3; i++)
		ASSERT_OK(trigger_module_test_read(1), "trigger_read");
	for (int n = 0; n < ARRAY_SIZE(skel->bss->one); n++) {
		ASSERT_EQ(skel->bss->one[n].calls, 3, "calls of the one");
		compare(&skel->bss->multi[n], &skel->bss->one[n], "fentry.multi");
		if (n >= NR_EXITS)
			continue;
		compare(&skel->bss->multi_exit[n], &skel->bss->one_exit[n], "fexit.multi");
		compare(&skel->bss->session[n], &skel->bss->one[n], "entry of fsession.multi");
		compare(&skel->bss->session_exit[n], &skel->bss->one_exit[n],
			"exit of fsession.multi");
	}
	ASSERT_EQ(skel->bss->wrong_cookies, 0, "wrong cookies");
cleanup:
	tracing_multi_args__destroy(skel);
}
