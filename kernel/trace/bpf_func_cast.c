// SPDX-License-Identifier: GPL-2.0
/*
 * Arguments by their type, for a BPF program on many functions
 *
 * A program names a type by constants. When the link is made, the argument that has this
 * type is looked up for each function, and its position kept in the function's site. The
 * verifier replaces the call by instructions that read the position, and load the argument
 * from the context. So a hit does not look at types. A site has positions for the casts of
 * one program only: a program with casts is never run by a tail call, see
 * bpf_prog_map_compatible().
 */
#include <linux/bpf.h>
#include <linux/bpf_verifier.h>
#include <linux/btf.h>
#include <linux/btf_ids.h>
#include <linux/filter.h>
#include <linux/init.h>
#include <linux/module.h>

#include "bpf_sites.h"

static_assert(META_CAST_SHIFT(BPF_MAX_FUNC_CASTS) <= META_BTF_ID_SHIFT);
static_assert(MAX_BPF_FUNC_ARGS <= META_CAST_NONE);

#define verbose(env, fmt, args...) bpf_verifier_log_write(env, fmt, ##args)

__bpf_kfunc_start_defs();

/**
 * bpf_func_arg_cast - get an argument of the traced function by its type
 * @ctx: the context of a program on many functions
 * @n: the number of the argument, from 0 on; or BPF_FUNC_ARG_ANY for the first that has
 *	the type
 * @type_id__k: the BTF id of a struct or union, in the BTF that the program attaches to:
 *	bpf_core_type_id_kernel()
 *
 * The argument has the type if it is a pointer to it; qualifiers and typedefs do not matter.
 * A pointer to user space or into per-CPU memory does not match. @n counts arguments, not
 * words. Arguments behind one that the ABI may align to 16 bytes do not match.
 *
 * Both @n and @type_id__k are constants, the same on all paths to the call. A program can use
 * up to six pairs of them. It can neither make tail calls nor be the target of one.
 *
 * Returns: the argument, trusted as much as the argument of an fentry program; NULL if it is
 * NULL, or if the function has no such argument.
 */
__bpf_kfunc void *bpf_func_arg_cast(void *ctx, u32 n, u32 type_id__k)
{
	/* The verifier replaces each call. */
	return NULL;
}

__bpf_kfunc_end_defs();

/**
 * bpf_func_cast_check - check the constants of a call of bpf_func_arg_cast()
 * @env: of the program
 * @insn_aux: of the call
 * @arg: the register that has the number of the argument
 * @type_id: the type
 *
 * Returns: 0; or an error, with a reason in the log.
 */
int bpf_func_cast_check(struct bpf_verifier_env *env, struct bpf_insn_aux_data *insn_aux,
			const struct bpf_reg_state *arg, u64 type_id)
{
	struct bpf_prog_aux *aux = env->prog->aux;
	const struct btf_type *t = NULL;
	u32 n = arg->var_off.value, k;

	if (!tnum_is_const(arg->var_off)) {
		verbose(env, "bpf_func_arg_cast: the number of the argument must be a constant\n");
		return -EINVAL;
	}
	if (n >= MAX_BPF_FUNC_ARGS && n != BPF_FUNC_ARG_ANY) {
		verbose(env, "bpf_func_arg_cast: no function has an argument %u\n", n);
		return -EINVAL;
	}
	if (type_id <= BTF_MAX_TYPE)
		t = btf_type_by_id(aux->attach_btf, type_id);
	if (!t || !btf_type_is_struct(t)) {
		verbose(env,
			"bpf_func_arg_cast: type %llu is neither a struct nor a union in the BTF that the program attaches to\n",
			type_id);
		return -EINVAL;
	}

	for (k = 0; k < aux->nr_func_casts; k++) {
		if (aux->func_casts[k].type_id == type_id && aux->func_casts[k].arg == n)
			break;
	}
	if (k == BPF_MAX_FUNC_CASTS) {
		verbose(env, "bpf_func_arg_cast: more than %u pairs of argument and type\n",
			BPF_MAX_FUNC_CASTS);
		return -E2BIG;
	}
	/* Another path may come to the same call with other constants. */
	if (insn_aux->func_cast && insn_aux->func_cast != k + 1) {
		verbose(env, "bpf_func_arg_cast: one call with different constants\n");
		return -EINVAL;
	}
	if (k == aux->nr_func_casts) {
		aux->func_casts[k].type_id = type_id;
		aux->func_casts[k].arg = n;
		aux->nr_func_casts++;
	}
	insn_aux->func_cast = k + 1;
	aux->asks_site = true;
	return 0;
}

/**
 * bpf_func_cast_inline - the instructions that replace a call of bpf_func_arg_cast()
 * @insn_aux: of the call
 * @buf: takes the instructions
 *
 * Returns: how many.
 */
