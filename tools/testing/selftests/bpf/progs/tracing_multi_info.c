// SPDX-License-Identifier: GPL-2.0
#define BPF_NO_KFUNC_PROTOTYPES
#include <vmlinux.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "tracing_multi_info.h"

char _license[] SEC("license") = "GPL";

int pid;
/* Which word the pointer to user space is; -1 if BTF says where it points to */
int user_word;
__u64 wrong_info, wrong_casts, wrong_values;

struct said entry, exit_, session, kprobe, kprobe_session;

union bpf_testmod_union_arg_1 {
	short b;
} __attribute__((preserve_access_index));

/* A program that was built with a struct of another size */
struct longer_func {
	struct traced_func known;
	__u64 unknown;
};

static bool is_zero(const struct traced_func *info)
{
	return !info->ip && !info->cookie && !info->btf_obj_id && !info->btf_id &&
	       !info->nr_args && !info->flags;
}

static void check_sizes(void *ctx, const struct traced_func *info)
{
	struct longer_func longer = { .unknown = 1 };
	__u64 ip[2] = { 0, 1 };

	wrong_info += FUNC_INFO(ctx, &longer, sizeof(longer)) ||
		      longer.known.ip != info->ip || longer.known.btf_id != info->btf_id ||
		      longer.known.flags != info->flags || longer.unknown;
	wrong_info += FUNC_INFO(ctx, ip, sizeof(ip[0])) ||
		      ip[0] != info->ip || ip[1] != 1;
	wrong_info += FUNC_INFO(ctx, ip, 12) != -22 || ip[0] != info->ip;
}

static bool get_info(struct said *said, void *ctx, struct traced_func *info, bool is_return)
{
	if ((bpf_get_current_pid_tgid() >> 32) != pid)
		return false;

	wrong_info += FUNC_INFO(ctx, info, sizeof(*info)) || is_zero(info);
	wrong_info += info->ip != bpf_get_func_ip(ctx);
	wrong_info += info->cookie != bpf_get_attach_cookie(ctx);
	wrong_info += info->flags != (is_return ? TRACED_FUNC_RETURN : 0);
	check_sizes(ctx, info);
	if (is_return)
		said->returns++;
	else
		said->entries++;
	if (info->ip == (__u64)&bpf_testmod_test_read)
		said->read = *info;
	if (info->ip == (__u64)&bpf_testmod_test_cast)
		said->cast = *info;
	return true;
}

static __u64 arg(void *ctx, __u32 word)
{
	__u64 value = 0;

	bpf_get_func_arg(ctx, word, &value);
	return value;
}

/* Is it that word of the arguments? A function that has no such type says NULL. */
#define CHECK(type, n, read_word, cast_word) ({						\
	type *__p = CAST(type, n);							\
	__s32 __word = is_read ? read_word : is_cast ? cast_word : -1;			\
											\
	wrong_casts += (is_read || is_cast) && (__u64)__p != (__word < 0 ? 0 : arg(ctx, __word)); \
	__p;										\
})

static void check_casts(void *ctx, const struct traced_func *info)
{
	bool is_read = info->ip == (__u64)&bpf_testmod_test_read;
	bool is_cast = info->ip == (__u64)&bpf_testmod_test_cast;
	union bpf_testmod_union_arg_1 *one;
	struct kobject *kobj;
	struct file *file;

	/* The struct that is the first argument has two words. */
	file = CHECK(struct file, ANY_ARG, 0, user_word < 0 ? 5 : user_word);
	CHECK(struct file, 4, -1, 5);
	CHECK(struct file, 2, -1, user_word);
	kobj = CHECK(struct kobject, 1, 1, -1);
	CHECK(struct wait_queue_head, 3, -1, 4);
	one = CHECK(union bpf_testmod_union_arg_1, 5, -1, 6);

	if (is_read && kobj)
		wrong_values += !kobj->name;
	if (is_cast && one)
		wrong_values += one->b != 1;
	if (file && is_read)
		wrong_values += !BPF_CORE_READ(file, f_inode) ||
				file->f_inode != BPF_CORE_READ(file, f_inode);
}

SEC("fentry.multi/bpf_testmod:bpf_testmod_test_*")
int BPF_PROG(on_entry)
{
	struct traced_func info = {};

	if (get_info(&entry, ctx, &info, false))
		check_casts(ctx, &info);
	return 0;
}

SEC("fexit.multi/bpf_testmod:bpf_testmod_test_*")
int BPF_PROG(on_exit)
{
	struct traced_func info = {};

	if (get_info(&exit_, ctx, &info, true))
		check_casts(ctx, &info);
	return 0;
}

SEC("fsession.multi/bpf_testmod:bpf_testmod_test_*")
int BPF_PROG(on_session)
{
	struct traced_func info = {};

	if (get_info(&session, ctx, &info, bpf_session_is_return(ctx)))
		check_casts(ctx, &info);
	return 0;
}

SEC("kprobe.multi")
int on_kprobe(struct pt_regs *ctx)
{
	struct traced_func info = {};

	get_info(&kprobe, ctx, &info, false);
	return 0;
}

SEC("kprobe.session")
int on_kprobe_session(struct pt_regs *ctx)
{
	struct traced_func info = {};

	get_info(&kprobe_session, ctx, &info, bpf_session_is_return(ctx));
	return 0;
}
