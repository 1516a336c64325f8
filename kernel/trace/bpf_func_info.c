// SPDX-License-Identifier: GPL-2.0
/*
 * What a BPF program can ask about the function that it runs for
 */
#include <linux/bitfield.h>
#include <linux/bpf.h>
#include <linux/btf.h>
#include <linux/btf_ids.h>
#include <linux/filter.h>
#include <linux/init.h>
#include <linux/module.h>
#include <linux/string.h>

#include "bpf_sites.h"

/* Not inlined, and a tail call: otherwise the usual case would save registers for it. */
static noinline int bpf_set_other_btf(const u64 *ctx, const struct bpf_prog_aux *aux,
				      struct bpf_traced_func *info)
{
	info->btf_obj_id = bpf_site_btf_obj_id(aux->prog, ctx);
	return 0;
}

/* The words before a program's context hold what the site knows of the function. Returns: 0. */
static __always_inline int bpf_get_info(const u64 *ctx, const struct bpf_prog_aux *aux,
					struct bpf_traced_func *info)
{
	struct bpf_tramp_run_ctx *run_ctx = container_of(current->bpf_ctx,
							 struct bpf_tramp_run_ctx, run_ctx);
	u64 meta;

	/* A kprobe.multi program knows no types. */
	if (!aux->attach_btf_obj_id) {
		bpf_kprobe_multi_info(info);
		return 0;
	}
	meta = ctx[-1];
	info->ip = ctx[-2];
	info->cookie = run_ctx->bpf_cookie;
	info->btf_obj_id = aux->attach_btf_obj_id;
	info->btf_id = FIELD_GET(META_BTF_ID, meta);
	info->nr_args = FIELD_GET(META_NR_ARGS, meta);
	info->flags = meta & META_IS_RETURN ? BPF_TRACED_FUNC_RETURN : 0;
	return unlikely(meta & META_OTHER_BTF) ? bpf_set_other_btf(ctx, aux, info) : 0;
}

/* For a program that was built with another struct */
static noinline int bpf_get_info_resized(const u64 *ctx, const struct bpf_prog_aux *aux,
					 void *to, u32 size)
{
	struct bpf_traced_func info;

	if (!size || size % sizeof(u64))
		return -EINVAL;
	bpf_get_info(ctx, aux, &info);
	memset(to, 0, size);
	memcpy(to, &info, min(size, sizeof(info)));
	return 0;
}

__bpf_kfunc_start_defs();

/**
 * bpf_func_info - get what is known of the function that a program runs for
 * @ctx: the context of a program on many functions, or of a kprobe.multi program
 * @info: the result
 * @info__szk: its size in the program, a multiple of 8. Members that the kernel does not know
 *	are set to 0; those that do not fit are left out.
 * @aux: passed by the verifier
 *
 * The entry and the return of a call give the same result, but for the flags.
 *
 * Returns: 0; or -EINVAL if the size is wrong.
 */
__bpf_kfunc int bpf_func_info(void *ctx, struct bpf_traced_func *info, u32 info__szk,
			      struct bpf_prog_aux *aux)
{
	if (unlikely(info__szk != sizeof(*info)))
		return bpf_get_info_resized(ctx, aux, info, info__szk);
	return bpf_get_info(ctx, aux, info);
}

__bpf_kfunc_end_defs();

BTF_KFUNCS_START(bpf_func_info_ids)
BTF_ID_FLAGS(func, bpf_func_info, KF_IMPLICIT_ARGS)
BTF_KFUNCS_END(bpf_func_info_ids)

static int bpf_func_info_filter(const struct bpf_prog *prog, u32 kfunc_id)
{
	if (!btf_id_set8_contains(&bpf_func_info_ids, kfunc_id))
		return 0;
	if (prog->type == BPF_PROG_TYPE_TRACING && bpf_sites_can_run(prog))
		return 0;
	if (prog->type == BPF_PROG_TYPE_KPROBE &&
	    (prog->expected_attach_type == BPF_TRACE_KPROBE_MULTI ||
	     prog->expected_attach_type == BPF_TRACE_KPROBE_SESSION))
		return 0;
	return -EACCES;
}

static const struct btf_kfunc_id_set bpf_func_info_set = {
	.owner	= THIS_MODULE,
	.set	= &bpf_func_info_ids,
	.filter	= bpf_func_info_filter,
};

static int __init bpf_func_info_init(void)
{
	return register_btf_kfunc_id_set(BPF_PROG_TYPE_TRACING, &bpf_func_info_set) ?:
	       register_btf_kfunc_id_set(BPF_PROG_TYPE_KPROBE, &bpf_func_info_set);
}
late_initcall(bpf_func_info_init);
