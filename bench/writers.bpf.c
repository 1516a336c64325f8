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
SEC("fentry/vfs_write")
int on_write(__u64 *args)
{
	struct total first = { 1, args[2] }, *total;
	struct comm comm = {};

	bpf_get_current_comm(comm.name, sizeof(comm.name));
	total = bpf_map_lookup_elem(&writers, &comm);
	if (!total) {
		bpf_map_update_elem(&writers, &comm, &first, BPF_ANY);
		return 0;
	}
	__sync_fetch_and_add(&total->calls, 1);
	__sync_fetch_and_add(&total->bytes, args[2]);
	return 0;
}
