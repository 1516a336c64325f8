// SPDX-License-Identifier: GPL-2.0
/* Follow a packet through all functions that have it as an argument, wherever that is. */
#define BPF_NO_KFUNC_PROTOTYPES
#include <vmlinux.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "func_info.h"
#include "tracing_multi_skb.h"

char _license[] SEC("license") = "GPL";

#define MAX_SEEN 1024

struct seen seen[MAX_SEEN];

__u32 mark, nr_seen;

static struct seen *find(__u64 ip)
{
	__u32 i;

	bpf_for(i, 0, MAX_SEEN) {
		if (seen[i].ip == ip)
			return &seen[i];
		if (!seen[i].ip) {
			seen[i].ip = ip;
			nr_seen++;
			return &seen[i];
		}
	}
	return NULL;
}

SEC("fentry.multi")
int on_skb(void *ctx)
{
	struct traced_func info;
	struct sk_buff *skb;
	struct seen *s;

	skb = CAST(struct sk_buff, ANY_ARG);
	if (!skb || skb->mark != mark)
		return 0;
	FUNC_INFO(ctx, &info, sizeof(info));
	s = find(info.ip);
	if (s) {
		s->btf_id = info.btf_id;
		s->len = skb->len;
		s->times++;
	}
	return 0;
}
