// SPDX-License-Identifier: GPL-2.0
/*
 * BPF programs that decide which events tracers of an instance record
 *
 * A link attaches a BPF_PROG_TYPE_FTRACE program to an instance, for the tracers and the kinds
 * of dynamic events that it names. Each of these has at most one program. Without a program
 * the function and the graph tracer pay nothing: those with one use other callbacks. A dynamic
 * event has a flag that says whether there may be a program to ask.
 *
 * The link does not hold the instance: if that is removed, the link stays but does nothing.
 *
 * trace_types_lock protects tr->bpf_links[], which hits read with preemption disabled, and
 * what a link knows of the instance. event_mutex, which is taken first, protects the flag of
 * events.
 */
#include <linux/bpf.h>
#include <linux/bpf_verifier.h>
#include <linux/file.h>
#include <linux/filter.h>
#include <linux/fs.h>
#include <linux/kprobes.h>
#include <linux/magic.h>
#include <linux/mount.h>
#include <linux/security.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "trace.h"
#include "trace_bpf_filter.h"

static const char * const trace_bpf_names[TRACE_BPF_KINDS] = {
	"function", "graph", "graph_return", "kprobe", "fprobe", "tprobe", "eprobe", "uprobe",
};

#define TRACE_BPF_ALL		(BIT(TRACE_BPF_KINDS) - 1)
#define TRACE_BPF_EVENTS	(BPF_FTRACE_KPROBE | BPF_FTRACE_FPROBE | BPF_FTRACE_TPROBE | \
				 BPF_FTRACE_EPROBE | BPF_FTRACE_UPROBE)

static_assert(BIT(TRACE_BPF_KINDS) == BPF_FTRACE_UPROBE << 1);

/* --- Hits ------------------------------------------------------------------- */

/* The start of the function whose callsite is @ip, or @ip itself if that is not known */
static unsigned long trace_bpf_function(unsigned long ip)
{
	return ftrace_get_symaddr(ip) ?: ip;
}

/* After a tail call by a function whose return is hooked, @parent_ip is return_to_handler(). */
static unsigned long trace_bpf_true_parent(unsigned long parent_ip)
{
	return likely(parent_ip != (unsigned long)&return_to_handler) ? parent_ip :
	       ftrace_graph_top_ret_addr(current);
}

/**
 * trace_bpf_fill_call - tell a program about a call
 * @args: the program's context
 * @flags: what the program is asked about
 * @ip: where the function calls ftrace
 * @parent_ip: where the function was called from
 * @fregs: at its entry
 *
 * Context: any.
 */
void trace_bpf_fill_call(struct bpf_ftrace_args *args, u32 flags, unsigned long ip,
			 unsigned long parent_ip, struct ftrace_regs *fregs)
{
	args->ip = trace_bpf_function(ip);
	args->parent_ip = trace_bpf_true_parent(parent_ip);
	for (int i = 0; i < BPF_FTRACE_MAX_ARGS; i++)
		args->args[i] = ftrace_regs_get_argument(fregs, i);
	args->retval = 0;
	args->nr_args = BPF_FTRACE_MAX_ARGS;
	args->flags = flags;
	args->event_id = 0;
}

static void trace_bpf_fill(struct bpf_ftrace_args *args, u32 flags, unsigned long ip,
			   unsigned long parent_ip, unsigned long retval)
{
	args->ip = ip;
	args->parent_ip = parent_ip;
	memset(args->args, 0, sizeof(args->args));
	args->retval = retval;
	args->nr_args = 0;
	args->flags = flags;
	args->event_id = 0;
}

/* The rest of trace_bpf_keeps_call(): for hits in interrupts, and in tasks that have the lock */
u32 trace_bpf_keeps_call_slow(struct ftrace_ops *op, u32 what, unsigned long ip,
			      unsigned long parent_ip, struct ftrace_regs *fregs)
{
	int bit = ftrace_test_recursion_trylock(ip, parent_ip);
	u32 keeps;

	if (bit < 0)
		return 0;
	/*
	 * Drop the second hit in a context: it may be that of a function which a program called,
	 * and asking about it would never end. A hit in an interrupt that is not counted yet, or
	 * in a function that another callback called, looks the same.
	 */
	if (bit == TRACE_FTRACE_START + TRACE_CTX_TRANSITION)
		keeps = 0;
	else
		keeps = trace_bpf_link_keeps_call(trace_bpf_ops_link(op, what), what, ip,
						  parent_ip, fregs);
	ftrace_test_recursion_unlock(bit);
	return keeps;
}

