/* SPDX-License-Identifier: GPL-2.0 */
/* As many as a large module has */
#define FILLERS 5000
#define FILLER_SYMBOLS
#include "filler.S"
