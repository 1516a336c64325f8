// SPDX-License-Identifier: GPL-2.0
/*
 * writers - attach a BPF program to vfs_write(), wait for the end of standard
 * input, then print who wrote how much.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdio.h>
#include <unistd.h>

int main(void)
{
	struct bpf_object *obj = bpf_object__open_file("writers.bpf.o", NULL);
	char comm[16], next[16], *prev = NULL, end;
	unsigned long long total[2];
	struct bpf_program *prog;
	int map;

	if (!obj || bpf_object__load(obj))
		return 1;
	prog = bpf_object__find_program_by_name(obj, "on_write");
	if (!bpf_program__attach(prog))
		return 1;
	puts("attached");
	fflush(stdout);
	if (read(STDIN_FILENO, &end, 1) < 0)
		return 1;

	map = bpf_object__find_map_fd_by_name(obj, "writers");
	printf("%-16s %8s %10s\n", "command", "writes", "bytes");
	while (!bpf_map_get_next_key(map, prev, next)) {
		__builtin_memcpy(comm, next, sizeof(comm));
		prev = comm;
		if (!bpf_map_lookup_elem(map, comm, total))
			printf("%-16.16s %8llu %10llu\n", comm, total[0], total[1]);
	}
	return 0;
}