/* Is a program being asked in task, softirq, hardirq or NMI context? */
static DEFINE_PER_CPU(bool [4], trace_bpf_asking);

/*
 * What a program that is asked here calls can cause events, a tracepoint in a helper, say. If they
 * have a program, this or another, they are dropped: asking about them might never end. Only a
 * higher context can interrupt a program, and each has a flag of its own. But on x86 the breakpoint
 * of a kprobe counts as an NMI: if a real NMI interrupts the program that runs there, its events
 * are dropped, too.
 */
static bool trace_bpf_drops(struct trace_bpf_ctx *ctx)
{
	bool *asking = this_cpu_ptr(trace_bpf_asking) + interrupt_context_level();
	bool keep;

	if (unlikely(*asking)) {
		bpf_prog_inc_misses_counter(READ_ONCE(ctx->link->link.prog));
		return true;
	}
	*asking = true;
	barrier();
	keep = trace_bpf_keeps(ctx);
	barrier();
	*asking = false;
	return !keep;
}

/**
 * trace_bpf_drops_graph - whether a program drops a call of the graph tracer
 * @tr: the instance
 * @trace: the call
 * @fregs: at the function's entry
 *
 * Context: any, with ftrace's lock against recursion.
 * Returns: true if it is dropped.
 */
bool trace_bpf_drops_graph(struct trace_array *tr, struct ftrace_graph_ent *trace,
			   struct ftrace_regs *fregs)
{
	struct trace_bpf_ctx ctx __uninitialized;

	ctx.link = trace_bpf_link(tr, BPF_FTRACE_GRAPH);
	if (unlikely(!ctx.link))
		return false;
	if (READ_ONCE(ctx.link->reads))
		trace_bpf_fill_call(&ctx.args, BPF_FTRACE_GRAPH, trace->func,
				    ftrace_graph_top_ret_addr(current), fregs);
	return trace_bpf_drops(&ctx);
}

/**
 * trace_bpf_drops_graph_return - whether a program drops a return of the graph tracer
 * @tr: the instance
 * @trace: the return
 * @fregs: at the return
 *
 * Context: any, with ftrace's lock against recursion.
 * Returns: true if it is dropped.
 */
bool trace_bpf_drops_graph_return(struct trace_array *tr, struct ftrace_graph_ret *trace,
				  struct ftrace_regs *fregs)
{
	struct trace_bpf_ctx ctx __uninitialized;

	ctx.link = trace_bpf_link(tr, BPF_FTRACE_GRAPH_RETURN);
	if (unlikely(!ctx.link))
		return false;
	if (READ_ONCE(ctx.link->reads))
		trace_bpf_fill(&ctx.args, BPF_FTRACE_GRAPH_RETURN | BPF_FTRACE_RETURN,
			       trace_bpf_function(trace->func), 0,
			       ftrace_regs_get_return_value(fregs));
	return trace_bpf_drops(&ctx);
}

bool __trace_bpf_drops_event(struct trace_event_file *file, u32 flags, unsigned long ip,
			     unsigned long parent_ip, struct pt_regs *regs)
{
	bool returns = flags & BPF_FTRACE_RETURN;
	struct trace_bpf_ctx ctx __uninitialized;
	struct bpf_ftrace_args *args = &ctx.args;

	guard(preempt_notrace)();
	ctx.link = trace_bpf_link(file->tr, flags & ~BPF_FTRACE_RETURN);
	if (!ctx.link)
		return false;
	if (!READ_ONCE(ctx.link->reads))
		return trace_bpf_drops(&ctx);
	trace_bpf_fill(args, flags, ip, parent_ip, returns && regs ? regs_return_value(regs) : 0);
	args->event_id = file->event_call->event.type;
	if (!returns && regs) {
		for (int i = 0; i < BPF_FTRACE_MAX_ARGS; i++)
			args->args[i] = regs_get_kernel_argument(regs, i);
		args->nr_args = BPF_FTRACE_MAX_ARGS;
	}
	return trace_bpf_drops(&ctx);
}
NOKPROBE_SYMBOL(__trace_bpf_drops_event);

