/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _TRACING_MULTI_SKB_H
#define _TRACING_MULTI_SKB_H

/* A function that a packet came by */
struct seen {
	__u64 ip;
	__u32 btf_id;
	__u32 len;
	__u32 times;
};

#endif
