# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# shellcheck disable=SC2317 # functions that try() calls by name
# Attach and detach while the n-th allocation fails, for n from the first on
# until an attach needs no more. Whatever fails must leave nothing behind.
. /job-lib

cd "$TRACEFS" || exit 1
echo 0 > tracing_on

# The kernel tells of each failure with a stack trace, which the scan of the log
# would take for a fault of its own.
for f in /sys/kernel/debug/fail*/verbose; do
	echo 0 > "$f"
done
# Let allocations that may sleep fail as well; they are most of them.
for f in /sys/kernel/debug/fail*/ignore-gfp-*; do
	echo N > "$f"
done

# Run a command with its n-th allocation failing; true if one did fail. It must
# start no program: the kernel complains aloud when a fork fails.
fail_nth() { # n command
	echo "$2" > /tmp/command
	rm -f /tmp/left
	# The shell reads its own count: what is left is 0 once it has failed.
	sh -c "echo $1 > /proc/self/fail-nth; . /tmp/command; read -r left < /proc/self/fail-nth
		echo 0 > /proc/self/fail-nth; echo \$left > /tmp/left" 2>/dev/null
	[ "$(cat /tmp/left 2>/dev/null || echo 0)" = 0 ]
}

# Function probes, which "echo > set_ftrace_filter" leaves alone
probes() {
	sed -n '/^#/d; s/^\([a-z_]*:\(traceoff:\|enable_event:sched:sched_switch\)\).*/\1/p' \
		set_ftrace_filter
}

lost() { # why
	echo "faults: $1:"
	cat set_ftrace_filter enabled_functions
	exit 1
}

clean() { # what
	echo 0 > events/enable 2>/dev/null
	echo nop > current_tracer
	echo > set_ftrace_filter
	for p in $(probes); do
		case $p in
		*traceoff:) p=${p}3 ;;
		*) p=${p%:} ;;
		esac
		echo "!$p" >> set_ftrace_filter || lost "$1: $p cannot be removed"
	done
	[ ! "$(probes)" ] || lost "$1: function probes left"
	case $(cat events/sched/sched_switch/enable) in
	0) ;;
	*) lost "$1: sched_switch stayed enabled" ;;
	esac
	echo > dynamic_events
	if [ -d instances/f ]; then
		echo nop > instances/f/current_tracer
		rmdir instances/f
	fi
	grep -q . enabled_functions || return 0
	echo "faults: $1 left behind:"
	cat enabled_functions
	exit 1
}

try() { # name command [what to do before] [what must be true then]
	n=1
	while { ${3:-true} || lost "$1: its setup"; } && fail_nth $n "$2"; do
		[ $n -le 200 ] || lost "$1: no end of allocations"
		step "faults: $1, allocation $n"
		${4:-true} || lost "$1 with allocation $n failing: ${4:-}"
		clean "$1 with allocation $n failing"
		n=$((n + 1))
	done
	clean "$1"
	echo "faults: $1: $((n - 1)) allocations failed in turn"
	[ $n -gt 1 ] || exit 1
}

traced() { # function
	grep -q "^$1 " enabled_functions
}

tracer_on() {
	mkdir instances/f
	echo vfs_read > instances/f/set_ftrace_filter
	echo function > instances/f/current_tracer
	echo vfs_read > set_ftrace_filter
	echo function > current_tracer
	echo 0 > options/func-no-repeats
}

# Whether the option could be set or not: the function is traced by both, and to
# set it again works.
option_can_be_set() {
	[ "$(grep -c '^vfs_read (2)' enabled_functions)" = 1 ] &&
		echo 1 > options/func-no-repeats &&
		[ "$(cat options/func-no-repeats)" = 1 ] &&
		[ "$(grep -c '^vfs_read (2)' enabled_functions)" = 1 ]
}

# What set_ftrace_filter shows is traced, and what is not can be added.
probes_are_true() {
	for p in $(probes); do
		traced "${p%%:*}" || return 1
	done
	for p in $PROBES; do
		probes | grep -q "^${p%%:*}:" || echo "$p" >> set_ftrace_filter || return 1
		traced "${p%%:*}" || return 1
	done
}

graph_can_be_on() {
	echo function_graph > current_tracer && traced vfs_read
}

graph_on() {
	echo 0 > options/funcgraph-args
	echo vfs_read > set_ftrace_filter
	echo function_graph > current_tracer
}

args_can_be_set() {
	traced vfs_read && echo 1 > options/funcgraph-args &&
		[ "$(cat options/funcgraph-args)" = 1 ] && traced vfs_read
}

thresh_can_be_set() {
	traced vfs_read && echo 100 > tracing_thresh && traced vfs_read && echo 0 > tracing_thresh
}

probes_on() {
	for p in $PROBES; do
		echo "$p" >> set_ftrace_filter
	done
}

KPROBES=/sys/kernel/debug/kprobes/enabled
kprobes_off() {
	echo 'p:faults/k vfs_read' >> dynamic_events
	echo 'p:faults/other vfs_write' >> dynamic_events
	echo 1 > events/faults/enable
	echo 0 > "$KPROBES"
}

kprobes_can_be_on() {
	echo 0 > events/faults/enable && ! traced vfs_read && ! traced vfs_write &&
		echo 1 > "$KPROBES" && echo 1 > events/faults/enable &&
		traced vfs_read && traced vfs_write
}

try "filter" "echo vfs_read > set_ftrace_filter; echo 'vfs_w*' >> set_ftrace_filter"
try "function tracer" "echo vfs_read > set_ftrace_filter; echo function > current_tracer"
try "two tracers" "echo vfs_read > instances/f/set_ftrace_filter;
	echo function > instances/f/current_tracer; echo vfs_read > set_ftrace_filter;
	echo function > current_tracer; echo nop > instances/f/current_tracer" "mkdir instances/f"
try "tracer's option" "echo 1 > options/func-no-repeats" tracer_on option_can_be_set
PROBES="vfs_read:traceoff:3 vfs_write:traceoff:3"
try "function probes" "for p in $PROBES; do echo \$p >> set_ftrace_filter; done" \
	true probes_are_true
PROBES="vfs_mkdir:enable_event:sched:sched_switch vfs_mknod:enable_event:sched:sched_switch"
try "event probes" "echo 'vfs_mk*:enable_event:sched:sched_switch' >> set_ftrace_filter" \
	true probes_are_true
try "function graph tracer" \
	"echo vfs_read > set_ftrace_filter; echo function_graph > current_tracer" \
	true graph_can_be_on
try "graph tracer's arguments" "echo 1 > options/funcgraph-args" graph_on args_can_be_set
try "graph tracer's threshold" "echo 100 > tracing_thresh" graph_on thresh_can_be_set
echo 0 > tracing_thresh
PROBES="vfs_read:traceoff:3 vfs_write:traceoff:3"
try "removal of a function probe" "echo '!vfs_read:traceoff:3' >> set_ftrace_filter" \
	probes_on probes_are_true
[ ! -e "$KPROBES" ] || try "all kprobes" "echo 1 > $KPROBES" kprobes_off kprobes_can_be_on
try "kprobe event" "echo 'p:faults/k vfs_read' >> dynamic_events; echo 1 > events/faults/k/enable"
try "fprobe event" "echo 'f:faults/f vfs_read' >> dynamic_events; echo 1 > events/faults/f/enable"
exit 0
