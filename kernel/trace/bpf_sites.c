// SPDX-License-Identifier: GPL-2.0
/*
 * BPF programs on many functions, each function a site of the link's ftrace_ops
 *
 * The literal of a function, or its ops set, points to a site. The site names the program
 * to run and describes the function to it. No text is generated for a function, nothing is
 * looked up when it is hit, and each function takes 56 bytes.
 *
 *	link <----> hook [ ops, program, sites ] <---- site.entry.direct
 *
 * Hits read hook->prog under RCU. Releasing the link clears it, and the program is put
 * after a grace period. The hook itself must live until no task is in a trampoline that
 * has loaded one of its sites. That takes an RCU-tasks grace period, for which a worker
 * waits before it frees the hook.
 *
 * A callsite that has a generated trampoline, or walks the list of all ops, calls the ops,
 * which looks the site up. See register_ftrace_sites().
 */
#include <linux/bitfield.h>
#include <linux/bpf.h>
#include <linux/bpf_verifier.h>
#include <linux/btf.h>
#include <linux/cpu.h>
#include <linux/filter.h>
#include <linux/ftrace.h>
#include <linux/hash.h>
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/llist.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/seq_file.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/stringhash.h>
#include <linux/workqueue.h>

#include "bpf_sites.h"
#include "ftrace_ops_set.h"

#ifdef CONFIG_X86_64
#define SITE_REG_ARGS	6
/* The return address is below them. */
#define SITE_STACK_ARGS	sizeof(long)
#elif defined(CONFIG_ARM64)
#define SITE_REG_ARGS	8
#define SITE_STACK_ARGS	0
#endif

/*
 * What a site knows of its function. A program finds it before its context, where others
 * look for the number of arguments and for what a session has, and mask the rest.
 */
#define META_NR_ARGS	GENMASK_ULL(7, 0)
#define META_BTF_ID	GENMASK_ULL(59, 40)
/* In instructions of 4 bytes */
#define META_IP_OFFSET	GENMASK_ULL(62, 61)

static_assert(BTF_MAX_TYPE >> 20 == 0);

struct bpf_site {
	struct ftrace_site	site;
	u64			meta;
};

static_assert(sizeof(struct bpf_site) == 56);

/* For a function whose arguments are not in registers, one after the other */
struct bpf_site_args {
	struct bpf_site_hook	*hook;
	/* The register where each is, or SITE_REG_ARGS and which word on the stack */
	u8			from[MAX_BPF_FUNC_ARGS];
	/* How many bytes of that belong to it: of what is on the stack the rest is anything. */
	u8			bytes[MAX_BPF_FUNC_ARGS];
};

/**
 * struct bpf_site_hook - what the sites of a link lead to
 * @ops: what ftrace knows
 * @prog: the program; NULL once the link is gone. Read it under RCU.
 * @cookies: of each site; NULL if there are none
 * @args: of those sites whose arguments are not all in registers
 * @nr_args: how many
 * @nr_sites: the length of @sites
 * @hash: the sites that @ops is to have, until it is registered
 * @garbage: in the list of those that wait to be freed
 * @size: bytes of memory that wait with it
 * @sites: in the order of their BTF ids
 */
struct bpf_site_hook {
	struct ftrace_ops	ops;
	struct bpf_prog		*prog;
	u64			*cookies;
	struct bpf_site_args	*args;
	u32			nr_args;
	u32			nr_sites;
	struct ftrace_hash	*hash;
	struct llist_node	garbage;
	unsigned long		size;
	struct bpf_site		sites[] __counted_by(nr_sites);
};

struct bpf_sites_link {
	struct bpf_link		link;
	struct bpf_site_hook	*hook;
};

/* --- Hits ------------------------------------------------------------------- */

static noinline void bpf_site_recursion(struct bpf_prog *prog)
{
	bpf_prog_inc_misses_counter(prog);
	if (prog->aux->recursion_detected)
		prog->aux->recursion_detected(prog);
}
NOKPROBE_SYMBOL(bpf_site_recursion);

/* As __bpf_prog_enter_recur() and __bpf_prog_exit_recur(), under RCU and not migrating */
static __always_inline void bpf_site_run(struct bpf_site_hook *hook, struct bpf_site *site,
					 struct bpf_prog *prog, u64 *args)
{
	struct bpf_tramp_run_ctx run_ctx __uninitialized;

