/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _LINUX_PERF_TEXT_POKE_H
#define _LINUX_PERF_TEXT_POKE_H

#include <linux/types.h>

/* Does perf record how text changes? If not, perf_event_text_poke() does nothing. */
#ifdef CONFIG_PERF_EVENTS
bool perf_text_poke_is_recorded(void);
#else
static inline bool perf_text_poke_is_recorded(void)
{
	return false;
}
#endif

#endif
