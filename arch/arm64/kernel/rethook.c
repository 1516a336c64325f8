// SPDX-License-Identifier: GPL-2.0
/*
 * Return hooks on arm64
 *
 * At its entry a function has its return address in x30, and x29 is still its
 * caller's: that is what tells its frame from others, for the unwinder, too.
 */
#include <linux/ftrace.h>
#include <linux/kprobes.h>
#include <linux/rethook.h>

/*
 * A handler may have had the function return at once: it goes on at pc then, which
 * is what was in x30.
 */
void arch_rethook_prepare(struct rethook_node *rhn, struct pt_regs *regs, bool mcount)
{
	unsigned long trampoline = (unsigned long)arch_rethook_trampoline;

	if (mcount)
		trampoline = (unsigned long)arch_rethook_ftrace_trampoline;
	rhn->ret_addr = regs->regs[30];
	rhn->frame = regs->regs[29];
	if (unlikely(regs->pc == regs->regs[30]))
		regs->pc = trampoline;
	regs->regs[30] = trampoline;
}
NOKPROBE_SYMBOL(arch_rethook_prepare);
