// SPDX-License-Identifier: GPL-2.0
/*
 * ops_bench - register many ftrace_ops on many functions, told by a parameter
 *
 *   echo add FIRST COUNT > /sys/module/ops_bench/parameters/cmd
 *   echo del FIRST COUNT > /sys/module/ops_bench/parameters/cmd
 *   echo one FIRST COUNT > /sys/module/ops_bench/parameters/cmd
 *
 * The n-th ops traces the function n modulo 1000; with "one", the first function.
 */
#include <linux/ftrace.h>
#include <linux/module.h>
#include <linux/vmalloc.h>

#define NR_FUNCS	1000
#define NR_OPS		10000

#define F1(n)	static noinline void func_##n(void) { barrier_data((void *)n##UL); }
#define P1(n)	func_##n,
#define TEN(m, n)	m(n##0) m(n##1) m(n##2) m(n##3) m(n##4) m(n##5) m(n##6) m(n##7) m(n##8) m(n##9)
#define F10(n)	TEN(F1, n)
#define F100(n)	F10(n##0) F10(n##1) F10(n##2) F10(n##3) F10(n##4) \
		F10(n##5) F10(n##6) F10(n##7) F10(n##8) F10(n##9)
#define P10(n)	TEN(P1, n)
#define P100(n)	P10(n##0) P10(n##1) P10(n##2) P10(n##3) P10(n##4) \
		P10(n##5) P10(n##6) P10(n##7) P10(n##8) P10(n##9)

F100(10) F100(11) F100(12) F100(13) F100(14) F100(15) F100(16) F100(17) F100(18) F100(19)

static void (*const funcs[NR_FUNCS])(void) = {
	P100(10) P100(11) P100(12) P100(13) P100(14) P100(15) P100(16) P100(17) P100(18) P100(19)
};

static struct ftrace_ops *ops;

static notrace void nothing(unsigned long ip, unsigned long parent_ip,
			    struct ftrace_ops *op, struct ftrace_regs *fregs)
{
}

static int add(unsigned int i, unsigned int func)
{
	int err;

	ops[i].func = nothing;
	err = ftrace_set_filter_ip(&ops[i], (unsigned long)funcs[func], 0, 0);
	return err ?: register_ftrace_function(&ops[i]);
}

static int del(unsigned int i)
{
	int err = unregister_ftrace_function(&ops[i]);

	ftrace_free_filter(&ops[i]);
	return err;
}

static int set_cmd(const char *text, const struct kernel_param *kp)
{
	unsigned int first, count;
	char word[4];
	int err = 0;

	if (!ops || sscanf(text, "%3s %u %u", word, &first, &count) != 3 ||
	    first >= NR_OPS || count > NR_OPS - first)
		return -EINVAL;
	for (unsigned int i = first; i < first + count && !err; i++)
		err = word[0] == 'd' ? del(i) : add(i, word[0] == 'a' ? i % NR_FUNCS : 0);
	return err;
}

static const struct kernel_param_ops cmd_ops = { .set = set_cmd };
module_param_cb(cmd, &cmd_ops, NULL, 0200);

static int __init ops_bench_init(void)
{
	ops = vzalloc(NR_OPS * sizeof(*ops));
	return ops ? 0 : -ENOMEM;
}
module_init(ops_bench_init);

MODULE_DESCRIPTION("Register many ftrace_ops");
MODULE_LICENSE("GPL");
