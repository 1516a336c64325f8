// SPDX-License-Identifier: GPL-2.0
/*
 * The literal: what a function runs, in the padding before it.
 *
 * FUNCTION_ALIGNMENT=16				=32
 *
 *   func-16  kCFI's hash			  func-32  kCFI's hash
 *   func-8   literal: ops or ops set		  func-24  literal
 *						  func-16  (FineIBT, call thunk)
 *   func:    [endbr]  call ftrace_literal_caller
 *
 * The padding is full of NOPs that nothing executes. Two others write to it:
 * FineIBT to func-16..-1, and call depth tracking to func-9..-1, each only if
 * it is active on this boot. With 16 bytes there is no room beside either, and
 * all functions go through generated trampolines, as without literals. With 32
 * bytes there is.
 *
 * Which of them is active is known once alternatives have been applied. What is
 * traced before that (ftrace= on the command line) keeps its trampolines until
 * it is not traced any more.
 *
 * A literal is written before the text that leads to it, and stays when the
 * function is not traced any more. A task may be preempted in the trampoline
 * before it loads the literal. It then finds what the function runs by then, or
 * what it ran last: like every ops, that stays until no task can be in the
 * trampoline. What it finds may need all registers when its trampoline has not saved
 * them. So the literal has a bit for that: with the bit set, the load that would find
 * func finds the next word, func_without_regs.
 *
 * kprobes refuses to probe the padding, with literals or without.
 */
#define pr_fmt(fmt) "ftrace: " fmt

#include <linux/ftrace_ops_set.h>
#include <linux/init.h>
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/text-patching.h>
#include <linux/uaccess.h>

#include <kunit/visibility.h>

#include <asm/cfi.h>
#include <asm/cpufeature.h>
#include <asm/ibt.h>

/* With debugging, the call thunk takes 17 bytes. */
#if CONFIG_FUNCTION_ALIGNMENT >= 32 && defined(CONFIG_CALL_THUNKS_DEBUG)
# define LITERAL_SLOT_TAKEN()	cpu_feature_enabled(X86_FEATURE_CALL_DEPTH)
#elif CONFIG_FUNCTION_ALIGNMENT >= 32
# define LITERAL_SLOT_TAKEN()	false
#else
# define LITERAL_SLOT_TAKEN()	(cpu_feature_enabled(X86_FEATURE_CALL_DEPTH) || \
			 cfi_mode == CFI_FINEIBT)
#endif

#define LITERAL_NOPS	0x9090909090909090UL

/* Literals are in use. Changes once, before there is a second CPU. */
bool ftrace_literals_enabled __ro_after_init;
EXPORT_SYMBOL_IF_KUNIT(ftrace_literals_enabled);

/* The literal of the function whose callsite is at @ip */
static unsigned long *literal_of(unsigned long ip)
{
	return (void *)ALIGN_DOWN(ip, 16) - FTRACE_LITERAL_OFFSET;
}

/* Is @ip at the start of an aligned function, where the compiler puts it? */
static bool literal_is_aligned(unsigned long ip)
{
	unsigned long offset = ip & (CONFIG_FUNCTION_ALIGNMENT - 1);

	return !offset || (offset == ENDBR_INSN_SIZE && is_endbr((void *)ip - offset));
}

/*
 * Cold functions may not be aligned (gcc before 14), and functions of modules from
 * elsewhere may lack the padding. Callers ask before anything is written to the padding.
 */
static bool literal_has_room(unsigned long ip)
{
	unsigned long *literal = literal_of(ip), is;

	if (!literal_is_aligned(ip))
		return false;
	/* The page before the function may be anything. */
	if (PAGE_ALIGN_DOWN((unsigned long)literal) == PAGE_ALIGN_DOWN(ip))
		is = READ_ONCE(*literal);
	else if (get_kernel_nofault(is, literal))
		return false;
	return is == LITERAL_NOPS;
}

/**
 * arch_ftrace_can_have_literal - is there room for a literal
 * @ip: the callsite, which has never had one
 *
 * Context: any, while the text of the function stays.
 * Returns: true if its literal may be written.
 */
bool arch_ftrace_can_have_literal(unsigned long ip)
{
	if (!ftrace_literals_enabled)
		return false;
	if (literal_has_room(ip))
		return true;
	pr_info_once("%pS is not aligned or padded for a literal, and uses a trampoline\n",
		     (void *)ip);
	return false;
}

