/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Hook a return from an ftrace callback, which has no struct pt_regs
 */
#ifndef _LINUX_RETHOOK_FTRACE_H
#define _LINUX_RETHOOK_FTRACE_H

#include <linux/ftrace.h>
#include <linux/rethook.h>

#if defined(CONFIG_RETHOOK) && defined(CONFIG_HAVE_RETHOOK_FTRACE_REGS)
#include <asm/rethook.h>

/* Without @regs, keep the trampoline of an earlier hook: its handler may want more registers. */
static __always_inline unsigned long rethook_ftrace_trampoline(unsigned long ret_addr, bool regs)
{
	if (regs)
		return (unsigned long)arch_rethook_ftrace_trampoline;
	if (unlikely(is_rethook_trampoline(ret_addr)))
		return ret_addr;
	return (unsigned long)arch_rethook_return_trampoline;
}

static __always_inline void __rethook_hook_ftrace(struct rethook_node *node,
						  struct ftrace_regs *fregs, bool regs)
{
	node->ret_addr = arch_rethook_ret_addr(fregs);
	node->frame = arch_rethook_frame(fregs);
	arch_rethook_set_ret_addr(fregs, rethook_ftrace_trampoline(node->ret_addr, regs));
	rethook_add(node);
}

/**
 * rethook_hook_ftrace() - Hook the return of a function, from an ftrace callback.
 * @node: The struct rethook_node to hook the function return.
 * @fregs: What the callback got for the function's entry.
 *
 * As rethook_hook(), for a callback that has no struct pt_regs. The handler of the return
 * gets one, unless there is RETHOOK_WITHOUT_PT_REGS.
 *
 * Context: any. Preemption is disabled.
 */
static __always_inline void rethook_hook_ftrace(struct rethook_node *node,
						struct ftrace_regs *fregs)
{
	__rethook_hook_ftrace(node, fregs, true);
}

/**
 * rethook_hook_return() - Hook a return, for a handler that wants few registers.
 * @node: The struct rethook_node to hook the function return.
 * @fregs: What the callback got for the function's entry.
 *
 * As rethook_hook_ftrace(), but the trampoline saves less: the handler gets the return
 * value, the stack pointer, the frame pointer and the return address, and
 * ftrace_get_regs() may return NULL.
 *
 * Context: any. Preemption is disabled.
 */
static __always_inline void rethook_hook_return(struct rethook_node *node,
						struct ftrace_regs *fregs)
{
	__rethook_hook_ftrace(node, fregs, false);
}
#endif

#endif
