// SPDX-License-Identifier: GPL-2.0
/* One link for functions of the kernel and of modules, which may leave. */
#include <test_progs.h>
#include <bpf/btf.h>
#include <pthread.h>
#include "link_log.h"
#include "testing_helpers.h"
#include "tracing_multi_objs.skel.h"

#define KERNEL_FUNC	"bpf_fentry_test1"
#define MODULE_FUNC	"bpf_testmod_test_read"
#define ROUNDS		20

static struct tracing_multi_objs *skel;
static struct btf *vmlinux;

/* Of both functions, and their objects: 0 is the kernel. */
static __u32 ids[2], cnts[2] = { 1, 1 };
static int fds[2];

static char said[4096];

/* The module's BTF object, and the function's id in it; it is another one after a reload. */
static bool find_module(void)
{
	struct bpf_btf_info info = {};
	__u32 len = sizeof(info);
	struct btf *btf;
	int id;

	btf = btf__load_module_btf("bpf_testmod", vmlinux);
	if (!ASSERT_OK_PTR(btf, "the module's BTF"))
		return false;
	id = btf__find_by_name_kind(btf, MODULE_FUNC, BTF_KIND_FUNC);
	btf__free(btf);
	if (!ASSERT_GT(id, 0, MODULE_FUNC))
		return false;
	ids[1] = id;
	for (__u32 obj = 0; !bpf_btf_get_next_id(obj, &obj);) {
		char name[64] = {};
		int fd = bpf_btf_get_fd_by_id(obj);

		memset(&info, 0, sizeof(info));
		info.name = ptr_to_u64(name);
		info.name_len = sizeof(name);
		if (fd >= 0 && !bpf_btf_get_info_by_fd(fd, &info, &len) && info.kernel_btf &&
		    !strcmp(name, "bpf_testmod")) {
			fds[1] = fd;
			skel->bss->mod_obj_id = obj;
			skel->bss->mod_func_id = id;
			return true;
		}
		close(fd);
	}
	return ASSERT_TRUE(false, "a BTF object of bpf_testmod");
}

static void forget_module(void)
{
	if (fds[1])
		close(fds[1]);
	fds[1] = 0;
}

static struct bpf_link *attach(const struct bpf_program *prog)
{
	LIBBPF_OPTS(bpf_tracing_multi_opts, opts, .ids = ids, .cnt = 2, .btf_fds = fds,
		    .btf_cnts = cnts, .nr_btf_fds = 2);
	struct bpf_link *link = bpf_program__attach_tracing_multi(prog, NULL, &opts);

	return ASSERT_OK_PTR(link, bpf_program__name(prog)) ? link : NULL;
}

static void call_kernel(void)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts);

	ASSERT_OK(bpf_prog_test_run_opts(bpf_program__fd(skel->progs.on_entry), &opts), "test_run");
}

static void forget_hits(void)
{
	skel->bss->kernel_hits = 0;
	skel->bss->module_hits = 0;
	skel->bss->returns = 0;
	skel->bss->files = 0;
}

static bool expect(int kernel, int module)
{
	bool good;

	forget_hits();
	call_kernel();
	if (module >= 0)
		ASSERT_OK(trigger_module_test_read(1), "read");
	good = ASSERT_EQ(skel->bss->kernel_hits, kernel, "functions of the kernel");
	if (module >= 0)
		good &= ASSERT_EQ(skel->bss->module_hits, module, "functions of the module");
	return good & ASSERT_EQ(skel->bss->wrong, 0, "what bpf_func_info() said");
}

/* What the link tells of itself: as many functions as there are objects in @objs */
static void check_info(struct bpf_link *link, const __u32 *objs, __u32 cnt)
{
	__u32 seen_ids[4] = {}, seen_objs[4] = {};
	struct bpf_link_info info = {};
	__u32 len = sizeof(info);

	ASSERT_OK(bpf_link_get_info_by_fd(bpf_link__fd(link), &info, &len), "info");
	ASSERT_EQ(info.tracing_multi.count, cnt, "count");
	memset(&info, 0, sizeof(info));
	len = sizeof(info);
	info.tracing_multi.ids = ptr_to_u64(seen_ids);
	info.tracing_multi.btf_obj_ids = ptr_to_u64(seen_objs);
	info.tracing_multi.count = ARRAY_SIZE(seen_ids);
	ASSERT_OK(bpf_link_get_info_by_fd(bpf_link__fd(link), &info, &len), "info with ids");
	ASSERT_EQ(info.tracing_multi.count, cnt, "count of ids");
	for (__u32 i = 0; i < cnt; i++) {
		ASSERT_EQ(seen_ids[i], ids[i], "id");
		ASSERT_EQ(seen_objs[i], objs[i], "object");
	}
}

