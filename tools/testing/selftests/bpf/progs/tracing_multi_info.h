/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _TRACING_MULTI_INFO_H
#define _TRACING_MULTI_INFO_H

#include "func_info.h"

/* What a program was told of the two functions that are looked at, and how often it ran */
struct said {
	__u64 entries, returns;
	struct traced_func read, cast;
};

#ifdef __bpf__
extern const void bpf_testmod_test_read __ksym;
extern const void bpf_testmod_test_cast __ksym;
#endif

#endif
