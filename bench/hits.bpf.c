// SPDX-License-Identifier: GPL-2.0
/*
 * One program for each attach type, all doing the same: count the hit. Only
 * the one being measured is loaded.
 */
#include <linux/bpf.h>
#include <linux/errno.h>
#include <linux/types.h>
#include <bpf/bpf_helpers.h>

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

COUNTER(on_fentry, "fentry")
COUNTER(on_fexit, "fexit")
COUNTER(on_fentry_multi, "fentry.multi")
COUNTER(on_fexit_multi, "fexit.multi")
COUNTER(on_fsession_multi, "fsession.multi")
COUNTER(on_kprobe_multi, "kprobe.multi")
COUNTER(on_kretprobe_multi, "kretprobe.multi")
COUNTER(on_kprobe, "kprobe")
COUNTER(on_kretprobe, "kretprobe")
COUNTER(on_fsession, "fsession")
COUNTER(on_kprobe_session, "kprobe.session")
