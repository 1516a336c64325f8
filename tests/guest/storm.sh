# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# The turns are called by their names, and lists of words are meant to be split.
# shellcheck disable=SC2086,SC2317
# Everything that attaches to functions comes and goes at random, all of it at once, on
# two CPUs that come and go as well. Whatever that leaves behind is a fault. The job gives
# LENGTH and SEED. Each actor below takes its choices from a random sequence of its
# own, so that a seed repeats them; how the actors interleave it cannot repeat.
. /job-lib
. /tests/emptied

cd "$TRACEFS" || exit 1
SAMPLES=$(echo /usr/lib/modules/*/kernel/samples)
wrong() {
	echo "storm: $1"
	bad=1
}

# --- chance ------------------------------------------------------------------

random() { # n: sets $random to one of 0 .. n - 1
	chance=$(((chance * 1103515245 + 12345) & 0x7fffffff))
	random=$(((chance >> 12) % $1))
}

pick() { # words: sets $picked to one of them
	random $#
	shift "$random"
	picked=$1
}

pick_function() {
	random "$functions"
	eval "picked=\$function_$random"
}

# Up to @1 tenths of a second.
pause() {
	random "$1"
	sleep "$((random / 10)).$((random % 10))"
}

# Do @2.. and count under @1 whether it was done or refused; most may be refused.
try() { # what command
	what=$1
	shift
	if "$@" 2> /dev/null; then
		eval "done_$what=\$((done_$what + 1))"
	else
		eval "refused_$what=\$((refused_$what + 1))"
		return 1
	fi
}

# The shell's own echo writes, so it costs no fork.
write() { # text file
	echo "$1" > "$2"
}

append() {
	echo "$1" >> "$2"
}

# --- the actors: one turn of each ----------------------------------------------

# Functions of modules that the samples below load and unload.
MODULE_FUNCTIONS="do_simple_thread_func simple_thread alloc_work_func dummy_alloc dummy_check
	cleanup_work_func busymod_work_func my_direct_func tracee_relevant"
GLOBS="vfs_* mutex_* *_write kmem_cache_* schedule* do_* wake_up_* *lock* __x64_sys_* __arm64_sys_*
	free_* hrtimer_* rcu_* sched_* security_* tick_* dummy_*"

event() { # definition: an event of its own comes, is used, and goes
	try "$actor" append "$1" dynamic_events || return
	at=events/storm/$actor
	random 3
	[ "$random" != 0 ] || write stacktrace "$at/trigger" 2> /dev/null
	random 3
	[ "$random" != 0 ] || write 'common_pid > 50' "$at/filter" 2> /dev/null
	try "$actor" write 1 "$at/enable"
	pause 8
	random 3
	[ "$random" = 0 ] || write 0 "$at/enable" || wrong "$1 cannot be disabled"
	write 0 "$at/enable"
	write '!stacktrace' "$at/trigger" 2> /dev/null
	append "-:storm/$actor" dynamic_events || wrong "$1 cannot be removed"
}

turn_kprobe() {
	pick_function
	f=$picked
	pick "p:storm/$actor $f" "p:storm/$actor $f" "p:storm/$actor $f+4" "p:storm/$actor $f+8" \
		"r:storm/$actor $f \$retval" "r3:storm/$actor $f" "r:storm/$actor $f"
	event "$picked"
}

turn_fprobe() {
	pick_function
	f=$picked
	pick "$f" "$f" "$f%return" "$f%return \$retval" "$f \$arg*" glob glob-return module module-return
	case $picked in
	glob*) r=${picked#glob}; pick $GLOBS ;;
	module*) r=${picked#module}; pick $MODULE_FUNCTIONS ;;
	*) r= ;;
	esac
	event "f:storm/$actor $picked${r:+%return}"
}

turn_tprobe() {
	pick sched_switch sched_waking irq_handler_entry sys_enter softirq_entry foo_bar
	event "t:storm/$actor $picked"
}

turn_instance() {
	d=instances/$actor
	try "$actor" mkdir "$d" || return
	for _ in 1 2 3; do
		pick $GLOBS
		g=$picked
		pick_function
		pick "$g" "$picked" "$picked"
		append "$picked" "$d/set_ftrace_filter" 2> /dev/null
	done
	random 3
	[ "$random" != 0 ] || write '*lock*' "$d/set_ftrace_notrace" 2> /dev/null
	random 2
	[ "$random" != 0 ] || write $$ "$d/set_ftrace_pid"
	pick 0 0 1
	write "$picked" "$d/options/function-fork"
	pick function function function_graph
	try "$actor" write "$picked" "$d/current_tracer"
	pause 8
	pick_function
	append "$picked" "$d/set_ftrace_filter" 2> /dev/null
	pick function function_graph nop
	try "$actor" write "$picked" "$d/current_tracer"
	pause 5
	pick '' 1 "$$"
	write "$picked" "$d/set_ftrace_pid" 2> /dev/null
	pick_function
	! try "$actor" write "$picked:traceoff:3" "$d/set_ftrace_filter" ||
		write "!$picked:traceoff:3" "$d/set_ftrace_filter" || wrong "$picked:traceoff:3 cannot be removed"
	random 2
	[ "$random" = 0 ] || write nop "$d/current_tracer"
	rmdir "$d" || wrong "$d cannot be removed"
}

turn_tracer() {
	pick_function
	write "$picked" set_graph_function 2> /dev/null
	pick $GLOBS
	try "$actor" write "$picked" set_ftrace_filter
	pick function function_graph function_graph nop
	try "$actor" write "$picked" current_tracer
	pause 10
	pick_function
	f=$picked
	pick traceon traceoff snapshot stacktrace:5 "enable_event:sched:sched_switch" \
		"disable_event:sched:sched_switch"
	# A command with a count is removed only by its name with a count.
	! try "$actor" append "$f:$picked" set_ftrace_filter ||
		append "!$f:$picked" set_ftrace_filter || wrong "$f:$picked cannot be removed"
	random 3
	[ "$random" != 0 ] || write '' set_ftrace_filter # all functions
	pause 4
	write nop current_tracer
	write '' set_ftrace_filter
	write '' set_graph_function
	write 1 tracing_on
}

turn_profiler() {
	try "$actor" write 1 function_profile_enabled
	pause 8
	cat trace_stat/function* > /dev/null
	try "$actor" write 0 function_profile_enabled
	pause 20
}

turn_stacktracer() {
	pick $GLOBS '*'
	write "$picked" stack_trace_filter 2> /dev/null
	try "$actor" write 1 /proc/sys/kernel/stack_tracer_enabled
	pause 8
	cat stack_trace > /dev/null
	write 0 stack_max_size
	try "$actor" write 0 /proc/sys/kernel/stack_tracer_enabled
	write '*' stack_trace_filter
	pause 20
}

turn_sample() {
	pick_function
	f=$picked
	# What they print of each hit stays in the kernel's log, so these get functions that
	# are seldom called.
	pick ftrace/ftrace-direct ftrace/ftrace-direct-too ftrace/ftrace-direct-modify \
		ftrace/ftrace-direct-multi ftrace/ftrace-direct-multi-modify \
		kprobes/kprobe_example kprobes/kretprobe_example fprobe/fprobe_example \
		trace_events/trace-events-sample trace_printk/trace-printk ftrace/ftrace-ops
	m=$picked
	case $m in
	*/kprobe_example) with="symbol=cmdline_proc_show" ;;
	*/kretprobe_example) with="func=cmdline_proc_show" ;;
	*/fprobe_example) with="symbol=$f stackdump=0 use_trace=1" ;;
	*/ftrace-ops) with="nr_function_calls=1000 nr_ops_relevant=3 nr_ops_irrelevant=3 persist=1" ;;
	*) with= ;;
	esac
	try "$actor" insmod "$SAMPLES/$m.ko" $with || return
	pause 12
	unload "${m##*/}"
}

