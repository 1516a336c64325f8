// SPDX-License-Identifier: GPL-2.0
/*
 * BPF programs on many functions, each function a site of the link's ftrace_ops
 *
 * The literal of a function, or its ops set, points to a site. The site names the program
 * to run and describes the function to it. No text is generated for a function, nothing is
 * looked up when it is hit, and each function takes up to 56 bytes.
 *
 *	link <----> hook [ ops, program, sites ] <---- site.entry.direct
 *	                ^
 *	                +----> exits [ stock ] <---- node, one for each call that is hooked
 *
 * The context of a program at the exit is in the node that hooks the return. As a task may
 * sleep in the function for days, a node keeps only its stock alive. The handler of the
 * return finds the hook in @exits, or NULL if the link is gone by then.
 *
 * Hits read hook->prog under RCU. Releasing the link clears it, and the program is put
 * after a grace period. The hook itself must live until no task is in a trampoline that
 * has loaded one of its sites. That takes an RCU-tasks grace period, for which a worker
 * waits before it frees the hook. On a CPU that dies and that RCU no longer waits for, hits
 * may still be running the program: releasing the link waits until such a CPU is gone.
 *
 * Most functions that call only fentry programs, or one fmod_ret program, go through
 * bpf_site_caller, which is in assembly and makes no struct ftrace_regs. It knows
 * bpf_site_fentry(), bpf_site_fmod_ret() and ftrace_ops_set_lean_func() by their addresses,
 * and the layout of struct bpf_site_ctx.
 *
 * With CONFIG_BPF_TRAMPOLINE_OPS a site also calls a program that is attached to one
 * function; its hook has no other site. See bpf_site_link().
 *
 * Callsites with a generated trampoline, and walks of the list of all ops, call the func of
 * the ops. This is bpf_site_find(), which looks the site up. See register_ftrace_sites().
 */
#include <linux/bitfield.h>
#include <linux/bpf.h>
#include <linux/bpf_sites.h>
#include <linux/bpf_verifier.h>
#include <linux/btf.h>
#include <linux/cfi.h>
#include <linux/cpu.h>
#include <linux/filter.h>
#include <linux/ftrace.h>
#include <linux/kmemleak.h>
#include <linux/kprobes.h>
#include <linux/llist.h>
#include <linux/list.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/rcupdate_trace.h>
#include <linux/rcupdate_wait.h>
#include <linux/rethook_ftrace.h>
#include <linux/seq_file.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/stacktrace.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>
#include <linux/workqueue.h>

#include "bpf_sites.h"
#include "ftrace_ops_set.h"
#include "rethook_stock.h"

#ifdef CONFIG_X86_64
#define SITE_REG_ARGS	6
/* The return address is below them. */
#define SITE_STACK_ARGS	sizeof(long)
#elif defined(CONFIG_ARM64)
#define SITE_REG_ARGS	8
#define SITE_STACK_ARGS	0
#endif

static_assert(BTF_MAX_TYPE >> 20 == 0);

struct bpf_site {
	struct ftrace_site	site;
	u64			meta;
} __aligned(FTRACE_CALLEE_ALIGN);

static_assert(sizeof(struct bpf_site) <= 56);

/*
 * Where the arguments of a function are. Only a site whose arguments are simply the first
 * registers, in order, can do without one.
 */
struct bpf_site_args {
	struct bpf_site_hook	*hook;
	/* For each word its register, or SITE_REG_ARGS plus its index on the stack */
	u8			from[MAX_BPF_FUNC_ARGS];
	/* How many bytes of each word are valid: on the stack the rest is garbage. */
	u8			bytes[MAX_BPF_FUNC_ARGS];
};

/**
 * struct bpf_site_obj - a BTF object that describes functions of a link
 * @btf: the object
 * @id: its id, which @btf loses when the module leaves
 * @mod: the module it is of, unless that has left; NULL for vmlinux. It is held while the
 *	link is made, and afterwards only by a program that was loaded for it.
 * @first: the first of its sites
 * @cnt: how many
 * @gone: its functions are not traced any more, or never were
 */
struct bpf_site_obj {
	struct btf	*btf;
	u32		id;
	struct module	*mod;
	u32		first, cnt;
	bool		gone;
};

/**
 * struct bpf_site_hook - what the sites of a link lead to
 * @ops: what ftrace knows
 * @prog: the program; NULL until all functions are attached, and once the link is gone. Read
 *	it under RCU; if it may sleep, between rcu_read_lock_trace() and
 *	rcu_read_unlock_trace().
 * @cookies: of each site; NULL if there are none
 * @exits: for a program that runs when functions return, otherwise NULL
 * @args: the struct bpf_site_args of those sites that have one
 * @nr_args: how many
 * @sleepable: the program may sleep
 * @may_recur: the program may run within a run of itself, as those of LSM hooks do
 * @nr_objs: the length of @objs
 * @objs: the BTF objects that describe the functions
 * @can_leave: the link came with a list of BTF objects: the program does not hold their modules,
 *	which can leave
 * @attached: if @can_leave, whether @ops is registered
 * @link: the link that owns the hook; valid while @ops is registered
 * @leavers: if @can_leave, in the list of such hooks
 * @nr_sites: the length of @sites
 * @hash: the sites that @ops is to have, until it is registered
 * @garbage: in a list of hooks to be freed
 * @size: its part of bpf_site_garbage_size
 * @sites: grouped by BTF object, in the order of @objs; sorted by BTF id within each group
 *
 * If @can_leave, bpf_site_leave_mutex protects @attached and what @objs says of modules.
 */
struct bpf_site_hook {
	struct ftrace_ops	ops;
	struct bpf_prog		*prog;
	u64			*cookies;
	struct bpf_site_exits	*exits;
	struct bpf_site_args	*args;
	u32			nr_args;
	bool			sleepable;
	bool			may_recur;
	u32			nr_objs;
	struct bpf_site_obj	*objs;
	bool			can_leave;
	bool			attached;
	const struct bpf_link	*link;
	struct list_head	leavers;
	u32			nr_sites;
	struct ftrace_hash	*hash;
	struct llist_node	garbage;
	unsigned long		size;
	struct bpf_site		sites[] __counted_by(nr_sites);
};

/**
 * struct bpf_site_exits - what the nodes of hooked calls lead to
 * @stock: the nodes. It lives as long as there are any.
 * @hook: the hook; NULL once the link is gone. Read it with preemption disabled; if the program
 *	may sleep, between rcu_read_lock_trace() and rcu_read_unlock_trace() instead.
 * @rcu: for kfree_rcu_nolock()
 */
struct bpf_site_exits {
	struct rethook_stock	stock;
	struct bpf_site_hook	*hook;
	struct kvfree_rcu_head	rcu;
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

/*
 * As bpf_prog_get_recursion_context(), which disables preemption on arm64, since it takes
 * several instructions there. Here the task stays on its CPU: an LDXR and its STXR will do,
 * as an exception in between makes the latter fail.
 */
#ifdef CONFIG_ARM64
static __always_inline u32 bpf_site_one_run(void)
{
	return BIT(BITS_PER_BYTE * interrupt_context_level());
}

static __always_inline bool bpf_site_begin_run(struct bpf_prog *prog, u32 one)
{
	return __percpu_add_return_case_32(this_cpu_ptr(prog->active), one) == one;
}

static __always_inline void bpf_site_end_run(struct bpf_prog *prog, u32 one)
{
	__percpu_add_case_32(this_cpu_ptr(prog->active), -one);
}
#else
static __always_inline u32 bpf_site_one_run(void)
{
	return 1;
}

static __always_inline bool bpf_site_begin_run(struct bpf_prog *prog, u32 one)
{
	return bpf_prog_get_recursion_context(prog);
}

static __always_inline void bpf_site_end_run(struct bpf_prog *prog, u32 one)
{
	bpf_prog_put_recursion_context(prog);
}
#endif

/* As __bpf_prog_enter_recur() and __bpf_prog_exit_recur(), under RCU and not migrating */
static __always_inline void __bpf_site_run(struct bpf_site_hook *hook, struct bpf_site *site,
					   struct bpf_prog *prog, u64 *args,
					   bpf_dispatcher_fn dispatch)
{
	struct bpf_tramp_run_ctx run_ctx __uninitialized;
	u32 one = bpf_site_one_run();

	run_ctx.bpf_cookie = hook->cookies ? hook->cookies[site - hook->sites] : 0;
	run_ctx.saved_run_ctx = bpf_set_run_ctx(&run_ctx.run_ctx);
	if (likely(bpf_site_begin_run(prog, one)))
		__bpf_prog_run(prog, args, dispatch);
	else
		bpf_site_recursion(prog);
	bpf_site_end_run(prog, one);
	bpf_reset_run_ctx(run_ctx.saved_run_ctx);
}

static __always_inline void bpf_site_run(struct bpf_site_hook *hook, struct bpf_site *site,
					 struct bpf_prog *prog, u64 *args)
{
	__bpf_site_run(hook, site, prog, args, bpf_dispatcher_nop_func);
}

/* With preemption disabled RCU waits for this anyway, but lockdep does not see it. */
static __always_inline void bpf_site_run_not_preemptible(struct bpf_site_hook *hook,
							 struct bpf_site *site,
							 struct bpf_prog *prog, u64 *args)
{
	if (IS_ENABLED(CONFIG_DEBUG_LOCK_ALLOC))
		rcu_read_lock();
	bpf_site_run(hook, site, prog, args);
	if (IS_ENABLED(CONFIG_DEBUG_LOCK_ALLOC))
		rcu_read_unlock();
}

static __always_inline unsigned long bpf_site_func_addr(u64 meta, unsigned long ip)
{
	return ip - 4 * FIELD_GET(META_IP_OFFSET, meta);
}

/* A program gets a pointer to @args; helpers read the words before it. */
struct bpf_site_ctx {
	struct bpf_site	*site;
	union {
		u64	session_cookie;
		/* What the program returned, all 64 bits */
		u64	result;
	};
	u64		func;
	u64		meta;
	u64		args[];
};

/* In bpf_site_caller */
static_assert(offsetof(struct bpf_site_ctx, args) == 32);

union bpf_site_ctx_on_stack {
	struct bpf_site_ctx	ctx;
	/* All arguments, and a result */
	u64			room[sizeof(struct bpf_site_ctx) / sizeof(u64) +
				     MAX_BPF_FUNC_ARGS + 1];
};

#define SESSION_COOKIE	((offsetof(struct bpf_site_ctx, args) - \
			  offsetof(struct bpf_site_ctx, session_cookie)) / sizeof(u64))

