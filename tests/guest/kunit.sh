# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Run every KUnit suite the kernel has, built in or as a module. Report the KTAP
# of each under its name, and their names.
. /job-lib

for m in $KUNIT_MODULES; do
	step "loading $m"
	modprobe "$m" || exit 1
done

# Suites that let allocations fail want this for those that may sleep, too, and
# without a stack trace for each.
for f in /sys/kernel/debug/failslab/ignore-gfp-* /sys/kernel/debug/fail_page_alloc/ignore-gfp-*; do
	[ ! -e "$f" ] || echo N > "$f"
done
for f in /sys/kernel/debug/fail*/verbose; do
	[ ! -e "$f" ] || echo 0 > "$f"
done

: > /tmp/suites
for suite in /sys/kernel/debug/kunit/*; do
	[ -e "$suite/run" ] || continue
	step "KUnit suite ${suite##*/}"
	echo 1 > "$suite/run" || exit 1
	cat "$suite/results" > /tmp/results || exit 1
	report "${suite##*/}" /tmp/results
	echo "${suite##*/}" >> /tmp/suites
done
report suites /tmp/suites