int bpf_func_cast_inline(const struct bpf_insn_aux_data *insn_aux, struct bpf_insn *buf)
{
	u32 shift = META_CAST_SHIFT(insn_aux->func_cast - 1);

	/* The number of the argument's word, times the size of a word */
	buf[0] = BPF_LDX_MEM(BPF_DW, BPF_REG_0, BPF_REG_1, -8);
	buf[1] = BPF_ALU64_IMM(BPF_RSH, BPF_REG_0, shift - 3);
	buf[2] = BPF_ALU64_IMM(BPF_AND, BPF_REG_0, META_CAST_NONE << 3);
	buf[3] = BPF_JMP_IMM(BPF_JNE, BPF_REG_0, META_CAST_NONE << 3, 2);
	buf[4] = BPF_MOV64_IMM(BPF_REG_0, 0);
	buf[5] = BPF_JMP_A(2);
	buf[6] = BPF_ALU64_REG(BPF_ADD, BPF_REG_0, BPF_REG_1);
	buf[7] = BPF_LDX_MEM(BPF_DW, BPF_REG_0, BPF_REG_0, 0);
	return 8;
}

/* The struct or union that an argument points to; 0 if it is something else. */
static u32 bpf_func_cast_pointee(const struct btf *btf, u32 id)
{
	const struct btf_type *t = btf_type_skip_modifiers(btf, id, NULL);
	u32 pointee;

	if (!btf_type_is_ptr(t))
		return 0;
	id = t->type;
	if (!btf_type_is_struct(btf_type_skip_modifiers(btf, id, &pointee)))
		return 0;
	for (; id != pointee; id = t->type) {
		t = btf_type_by_id(btf, id);
		if (btf_type_is_type_tag(t) && !btf_type_kflag(t)) {
			const char *tag = btf_name_by_offset(btf, t->name_off);

			if (!strcmp(tag, "user") || !strcmp(tag, "percpu"))
				return 0;
		}
	}
	return pointee;
}

/*
 * Can the ABI shift the argument to an even register or stack word? It does so for an __int128,
 * and for a struct or union that contains one.
 */
static bool bpf_func_cast_may_align(const struct btf *btf, u32 id, u32 size)
{
	const struct btf_type *t = btf_type_skip_modifiers(btf, id, NULL);
	const struct btf_member *member;
	u32 i;

	if (size <= sizeof(u64))
		return false;
	if (!btf_type_is_struct(t))
		return true;
	for_each_member(i, t, member) {
		if (IS_ERR(btf_resolve_size(btf, btf_type_by_id(btf, member->type), &size)) ||
		    size > sizeof(u64))
			return true;
	}
	return false;
}

/**
 * bpf_func_casts_resolve - find the arguments of a function that a program asks for
 * @prog: the program
 * @btf: where the function is described
 * @proto: its prototype
 * @model: the same, with the sizes of the arguments
 *
 * Returns: for the meta of the function's site, at META_CAST_SHIFT() of each cast: the word of
 *	its argument, or META_CAST_NONE.
 */
u64 bpf_func_casts_resolve(const struct bpf_prog *prog, const struct btf *btf,
			   const struct btf_type *proto, const struct btf_func_model *model)
{
	const struct bpf_func_cast *casts = prog->aux->func_casts;
	const struct btf_param *args = btf_params(proto);
	u32 nr = prog->aux->nr_func_casts, word = 0;
	u64 meta = 0;

	if (!nr)
		return 0;
	for (u32 k = 0; k < nr; k++)
		meta |= META_CAST_NONE << META_CAST_SHIFT(k);
	for (u32 i = 0; i < model->nr_args; i++) {
		u32 id = bpf_func_cast_pointee(btf, args[i].type);

		for (u32 k = 0; id && k < nr; k++) {
			u64 none = META_CAST_NONE << META_CAST_SHIFT(k);

			if (casts[k].type_id == id && (meta & none) == none &&
			    (casts[k].arg == i || casts[k].arg == BPF_FUNC_ARG_ANY))
				meta ^= (META_CAST_NONE ^ word) << META_CAST_SHIFT(k);
		}
		/* Then the arguments that follow may be one word further on than @word says. */
		if (bpf_func_cast_may_align(btf, args[i].type, model->arg_size[i]))
			break;
		word += DIV_ROUND_UP(model->arg_size[i], sizeof(u64));
	}
	return meta;
}

BTF_KFUNCS_START(bpf_func_cast_ids)
BTF_ID_FLAGS(func, bpf_func_arg_cast, KF_RET_NULL | KF_FASTCALL)
BTF_KFUNCS_END(bpf_func_cast_ids)

static int bpf_func_cast_filter(const struct bpf_prog *prog, u32 kfunc_id)
{
	if (!btf_id_set8_contains(&bpf_func_cast_ids, kfunc_id))
		return 0;
	return prog->type == BPF_PROG_TYPE_TRACING && bpf_sites_can_run(prog) ? 0 : -EACCES;
}

static const struct btf_kfunc_id_set bpf_func_cast_set = {
	.owner	= THIS_MODULE,
	.set	= &bpf_func_cast_ids,
	.filter	= bpf_func_cast_filter,
};

static int __init bpf_func_cast_init(void)
{
	return register_btf_kfunc_id_set(BPF_PROG_TYPE_TRACING, &bpf_func_cast_set);
}
late_initcall(bpf_func_cast_init);
