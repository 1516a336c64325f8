/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __ASM_RETHOOK_H
#define __ASM_RETHOOK_H

#include <linux/ftrace.h>

#include <asm/stacktrace/frame.h>

/* x29 is still the caller's; its value identifies this call for the unwinder. */
static __always_inline unsigned long arch_rethook_frame(struct ftrace_regs *fregs)
{
	return arch_ftrace_regs(fregs)->fp;
}

static __always_inline unsigned long arch_rethook_ret_addr(struct ftrace_regs *fregs)
{
	return arch_ftrace_regs(fregs)->lr;
}

/* If an earlier handler made the function return at once, pc equals lr: hook that, too. */
static __always_inline void arch_rethook_set_ret_addr(struct ftrace_regs *fregs,
						      unsigned long addr)
{
	struct __arch_ftrace_regs *afregs = arch_ftrace_regs(fregs);

	if (unlikely(afregs->pc == afregs->lr))
		afregs->pc = addr;
	afregs->lr = addr;
}

/*
 * The node that has the return address is about to be given back. From here on the
 * unwinder finds the address in the trampoline's frame record, behind its registers.
 */
static __always_inline void arch_rethook_set_real_return(unsigned long frame,
							 struct ftrace_regs *fregs,
							 unsigned long addr)
{
	struct frame_record *record = (void *)(arch_ftrace_regs(fregs) + 1);

	WRITE_ONCE(record->lr, addr);
}

#endif /* __ASM_RETHOOK_H */
