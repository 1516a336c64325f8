/* SPDX-License-Identifier: GPL-2.0 */
/* As the compiler does it; without symbols, or loading would look for each of them. */
#include <linux/linkage.h>

	.text
#ifdef CONFIG_X86_64
SYM_FUNC_START(fillers)
	.rept 180000
	.balign 16
1:	call __fentry__
	RET
	.pushsection __mcount_loc, "a", @progbits
	.quad 1b
	.popsection
	.endr
SYM_FUNC_END(fillers)
#else
SYM_CODE_START(fillers)
	.rept 180000
	.balign 8
1:	nop
	nop
	nop
	nop
	ret
	.pushsection __patchable_function_entries, "awo", %progbits, .text
	.balign 8
	.quad 1b
	.popsection
	.endr
SYM_CODE_END(fillers)
#endif