	run_ctx.bpf_cookie = hook->cookies ? hook->cookies[site - hook->sites] : 0;
	run_ctx.saved_run_ctx = bpf_set_run_ctx(&run_ctx.run_ctx);
	if (likely(bpf_prog_get_recursion_context(prog)))
		bpf_prog_run(prog, args);
	else
		bpf_site_recursion(prog);
	bpf_prog_put_recursion_context(prog);
	bpf_reset_run_ctx(run_ctx.saved_run_ctx);
}

static __always_inline unsigned long bpf_site_func_addr(u64 meta, unsigned long ip)
{
	return ip - 4 * FIELD_GET(META_IP_OFFSET, meta);
}

/* What a program gets: @args; before them is what helpers look for. */
struct bpf_site_ctx {
	u64	func;
	u64	meta;
	u64	args[MAX_BPF_FUNC_ARGS];
};

/*
 * All that registers can hold: to copy just those that the function has costs more, and no
 * program reads others. One by one, as GCC does not unroll the loop.
 */
static __always_inline void bpf_site_get_args(u64 *args, struct ftrace_regs *fregs)
{
	args[0] = ftrace_regs_get_argument(fregs, 0);
	args[1] = ftrace_regs_get_argument(fregs, 1);
	args[2] = ftrace_regs_get_argument(fregs, 2);
	args[3] = ftrace_regs_get_argument(fregs, 3);
	args[4] = ftrace_regs_get_argument(fregs, 4);
	args[5] = ftrace_regs_get_argument(fregs, 5);
#if SITE_REG_ARGS > 6
	args[6] = ftrace_regs_get_argument(fregs, 6);
	args[7] = ftrace_regs_get_argument(fregs, 7);
#endif
}

static void __no_stack_protector
bpf_site_fentry(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
		struct ftrace_regs *fregs)
{
	struct bpf_site *site = container_of(ftrace_site_of(op), struct bpf_site, site);
	struct bpf_site_hook *hook = (void *)site->site.entry.direct;
	struct bpf_site_ctx ctx __uninitialized;
	struct bpf_prog *prog;

	rcu_read_lock_dont_migrate();
	prog = READ_ONCE(hook->prog);
	if (likely(prog)) {
		ctx.func = bpf_site_func_addr(site->meta, ip);
		ctx.meta = site->meta;
		bpf_site_get_args(ctx.args, fregs);
		bpf_site_run(hook, site, prog, ctx.args);
	}
	rcu_read_unlock_migrate();
}
NOKPROBE_SYMBOL(bpf_site_fentry);

/* For a function with arguments on the stack, @site->site.entry.direct says where. */
static void __no_stack_protector
bpf_site_fentry_args(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
		     struct ftrace_regs *fregs)
{
	struct bpf_site *site = container_of(ftrace_site_of(op), struct bpf_site, site);
	struct bpf_site_args *args = (void *)site->site.entry.direct;
	unsigned long *stack = (void *)ftrace_regs_get_stack_pointer(fregs) + SITE_STACK_ARGS;
	struct bpf_site_ctx ctx __uninitialized;
	struct bpf_site_hook *hook = args->hook;
	struct bpf_prog *prog;

	rcu_read_lock_dont_migrate();
	prog = READ_ONCE(hook->prog);
	if (likely(prog)) {
		ctx.func = bpf_site_func_addr(site->meta, ip);
		ctx.meta = site->meta;
		for (int i = 0; i < FIELD_GET(META_NR_ARGS, site->meta); i++) {
			u8 from = args->from[i];

			if (from < SITE_REG_ARGS)
				ctx.args[i] = ftrace_regs_get_argument(fregs, from);
			else
				ctx.args[i] = stack[from - SITE_REG_ARGS] &
					      (U64_MAX >> (64 - 8 * args->bytes[i]));
		}
		bpf_site_run(hook, site, prog, ctx.args);
	}
	rcu_read_unlock_migrate();
}
NOKPROBE_SYMBOL(bpf_site_fentry_args);

/* What found the ops: on to the site */
static void bpf_site_find(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
			  struct ftrace_regs *fregs)
{
	struct ftrace_site *site = ftrace_find_site(op, ip);

	if (site)
		site->callee.func(ip, parent_ip, ftrace_site_as_ops(site), fregs);
}
NOKPROBE_SYMBOL(bpf_site_find);

/* --- Addresses -------------------------------------------------------------- */

/* For so many functions one pass over all symbols takes less than a search for each. */
#define BPF_SITES_MANY	1000

