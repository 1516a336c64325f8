// SPDX-License-Identifier: GPL-2.0
#include <vmlinux.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

char _license[] SEC("license") = "GPL";

SEC("kprobe.multi/bpf_fentry_test1")
int users_multi(void *ctx)
{
	return 0;
}

SEC("kprobe/bpf_fentry_test1")
int users_kprobe(void *ctx)
{
	return 0;
}

SEC("fentry.multi/bpf_fentry_test1")
int users_fentries(void *ctx)
{
	return 0;
}

SEC("fentry/bpf_fentry_test1")
int users_fentry(void *ctx)
{
	return 0;
}
