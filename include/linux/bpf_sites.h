/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _LINUX_BPF_SITES_H
#define _LINUX_BPF_SITES_H

#include <linux/types.h>

struct bpf_link;
struct bpf_prog;
struct bpf_site_hook;
struct btf_func_model;

#ifdef CONFIG_BPF_TRACING_OPS
bool bpf_site_can_link(const struct bpf_prog *prog, unsigned long addr);
struct bpf_site_hook *bpf_site_link(const struct bpf_link *link, u64 cookie, unsigned long addr,
				    const struct btf_func_model *model);
void bpf_site_unlink(struct bpf_site_hook *hook);
void bpf_site_wait_for_garbage(void);
#else
static inline bool bpf_site_can_link(const struct bpf_prog *prog, unsigned long addr)
{
	return false;
}

static inline struct bpf_site_hook *bpf_site_link(const struct bpf_link *link, u64 cookie,
						  unsigned long addr,
						  const struct btf_func_model *model)
{
	return NULL;
}

static inline void bpf_site_unlink(struct bpf_site_hook *hook)
{
}

static inline void bpf_site_wait_for_garbage(void)
{
}
#endif

#endif /* _LINUX_BPF_SITES_H */
