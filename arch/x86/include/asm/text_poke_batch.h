/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ASM_X86_TEXT_POKE_BATCH_H
#define _ASM_X86_TEXT_POKE_BATCH_H

#include <linux/types.h>

/* How many pages can be mapped at once at text_poke_mm_addr */
#define TEXT_POKE_MAX_PAGES	32

/* An instruction as long as a call, and where to write it */
struct text_poke_call {
	void	*addr;
	u8	insn[5];
};

void smp_text_poke_batch_add_calls(const struct text_poke_call *calls, unsigned int nr);

#endif
