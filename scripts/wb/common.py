# SPDX-License-Identifier: GPL-2.0
"""What every step of the workbench needs: paths, words, running programs."""

import contextlib
import errno
import fcntl
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
LOGS = BUILD / "logs"

# Lines that say why a build or an installation failed.
DECISIVE = re.compile(r"(?i)(\berror\b|undefined reference|\*\*\*|fatal:|No space left|^E: )")


class Fail(Exception):
    """One clear sentence for the user, with the next step in it."""


# What to do about an error of the system, by its number.
ADVICE = {
    errno.ENOSPC: "make room on that disk and run it again",
    errno.EDQUOT: "your quota on that disk is used up; make room and run it again",
    errno.EACCES: "it belongs to another user or is read-only; run this as its owner, "
                  "or have it given to you",
    errno.EPERM: "it belongs to another user or is read-only; run this as its owner, "
                 "or have it given to you",
    errno.EROFS: "that file system is mounted read-only; work in a checkout on another one",
    errno.ENOMEM: "the machine is out of memory; end something else and run it again",
    errno.EMFILE: "too many files are open; raise the limit (ulimit -n) and run it again",
    errno.ENFILE: "too many files are open on this machine; end something else and run it again",
    errno.EIO: "the disk failed to read or write; see dmesg before you go on",
    errno.ETXTBSY: "that program is running; wait for it to end and run it again",
    errno.ENAMETOOLONG: "move this checkout to a folder with a shorter path",
}


def advice(exc):
    """An OSError in words, with what to do about it."""
    what = f"{exc.strerror or exc}{f': {exc.filename}' if exc.filename else ''}"
    if exc.errno == errno.ENOENT and exc.filename:
        name = str(exc.filename)
        step = ("install that program and run it again" if "/" not in name else
                "'make tree' lays out build/linux, 'make clean' drops all of build/ "
                "and what is wrong there"
                if Path(name).is_relative_to(BUILD) else
                "it belongs to this repository; see 'git status'"
                if Path(name).is_relative_to(ROOT) else "give a path that is there")
    else:
        step = ADVICE.get(exc.errno, "this is not foreseen; the logs are in build/logs/")
    return f"{what}; {step}"


def say(text):
    print(f"== {text}", flush=True)


def loud(text):
    print(f"\n!! {text}\n", flush=True)


def read_record(path):
    """A file of KEY=value lines."""
    lines = [ln for ln in path.read_text().splitlines() if ln and ln[0] != "#"]
    return dict(ln.split("=", 1) for ln in lines)


def need_room(gib):
    """Stop early rather than in the middle of writing a tree."""
    BUILD.mkdir(exist_ok=True)
    free = shutil.disk_usage(BUILD).free / 2**30
    if free < gib:
        raise Fail(f"this step wants {gib} GiB of disk below {BUILD}, "
                   f"{free:.1f} are free; make room and run it again")


class Progress:
    """A line that is rewritten on a terminal and repeated now and then in a log."""

    def __init__(self, label):
        self.label, self.tty = label, sys.stdout.isatty()
        self.start = self.last = time.monotonic()

    def show(self, text, final=False):
        now = time.monotonic()
        if not final and now - self.last < (0.5 if self.tty else 20):
            return
        self.last = now
        line = f"   {self.label}: {text} [{now - self.start:.0f} s]"
        if self.tty:
            print(f"\r\033[K{line}", end="\n" if final else "", flush=True)
        else:
            print(line, flush=True)


def decisive(log, count=12):
    lines = Path(log).read_text(errors="replace").splitlines()
    hits = [ln for ln in lines if DECISIVE.search(ln)]
    return "\n".join("   | " + ln[:200] for ln in (hits or lines)[-count:])


def run(cmd, log, label=None, count=None, what="lines", **kw):
    """Run @cmd with its output in build/logs/@log; say how far it is.

    @count is a pattern; lines that match are counted, and the count of the last
    run that went well (kept beside the log) serves as the total.
    """
    LOGS.mkdir(parents=True, exist_ok=True)
    path = LOGS / log
    total_file = path.with_suffix(".count")
    total = int(total_file.read_text()) if total_file.exists() else 0
    pattern = re.compile(count) if count else None
    bar = Progress(label) if label else None
    seen = 0
    with open(path, "w") as out, subprocess.Popen(
            [str(c) for c in cmd], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, errors="replace", **kw) as proc:
        for line in proc.stdout:
            out.write(line)
            if pattern and pattern.search(line):
                seen += 1
            if bar and (seen or not pattern) and line.strip():
                bar.show(f"{seen}{f' of about {total}' if total > seen else ''} {what}"
                         if pattern else line.strip()[:100])
    if proc.returncode:
        raise Fail(f"{label or path.stem} failed (exit {proc.returncode}); "
                   f"log: {path}\n{decisive(path)}")
    if bar:
        bar.show(f"done, {seen} {what}" if pattern else "done", final=True)
    if pattern and seen > total:
        total_file.write_text(str(seen))


def output(cmd, **kw):
    """The standard output of a short program that must succeed."""
    res = subprocess.run([str(c) for c in cmd], stdin=subprocess.DEVNULL, text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, **kw)
    if res.returncode:
        raise Fail(f"'{' '.join(str(c) for c in cmd[:6])}' failed:\n{res.stderr.strip()[-2000:]}")
    return res.stdout


@contextlib.contextmanager
def staging(final):
    """A folder beside @final that becomes it if the block ends well, else nothing."""
    final.parent.mkdir(parents=True, exist_ok=True)
    tmp = Path(tempfile.mkdtemp(prefix=f".{final.name}.", dir=final.parent))
    tmp.chmod(0o755)
    try:
        yield tmp
        if final.exists():
            shutil.rmtree(final)
        tmp.rename(final)
    finally:
        shutil.rmtree(tmp, ignore_errors=True)


@contextlib.contextmanager
def lock(path, why):
    """Only one holder of @path at a time; the others wait."""
    path.parent.mkdir(exist_ok=True)
    # A file of another user can be locked without being written.
    handle = (os.open(path, os.O_RDONLY) if path.exists() else
              os.open(path, os.O_RDWR | os.O_CREAT, 0o666))
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"waiting: {why}")
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def checkout_lock():
    """One command at a time works with build/linux and build/out-*."""
    return lock(BUILD / "workbench.lock", "another command of this checkout is running")


def environment(**extra):
    """The environment for a kernel build: ours must not leak into its Makefiles."""
    drop = {"ARCH", "CONFIG", "MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "T", "RECORD",
            "KERNEL", "LENGTH", "SEED", "LOCALVERSION", "KBUILD_OUTPUT", "CROSS_COMPILE",
            "KCONFIG_ALLCONFIG"}
    env = {k: v for k, v in os.environ.items() if k not in drop}
    return {**env, "LC_ALL": "C", **extra}
