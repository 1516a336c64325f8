#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""The commands behind the Makefile: workbench.py COMMAND, with ARCH= and the like in the environment."""

import os
import signal
import sys

sys.dont_write_bytecode = True

from wb import bench, bpf, check, deb, demo, guest, kbuild, matrix, series  # noqa: E402
from wb.arch import Arch  # noqa: E402
from wb.common import BUILD, Fail, lock, say  # noqa: E402


def the_arch():
    return Arch(os.environ.get("ARCH") or "x86_64")


def build():
    series.stands(strict=False)
    kernel = kbuild.build(kbuild.ours(the_arch()))
    say(f"kernel: {kernel.image}")


def shell():
    series.stands(strict=False)
    kernel = kbuild.build(kbuild.ours(the_arch()))
    guest.shell(kernel.arch, kernel.image, kbuild.guest_files(kernel))


def tree():
    series.tree()
    say("build/linux is ready: edit and commit there, then 'make refresh'")


COMMANDS = {
    "run": lambda: demo.run(the_arch()),
    "check": check.check,
    "check-debug": check.check_debug,
    "check-matrix": lambda: matrix.check_matrix(os.environ.get("V", "")),
    "check-bpf": bpf.check_bpf,
    "check-bisect": check.check_bisect,
    "check-base": check.record_base,
    "lint": check.lint_only,
    "test": lambda: check.test_only(the_arch(), os.environ.get("T", "")),
    "bench": bench.bench,
    "build": build,
    "shell": shell,
    "deb": lambda: deb.deb(the_arch(), os.environ.get("CONFIG", "debian")),
    "tree": tree,
    "refresh": series.refresh,
    "series": series.write_mails,
    "bump": series.bump,
}


def main():
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(143))
    if len(sys.argv) != 2 or sys.argv[1] not in COMMANDS:
        print(f"usage: workbench.py {'|'.join(COMMANDS)}", file=sys.stderr)
        return 2
    try:
        if sys.argv[1] == "shell":
            return shell()
        with lock(BUILD / "workbench.lock", "another command of this checkout is running"):
            return COMMANDS[sys.argv[1]]() or 0
    except OSError as exc:
        print(f"error: {exc.strerror}: {exc.filename or ''}; free what is missing and run it again",
              file=sys.stderr)
    except Fail as exc:
        print(f"error: {exc}", file=sys.stderr)
    except KeyboardInterrupt:
        print("\nerror: interrupted; run it again to go on", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
