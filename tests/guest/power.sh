# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# With every function traced by two, and many returns hooked: suspend as far as it
# goes without hardware, take a CPU away and bring it back, and boot the kernel anew
# by kexec. The kernel after that prints the verdict.
. /job-lib

cd "$TRACEFS" || exit 1
wrong() {
	echo "power: $1"
	exit 1
}

trace_all() { # tracer
	echo "$1" > current_tracer || wrong "no $1 tracer"
	echo 1 > /proc/sys/kernel/stack_tracer_enabled
	# Among them what leads to suspend, to a CPU's end and to kexec.
	echo 'f:power/exits p*%return' > dynamic_events || wrong "no probe of returns"
	echo 'f:power/cpu cpu*%return' >> dynamic_events || wrong "no probe of returns"
	echo 1 > events/power/enable
}

trace_none() {
	echo 0 > events/power/enable
	echo > dynamic_events
	echo 0 > /proc/sys/kernel/stack_tracer_enabled
	echo nop > current_tracer
}

online() { # 0 or 1
	echo "$1" > /sys/devices/system/cpu/cpu1/online || wrong "cpu1 does not go to $1"
}

# A CPU goes offline in its idle loop, which does not return; there are but four.
step "power: an idle task gives back what it hooked"
echo 'r4:power/idle do_idle' > kprobe_events || wrong "no probe of the idle loop"
echo 1 > events/power/idle/enable
for _ in 1 2 3 4 5 6; do
	online 0
	online 1
done
echo 0 > events/power/idle/enable
read -r _ hits misses < kprobe_profile
[ "$hits" -gt 12 ] || wrong "the idle loop has $hits hits"
# Kretprobes without rethook, arm64's on the base, give nothing back.
[ "$misses" = 0 ] || grep -q " __kretprobe_trampoline$" /proc/kallsyms ||
	wrong "the idle loop has $misses misses"
echo > kprobe_events

# A breakpoint there would reset the machine, as a CPU that comes up cannot take it yet.
step "power: no probes before there is an IDT"
for f in start_secondary cr4_init cpu_init_exception_handling load_current_idt \
	native_write_cr4 cr4_update_irqsoff; do
	grep -q " $f\$" /proc/kallsyms || continue
	! echo "p:power/early $f" > kprobe_events 2> /dev/null || wrong "$f can be probed"
	# Events refuse functions that ftrace does not know before kprobes look.
	grep -q "[[:space:]]$f\$" /sys/kernel/debug/kprobes/blacklist || wrong "$f can have a kprobe"
	! grep -qx $f available_filter_functions || wrong "$f can be traced"
done
online 0
online 1

# What a CPU calls after RCU has ceased to wait for it, while probes come and go
step "power: probes of a CPU that dies"
dying=
for f in cpuhp_report_idle_dead cpuhp_ap_report_dead arch_cpu_idle_dead play_dead native_play_dead \
	play_dead_common hlt_play_dead cpu_die cpu_psci_cpu_die smp_call_function_single; do
	! grep -qx $f available_filter_functions || dying="$dying $f"
done
probe_dying() {
	while [ ! -e /tmp/dead ]; do
		for f in $dying; do
			for e in "f:power/f $f" "f:power/f $f%return" "p:power/f $f" "r:power/f $f"; do
				echo "$e" > dynamic_events || return
				echo 1 > events/power/f/enable || return
				sleep 0.1
				echo 0 > events/power/f/enable || return
				echo > dynamic_events || return
			done
		done
	done
}
for f in $dying; do
	echo "p:power/die_$f $f" >> dynamic_events || wrong "no probe of $f"
	echo "f:power/dies_$f $f" >> dynamic_events || wrong "no probe of $f"
done
echo 1 > events/power/enable
online 0
online 1
[ "$(grep -cE ' (die|dies)_cpuhp_ap_report_dead: ' trace)" = 2 ] ||
	wrong "a CPU that dies is not seen"
echo 0 > events/power/enable
echo > dynamic_events
probe_dying &
for _ in $(seq 20); do
	online 0
	online 1
done
touch /tmp/dead
wait $! || wrong "no probe of a CPU that dies"
! grep . enabled_functions || wrong "these are left traced"

echo 0 > /sys/module/suspend/parameters/pm_test_delay
for tracer in function function_graph; do
	step "power: $tracer, suspend"
	trace_all $tracer
	for level in freezer devices platform; do
		echo $level > /sys/power/pm_test
		echo freeze > /sys/power/state || wrong "suspend ($level) with $tracer failed"
	done
	step "power: $tracer, a CPU goes"
	for state in 0 1 0 1; do
		online $state
	done
	echo 0 > tracing_on
	[ "$(head -n 1000 trace | wc -l)" = 1000 ] || wrong "no trace"
	echo 1 > tracing_on
	trace_none
	! grep . enabled_functions || wrong "these are left traced"
done

# Returns are not hooked while the image is made, and only then, also if who opens
# /dev/snapshot leaves it to another, which closes it.
opens_are_seen() { # what
	echo > trace
	: < /dev/null
	grep -q -e "$1" trace
}

pass_snapshot_on() {
	exec 3< /dev/snapshot
	sleep 1 &
	exec 3<&-
	wait
}

hibernate() {
	mkswap /dev/ram0 > /dev/null
	swapon /dev/ram0
	echo 1:0 > /sys/power/resume
	echo 0 > /sys/power/image_size
	echo none > /sys/power/pm_test
	echo test_resume > /sys/power/disk
	for tracer in function function_graph; do
		step "power: $tracer, hibernation"
		trace_all $tracer
		echo disk > /sys/power/state || wrong "hibernation with $tracer failed"
		trace_none
	done
	swapoff /dev/ram0
}

if [ -c /dev/snapshot ]; then
	step "power: /dev/snapshot changes hands"
	echo 'f:power/exits do_file_open%return' > dynamic_events || wrong "no probe of a return"
	echo 1 > events/power/exits/enable
	opens_are_seen "-$$ .* exits:" || wrong "no return is seen"
	pass_snapshot_on
	opens_are_seen "-$$ .* exits:" || wrong "no return is seen after /dev/snapshot was passed on"
	trace_none

	echo $$ > set_ftrace_pid
	echo do_file_open > set_graph_function
	echo function_graph > current_tracer
	opens_are_seen "}" || wrong "the graph tracer sees no return"
	pass_snapshot_on
	opens_are_seen "}" || wrong "the graph tracer sees no return after /dev/snapshot was passed on"
	echo > set_graph_function
	echo > set_ftrace_pid
	trace_none
	[ ! -b /dev/ram0 ] || hibernate
fi

step "power: kexec"
mkdir -p /tmp/next/bin
cp /usr/bin/busybox /tmp/next/bin/
cat > /tmp/next/init <<- 'END'
	#!/bin/busybox sh
	/bin/busybox echo "@@ step the kernel that was booted by kexec"
	/bin/busybox echo "@@ end 0"
	/bin/busybox reboot -f
END
chmod +x /tmp/next/init
(cd /tmp/next && find . | busybox cpio -o -H newc) > /tmp/next.cpio || exit 1
# Debian's arm64 has no kexec_file_load().
kexec -a -l /boot/kernel --initrd=/tmp/next.cpio --command-line="$(cat /proc/cmdline)" ||
	wrong "kexec -l failed"
trace_all function
dmesg -n 1
kexec -e
wrong "kexec -e failed"
