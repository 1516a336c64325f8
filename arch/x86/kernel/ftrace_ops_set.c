// SPDX-License-Identifier: GPL-2.0
/*
 * Entries of ops sets
 *
 * A callsite that several ftrace_ops trace calls the entry of its set:
 *
 *	push	slot(%rip)			the set
 *	jmp	ftrace_ops_set_caller_entered	or ftrace_ops_set_regs_caller_entered
 *
 * Entries fill a page, and their slots another, which is data. So text is
 * written once for a page; a set takes 16 bytes of it, and 8 bytes of data.
 */
#include <linux/bitmap.h>
#include <linux/execmem.h>
#include <linux/ftrace_ops_set.h>
#include <linux/perf_event.h>
#include <linux/rculist.h>
#include <linux/set_memory.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/text-patching.h>
#include <linux/workqueue.h>

#define ENTRY_SIZE	16
#define ENTRIES		(PAGE_SIZE / ENTRY_SIZE)
/* push disp32(%rip) */
#define PUSH_SIZE	6

struct entry_page {
	struct list_head	list;
	u8			*text;
	struct ftrace_ops_set	**slots;
	bool			regs;
	unsigned int		used;
	struct rcu_work		free_work;
	DECLARE_BITMAP(busy, ENTRIES);
};

/*
 * Entries are taken under ftrace_lock, and given back without, once no CPU can
 * be in one. The unwinder looks for them from any context.
 */
static LIST_HEAD(entry_pages);
static DEFINE_SPINLOCK(entry_lock);
static unsigned long nr_entry_pages;

/*
 * The page that @addr is in, or NULL. Call it with preemption disabled: a page is freed after an
 * RCU grace period. RCU does not wait for an unwinder where it is not watching.
 */
static struct entry_page *entry_page_of(unsigned long addr)
{
	struct entry_page *page;

	list_for_each_entry_rcu(page, &entry_pages, list, true) {
		if ((u8 *)(addr & PAGE_MASK) == page->text)
			return page;
	}
	return NULL;
}

static void entry_page_fill(struct entry_page *page)
{
	void *to = page->regs ? ftrace_ops_set_regs_caller_entered : ftrace_ops_set_caller_entered;

	memset(page->text, INT3_INSN_OPCODE, PAGE_SIZE);
	for (int i = 0; i < ENTRIES; i++) {
		u8 *entry = page->text + i * ENTRY_SIZE, *jmp = entry + PUSH_SIZE;

		entry[0] = 0xff;
		entry[1] = 0x35;
		*(s32 *)(entry + 2) = (u8 *)&page->slots[i] - jmp;
		__text_gen_insn(jmp, JMP32_INSN_OPCODE, jmp, to, JMP32_INSN_SIZE);
	}
}

static struct entry_page *entry_page_add(bool regs)
{
	struct entry_page *page = kzalloc_obj(*page);

	if (!page)
		return NULL;
	page->regs = regs;
	/* Both come from the modules' range: an entry reaches its slot and the kernel. */
	page->slots = execmem_alloc(EXECMEM_MODULE_DATA, ENTRIES * sizeof(*page->slots));
	page->text = execmem_alloc_rw(EXECMEM_FTRACE, PAGE_SIZE);
	if (!page->slots || !page->text || WARN_ON(!PAGE_ALIGNED(page->text)))
		goto free;

	entry_page_fill(page);
	if (set_memory_rox((unsigned long)page->text, 1))
		goto free;

	perf_event_ksymbol(PERF_RECORD_KSYMBOL_TYPE_OOL, (unsigned long)page->text,
			   PAGE_SIZE, false, "ftrace_ops_set_entries");
	perf_event_text_poke(page->text, NULL, 0, page->text, PAGE_SIZE);

	spin_lock(&entry_lock);
	list_add_rcu(&page->list, &entry_pages);
	nr_entry_pages++;
	spin_unlock(&entry_lock);
	return page;

free:
	execmem_free(page->text);
	execmem_free(page->slots);
	kfree(page);
	return NULL;
}

