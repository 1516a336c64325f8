# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Modules come and go while their functions are traced.
. /job-lib

cd "$TRACEFS" || exit 1
wrong() {
	echo "modules: $1"
	[ ! -e ftrace_ops_sets ] || cat ftrace_ops_sets
	exit 1
}

sets() { # which line of ftrace_ops_sets
	sed -n "s/^$1: *//p" ftrace_ops_sets
}

# What is replaced is freed after a grace period or two.
no_garbage() {
	for _ in $(seq 100); do
		[ "$(sets 'garbage sets')" -gt 0 ] || return 0
		sleep 0.2
	done
	wrong "sets are not freed"
}

instance() { # name filter notrace
	mkdir "instances/$1" || exit 1
	echo "$2" > "instances/$1/set_ftrace_filter"
	echo "$3" > "instances/$1/set_ftrace_notrace"
	echo function > "instances/$1/current_tracer"
}

# Two ops on one function, and one of them goes while the module waits for a call that
# comes when it has no records any more.
step "modules: a late call"
insmod /bench/ops_late.ko || exit 1
instance stays ops_late_target ''
instance goes ops_late_target ''
grep -q '^ops_late_target .*(2)' enabled_functions || wrong "not traced by two"
rmmod ops_late &
sleep 1
rmdir instances/goes || exit 1
# Memory that the other has freed is used for something else.
sleep 1
wait
dmesg | grep -q 'ops_late: called late' || wrong "the call did not come"
! grep -q ops_late_target instances/stays/trace || wrong "a function without a record was traced"
rmdir instances/stays || exit 1

[ -e ftrace_ops_sets ] || exit 0

step "modules: 5000 functions that 20 instances trace"
# All but those that are there already: the module is loaded by functions, too.
for i in $(seq 20); do
	instance "$i" '' '*'
done
no_garbage
before=$(sets sets)
insmod /bench/ops_filler5k.ko || exit 1
garbage=$(sets 'garbage sets')
new=$(($(sets sets) - before))
[ "$new" -le 30 ] || wrong "$new new sets"
[ "$garbage" = 0 ] || wrong "$garbage sets of garbage"
[ "$(grep -c "^filler.*(20)" enabled_functions)" -gt 4000 ] || wrong "few functions are traced"
rmmod ops_filler5k || exit 1
for i in $(seq 20); do
	rmdir "instances/$i" || exit 1
done
[ "$(sets sets)" = 0 ] || wrong "sets of nobody"
[ "$(sets 'list walks')" = 0 ] || wrong "a callsite walks the list"
no_garbage

# Each ops that comes replaces a set that is as long as there are ops.
step "modules: 4000 ops on one function"
insmod /bench/ops_bench.ko || exit 1
echo one 0 4000 > /sys/module/ops_bench/parameters/cmd &
most=0
while kill -0 $! 2>/dev/null; do
	now=$(sets 'garbage bytes')
	[ "$now" -le "$most" ] || most=$now
	sleep 0.1
done
wait $! || exit 1
[ "$most" -lt 6000000 ] || wrong "$most bytes of garbage"
grep -q '(4000)' enabled_functions ||
	wrong "the function does not have them"
no_garbage
exit 0
