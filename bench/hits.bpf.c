// SPDX-License-Identifier: GPL-2.0
/*
 * One program for each attach type, all doing the same: count the hit. Only
 * the one being measured is loaded.
 */
#include <linux/bpf.h>
#include <linux/errno.h>
#include <linux/types.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

char _license[] SEC("license") = "GPL";

__u64 hits;

#define COUNTER(name, section)			\
	SEC(section) int name(void *ctx)	\
	{					\
		hits++;				\
		return 0;			\
	}

__u64 func_ip SEC(".bss.ip");

/* As on_kprobe; and what function was it? */
SEC("kprobe") int on_kprobe_ip(void *ctx)
{
	hits++;
	func_ip = bpf_get_func_ip(ctx);
	return 0;
}

/* Have the function return at once, with an error that it does not know. */
#define OVERRIDE(name, section)				\
	SEC(section) int name(void *ctx)		\
	{						\
		hits++;					\
		bpf_override_return(ctx, -EUCLEAN);	\
		return 0;				\
	}

OVERRIDE(override_kprobe, "kprobe")
OVERRIDE(override_kprobe_multi, "kprobe.multi")

/* As the kernel's, of either architecture; libbpf looks for the name without the ___. */
struct pt_regs___any {
	unsigned long r15, di, si, dx, cx, r8;
	unsigned long regs[31];
} __attribute__((preserve_access_index));

#define REG(regs_ptr, x86, arm64) \
	(bpf_core_field_exists((regs_ptr)->x86) ? (regs_ptr)->x86 : (regs_ptr)->regs[arm64])

struct bpf_traced_func___known {
	__u64 ip, cookie;
	__u32 btf_obj_id, btf_id, nr_args, flags;
};

#define ANY_ARG 0xff /* BPF_FUNC_ARG_ANY */

/* Weak: the pristine base has neither. */
void *bpf_func_arg_cast(void *ctx, __u32 n, __u32 type_id) __ksym __weak;
int bpf_func_info(void *ctx, struct bpf_traced_func___known *info, __u32 size) __ksym __weak;

/* As on_fentry_multi, if the first argument is the type that a system call has there */
SEC("fentry.multi") int on_fentry_multi_cast(void *ctx)
{
	if (bpf_func_arg_cast(ctx, 0, bpf_core_type_id_kernel(struct pt_regs___any)))
		hits++;
	return 0;
}

__u64 first_word SEC(".bss.word");

/* And what does it point to? */
SEC("fentry.multi") int on_fentry_multi_read(void *ctx)
{
	struct pt_regs___any *regs =
		bpf_func_arg_cast(ctx, 0, bpf_core_type_id_kernel(struct pt_regs___any));

	if (regs) {
		hits++;
		first_word = REG(regs, r15, 0);
	}
	return 0;
}

struct task_struct___any {
} __attribute__((preserve_access_index));

struct file___any {
} __attribute__((preserve_access_index));

/* Whichever argument has the one type or the other */
SEC("fentry.multi") int on_fentry_multi_casts(void *ctx)
{
	if (bpf_func_arg_cast(ctx, ANY_ARG, bpf_core_type_id_kernel(struct task_struct___any)) ||
	    bpf_func_arg_cast(ctx, ANY_ARG, bpf_core_type_id_kernel(struct file___any)))
		hits++;
	return 0;
}

/* Which argument of a function has the type, for whoever cannot ask: by address */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, __u64);
	__type(value, __u32);
} table SEC(".maps");

/* As on_fentry_multi_read, without help */
SEC("kprobe.multi") int on_kprobe_multi_table(struct pt_regs___any *ctx)
{
	__u64 ip = bpf_get_func_ip(ctx), word = 0;
	__u32 *arg = bpf_map_lookup_elem(&table, &ip);
	unsigned long addr;

	if (!arg)
		return 0;
	switch (*arg) {
	case 0:
		addr = REG(ctx, di, 0);
		break;
	case 1:
		addr = REG(ctx, si, 1);
		break;
	case 2:
		addr = REG(ctx, dx, 2);
		break;
	case 3:
		addr = REG(ctx, cx, 3);
		break;
	case 4:
		addr = REG(ctx, r8, 4);
		break;
	default:
		return 0;
	}
	if (!bpf_probe_read_kernel(&word, sizeof(word), (void *)addr)) {
		hits++;
		first_word = word;
	}
	return 0;
}

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} records SEC(".maps");

/* What a tracer would record of a cgroup, which no task is in */
SEC("kprobe.multi") int on_kprobe_multi_cgroup(struct pt_regs___any *ctx)
{
	__u64 record[2];

	hits++;
	if (bpf_get_current_cgroup_id() != 999999999)
		return 0;
	record[0] = bpf_get_func_ip(ctx);
	record[1] = bpf_ktime_get_ns();
	bpf_ringbuf_output(&records, record, sizeof(record), 0);
	return 0;
}

/* As on_fentry_multi, if the kernel says what the function is */
SEC("fentry.multi") int on_fentry_multi_info(void *ctx)
{
	struct bpf_traced_func___known info;

	if (!bpf_func_info(ctx, &info, sizeof(info)))
		hits++;
	return 0;
}

COUNTER(on_fentry, "fentry")
COUNTER(on_fexit, "fexit")
COUNTER(on_fentry_multi, "fentry.multi")
COUNTER(on_fexit_multi, "fexit.multi")
COUNTER(on_fsession_multi, "fsession.multi")
COUNTER(on_fmod_ret_multi, "fmod_ret.multi")
COUNTER(on_kprobe_multi, "kprobe.multi")
COUNTER(on_kretprobe_multi, "kretprobe.multi")
COUNTER(on_kprobe, "kprobe")
COUNTER(on_kretprobe, "kretprobe")
COUNTER(on_fsession, "fsession")
COUNTER(on_kprobe_session, "kprobe.session")