/*
 * Copy all argument registers: to copy just those that the function uses costs more, and a
 * program cannot read the others. On x86-64 one by one, as GCC does not unroll a loop.
 */
static __always_inline void bpf_site_get_args(u64 *args, struct ftrace_regs *fregs)
{
#ifdef CONFIG_ARM64
	/* Two at a time */
	memcpy(args, arch_ftrace_regs(fregs)->regs, SITE_REG_ARGS * sizeof(*args));
#else
	args[0] = ftrace_regs_get_argument(fregs, 0);
	args[1] = ftrace_regs_get_argument(fregs, 1);
	args[2] = ftrace_regs_get_argument(fregs, 2);
	args[3] = ftrace_regs_get_argument(fregs, 3);
	args[4] = ftrace_regs_get_argument(fregs, 4);
	args[5] = ftrace_regs_get_argument(fregs, 5);
#endif
}

static __always_inline void bpf_site_collect_args(u64 *args, int nr, struct bpf_site_args *places,
						  struct ftrace_regs *fregs)
{
	unsigned long *stack = (void *)ftrace_regs_get_stack_pointer(fregs) + SITE_STACK_ARGS;

	for (int i = 0; i < nr; i++) {
		u8 from = places->from[i];

		if (from < SITE_REG_ARGS)
			args[i] = ftrace_regs_get_argument(fregs, from);
		else
			args[i] = stack[from - SITE_REG_ARGS] &
				  (U64_MAX >> (64 - 8 * places->bytes[i]));
	}
}

/* @places is NULL if the arguments are in registers, in their order. */
static __always_inline void bpf_site_fill_ctx(struct bpf_site_ctx *ctx, struct bpf_site *site,
					      struct bpf_site_args *places, unsigned long ip,
					      struct ftrace_regs *fregs)
{
	u64 meta = site->meta;

	ctx->site = site;
	ctx->func = bpf_site_func_addr(meta, ip);
	ctx->meta = meta;
	if (places)
		bpf_site_collect_args(ctx->args, FIELD_GET(META_NR_ARGS, meta), places, fregs);
	else
		bpf_site_get_args(ctx->args, fregs);
}

static __always_inline void bpf_site_enter(struct bpf_site_hook *hook, struct bpf_site *site,
					   struct bpf_site_args *places, unsigned long ip,
					   struct ftrace_regs *fregs)
{
	union bpf_site_ctx_on_stack on_stack __uninitialized;
	struct bpf_prog *prog;

	rcu_read_lock_dont_migrate();
	prog = READ_ONCE(hook->prog);
	if (likely(prog)) {
		bpf_site_fill_ctx(&on_stack.ctx, site, places, ip, fregs);
		bpf_site_run(hook, site, prog, on_stack.ctx.args);
	}
	rcu_read_unlock_migrate();
}

void __no_stack_protector
bpf_site_fentry(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
		struct ftrace_regs *fregs)
{
	struct bpf_site *site = container_of(ftrace_site_of(op), struct bpf_site, site);

	bpf_site_enter((void *)site->site.entry.direct, site, NULL, ip, fregs);
}
NOKPROBE_SYMBOL(bpf_site_fentry);

/* Fill in what bpf_site_caller has left out of @ctx. */
static __always_inline void bpf_site_complete_ctx(struct bpf_site *site, struct bpf_site_ctx *ctx)
{
	u64 meta = site->meta;

	ctx->site = site;
	/* x86-64 has found the function with the literal. */
	if (!IS_ENABLED(CONFIG_X86_64))
		ctx->func = bpf_site_func_addr(meta, site->site.entry.ip);
	ctx->meta = meta;
}

static __always_inline void __bpf_site_call(struct bpf_site *site, struct bpf_site_ctx *ctx)
{
	struct bpf_site_hook *hook = (void *)site->site.entry.direct;
	struct bpf_prog *prog = READ_ONCE(hook->prog);

	if (unlikely(!prog))
		return;
	bpf_site_complete_ctx(site, ctx);
	bpf_site_run(hook, site, prog, ctx->args);
}

/* For bpf_site_caller, which has saved the arguments in @ctx: as bpf_site_fentry() */
void __no_stack_protector bpf_site_call(struct bpf_site *site, struct bpf_site_ctx *ctx)
{
	rcu_read_lock_dont_migrate();
	__bpf_site_call(site, ctx);
	rcu_read_unlock_migrate();
}
NOKPROBE_SYMBOL(bpf_site_call);

/* The same for a set of such sites. They share the arguments in @ctx: programs only read them. */
void __no_stack_protector bpf_site_call_set(struct ftrace_ops_set *set, struct bpf_site_ctx *ctx)
{
	struct ftrace_ops **p = set->ops, **end = p + set->nr;

	rcu_read_lock_dont_migrate();
	do {
		__bpf_site_call(container_of(ftrace_site_of(*p), struct bpf_site, site), ctx);
	} while (++p < end);
	rcu_read_unlock_migrate();
}
NOKPROBE_SYMBOL(bpf_site_call_set);

/* As bpf_site_fentry(), for a site whose entry.direct points to its struct bpf_site_args */
static void __no_stack_protector
bpf_site_fentry_args(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
		     struct ftrace_regs *fregs)
{
	struct bpf_site *site = container_of(ftrace_site_of(op), struct bpf_site, site);
	struct bpf_site_args *places = (void *)site->site.entry.direct;

	bpf_site_enter(places->hook, site, places, ip, fregs);
}
NOKPROBE_SYMBOL(bpf_site_fentry_args);

/*
 * rethook_stock_get_slow() calls functions that can be traced. A hit of one of them that also
 * comes here is counted as missed, so that this does not recurse.
 */
static noinline struct rethook_stock_node *bpf_site_get_node_slow(struct bpf_site_hook *hook,
								  struct bpf_prog *prog,
								  unsigned long ip)
{
	struct rethook_stock_node *node = NULL;
	int bit;

	if (!atomic_read(&current->tracing_graph_pause)) {
		bit = ftrace_test_recursion_trylock(ip, 0);
		if (bit >= 0) {
			node = rethook_stock_get_slow(&hook->exits->stock);
			ftrace_test_recursion_unlock(bit);
		}
	}
	if (!node)
		bpf_prog_inc_misses_counter(prog);
	return node;
}
NOKPROBE_SYMBOL(bpf_site_get_node_slow);

/*
 * As for fprobes, no return is hooked on the way into suspend and hibernation, where
 * functions may never return.
 */
static __always_inline struct rethook_stock_node *bpf_site_get_node_fast(struct bpf_site_hook *hook)
{
	if (unlikely(atomic_read(&current->tracing_graph_pause)))
		return NULL;
	return rethook_stock_get_fast(&hook->exits->stock);
}

static __always_inline struct rethook_stock_node *bpf_site_get_node(struct bpf_site_hook *hook,
								    struct bpf_prog *prog,
								    unsigned long ip)
{
	return bpf_site_get_node_fast(hook) ?: bpf_site_get_node_slow(hook, prog, ip);
}

static __always_inline struct bpf_site_ctx *bpf_site_node_ctx(struct rethook_node *rhn)
{
	return (void *)container_of(rhn, struct rethook_stock_node, rhn)->data;
}

static __always_inline void bpf_site_fill_node(struct rethook_stock_node *node,
					       struct bpf_site *site, struct bpf_site_args *places,
					       unsigned long ip, struct ftrace_regs *fregs)
{
	bpf_site_fill_ctx(bpf_site_node_ctx(&node->rhn), site, places, ip, fregs);
}

/* The first run of a session finds 0 as return value and in the cookie. */
static __always_inline void bpf_site_start_session(struct bpf_site_ctx *ctx)
{
	ctx->session_cookie = 0;
	ctx->args[FIELD_GET(META_NR_ARGS, ctx->meta)] = 0;
}