bool __trace_bpf_drops_fprobe(struct trace_event_file *file, u32 flags, unsigned long ip,
			      unsigned long parent_ip, struct ftrace_regs *fregs)
{
	struct trace_bpf_ctx ctx __uninitialized;
	struct bpf_ftrace_args *args = &ctx.args;

	guard(preempt_notrace)();
	ctx.link = trace_bpf_link(file->tr, flags & ~BPF_FTRACE_RETURN);
	if (!ctx.link)
		return false;
	if (!READ_ONCE(ctx.link->reads))
		return trace_bpf_drops(&ctx);
	if (flags & BPF_FTRACE_RETURN)
		trace_bpf_fill(args, flags, trace_bpf_function(ip), parent_ip,
			       ftrace_regs_get_return_value(fregs));
	else
		trace_bpf_fill_call(args, flags, ip, parent_ip, fregs);
	args->event_id = file->event_call->event.type;
	if (flags == BPF_FTRACE_TPROBE) {
		/* The first is no argument of the tracepoint. */
		memmove(args->args, args->args + 1, sizeof(args->args) - sizeof(u64));
		args->args[--args->nr_args] = 0;
	}
	return trace_bpf_drops(&ctx);
}
NOKPROBE_SYMBOL(__trace_bpf_drops_fprobe);

/* --- Instances -------------------------------------------------------------- */

/**
 * trace_bpf_filters - whether an instance has a program for any of some kinds
 * @tr: the instance
 * @what: the kinds, BPF_FTRACE_*
 *
 * Context: trace_types_lock, or event_mutex for dynamic events.
 * Returns: true if there is.
 */
bool trace_bpf_filters(struct trace_array *tr, u32 what)
{
	for (int i = 0; i < TRACE_BPF_KINDS; i++) {
		if (what & BIT(i) && tr->bpf_links[i])
			return true;
	}
	return false;
}

static bool trace_bpf_event_has_filter(struct trace_event_file *file)
{
	return file->event_call->flags & (TRACE_EVENT_FL_KPROBE | TRACE_EVENT_FL_FPROBE |
					  TRACE_EVENT_FL_EPROBE | TRACE_EVENT_FL_UPROBE);
}

/**
 * trace_bpf_add_event - let an event that is new in an instance ask the programs there
 * @tr: the instance
 * @file: the event, which cannot be hit yet
 *
 * Context: event_mutex.
 */
void trace_bpf_add_event(struct trace_array *tr, struct trace_event_file *file)
{
	if (trace_bpf_event_has_filter(file) && trace_bpf_filters(tr, TRACE_BPF_EVENTS))
		file->flags |= EVENT_FILE_FL_BPF_FILTER;
}

static void trace_bpf_update_events(struct trace_array *tr)
{
	bool filters = trace_bpf_filters(tr, TRACE_BPF_EVENTS);
	struct trace_event_file *file;

	list_for_each_entry(file, &tr->events, list) {
		if (!trace_bpf_event_has_filter(file))
			continue;
		if (filters)
			set_bit(EVENT_FILE_FL_BPF_FILTER_BIT, &file->flags);
		else
			clear_bit(EVENT_FILE_FL_BPF_FILTER_BIT, &file->flags);
	}
}

static void trace_bpf_set_links(struct trace_array *tr, u32 what, struct trace_bpf_link *link)
{
	for (int i = 0; i < TRACE_BPF_KINDS; i++) {
		if (what & BIT(i))
			WRITE_ONCE(tr->bpf_links[i], link);
	}
}

