// SPDX-License-Identifier: GPL-2.0
/* Who writes how much: counts calls and bytes of vfs_write() by command. */
#include <linux/bpf.h>
#include <linux/types.h>
#include <bpf/bpf_helpers.h>

char _license[] SEC("license") = "GPL";

struct comm {
	char name[16];
};

struct total {
	__u64 calls;
	__u64 bytes;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 256);
	__type(key, struct comm);
	__type(value, struct total);
} writers SEC(".maps");

/* vfs_write(file, buf, count, pos) */
SEC("fentry.multi/vfs_write")
int on_write(void *ctx)
{
	struct total first = { 1 }, *total;
	struct comm comm = {};
	__u64 bytes;

	if (bpf_get_func_arg(ctx, 2, &bytes))
		return 0;
	first.bytes = bytes;

	bpf_get_current_comm(comm.name, sizeof(comm.name));
	total = bpf_map_lookup_elem(&writers, &comm);
	if (!total) {
		bpf_map_update_elem(&writers, &comm, &first, BPF_ANY);
		return 0;
	}
	__sync_fetch_and_add(&total->calls, 1);
	__sync_fetch_and_add(&total->bytes, bytes);
	return 0;
}