unload() { # module
	n=0
	going=$(echo "$1" | tr - _)
	until try "$actor" rmmod "$going"; do
		[ -e "/sys/module/$going" ] || break
		n=$((n + 1))
		[ $n -lt 300 ] || { wrong "$going cannot be unloaded"; break; }
		sleep 1
	done
}

turn_livepatch() {
	pick livepatch-sample livepatch-callbacks-demo livepatch-shadow-fix1
	m=$picked
	case $m in
	*-demo) target=livepatch-callbacks-busymod ;;
	*-fix1) target=livepatch-shadow-mod ;;
	*) target= ;;
	esac
	random 2
	[ -z "$target" ] || [ "$random" = 0 ] || try "$actor" insmod "$SAMPLES/livepatch/$target.ko"
	try "$actor" insmod "$SAMPLES/livepatch/$m.ko" &&
		at=/sys/kernel/livepatch/$(echo "$m" | tr - _)
	[ -z "$target" ] || [ "$random" = 1 ] || try "$actor" insmod "$SAMPLES/livepatch/$target.ko"
	pause 20
	cat /proc/cmdline > /dev/null
	[ -z "$target" ] || [ ! -e "/sys/module/$(echo $target | tr - _)" ] ||
		[ "$random" = 1 ] || unload "$target"
	n=0
	until [ ! -e "$at" ]; do
		write 0 "$at/enabled" 2> /dev/null
		n=$((n + 1))
		[ $n -lt 600 ] || {
			wrong "$m cannot be taken out"
			cat /sys/kernel/livepatch/*/transition
			break
		}
		sleep 0.5
	done
	unload "$m"
	[ -z "$target" ] || [ ! -e "/sys/module/$(echo $target | tr - _)" ] || unload "$target"
}

turn_hotplug() {
	cpu=/sys/devices/system/cpu/cpu1/online
	try "$actor" write 0 $cpu
	pause 10
	try "$actor" write 1 $cpu || wrong "cpu1 does not come back"
	pause 40
}

turn_reader() {
	for p in /proc/[0-9]*; do
		cat "$p/stack" "$p/wchan" > /dev/null 2>&1
	done
	for f in enabled_functions touched_functions ftrace_ops_sets kprobe_profile dynamic_events \
		set_ftrace_filter /sys/kernel/debug/kprobes/list; do
		[ ! -e $f ] || try "$actor" cat $f > /dev/null
	done
	head -n 300 trace > /dev/null
	for d in instances/*; do
		head -n 50 "$d/trace" > /dev/null 2>&1
	done
	write '' trace
	pause 5
}

turn_hits() {
	pick fentry fexit fentry.multi fexit.multi fsession.multi kprobe.multi kretprobe.multi \
		kprobe.session kprobe kretprobe
	t=$picked
	case $t in
	*.multi | *.session) pick 1 20 500 ;;
	*) pick 1 5 ;;
	esac
	said=$(cd /bench && ./hits attach "$t" "$picked" 2>&1)
	case $said in
	*detach=*) try "$actor" true ;;
	*) try "$actor" false ;;
	esac
	pause 5
}

# A BPF program filters an instance of another actor, which may go meanwhile, or the top one.
turn_filter() {
	pick "$TRACEFS" instances/*
	d=$picked
	pick function graph function,graph,graph_return kprobe,fprobe,tprobe \
		function,graph,kprobe,fprobe,tprobe,eprobe,uprobe
	what=$picked
	pick "-c 7 sample" "-c $$ process" "-c 1 cgroup" "-c 0 errors"
	random 15
	try "$actor" /bench/ftrace_filter ${picked% *} /bench/examples.bpf.o ${picked##* } "$d" \
		"$what" sleep "$((random / 10)).$((random % 10))"
	pause 3
}

turn_bpftrace() {
	pick_function
	f=$picked
	hist='{ @ = hist(nsecs - @s[curtask]); delete(@s[curtask]); }'
	pick 'kprobe:vfs_* { @[probe] = count(); }' 'kprobe:vfs_read { @[kstack] = count(); }' \
		'kretprobe:vfs_read { @ = hist(retval); }' 'kretprobe:vfs_* { @[func] = count(); }' \
		'fentry:vfs_open { @[comm] = count(); }' 'fexit:vfs_read { @ = hist(retval); }' \
		"kprobe:$f { @ = count(); } kretprobe:$f { @r = count(); }" \
		'kprobe:do_exit { @[comm] = count(); } kretprobe:wake_up_new_task { @r = count(); }' \
		"kprobe:schedule { @s[curtask] = nsecs; } kretprobe:schedule /@s[curtask]/ $hist" \
		'tracepoint:sched:sched_switch { @[kstack(5)] = count(); }' \
		'profile:hz:49 { @[kstack] = count(); }'
	try "$actor" bpftrace -e "$picked interval:s:2 { exit(); }" > /tmp/bpftrace.out 2>&1 ||
		{ echo "$picked"; cat /tmp/bpftrace.out; } > /tmp/bpftrace.refused
	pause 10
}

# What is to be traced.
turn_load() {
	find /proc/self /sys/kernel /usr/share -maxdepth 3 > /dev/null 2>&1
	for _ in 1 2 3 4 5; do
		/bin/true
		sh -c 'echo x | cat > /dev/null'
	done
	cat /proc/cmdline /proc/meminfo > /dev/null
	try "$actor" dd if=/dev/zero of="/tmp/$actor.file" bs=4k count=50 status=none
	rm -f "/tmp/$actor.file"
}

# --- all together --------------------------------------------------------------

act() { # name kind number
	actor=$1
	chance=$(((SEED * 7919 + $3 * 104729) & 0x7fffffff))
	random 2
	eval "done_$actor=0 refused_$actor=0"
	bad=0
	# One turn has to succeed; the wait for all actors has an end.
	while [ ! -e /tmp/stop ] || eval "[ \$done_$actor = 0 ]"; do
		"turn_$2"
	done
	eval "echo \"storm: \$actor: \$done_$actor done, \$refused_$actor refused\"" > "/tmp/acted/$actor"
	[ $bad = 0 ] || echo "storm: $actor failed" >> "/tmp/acted/$actor"
	exit $bad
}

echo "storm: seed $SEED, $LENGTH seconds, $(nproc) CPUs"
# KASAN walks the stack whenever memory is allocated or freed. With all that this calls
# traced as well, and emulated, a task waits for its CPU longer than the watchdogs grant.
if grep -q ' kasan_save_stack$' /proc/kallsyms; then
	set -f
	for pattern in kasan_* __kasan_* stack_trace_* stack_depot_* depot_* unwind_* __unwind* \
		orc_* *kunwind* arch_stack_walk* stack_access_ok get_stack_info* *in_*_stack \
		ftrace_graph_ret_addr*; do
		echo "$pattern" >> set_ftrace_notrace 2> /dev/null # some are of another architecture
	done
	set +f
	write 60 /proc/sys/kernel/watchdog_thresh
	write 120 /sys/module/rcupdate/parameters/rcu_cpu_stall_timeout
	write 600 /proc/sys/kernel/hung_task_timeout_secs
fi
bad=0
# Functions that are called all the time, and others.
{
	printf '%s\n' schedule wake_up_process try_to_wake_up vfs_read vfs_write vfs_open do_exit \
		kernel_clone handle_mm_fault kfree mutex_lock mutex_unlock dput path_openat \
		do_file_open __fput begin_new_exec exit_mm release_task hrtimer_interrupt rcu_core \
		__alloc_frozen_pages_noprof cmdline_proc_show
	# Of those left out above one alone is too much, if each hit of another takes a stack trace.
	sed 's/ .*//' set_ftrace_notrace > /tmp/left-out
	grep -v '\[' available_filter_functions | grep -vxFf /tmp/left-out | awk -v seed="$SEED" '
		BEGIN { srand(seed) }
		rand() < 0.02 { print $1 }'
} > /tmp/functions
functions=0
while read -r f; do
	eval "function_$functions=\$f"
	functions=$((functions + 1))
