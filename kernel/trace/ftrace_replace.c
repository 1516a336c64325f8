// SPDX-License-Identifier: GPL-2.0
/*
 * Change the text of callsites: up to 256 are checked, each once, and then written. A
 * tracer of all functions traces its own switching, so no function that can be traced is
 * called for each callsite.
 */
#include <linux/ftrace_ops_set.h>
#include <linux/sched.h>

#include "ftrace_internal.h"
#include "ftrace_ops_set.h"

/* Records whose text has been checked, and what they said of it. Under ftrace_lock. */
static struct {
	unsigned int		nr;
	struct dyn_ftrace	*recs[FTRACE_REPLACE_MAX];
	unsigned long		flags[FTRACE_REPLACE_MAX];
} replace;

/* For each of these, what the text does is the bit below. */
#define REPLACE_FLAGS	(FTRACE_FL_REGS | FTRACE_FL_TRAMP | FTRACE_FL_DIRECT | FTRACE_FL_CALL_OPS)
#define REPLACE_EN	(FTRACE_FL_REGS_EN | FTRACE_FL_TRAMP_EN | FTRACE_FL_DIRECT_EN | \
			 FTRACE_FL_CALL_OPS_EN)
static_assert(REPLACE_FLAGS >> 1 == REPLACE_EN);

/* As ftrace_update_record(), which asks about one flag after the other */
static int replace_update(struct dyn_ftrace *rec, bool enable)
{
	unsigned long flags = rec->flags, count = ftrace_rec_count(rec), want = flags;
	bool was = flags & FTRACE_FL_ENABLED;

	if (!was && flags & FTRACE_FL_DISABLED)
		return FTRACE_UPDATE_IGNORE;

	if (!enable || !count) {
		if (!was)
			return FTRACE_UPDATE_IGNORE;
		rec->flags = count ? flags & ~(FTRACE_FL_ENABLED | REPLACE_EN) :
				     flags & FTRACE_NOCLEAR_FLAGS;
		ftrace_bug_type = FTRACE_BUG_NOP;
		return FTRACE_UPDATE_MAKE_NOP;
	}

	/* Only an ops alone is called directly, or found by the callsite. */
	if (count > 1)
		want &= ~(FTRACE_FL_DIRECT | FTRACE_FL_CALL_OPS);
	want = (want & REPLACE_FLAGS) >> 1;
	if (was && want == (flags & REPLACE_EN) && !(flags & FTRACE_FL_SET_CHANGED))
		return FTRACE_UPDATE_IGNORE;

	flags &= ~(REPLACE_EN | FTRACE_FL_SET_CHANGED);
	flags |= want | FTRACE_FL_ENABLED | FTRACE_FL_TOUCHED;
	/* Keep track of anything that modifies the function */
	if (flags & (FTRACE_FL_DIRECT | FTRACE_FL_IPMODIFY))
		flags |= FTRACE_FL_MODIFIED;
	rec->flags = flags;
	ftrace_bug_type = was ? FTRACE_BUG_UPDATE : FTRACE_BUG_CALL;
	return was ? FTRACE_UPDATE_MODIFY_CALL : FTRACE_UPDATE_MAKE_CALL;
}

/* Let the record say what its text will be. */
static int replace_add(struct dyn_ftrace *rec, bool enable)
{
	unsigned long curr = 0, addr = 0;

	replace.recs[replace.nr] = rec;
	replace.flags[replace.nr++] = rec->flags;
	if (rec->flags & FTRACE_FL_ENABLED)
		curr = ftrace_get_addr_curr(rec);

	switch (replace_update(rec, enable)) {
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

/* @rec is not what it should be. Nothing of these is written. */
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

	/* The architecture has said which. */
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
			ftrace_batch_seek(i);
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