/* The names of the functions, hashed. Index 0 ends a chain. */
struct bpf_site_names {
	const char	**names;
	unsigned long	*addrs;
	u32		*next;
	u32		*heads;
	unsigned int	bits;
};

static u32 *bpf_site_name_head(struct bpf_site_names *names, const char *name)
{
	return &names->heads[hash_32(full_name_hash(NULL, name, strlen(name)), names->bits)];
}

/* Of several symbols with one name kallsyms_lookup_name() finds the first, and so does this. */
static int bpf_site_note_addr(void *data, const char *name, unsigned long addr)
{
	struct bpf_site_names *names = data;

	for (u32 i = *bpf_site_name_head(names, name); i; i = names->next[i]) {
		if (!names->addrs[i] && !strcmp(names->names[i], name))
			names->addrs[i] = addr;
	}
	return signal_pending(current) ? -EINTR : 0;
}

static void bpf_site_free_names(struct bpf_site_names *names)
{
	kvfree(names->names);
	kvfree(names->addrs);
	kvfree(names->next);
	kvfree(names->heads);
}

/*
 * Find the addresses of @ids, from @names->addrs[1] on; 0 where there is none. With few of
 * them, or without memory, @names->addrs is NULL: each has to be searched for.
 */
static void bpf_site_find_addrs(struct bpf_site_names *names, const struct btf *btf,
				const u32 *ids, u32 cnt)
{
	*names = (struct bpf_site_names) { .bits = ilog2(cnt) };
	if (cnt < BPF_SITES_MANY || btf_is_module(btf))
		return;

	names->names = kvmalloc_objs(*names->names, cnt + 1);
	names->addrs = kvzalloc_objs(*names->addrs, cnt + 1);
	names->next = kvmalloc_objs(*names->next, cnt + 1);
	names->heads = kvzalloc_objs(*names->heads, 1 << names->bits);
	if (!names->names || !names->addrs || !names->next || !names->heads) {
		bpf_site_free_names(names);
		*names = (struct bpf_site_names) { };
		return;
	}
	for (u32 i = 1; i <= cnt; i++) {
		const struct btf_type *type = btf_type_by_id(btf, ids[i - 1]);
		const char *name = type ? btf_name_by_offset(btf, type->name_off) : NULL;
		u32 *head;

		if (!name)
			continue;
		head = bpf_site_name_head(names, name);
		names->names[i] = name;
		names->next[i] = *head;
		*head = i;
		cond_resched();
	}
	kallsyms_on_each_symbol(bpf_site_note_addr, names);
}

/* --- Attach ----------------------------------------------------------------- */

/* The hook was not registered, or nobody uses it any more. */
static void bpf_site_free_hook(struct bpf_site_hook *hook)
{
	if (hook->hash)
		ftrace_free_sites(hook->hash);
	kvfree(hook->args);
	kvfree(hook->cookies);
	kvfree(hook);
}

static LLIST_HEAD(bpf_site_garbage);
static atomic_long_t bpf_site_garbage_size;

/* With more than that to be freed, the next link waits until some of it is. */
#define BPF_SITE_GARBAGE_MAX	SZ_8M

static void bpf_site_free_garbage(struct work_struct *work)
{
	struct llist_node *garbage = llist_del_all(&bpf_site_garbage);
	struct bpf_site_hook *hook, *next;

	/* As for any ops, see ftrace_shutdown(); hits read the program under RCU. */
	synchronize_rcu_tasks_rude();
	synchronize_rcu_tasks();
	synchronize_rcu();
	cpus_wait_for_dying();

	llist_for_each_entry_safe(hook, next, garbage, garbage) {
		atomic_long_sub(hook->size, &bpf_site_garbage_size);
		ftrace_ops_release(&hook->ops);
		bpf_site_free_hook(hook);
		cond_resched();
	}
}

static DECLARE_WORK(bpf_site_garbage_work, bpf_site_free_garbage);

/*
 * Attaching and detaching in a loop must not fill the memory during a long grace period.
 * Call this without locks held.
 */
static void bpf_site_wait_for_garbage(void)
{
	if (atomic_long_read(&bpf_site_garbage_size) > BPF_SITE_GARBAGE_MAX)
		flush_work(&bpf_site_garbage_work);
}

