// SPDX-License-Identifier: GPL-2.0
/* ops_filler5k - the same with 5,000 functions */
#include "filler_main.c"
