// SPDX-License-Identifier: GPL-2.0
/*
 * How kernel/trace/ftrace_replace.c changes text on x86
 */
#include <linux/ftrace_ops_set.h>
#include <linux/text-patching.h>
#include <linux/uaccess.h>
#include <linux/unaligned.h>

#include <asm/nops.h>
#include <asm/text_poke_batch.h>

/* Callsites have been checked; this has to be written. Under ftrace_lock */
static struct {
	unsigned int		nr_literals, nr_calls;
	/* Which literals, and what the callsite shall call */
	struct {
		struct dyn_ftrace	*rec;
		unsigned long		addr;
	} literals[FTRACE_REPLACE_MAX];
	struct text_poke_call	calls[FTRACE_REPLACE_MAX];
} replace;

static __always_inline const u8 *replace_insn(unsigned long ip, unsigned long addr)
{
	u8 opcode = CALL_INSN_OPCODE;

	if (!addr)
		return x86_nops[MCOUNT_INSN_SIZE];
	if (ftrace_is_jmp(addr)) {
		opcode = JMP32_INSN_OPCODE;
		addr = ftrace_jmp_get(addr);
	}
	return text_gen_insn(opcode, (void *)ip, (void *)addr);
}

/* Is @insn at @ip? As copy_from_kernel_nofault(), without its check of the address */
static int replace_compare(unsigned long ip, const u8 *insn)
{
	u32 rest;
	u8 first;

	pagefault_disable();
	__get_kernel_nofault(&first, (u8 *)ip, u8, fault);
	__get_kernel_nofault(&rest, (u32 *)(ip + 1), u32, fault);
	pagefault_enable();
	if (first == insn[0] && rest == get_unaligned((u32 *)(insn + 1)))
		return 0;
	ftrace_expected = insn;
	return -EINVAL;

fault:
	pagefault_enable();
	return -EFAULT;
}

int arch_ftrace_replace_check(struct dyn_ftrace *rec, unsigned long curr, unsigned long addr)
{
	unsigned long ip = rec->ip;
	struct text_poke_call *call;
	int ret;

	ret = replace_compare(ip, replace_insn(ip, curr));
	if (ret)
		return ret;

	if (addr) {
		replace.literals[replace.nr_literals].rec = rec;
		replace.literals[replace.nr_literals++].addr = addr;
	}
	/* From one ops or set to another: the literal is all. */
	if (addr == curr)
		return 0;
	call = &replace.calls[replace.nr_calls++];
	call->addr = (void *)ip;
	memcpy(call->insn, replace_insn(ip, addr), sizeof(call->insn));
	return 0;
}

void arch_ftrace_replace_cancel(void)
{
	replace.nr_literals = 0;
	replace.nr_calls = 0;
}

/* The literals first: a callsite that calls ftrace_literal_caller() must find its own. */
int arch_ftrace_replace_write(void)
{
	for (unsigned int i = 0; i < replace.nr_literals; i++)
		ftrace_literal_queue(replace.literals[i].rec, replace.literals[i].addr);
	ftrace_literal_flush();
	smp_text_poke_batch_add_calls(replace.calls, replace.nr_calls);
	smp_text_poke_batch_finish();
	arch_ftrace_replace_cancel();
	return 0;
}