/* Hits may have found it, even if it could not be registered. */
static void bpf_site_retire_hook(struct bpf_site_hook *hook)
{
	/* If ftrace has been killed, functions may call it until the end. */
	if (ftrace_is_dead())
		return;
	/* With the cookies, and up to a bucket of the filter for each site */
	hook->size = sizeof(*hook) + hook->nr_args * sizeof(*hook->args) +
		     hook->nr_sites * (sizeof(struct bpf_site) + 2 * sizeof(u64));
	atomic_long_add(hook->size, &bpf_site_garbage_size);
	if (llist_add(&hook->garbage, &bpf_site_garbage))
		queue_work(system_dfl_wq, &bpf_site_garbage_work);
}

/*
 * Where the arguments are that the context has one after the other: a register, or a word
 * on the stack. x86-64 passes in registers what still fits in; arm64 passes all on the
 * stack that follows the first which does not.
 */
static int bpf_site_place_args(const struct btf_func_model *model, struct bpf_site_args *args)
{
	int nr = 0, regs = 0, words = 0;

	for (int i = 0; i < model->nr_args; i++) {
		int slots = DIV_ROUND_UP(model->arg_size[i], sizeof(u64));
		bool in_regs = regs + slots <= SITE_REG_ARGS;

		if (nr + slots > MAX_BPF_FUNC_ARGS)
			return -EOPNOTSUPP;
		if (!in_regs && IS_ENABLED(CONFIG_ARM64))
			regs = SITE_REG_ARGS;
		for (int j = 0; j < slots; j++, nr++) {
			args->from[nr] = in_regs ? regs++ : SITE_REG_ARGS + words++;
			args->bytes[nr] = min(model->arg_size[i] - 8 * j, 8);
		}
	}
	return nr;
}

static bool bpf_site_args_in_order(const struct bpf_site_args *args, int nr)
{
	for (int i = 0; i < nr; i++) {
		if (args->from[i] != i || i >= SITE_REG_ARGS)
			return false;
	}
	return true;
}

/* Room for the arguments of one more site; the array doubles. */
static struct bpf_site_args *bpf_site_new_args(struct bpf_site_hook *hook)
{
	struct bpf_site_args *args = hook->args;

	if (!(hook->nr_args & (hook->nr_args - 1))) {
		args = kvrealloc(hook->args, array_size(max(2 * hook->nr_args, 1), sizeof(*args)),
				 GFP_KERNEL);
		if (!args)
			return NULL;
		hook->args = args;
	}
	return &args[hook->nr_args++];
}

/* A second id of an address is fine if it says the same of the function. */
static int bpf_site_add(struct bpf_site_hook *hook, struct bpf_site *site, unsigned long ip,
			const struct btf *btf, u32 id)
{
	struct ftrace_func_entry *entry = ftrace_lookup_ip(hook->hash, ip);
	struct bpf_site *first;
	u32 first_id;

	if (!entry)
		return ftrace_add_site(hook->hash, &site->site, ip);
	site->site.entry.ip = ip;
	first = container_of(entry, struct bpf_site, site.entry);
	first_id = FIELD_GET(META_BTF_ID, first->meta);
	return btf_type_by_id(btf, id)->type == btf_type_by_id(btf, first_id)->type ? 0 : -EINVAL;
}

/* Make @site, of the function with that BTF @id, and add it. @addr is 0 if it is not known. */
static int bpf_site_init(struct bpf_site_hook *hook, struct bpf_site *site, struct bpf_prog *prog,
			 u32 id, unsigned long addr)
{
	struct bpf_attach_target_info info = {};
	struct btf *btf = prog->aux->attach_btf;
	struct bpf_site_args place = {}, *args;
	unsigned long ip, offset;
	int err, nr;

	err = bpf_check_attach_btf_id_multi(btf, prog, id, addr, &info);
	if (err)
		return err;
	if (bpf_trampoline_is_full(bpf_trampoline_compute_key(NULL, btf, id)))
		return -E2BIG;
	nr = bpf_site_place_args(&info.fmodel, &place);
	if (nr < 0)
		return nr;
	ip = ftrace_location(info.tgt_addr);
	offset = (ip - info.tgt_addr) / 4;
	if (WARN_ON_ONCE(offset > FIELD_MAX(META_IP_OFFSET)))
		return -EINVAL;

	site->meta = FIELD_PREP(META_NR_ARGS, nr) | FIELD_PREP(META_BTF_ID, id) |
		     FIELD_PREP(META_IP_OFFSET, offset);
	if (bpf_site_args_in_order(&place, nr)) {
		site->site.callee.func = bpf_site_fentry;
		site->site.entry.direct = (unsigned long)hook;
	} else {
		args = bpf_site_new_args(hook);
		if (!args)
			return -ENOMEM;
		place.hook = hook;
		*args = place;
		site->site.callee.func = bpf_site_fentry_args;
		/* The array may move until all are there: bpf_site_make_hook() adds where it is. */
		site->site.entry.direct = args - hook->args;
	}
	return bpf_site_add(hook, site, ip, btf, id);
}