/* The rest of bpf_site_hook_return(), apart so that most hits save no registers for it */
static noinline void bpf_site_hook_return_slow(struct bpf_site_hook *hook, struct bpf_site *site,
					       struct bpf_site_args *places, unsigned long ip,
					       struct ftrace_regs *fregs)
{
	struct bpf_prog *prog = READ_ONCE(hook->prog);
	struct rethook_stock_node *node = prog ? bpf_site_get_node(hook, prog, ip) : NULL;

	if (node) {
		bpf_site_fill_node(node, site, places, ip, fregs);
		rethook_hook_return(&node->rhn, fregs);
	}
	preempt_enable_notrace();
}
NOKPROBE_SYMBOL(bpf_site_hook_return_slow);

static __always_inline void bpf_site_hook_return(struct bpf_site_hook *hook, struct bpf_site *site,
						 struct bpf_site_args *places, unsigned long ip,
						 struct ftrace_regs *fregs)
{
	struct rethook_stock_node *node = NULL;

	preempt_disable_notrace();
	if (likely(READ_ONCE(hook->prog)))
		node = bpf_site_get_node_fast(hook);
	if (unlikely(!node)) {
		bpf_site_hook_return_slow(hook, site, places, ip, fregs);
		return;
	}
	bpf_site_fill_node(node, site, places, ip, fregs);
	rethook_hook_return(&node->rhn, fregs);
	preempt_enable_notrace();
}

static void __no_stack_protector
bpf_site_fexit(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
	       struct ftrace_regs *fregs)
{
	struct bpf_site *site = container_of(ftrace_site_of(op), struct bpf_site, site);

	bpf_site_hook_return((void *)site->site.entry.direct, site, NULL, ip, fregs);
}
NOKPROBE_SYMBOL(bpf_site_fexit);

static void __no_stack_protector
bpf_site_fexit_args(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
		    struct ftrace_regs *fregs)
{
	struct bpf_site *site = container_of(ftrace_site_of(op), struct bpf_site, site);
	struct bpf_site_args *places = (void *)site->site.entry.direct;

	bpf_site_hook_return(places->hook, site, places, ip, fregs);
}
NOKPROBE_SYMBOL(bpf_site_fexit_args);

static __always_inline void bpf_site_begin_session(struct bpf_site_hook *hook,
						   struct bpf_site *site,
						   struct bpf_site_args *places, unsigned long ip,
						   struct ftrace_regs *fregs)
{
	struct rethook_stock_node *node;
	struct bpf_prog *prog;

	guard(preempt_notrace)();
	prog = READ_ONCE(hook->prog);
	if (unlikely(!prog))
		return;
	node = bpf_site_get_node(hook, prog, ip);
	if (unlikely(!node))
		return;

	bpf_site_fill_node(node, site, places, ip, fregs);
	bpf_site_start_session(bpf_site_node_ctx(&node->rhn));
	bpf_site_run_not_preemptible(hook, site, prog, bpf_site_node_ctx(&node->rhn)->args);
	rethook_hook_return(&node->rhn, fregs);
}

static void __no_stack_protector
bpf_site_fsession(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
		  struct ftrace_regs *fregs)
{
	struct bpf_site *site = container_of(ftrace_site_of(op), struct bpf_site, site);

	bpf_site_begin_session((void *)site->site.entry.direct, site, NULL, ip, fregs);
}
NOKPROBE_SYMBOL(bpf_site_fsession);

static void __no_stack_protector
bpf_site_fsession_args(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
		       struct ftrace_regs *fregs)
{
	struct bpf_site *site = container_of(ftrace_site_of(op), struct bpf_site, site);
	struct bpf_site_args *places = (void *)site->site.entry.direct;

	bpf_site_begin_session(places->hook, site, places, ip, fregs);
}
NOKPROBE_SYMBOL(bpf_site_fsession_args);

static __always_inline void bpf_site_fill_return(struct bpf_site_ctx *ctx,
						 struct ftrace_regs *fregs)
{
	ctx->args[FIELD_GET(META_NR_ARGS, ctx->meta)] = ftrace_regs_get_return_value(fregs);
	ctx->meta |= META_IS_RETURN;
}

/* Called by rethook, with preemption disabled */
static void __no_stack_protector
bpf_site_return(struct rethook_node *rhn, void *data, unsigned long ret_ip,
		struct ftrace_regs *fregs)
{
	struct bpf_site_ctx *ctx = bpf_site_node_ctx(rhn);
	struct bpf_site_exits *exits = data;
	struct bpf_site_hook *hook = READ_ONCE(exits->hook);
	struct bpf_prog *prog = likely(hook) ? READ_ONCE(hook->prog) : NULL;

	if (unlikely(!prog))
		return;
	bpf_site_fill_return(ctx, fregs);
	bpf_site_run_not_preemptible(hook, ctx->site, prog, ctx->args);
}
NOKPROBE_SYMBOL(bpf_site_return);

/* --- Hits of programs that may sleep ------------------------------------------ */

/*
 * As __bpf_prog_enter_sleepable_recur() and its counterpart. Read a hook only under this lock,
 * or in a trampoline just before taking it: until then RCU-tasks keeps the hook.
 */
static __always_inline void bpf_site_lock_sleepable(void)
{
	rcu_read_lock_trace();
	migrate_disable();
}

static __always_inline void bpf_site_unlock_sleepable(void)
{
	migrate_enable();
	rcu_read_unlock_trace();
}

static void __no_stack_protector
bpf_site_fentry_sleepable(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
			  struct ftrace_regs *fregs)
{
	struct bpf_site *site = container_of(ftrace_site_of(op), struct bpf_site, site);
	struct bpf_site_args *places = (void *)site->site.entry.direct;
	struct bpf_site_hook *hook = places->hook;
	union bpf_site_ctx_on_stack on_stack __uninitialized;
	struct bpf_prog *prog;

	bpf_site_lock_sleepable();
	prog = READ_ONCE(hook->prog);
	if (likely(prog)) {
		might_fault();
		bpf_site_fill_ctx(&on_stack.ctx, site, places, ip, fregs);
		bpf_site_run(hook, site, prog, on_stack.ctx.args);
	}
	bpf_site_unlock_sleepable();
}
NOKPROBE_SYMBOL(bpf_site_fentry_sleepable);

static void __no_stack_protector
bpf_site_fsession_sleepable(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
			    struct ftrace_regs *fregs)
{
	struct bpf_site *site = container_of(ftrace_site_of(op), struct bpf_site, site);
	struct bpf_site_args *places = (void *)site->site.entry.direct;
	struct bpf_site_hook *hook = places->hook;
	struct rethook_stock_node *node = NULL;
	struct bpf_prog *prog;

	bpf_site_lock_sleepable();
	prog = READ_ONCE(hook->prog);
	if (likely(prog)) {
		might_fault();
		scoped_guard(preempt_notrace)
			node = bpf_site_get_node(hook, prog, ip);
	}
	if (likely(node)) {
		bpf_site_fill_node(node, site, places, ip, fregs);
		bpf_site_start_session(bpf_site_node_ctx(&node->rhn));
		bpf_site_run(hook, site, prog, bpf_site_node_ctx(&node->rhn)->args);
		guard(preempt_notrace)();
		rethook_hook_return(&node->rhn, fregs);
	}
	bpf_site_unlock_sleepable();
}
NOKPROBE_SYMBOL(bpf_site_fsession_sleepable);

/*
 * Called by rethook, with preemption disabled. The node is in the task's list and keeps the
 * stock, also while this sleeps.
 */
static void __no_stack_protector
bpf_site_return_sleepable(struct rethook_node *rhn, void *data, unsigned long ret_ip,
			  struct ftrace_regs *fregs)
{
	struct bpf_site_ctx *ctx = bpf_site_node_ctx(rhn);
	struct bpf_site_exits *exits = data;
	struct bpf_site_hook *hook;
	struct bpf_prog *prog;

	preempt_enable_notrace();
	bpf_site_lock_sleepable();
	hook = READ_ONCE(exits->hook);
	prog = likely(hook) ? READ_ONCE(hook->prog) : NULL;
	if (likely(prog)) {
		might_fault();
		bpf_site_fill_return(ctx, fregs);
		bpf_site_run(hook, ctx->site, prog, ctx->args);
	}
	bpf_site_unlock_sleepable();
	preempt_disable_notrace();
}
NOKPROBE_SYMBOL(bpf_site_return_sleepable);

/* --- Hits of programs that may keep a function from running ------------------- */

#ifdef CONFIG_X86_64
#define SITE_RETURN	ANNOTATE_NOENDBR "\n" ASM_RET
#elif defined(CONFIG_ARM64)
#define SITE_RETURN	"ret\n"
#endif

/*
 * Where a call goes on if the function is not to run. Not just_return_func(): that exists only
 * with CONFIG_FUNCTION_ERROR_INJECTION, and a kprobe may have set the pc to it, in which case
 * programs still have to run.
 */
asm(".pushsection .text\n"
	".type bpf_site_skipped_func, @function\n"
	".globl bpf_site_skipped_func\n"
	".balign 16\n"
	"bpf_site_skipped_func:\n"
	SITE_RETURN
	".size bpf_site_skipped_func, .-bpf_site_skipped_func\n"
	".popsection\n");

/*
 * This takes all 64 bits of the result. CFI knows programs as functions that return 32 bits, so
 * the caller does not check the type. FineIBT checks in the callee, and would refuse the call:
 * see bpf_site_can_call().
 */
