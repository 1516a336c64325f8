# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Run the kernel's ftracetest, all of it or the tests in TESTS, and report its KTAP.
. /job-lib

# For the tests that attach BPF programs, too.
cat > /tmp/bpf-hold <<- 'END'
	#!/bin/sh
	cd /bench && exec ./hits hold "$@"
END
chmod +x /tmp/bpf-hold
[ ! -x /bench/hits ] || export FTRACETEST_BPF=/tmp/bpf-hold

# Static programs start faster. Those that look for patterns read lists of all
# functions, and there the others are faster.
rm -f /busybox/grep /busybox/sed /busybox/awk
export PATH="/busybox:$PATH:/bench"

cd /selftests/ftrace || exit 1
of=0
for t in ${TESTS:-$(find test.d -name '*.tc')}; do
	of=$((of + 1))
	grep -q '^# flags:.*instance' "$t" && of=$((of + 1))
done
# shellcheck disable=SC2086 # a list of files, or nothing
./ftracetest --ktap --logdir /tmp/logs $TESTS > /tmp/out 2>&1 &
while kill -0 $! 2>/dev/null; do
	sleep 2
	step "$(sed -n 's/^\(not \)\{0,1\}ok \([0-9]*\)/done: \2 of '"$of"':/p' /tmp/out | tail -n 1)"
done
report results /tmp/out

# What a test that failed wrote, for whoever looks into it.
sed -n 's/^not ok \([0-9]*\).*/\1/p' /tmp/out | while read -r n; do
	tail -n 60 /tmp/logs/"$n"-*-log.* > /tmp/why 2>/dev/null
	report "log-$n" /tmp/why
done
exit 0
