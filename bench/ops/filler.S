/* SPDX-License-Identifier: GPL-2.0 */
/*
 * As the compiler does it. Without FILLER_SYMBOLS, as loading looks for each of them;
 * but x86 lets nothing be traced that is not at a symbol.
 */
#include <linux/linkage.h>

#ifndef FILLERS
#define FILLERS 180000
#endif

	.macro filler_symbol
#ifdef FILLER_SYMBOLS
filler_\@:
#endif
	.endm

	.text
#ifdef CONFIG_X86_64
SYM_FUNC_START(fillers)
	.rept FILLERS
	.balign 16
	filler_symbol
1:	call __fentry__
	RET
	.pushsection __mcount_loc, "a", @progbits
	.quad 1b
	.popsection
	.endr
SYM_FUNC_END(fillers)
#else
SYM_CODE_START(fillers)
	.rept FILLERS
	.balign 8
	filler_symbol
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
