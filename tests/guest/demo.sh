# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# The demonstration: trace a live workload (files, processes, sockets) in every
# way at once, and print what was seen and what each traced callsite runs.
. /job-lib
. /tests/emptied

# Files, processes and sockets, for as long as it takes.
workload() {
	for i in 1 2 3; do
		echo "line $i of a file" > /tmp/demo.txt
		cat /tmp/demo.txt > /dev/null
		ls /usr/bin > /dev/null
	done
	nc -l -p 7777 > /tmp/received &
	until netstat -ltn | grep -q ':7777 '; do
		kill -0 $! || exit 1
		sleep 0.1
	done
	echo "hello over TCP" | nc -w 30 127.0.0.1 7777
	wait $!
	rm -f /tmp/demo.txt
}

need() { # count pattern what
	found=$(grep -cE "$2" /tmp/trace)
	[ "$found" -ge "$1" ] || {
		echo "demo: $3: $found lines of '$2' in the trace, expected $1 or more"
		exit 1
	}
}

cd $TRACEFS || exit 1
step "demo: attaching tracers"
echo 'f:demo/write_in vfs_write file=file->f_path.dentry->d_name.name:string bytes=count' \
	>> dynamic_events || exit 1
# shellcheck disable=SC2016 # the kernel's variables, not the shell's
echo 'f:demo/write_out vfs_write%return done=$retval:s64' >> dynamic_events || exit 1
# shellcheck disable=SC2016
echo 'p:demo/send tcp_sendmsg bytes=$arg3' >> dynamic_events || exit 1

mkfifo /tmp/stop
(cd /bench && ./writers < /tmp/stop > /tmp/writers 2>&1) &
writers=$!
exec 4> /tmp/stop
while ! grep -q attached /tmp/writers; do
	kill -0 $writers 2>/dev/null || { cat /tmp/writers; exit 1; }
	sleep 0.1
done
trace-cmd start -p function -l vfs_write -l do_file_open -l kernel_clone -l tcp_sendmsg \
	-l tcp_connect -e demo > /dev/null || exit 1

step "demo: running the workload"
workload
echo 0 > tracing_on
cat enabled_functions > /tmp/enabled
cat ftrace_ops_sets > /tmp/sets
trace-cmd show > /tmp/trace
exec 4>&-
wait $writers

step "demo: what was seen"
need 3 'vfs_write <-' "function tracer"
need 3 'do_file_open <-' "function tracer"
need 1 'kernel_clone <-' "function tracer"
need 1 'tcp_connect <-' "function tracer"
need 3 'write_in: .*demo.txt' "fprobe at entry, arguments by BTF"
need 3 'write_out: .*done=' "fprobe at exit"
need 1 'send: .*bytes=(15|0xf)$' "kprobe"
grep -q "^sh " /tmp/writers || { echo "demo: the BPF program saw no writes of sh"; exit 1; }

# The first three lines of each kind, in the order in which they were traced.
awk '
	/do_file_open <-/ || /kernel_clone <-/ || /vfs_write <-/ || /tcp_connect <-/ ||
	/write_in: .*demo.txt/ || /write_out:/ || /send:/ {
		kind = $5
		if (seen[kind]++ < 3)
			print
	}' /tmp/trace > /tmp/shown
report trace /tmp/shown
sed '/attached/d' /tmp/writers > /tmp/table
report writers /tmp/table
report enabled /tmp/enabled
report sets /tmp/sets
grep -q '^vfs_write .*set: {.*} {' /tmp/enabled || { echo "demo: vfs_write has no set"; exit 1; }

step "demo: a BPF program as the filter of an instance"
mkdir instances/mine
echo vfs_write > instances/mine/set_ftrace_filter
echo function > instances/mine/current_tracer
/bench/ftrace_filter -c $$ /bench/examples.bpf.o process mine function &
filter=$!
until grep . instances/mine/bpf_filter > /tmp/filtered; do
	kill -0 $filter || exit 1
	sleep 0.1
done
for _ in 1 2 3; do
	echo "by this shell" > /tmp/demo.txt
	sh -c 'echo "by another" > /tmp/demo.txt'
done
grep -v '^#' instances/mine/trace > /tmp/mine
kill $filter
wait $filter
if [ "$(grep -c -e "-$$ .*vfs_write <-" /tmp/mine)" -lt 3 ] || grep -v -e "-$$ " /tmp/mine; then
	echo "demo: the program of the filter let through what it should not, or not what it should:"
	cat /tmp/mine
	exit 1
fi
head -n 3 /tmp/mine >> /tmp/filtered
report filtered /tmp/filtered
echo nop > instances/mine/current_tracer
rmdir instances/mine

step "demo: detaching"
trace-cmd reset > /dev/null 2>&1
echo 0 > events/demo/enable
echo > dynamic_events
emptied enabled_functions || { echo "demo: still traced:"; cat enabled_functions; exit 1; }
exit 0
