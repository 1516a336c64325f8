# SPDX-License-Identifier: GPL-2.0
"""What tests say: counted here, and read from KTAP by the kernel's own parser."""

import contextlib
import importlib
import sys
import threading
import time
import traceback

from . import series
from .common import LOGS, Fail, advice, say

# What a test of ours or of the kernel's can come to.
PASS, FAIL, SKIP = "PASS", "FAIL", "SKIP"


class Results:
    """What passed, failed and was skipped; a failure ends nothing else. Any thread may count."""

    def __init__(self):
        self.passed = self.failed = self.skipped = 0
        self.failures = []
        self.counting = threading.Lock()
        self.start = time.monotonic()

    @contextlib.contextmanager
    def case(self, name):
        """One test: the block passes unless it raises."""
        started = time.monotonic()
        try:
            yield
        except Fail as exc:
            self.fail(name, str(exc))
        except OSError as exc:
            self.fail(name, f"{advice(exc)}\n{traceback.format_exc()}")
        except Exception:  # a fault of the workbench's own must not hide the other results
            self.fail(name, traceback.format_exc())
        else:
            self.count(passed=1)
            print(f"ok   {name} [{time.monotonic() - started:.0f} s]", flush=True)

    def count(self, passed=0, skipped=0, failures=()):
        with self.counting:
            self.passed += passed
            self.skipped += skipped
            self.failed += len(failures)
            self.failures += failures

    def fail(self, name, why):
        self.count(failures=[name])
        print(f"FAIL {name}: {why}", flush=True)

    def add(self, other):
        self.count(other.passed, other.skipped, other.failures)

    def close(self):
        """Print the closing line; the exit status."""
        say(f"{(time.monotonic() - self.start) / 60:.1f} minutes; logs are in {LOGS}")
        for name in self.failures:
            print(f"FAIL {name}")
        print(f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped", flush=True)
        return 1 if self.failed else 0


def ktap(text):
    """KTAP, one document -> [(name of a case, PASS, FAIL or SKIP)].

    What is wrong with a suite as a whole, or with the form, is a case that failed.
    """
    folder = str(series.LINUX / "tools/testing/kunit")
    if folder not in sys.path:
        sys.path.append(folder)
    parser, printer = (importlib.import_module(f"kunit_{name}") for name in ("parser", "printer"))
    words = {parser.TestStatus.SUCCESS: PASS, parser.TestStatus.SKIPPED: SKIP}

    def cases(test, path):
        found = [case for sub in test.subtests for case in cases(sub, [*path, sub.name])]
        word = words.get(test.status, FAIL)
        if not test.subtests or word == FAIL and all(was != FAIL for _, was in found):
            found.append((".".join(path) or "?", word))
        return found

    whole = parser.parse_run_tests(text.splitlines(), printer.null_printer)
    if whole.counts.errors:
        whole.status = parser.TestStatus.TEST_CRASHED
    return cases(whole, [])
