/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ASM_X86_RETHOOK_H
#define _ASM_X86_RETHOOK_H

#include <linux/ftrace.h>

/* The stack pointer is in what ftrace_regs always holds. */
static __always_inline unsigned long arch_rethook_frame(struct ftrace_regs *fregs)
{
	return arch_ftrace_regs(fregs)->regs.sp;
}

static __always_inline unsigned long arch_rethook_ret_addr(struct ftrace_regs *fregs)
{
	return *(unsigned long *)arch_rethook_frame(fregs);
}

static __always_inline void arch_rethook_set_ret_addr(struct ftrace_regs *fregs,
						      unsigned long addr)
{
	*(unsigned long *)arch_rethook_frame(fregs) = addr;
}

/* The fake return address that the trampoline has pushed: it and the unwinder read it. */
static __always_inline void arch_rethook_set_real_return(unsigned long frame,
							 struct ftrace_regs *fregs,
							 unsigned long addr)
{
	WRITE_ONCE(*(unsigned long *)frame, addr);
}

#endif /* _ASM_X86_RETHOOK_H */
