// SPDX-License-Identifier: GPL-2.0
/* ops_filler - ten times the kernel's functions for ftrace to know; never called */
#include <linux/module.h>

void fillers(void);

static int __init ops_filler_init(void)
{
	OPTIMIZER_HIDE_VAR((void (*)(void)){ fillers });
	return 0;
}
module_init(ops_filler_init);

static void __exit ops_filler_exit(void)
{
}
module_exit(ops_filler_exit);

MODULE_DESCRIPTION("Many functions");
MODULE_LICENSE("GPL");
