# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Booted with "ftrace=function stacktrace slab_debug=F": two ops on every function since
# early boot, also on those whose memory is given back after it.
. /job-lib
. /tests/emptied

cd "$TRACEFS" || exit 1
wrong() {
	echo "early: $1"
	[ ! -e ftrace_ops_sets ] || cat ftrace_ops_sets
	exit 1
}

step "early: $(wc -l < enabled_functions) functions"
[ "$(cat current_tracer)" = function ] || wrong "the tracer is $(cat current_tracer)"
both='(2)'
case $(cat /proc/cmdline) in
*ftrace_ops_sets=off*)
	[ ! -e ftrace_ops_sets ] || wrong "ops sets are not off"
	both='(2).*list: {.*} {.*}' ;;
esac
[ ! -e ftrace_ops_sets ] || both='(2).*set: {.*} {.*}'
[ "$(grep -c "$both" enabled_functions)" -gt 10000 ] || wrong "few functions have both"
# What is traced while it is read may push out what is looked for.
echo 0 > tracing_on
grep -q 'vfs_read' trace || wrong "no trace"
echo 1 > tracing_on
# Beside the two, a BPF program may have a function return at once, also where another
# is at its exit. On x86 it gets there by the return register, which the latter clobbers.
beside=
case $(uname -m) in aarch64) beside=fexit ;; esac
case $(cd /bench && ./hits hit fexit) in *error=*) beside= ;; esac
echo 'p:entry wake_up_process' > kprobe_events
on_ftrace=$(grep FTRACE /sys/kernel/debug/kprobes/list)
echo > kprobe_events
for t in kprobe kprobe.multi; do
	for b in '' $beside; do
		# A breakpoint is before the call of ftrace: no fexit runs then.
		[ "$t $b" != "kprobe fexit" ] || [ "$on_ftrace" ] || continue
		said=$(cd /bench && ./hits override $t ${b:+"$b"})
		[ "$said" = "override $t works=1" ] || wrong "with '$b': $said"
	done
done
echo nop > current_tracer
! grep -q 'set:' enabled_functions || wrong "one ops left, and functions with sets"
echo 0 > /proc/sys/kernel/stack_tracer_enabled
emptied enabled_functions || wrong "left traced: $(cat enabled_functions)"

# What frees the memory that a hooked return takes is hooked itself. With "slab_debug"
# no object waits on its CPU to be used again: each is freed, by way of an interrupt.
step "early: every return"
said=$(cd /bench && ./hits attach kretprobe.multi 100000)
case $said in *detach=*) ;; *) wrong "every return: $said" ;; esac

[ -e ftrace_ops_sets ] || exit 0
grep -q '^sets: *0$' ftrace_ops_sets || wrong "sets of nobody"
grep -q '^fallbacks: *0$' ftrace_ops_sets || wrong "callsites fell back"
exit 0
