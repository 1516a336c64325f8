/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KERNEL_TRACE_BPF_SITES_H
#define _KERNEL_TRACE_BPF_SITES_H

#include <linux/types.h>

struct bpf_prog;
struct bpf_site;
struct bpf_site_ctx;
struct bpf_verifier_log;
struct btf;
struct ftrace_ops;
struct ftrace_ops_set;
struct ftrace_regs;

#ifdef CONFIG_BPF_TRACING_OPS

/* For bpf_site_caller */
void bpf_site_fentry(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
		     struct ftrace_regs *fregs);
void bpf_site_call(struct bpf_site *site, struct bpf_site_ctx *ctx);
void bpf_site_call_set(struct ftrace_ops_set *set, struct bpf_site_ctx *ctx);

bool bpf_sites_can_run(const struct bpf_prog *prog);
int bpf_sites_attach(struct bpf_prog *prog, u32 *ids, u64 *cookies, u32 cnt,
		     struct bpf_verifier_log *log);

void bpf_addrs_lock(const struct btf *btf, u32 cnt);
unsigned long bpf_addrs_find(const struct btf *btf, u32 id);
void bpf_addrs_unlock(void);

#else /* !CONFIG_BPF_TRACING_OPS */

static inline bool bpf_sites_can_run(const struct bpf_prog *prog)
{
	return false;
}

static inline int bpf_sites_attach(struct bpf_prog *prog, u32 *ids, u64 *cookies, u32 cnt,
				   struct bpf_verifier_log *log)
{
	return -EOPNOTSUPP;
}

#endif /* CONFIG_BPF_TRACING_OPS */
#endif /* _KERNEL_TRACE_BPF_SITES_H */
