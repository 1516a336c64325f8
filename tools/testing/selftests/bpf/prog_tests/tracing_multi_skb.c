// SPDX-License-Identifier: GPL-2.0
/*
 * One program on every function with a struct sk_buff *, whichever argument that is: no
 * table in user space says where to find it. With -v this prints the way of a packet.
 */
#include <test_progs.h>
#include <bpf/btf.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include "bpf/libbpf_internal.h"
#include "network_helpers.h"
#include "trace_helpers.h"
#include "progs/tracing_multi_skb.h"
#include "tracing_multi_skb.skel.h"

#define MARK	0xca115173

static bool is_skb_ptr(const struct btf *btf, __u32 id)
{
	const struct btf_type *t = btf__type_by_id(btf, btf__resolve_type(btf, id));

	if (!btf_is_ptr(t))
		return false;
	t = btf__type_by_id(btf, t->type);
	while (btf_is_mod(t))
		t = btf__type_by_id(btf, t->type);
	return btf_is_struct(t) && !strcmp(btf__name_by_offset(btf, t->name_off), "sk_buff");
}

static bool has_skb(const struct btf *btf, const struct btf_type *func)
{
	const struct btf_type *proto = btf__type_by_id(btf, func->type);
	const struct btf_param *args = btf_params(proto);

	for (int i = 0; i < btf_vlen(proto); i++) {
		if (is_skb_ptr(btf, args[i].type))
			return true;
	}
	return false;
}

static int cmp(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* BTF ids of the functions of vmlinux that have a packet and can be traced */
static __u32 *functions_with_skb(const struct btf *btf, size_t *cnt)
{
	struct ksyms *ksyms = NULL;
	__u32 *ids = NULL;

	*cnt = 0;
	if (!ASSERT_OK(bpf_get_ksyms(&ksyms, true), "traceable functions"))
		return NULL;
	qsort(ksyms->filtered_syms, ksyms->filtered_cnt, sizeof(char *), cmp);
	ids = calloc(btf__type_cnt(btf), sizeof(*ids));
	for (__u32 id = 1; ids && id < btf__type_cnt(btf); id++) {
		const struct btf_type *t = btf__type_by_id(btf, id);
		const char *name = btf__name_by_offset(btf, t->name_off);

		if (btf_type_is_traceable_func(btf, t) && has_skb(btf, t) &&
		    bsearch(&name, ksyms->filtered_syms, ksyms->filtered_cnt, sizeof(char *), cmp))
			ids[(*cnt)++] = id;
	}
	free_kallsyms_local(ksyms);
	return ids;
}

/* The loopback device, and nothing else, for this task alone */
static int new_network(void)
{
	struct ifreq lo = { .ifr_name = "lo", .ifr_flags = IFF_UP };
	int err, fd;

	if (unshare(CLONE_NEWNET))
		return -1;
	fd = socket(AF_INET, SOCK_DGRAM, 0);
	if (fd < 0)
		return -1;
	err = ioctl(fd, SIOCSIFFLAGS, &lo);
	close(fd);
	return err;
}

/* A marked packet from the loopback device to itself */
static void send_packet(void)
{
	int server, client, mark = MARK, err;
	char byte = 1;

	server = start_server(AF_INET, SOCK_DGRAM, "127.0.0.1", 0, 0);
	if (!ASSERT_OK_FD(server, "server"))
		return;
	client = connect_to_fd(server, 0);
	if (ASSERT_OK_FD(client, "client")) {
		err = setsockopt(client, SOL_SOCKET, SO_MARK, &mark, sizeof(mark));
		ASSERT_OK(err, "mark");
		ASSERT_EQ(send(client, &byte, 1, 0), 1, "send");
		ASSERT_EQ(recv(server, &byte, 1, 0), 1, "receive");
		close(client);
	}
	close(server);
}

void serial_test_tracing_multi_skb(void)
{
	LIBBPF_OPTS(bpf_tracing_multi_opts, opts);
	/* The packet is the first argument of one, and the third of the other. */
	static const char *const way[] = { "ip_rcv", "ip_output" };
	struct tracing_multi_skb *skel = NULL;
	bool met[ARRAY_SIZE(way)] = {};
	struct btf *btf;
	int ns, err;
	size_t cnt;
	__u32 *ids;

	ns = open("/proc/self/ns/net", O_RDONLY);
	if (!ASSERT_OK_FD(ns, "network namespace"))
		return;
	btf = btf__load_vmlinux_btf();
	if (!ASSERT_OK_PTR(btf, "BTF"))
		goto close;
	ids = functions_with_skb(btf, &cnt);
	if (!ASSERT_OK_PTR(ids, "functions") || !ASSERT_GT(cnt, 100, "functions"))
		goto cleanup;
	skel = tracing_multi_skb__open_and_load();
	if (!ASSERT_OK_PTR(skel, "open_and_load"))
		goto cleanup;
	skel->bss->mark = MARK;
	opts.ids = ids;
	opts.cnt = cnt;
	skel->links.on_skb = bpf_program__attach_tracing_multi(skel->progs.on_skb, NULL, &opts);
	if (!ASSERT_OK_PTR(skel->links.on_skb, "attach"))
		goto cleanup;

	err = new_network();
	if (ASSERT_OK(err, "network"))
		send_packet();
	err = setns(ns, CLONE_NEWNET);
	ASSERT_OK(err, "network of before");

	ASSERT_GT(skel->bss->nr_seen, 10, "functions met");
	for (__u32 i = 0; i < skel->bss->nr_seen; i++) {
		const struct btf_type *t = btf__type_by_id(btf, skel->bss->seen[i].btf_id);
		const char *name = t ? btf__name_by_offset(btf, t->name_off) : "?";

		if (env.verbosity > VERBOSE_NONE)
			printf("%-32s %u times, %u bytes\n", name, skel->bss->seen[i].times,
			       skel->bss->seen[i].len);
		for (int j = 0; j < ARRAY_SIZE(way); j++)
			met[j] |= !strcmp(name, way[j]);
	}
	for (int j = 0; j < ARRAY_SIZE(way); j++)
		ASSERT_TRUE(met[j], way[j]);
cleanup:
	tracing_multi_skb__destroy(skel);
	free(ids);
	btf__free(btf);
close:
	close(ns);
}
