# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# The variables of the kernel and of the clients are not the shell's.
# shellcheck disable=SC2016
# Clients as Debian ships them, on a workload whose calls are known: CALLS writes of three
# bytes each to /dev/null. Nobody else writes there, so every client must come to the same
# count. The report "results" is to be the same on every kernel, "times" is for a look.
. /job-lib
. /tests/emptied

cd "$TRACEFS" || exit 1
CALLS=1000
DEPTH=12 # frames of a stack that are compared: what is above differs with the entry code

# In nanoseconds; a guest without a clock begins with 0, which would make it octal.
cat > /tmp/now <<'EOF'
#!/bin/sh
date +%s%N | sed 's/^0*//'
EOF
cat > /tmp/work <<EOF
#!/bin/sh
echo "started=\$(/tmp/now)" > /tmp/worked
dd if=/dev/zero of=/dev/null bs=3 count=$CALLS status=none
echo "ended=\$(/tmp/now)" >> /tmp/worked
EOF
chmod +x /tmp/now /tmp/work
: > /tmp/results
: > /tmp/times
bad=0
started=0 ended=0 # the workload says

wrong() { # client what
	echo "clients: $1: $2"
	tail -n 20 /tmp/out
	bad=1
}

# What a client attached must be gone with it.
gone() { # client
	emptied enabled_functions || wrong "$1" "left behind: $(head -n 5 enabled_functions)"
}

# Run a client on the workload. From its start to that of the workload it attaches, from
# the end of the workload to its own it detaches and prints.
client() { # name command...
	name=$1
	shift
	step "clients: $name"
	rm -f /tmp/worked
	before=$(/tmp/now)
	"$@" > /tmp/out 2>&1 || wrong "$name" "exit $?"
	after=$(/tmp/now)
	if [ -e /tmp/worked ]; then
		# shellcheck source=/dev/null
		. /tmp/worked
		echo "$name attach=$((started - before)) detach=$((after - ended))" >> /tmp/times
	else
		wrong "$name" "the workload did not run"
	fi
}

# Note what a client told, and complain if that is nothing, or not what was expected.
told() { # name value expected
	echo "$1: $2" >> /tmp/results
	if [ -z "$2" ] || [ "$2" != "${3-$2}" ]; then
		wrong "$1" "told '$2'${3:+, expected $3}"
	fi
	gone "$1"
}

# Names of functions, innermost first, of the first stack in the file: a line for each, with
# an address before it or an offset after it. What is in there of the tracing itself is
# each kernel's own.
stack() { # file
	awk -v depth="$DEPTH" '
		/^[ \t]*(=> )?([0-9a-f]+ )?[[:alpha:]_][[:alnum:]_.]*(\+[0-9a-fx]+)?( \(.*\))?$/ {
			sub(/=> /, "")
			name = $1 ~ /^[0-9a-f]+$/ && NF > 1 ? $2 : $1
			sub(/\+.*/, "", name)
			seen = seen || name == "write_null" || name == "vfs_write"
			if (seen && n++ < depth)
				names = names " " name
			next
		}
		n { exit }
		END { print substr(names, 2) }' "$1"
}

# --- bpftrace ----------------------------------------------------------------

bpftrace_told() { # name program expected
	client "bpftrace $1" bpftrace -c '/bin/sh /tmp/work' -e "$2"
	told "bpftrace $1" "$(sed -n 's/^@: //p' /tmp/out)" "$3"
}

bpftrace_stack() { # name probe
	client "bpftrace $1" bpftrace -c '/bin/sh /tmp/work' -e "$2 { @[kstack] = count(); }"
	stack /tmp/out > /tmp/stack
	told "bpftrace $1" "$(cat /tmp/stack)"
	grep -q "^\]: $CALLS$" /tmp/out || wrong "bpftrace $1" "not one stack, $CALLS times"
}

