/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __FAIL_NTH_H
#define __FAIL_NTH_H

/* Let the n-th allocation of a system call fail, in kernels with fault injection */
#include <test_progs.h>
#include <fcntl.h>

#define FAIL_NTH_MAX	1000

/* All allocations can fail, and do so without a word in the kernel's log. */
static const struct {
	const char *file, *value, *normally;
} fail_nth_options[] = {
	{ "/sys/kernel/debug/failslab/ignore-gfp-wait", "N", "Y" },
	{ "/sys/kernel/debug/failslab/verbose", "0", "2" },
	{ "/sys/kernel/debug/fail_page_alloc/ignore-gfp-wait", "N", "Y" },
	{ "/sys/kernel/debug/fail_page_alloc/min-order", "0", "1" },
	{ "/sys/kernel/debug/fail_page_alloc/verbose", "0", "2" },
};

/* Returns: what the others need, or -1 if the kernel has no fault injection */
static inline int fail_nth_open(void)
{
	for (int i = 0; i < ARRAY_SIZE(fail_nth_options); i++) {
		if (access(fail_nth_options[i].file, W_OK))
			return -1;
	}
	for (int i = 0; i < ARRAY_SIZE(fail_nth_options); i++)
		write_sysctl(fail_nth_options[i].file, fail_nth_options[i].value);
	return open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
}

static inline void fail_nth_close(int fd)
{
	for (int i = 0; i < ARRAY_SIZE(fail_nth_options); i++)
		write_sysctl(fail_nth_options[i].file, fail_nth_options[i].normally);
	close(fd);
}

/* The @n-th allocation of this thread from here on fails. */
static inline bool fail_nth_set(int fd, int n)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", n);
	return ASSERT_GT(pwrite(fd, text, strlen(text), 0), 0, "set fail-nth");
}

/* No allocation fails any more. Returns: whether one did */
static inline bool fail_nth_end(int fd)
{
	char left[16] = {};

	pread(fd, left, sizeof(left) - 1, 0);
	pwrite(fd, "0", 1, 0);
	return !atoi(left);
}

#endif