static __always_inline __nocfi unsigned int
bpf_site_dispatch_fmod_ret(const void *ctx, const struct bpf_insn *insnsi, bpf_func_t bpf_func)
{
	u64 (*func)(const void *ctx, const struct bpf_insn *insnsi) = (void *)bpf_func;

	container_of(ctx, struct bpf_site_ctx, args)->result = func(ctx, insnsi);
	return 0;
}

/* As __bpf_site_run(), for LSM programs: recursion is allowed, as they must not miss a call. */
static noinline void bpf_site_run_may_recur(struct bpf_site_hook *hook, struct bpf_site *site,
					    struct bpf_prog *prog, u64 *args)
{
	struct bpf_tramp_run_ctx run_ctx __uninitialized;

	run_ctx.bpf_cookie = hook->cookies ? hook->cookies[site - hook->sites] : 0;
	run_ctx.saved_run_ctx = bpf_set_run_ctx(&run_ctx.run_ctx);
	__bpf_prog_run(prog, args, bpf_site_dispatch_fmod_ret);
	bpf_reset_run_ctx(run_ctx.saved_run_ctx);
	/* A hook that returns nothing: the programs after this one run, too. */
	if (!prog->aux->attach_func_proto->type)
		container_of((void *)args, struct bpf_site_ctx, args)->result = 0;
}
NOKPROBE_SYMBOL(bpf_site_run_may_recur);

/* The program finds 0 where others find what the function returned. */
static __always_inline u64 bpf_site_run_fmod_ret(struct bpf_site_hook *hook, struct bpf_site *site,
						 struct bpf_prog *prog, struct bpf_site_ctx *ctx)
{
	ctx->args[FIELD_GET(META_NR_ARGS, ctx->meta)] = 0;
	ctx->result = 0;
	if (unlikely(hook->may_recur))
		bpf_site_run_may_recur(hook, site, prog, ctx->args);
	else
		__bpf_site_run(hook, site, prog, ctx->args, bpf_site_dispatch_fmod_ret);
	return ctx->result;
}

static __always_inline bool bpf_site_is_overridden(struct ftrace_regs *fregs)
{
	return ftrace_regs_get_instruction_pointer(fregs) == (unsigned long)bpf_site_skipped_func;
}

/* Ops with FTRACE_OPS_FL_OVERRIDES are called last: this also takes back a direct call. */
static __always_inline void bpf_site_override(struct ftrace_regs *fregs, u64 result)
{
	ftrace_regs_set_return_value(fregs, result);
	ftrace_regs_set_instruction_pointer(fregs, (unsigned long)bpf_site_skipped_func);
#ifdef CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS
	arch_ftrace_set_direct_caller(fregs, 0);
#endif
}

/* As in an image, the first program that does not return 0 is the last. */
static __always_inline void bpf_site_modify_return(struct bpf_site_hook *hook,
						   struct bpf_site *site,
						   struct bpf_site_args *places, unsigned long ip,
						   struct ftrace_regs *fregs, bool sleeps)
{
	union bpf_site_ctx_on_stack on_stack __uninitialized;
	struct bpf_prog *prog;
	u64 result = 0;

	if (unlikely(bpf_site_is_overridden(fregs)))
		return;
	if (sleeps)
		bpf_site_lock_sleepable();
	else
		rcu_read_lock_dont_migrate();
	prog = READ_ONCE(hook->prog);
	if (likely(prog)) {
		if (sleeps)
			might_fault();
		bpf_site_fill_ctx(&on_stack.ctx, site, places, ip, fregs);
		result = bpf_site_run_fmod_ret(hook, site, prog, &on_stack.ctx);
	}
	if (sleeps)
		bpf_site_unlock_sleepable();
	else
		rcu_read_unlock_migrate();
	if (unlikely(result))
		bpf_site_override(fregs, result);
}

void __no_stack_protector
bpf_site_fmod_ret(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
		  struct ftrace_regs *fregs)
{
	struct bpf_site *site = container_of(ftrace_site_of(op), struct bpf_site, site);

	bpf_site_modify_return((void *)site->site.entry.direct, site, NULL, ip, fregs, false);
}
NOKPROBE_SYMBOL(bpf_site_fmod_ret);

static void __no_stack_protector
bpf_site_fmod_ret_args(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
		       struct ftrace_regs *fregs)
{
	struct bpf_site *site = container_of(ftrace_site_of(op), struct bpf_site, site);
	struct bpf_site_args *places = (void *)site->site.entry.direct;

	bpf_site_modify_return(places->hook, site, places, ip, fregs, false);
}
NOKPROBE_SYMBOL(bpf_site_fmod_ret_args);

static void __no_stack_protector
bpf_site_fmod_ret_sleepable(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
			    struct ftrace_regs *fregs)
{
	struct bpf_site *site = container_of(ftrace_site_of(op), struct bpf_site, site);
	struct bpf_site_args *places = (void *)site->site.entry.direct;

	bpf_site_modify_return(places->hook, site, places, ip, fregs, true);
}
NOKPROBE_SYMBOL(bpf_site_fmod_ret_sleepable);

/* For bpf_site_caller. Returns: what the function is to return at once, or 0 for it to run. */
u64 __no_stack_protector bpf_site_call_fmod_ret(struct bpf_site *site, struct bpf_site_ctx *ctx)
{
	struct bpf_site_hook *hook;
	struct bpf_prog *prog;
	u64 result = 0;

	rcu_read_lock_dont_migrate();
	hook = (void *)site->site.entry.direct;
	prog = READ_ONCE(hook->prog);
	if (likely(prog)) {
		bpf_site_complete_ctx(site, ctx);
		result = bpf_site_run_fmod_ret(hook, site, prog, ctx);
	}
	rcu_read_unlock_migrate();
	return result;
}
NOKPROBE_SYMBOL(bpf_site_call_fmod_ret);

/*
 * The func of the ops, for hits that find the ops instead of the site: look up the site. The
 * caller is a walk over all ops, or a trampoline that is freed with the ops, so a program that
 * may sleep at the entry is not run, and the call is counted as missed.
 */
static void bpf_site_find(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
			  struct ftrace_regs *fregs)
{
	struct ftrace_site *site;

	if (unlikely(op->flags & FTRACE_OPS_FL_SLEEPS)) {
		struct bpf_site_hook *hook = container_of(op, struct bpf_site_hook, ops);
		struct bpf_prog *prog;

		guard(preempt_notrace)();
		prog = READ_ONCE(hook->prog);
		if (prog)
			bpf_prog_inc_misses_counter(prog);
		return;
	}
	site = ftrace_find_site(op, ip);
	if (site)
		site->callee.func(ip, parent_ip, ftrace_site_as_ops(site), fregs);
}
NOKPROBE_SYMBOL(bpf_site_find);

/* --- Attach ----------------------------------------------------------------- */

static void bpf_site_release_exits(struct rethook_stock *stock)
{
	struct bpf_site_exits *exits = container_of(stock, struct bpf_site_exits, stock);

	kfree_rcu_nolock(exits, rcu);
}
NOKPROBE_SYMBOL(bpf_site_release_exits);

/* The hook was not registered, or nobody uses it any more. */
static void bpf_site_free_hook(struct bpf_site_hook *hook)
{
	if (hook->hash)
		ftrace_free_sites(hook->hash);
	if (hook->exits) {
		/* From now on, only nodes point to it. */
		kmemleak_not_leak(hook->exits);
		rethook_stock_free(&hook->exits->stock);
	}
	for (u32 i = 0; i < hook->nr_objs; i++)
		btf_put(hook->objs[i].btf);
	kvfree(hook->objs);
	kvfree(hook->args);
	kvfree(hook->cookies);
	kvfree(hook);
}

static LLIST_HEAD(bpf_site_garbage);
static LLIST_HEAD(bpf_site_sleepable_garbage);
/* Bytes in bpf_site_garbage. The other list is not counted: nobody waits for tasks that sleep. */
static atomic_long_t bpf_site_garbage_size;

/* With more than that to be freed, the next link waits until some of it is. */
#define BPF_SITE_GARBAGE_MAX	SZ_8M

static void bpf_site_free_list(struct llist_node *garbage, bool sleepable)
{
	struct bpf_site_hook *hook, *next;

	/* As for any ops, see ftrace_shutdown(); hits read the program under RCU. */
	synchronize_rcu_tasks_rude();
	synchronize_rcu_tasks();
	if (sleepable) {
		ftrace_ops_set_wait_sleepers();
		/* TASK_IDLE as in ftrace_ops_set_wait_sleepers(): programs may sleep for hours. */
		wait_rcu_gp_state(TASK_IDLE, call_rcu_tasks_trace);
		smp_mb(); /* as in synchronize_srcu() */
	}
	synchronize_rcu();
	cpus_wait_for_dying();

	llist_for_each_entry(hook, garbage, garbage) {
		if (hook->exits)
			rethook_stock_wait(&hook->exits->stock);
	}
	/* See rethook_stock_wait(). */
	if (!arch_irq_work_has_interrupt())
		synchronize_rcu();

	llist_for_each_entry_safe(hook, next, garbage, garbage) {
		if (!sleepable)
			atomic_long_sub(hook->size, &bpf_site_garbage_size);
		ftrace_ops_release(&hook->ops);
		bpf_site_free_hook(hook);
		cond_resched();
	}
}