/*
 * Give the active tracers the callbacks that fit the programs there are now. If that fails, they
 * keep the old ones. After a detach these find no program and record everything; if a program
 * was to be attached, they never ask for it.
 */
static int trace_bpf_update(struct trace_array *tr, u32 what)
{
	int err = 0;

	if (what & BPF_FTRACE_FUNCTION)
		err = function_trace_update(tr);
	if (!err && what & (BPF_FTRACE_GRAPH | BPF_FTRACE_GRAPH_RETURN))
		err = graph_trace_update(tr);
	if (what & TRACE_BPF_EVENTS)
		trace_bpf_update_events(tr);
	return err;
}

/* Hits may run the program until a grace period of RCU is over. */
static void trace_bpf_leave(struct trace_bpf_link *link)
{
	struct trace_array *tr = link->tr;

	link->tr = NULL;
	trace_bpf_set_links(tr, link->what, NULL);
	trace_bpf_update(tr, link->what);
}

/**
 * trace_bpf_instance_gone - take the programs off an instance that is being removed
 * @tr: the instance. Nothing is traced in it any more.
 *
 * Context: event_mutex and trace_types_lock.
 */
void trace_bpf_instance_gone(struct trace_array *tr)
{
	for (int i = 0; i < TRACE_BPF_KINDS; i++) {
		struct trace_bpf_link *link = tr->bpf_links[i];

		if (!link)
			continue;
		link->tr = NULL;
		/* Once ftrace is dead, hits may still look here after the link is freed. */
		WRITE_ONCE(tr->bpf_links[i], NULL);
	}
}

static int trace_bpf_show(struct seq_file *m, void *v)
{
	struct trace_array *tr = m->private;

	guard(mutex)(&trace_types_lock);
	for (int i = 0; i < TRACE_BPF_KINDS; i++) {
		struct trace_bpf_link *link = tr->bpf_links[i];

		/* Without an id, attaching the link can still fail. */
		if (link && READ_ONCE(link->link.id))
			seq_printf(m, "%s: link %u prog %u %s\n", trace_bpf_names[i],
				   link->link.id, link->link.prog->aux->id,
				   link->link.prog->aux->name);
	}
	return 0;
}

static int trace_bpf_open(struct inode *inode, struct file *file)
{
	struct trace_array *tr = inode->i_private;
	int err = tracing_check_open_get_tr(tr);

	if (err)
		return err;
	err = single_open(file, trace_bpf_show, tr);
	if (err)
		trace_array_put(tr);
	return err;
}

static const struct file_operations trace_bpf_fops = {
	.open		= trace_bpf_open,
	.read		= seq_read,
	.llseek		= seq_lseek,
	.release	= tracing_single_release_tr,
};

/**
 * trace_bpf_create_file - create the file that shows which programs filter an instance
 * @tr: the instance
 * @parent: its directory
 *
 * Context: may sleep.
 */
void trace_bpf_create_file(struct trace_array *tr, struct dentry *parent)
{
	trace_create_file("bpf_filter", TRACE_MODE_READ, parent, tr, &trace_bpf_fops);
}

/* --- Links ------------------------------------------------------------------ */

static struct trace_bpf_link *to_trace_bpf_link(const struct bpf_link *link)
{
	return container_of(link, struct trace_bpf_link, link);
}

static int trace_bpf_link_detach(struct bpf_link *link)
{
	struct trace_bpf_link *tlink = to_trace_bpf_link(link);

	guard(mutex)(&event_mutex);
	guard(mutex)(&trace_types_lock);
	if (tlink->tr)
		trace_bpf_leave(tlink);
	return 0;
}

static void trace_bpf_link_release(struct bpf_link *link)
{
	trace_bpf_link_detach(link);
}

static void trace_bpf_link_dealloc(struct bpf_link *link)
{
	struct trace_bpf_link *tlink = to_trace_bpf_link(link);

	kfree(tlink->name);
	kfree(tlink);
}

/* May the program read its context? One that it tail-calls may. */
static bool trace_bpf_reads(const struct bpf_prog *prog)
{
	return prog->aux->max_ctx_offset || prog->cb_access;
}