static struct bpf_site_hook *bpf_site_make_hook(struct bpf_prog *prog, u32 *ids, u32 cnt)
{
	struct bpf_site_hook *hook = kvzalloc_flex(*hook, sites, cnt);
	struct bpf_site_names names;
	int err = 0;

	if (!hook)
		return ERR_PTR(-ENOMEM);
	hook->nr_sites = cnt;
	hook->ops.func = bpf_site_find;
	hook->ops.flags = FTRACE_OPS_FL_DEFER_FREE;
	hook->hash = ftrace_alloc_sites(cnt);
	if (!hook->hash) {
		bpf_site_free_hook(hook);
		return ERR_PTR(-ENOMEM);
	}

	bpf_site_find_addrs(&names, prog->aux->attach_btf, ids, cnt);
	for (u32 i = 0; i < cnt && !err; i++) {
		err = signal_pending(current) ? -EINTR :
		      bpf_site_init(hook, &hook->sites[i], prog, ids[i],
				    names.addrs ? names.addrs[i + 1] : 0);
		cond_resched();
	}
	bpf_site_free_names(&names);
	if (err) {
		bpf_site_free_hook(hook);
		return ERR_PTR(err);
	}

	for (u32 i = 0; i < cnt; i++) {
		struct ftrace_site *site = &hook->sites[i].site;

		if (site->callee.func == bpf_site_fentry_args)
			site->entry.direct = (unsigned long)&hook->args[site->entry.direct];
	}
	return hook;
}

/* --- The link --------------------------------------------------------------- */

static struct bpf_site_hook *bpf_sites_hook(const struct bpf_link *link)
{
	return container_of(link, struct bpf_sites_link, link)->hook;
}

static void bpf_sites_link_release(struct bpf_link *link)
{
	struct bpf_site_hook *hook = bpf_sites_hook(link);

	WRITE_ONCE(hook->prog, NULL);
	unregister_ftrace_sites(&hook->ops);
	bpf_site_retire_hook(hook);
}

static void bpf_sites_link_dealloc(struct bpf_link *link)
{
	kfree(container_of(link, struct bpf_sites_link, link));
}

static u32 bpf_site_id(const struct bpf_site *site)
{
	return FIELD_GET(META_BTF_ID, site->meta);
}

static unsigned long bpf_site_addr(const struct bpf_site *site)
{
	return bpf_site_func_addr(site->meta, site->site.entry.ip);
}

static int bpf_sites_link_fill_link_info(const struct bpf_link *link, struct bpf_link_info *info)
{
	u64 __user *ucookies = u64_to_user_ptr(info->tracing_multi.cookies);
	u64 __user *uaddrs = u64_to_user_ptr(info->tracing_multi.addrs);
	u32 __user *uids = u64_to_user_ptr(info->tracing_multi.ids);
	struct bpf_site_hook *hook = bpf_sites_hook(link);
	bool show_addrs = kallsyms_show_value(current_cred());
	u32 count = info->tracing_multi.count;

	if ((uids || ucookies || uaddrs) && !count)
		return -EINVAL;

	info->tracing_multi.attach_type = link->attach_type;
	info->tracing_multi.count = hook->nr_sites;
	info->tracing_multi.btf_obj_id = btf_obj_id(link->prog->aux->attach_btf);
	if (!uids && !ucookies && !uaddrs)
		return 0;

	for (u32 i = 0; i < min(count, hook->nr_sites); i++) {
		const struct bpf_site *site = &hook->sites[i];

		if (uids && put_user(bpf_site_id(site), uids + i))
			return -EFAULT;
		if (uaddrs && put_user(show_addrs ? (u64)bpf_site_addr(site) : 0, uaddrs + i))
			return -EFAULT;
		if (ucookies && put_user(hook->cookies ? hook->cookies[i] : 0, ucookies + i))
			return -EFAULT;
		cond_resched();
	}
	return count < hook->nr_sites ? -ENOSPC : 0;
}

