// SPDX-License-Identifier: GPL-2.0
#include <vmlinux.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

char _license[] SEC("license") = "GPL";

SEC("fentry.multi")
int BPF_PROG(entry)
{
	return 0;
}

SEC("fexit.multi")
int BPF_PROG(at_exit)
{
	return 0;
}

SEC("fentry.multi.s")
int BPF_PROG(sleeping_entry)
{
	return 0;
}

SEC("kprobe.multi")
int on_kprobe_multi(void *ctx)
{
	return bpf_get_attach_cookie(ctx) == 1;
}

SEC("fentry/bpf_fentry_test1")
int BPF_PROG(single)
{
	return 0;
}