static __u32 vmlinux_obj_id(struct bpf_link *link)
{
	struct bpf_link_info info = {};
	__u32 len = sizeof(info);

	bpf_link_get_info_by_fd(bpf_link__fd(link), &info, &len);
	return info.tracing_multi.btf_obj_id;
}

static void test_both(void)
{
	struct bpf_link *link = attach(skel->progs.on_entry);
	__u32 objs[2];

	if (!link)
		return;
	objs[0] = vmlinux_obj_id(link);
	objs[1] = skel->bss->mod_obj_id;
	check_info(link, objs, 2);
	expect(1, 1);
	ASSERT_EQ(skel->bss->files, 1, "argument of a module's function by its type");
	bpf_link__destroy(link);
	expect(0, 0);

	link = attach(skel->progs.on_exit);
	expect(1, 1);
	ASSERT_EQ(skel->bss->returns, 2, "returns");
	bpf_link__destroy(link);

	link = bpf_program__attach(skel->progs.on_pattern);
	if (!ASSERT_OK_PTR(link, "pattern"))
		return;
	forget_hits();
	call_kernel();
	ASSERT_OK(trigger_module_test_read(1), "read");
	ASSERT_GE(skel->bss->kernel_hits, 2, "hits of a pattern");
	bpf_link__destroy(link);
}

/* The module leaves, and what it had is gone; when it is back it is another one. */
static void test_module_leaves(void)
{
	LIBBPF_OPTS(bpf_tracing_multi_opts, opts, .ids = &ids[1], .cnt = 1, .btf_fds = &fds[1],
		    .btf_cnts = cnts, .nr_btf_fds = 1);
	struct bpf_link *entry = attach(skel->progs.on_entry);
	struct bpf_link *exit = attach(skel->progs.on_exit);
	struct bpf_link *module_only;
	__u32 obj;

	module_only = bpf_program__attach_tracing_multi(skel->progs.on_entry, NULL, &opts);
	if (!ASSERT_OK_PTR(module_only, "attach to the module only") || !entry || !exit)
		goto out;
	obj = vmlinux_obj_id(entry);
	expect(2, 3);
	if (!ASSERT_OK(unload_bpf_testmod(false), "unload"))
		goto out;
	expect(2, -1);
	check_info(entry, &obj, 1);
	check_info(exit, &obj, 1);
	check_info(module_only, NULL, 0);
	if (ASSERT_OK(load_bpf_testmod(false), "load"))
		expect(2, 0);
	forget_module();
	find_module();
out:
	bpf_link__destroy(module_only);
	bpf_link__destroy(exit);
	bpf_link__destroy(entry);
	expect(0, 0);
}

static bool stop;

static void *keep_reading(void *unused)
{
	while (!READ_ONCE(stop)) {
		char buf[16];
		int fd = open("/sys/kernel/bpf_testmod", O_RDONLY);

		if (fd >= 0) {
			read(fd, buf, sizeof(buf));
			close(fd);
		}
	}
	return NULL;
}

/* The module comes and goes while its function runs, and links do, too. */
static void test_under_load(void)
{
	pthread_t reader;

	stop = false;
	if (!ASSERT_OK(pthread_create(&reader, NULL, keep_reading, NULL), "thread"))
		return;
	for (int i = 0; i < ROUNDS; i++) {
		struct bpf_link *entry = attach(skel->progs.on_entry);
		struct bpf_link *exit = attach(skel->progs.on_exit);
		int err = -EBUSY;

		forget_hits();
		for (int n = 0; n < 30000 && !READ_ONCE(skel->bss->module_hits); n++)
			usleep(1000);
		ASSERT_GT(skel->bss->module_hits, 0, "hits of the module's function");
		/* A reader may be in it. */
		for (int n = 0; n < 3000 && err; n++) {
			err = unload_bpf_testmod(false);
			if (err)
				usleep(10000);
		}
		ASSERT_OK(err, "unload");
		if (i & 1)
			bpf_link__destroy(exit);
		ASSERT_OK(load_bpf_testmod(false), "load");
		forget_module();
		find_module();
		forget_hits();
		call_kernel();
		ASSERT_GE(skel->bss->kernel_hits, 1, "hits of the kernel's function");
		bpf_link__destroy(entry);
		if (!(i & 1))
			bpf_link__destroy(exit);
	}
	WRITE_ONCE(stop, true);
	pthread_join(reader, NULL);
	skel->bss->wrong = 0;
	expect(0, 0);
}

