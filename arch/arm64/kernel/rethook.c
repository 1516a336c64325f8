// SPDX-License-Identifier: GPL-2.0
/*
 * Return hooks on arm64
 *
 * At the entry of a function, x30 is its return address, and x29 is still that of its
 * caller. This x29 identifies the call, for the unwinder, too.
 */
#include <linux/ftrace.h>
#include <linux/kprobes.h>
#include <linux/rethook.h>

/*
 * If a handler before this made the function return at once, pc is what was in x30,
 * and has to be hooked, too.
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