done < /tmp/functions
echo "storm: $functions functions to choose from"

ACTORS=${ACTORS:-kprobe kprobe fprobe fprobe tprobe instance instance instance tracer profiler
	stacktracer sample sample livepatch hotplug reader hits bpftrace filter filter load load}
rm -rf /tmp/acted /tmp/stop
mkdir /tmp/acted
n=0
pids=
for kind in $ACTORS; do
	n=$((n + 1))
	(act "${kind}_$n" "$kind" $n) &
	pids="$pids $!"
	eval "actor_$!=${kind}_$n"
done

now() {
	read -r up _ < /proc/uptime
	now=${up%.*}
}
now
start=$now
end=$((now + LENGTH))
while [ "$now" -lt "$end" ]; do
	step "storm: second $((now - start)) of $LENGTH, seed $SEED"
	sleep 5
	now
done

step "storm: its end, seed $SEED"
touch /tmp/stop
end=$((now + ${END:-1500}))
for p in $pids; do
	while [ -e "/proc/$p" ] && [ "$now" -lt "$end" ] && ! grep -q '^State:.Z' "/proc/$p/status"; do
		sleep 1
		now
		[ $((now % 10)) != 0 ] || step "storm: its end: waiting for $(eval echo "\$actor_$p"), seed $SEED"
	done
