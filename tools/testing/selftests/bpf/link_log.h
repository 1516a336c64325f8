/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __LINK_LOG_H
#define __LINK_LOG_H

#include <test_progs.h>
#include <sys/syscall.h>

/* Returns: the link's file descriptor, or an error; @said is what the kernel says of it */
static inline int link_create_log(const union bpf_attr *attr, char *said, __u32 size)
{
	struct bpf_common_attr common = {
		.log_buf = ptr_to_u64(said),
		.log_size = size,
		.log_level = 1,
	};
	int fd;

	said[0] = '\0';
	fd = syscall(__NR_bpf, BPF_LINK_CREATE | BPF_COMMON_ATTRS, attr, sizeof(*attr), &common,
		     sizeof(common));
	return fd < 0 ? -errno : fd;
}

#endif
