// SPDX-License-Identifier: GPL-2.0
/*
 * Sites: what each callsite of an ftrace_ops calls, for an ops whose callsites differ.
 *
 * A tracer that keeps data about each function would have to look them up at each hit,
 * or to register a separate ops for each function. Instead, its one ops can have a site
 * for each callsite: the literal of a callsite, or its ops set, leads to the site as it
 * would lead to the ops. A site begins with what a trampoline loads from an ops; the
 * data of its owner follow.
 *
 * Sites are also the entries of the filter of the ops: while it is registered, none is added,
 * and ftrace_ops_set_leave() can take some away. The func of the ops itself is called, and can
 * look the site up in this filter, at callsites without a literal that have no other ops; at those
 * that walk the list of all ops; and, for a site that may sleep, beside FTRACE_OPS_FL_IPMODIFY.
 */
#include <linux/kprobes.h>
#include <linux/log2.h>

#include <kunit/visibility.h>

#include "ftrace_ops_set.h"

/*
 * The flags that an ops with sites may have when it is registered. Not FTRACE_OPS_FL_SAVE_REGS:
 * a site has no func_without_regs.
 */
#define OPS_FL_WITH_SITES	(FTRACE_OPS_FL_INITIALIZED | FTRACE_OPS_FL_DYNAMIC | \
				 FTRACE_OPS_FL_DEFER_FREE | FTRACE_OPS_FL_SITES | \
				 FTRACE_OPS_FL_SLEEPS | FTRACE_OPS_FL_LEAN | \
				 FTRACE_OPS_FL_OVERRIDES)

/**
 * ftrace_alloc_sites - make room for the sites of an ops
 * @nr: about how many there will be
 *
 * Context: may sleep.
 * Returns: what ftrace_add_site() and register_ftrace_sites() take, or NULL.
 */
struct ftrace_hash *ftrace_alloc_sites(unsigned int nr)
{
	/* Not more buckets than sites; and a limit as for other filters */
	return alloc_ftrace_hash(min(nr ? ilog2(nr) : 0, 12));
}
EXPORT_SYMBOL_IF_KUNIT(ftrace_alloc_sites);

/**
 * ftrace_free_sites - free what ftrace_alloc_sites() made, and not the sites
 * @hash: it is not registered
 *
 * Context: any.
 */
void ftrace_free_sites(struct ftrace_hash *hash)
{
	ftrace_hash_remove(hash);
	free_ftrace_hash(hash);
}
EXPORT_SYMBOL_IF_KUNIT(ftrace_free_sites);

/**
 * ftrace_add_site - add the site of a callsite to what an ops is to trace
 * @hash: the sites; from ftrace_alloc_sites(), and not registered yet
 * @site: the site, aligned to FTRACE_CALLEE_ALIGN; its callee.func is set, and the rest of
 *	the callee is 0
 * @addr: the function, or its callsite
 *
 * Context: any; the caller alone uses @hash.
 * Returns: 0, or
 * * -ENOENT: there is no such callsite
 * * -EEXIST: it has a site in @hash already
 */