done
for p in $pids; do
	name=$(eval echo "\$actor_$p")
	if [ -e "/tmp/acted/$name" ]; then
		cat "/tmp/acted/$name"
		wait "$p" || bad=1
	else
		wrong "$name hangs"
		hang=1
	fi
done
if [ "${hang:-}" ]; then
	for p in /proc/[0-9]*; do
		! grep -q '^worker_thread' "$p/stack" || continue
		grep -hE '^(Name|State|Pid|PPid)' "$p/status" | tr '\n' ' '
		tr '\0' ' ' < "$p/cmdline" | head -c 100
		echo
		cat "$p/stack"
	done
	cat /proc/timer_list
	cat /proc/interrupts
	echo l > /proc/sysrq-trigger
	sleep ${HANG_SLEEP:-5}
	exit 1
fi
[ ! -e /tmp/bpftrace.refused ] || {
	echo "storm: bpftrace's last refusal:"
	head -n 5 /tmp/bpftrace.refused
}

# --- what is left ----------------------------------------------------------------

! grep -q . dynamic_events || wrong "events are left: $(cat dynamic_events)"
! grep -q . kprobe_events || wrong "kprobe events are left: $(cat kprobe_events)"
[ "$(echo instances/*)" = 'instances/*' ] || wrong "instances are left: $(echo instances/*)"
[ "$(cat current_tracer)" = nop ] || wrong "the tracer is $(cat current_tracer)"
! grep -q . /proc/modules || wrong "modules are left: $(cat /proc/modules)"
emptied enabled_functions || wrong "left traced: $(head -n 20 enabled_functions)"
emptied /sys/kernel/debug/kprobes/list ||
	wrong "kprobes are left: $(cat /sys/kernel/debug/kprobes/list)"
