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

#include <asm/stacktrace/frame.h>

/*
 * From here on the unwinder finds the return address in the trampoline's frame
 * record, which is behind its registers: the node that has it goes.
 */
void arch_rethook_fixup_return(struct pt_regs *regs, unsigned long correct_ret_addr)
{
	struct frame_record *record = (void *)(arch_ftrace_regs(regs) + 1);

	WRITE_ONCE(record->lr, correct_ret_addr);
}
NOKPROBE_SYMBOL(arch_rethook_fixup_return);

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

void arch_rethook_prepare_ftrace(struct rethook_node *rhn, struct ftrace_regs *fregs)
{
	struct __arch_ftrace_regs *afregs = arch_ftrace_regs(fregs);

	rhn->ret_addr = afregs->lr;
	rhn->frame = afregs->fp;
	if (unlikely(afregs->pc == afregs->lr))
		afregs->pc = (unsigned long)arch_rethook_ftrace_trampoline;
	afregs->lr = (unsigned long)arch_rethook_ftrace_trampoline;
}
NOKPROBE_SYMBOL(arch_rethook_prepare_ftrace);
