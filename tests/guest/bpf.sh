# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# The BPF selftests named in TESTS; what they say goes into the report "results".
. /job-lib

mount -t cgroup2 none /sys/fs/cgroup 2>/dev/null
busybox ip link set lo up
cd /bpf || exit 1
# The sample that one of them loads is sought in a build folder.
mkdir -p /tmp/out/samples
ln -s "/lib/modules/$(uname -r)/kernel/samples/livepatch" /tmp/out/samples/
export KBUILD_OUTPUT=/tmp/out
step "BPF selftests"
# A test that fails is no failure of the job: the host compares with the base. Its watchdog
# gives a test two minutes, too little for an emulated kernel with KASAN. Each test's line is
# a sign of life.
./test_progs -w 800 -a "$TESTS" 2>&1 | tee /tmp/results | grep '^#[0-9]* '
tail -n 1 /tmp/results
report results /tmp/results
