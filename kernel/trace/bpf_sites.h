/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KERNEL_TRACE_BPF_SITES_H
#define _KERNEL_TRACE_BPF_SITES_H

#include <linux/types.h>

struct bpf_prog;

#ifdef CONFIG_BPF_TRACING_OPS

bool bpf_sites_can_run(const struct bpf_prog *prog);
int bpf_sites_attach(struct bpf_prog *prog, u32 *ids, u64 *cookies, u32 cnt);

#else /* !CONFIG_BPF_TRACING_OPS */

static inline bool bpf_sites_can_run(const struct bpf_prog *prog)
{
	return false;
}

static inline int bpf_sites_attach(struct bpf_prog *prog, u32 *ids, u64 *cookies, u32 cnt)
{
	return -EOPNOTSUPP;
}

#endif /* CONFIG_BPF_TRACING_OPS */
#endif /* _KERNEL_TRACE_BPF_SITES_H */
