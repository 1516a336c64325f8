// SPDX-License-Identifier: GPL-2.0
/*
 * Where the functions of vmlinux are, by BTF id
 *
 * BTF has only names. To find one in kallsyms takes thousands of instructions: a binary search
 * expands some 17 names. To find many, go over the symbols of the text once, and keep the
 * result for the next time: 4 bytes for each BTF type, which are freed when memory is short.
 * Init functions are not in it: they are searched for in kallsyms.
 */
#include <linux/btf.h>
#include <linux/hash.h>
#include <linux/kallsyms.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/rwsem.h>
#include <linux/sched/signal.h>
#include <linux/shrinker.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/stringhash.h>

#include <asm/sections.h>

#include "bpf_sites.h"

/* From so many functions on, make the table: one pass, which later links need not repeat. */
#define BPF_ADDRS_MANY	1000

static DECLARE_RWSEM(bpf_addrs_sem);
/* Offsets from _text, by BTF id; 0 if not known. bpf_addrs_sem protects all three. */
static u32 *bpf_addrs;
static u32 bpf_nr_addrs;
static const struct btf *bpf_addrs_btf;

/* Ids of functions by their names, hashed; 0 ends a chain. */
struct bpf_addrs_names {
	const struct btf	*btf;
	u32			*addrs;
	u32			*next;
	u32			*heads;
	unsigned int		bits;
};

static u32 *bpf_addrs_head(struct bpf_addrs_names *names, const char *name)
{
	return &names->heads[hash_32(full_name_hash(NULL, name, strlen(name)), names->bits)];
}

static const char *bpf_addrs_name(const struct btf *btf, u32 id)
{
	const struct btf_type *type = btf_type_by_id(btf, id);

	return type && btf_type_is_func(type) ? btf_name_by_offset(btf, type->name_off) : NULL;
}

/*
 * Of several symbols with one name kallsyms_lookup_name() finds the first, and so does this:
 * symbols come in the order of their addresses.
 */
static int bpf_addrs_note(void *data, const char *name, unsigned long addr)
{
	unsigned long offset = addr - (unsigned long)_text;
	struct bpf_addrs_names *names = data;

	if (addr >= (unsigned long)_etext)
		return 1;
	for (u32 id = *bpf_addrs_head(names, name); id && offset <= U32_MAX; id = names->next[id]) {
		if (!names->addrs[id] && !strcmp(bpf_addrs_name(names->btf, id), name))
			names->addrs[id] = offset;
	}
	return fatal_signal_pending(current) ? -EINTR : 0;
}

/* Returns: the table, or NULL if there is no memory, or a signal. */
static u32 *bpf_addrs_make(const struct btf *btf, u32 nr)
{
	struct bpf_addrs_names names = { .btf = btf, .bits = ilog2(nr) };
	int err = -ENOMEM;

	names.addrs = kvzalloc_objs(*names.addrs, nr);
	names.next = kvmalloc_objs(*names.next, nr);
	names.heads = kvzalloc_objs(*names.heads, 1 << names.bits);
	if (names.addrs && names.next && names.heads) {
		for (u32 id = 1; id < nr; id++) {
			const char *name = bpf_addrs_name(btf, id);

			if (name) {
				u32 *head = bpf_addrs_head(&names, name);

				names.next[id] = *head;
				*head = id;
			}
			cond_resched();
		}
		err = kallsyms_on_each_symbol(bpf_addrs_note, &names);
	}
	kvfree(names.next);
	kvfree(names.heads);
	if (err < 0) {
		kvfree(names.addrs);
		return NULL;
	}
	return names.addrs;
}

static unsigned long bpf_addrs_count(struct shrinker *shrinker, struct shrink_control *control)
{
	return READ_ONCE(bpf_addrs) ? READ_ONCE(bpf_nr_addrs) : SHRINK_EMPTY;
}

static unsigned long bpf_addrs_scan(struct shrinker *shrinker, struct shrink_control *control)
{
	unsigned long freed;

	if (!down_write_trylock(&bpf_addrs_sem))
		return SHRINK_STOP;
	freed = bpf_addrs ? bpf_nr_addrs : 0;
	kvfree(bpf_addrs);
	WRITE_ONCE(bpf_addrs, NULL);
	up_write(&bpf_addrs_sem);
	return freed;
}

static void bpf_addrs_have_shrinker(void)
{
	static struct shrinker *shrinker;

	if (shrinker)
		return;
	shrinker = shrinker_alloc(0, "bpf-addrs");
	if (!shrinker)
		return;
	shrinker->count_objects = bpf_addrs_count;
	shrinker->scan_objects = bpf_addrs_scan;
	shrinker_register(shrinker);
}

/**
 * bpf_addrs_lock - begin to look up where functions are
 * @btf: their BTF
 * @cnt: how many
 *
 * Context: may sleep. bpf_addrs_unlock() follows.
 */
void bpf_addrs_lock(const struct btf *btf, u32 cnt)
{
	down_read(&bpf_addrs_sem);
	if (bpf_addrs || cnt < BPF_ADDRS_MANY || btf_is_module(btf))
		return;

	up_read(&bpf_addrs_sem);
	down_write(&bpf_addrs_sem);
	if (!bpf_addrs) {
		bpf_addrs_have_shrinker();
		WRITE_ONCE(bpf_nr_addrs, btf_nr_types(btf));
		WRITE_ONCE(bpf_addrs, bpf_addrs_make(btf, bpf_nr_addrs));
		bpf_addrs_btf = btf;
	}
	downgrade_write(&bpf_addrs_sem);
}

/**
 * bpf_addrs_find - where a function is
 * @btf: the BTF
 * @id: its id there
 *
 * Context: between bpf_addrs_lock() and bpf_addrs_unlock().
 * Returns: its address, or 0 if that is not known, and kallsyms has to be searched.
 */
unsigned long bpf_addrs_find(const struct btf *btf, u32 id)
{
	if (!bpf_addrs || btf != bpf_addrs_btf || id >= bpf_nr_addrs || !bpf_addrs[id])
		return 0;
	return (unsigned long)_text + bpf_addrs[id];
}

/**
 * bpf_addrs_unlock - end what bpf_addrs_lock() began
 *
 * Context: may sleep.
 */
void bpf_addrs_unlock(void)
{
	up_read(&bpf_addrs_sem);
}