#ifdef CONFIG_PROC_FS
static void bpf_sites_link_show_fdinfo(const struct bpf_link *link, struct seq_file *seq)
{
	struct bpf_site_hook *hook = bpf_sites_hook(link);

	seq_printf(seq, "attach_type:\t%u\n", link->attach_type);
	seq_printf(seq, "cnt:\t%u\n", hook->nr_sites);
	seq_printf(seq, "%s\t %s\t %s\t %s\n", "obj-id", "btf-id", "cookie", "func");
	for (u32 i = 0; i < hook->nr_sites; i++) {
		const struct bpf_site *site = &hook->sites[i];

		seq_printf(seq, "%u\t %u\t %llu\t %pS\n", btf_obj_id(link->prog->aux->attach_btf),
			   bpf_site_id(site), hook->cookies ? hook->cookies[i] : 0,
			   (void *)bpf_site_addr(site));
		cond_resched();
	}
}
#endif

static const struct bpf_link_ops bpf_sites_link_ops = {
	.release	= bpf_sites_link_release,
	.dealloc_deferred = bpf_sites_link_dealloc,
	.fill_link_info	= bpf_sites_link_fill_link_info,
#ifdef CONFIG_PROC_FS
	.show_fdinfo	= bpf_sites_link_show_fdinfo,
#endif
};

/**
 * bpf_sites_can_run - whether a program on many functions is called by sites
 * @prog: the program
 *
 * Context: any.
 * Returns: false if it needs a trampoline image for each function.
 */
bool bpf_sites_can_run(const struct bpf_prog *prog)
{
	return arch_ftrace_literals_enabled() && !prog->sleepable &&
	       prog->expected_attach_type == BPF_TRACE_FENTRY_MULTI;
}

/**
 * bpf_sites_attach - attach a program to many functions, each a site
 * @prog: the program; bpf_sites_can_run()
 * @ids: BTF ids of the functions, in ascending order
 * @cookies: of each, or NULL; the link's from now on, even if this fails
 * @cnt: how many
 *
 * The link holds the program, which holds the BTF and its module.
 *
 * Context: may sleep. Takes ftrace_lock.
 * Returns: a file descriptor of the link; or an error, and then nothing is attached:
 * * -EINVAL: an id is not of a function that can be attached to; or two are of one
 *   address, and differ in its prototype
 * * -ENOENT: ftrace has no such function
 * * -E2BIG: a function has as many programs as its trampoline takes
 * * -EOPNOTSUPP: a function has more arguments than can be passed
 * * -EINTR: a signal came
 * * -ENOMEM, or what register_ftrace_sites() returns
 */
int bpf_sites_attach(struct bpf_prog *prog, u32 *ids, u64 *cookies, u32 cnt)
{
	struct bpf_link_primer primer;
	struct bpf_site_hook *hook;
	struct bpf_sites_link *link;
	int err;

	bpf_site_wait_for_garbage();
	/* A hook that could not be registered as ftrace died meanwhile is never freed. */
	hook = ftrace_is_dead() ? ERR_PTR(-ENODEV) : bpf_site_make_hook(prog, ids, cnt);
	if (IS_ERR(hook)) {
		kvfree(cookies);
		return PTR_ERR(hook);
	}
	hook->cookies = cookies;

	link = kzalloc_obj(*link);
	if (!link) {
		bpf_site_free_hook(hook);
		return -ENOMEM;
	}
	link->hook = hook;
	bpf_link_init(&link->link, BPF_LINK_TYPE_TRACING_MULTI, &bpf_sites_link_ops, prog,
		      prog->expected_attach_type);
	err = bpf_link_prime(&link->link, &primer);
	if (err) {
		bpf_site_free_hook(hook);
		kfree(link);
		return err;
	}

	err = register_ftrace_sites(&hook->ops, hook->hash);
	if (err) {
		bpf_link_cleanup(&primer);
		bpf_site_retire_hook(hook);
		return err;
	}
	/* It is the filter of the ops now. */
	hook->hash = NULL;
	/*
	 * Run the program only now: had it been run while functions were attached to, what
	 * attaches to the rest would have been traced. Pairs with the READ_ONCE() of hits,
	 * which follow the pointer.
	 */
	smp_store_release(&hook->prog, prog);
	return bpf_link_settle(&primer);
}