static void bpf_site_free_garbage(struct work_struct *work)
{
	bpf_site_free_list(llist_del_all(&bpf_site_garbage), false);
}

static void bpf_site_free_sleepable(struct work_struct *work)
{
	bpf_site_free_list(llist_del_all(&bpf_site_sleepable_garbage), true);
}

static DECLARE_WORK(bpf_site_garbage_work, bpf_site_free_garbage);
static DECLARE_WORK(bpf_site_sleepable_work, bpf_site_free_sleepable);

/**
 * bpf_site_wait_for_garbage - wait if detached programs leave too much memory to be freed
 *
 * Attaching and detaching in a loop must not exhaust memory during a long grace period.
 *
 * Context: may sleep, for grace periods. Call it without locks held.
 */
void bpf_site_wait_for_garbage(void)
{
	if (atomic_long_read(&bpf_site_garbage_size) > BPF_SITE_GARBAGE_MAX)
		flush_work(&bpf_site_garbage_work);
}

/* Free @hook once no hit uses it: even if it could not be registered, hits may have found it. */
static void bpf_site_retire_hook(struct bpf_site_hook *hook)
{
	/* Once ftrace has been killed, functions may call the hook forever: never free it. */
	if (ftrace_is_dead())
		return;
	if (hook->exits) {
		WRITE_ONCE(hook->exits->hook, NULL);
		rethook_stock_close(&hook->exits->stock);
	}
	if (hook->sleepable) {
		if (llist_add(&hook->garbage, &bpf_site_sleepable_garbage))
			queue_work(system_dfl_wq, &bpf_site_sleepable_work);
		return;
	}
	/* With the cookies, and up to a bucket of the filter for each site */
	hook->size = sizeof(*hook) + hook->nr_args * sizeof(*hook->args) +
		     hook->nr_sites * (sizeof(struct bpf_site) + 2 * sizeof(u64)) +
		     (hook->exits ? rethook_stock_size(&hook->exits->stock) : 0);
	atomic_long_add(hook->size, &bpf_site_garbage_size);
	if (llist_add(&hook->garbage, &bpf_site_garbage))
		queue_work(system_dfl_wq, &bpf_site_garbage_work);
}

/*
 * Find the register, or the word on the stack, of each word of the arguments. An argument that
 * does not fit into the registers left goes to the stack. On x86-64 a later one may still get
 * a register; on arm64 all later ones go to the stack. Returns: the number of words, or an error.
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

static const struct bpf_site_obj *bpf_site_obj_of(const struct bpf_site_hook *hook,
						  const struct bpf_site *site)
{
	const struct bpf_site_obj *obj = hook->objs;

	while (site - hook->sites >= obj->first + obj->cnt)
		obj++;
	return obj;
}

/* Two ids may be of one function, if its prototype and its cookie are the same in both. */
static int bpf_site_add(struct bpf_site_hook *hook, struct bpf_site *site,
			const struct btf *btf, u32 id)
{
	struct ftrace_func_entry *entry = ftrace_lookup_ip(hook->hash, site->site.entry.ip);
	struct bpf_site *first;
	u32 first_id;

	if (!entry) {
		/* ftrace_add_site() would look for the callsite once more. */
		add_ftrace_hash_entry(hook->hash, &site->site.entry);
		return 0;
	}
	first = container_of(entry, struct bpf_site, site.entry);
	if (hook->cookies &&
	    hook->cookies[site - hook->sites] != hook->cookies[first - hook->sites])
		return -EINVAL;
	if (bpf_site_obj_of(hook, first)->btf != btf)
		return -EINVAL;
	first_id = FIELD_GET(META_BTF_ID, first->meta);
	return btf_type_by_id(btf, id)->type == btf_type_by_id(btf, first_id)->type ? 0 : -EINVAL;
}

static enum bpf_tramp_prog_type bpf_site_kind(const struct bpf_prog *prog)
{
	/*
	 * Where a hook returns nothing, an image runs LSM programs at the return. But the function
	 * that they are attached to does nothing: the entry is as good, and misses no call.
	 */
	if (prog->type == BPF_PROG_TYPE_LSM)
		return BPF_TRAMP_MODIFY_RETURN;
	return bpf_attach_type_to_tramp(prog);
}

static bool bpf_site_is_session(const struct bpf_prog *prog)
{
	return bpf_site_kind(prog) == BPF_TRAMP_FSESSION;
}

static bool bpf_site_wants_exit(const struct bpf_prog *prog)
{
	return bpf_site_kind(prog) == BPF_TRAMP_FEXIT || bpf_site_is_session(prog);
}

static bool bpf_site_overrides(const struct bpf_prog *prog)
{
	return bpf_site_kind(prog) == BPF_TRAMP_MODIFY_RETURN;
}

/* Does it sleep when the function is entered? One at the exit is run by rethook. */
static bool bpf_site_sleeps(const struct bpf_prog *prog)
{
	return prog->sleepable && bpf_site_kind(prog) != BPF_TRAMP_FEXIT;
}

/* For a function whose arguments are in registers, in their order */
static ftrace_func_t bpf_site_func(const struct bpf_prog *prog)
{
	if (bpf_site_is_session(prog))
		return bpf_site_fsession;
	if (bpf_site_overrides(prog))
		return bpf_site_fmod_ret;
	return bpf_site_wants_exit(prog) ? bpf_site_fexit : bpf_site_fentry;
}

static ftrace_func_t bpf_site_func_with_args(const struct bpf_prog *prog)
{
	if (bpf_site_is_session(prog))
		return prog->sleepable ? bpf_site_fsession_sleepable : bpf_site_fsession_args;
	if (bpf_site_wants_exit(prog))
		return bpf_site_fexit_args;
	if (bpf_site_overrides(prog))
		return prog->sleepable ? bpf_site_fmod_ret_sleepable : bpf_site_fmod_ret_args;
	return prog->sleepable ? bpf_site_fentry_sleepable : bpf_site_fentry_args;
}

/* The nodes of a link have room for the arguments of any function, and what it returns. */
static int bpf_site_make_exits(struct bpf_site_hook *hook)
{
	u32 nr_args = SITE_REG_ARGS;

	hook->exits = kzalloc_obj(*hook->exits);
	if (!hook->exits)
		return -ENOMEM;
	for (u32 i = 0; i < hook->nr_sites; i++)
		nr_args = max(nr_args, FIELD_GET(META_NR_ARGS, hook->sites[i].meta));
	hook->exits->hook = hook;
	rethook_stock_init(&hook->exits->stock,
			   struct_size_t(struct bpf_site_ctx, args, nr_args + 1),
			   bpf_site_release_exits);
	hook->exits->stock.rethook.data = hook->exits;
	rcu_assign_pointer(hook->exits->stock.rethook.handler,
			   hook->sleepable ? bpf_site_return_sleepable : bpf_site_return);
	return rethook_stock_fill(&hook->exits->stock, hook->nr_sites);
}

/* Functions with literals are aligned: a callsite so close to @addr belongs to that function. */
static unsigned long bpf_site_location(unsigned long addr)
{
	return ftrace_location_range(addr, addr + 2 * sizeof(u32)) ?: ftrace_location(addr);
}

/* Where the function of @site is, or 0 if bpf_check_attach_btf_id_multi() is to find out */
static unsigned long bpf_site_find_func(const struct bpf_site_obj *obj,
					const struct bpf_site *site, u32 id)
{
	const struct btf_type *t;
	const char *name;

	if (!obj->mod)
		return site->site.entry.ip;
	t = btf_type_by_id(obj->btf, id);
	name = t && btf_type_is_func(t) ? btf_name_by_offset(obj->btf, t->name_off) : NULL;
	return name ? find_kallsyms_symbol_value(obj->mod, name) : 0;
}

/* Fill in @site for the function at @addr, which has the BTF id @id. */
static int bpf_site_init(struct bpf_site_hook *hook, struct bpf_site *site, struct bpf_prog *prog,
			 u32 id, unsigned long addr, const struct btf_func_model *model,
			 struct bpf_verifier_log *log)
{
	unsigned long ip = bpf_site_location(addr), offset = (ip - addr) / 4;
	struct bpf_site_args place = {}, *args;
	int nr = bpf_site_place_args(model, &place);

	if (nr < 0) {
		bpf_log(log, "BTF id %u: a function with more arguments than can be passed\n", id);
		return nr;
	}
	if (!ip) {
		bpf_log(log, "BTF id %u: %ps cannot be traced\n", id, (void *)addr);
		return -ENOENT;
	}
	if (WARN_ON_ONCE(offset > FIELD_MAX(META_IP_OFFSET)))
		return -EINVAL;

	site->site.entry.ip = ip;
	site->meta = FIELD_PREP(META_NR_ARGS, nr) | FIELD_PREP(META_BTF_ID, id) |
		     FIELD_PREP(META_IP_OFFSET, offset);
	if (bpf_site_is_session(prog))
		site->meta |= FIELD_PREP(META_COOKIE, SESSION_COOKIE);
	/*
	 * Programs that may sleep only have funcs that take a struct bpf_site_args: finding the
	 * arguments costs little compared to them. bpf_site_caller has no room for a result
	 * after SITE_REG_ARGS arguments.
	 */
	if (!prog->sleepable && bpf_site_args_in_order(&place, nr) &&
	    !(bpf_site_overrides(prog) && nr == SITE_REG_ARGS)) {
		site->site.callee.func = bpf_site_func(prog);
		site->site.entry.direct = (unsigned long)hook;
	} else {
		args = bpf_site_new_args(hook);
		if (!args)
			return -ENOMEM;
		place.hook = hook;
		*args = place;
		site->site.callee.func = bpf_site_func_with_args(prog);
		/* The array may still move: bpf_site_complete() turns the index into a pointer. */
		site->site.entry.direct = args - hook->args;
	}
	return 0;
}

