/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KERNEL_TRACE_BPF_SITES_H
#define _KERNEL_TRACE_BPF_SITES_H

#include <linux/bits.h>
#include <linux/bpf.h>
#include <linux/types.h>

struct bpf_prog;
struct bpf_site;
struct bpf_site_ctx;
struct bpf_verifier_log;
struct btf;
struct btf_func_model;
struct btf_type;
struct ftrace_ops;
struct ftrace_ops_set;
struct ftrace_regs;

/*
 * What a site knows of its function, in the word before the context of a program. A trampoline
 * image has the number of arguments and the bits of a session in this word: helpers read these
 * in the same way for both, and mask the rest.
 */
#define META_NR_ARGS	GENMASK_ULL(7, 0)
/* Where a session's cookie is, in words before the context */
#define META_COOKIE	GENMASK_ULL(15, BPF_TRAMP_COOKIE_INDEX_SHIFT)
/* From bit 16 to bit 39: the number of the word that is the argument of each cast */
#define META_CAST_SHIFT(k)	(16 + 4 * (k))
#define META_CAST_NONE	GENMASK_ULL(3, 0)
#define META_BTF_ID_SHIFT	40
#define META_BTF_ID	GENMASK_ULL(59, META_BTF_ID_SHIFT)
/* Described by another BTF object than that of the program */
#define META_OTHER_BTF	BIT_ULL(60)
/* In instructions of 4 bytes */
#define META_IP_OFFSET	GENMASK_ULL(62, 61)
#define META_IS_RETURN	BIT_ULL(BPF_TRAMP_IS_RETURN_SHIFT)

enum bpf_traced_func_flags {
	/* The function is returning. */
	BPF_TRACED_FUNC_RETURN	= BIT(0),
};

/**
 * struct bpf_traced_func - what bpf_func_info() says of the function a program runs for
 * @ip: its address, as from bpf_get_func_ip()
 * @cookie: what the link has for it, as from bpf_get_attach_cookie()
 * @btf_obj_id: the BTF object that describes it; 0 for kprobe.multi
 * @btf_id: the function in it, or 0
 * @nr_args: words of arguments, as from bpf_get_func_arg_cnt(); 0 without a @btf_id
 * @flags: enum bpf_traced_func_flags
 *
 * New members can be added at the end.
 */
struct bpf_traced_func {
	u64	ip;
	u64	cookie;
	u32	btf_obj_id;
	u32	btf_id;
	u32	nr_args;
	u32	flags;
};

int bpf_check_dup_ids(u32 *ids, u64 *cookies, u32 cnt, struct bpf_verifier_log *log);

#ifdef CONFIG_BPF_TRACING_OPS

void bpf_site_skipped_func(void);

/* For bpf_site_caller */
void bpf_site_fentry(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
		     struct ftrace_regs *fregs);
void bpf_site_fmod_ret(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
		       struct ftrace_regs *fregs);
void bpf_site_call(struct bpf_site *site, struct bpf_site_ctx *ctx);
u64 bpf_site_call_fmod_ret(struct bpf_site *site, struct bpf_site_ctx *ctx);
void bpf_site_call_set(struct ftrace_ops_set *set, struct bpf_site_ctx *ctx);

u64 bpf_site_stack_flags(u64 *args, u64 flags, unsigned long ip);
bool bpf_sites_can_run(const struct bpf_prog *prog);
int bpf_sites_attach(struct bpf_prog *prog, const union bpf_attr *attr, u32 *ids, u64 *cookies,
		     struct bpf_verifier_log *log);
u32 bpf_site_btf_obj_id(const struct bpf_prog *prog, const u64 *args);

u64 bpf_func_casts_resolve(const struct bpf_prog *prog, const struct btf *btf,
			   const struct btf_type *proto, const struct btf_func_model *model);
void bpf_kprobe_multi_info(struct bpf_traced_func *info);

void bpf_addrs_lock(const struct btf *btf, u32 cnt);
unsigned long bpf_addrs_find(const struct btf *btf, u32 id);
void bpf_addrs_unlock(void);

#else /* !CONFIG_BPF_TRACING_OPS */

static inline bool bpf_sites_can_run(const struct bpf_prog *prog)
{
	return false;
}

static inline int bpf_sites_attach(struct bpf_prog *prog, const union bpf_attr *attr, u32 *ids,
				   u64 *cookies, struct bpf_verifier_log *log)
{
	return -EOPNOTSUPP;
}

#endif /* CONFIG_BPF_TRACING_OPS */
#endif /* _KERNEL_TRACE_BPF_SITES_H */
