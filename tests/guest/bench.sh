# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Measure, under "-icount shift=0" in instructions: what a hit costs, what an
# attach costs. Prints lines of words and "name=value" pairs into the report
# "bench". LEVEL is "table" for the few figures of the demonstration, "cpus" for
# what switching costs with as many CPUs as there are, or "full".
. /job-lib

# The function that the events are put on.
EVENT=vfs_read

mkdir -p /tmp/bench
exec 3> /tmp/bench/lines

# The samples' module measures and then refuses to load; its last line is the
# figure: total nanoseconds of 100000 calls, or of fewer where each takes long.
ops() { # on-function elsewhere label parameters...
	on=$1 elsewhere=$2 label=$3 calls=100000
	shift 3
	[ "$on" -lt 2 ] || [ $((on + elsewhere)) -lt 1000 ] || calls=1000
	step "bench: $on ops on the function, $elsewhere elsewhere${label:+, $label}"
	dmesg -c > /dev/null
	# What ends in the background, sets of the last round being freed, is no cost of a hit.
	sleep 1
	modprobe ftrace-ops "nr_function_calls=$calls" "nr_ops_relevant=$on" \
		"nr_ops_irrelevant=$elsewhere" "$@" 2>/dev/null
	if dmesg | grep -q 'does not support saving registers'; then
		echo "ops $on/$elsewhere${label:+ $label} error=unsupported" >&3
		return
	fi
	ns=$(dmesg | sed -n 's/.*Attempted .* in \([0-9]*\)ns.*/\1/p')
	[ -z "$ns" ] || ns=$((ns * (100000 / calls)))
	echo "ops $on/$elsewhere${label:+ $label} total=${ns:-missing}" >&3
}

# Load and unload a module of 5,000 functions
module() { # name
	./hits insmod "$1" ./ops_filler5k.ko >&3
	./hits rmmod "$1" ops_filler5k >&3
}

hits() { # words of the program...
	step "bench: $*"
	./hits "$@" >&3
}

# What comes and goes beside 100 fprobes on other functions, each on one: a kprobe.multi, and a
# module of 5,000 functions
others() {
	step "bench: 100 other fprobes"
	grep '^tcp_[a-z_]*$' $TRACEFS/available_filter_functions | sort -u | head -n 100 |
		while read -r f; do
			echo "f:others/$f $f" >> $TRACEFS/dynamic_events || exit 1
		done || exit 1
	echo 1 > $TRACEFS/events/others/enable
	./hits hit kprobe.multi | sed 's/^hit kprobe.multi/& beside-100-fprobes/' >&3
	module beside-100-fprobes
	echo 0 > $TRACEFS/events/others/enable
	echo > $TRACEFS/dynamic_events
}

# So many instances, each with a tracer
instances() { # count, file of functions, what in it, tracer
	step "bench: $1 instances"
	for i in "$TRACEFS"/instances/*; do
		[ ! -d "$i" ] || { echo nop > "$i/current_tracer"; rmdir "$i"; }
	done
	for i in $(seq "$1"); do
		mkdir "$TRACEFS/instances/$i"
		echo "$3" > "$TRACEFS/instances/$i/$2" || exit 1
		echo "$4" > "$TRACEFS/instances/$i/current_tracer" || exit 1
	done
}

function_tracer() { # tracer
	step "bench: $1 tracer on all functions"
	echo 0 > $TRACEFS/tracing_on
	./hits write "$1-on" current_tracer "$1" >&3
	echo "count $1 functions=$(wc -l < $TRACEFS/enabled_functions)" >&3
	./hits write "$1-off" current_tracer nop >&3
	echo 1 > $TRACEFS/tracing_on
}

# One more on the same functions, which records no more than the first
second_function_tracer() {
	step "bench: a second function tracer on all functions"
	second=$TRACEFS/instances/second
	mkdir $second || exit 1
	echo 0 > $TRACEFS/tracing_on
	echo 0 > $second/tracing_on
	echo function > $TRACEFS/current_tracer
	./hits write second-function-on instances/second/current_tracer function >&3
	./hits write second-function-off instances/second/current_tracer nop >&3
	echo nop > $TRACEFS/current_tracer
	rmdir $second || exit 1
	echo 1 > $TRACEFS/tracing_on
}

# A recorded call of one function, while so many graph tracers wait for another, which is
# not called: an emergency sync calls it.
beside_graphs() { # count
	instances "$1" set_ftrace_filter do_sync_work function_graph
	./hits filter function_graph | sed "s/^filter function_graph/& beside-$1-graphs/" >&3
	instances 0
}

many() { # label words...
	step "bench: $1"
	name=$1
	shift
	./hits write "$name" /sys/module/ops_bench/parameters/cmd "$*" >&3
}

# What so many ops on 1000 functions take: executable pages, of which each generated
# trampoline has one; and sets
sets() { # label
	pages=$(grep -c 'ftrace_trampoline.*__builtin__ftrace' /proc/kallsyms)
	echo "executable $1 pages=$((pages + $(sed -n 's/^trampoline pages: *//p' \
		$TRACEFS/ftrace_ops_sets || echo 0)))" >&3
	[ -e $TRACEFS/ftrace_ops_sets ] || return
	sed -n "s/^\([a-z ]*\): *\([0-9]*\)$/\1 \2/p" $TRACEFS/ftrace_ops_sets |
		while read -r line; do
			echo "sets $1 $(echo "${line% *}" | tr ' ' -) value=${line##* }" >&3
		done
}