/* Fill in @site for the function with the BTF id @id, and add it to a link of many. */
static int bpf_site_init_multi(struct bpf_site_hook *hook, const struct bpf_site_obj *obj,
			       struct bpf_site *site, struct bpf_prog *prog, u32 id,
			       struct bpf_verifier_log *log)
{
	unsigned long addr = bpf_site_find_func(obj, site, id);
	struct bpf_attach_target_info info = {};
	struct btf *btf = obj->btf;
	int err;

	err = bpf_check_attach_btf_id_multi(log, btf, prog, id, addr, &info);
	if (err)
		return err;
	if (bpf_trampoline_is_full(bpf_trampoline_compute_key(NULL, btf, id))) {
		bpf_log(log, "BTF id %u: the function cannot take another program\n", id);
		return -E2BIG;
	}
	err = bpf_site_init(hook, site, prog, id, info.tgt_addr, &info.fmodel, log);
	if (err)
		return err;
	site->meta |= bpf_func_casts_resolve(prog, btf, info.tgt_type, &info.fmodel);
	if (btf != prog->aux->attach_btf)
		site->meta |= META_OTHER_BTF;
	err = bpf_site_add(hook, site, btf, id);
	if (err == -EINVAL)
		bpf_log(log,
			"BTF id %u: another id is of the same function, and its prototype or cookie differs\n",
			id);
	return err;
}

static int bpf_site_get_obj(struct bpf_site_hook *hook, struct btf *vmlinux, int fd,
			    struct bpf_verifier_log *log)
{
	struct bpf_site_obj *obj = &hook->objs[hook->nr_objs];
	struct btf *btf = vmlinux;

	if (fd) {
		btf = btf_get_by_fd(fd);
		if (IS_ERR(btf)) {
			bpf_log(log, "file descriptor %d: not of a BTF object\n", fd);
			return PTR_ERR(btf);
		}
	} else {
		btf_get(btf);
	}
	obj->btf = btf;
	obj->id = btf_obj_id(btf);
	hook->nr_objs++;

	if (!btf_is_kernel(btf)) {
		bpf_log(log, "file descriptor %d: a BTF object that is not the kernel's\n", fd);
		return -EINVAL;
	}
	for (u32 i = 0; i < hook->nr_objs - 1; i++) {
		if (hook->objs[i].btf == btf) {
			bpf_log(log, "file descriptor %d: a BTF object that is given twice\n", fd);
			return -EINVAL;
		}
	}
	if (btf_is_module(btf)) {
		obj->mod = btf_try_get_module(btf);
		/* A module that is about to leave, or is still initializing, is left out. */
		obj->gone = !obj->mod;
	}
	return 0;
}

/* Find the BTF object of each id: that of the program for all, or as the lists in @attr say. */
static int bpf_site_get_objs(struct bpf_site_hook *hook, struct bpf_prog *prog,
			     const union bpf_attr *attr, struct bpf_verifier_log *log)
{
	u32 __user *cnts = u64_to_user_ptr(attr->link_create.tracing_multi.btf_cnts);
	int __user *fds = u64_to_user_ptr(attr->link_create.tracing_multi.btf_fds);
	u32 nr = attr->link_create.tracing_multi.nr_btf_fds, first = 0;
	struct btf *btf = prog->aux->attach_btf;

	if (nr > hook->nr_sites) {
		bpf_log(log, "more BTF objects than ids\n");
		return -EINVAL;
	}
	hook->objs = kvzalloc_objs(*hook->objs, max(nr, 1));
	if (!hook->objs)
		return -ENOMEM;
	if (!nr) {
		btf_get(btf);
		hook->objs[0] = (struct bpf_site_obj) {
			.btf = btf, .id = btf_obj_id(btf), .mod = prog->aux->mod,
			.cnt = hook->nr_sites,
		};
		hook->nr_objs = 1;
		return 0;
	}
	if (btf_is_module(btf)) {
		bpf_log(log, "the program was loaded for functions of one module\n");
		return -EINVAL;
	}

	hook->can_leave = true;
	for (u32 i = 0; i < nr; i++) {
		u32 cnt;
		int fd, err;

		if (get_user(fd, fds + i) || get_user(cnt, cnts + i))
			return -EFAULT;
		if (!cnt || cnt > hook->nr_sites - first) {
			bpf_log(log, "the numbers of ids of the BTF objects do not add up\n");
			return -EINVAL;
		}
		err = bpf_site_get_obj(hook, btf, fd, log);
		if (err)
			return err;
		hook->objs[i].first = first;
		hook->objs[i].cnt = cnt;
		first += cnt;
	}
	if (first != hook->nr_sites) {
		bpf_log(log, "the numbers of ids of the BTF objects do not add up\n");
		return -EINVAL;
	}
	return 0;
}

/* From now on they may leave. */
static void bpf_site_put_modules(struct bpf_site_hook *hook)
{
	for (u32 i = 0; hook->can_leave && i < hook->nr_objs; i++)
		module_put(hook->objs[i].mod);
}

static int bpf_site_init_obj(struct bpf_site_hook *hook, const struct bpf_site_obj *obj,
			     struct bpf_prog *prog, u32 *ids, struct bpf_verifier_log *log)
{
	u64 *cookies = hook->cookies ? hook->cookies + obj->first : NULL;
	struct bpf_site *sites = hook->sites + obj->first;
	int err;

	if (obj->gone)
		return 0;
	ids += obj->first;
	err = bpf_check_dup_ids(ids, cookies, obj->cnt, log);
	if (err)
		return err;

	/*
	 * Hold bpf_addrs_sem no longer than this: the loop below writes to the log, which may
	 * wait for user space. Until bpf_site_init(), entry.ip is the function's address, or 0.
	 */
	if (!obj->mod) {
		bpf_addrs_lock(obj->btf, obj->cnt);
		for (u32 i = 0; i < obj->cnt; i++)
			sites[i].site.entry.ip = bpf_addrs_find(obj->btf, ids[i]);
		bpf_addrs_unlock();
	}
	for (u32 i = 0; i < obj->cnt && !err; i++) {
		err = fatal_signal_pending(current) ? -EINTR :
		      bpf_site_init_multi(hook, obj, &sites[i], prog, ids[i], log);
		cond_resched();
	}
	return err;
}

/* ftrace_lock is held: the link cannot unregister @ops, and puts the program after that. */
static bool bpf_site_show_user(struct seq_file *m, struct ftrace_ops *ops, unsigned long ip)
{
	struct bpf_site_hook *hook = container_of(ops, struct bpf_site_hook, ops);
	struct bpf_prog *prog = READ_ONCE(hook->prog);

	if (prog)
		bpf_show_user(m, hook->link, prog);
	return prog;
}

/* Not kvzalloc(), which rounds up to a power of two pages: up to twice what the sites take. */
static struct bpf_site_hook *bpf_site_zalloc_hook(u32 cnt)
{
	size_t size = struct_size_t(struct bpf_site_hook, sites, cnt);

	if (size <= PAGE_SIZE)
		return kzalloc(size, GFP_KERNEL);
	return __vmalloc(size, GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN);
}

/* Takes over @cookies, also if it fails. */
static struct bpf_site_hook *bpf_site_alloc_hook(struct bpf_prog *prog, u32 cnt, u64 *cookies)
{
	struct bpf_site_hook *hook = bpf_site_zalloc_hook(cnt);

	if (!hook) {
		kvfree(cookies);
		return NULL;
	}
	hook->cookies = cookies;
	hook->nr_sites = cnt;
	hook->ops.func = bpf_site_find;
	hook->ops.show_user = bpf_site_show_user;
	hook->ops.flags = FTRACE_OPS_FL_DEFER_FREE;
	if (!bpf_site_wants_exit(prog) && !prog->sleepable)
		hook->ops.flags |= FTRACE_OPS_FL_LEAN;
	if (bpf_site_overrides(prog))
		hook->ops.flags |= FTRACE_OPS_FL_OVERRIDES;
	if (bpf_site_sleeps(prog))
		hook->ops.flags |= FTRACE_OPS_FL_SLEEPS;
	hook->sleepable = prog->sleepable;
	hook->may_recur = !bpf_prog_check_recur(prog);
	hook->hash = ftrace_alloc_sites(cnt);
	if (!hook->hash) {
		bpf_site_free_hook(hook);
		return NULL;
	}
	return hook;
}

/* All sites have been made. */
static int bpf_site_complete(struct bpf_site_hook *hook, struct bpf_prog *prog)
{
	ftrace_func_t func = bpf_site_func(prog);

	for (u32 i = 0; i < hook->nr_sites; i++) {
		struct ftrace_site *site = &hook->sites[i].site;

		if (site->callee.func && site->callee.func != func)
			site->entry.direct = (unsigned long)&hook->args[site->entry.direct];
	}
	return bpf_site_wants_exit(prog) ? bpf_site_make_exits(hook) : 0;
}

