// SPDX-License-Identifier: GPL-2.0
/*
 * Change the text of callsites: up to 256 are checked, each once, and then written. A tracer
 * of all functions also traces what is called to switch it on or off: so no function that can
 * be traced is called for each callsite.
 */
#include <linux/ftrace_ops_set.h>
#include <linux/sched.h>

#include "ftrace_internal.h"
#include "ftrace_ops_set.h"
#include "ftrace_record.h"

/* Records that have been checked and not written yet, with their old flags. Under ftrace_lock */
static struct {
	unsigned int		nr;
	struct dyn_ftrace	*recs[FTRACE_REPLACE_MAX];
	unsigned long		flags[FTRACE_REPLACE_MAX];
} replace;

/* Check the text of @rec, and let the flags of @rec say what the text will be. */
static int replace_add(struct dyn_ftrace *rec, bool enable)
{
	unsigned long curr = 0, addr = 0;

	replace.recs[replace.nr] = rec;
	replace.flags[replace.nr++] = rec->flags;
	if (rec->flags & FTRACE_FL_ENABLED)
		curr = ftrace_get_addr_curr(rec);

	switch (ftrace_check_record(rec, enable, true)) {
	case FTRACE_UPDATE_MAKE_CALL:
	case FTRACE_UPDATE_MODIFY_CALL:
		addr = ftrace_get_addr_new(rec);
		break;
	case FTRACE_UPDATE_MAKE_NOP:
		break;
	default:
		replace.nr--;
		return 0;
	}
	return arch_ftrace_replace_check(rec, curr, addr);
}

/* The text of @rec is not what it should be: write none of those that were checked with it. */
static void replace_cancel(struct dyn_ftrace *rec, int ret)
{
	while (replace.nr) {
		replace.nr--;
		replace.recs[replace.nr]->flags = replace.flags[replace.nr];
	}
	arch_ftrace_replace_cancel();
	ftrace_bug(ret, rec);
	ftrace_expected = NULL;
}

static int replace_write(void)
{
	int ret = arch_ftrace_replace_write();

	/* The architecture has reported the callsite. */
	if (ret)
		ftrace_bug(ret, NULL);
	replace.nr = 0;
	return ret;
}

static int replace_one(struct dyn_ftrace *rec, int mod_flags)
{
	int ret;

	if (replace.nr == FTRACE_REPLACE_MAX) {
		ret = replace_write();
		if (ret)
			return ret;
		if (mod_flags & FTRACE_MODIFY_MAY_SLEEP_FL)
			cond_resched();
	}
	ret = replace_add(rec, mod_flags & FTRACE_MODIFY_ENABLE_FL);
	if (ret)
		replace_cancel(rec, ret);
	return ret;
}

/* In place of the one in ftrace.c */
void ftrace_replace_code(int mod_flags)
{
	struct ftrace_rec_iter *iter;

	if (ftrace_batch_count()) {
		for (int i = 0; i < ftrace_batch_count(); i++) {
			if (replace_one(ftrace_batch_rec(i), mod_flags))
				return;
		}
	} else {
		for_ftrace_rec_iter(iter) {
			if (replace_one(ftrace_rec_iter_record(iter), mod_flags))
				return;
		}
	}
	replace_write();
}
