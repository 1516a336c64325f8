/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _LINUX_BPF_FUNC_CAST_H
#define _LINUX_BPF_FUNC_CAST_H

#include <linux/errno.h>
#include <linux/types.h>

struct bpf_insn;
struct bpf_insn_aux_data;
struct bpf_reg_state;
struct bpf_verifier_env;

/* For bpf_func_arg_cast(): the first argument that has the type */
enum {
	BPF_FUNC_ARG_ANY	= 0xff,
};

/* Each takes 4 bits of what a site knows of its function. */
#define BPF_MAX_FUNC_CASTS	6

/* What a program asks for with a call of bpf_func_arg_cast() */
struct bpf_func_cast {
	u32	type_id:24,
		arg:8;
};

#ifdef CONFIG_BPF_TRACING_OPS
int bpf_func_cast_check(struct bpf_verifier_env *env, struct bpf_insn_aux_data *insn_aux,
			const struct bpf_reg_state *arg, u64 type_id);
int bpf_func_cast_inline(const struct bpf_insn_aux_data *insn_aux, struct bpf_insn *buf);
#else
static inline int bpf_func_cast_check(struct bpf_verifier_env *env,
				      struct bpf_insn_aux_data *insn_aux,
				      const struct bpf_reg_state *arg, u64 type_id)
{
	return -EOPNOTSUPP;
}

static inline int bpf_func_cast_inline(const struct bpf_insn_aux_data *insn_aux,
				       struct bpf_insn *buf)
{
	return 0;
}
#endif

#endif /* _LINUX_BPF_FUNC_CAST_H */