/* --- What is refused ------------------------------------------------------------ */

static void refuse(struct bpf_program *prog, const int *bad_fds, const __u32 *bad_cnts, __u32 nr,
		   int error, const char *why)
{
	union bpf_attr attr = {};
	int fd;

	attr.link_create.prog_fd = bpf_program__fd(prog);
	attr.link_create.attach_type = BPF_TRACE_FENTRY_MULTI;
	attr.link_create.tracing_multi.ids = ptr_to_u64(ids);
	attr.link_create.tracing_multi.cnt = 2;
	attr.link_create.tracing_multi.btf_fds = ptr_to_u64(bad_fds);
	attr.link_create.tracing_multi.btf_cnts = ptr_to_u64(bad_cnts);
	attr.link_create.tracing_multi.nr_btf_fds = nr;
	fd = link_create_log(&attr, said, sizeof(said));
	if (fd >= 0)
		close(fd);
	ASSERT_EQ(fd < 0 ? fd : 0, error, why);
	ASSERT_HAS_SUBSTR(said, why, "reason");
}

static void test_refused(void)
{
	int twice[2] = { fds[1], fds[1] }, no_btf[2] = { 0, 9999 }, own[2] = { 0, 0 };
	static const __u32 too_few[2] = { 1, 0 }, one[2] = { 1, 1 }, too_many[2] = { 1, 2 };
	struct tracing_multi_objs *module;
	struct bpf_link *link;

	refuse(skel->progs.on_entry, fds, cnts, 3, -EINVAL, "more BTF objects than ids");
	refuse(skel->progs.on_entry, fds, too_few, 2, -EINVAL, "do not add up");
	refuse(skel->progs.on_entry, fds, too_many, 2, -EINVAL, "do not add up");
	refuse(skel->progs.on_entry, fds, one, 1, -EINVAL, "do not add up");
	refuse(skel->progs.on_entry, twice, one, 2, -EINVAL, "given twice");
	refuse(skel->progs.on_entry, no_btf, one, 2, -EBADF, "not of a BTF object");
	own[1] = btf__fd(bpf_object__btf(skel->obj));
	refuse(skel->progs.on_entry, own, one, 2, -EINVAL, "not the kernel's");
	refuse(skel->progs.on_entry, NULL, one, 2, -EFAULT, "");

	module = tracing_multi_objs__open();
	if (!ASSERT_OK_PTR(module, "open"))
		return;
	bpf_program__set_autoload(module->progs.on_module, true);
	if (ASSERT_OK(tracing_multi_objs__load(module), "load"))
		refuse(module->progs.on_module, fds, cnts, 2, -EINVAL,
		       "loaded for functions of one module");
	link = bpf_program__attach_tracing_multi(module->progs.on_module, "bpf_testmod:none*",
						 NULL);
	ASSERT_ERR_PTR(link, "a pattern that finds nothing");
	tracing_multi_objs__destroy(module);

	/* A program for the kernel can have a module's functions. */
	link = bpf_program__attach_tracing_multi(skel->progs.on_entry,
						 "bpf_testmod:" MODULE_FUNC, NULL);
	if (ASSERT_OK_PTR(link, "a module's pattern"))
		expect(0, 1);
	bpf_link__destroy(link);
	expect(0, 0);
}

void serial_test_tracing_multi_objs(void)
{
	if (!env.has_testmod) {
		test__skip();
		return;
	}
	vmlinux = btf__load_vmlinux_btf();
	if (!ASSERT_OK_PTR(vmlinux, "vmlinux BTF"))
		return;
	/* Without sites a link has functions of one object. */
	if (btf__find_by_name_kind(vmlinux, "bpf_func_arg_cast", BTF_KIND_FUNC) < 0) {
		test__skip();
		goto out;
	}
	ids[0] = btf__find_by_name_kind(vmlinux, KERNEL_FUNC, BTF_KIND_FUNC);
	skel = tracing_multi_objs__open_and_load();
	if (!ASSERT_OK_PTR(skel, "open_and_load"))
		goto out;
	skel->bss->pid = getpid();
	if (!find_module())
		goto out;

	if (test__start_subtest("both"))
		test_both();
	if (test__start_subtest("module_leaves"))
		test_module_leaves();
	if (test__start_subtest("under_load"))
		test_under_load();
	if (test__start_subtest("refused"))
		test_refused();
	forget_module();
out:
	tracing_multi_objs__destroy(skel);
	btf__free(vmlinux);
}