/* Literals to write. Each page of text has to be mapped for it, so write all of a page at once. */
static struct {
	unsigned int		nr;
	struct text_poke_word	words[256];
} literal_queue;

/**
 * ftrace_literal_queue - remember to write a literal
 * @rec: the record of a callsite whose text is about to change
 * @addr: what it shall call
 *
 * Context: under ftrace_lock and text_mutex. ftrace_literal_flush() follows, and
 * then the text.
 */
void ftrace_literal_queue(struct dyn_ftrace *rec, unsigned long addr)
{
	unsigned long literal;

	if (!is_ftrace_literal_caller(addr))
		return;

	literal = (unsigned long)ftrace_rec_dispatch(rec);
	if (addr == (unsigned long)ftrace_literal_regs_caller)
		literal |= FTRACE_LITERAL_REGS;

	if (literal_queue.nr == ARRAY_SIZE(literal_queue.words))
		ftrace_literal_flush();
	literal_queue.words[literal_queue.nr].addr = literal_of(rec->ip);
	literal_queue.words[literal_queue.nr++].val = literal;
}

void ftrace_literal_flush(void)
{
	text_poke_words(literal_queue.words, literal_queue.nr);
	literal_queue.nr = 0;
}

static_assert(offsetof(struct ftrace_ops, func_without_regs) ==
	      offsetof(struct ftrace_ops, func) + FTRACE_LITERAL_REGS);
static_assert(offsetof(struct ftrace_ops_set, func_without_regs) ==
	      offsetof(struct ftrace_ops_set, callee) + FTRACE_LITERAL_REGS);

/*
 * For ftrace_literal_caller, if the literal asks for all registers: an ops that needs
 * them joined since the callsite was entered. Call the other members of the set, and an
 * ops with FTRACE_OPS_FL_HANDOVER, which may have taken over from another.
 */
void ftrace_literal_func_without_regs(unsigned long ip, unsigned long parent_ip,
				      struct ftrace_ops *marked, struct ftrace_regs *fregs)
{
	unsigned long literal = (unsigned long)marked;
	struct ftrace_ops *op;

	/* @marked may have a bit set that the alignment of its type rules out: hide it. */
	OPTIMIZER_HIDE_VAR(literal);
	op = (struct ftrace_ops *)(literal & ~FTRACE_LITERAL_REGS);

	if (ftrace_ops_is_set(op))
		ftrace_ops_set_func_without_regs(ip, parent_ip, op, fregs);
	else if (op->flags & FTRACE_OPS_FL_HANDOVER)
		op->func(ip, parent_ip, op, fregs);
}
NOKPROBE_SYMBOL(ftrace_literal_func_without_regs);

#ifdef CONFIG_CFI
/* For ftrace_literal_caller: with CFI, the compiler has to make this call. */
void ftrace_literal_func(unsigned long ip, unsigned long parent_ip,
			 struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	op->func(ip, parent_ip, op, fregs);
}
NOKPROBE_SYMBOL(ftrace_literal_func);
#endif

static int __init ftrace_literal_init(void)
{
	unsigned long nr = 0, without = 0, first = 0;
	struct ftrace_rec_iter *iter;

	if (!ftrace_ops_sets_enabled()) {
		pr_info("ftrace_ops_sets=off: no literals, using trampolines\n");
		return 0;
	}
	if (LITERAL_SLOT_TAKEN()) {
		pr_info("%s is active: no room for literals, using trampolines\n",
			cpu_feature_enabled(X86_FEATURE_CALL_DEPTH) ? "Call depth tracking" :
								      "FineIBT");
		return 0;
	}

	/* Nobody else changes what is traced while early initcalls run. */
	ftrace_literals_enabled = true;
	for_ftrace_rec_iter(iter) {
		struct dyn_ftrace *rec = ftrace_rec_iter_record(iter);

		nr++;
		if (literal_has_room(rec->ip))
			continue;
		without++;
		first = first ?: rec->ip;
	}
	pr_info("literals at func-%d of %lu functions\n", FTRACE_LITERAL_OFFSET, nr - without);
	if (without)
		pr_info("%lu functions have no room for one (%pS), and use trampolines\n",
			without, (void *)first);
	return 0;
}

/* After alternative_instructions(), and before there is a second CPU */
early_initcall(ftrace_literal_init);
