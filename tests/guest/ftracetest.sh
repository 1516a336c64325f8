# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Run the kernel's ftracetest, all of it or the tests in TESTS, and report one
# line for each: number, instance, description and result.
. /job-lib

cd /selftests/ftrace || exit 1
# shellcheck disable=SC2086 # a list of files, or nothing
./ftracetest --logdir /tmp/logs $TESTS > /tmp/out 2>&1 &
while kill -0 $! 2>/dev/null; do
	sleep 2
	step "ftracetest $(grep -E '^\[[0-9]+\]' /tmp/out | tail -n 1 | tr '\t' ' ')"
done
report results /tmp/out

# What a test that failed wrote, for whoever looks into it.
sed -n 's/^\[\([0-9]*\)\].*\[FAIL\]$/\1/p' /tmp/out | while read -r n; do
	tail -n 60 /tmp/logs/"$n"-*-log.* > /tmp/why 2>/dev/null
	report "log-$n" /tmp/why
done
exit 0