static void entry_page_free(struct work_struct *work)
{
	struct entry_page *page = container_of(to_rcu_work(work), struct entry_page, free_work);

	perf_event_text_poke(page->text, page->text, PAGE_SIZE, NULL, 0);
	perf_event_ksymbol(PERF_RECORD_KSYMBOL_TYPE_OOL, (unsigned long)page->text,
			   PAGE_SIZE, true, "ftrace_ops_set_entries");
	execmem_free(page->text);
	execmem_free(page->slots);
	kfree(page);
}

/* A page of that kind with a free entry, but not @not */
static struct entry_page *entry_page_with_room(bool regs, struct entry_page *not)
{
	struct entry_page *page;

	list_for_each_entry(page, &entry_pages, list) {
		if (page != not && page->regs == regs && page->used < ENTRIES)
			return page;
	}
	return NULL;
}

/**
 * arch_ftrace_ops_set_trampoline - make the entry of a set
 * @set: the set
 *
 * Context: may sleep; under ftrace_lock.
 * Returns: its address, or 0 if there is no memory.
 */
unsigned long arch_ftrace_ops_set_trampoline(struct ftrace_ops_set *set)
{
	struct entry_page *page;
	unsigned long i;

	spin_lock(&entry_lock);
	page = entry_page_with_room(set->regs, NULL);
	if (!page) {
		spin_unlock(&entry_lock);
		page = entry_page_add(set->regs);
		if (!page)
			return 0;
		spin_lock(&entry_lock);
	}
	i = find_first_zero_bit(page->busy, ENTRIES);
	__set_bit(i, page->busy);
	page->used++;
	/* Text that calls the entry is written later, and that serializes. */
	WRITE_ONCE(page->slots[i], set);
	spin_unlock(&entry_lock);

	return (unsigned long)page->text + i * ENTRY_SIZE;
}

/**
 * arch_ftrace_ops_set_free - give back the entry of a set
 * @set: the set, in whose entry no CPU can be any more
 *
 * A page without any is freed if there is room in another, so that a set that
 * comes and goes costs no page each time.
 *
 * Context: process, as entry_lock is taken with interrupts enabled; waits for no grace period.
 */
void arch_ftrace_ops_set_free(struct ftrace_ops_set *set)
{
	struct entry_page *page;
	unsigned long i;

	if (!set->trampoline)
		return;

	spin_lock(&entry_lock);
	page = entry_page_of(set->trampoline);
	i = (set->trampoline & ~PAGE_MASK) / ENTRY_SIZE;
	page->slots[i] = NULL;
	__clear_bit(i, page->busy);
	if (--page->used || !entry_page_with_room(page->regs, page)) {
		page = NULL;
	} else {
		list_del_rcu(&page->list);
		nr_entry_pages--;
	}
	spin_unlock(&entry_lock);

	/* An unwinder may be in entry_page_of(). On x86 the rude wait is empty, so wait for RCU. */
	if (page) {
		INIT_RCU_WORK(&page->free_work, entry_page_free);
		queue_rcu_work(system_dfl_wq, &page->free_work);
	}
}

/**
 * arch_is_ftrace_ops_set_trampoline - is there an entry of a set
 * @addr: the address in question
 *
 * Context: any.
 * Returns: true if @addr is in one.
 */
bool arch_is_ftrace_ops_set_trampoline(unsigned long addr)
{
	bool is;

	preempt_disable_notrace();
	is = entry_page_of(addr);
	preempt_enable_notrace();
	return is;
}

/**
 * ftrace_ops_set_entry - what the stack looks like in an entry of a set
 * @addr: the address in question
 *
 * Context: any.
 * Returns: an address in the kernel's text with the same stack, or 0 if there
 * is no entry at @addr.
 */
unsigned long ftrace_ops_set_entry(unsigned long addr)
{
	bool entered = addr % ENTRY_SIZE;
	struct entry_page *page;
	void *same = NULL;

	preempt_disable_notrace();
	page = entry_page_of(addr);
	if (page && page->regs)
		same = entered ? ftrace_ops_set_regs_caller_entered : ftrace_ops_set_regs_caller;
	else if (page)
		same = entered ? ftrace_ops_set_caller_entered : ftrace_ops_set_caller;
	preempt_enable_notrace();
	return (unsigned long)same;
}

unsigned long arch_ftrace_ops_set_pages(void)
{
	return nr_entry_pages;
}