cd /bench || exit 1
cat /proc/kallsyms > /dev/null
if [ "$LEVEL" = table ]; then
	for n in "0 0" "1 0" "1 100" "2 0" "2 100" "10 0" "10 100"; do
		# shellcheck disable=SC2086
		ops $n ""
	done
	for t in fentry fexit kprobe.multi kretprobe.multi kprobe kretprobe; do
		hits hit $t
	done
elif [ "$LEVEL" = cpus ]; then
	function_tracer function
	for n in 1 1000; do
		hits attach kprobe.multi $n
	done
else
	for on in 0 1 2 10; do
		for elsewhere in 0 10 100; do
			ops "$on" "$elsewhere" ""
		done
	done
	for on in 0 1 2 10; do
		for elsewhere in 0 10 100; do
			ops "$on" "$elsewhere" save_regs save_regs=1
		done
	done
	ops 2 0 assisted assist_recursion=1 assist_rcu=1
	for n in "100 0" "1000 0" "2 1000"; do
		# shellcheck disable=SC2086
		ops $n ""
	done
	# Not on the base, which looks at every function for each that it registers.
	if [ -e $TRACEFS/ftrace_ops_sets ]; then
		for n in "10000 0" "2 10000"; do
			# shellcheck disable=SC2086
			ops $n ""
		done
	fi
	# What a kprobe adds on the pristine base of arm64 was confirmed by single-stepping one
	# call: two BRK exceptions, at the entry and at the end of the slot in which the probed
	# instruction runs.
	for t in fentry fexit fsession fentry.multi fexit.multi fsession.multi fmod_ret.multi \
		fentry.multi-cast fentry.multi-read fentry.multi-info kprobe.multi kprobe.multi-table \
		kretprobe.multi kprobe.session kprobe kretprobe; do
		hits hit $t
	done
	hits hit fentry.multi 2
	hits hit kprobe.multi 2
	others
	for t in function function_graph kprobe fprobe; do
		hits filter $t
	done
	for n in 1 4 10; do
		beside_graphs $n
	done
	for way in function event; do
		hits cgroup $way
	done
	hits hit kprobe.multi-cgroup
	hits attach fentry 1
	for n in 1 100 1000 3000 100000; do
		hits attach fentry.multi $n
	done
	hits attach fentry.multi-casts 3000
	for n in 1 100 1000 100000; do
		hits attach kprobe.multi $n
	done
	for event in "fprobe f:one $EVENT" "kprobe p:one $EVENT"; do
		kind=${event%% *}
		hits write "$kind-create" dynamic_events "${event#* }"
		hits write "$kind-enable" "events/${kind}s/one/enable" 1
		hits write "$kind-disable" "events/${kind}s/one/enable" 0
		hits write "$kind-delete" dynamic_events "-:${kind}s/one"
	done
	function_tracer function
	function_tracer function_graph
	second_function_tracer
	insmod ./ops_bench.ko || exit 1
	many register-one add 0 1
	many unregister-one del 0 1
	# With ten times the functions in the kernel, and no other change.
	insmod ./ops_filler.ko || exit 1
	many register-one-10x add 0 1
	many unregister-one-10x del 0 1
	rmmod ops_filler || exit 1
	many register-1-to-500 add 0 500
	many register-501-to-1000 add 500 500
	sets one
	many register-second-1-to-500 add 1000 500
	many register-second-501-to-1000 add 1500 500
	sets two
	many unregister del 0 2000
	# A function with as many: the n-th, the base's first thousand only
	many one-function-1 one 0 1
	many one-function-2-to-99 one 1 98
	many one-function-100 one 99 1
	many one-function-101-to-999 one 100 899
	many one-function-1000 one 999 1
	# Whose functions none of them traces
	module beside-1000-ops
	last=1000
	if [ -e $TRACEFS/ftrace_ops_sets ]; then
		many one-function-1001-to-9999 one 1000 8999
		many one-function-10000 one 9999 1
		last=10000
	fi
	many one-function-unregister del 0 $last
	# Instances that trace everything but what is there already: that loads the module.
	for n in 0 2 20; do
		instances $n set_ftrace_notrace '*' function
		module "$n-instances"
		instances 0
	done
	# Last: what its buffers took is not free again at once.
	hits sample 1000
fi
exec 3>&-
report bench /tmp/bench/lines