bpftrace_told kprobe 'kprobe:write_null { @ = sum(arg2); }' $((3 * CALLS))
bpftrace_told kretprobe 'kretprobe:write_null { @ = sum(retval); }' $((3 * CALLS))
bpftrace_told 'kprobe and kretprobe' 'kprobe:write_null { @s[curtask] = arg2; }
	kretprobe:write_null /@s[curtask] == retval/ { @ = count(); delete(@s[curtask]); }' $CALLS
bpftrace_told 'kprobe:vfs_*' \
	'kprobe:vfs_* /comm == "dd" && probe == "kprobe:vfs_write"/ { @ = count(); }' $CALLS
bpftrace_told 'kretprobe:vfs_*' 'kretprobe:vfs_* /comm == "dd" && retval == 3/ { @ = count(); }' \
	$((2 * CALLS))
bpftrace_told fentry 'fentry:write_null { @ = sum(args.count); }' $((3 * CALLS))
bpftrace_told fexit 'fexit:write_null { @ = sum(retval); }' $((3 * CALLS))
bpftrace_told tracepoint 'tracepoint:syscalls:sys_enter_write /comm == "dd"/ { @ = count(); }' \
	$CALLS
bpftrace_stack 'stack of a kprobe' kprobe:write_null
bpftrace_stack 'stack of a kretprobe' kretprobe:write_null
bpftrace_stack 'stack of kprobe:*' 'kprobe:write_nul*'
bpftrace_stack 'stack of kretprobe:*' 'kretprobe:write_nul*'
bpftrace_stack 'stack of an fentry' fentry:write_null
bpftrace_stack 'stack of an fexit' fexit:write_null

# --- perf --------------------------------------------------------------------

step "clients: perf probe"
perf probe -q -a write_null > /tmp/out 2>&1 || wrong "perf probe" "exit $?"
perf probe -q -a 'write_null%return ret=$retval' > /tmp/out 2>&1 || wrong "perf probe" "exit $?"
for e in write_null write_null__return; do
	client "perf stat -e probe:$e" perf stat -x, -o /tmp/stat -e "probe:$e" /tmp/work
	told "perf stat -e probe:$e" "$(awk -F, '/probe:/ { print $1 }' /tmp/stat)" $CALLS
	client "perf record -e probe:$e" perf record -q -g -e "probe:$e" -o /tmp/perf.data /tmp/work
	perf script -i /tmp/perf.data -F comm,event,ip,sym > /tmp/script 2> /tmp/out
	told "perf record -e probe:$e" "$(grep -c "^dd .*probe:$e:" /tmp/script)" $CALLS
	told "perf record -e probe:$e, stack" "$(stack /tmp/script)"
done
perf script -i /tmp/perf.data -F event,trace > /tmp/script 2> /tmp/out
told "perf record, the return's value" "$(grep -c 'ret=0x3$' /tmp/script)" $CALLS
step "clients: perf probe -d"
perf probe -q -d 'write_null*' > /tmp/out 2>&1 || wrong "perf probe -d" "exit $?"
told "perf probe -d" "$(grep -c . dynamic_events)" 0

client 'perf ftrace trace' perf ftrace trace -a -T write_null -- /tmp/work
told 'perf ftrace trace' "$(grep -c ' dd-.*write_null <-vfs_write' /tmp/out)" $CALLS
client 'perf ftrace trace -G' perf ftrace trace -a -G write_null -- /tmp/work
told 'perf ftrace trace -G' "$(grep -cE ' write_null\(\)( |;)' /tmp/out)" $CALLS
client 'perf ftrace latency' perf ftrace latency -a -T write_null -- /tmp/work
told 'perf ftrace latency' "$(awk -F'|' '/us \|| ms \|/ { n += $2 } END { print n }' /tmp/out)" \
	$CALLS
