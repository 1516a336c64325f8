// SPDX-License-Identifier: GPL-2.0
/* What a program learns of the function that it runs for, and of its arguments */
#include <test_progs.h>
#include <bpf/btf.h>
#include "progs/tracing_multi_info.h"
#include "tracing_multi_info.skel.h"
#include "verifier_func_cast.skel.h"

static const char *const names[] = { "bpf_testmod_test_read", "bpf_testmod_test_cast" };
static const __u64 cookies[] = { 0x1111111111111111, 0x2222222222222222 };

/* The BTF object of that name; 0 if there is none. */
static __u32 btf_obj_id(const char *wanted)
{
	__u32 id = 0;

	while (!bpf_btf_get_next_id(id, &id)) {
		char name[64] = {};
		struct bpf_btf_info info = {
			.name = ptr_to_u64(name),
			.name_len = sizeof(name),
		};
		__u32 len = sizeof(info);
		int fd = bpf_btf_get_fd_by_id(id), err;

		if (fd < 0)
			continue;
		err = bpf_btf_get_info_by_fd(fd, &info, &len);
		close(fd);
		if (!err && info.kernel_btf && !strcmp(name, wanted))
			return id;
	}
	return 0;
}

/* Compilers without type tags do not tell a pointer to user space from another. */
static bool has_type_tags(struct btf *btf, __u32 id)
{
	const struct btf_type *t = btf__type_by_id(btf, btf__type_by_id(btf, id)->type);

	t = btf__type_by_id(btf, btf_params(t)[2].type);
	return btf_is_type_tag(btf__type_by_id(btf, t->type));
}

static void check_said(const struct said *said, const __u32 *ids, __u32 obj_id,
		       const __u64 *cookies, __u32 flags, const char *who)
{
	const struct traced_func *infos[] = { &said->read, &said->cast };
	const __u32 nr_args[] = { 6, 7 };

	for (int i = 0; i < ARRAY_SIZE(infos); i++) {
		ASSERT_NEQ(infos[i]->ip, 0, who);
		ASSERT_EQ(infos[i]->cookie, cookies ? cookies[i] : 0, "cookie");
		ASSERT_EQ(infos[i]->btf_id, ids ? ids[i] : 0, "BTF id");
		ASSERT_EQ(infos[i]->btf_obj_id, ids ? obj_id : 0, "BTF object");
		ASSERT_EQ(infos[i]->nr_args, ids ? nr_args[i] : 0, "arguments");
		ASSERT_EQ(infos[i]->flags, flags, "flags");
	}
}

static void said(void)
{
	LIBBPF_OPTS(bpf_kprobe_multi_opts, kprobe_opts);
	LIBBPF_OPTS(bpf_tracing_multi_opts, opts);
	struct tracing_multi_info *skel;
	struct btf *vmlinux, *btf = NULL;
	__u32 obj_id, ids[2];

	skel = tracing_multi_info__open();
	if (!ASSERT_OK_PTR(skel, "open"))
		return;
	vmlinux = btf__load_vmlinux_btf();
	if (!ASSERT_OK_PTR(vmlinux, "BTF of vmlinux"))
		goto cleanup;
	if (btf__find_by_name_kind(vmlinux, "bpf_func_arg_cast", BTF_KIND_FUNC) < 0) {
		test__skip();
		goto cleanup;
	}
	btf = btf__load_module_btf("bpf_testmod", vmlinux);
	if (!ASSERT_OK_PTR(btf, "BTF of bpf_testmod"))
		goto cleanup;
	obj_id = btf_obj_id("bpf_testmod");
	if (!ASSERT_NEQ(obj_id, 0, "BTF object of bpf_testmod"))
		goto cleanup;
	for (int i = 0; i < ARRAY_SIZE(ids); i++) {
		ids[i] = btf__find_by_name_kind(btf, names[i], BTF_KIND_FUNC);
		if (!ASSERT_GT((int)ids[i], 0, names[i]))
			goto cleanup;
	}

	skel->bss->pid = getpid();
	skel->bss->user_word = has_type_tags(btf, ids[1]) ? -1 : 3;
	if (!ASSERT_OK(tracing_multi_info__load(skel), "load"))
		goto cleanup;
	skel->links.on_entry = bpf_program__attach(skel->progs.on_entry);
	if (!ASSERT_OK_PTR(skel->links.on_entry, "fentry.multi"))
		goto cleanup;
	opts.ids = ids;
	opts.cookies = cookies;
	opts.cnt = ARRAY_SIZE(ids);
	skel->links.on_exit = bpf_program__attach_tracing_multi(skel->progs.on_exit, NULL, &opts);
	if (!ASSERT_OK_PTR(skel->links.on_exit, "fexit.multi"))
		goto cleanup;
	skel->links.on_session = bpf_program__attach_tracing_multi(skel->progs.on_session, NULL,
								   &opts);
	if (!ASSERT_OK_PTR(skel->links.on_session, "fsession.multi"))
		goto cleanup;
	kprobe_opts.syms = (const char **)names;
	kprobe_opts.cookies = cookies;
	kprobe_opts.cnt = ARRAY_SIZE(names);
	skel->links.on_kprobe = bpf_program__attach_kprobe_multi_opts(skel->progs.on_kprobe, NULL,
								      &kprobe_opts);
	if (!ASSERT_OK_PTR(skel->links.on_kprobe, "kprobe.multi"))
		goto cleanup;
	kprobe_opts.session = true;
	skel->links.on_kprobe_session =
		bpf_program__attach_kprobe_multi_opts(skel->progs.on_kprobe_session, NULL,
						      &kprobe_opts);
	if (!ASSERT_OK_PTR(skel->links.on_kprobe_session, "kprobe.session"))
		goto cleanup;

	ASSERT_OK(trigger_module_test_read(1), "read");

	check_said(&skel->bss->entry, ids, obj_id, NULL, 0, "fentry.multi");
	check_said(&skel->bss->exit_, ids, obj_id, cookies, 1, "fexit.multi");
	/* The last word is that of the return. */
	check_said(&skel->bss->session, ids, obj_id, cookies, 1, "fsession.multi");
	check_said(&skel->bss->kprobe, NULL, 0, cookies, 0, "kprobe.multi");
	check_said(&skel->bss->kprobe_session, NULL, 0, cookies, 1, "kprobe.session");
	ASSERT_GT(skel->bss->entry.entries, 10, "other functions");
	ASSERT_EQ(skel->bss->exit_.returns, 2, "returns");
	ASSERT_EQ(skel->bss->session.entries, 2, "entries of the session");
	ASSERT_EQ(skel->bss->session.returns, 2, "returns of the session");
	ASSERT_EQ(skel->bss->wrong_info, 0, "wrong information");
	ASSERT_EQ(skel->bss->wrong_casts, 0, "wrong casts");
	ASSERT_EQ(skel->bss->wrong_values, 0, "wrong values");
cleanup:
	btf__free(btf);
	btf__free(vmlinux);
	tracing_multi_info__destroy(skel);
}

void serial_test_tracing_multi_info(void)
{
	if (test__start_subtest("said"))
		said();
	RUN_TESTS(verifier_func_cast);
}
