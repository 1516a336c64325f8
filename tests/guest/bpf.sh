# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# The BPF selftests named in TESTS; what they say goes into the report "results".
. /job-lib

mount -t cgroup2 none /sys/fs/cgroup 2>/dev/null
mount -t bpf none /sys/fs/bpf
busybox ip link set lo up
cd /bpf || exit 1
# The sample that one of them loads is sought in a build folder.
mkdir -p /tmp/out/samples
ln -s "/lib/modules/$(uname -r)/kernel/samples/livepatch" /tmp/out/samples/
export KBUILD_OUTPUT=/tmp/out
step "BPF selftests"
# A test that fails does not fail the job: the host compares with the base. Two minutes, what
# the watchdog gives a test unless told otherwise, are too short for an emulated kernel with
# KASAN. The lines of tests tell the host that the guest goes on.
./test_progs -w 800 -a "$TESTS" 2>&1 | tee /tmp/results | grep '^#[0-9]* '
tail -n 1 /tmp/results
report results /tmp/results
