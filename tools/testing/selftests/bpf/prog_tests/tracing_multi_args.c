// SPDX-License-Identifier: GPL-2.0
/* A fentry.multi program gets the arguments that a fentry program gets. */
#include <test_progs.h>

/* As in the program */
struct seen {
	__u64 calls;
	__u64 ip;
	__u64 cnt;
	__u64 args[12];
};

#include "tracing_multi_args.skel.h"

static void compare(struct tracing_multi_args *skel, int n)
{
	ASSERT_EQ(skel->bss->one[n].calls, 2, "calls of the one");
	ASSERT_GE(skel->bss->multi[n].calls, 1, "calls of the other");
	ASSERT_EQ(skel->bss->multi[n].cnt, skel->bss->one[n].cnt, "number of arguments");
	for (int i = 0; i < ARRAY_SIZE(skel->bss->one[n].args); i++)
		ASSERT_EQ(skel->bss->multi[n].args[i], skel->bss->one[n].args[i], "argument");
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
	for (int i = 0; i < 2; i++)
		ASSERT_OK(trigger_module_test_read(1), "trigger_read");
	for (int n = 0; n < ARRAY_SIZE(skel->bss->one); n++)
		compare(skel, n);
cleanup:
	tracing_multi_args__destroy(skel);
}
