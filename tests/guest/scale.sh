# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Measure how costs grow, as bench.sh does, for the charts. LEVEL is "scale" for the numbers of
# ops and tracers, or "cpus" for what switching costs with as many CPUs as there are.

# The functions of bench.sh, without what it measures.
sed '/^cd \/bench/,$d' /tests/bench.sh > /tmp/bench-lib
. /tmp/bench-lib

# Many ops on a function: 1000 calls instead of 100000. The figure is that of 100000.
many_ops() { # on-function elsewhere
	step "bench: $1 ops on the function, $2 elsewhere"
	dmesg -c > /dev/null
	# What ends in the background, sets of the last round being freed, is no cost of a hit.
	sleep 1
	modprobe ftrace-ops nr_function_calls=1000 "nr_ops_relevant=$1" "nr_ops_irrelevant=$2" \
		2> /dev/null
	ns=$(dmesg | sed -n 's/.*Attempted .* in \([0-9]*\)ns.*/\1/p')
	echo "ops $1/$2 total=${ns:-missing}${ns:+00}" >&3
}

# One more on the same functions, which records no more than the first
second_function_tracer() {
	step "bench: a second function tracer on all functions"
	second=$TRACEFS/instances/second
	mkdir "$second" || exit 1
	echo 0 > "$TRACEFS"/tracing_on
	echo 0 > "$second"/tracing_on
	echo function > "$TRACEFS"/current_tracer
	./hits write second-function-on instances/second/current_tracer function >&3
	./hits write second-function-off instances/second/current_tracer nop >&3
	echo nop > "$TRACEFS"/current_tracer
	rmdir "$second" || exit 1
	echo 1 > "$TRACEFS"/tracing_on
}

# A recorded call of one function, while so many graph tracers wait for another, which is
# not called: an emergency sync calls it.
beside_graphs() { # count
	for i in $(seq "$1"); do
		mkdir "$TRACEFS/instances/$i" || exit 1
		echo do_sync_work > "$TRACEFS/instances/$i/set_ftrace_filter" || exit 1
		echo function_graph > "$TRACEFS/instances/$i/current_tracer" || exit 1
	done
	./hits filter function_graph | sed "s/^filter function_graph/& beside-$1-graphs/" >&3
	instances 0
}

cd /bench || exit 1
cat /proc/kallsyms > /dev/null
if [ "$LEVEL" = cpus ]; then
	function_tracer function
	for n in 1 1000; do
		hits attach kprobe.multi $n
	done
else
	many_ops 100 0
	many_ops 1000 0
	many_ops 2 1000
	# Not on the base, which looks at every function for each that it registers.
	if [ -e "$TRACEFS"/ftrace_ops_sets ]; then
		many_ops 10000 0
		many_ops 2 10000
	fi
	for n in 1 4 10; do
		beside_graphs $n
	done
	second_function_tracer
	module 0-instances
fi
exec 3>&-
report bench /tmp/bench/lines
