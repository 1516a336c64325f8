# SPDX-License-Identifier: GPL-2.0
"""Boot a kernel in QEMU with a job, and judge what it printed."""

import collections
import itertools
import os
import platform
import re
import selectors
import shlex
import subprocess
import time
from pathlib import Path

from . import rootfs
from .common import BUILD, LOGS, ROOT, Fail, Progress, lock, say

# What must not stand in a console log.
SPLAT = re.compile(
    r"\bBUG\b|WARNING:|\bOops\b|Internal error|Kernel panic|general protection fault"
    r"|Call [Tt]race:|KASAN:|UBSAN:|possible (circular|recursive) locking"
    r"|inconsistent lock state|irq lock inversion"
    r"|INFO: lockdep is turned off|suspicious RCU usage|rcu:? .*(stall|detected)|kthread starved"
    r"|blocked for more than|soft lockup|hard LOCKUP|int3:|(?i:unable to handle)|page fault"
    r"|sleeping function called|scheduling while atomic|refcount_t:|\[ cut here \]"
    r"|\[ ftrace bug \]|ftrace (failed to modify|faulted)|list_(add|del) corruption"
    r"|page allocation failure|Out of memory|unregister_netdevice: waiting")

# Lines that match SPLAT and are no fault; each with its reason.
EXPECTED = [
    # Results of tests whose names speak of faults, from ftracetest and KTAP.
    re.compile(r"^\[\d+\] ?[A-Z(].*\[[A-Z]+\]$|^@@ |^\s*(ok|not ok|#) "),
    # Options of the configuration that the kernel lists at boot.
    re.compile(r"Kernel command line:"),
    # The x86 exceptions' names as their tracepoints; 'exceptions:page_fault_user'.
    re.compile(r"^\s*exceptions:page_fault_(user|kernel)$"),
]

# One for the machine, whatever the checkout.
GUEST_LOCK = Path("/tmp/callsite-ops-guest.lock")
STEP = re.compile(r"@@ step (.*)")


class Result:
    """What a guest printed: the lines, and its reports by name."""

    def __init__(self, lines, log):
        self.lines, self.log = lines, log

    def report(self, name):
        text = "\n".join(self.lines)
        found = re.search(rf"^@@ begin {re.escape(name)}$(.*?)^@@ done {re.escape(name)}$",
                          text, re.M | re.S)
        if not found:
            raise Fail(f"the guest printed no report '{name}'; log: {self.log}")
        return found.group(1).strip("\n")


def splats(lines):
    return [ln for ln in lines if SPLAT.search(ln) and not any(e.search(ln) for e in EXPECTED)]


def command(arch, machine, kernel, initrds, append, smp, memory):
    """The QEMU command line; @machine is the record's TCG or KVM words."""
    # One core a socket: the table that tells an x86 kernel without ACPI has a line a socket.
    return [arch.qemu, *machine.split(), "-smp", f"{smp},sockets={smp}", "-m", memory,
            "-nodefaults", "-no-reboot", "-display", "none", "-monitor", "none", "-serial", "stdio",
            "-kernel", str(kernel), "-initrd", str(initrds),
            "-append", f"console={arch.console} panic=-1 {append}"]


def kvm_works(arch, kernel):
    """Believe a probe boot of @kernel, not the device node; it holds until the host reboots."""
    if platform.machine() != arch.triple.split("-")[0] or not os.access("/dev/kvm", os.W_OK):
        return False
    cache = BUILD / "kvm-probe"
    boot_id = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii")
    if cache.exists() and cache.read_text()[2:] == boot_id:
        return cache.read_text()[0] == "y"
    initrd = BUILD / "probe.initrd"
    pack(initrd, arch, {}, "true\n")
    cmd = command(arch, arch.kvm, kernel, initrd, "", 2, "1G")
    try:
        watch(cmd, LOGS / "kvm-probe.log", Progress("probing KVM"), 30, 15)
        works = True
    except Fail:
        works = False
    say(f"KVM {'works' if works else 'does not work'} here; "
        f"guests run {'on it' if works else 'under emulation'}")
    cache.write_text(f"{'y' if works else 'n'} {boot_id}")
    return works


def pack(initrd, arch, files, job):
    """The guest's archive with this boot's files behind it."""
    over = initrd.with_suffix(".overlay")
    rootfs.overlay(over, {"job-lib": ROOT / "tests/guest/job-lib", **files}, job)
    with open(initrd, "wb") as out:
        for part in (rootfs.image(arch), over):
            out.write(part.read_bytes())


