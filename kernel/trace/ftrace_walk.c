// SPDX-License-Identifier: GPL-2.0
/*
 * Walk the records that a filter names.
 *
 * For a filter of a few functions, each address in its hash is looked up. If it names more
 * than an eighth of all functions, all records are walked, also those that it does not name:
 * that is faster than so many look-ups.
 */
#include <linux/ftrace.h>
#include <linux/sched.h>

#include "ftrace_walk.h"

/**
 * ftrace_walk_start - walk the records that one or two hashes name
 * @walk: the walk
 * @all: all records, whatever the hashes name; also done if they name more than an eighth
 * @a: a hash, or NULL
 * @b: another one, or NULL; a record that both name comes once
 *
 * Context: under ftrace_lock, until the walk ends. The hashes must not change.
 */
void ftrace_walk_start(struct ftrace_walk *walk, bool all,
		       struct ftrace_hash *a, struct ftrace_hash *b)
{
	unsigned long count = (a ? a->count : 0) + (b ? b->count : 0);

	*walk = (struct ftrace_walk) {
		.hash	= { a, b },
		.all	= all || count > ftrace_update_tot_cnt / 8,
		.page	= ftrace_pages_start,
	};
}

static struct dyn_ftrace *walk_next_hash(struct ftrace_walk *walk)
{
	for (; walk->which < 2; walk->which++, walk->bucket = 0) {
		struct ftrace_hash *hash = walk->hash[walk->which];

		if (!hash || !hash->count)
			continue;
		while (walk->bucket < 1UL << hash->size_bits) {
			struct ftrace_func_entry *entry = walk->entry;
			struct hlist_node *node;
			struct dyn_ftrace *rec;

			node = entry ? entry->hlist.next : hash->buckets[walk->bucket].first;
			walk->entry = hlist_entry_safe(node, struct ftrace_func_entry, hlist);
			if (!walk->entry) {
				walk->bucket++;
				cond_resched();
				continue;
			}
			/* The walk of the first hash has been through entries that both have. */
			if (walk->which && ftrace_lookup_ip(walk->hash[0], walk->entry->ip))
				continue;
			/* Once for each record, should a hash have an address twice. */
			if (ftrace_lookup_ip(hash, walk->entry->ip) != walk->entry)
				continue;
			rec = ftrace_lookup_rec(walk->entry->ip);
			if (rec)
				return rec;
		}
	}
	return NULL;
}

/**
 * ftrace_walk_on - go on with a walk
 * @walk: the walk
 *
 * Context: may sleep; under ftrace_lock.
 * Returns: the next record, or NULL at the end.
 */
struct dyn_ftrace *ftrace_walk_on(struct ftrace_walk *walk)
{
	if (!walk->all)
		return walk_next_hash(walk);

	while (walk->page && walk->index >= walk->page->index) {
		walk->page = walk->page->next;
		walk->index = 0;
		cond_resched();
	}
	return walk->page ? &walk->page->records[walk->index++] : NULL;
}