client 'perf ftrace profile' perf ftrace profile -a -T write_null -- /tmp/work
told 'perf ftrace profile' "$(awk '$NF == "write_null" { print $(NF - 1) }' /tmp/out)" $CALLS
client 'perf record -e ftrace:function' perf record -q -a -e ftrace:function \
	--filter 'ip == write_null' -o /tmp/perf.data /tmp/work
perf script -i /tmp/perf.data -F comm,event > /tmp/script 2> /tmp/out
told 'perf record -e ftrace:function' "$(grep -c '^ *dd .*ftrace:function:' /tmp/script)" $CALLS
client 'perf trace' perf trace -e write -o /tmp/perf.trace /tmp/work
told 'perf trace' "$(grep -c 'dd/.*write(.*count: 3).*= 3$' /tmp/perf.trace)" $CALLS

# --- trace-cmd ---------------------------------------------------------------

trace_cmd_told() { # name pattern options...
	what="trace-cmd $1"
	pattern=$2
	shift 2
	client "$what" trace-cmd record -q -o /tmp/trace.dat "$@" /tmp/work
	trace-cmd report -q -i /tmp/trace.dat > /tmp/report 2> /tmp/out
	told "$what" "$(grep -cE "$pattern" /tmp/report)" $CALLS
	trace-cmd reset > /tmp/out 2>&1
}

trace_cmd_told 'record -p function' '^ +dd-.* write_null <-|^ +dd-.*function: +write_null' \
	-p function -l write_null
trace_cmd_told 'record -p function --func-stack' '^ +dd-.*function: +write_null' \
	-p function -l write_null --func-stack
told 'trace-cmd record --func-stack, stack' "$(stack /tmp/report)"
trace_cmd_told 'record -p function_graph' 'dd-.* write_null\(' \
	-p function_graph -l write_null
trace_cmd_told 'record -e' 'dd-.* sys_enter_write:' -e syscalls:sys_enter_write

client 'trace-cmd start, all functions' sh -c 'trace-cmd start -p function && trace-cmd stop &&
	trace-cmd start -p nop && /tmp/work && trace-cmd reset'
gone 'trace-cmd start'

# --- libbpf-tools ------------------------------------------------------------

# One of those that run until they are interrupted, and print a line first.
tool() { # command...
	name=$1
	step "clients: $name"
	: > /tmp/out
	before=$(/tmp/now)
	env --default-signal=INT stdbuf -oL "$@" > /tmp/out 2>&1 &
	pid=$!
	until [ -s /tmp/out ] || ! kill -0 $pid; do
		sleep 0.02
	done
	/tmp/work
	# shellcheck source=/dev/null
	. /tmp/worked
	sleep 1
	stopped=$(/tmp/now)
	kill -INT $pid || wrong "$name" "ended before it was interrupted"
	wait $pid
	after=$(/tmp/now)
	echo "$name attach=$((started - before)) detach=$((after - stopped))" >> /tmp/times
}

tool funclatency-libbpf write_null
told funclatency-libbpf "$(awk '$2 == "->" { n += $5 } END { print n }' /tmp/out)" $CALLS
tool execsnoop-libbpf
told execsnoop-libbpf "$(grep -c '^dd ' /tmp/out)" 1
tool opensnoop-libbpf -n dd
told opensnoop-libbpf "$(grep -c '/dev/null$' /tmp/out)" 1
# It loses most of what comes so fast.
tool ksnoop-libbpf trace 'write_null(count)'
told ksnoop-libbpf "$(grep -m 1 -o '(size_t)3$' /tmp/out)"
tool klockstat-libbpf
grep -q '[0-9]' /tmp/out || wrong klockstat-libbpf "told nothing"
gone klockstat-libbpf
tool vfsstat-libbpf
grep -q '[0-9]' /tmp/out || wrong vfsstat-libbpf "told nothing"
gone vfsstat-libbpf

report results /tmp/results
report times /tmp/times
[ "$bad" = 0 ] || tail -n +1 /tmp/out
exit $bad