def boot(arch, kernel, job, log, *, files=None, label=None, smp=2, memory="1G", icount=False,
         timeout=600, silence=180, append="", machine=None, paced=False, threads=None):
    """Run @job in a guest; return its Result, or Fail with the decisive lines.

    @files maps paths in the guest to files or folders of the host. @timeout is
    for the whole run, @silence for a console that says nothing. @icount: one
    instruction is one nanosecond of guest time. @paced: likewise, unless KVM
    works: to sleep takes no time of ours, and the clock does not tick
    faster than a kernel that traces all of its functions can handle. For guests
    of one CPU: more would take turns, and each wait until the others had theirs.
    @machine overrides the record's words for QEMU, @threads whether each CPU has a thread
    of the emulator's.
    """
    LOGS.mkdir(parents=True, exist_ok=True)
    path = LOGS / log
    if not kernel.exists():
        raise Fail(f"no kernel at {kernel}; build it first")
    with lock(GUEST_LOCK, "another guest is running; one at a time, or timer calibration breaks"):
        initrd = BUILD / "guest.initrd"
        pack(initrd, arch, files or {}, job)
        kvm = not icount and not machine and kvm_works(arch, kernel)
        paced = paced and not kvm
        cmd = command(arch, machine or (arch.kvm if kvm else arch.tcg), kernel, initrd,
                      f"{append} {arch.paced if paced else ''}", smp, memory)
        if icount or paced:
            cmd += ["-icount", "shift=0,sleep=off"]
        elif not kvm:
            cmd += ["-accel", f"tcg,thread={threads or arch.threads}"]
        return watch(cmd, path, Progress(label or log), timeout, silence)


def watch(cmd, path, bar, timeout, silence):
    """Follow the console until QEMU ends or time runs out; judge it."""
    lines, tail, step, verdict = [], b"", "booting", None
    start = heard = time.monotonic()
    with open(path, "wb", buffering=0) as out, \
            subprocess.Popen(cmd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT) as proc:
        out.write(f"# {shlex.join(cmd)}\n".encode())
        poll = selectors.DefaultSelector()
        poll.register(proc.stdout, selectors.EVENT_READ)
        try:
            while True:
                now = time.monotonic()
                if now - start > timeout or now - heard > silence:
                    why = "ran out of time" if now - start > timeout else "said nothing more"
                    last = collections.deque((ln for ln in lines if ln.strip()), 8)
                    raise Fail(f"{bar.label}: the guest {why} after {now - start:.0f} s, "
                               f"in: {step}; log: {path}\n"
                               + "\n".join("   | " + ln[:200] for ln in last))
                if not poll.select(timeout=1):
                    continue
                chunk = os.read(proc.stdout.fileno(), 65536)
                if not chunk:
                    break
                heard = now
                out.write(chunk)
                *whole, tail = (tail + chunk).split(b"\n")
                for raw in whole:
                    line = raw.decode(errors="replace").rstrip("\r")
                    lines.append(line)
                    found = STEP.search(line)
                    if found:
                        step = found.group(1)
                        bar.show(step)
                    elif line.startswith("@@ end "):
                        verdict = int(line.split()[2])
        finally:
            if proc.poll() is None:
                try:
                    proc.wait(3)
                except subprocess.TimeoutExpired:
                    proc.kill()
    bad = splats(lines)
    if bad:
        at = lines.index(bad[0])
        shown = "\n".join("   | " + ln[:200] for ln in lines[at:at + 25])
        raise Fail(f"{bar.label}: the kernel complained, in: {step}; log: {path}\n{shown}")
    if verdict != 0:
        what = "ended before its job did" if verdict is None else f"job failed (exit {verdict})"
        said = itertools.takewhile(lambda ln: ln != "@@ dmesg", lines)
        last = collections.deque((ln for ln in said if ln.strip()), 12)
        raise Fail(f"{bar.label}: the guest {what}, in: {step}; log: {path}\n"
                   + "\n".join("   | " + ln[:200] for ln in last))
    bar.show("done", final=True)
    return Result(lines, path)


def shell(arch, kernel, files):
    """An interactive shell in the guest."""
    with lock(GUEST_LOCK, "another guest is running"):
        initrd = BUILD / "guest.initrd"
        pack(initrd, arch, files, "")
        machine = arch.kvm if kvm_works(arch, kernel) else arch.tcg
        cmd = command(arch, machine, kernel, initrd, "shell quiet", 2, "2G")
        say("booting; 'exit' or Ctrl-A X ends the guest")
        at = cmd.index("-monitor")
        cmd[at:at + 4] = ["-serial", "mon:stdio"]
        subprocess.run(cmd, check=False)