static int trace_bpf_link_update(struct bpf_link *link, struct bpf_prog *new_prog,
				 struct bpf_prog *old_prog)
{
	struct trace_bpf_link *tlink = to_trace_bpf_link(link);
	bool reads;

	guard(mutex)(&trace_types_lock);
	if (old_prog && old_prog != link->prog)
		return -EPERM;
	if (new_prog->type != link->prog->type)
		return -EINVAL;
	if (!tlink->tr)
		return -ENOLINK;
	/* Hits read the flag first: it is true as long as one of both programs needs it. */
	reads = trace_bpf_reads(new_prog);
	if (reads && !tlink->reads) {
		WRITE_ONCE(tlink->reads, true);
		synchronize_rcu();
	}
	old_prog = xchg(&link->prog, new_prog);
	if (!reads && tlink->reads) {
		synchronize_rcu();
		WRITE_ONCE(tlink->reads, false);
	}
	bpf_prog_put(old_prog);
	return 0;
}

static u32 trace_bpf_link_what(const struct trace_bpf_link *link)
{
	guard(mutex)(&trace_types_lock);
	return link->tr ? link->what : 0;
}

static int trace_bpf_link_fill_info(const struct bpf_link *link, struct bpf_link_info *info)
{
	const struct trace_bpf_link *tlink = to_trace_bpf_link(link);
	char __user *buf = u64_to_user_ptr(info->ftrace.instance);
	u32 room = info->ftrace.instance_len, len = strlen(tlink->name) + 1;

	if (!buf != !room)
		return -EINVAL;
	info->ftrace.instance_len = len;
	info->ftrace.what = trace_bpf_link_what(tlink);
	info->ftrace.cookie = tlink->cookie;
	if (!buf)
		return 0;
	if (copy_to_user(buf, tlink->name, min(room, len)))
		return -EFAULT;
	if (room >= len)
		return 0;
	return put_user('\0', buf + room - 1) ?: -ENOSPC;
}

#ifdef CONFIG_PROC_FS
static void trace_bpf_link_show_fdinfo(const struct bpf_link *link, struct seq_file *seq)
{
	const struct trace_bpf_link *tlink = to_trace_bpf_link(link);

	seq_printf(seq, "instance:\t%s\nwhat:\t%#x\ncookie:\t%llu\n", tlink->name,
		   trace_bpf_link_what(tlink), tlink->cookie);
}
#endif

static const struct bpf_link_ops trace_bpf_link_ops = {
	.release	= trace_bpf_link_release,
	.dealloc_deferred = trace_bpf_link_dealloc,
	.detach		= trace_bpf_link_detach,
	.update_prog	= trace_bpf_link_update,
	.fill_link_info	= trace_bpf_link_fill_info,
#ifdef CONFIG_PROC_FS
	.show_fdinfo	= trace_bpf_link_show_fdinfo,
#endif
};

static struct trace_array *trace_bpf_find_instance(struct dentry *dir)
{
	struct trace_array *tr;

	list_for_each_entry(tr, &ftrace_trace_arrays, list) {
		if (tr->flags & TRACE_ARRAY_FL_GLOBAL ? IS_ROOT(dir) : dir == tr->dir)
			return tr;
	}
	return NULL;
}

/* On failure it may set @why, for the caller to log without locks: that can wait for user space. */
static int trace_bpf_join(struct trace_bpf_link *link, struct dentry *dir, const char **why)
{
	struct trace_array *tr;
	int err;

	guard(mutex)(&event_mutex);
	guard(mutex)(&trace_types_lock);
	if (tracing_disabled) {
		*why = "tracing is disabled for good";
		return -ENODEV;
	}
	tr = trace_bpf_find_instance(dir);
	if (!tr) {
		*why = "not the directory of an instance, or it is removed";
		return -ENOENT;
	}
	if (trace_array_is_readonly(tr)) {
		*why = "an instance that is read-only";
		return -EACCES;
	}
	for (int i = 0; i < TRACE_BPF_KINDS; i++) {
		if (link->what & BIT(i) && tr->bpf_links[i]) {
			*why = trace_bpf_names[i];
			return -EBUSY;
		}
	}
	link->name = kstrdup(tr->name ?: "", GFP_KERNEL);
	if (!link->name)
		return -ENOMEM;
	link->tr = tr;
	trace_bpf_set_links(tr, link->what, link);
	err = trace_bpf_update(tr, link->what);
	if (err)
		trace_bpf_leave(link);
	return err;
}

