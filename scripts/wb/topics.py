# SPDX-License-Identifier: GPL-2.0
"""Build and boot each topic without those that follow it, and run the tests that are there.

What passed is on record by tree id, as for check-bisect.
"""

import dataclasses
import os

from . import bisect, bpf, check, kbuild, series
from .arch import selected
from .common import BUILD, ROOT, Fail, lock, say
from .results import Results

RECORD = ROOT / "tests" / "data" / "topics"
HOME = BUILD / "topics"
TREE = HOME / "linux"
HEAD = ("# SPDX-License-Identifier: GPL-2.0\n"
        "# The tree of each topic's last commit, and the architectures on which its tests passed.\n"
        "# Written by 'make check-topics', which runs what is missing here.\n")
SELFTESTS = "tools/testing/selftests"


def tests_of(commit):
    """What the series has of tests at @commit: files of ftracetest, and names of BPF selftests."""
    listed = series.git("diff", "--name-only", "--diff-filter=AM", series.base(), commit, "--",
                        SELFTESTS).splitlines()
    files = [path.removeprefix(f"{SELFTESTS}/ftrace/") for path in listed if path.endswith(".tc")]
    names = {name for path in listed if "/prog_tests/" in path
             for name in bpf.TEST.findall((TREE / path).read_text())}
    return files, sorted(names & set(bpf.SELECTION))


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
        check.run_files(run, kernel, files, selftests=TREE / SELFTESTS / "ftrace")
        if names:
            programs = bpf.programs(kernel, names, HOME / f"bpf-{arch.name}")
            bpf.judge(run, kernel, {**programs, **bpf.modules(kernel, TREE)}, names)
    results.add(run)
    return not run.failed


def check_topics():
    """Every topic's tests, or those of the one in TOPIC, but for what is on record."""
    results, wanted = Results(), os.environ.get("TOPIC", "")
    check.stands_beside()
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