int ftrace_add_site(struct ftrace_hash *hash, struct ftrace_site *site, unsigned long addr)
{
	unsigned long ip = ftrace_location(addr);

	if (!ip)
		return -ENOENT;
	if (ftrace_lookup_ip(hash, ip))
		return -EEXIST;
	site->entry.ip = ip;
	add_ftrace_hash_entry(hash, &site->entry);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(ftrace_add_site);

/**
 * ftrace_find_site - the site of a callsite, for a func that was called with the ops
 * @ops: the ops, which is registered, or was not freed yet
 * @ip: the callsite
 *
 * Context: any.
 * Returns: the site, or NULL if the ops has none there.
 */
struct ftrace_site *ftrace_find_site(struct ftrace_ops *ops, unsigned long ip)
{
	struct ftrace_func_entry *entry = ftrace_lookup_ip(ops->local_hash.filter_hash, ip);

	return entry ? container_of(entry, struct ftrace_site, entry) : NULL;
}
EXPORT_SYMBOL_IF_KUNIT(ftrace_find_site);
NOKPROBE_SYMBOL(ftrace_find_site);

static bool site_is_ready(const struct ftrace_site *site)
{
#ifndef arch_ftrace_func_without_regs
	if (site->callee.direct_call)
		return false;
#endif
	return site->callee.func && IS_ALIGNED((unsigned long)site, FTRACE_CALLEE_ALIGN);
}

/* Is @hash what ftrace_add_site() made? */
static bool sites_are_ready(struct ftrace_hash *hash)
{
	struct ftrace_func_entry *entry;

	if (ftrace_hash_empty(hash))
		return false;

	for (int i = 0; i < 1 << hash->size_bits; i++) {
		hlist_for_each_entry(entry, &hash->buckets[i], hlist) {
			if (!site_is_ready(container_of(entry, struct ftrace_site, entry)))
				return false;
		}
		cond_resched();
	}
	return true;
}

/**
 * register_ftrace_sites - trace functions, each by a site
 * @ops: the ops, without a filter, and without flags but FTRACE_OPS_FL_DEFER_FREE,
 *	FTRACE_OPS_FL_SLEEPS, FTRACE_OPS_FL_LEAN and FTRACE_OPS_FL_OVERRIDES
 * @hash: the sites, see ftrace_add_site()
 *
 * A hit calls the func of the site with the site in place of the ops, see
 * ftrace_site_of(). Where a hit finds only the ops, it calls @ops->func with @ops, which
 * has to find the site by ftrace_find_site() and to call its func in the same way.
 *
 * With FTRACE_OPS_FL_SLEEPS the func of a site may sleep, and it runs after what other ops
 * call. It is called with interrupts and preemption as they are when the function is
 * called. @ops->func must not sleep; it is called instead of the func of the site if the
 * callsite also has an ops with FTRACE_OPS_FL_IPMODIFY. FTRACE_OPS_FL_SLEEPS needs
 * FTRACE_OPS_FL_DEFER_FREE: the owner does the waits for an ops, then calls
 * ftrace_ops_set_wait_sleepers(), and then frees the sites. It must keep whatever the func
 * uses after it has slept.
 *
 * On success @ops owns @hash: ftrace_free_filter() or ftrace_ops_release() frees that, but
 * not the sites, which the owner frees afterwards.
 *
 * Context: may sleep. Takes ftrace_lock.
 * Returns: 0, or
 * * -EINVAL: @ops has a filter or other flags, @hash is empty, or a site is not ready;
 *   or FTRACE_OPS_FL_SLEEPS without FTRACE_OPS_FL_DEFER_FREE
 * * -EBUSY: @ops is registered
 * * -ENOMEM, -E2BIG, -ENODEV: as register_ftrace_function()
 * On error @ops traces nothing, and @hash is the caller's again. But -ENODEV may mean that
 * ftrace was killed meanwhile: hits may then use @ops and its sites for ever. Free neither.
 */
int register_ftrace_sites(struct ftrace_ops *ops, struct ftrace_hash *hash)
{
	struct ftrace_hash *old;
	int ret;

	if (ops->flags & FTRACE_OPS_FL_ENABLED)
		return -EBUSY;
	if (!ops->func || ops->flags & ~OPS_FL_WITH_SITES || !sites_are_ready(hash))
		return -EINVAL;
	if (ops->flags & FTRACE_OPS_FL_SLEEPS && !(ops->flags & FTRACE_OPS_FL_DEFER_FREE))
		return -EINVAL;

	ftrace_ops_init(ops);
	old = ops->local_hash.filter_hash;
	/* The filter is its own: no other ops changes it. */
	if (ops->func_hash != &ops->local_hash || !ftrace_hash_empty(old) ||
	    !ftrace_hash_empty(ops->local_hash.notrace_hash))
		return -EINVAL;

	scoped_guard(mutex, &ftrace_lock) {
		ops->flags |= FTRACE_OPS_FL_SITES;
		ops->local_hash.filter_hash = hash;
		ret = ftrace_startup(ops, 0);
		if (ret) {
			ops->local_hash.filter_hash = old;
			ops->flags &= ~FTRACE_OPS_FL_SITES;
		}
	}
	ftrace_ops_set_throttle();
	return ret;
}
EXPORT_SYMBOL_IF_KUNIT(register_ftrace_sites);

/**
 * unregister_ftrace_sites - trace no function any more
 * @ops: the ops, from register_ftrace_sites()
 *
 * Waits until nobody can be in a callback of @ops if that has FTRACE_OPS_FL_DYNAMIC, and
 * not FTRACE_OPS_FL_DEFER_FREE.
 *
 * Context: may sleep. Takes ftrace_lock.
 * Returns: 0, or -ENODEV if ftrace has been killed. Then hits may still use @ops and its
 * sites: free neither.
 */
int unregister_ftrace_sites(struct ftrace_ops *ops)
{
	int ret;

	scoped_guard(mutex, &ftrace_lock)
		ret = ftrace_shutdown(ops, 0);
	ftrace_ops_set_throttle();
	return ret;
}
EXPORT_SYMBOL_IF_KUNIT(unregister_ftrace_sites);