[ "$(nproc)" = 2 ] || wrong "a CPU is missing"
taint=$(cat /proc/sys/kernel/tainted)
# A proprietary module, a forced one, a machine check, a bad page, a death, a warning, a lockup.
[ $((taint & (1 | 2 | 8 | 16 | 32 | 128 | 512 | 16384))) = 0 ] ||
	wrong "the kernel is tainted: $taint"
if [ -e ftrace_ops_sets ]; then
	cat ftrace_ops_sets
	for what in sets 'list walks' fallbacks; do
		grep -q "^$what: *0$" ftrace_ops_sets || wrong "there are $what"
	done
fi
# And ftrace works as before. Going, an event takes along what was traced of it.
works() { # what pattern
	cat /proc/cmdline > /dev/null
	grep -q "$2" trace && return
	wrong "$1 is dead"
	grep . tracing_on set_ftrace_pid set_event_pid set_ftrace_filter set_ftrace_notrace \
		tracing_cpumask buffer_size_kb trace_clock /proc/sys/kernel/ftrace_enabled
	head -n 20 trace
}
write '' trace
write 1 tracing_on
write cmdline_proc_show set_ftrace_filter
write function current_tracer
works ftrace 'cmdline_proc_show <-'
write nop current_tracer
write '' set_ftrace_filter
write 'r:storm/last cmdline_proc_show' dynamic_events
write 1 events/storm/last/enable
works kretprobes 'last: (.*cmdline_proc_show'
write 0 events/storm/last/enable
write '' dynamic_events
exit $bad
