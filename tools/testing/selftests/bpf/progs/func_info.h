/* SPDX-License-Identifier: GPL-2.0 */
/* bpf_func_info() and bpf_func_arg_cast(), also for kernels without them */
#ifndef _FUNC_INFO_H
#define _FUNC_INFO_H

/* The kernel's struct bpf_traced_func */
struct traced_func {
	__u64 ip;
	__u64 cookie;
	__u32 btf_obj_id;
	__u32 btf_id;
	__u32 nr_args;
	__u32 flags;
};

#define TRACED_FUNC_RETURN	1

#ifdef __bpf__
struct bpf_traced_func___local {
	__u64 ip;
};

/* Prototypes in vmlinux.h differ from these: include it with BPF_NO_KFUNC_PROTOTYPES. */
int bpf_func_info(void *ctx, struct bpf_traced_func___local *info, __u32 size) __weak __ksym;
void *bpf_func_arg_cast(void *ctx, __u32 n, __u32 type_id) __weak __ksym;
bool bpf_session_is_return(void *ctx) __weak __ksym;
struct task_struct *bpf_task_acquire(struct task_struct *p) __weak __ksym;
void bpf_task_release(struct task_struct *p) __weak __ksym;

#define FUNC_INFO(ctx, info, size) \
	bpf_func_info(ctx, (struct bpf_traced_func___local *)(info), size)

/* The first argument that has the type */
#define ANY_ARG	0xff

#define CAST(type, n) ((type *)bpf_func_arg_cast(ctx, n, bpf_core_type_id_kernel(type)))
#endif

#endif
