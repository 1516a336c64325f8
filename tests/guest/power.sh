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
[ "$misses" = 0 ] || wrong "the idle loop has $misses misses"
echo > kprobe_events

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
	[ ! -s enabled_functions ] || wrong "functions are traced by nobody"
done

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
kexec -s -l /boot/kernel --initrd=/tmp/next.cpio --command-line="$(cat /proc/cmdline)" || wrong "kexec -l failed"
trace_all function
dmesg -n 1
kexec -e
wrong "kexec -e failed"
