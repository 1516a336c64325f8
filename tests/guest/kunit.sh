# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Run every KUnit suite the kernel has, built in or as a module, and report
# their KTAP.
. /job-lib

for m in $KUNIT_MODULES; do
	step "loading $m"
	modprobe "$m" || exit 1
done

: > /tmp/ktap
for suite in /sys/kernel/debug/kunit/*; do
	[ -e "$suite/run" ] || continue
	step "KUnit suite ${suite##*/}"
	echo 1 > "$suite/run" || exit 1
	cat "$suite/results" >> /tmp/ktap || exit 1
done
report ktap /tmp/ktap
