// SPDX-License-Identifier: GPL-2.0
/*
 * kprobes at the entry of a function, on ftrace
 *
 * The compiler puts two instructions at the start of a function for ftrace, which
 * patches the second. They only make sense together, and lie as follows:
 *
 *	[ip-16 or ip-12: literal, 8 bytes]
 *	func:	[BTI	C]
 *		MOV	X9, LR
 *	ip:	NOP, or BL ftrace_regs_caller
 *
 * For kprobes this is one instruction at func. A probe there is called by ftrace,
 * without an exception. Probes inside it, or in the literal, are refused.
 */
#define pr_fmt(fmt) "kprobes: " fmt

#include <linux/ftrace.h>
#include <linux/kprobes.h>
#include <linux/ptrace.h>

/*
 * From the first byte of the above to the callsite, at most. Callsites are farther apart:
 * by 24 bytes or more with literals, and by 12 or more without.
 */
#define MAX_BEFORE_IP	(IS_ENABLED(CONFIG_DYNAMIC_FTRACE_WITH_CALL_OPS) ? 16 : 8)

/* The first byte of the layout above for the callsite @ip: its literal or, without one, @func */
static unsigned long first_byte(unsigned long ip, unsigned long func)
{
	return IS_ENABLED(CONFIG_DYNAMIC_FTRACE_WITH_CALL_OPS) ? ALIGN_DOWN(ip - 12, 8) : func;
}

int arch_check_ftrace_location(struct kprobe *p)
{
	unsigned long addr = (unsigned long)p->addr, ip, func;

	scoped_guard(rcu) {	/* keeps the text of a module that is being unloaded */
		ip = ftrace_location_range(addr, addr + MAX_BEFORE_IP);
		func = ip ? ftrace_get_symaddr(ip) : 0;
	}
	if (!func || addr < first_byte(ip, func))
		return 0;
	if (addr < func) {
		pr_err("%pS is a part of what ftrace keeps before %pS\n", p->addr, (void *)func);
		return -EILSEQ;
	}

	if (!IS_ENABLED(CONFIG_KPROBES_ON_FTRACE))
		return addr == ip ? -EINVAL : 0;

	if (addr > func) {
		pr_err("%pS is a part of what ftrace patches; probe %pS instead\n",
		       p->addr, (void *)func);
		return -EILSEQ;
	}
	p->flags |= KPROBE_FLAG_FTRACE;
	return 0;
}

#ifdef CONFIG_KPROBES_ON_FTRACE
/* The callsite, which is not where the probe is */
unsigned long arch_kprobe_ftrace_ip(struct kprobe *p)
{
	unsigned long addr = (unsigned long)p->addr;
	unsigned long ip = ftrace_location_range(addr, addr + MAX_BEFORE_IP);

	/* Another module may have been loaded there since, with another function near @addr. */
	return ip && ftrace_get_symaddr(ip) == addr ? ip : 0;
}

/* The kprobe of callsite @ip. With BTI but no literals, try both addresses: kallsyms is slow. */
static nokprobe_inline struct kprobe *get_kprobe_on_ftrace(unsigned long ip)
{
	struct kprobe *p;

	if (IS_ENABLED(CONFIG_ARM64_BTI_KERNEL) &&
	    !IS_ENABLED(CONFIG_DYNAMIC_FTRACE_WITH_CALL_OPS)) {
		/* A probe here that is not on ftrace belongs to the function before this one. */
		p = get_kprobe((void *)(ip - AARCH64_INSN_SIZE * 2));
		if (p && kprobe_ftrace(p))
			return p;
		return get_kprobe((void *)(ip - AARCH64_INSN_SIZE));
	}
	return get_kprobe((void *)ftrace_get_symaddr(ip));
}

/* Called with preemption disabled, which get_kprobe() wants */
static __always_inline void kprobe_ftrace_hit(unsigned long ip, struct pt_regs *regs)
{
	struct kprobe_ctlblk *kcb;
	struct kprobe *p;

	p = get_kprobe_on_ftrace(ip);
	if (unlikely(!p) || kprobe_disabled(p))
		return;

	if (kprobe_running()) {
		kprobes_inc_nmissed_count(p);
	} else {
		unsigned long after = instruction_pointer(regs), lr = regs->regs[30];

		kcb = get_kprobe_ctlblk();
		instruction_pointer_set(regs, (unsigned long)p->addr);
		/* The status first: a kprobe that interrupts reads it if current_kprobe is set. */
		kcb->kprobe_status = KPROBE_HIT_ACTIVE;
		barrier();
		__this_cpu_write(current_kprobe, p);
		/* One that returns true has changed the PC, and goes there. */
		if (!p->pre_handler || !p->pre_handler(p, regs)) {
			/* If the function is not run: to the LR, which a kretprobe may have set. */
			instruction_pointer_set(regs, after == lr ? regs->regs[30] : after);
			if (unlikely(p->post_handler)) {
				kcb->kprobe_status = KPROBE_HIT_SSDONE;
				p->post_handler(p, regs, 0);
			}
		}
		__this_cpu_write(current_kprobe, NULL);
	}
}

static noinline notrace void
kprobe_ftrace_hit_in_any_context(unsigned long ip, unsigned long parent_ip,
				 struct pt_regs *regs)
{
	int bit = ftrace_test_recursion_trylock(ip, parent_ip);

	if (bit < 0)
		return;
	kprobe_ftrace_hit(ip, regs);
	ftrace_test_recursion_unlock(bit);
}
NOKPROBE_SYMBOL(kprobe_ftrace_hit_in_any_context);

void kprobe_ftrace_handler(unsigned long ip, unsigned long parent_ip,
			   struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	struct pt_regs *regs = arch_ftrace_get_regs(fregs);

	/* Entered for the ops that the callsite had before */
	if (unlikely(!regs)) {
		kprobe_ftrace_without_regs(ip, parent_ip, ops, fregs);
		return;
	}

	if (unlikely(kprobe_ftrace_disabled))
		return;

	if (unlikely(!ftrace_test_recursion_trylock_task())) {
		kprobe_ftrace_hit_in_any_context(ip, parent_ip, regs);
		return;
	}
	preempt_disable_notrace();
	kprobe_ftrace_hit(ip, regs);
	preempt_enable_notrace();
	ftrace_test_recursion_unlock_task();
}
NOKPROBE_SYMBOL(kprobe_ftrace_handler);

int arch_prepare_kprobe_ftrace(struct kprobe *p)
{
	p->ainsn.xol_insn = NULL;
	return 0;
}
#endif /* CONFIG_KPROBES_ON_FTRACE */