/* Takes over @cookies, also if it fails. On success the modules are held. */
static struct bpf_site_hook *bpf_site_make_hook(struct bpf_prog *prog, const union bpf_attr *attr,
						u32 *ids, u64 *cookies,
						struct bpf_verifier_log *log)
{
	u32 cnt = attr->link_create.tracing_multi.cnt;
	struct bpf_site_hook *hook = bpf_site_alloc_hook(prog, cnt, cookies);
	int err;

	if (!hook)
		return ERR_PTR(-ENOMEM);
	err = bpf_site_get_objs(hook, prog, attr, log);
	for (u32 i = 0; i < hook->nr_objs && !err; i++)
		err = bpf_site_init_obj(hook, &hook->objs[i], prog, ids, log);
	if (!err && ftrace_hash_empty(hook->hash)) {
		bpf_log(log, "no function is left: the modules are not live\n");
		err = -ENOENT;
	}
	if (!err)
		err = bpf_site_complete(hook, prog);
	if (err) {
		bpf_site_put_modules(hook);
		bpf_site_free_hook(hook);
		return ERR_PTR(err);
	}
	return hook;
}

/* --- Modules that leave ------------------------------------------------------- */

static DEFINE_MUTEX(bpf_site_leave_mutex);
static LIST_HEAD(bpf_site_leavers);

#ifdef CONFIG_MODULES
/* Stop tracing the functions of @obj, or all functions of @hook if that fails. */
static void bpf_site_leave(struct bpf_site_hook *hook, struct bpf_site_obj *obj)
{
	unsigned long *ips = kvmalloc_objs(*ips, obj->cnt);
	int err = -ENOMEM;
	u32 nr = 0;

	for (u32 i = 0; i < obj->cnt; i++) {
		struct ftrace_func_entry *entry = &hook->sites[obj->first + i].site.entry;

		/* The second id of a function is not in the filter. */
		if (hlist_unhashed(&entry->hlist))
			continue;
		if (ips)
			ips[nr] = entry->ip;
		nr++;
	}
	WRITE_ONCE(obj->gone, true);
	/* An ops without functions in its filter would trace all. */
	if (nr < hook->ops.func_hash->filter_hash->count) {
		if (ips)
			err = ftrace_ops_set_leave(&hook->ops, ips, nr);
		if (err)
			pr_warn("cannot detach a BPF program from module %s alone (%d): detaching it from all\n",
				obj->mod->name, err);
	}
	if (err && !unregister_ftrace_sites(&hook->ops)) {
		hook->attached = false;
		for (u32 i = 0; i < hook->nr_objs; i++)
			WRITE_ONCE(hook->objs[i].gone, true);
	}
	kvfree(ips);
}

static int bpf_site_module_callback(struct notifier_block *nb, unsigned long val, void *mod)
{
	struct bpf_site_hook *hook;

	if (val != MODULE_STATE_GOING)
		return NOTIFY_DONE;

	guard(mutex)(&bpf_site_leave_mutex);
	list_for_each_entry(hook, &bpf_site_leavers, leavers) {
		for (u32 i = 0; i < hook->nr_objs; i++) {
			struct bpf_site_obj *obj = &hook->objs[i];

			if (obj->mod != mod)
				continue;
			if (hook->attached)
				bpf_site_leave(hook, obj);
			obj->mod = NULL;
		}
	}
	return NOTIFY_DONE;
}

static struct notifier_block bpf_site_module_nb = {
	.notifier_call = bpf_site_module_callback,
};

static int __init bpf_site_init_modules(void)
{
	return register_module_notifier(&bpf_site_module_nb);
}
late_initcall(bpf_site_init_modules);
#endif

static int bpf_site_register(struct bpf_site_hook *hook)
{
	int err = register_ftrace_sites(&hook->ops, hook->hash);

	if (err) {
		bpf_site_put_modules(hook);
		bpf_site_retire_hook(hook);
		return err;
	}
	/* It is the filter of the ops now. */
	hook->hash = NULL;
	return 0;
}

/*
 * Run the program only now: had it been live earlier, attaching to the remaining functions would
 * itself have been traced.
 */
static void bpf_site_start(struct bpf_site_hook *hook, struct bpf_prog *prog)
{
	/* Pairs with the READ_ONCE() of hits, which follow the pointer. */
	smp_store_release(&hook->prog, prog);
}

static void bpf_site_unregister(struct bpf_site_hook *hook)
{
	bool attached;

	if (!hook->can_leave) {
		unregister_ftrace_sites(&hook->ops);
		return;
	}
	scoped_guard(mutex, &bpf_site_leave_mutex) {
		list_del(&hook->leavers);
		attached = hook->attached;
	}
	/*
	 * Not under the mutex: this may wait for garbage, which must not delay a module that
	 * leaves meanwhile. Its functions may then still be attached, but run no program.
	 */
	if (attached)
		unregister_ftrace_sites(&hook->ops);
}

/**
 * bpf_site_unlink - stop calling a program from its site
 * @hook: from bpf_site_link()
 *
 * Hits may run the program until a grace period of RCU is over, or of RCU-tasks-trace if it
 * may sleep.
 *
 * Context: may sleep. Takes ftrace_lock.
 */
void bpf_site_unlink(struct bpf_site_hook *hook)
{
	WRITE_ONCE(hook->prog, NULL);
	cpus_wait_for_dying();
	bpf_site_unregister(hook);
	bpf_site_retire_hook(hook);
}

/* --- What a program can ask --------------------------------------------------- */

/* The id of the function's BTF object, if META_OTHER_BTF is set. @args: the context of @prog */
u32 bpf_site_btf_obj_id(const struct bpf_prog *prog, const u64 *args)
{
	struct bpf_site *site = container_of((void *)args, struct bpf_site_ctx, args)->site;
	void *owner = (void *)site->site.entry.direct;
	struct bpf_site_hook *hook = owner;

	if (site->site.callee.func != bpf_site_func(prog))
		hook = ((struct bpf_site_args *)owner)->hook;
	return bpf_site_obj_of(hook, site)->id;
}

static bool bpf_site_can_call(const struct bpf_prog *prog)
{
	if (!arch_ftrace_literals_enabled())
		return false;
	/* Callsites without a literal have trampolines that must not be slept in. */
	if (IS_ENABLED(CONFIG_X86) && bpf_site_sleeps(prog))
		return false;
	/* Nor can a walk of the list sleep. */
	if (!ftrace_ops_sets_enabled() && bpf_site_sleeps(prog))
		return false;
#if defined(CONFIG_X86) && defined(CONFIG_CFI)
	/* See bpf_site_dispatch_fmod_ret(). */
	if (bpf_site_overrides(prog) && cfi_mode == CFI_FINEIBT)
		return false;
#endif
	return true;
}

/* --- Programs of one function ------------------------------------------------- */

/**
 * bpf_site_can_link - whether bpf_site_link() can call a program
 * @prog: a program that a trampoline would call
 * @addr: the function it is attached to
 *
 * Context: any.
 * Returns: false if the program needs a trampoline image.
 */
bool bpf_site_can_link(const struct bpf_prog *prog, unsigned long addr)
{
	/* LSM programs must not miss calls, which can happen when the list of all ops is walked. */
	if (prog->type == BPF_PROG_TYPE_LSM && !ftrace_ops_sets_enabled())
		return false;
	/*
	 * A program that may sleep misses calls if its function has been livepatched. Only where
	 * there are no images is this accepted: missing some calls is better than missing all.
	 */
	if (prog->type == BPF_PROG_TYPE_LSM && prog->sleepable &&
	    IS_ENABLED(CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS))
		return false;
	return bpf_site_can_call(prog) && !is_tracing_multi(prog->expected_attach_type) &&
	       bpf_site_location(addr);
}

/**
 * bpf_site_link - call a program from a site of its own
 * @link: the link, for whose program bpf_site_can_link() is true
 * @cookie: what bpf_get_attach_cookie() is to return
 * @addr: the function
 * @model: its arguments
 *
 * The caller holds @link, its program, and the function's module until bpf_site_unlink().
 *
 * Context: may sleep. Takes ftrace_lock.
 * Returns: the hook; or an error, and then nothing is attached: -EOPNOTSUPP if the function has
 * more arguments than can be passed, -ENOMEM, or what register_ftrace_sites() returns.
 */
struct bpf_site_hook *bpf_site_link(const struct bpf_link *link, u64 cookie, unsigned long addr,
				    const struct btf_func_model *model)
{
	struct bpf_prog *prog = link->prog;
	struct bpf_site_hook *hook;
	u64 *cookies = NULL;
	int err;

	/* See bpf_sites_attach(). */
	if (ftrace_is_dead())
		return ERR_PTR(-ENODEV);
	if (cookie) {
		cookies = kvmalloc_objs(*cookies, 1);
		if (!cookies)
			return ERR_PTR(-ENOMEM);
		cookies[0] = cookie;
	}
	hook = bpf_site_alloc_hook(prog, 1, cookies);
	if (!hook)
		return ERR_PTR(-ENOMEM);
	err = bpf_site_init(hook, &hook->sites[0], prog, prog->aux->attach_btf_id, addr, model,
			    NULL);
	hook->link = link;
	if (!err) {
		add_ftrace_hash_entry(hook->hash, &hook->sites[0].site.entry);
		err = bpf_site_complete(hook, prog);
	}
	if (err) {
		bpf_site_free_hook(hook);
		return ERR_PTR(err);
	}
	err = bpf_site_register(hook);
	if (err)
		return ERR_PTR(err);
	bpf_site_start(hook, prog);
	return hook;
}

