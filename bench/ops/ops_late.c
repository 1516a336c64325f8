// SPDX-License-Identifier: GPL-2.0
/*
 * ops_late - call a function of a module that is being removed
 *
 * Removal waits for what the module began asynchronously, and that is a call which
 * comes when ftrace does not know the module any more.
 */
#include <linux/async.h>
#include <linux/delay.h>
#include <linux/module.h>

static noinline void ops_late_target(void)
{
	barrier_data(NULL);
}

static void call_late(void *data, async_cookie_t cookie)
{
	msleep(4000);
	ops_late_target();
	pr_info("ops_late: called late\n");
}

static int __init ops_late_init(void)
{
	return 0;
}
module_init(ops_late_init);

static void __exit ops_late_exit(void)
{
	async_schedule(call_late, NULL);
}
module_exit(ops_late_exit);

MODULE_DESCRIPTION("A late call");
MODULE_LICENSE("GPL");