/**
 * bpf_ftrace_link_attach - attach a program to an instance of the tracers, by a link
 * @attr: of the link
 * @prog: a BPF_PROG_TYPE_FTRACE program
 * @log: takes what is wrong; or NULL
 *
 * Context: may sleep. Takes event_mutex and trace_types_lock.
 * Returns: a file descriptor of the link; or an error, and then nothing has changed, but that
 * the graph tracer may have stopped for want of memory, see graph_trace_update():
 * * -EBADF, -ENOTDIR, -EINVAL: the file descriptor is not of a directory of tracefs
 * * -ENOENT: it is a directory of tracefs, but not of an instance, or the instance is gone
 * * -EINVAL: @attr names nothing to filter, or something unknown, or has flags
 * * -EACCES, -EPERM, -EROFS: the caller may not write to the instance
 * * -EBUSY: the instance has a program for some of it
 * * -ENODEV: tracing is disabled for good
 * * -ENOMEM, or what a tracer returns that cannot change its callbacks
 */
int bpf_ftrace_link_attach(const union bpf_attr *attr, struct bpf_prog *prog,
			   struct bpf_verifier_log *log)
{
	u32 what = attr->link_create.ftrace.what;
	const char *why = NULL;
	struct bpf_link_primer primer;
	struct trace_bpf_link *link;
	int err;

	if (attr->link_create.flags) {
		bpf_log(log, "flags: %#x is unknown\n", attr->link_create.flags);
		return -EINVAL;
	}
	if (!what || what & ~TRACE_BPF_ALL) {
		bpf_log(log, "ftrace.what: %#x is nothing that can be filtered\n", what);
		return -EINVAL;
	}

	CLASS(fd, f)(attr->link_create.target_fd);
	if (fd_empty(f)) {
		bpf_log(log, "target_fd: not open\n");
		return -EBADF;
	}
	if (file_inode(fd_file(f))->i_sb->s_magic != TRACEFS_MAGIC) {
		bpf_log(log, "target_fd: not of tracefs\n");
		return -EINVAL;
	}
	if (!S_ISDIR(file_inode(fd_file(f))->i_mode)) {
		bpf_log(log, "target_fd: not a directory\n");
		return -ENOTDIR;
	}
	if (__mnt_is_readonly(fd_file(f)->f_path.mnt)) {
		bpf_log(log, "target_fd: mounted read-only\n");
		return -EROFS;
	}
	err = security_locked_down(LOCKDOWN_TRACEFS);
	if (err) {
		bpf_log(log, "tracefs is locked down\n");
		return err;
	}
	err = file_permission(fd_file(f), MAY_WRITE);
	if (err) {
		bpf_log(log, "target_fd: no permission to write to the instance\n");
		return err;
	}

	link = kzalloc_obj(*link);
	if (!link)
		return -ENOMEM;
	link->what = what;
	link->cookie = attr->link_create.ftrace.cookie;
	link->reads = trace_bpf_reads(prog);
	bpf_link_init(&link->link, BPF_LINK_TYPE_FTRACE, &trace_bpf_link_ops, prog,
		      attr->link_create.attach_type);
	err = bpf_link_prime(&link->link, &primer);
	if (err) {
		kfree(link);
		return err;
	}
	err = trace_bpf_join(link, fd_file(f)->f_path.dentry, &why);
	if (err) {
		if (why)
			bpf_log(log, err == -EBUSY ? "target_fd: has a program for %s\n" :
						     "target_fd: %s\n", why);
		/* A hit may still run the program, which the caller puts. */
		synchronize_rcu();
		bpf_link_cleanup(&primer);
		return err;
	}
	return bpf_link_settle(&primer);
}
