#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""The Makefile's commands: workbench.py COMMAND, with ARCH= and the like in the environment."""

import contextlib
import os
import signal
import sys

sys.dont_write_bytecode = True

from wb import bench, bpf, check, clients, deb, demo, guest, kbuild, matrix  # noqa: E402
from wb import rootfs, series, topics  # noqa: E402
from wb.arch import Arch  # noqa: E402
from wb.common import Fail, advice, checkout_lock, say  # noqa: E402


def the_arch():
    return Arch(os.environ.get("ARCH") or "x86_64")


def build():
    series.stands(strict=False)
    kernel = kbuild.build(kbuild.ours(the_arch()))
    say(f"kernel: {kernel.image}")


def shell():
    series.stands(strict=False)
    kernel = kbuild.build(kbuild.ours(the_arch()))
    guest.shell(kernel.arch, kernel.image,
                {**kbuild.guest_files(kernel), **rootfs.bpftrace(kernel.arch)})


def tree():
    series.tree()
    say("build/linux is ready: edit and commit there, then 'make refresh'")


# These run beside others, for as long as they can.
BESIDE = {"shell", "check-bisect", "check-topics"}
COMMANDS = {
    "run": lambda: demo.run(the_arch()),
    "check": check.check,
    "check-debug": check.check_debug,
    "check-storm": lambda: check.check_storm(
        the_arch(), *(os.environ.get(n, "") for n in ("KERNEL", "LENGTH", "SEED"))),
    "check-matrix": lambda: matrix.check_matrix(os.environ.get("V", "")),
    "check-bpf": bpf.check_bpf,
    "check-clients": clients.check_clients,
    "check-bisect": check.check_bisect,
    "check-topics": topics.check_topics,
    "check-base": check.record_base,
    "lint": check.lint_only,
    "test": lambda: check.test_only(the_arch(), os.environ.get("T", "")),
    "bench": bench.bench,
    "build": build,
    "shell": shell,
    "deb": lambda: deb.deb(the_arch(), os.environ.get("CONFIG", "debian")),
    "tree": tree,
    "refresh": series.refresh,
    "series": lambda: series.write_mails(os.environ.get("TOPIC", "")),
    "bump": series.bump,
}


def main():
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(143))
    if len(sys.argv) != 2 or sys.argv[1] not in COMMANDS:
        print(f"usage: workbench.py {'|'.join(COMMANDS)}", file=sys.stderr)
        return 2
    try:
        with contextlib.nullcontext() if sys.argv[1] in BESIDE else checkout_lock():
            return COMMANDS[sys.argv[1]]() or 0
    except BrokenPipeError:  # who read the output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as exc:
        print(f"error: {advice(exc)}", file=sys.stderr)
    except Fail as exc:
        print(f"error: {exc}", file=sys.stderr)
    except KeyboardInterrupt:
        print("\nerror: interrupted; run it again to go on", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
