// SPDX-License-Identifier: GPL-2.0
#define BPF_NO_KFUNC_PROTOTYPES
#include <vmlinux.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "func_info.h"

char _license[] SEC("license") = "GPL";

int pid;
/* The module's BTF object, and the function that is looked at in it */
__u32 mod_obj_id, mod_func_id;

/* Hits of functions of the kernel and of modules */
__u64 kernel_hits, module_hits, returns, files, wrong;

static void count(void *ctx, bool is_return)
{
	struct traced_func info;

	if ((bpf_get_current_pid_tgid() >> 32) != pid)
		return;
	if (FUNC_INFO(ctx, &info, sizeof(info)) || info.ip != bpf_get_func_ip(ctx))
		wrong++;
	if (info.btf_obj_id == mod_obj_id) {
		module_hits++;
		if (info.btf_id != mod_func_id)
			wrong++;
		/* A type of the kernel, in the prototype of a module's function */
		if (CAST(struct file, 0))
			files++;
	} else {
		kernel_hits++;
	}
	if (is_return)
		returns++;
}

SEC("fentry.multi")
int on_entry(void *ctx)
{
	count(ctx, false);
	return 0;
}

SEC("fexit.multi")
int on_exit(void *ctx)
{
	count(ctx, true);
	return 0;
}

/* One function of the kernel, and one of a module */
SEC("fentry.multi/*:bpf_*test1")
int on_pattern(void *ctx)
{
	if ((bpf_get_current_pid_tgid() >> 32) == pid)
		kernel_hits++;
	return 0;
}

SEC("?fentry.multi/bpf_testmod:bpf_testmod_test_read")
int on_module(void *ctx)
{
	return 0;
}
