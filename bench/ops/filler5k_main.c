// SPDX-License-Identifier: GPL-2.0
/* ops_filler5k - a module of 5,000 functions, which can be unloaded */
#include "filler_main.c"

static void __exit ops_filler5k_exit(void)
{
}
module_exit(ops_filler5k_exit);