/* --- The link --------------------------------------------------------------- */

static struct bpf_site_hook *bpf_sites_hook(const struct bpf_link *link)
{
	return container_of(link, struct bpf_sites_link, link)->hook;
}

static void bpf_sites_link_release(struct bpf_link *link)
{
	bpf_site_unlink(bpf_sites_hook(link));
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
	u32 __user *uobjs = u64_to_user_ptr(info->tracing_multi.btf_obj_ids);
	u32 __user *uids = u64_to_user_ptr(info->tracing_multi.ids);
	struct bpf_site_hook *hook = bpf_sites_hook(link);
	bool show_addrs = kallsyms_show_value(current_cred());
	bool wanted = uids || ucookies || uaddrs || uobjs;
	u32 room = info->tracing_multi.count, nr = 0;

	if (wanted && !room)
		return -EINVAL;

	info->tracing_multi.attach_type = link->attach_type;
	info->tracing_multi.btf_obj_id = btf_obj_id(link->prog->aux->attach_btf);

	for (u32 i = 0; i < hook->nr_sites; i++) {
		const struct bpf_site *site = &hook->sites[i];
		const struct bpf_site_obj *obj = bpf_site_obj_of(hook, site);

		if (READ_ONCE(obj->gone)) {
			i = obj->first + obj->cnt - 1;
			continue;
		}
		if (nr < room) {
			if (uids && put_user(bpf_site_id(site), uids + nr))
				return -EFAULT;
			if (uaddrs && put_user(show_addrs ? (u64)bpf_site_addr(site) : 0,
					       uaddrs + nr))
				return -EFAULT;
			if (ucookies && put_user(hook->cookies ? hook->cookies[i] : 0,
						 ucookies + nr))
				return -EFAULT;
			if (uobjs && put_user(obj->id, uobjs + nr))
				return -EFAULT;
		}
		nr++;
		cond_resched();
	}
	info->tracing_multi.count = nr;
	return wanted && room < nr ? -ENOSPC : 0;
}

#ifdef CONFIG_PROC_FS
static void bpf_sites_link_show_fdinfo(const struct bpf_link *link, struct seq_file *seq)
{
	struct bpf_site_hook *hook = bpf_sites_hook(link);
	u32 nr = 0;

	seq_printf(seq, "attach_type:\t%u\n", link->attach_type);
	for (u32 i = 0; i < hook->nr_objs; i++) {
		if (!READ_ONCE(hook->objs[i].gone))
			nr += hook->objs[i].cnt;
	}
	seq_printf(seq, "cnt:\t%u\n", nr);
	seq_printf(seq, "%s\t %s\t %s\t %s\n", "obj-id", "btf-id", "cookie", "func");
	for (u32 i = 0; i < hook->nr_sites; i++) {
		const struct bpf_site *site = &hook->sites[i];
		const struct bpf_site_obj *obj = bpf_site_obj_of(hook, site);

		if (READ_ONCE(obj->gone))
			continue;
		seq_printf(seq, "%u\t %u\t %llu\t %pS\n", obj->id,
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

/* The first entry of the stack beyond all that called the program: the function or its caller */
static unsigned long bpf_site_stack_start(struct bpf_site_ctx *ctx)
{
	if (ctx->meta & META_IS_RETURN)
		return rethook_node_ret_addr(&container_of((void *)ctx, struct rethook_stock_node,
							   data)->rhn);
	return ctx->func + 4 * FIELD_GET(META_IP_OFFSET, ctx->meta) + MCOUNT_INSN_SIZE;
}

struct bpf_site_walk {
	unsigned long	start;
	unsigned long	ip;
	int		entries;
	int		after_prog;
	bool		found;
};

/* Counts the entries before @start, and those up to the last one that belongs to the program. */
static bool bpf_site_walk_entry(void *cookie, unsigned long addr)
{
	struct bpf_site_walk *walk = cookie;

	if (walk->after_prog && addr == walk->start) {
		walk->found = true;
		return false;
	}
	walk->entries++;
	/* Subprograms are BPF text, too. An interpreter is not: only its ip can be recognized. */
	if (addr == walk->ip || is_bpf_text_address(addr))
		walk->after_prog = walk->entries;
	return true;
}

/**
 * bpf_site_stack_flags - let a program skip all entries of its site in a stack as one
 * @args: the context of the program
 * @flags: of the helper that takes a stack
 * @ip: where the program called the helper
 *
 * A program that wants the stack of its function skips two entries: itself, and the image that
 * called it. Between a function and a site's program there are several entries, and which ones
 * depends on what else is attached to the function.
 *
 * Context: called by a program that has an image or a site.
 * Returns: @flags. If they skip two entries or more, and a site called the program, they also
 *	skip all but one of the entries between the function and the program.
 */
u64 bpf_site_stack_flags(u64 *args, u64 flags, unsigned long ip)
{
	struct bpf_site_ctx *ctx = container_of(args, struct bpf_site_ctx, args[0]);
	int skip = flags & BPF_F_SKIP_FIELD_MASK;
	struct bpf_site_walk walk = { .ip = ip };

	/* Images and sites both write the word. In that of an image there is no BTF id. */
	if (skip < 2 || flags & BPF_F_USER_STACK || !(ctx->meta & META_BTF_ID))
		return flags;

	walk.start = bpf_site_stack_start(ctx);
	arch_stack_walk(bpf_site_walk_entry, &walk, current, NULL);
	if (!walk.found)
		return flags;
	return flags + clamp(walk.entries - walk.after_prog - 1, 0,
			     (int)BPF_F_SKIP_FIELD_MASK - skip);
}

/**
 * bpf_sites_can_run - whether a program on many functions is called by sites
 * @prog: the program
 *
 * Context: any.
 * Returns: false if it needs a trampoline image for each function.
 */
bool bpf_sites_can_run(const struct bpf_prog *prog)
{
	return is_tracing_multi(prog->expected_attach_type) && bpf_site_can_call(prog);
}

/**
 * bpf_sites_attach - attach a program to many functions, each a site
 * @prog: the program, for which bpf_sites_can_run() is true
 * @attr: of the link, for how many functions there are, and for their BTF objects
 * @ids: BTF ids of the functions; sorted in place for each BTF object
 * @cookies: one for each id, or NULL; the link owns them from now on, even if this fails
 * @log: gets the reason of a failure; or NULL
 *
 * The link holds the program, which holds the BTF that it was loaded for, and the module of
 * that BTF. Other modules can be unloaded, and then their functions leave the link. A module
 * that is not live is left out.
 *
 * Context: may sleep. Takes ftrace_lock.
 * Returns: a file descriptor of the link; or an error, and then nothing is attached:
 * * -EINVAL: an id is not of a function that can be attached to; or two are of one
 *   address, and differ in its prototype or in the cookie; or what @attr says of BTF
 *   objects is wrong
 * * -ENOENT: ftrace has no such function, or all are of modules that are not live
 * * -E2BIG: a function has as many programs as its trampoline takes
 * * -EOPNOTSUPP: a function has more arguments than can be passed
 * * -EINTR: the task got a fatal signal
 * * -ENOMEM, -EFAULT, or what btf_get_by_fd(), bpf_link_prime() or register_ftrace_sites()
 *   returns
 */
int bpf_sites_attach(struct bpf_prog *prog, const union bpf_attr *attr, u32 *ids, u64 *cookies,
		     struct bpf_verifier_log *log)
{
	struct bpf_link_primer primer;
	struct bpf_site_hook *hook;
	struct bpf_sites_link *link;
	int err;

	bpf_site_wait_for_garbage();
	/* Give up early: a hook that a dead ftrace refuses is never freed. */
	if (ftrace_is_dead()) {
		kvfree(cookies);
		return -ENODEV;
	}
	hook = bpf_site_make_hook(prog, attr, ids, cookies, log);
	if (IS_ERR(hook))
		return PTR_ERR(hook);

	link = kzalloc_obj(*link);
	if (!link) {
		bpf_site_put_modules(hook);
		bpf_site_free_hook(hook);
		return -ENOMEM;
	}
	link->hook = hook;
	hook->link = &link->link;
	bpf_link_init(&link->link, BPF_LINK_TYPE_TRACING_MULTI, &bpf_sites_link_ops, prog,
		      prog->expected_attach_type);
	err = bpf_link_prime(&link->link, &primer);
	if (err) {
		bpf_site_put_modules(hook);
		bpf_site_free_hook(hook);
		kfree(link);
		return err;
	}

	err = bpf_site_register(hook);
	if (err) {
		bpf_link_cleanup(&primer);
		return err;
	}
	if (hook->can_leave) {
		hook->attached = true;
		scoped_guard(mutex, &bpf_site_leave_mutex)
			list_add(&hook->leavers, &bpf_site_leavers);
		bpf_site_put_modules(hook);
	}
	bpf_site_start(hook, prog);
	return bpf_link_settle(&primer);
}
