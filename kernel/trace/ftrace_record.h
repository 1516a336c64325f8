/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KERNEL_TRACE_FTRACE_RECORD_H
#define _KERNEL_TRACE_FTRACE_RECORD_H

/* What the flags of a record say, for those that change the text of many callsites */
#include <linux/ftrace.h>

#ifdef CONFIG_DYNAMIC_FTRACE

/* Flags that do not get reset */
#define FTRACE_NOCLEAR_FLAGS	(FTRACE_FL_DISABLED | FTRACE_FL_TOUCHED | \
				 FTRACE_FL_MODIFIED | FTRACE_FL_LITERAL)

static inline bool ftrace_skip_record(struct dyn_ftrace *rec)
{
	/*
	 * At boot up, weak functions are set to disable. Function tracing
	 * can be enabled before they are, and they still need to be disabled now.
	 * If the record is disabled, still continue if it is marked as already
	 * enabled (this is needed to keep the accounting working).
	 */
	return rec->flags & FTRACE_FL_DISABLED &&
		!(rec->flags & FTRACE_FL_ENABLED);
}

/* Flags that say what the text shall do. The bit below each says what it does now. */
#define FTRACE_TEXT_FLAGS	(FTRACE_FL_REGS | FTRACE_FL_TRAMP | \
				 FTRACE_FL_DIRECT | FTRACE_FL_CALL_OPS)
#define FTRACE_TEXT_EN_FLAGS	(FTRACE_FL_REGS_EN | FTRACE_FL_TRAMP_EN | \
				 FTRACE_FL_DIRECT_EN | FTRACE_FL_CALL_OPS_EN)
static_assert(FTRACE_TEXT_FLAGS >> 1 == FTRACE_TEXT_EN_FLAGS);

/*
 * Find out how the text of @rec has to change. With @update, also let the flags of @rec say so.
 * Inline: to switch a tracer of all functions on or off, this is called for each of them, with
 * a constant @update.
 */
static __always_inline int
ftrace_check_record(struct dyn_ftrace *rec, bool enable, bool update)
{
	unsigned long flags = rec->flags;
	bool enabled = flags & FTRACE_FL_ENABLED;
	unsigned long text;

	ftrace_bug_type = FTRACE_BUG_UNKNOWN;

	if (ftrace_skip_record(rec))
		return FTRACE_UPDATE_IGNORE;

	/*
	 * If we are updating calls:
	 *
	 *   If the record has a ref count, then we need to enable it
	 *   because someone is using it.
	 *
	 *   Otherwise we make sure its disabled.
	 *
	 * If we are disabling calls, then disable all records that
	 * are enabled.
	 */
	if (!enable || !ftrace_rec_count(rec)) {
		if (!enabled)
			return FTRACE_UPDATE_IGNORE;

		/* If there's no more users, clear all flags */
		if (!ftrace_rec_count(rec))
			flags &= FTRACE_NOCLEAR_FLAGS;
		else
			/*
			 * Just disable the record, but keep the ops TRAMP
			 * and REGS states. The _EN flags must be disabled though.
			 */
			flags &= ~(FTRACE_FL_ENABLED | FTRACE_TEXT_EN_FLAGS);
		if (update)
			rec->flags = flags;

		ftrace_bug_type = FTRACE_BUG_NOP;
		return FTRACE_UPDATE_MAKE_NOP;
	}

	/*
	 * Direct calls and ops calls are special, as count matters: a
	 * callsite calls its direct call or finds its ops by itself only
	 * if it has no other ops. With more, the list ops and the direct
	 * helper do it.
	 */
	text = flags & FTRACE_TEXT_FLAGS;
	if (ftrace_rec_count(rec) != 1)
		text &= ~(FTRACE_FL_DIRECT | FTRACE_FL_CALL_OPS);
	text >>= 1;

	/* If the state of this record hasn't changed, then do nothing */
	if (enabled && text == (flags & FTRACE_TEXT_EN_FLAGS) &&
	    !(flags & FTRACE_FL_SET_CHANGED))
		return FTRACE_UPDATE_IGNORE;

	if (update) {
		flags &= ~(FTRACE_TEXT_EN_FLAGS | FTRACE_FL_SET_CHANGED);
		flags |= text | FTRACE_FL_ENABLED | FTRACE_FL_TOUCHED;
		/* Keep track of anything that modifies the function */
		if (flags & (FTRACE_FL_DIRECT | FTRACE_FL_IPMODIFY))
			flags |= FTRACE_FL_MODIFIED;
		rec->flags = flags;
	}

	/*
	 * If this record is being updated from a nop, then
	 *   return UPDATE_MAKE_CALL.
	 * Otherwise,
	 *   return UPDATE_MODIFY_CALL to tell the caller to convert
	 *   from the save regs, to a non-save regs function or
	 *   vice versa, or from a trampoline call.
	 */
	if (!enabled) {
		ftrace_bug_type = FTRACE_BUG_CALL;
		return FTRACE_UPDATE_MAKE_CALL;
	}

	ftrace_bug_type = FTRACE_BUG_UPDATE;
	return FTRACE_UPDATE_MODIFY_CALL;
}

#endif /* CONFIG_DYNAMIC_FTRACE */
#endif /* _KERNEL_TRACE_FTRACE_RECORD_H */
