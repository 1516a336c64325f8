# SPDX-License-Identifier: GPL-2.0
"""Each topic by its last patch, on those before it and without those after: it builds, boots,
and the series' tests that are there pass.

What passed is on record, by tree id, as check-bisect has it.
"""

import dataclasses
import os

from . import bisect, bpf, check, kbuild, series
from .arch import selected
from .common import BUILD, ROOT, Fail, lock, say
from .results import FAIL, PASS, Results

RECORD = ROOT / "tests" / "data" / "topics"
HOME = BUILD / "topics"
TREE = HOME / "linux"
HEAD = ("# SPDX-License-Identifier: GPL-2.0\n"
        "# The trees of the topics' last commits whose tests passed, each with where. Written by\n"
        "# 'make check-topics', which runs what is missing here.\n")
SELFTESTS = "tools/testing/selftests"


def tests_of(commit):
    """What the series has of tests at @commit: files of ftracetest, and names of BPF selftests."""
    listed = series.git("diff", "--name-only", "--diff-filter=AM", series.base(), commit, "--",
                        SELFTESTS).splitlines()
    files = [path.removeprefix(f"{SELFTESTS}/ftrace/") for path in listed if path.endswith(".tc")]
    names = {name for path in listed if "/prog_tests/" in path
             for name in bpf.TEST.findall((TREE / path).read_text())}
    return files, sorted(names & set(bpf.SELECTION))


def ftracetest(results, kernel, files):
    found, done = check.boot_ftracetest(kernel, " ".join(files),
                                        selftests=kernel.source / SELFTESTS / "ftrace")
    if len(found) < len(files):
        raise Fail(f"{len(found)} of {len(files)} tests ran; log: {done.log}")
    for description, result in found:
        if result == FAIL:
            results.fail(f"{kernel.name} ftracetest: {description}", f"log: {done.log}")
        results.count(passed=result == PASS, skipped=result not in (PASS, FAIL))


def test(results, arch, topic, commit):
    """Whether the tests of @topic, whose last commit is @commit, pass on @arch."""
    kernel = dataclasses.replace(kbuild.ours(arch, ("bpf",)), source=TREE,
                                 out=HOME / f"out-{arch.name}", name=f"{topic}-{arch.name}")
    run = Results()
    with run.case(f"{kernel.name}: build"):
        bisect.lay_out(commit, TREE)
        # An option may come with a later topic.
        kbuild.build(kernel, must=("guest", arch.name))
        files, names = tests_of(commit)
        check.kunit(run, kernel, ours=(TREE / "lib/tests/ftrace_ops_kunit.c").exists())
        ftracetest(run, kernel, files)
        if names:
            programs = bpf.programs(kernel, names, HOME / f"bpf-{arch.name}")
            bpf.judge(run, kernel, {**programs, **bpf.modules(kernel, TREE)}, names)
    results.add(run)
    return not run.failed


def check_topics():
    """Every topic's tests, or those of the one in TOPIC, but for what is on record."""
    results, wanted = Results(), os.environ.get("TOPIC", "")
    series.stands(strict=True)
    if wanted not in ("", *series.topics()):
        raise Fail(f"unknown TOPIC '{wanted}'; there are: {' '.join(series.topics())}")
    tips = [(topic, series.commit_id(series.branch(topic))) for topic in series.topics()]
    trees = {topic: series.git("rev-parse", f"{commit}^{{tree}}").strip()
             for topic, commit in tips}
    HOME.mkdir(parents=True, exist_ok=True)
    with lock(HOME / "lock", "another 'make check-topics' is running"):
        for topic, commit in tips:
            for arch in selected() if wanted in ("", topic) else ():
                record = bisect.read_record(RECORD)
                if arch.name in record.get(trees[topic], ()):
                    say(f"{topic}, {arch.name}: is on record")
                    results.count(passed=1)
                elif test(results, arch, topic, commit):
                    record.setdefault(trees[topic], set()).add(arch.name)
                    bisect.write_record(record, set(trees.values()), RECORD, HEAD)
    return results.close()
