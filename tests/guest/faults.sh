# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
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

clean() { # what
	echo 0 > events/enable 2>/dev/null
	echo nop > current_tracer
	echo > set_ftrace_filter
	echo > dynamic_events
	if [ -d instances/f ]; then
		echo nop > instances/f/current_tracer
		rmdir instances/f
	fi
	[ -s enabled_functions ] || return 0
	echo "faults: $1 left behind:"
	cat enabled_functions
	exit 1
}

try() { # name command [what to do before]
	n=1
	while [ $n -le 200 ] && ${3:-true} && fail_nth $n "$2"; do
		step "faults: $1, allocation $n"
		clean "$1 with allocation $n failing"
		n=$((n + 1))
	done
	clean "$1"
	echo "faults: $1: $((n - 1)) allocations failed in turn"
	[ $n -gt 1 ] || exit 1
}

try "filter" "echo vfs_read > set_ftrace_filter; echo 'vfs_w*' >> set_ftrace_filter"
try "function tracer" "echo vfs_read > set_ftrace_filter; echo function > current_tracer"
try "two tracers" "echo vfs_read > instances/f/set_ftrace_filter;
	echo function > instances/f/current_tracer; echo vfs_read > set_ftrace_filter;
	echo function > current_tracer; echo nop > instances/f/current_tracer" "mkdir instances/f"
try "kprobe event" "echo 'p:faults/k vfs_read' >> dynamic_events; echo 1 > events/faults/k/enable"
try "fprobe event" "echo 'f:faults/f vfs_read' >> dynamic_events; echo 1 > events/faults/f/enable"
exit 0
