# SPDX-License-Identifier: GPL-2.0
"""Build and boot each topic without those that follow it, and run its tests there.

What passed is on record by tree id, as for check-bisect.
"""

import dataclasses
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

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
SUITES = "lib/tests"


def tests_of(before, commit):
    """The tests of the topic from @before to @commit; without any, all of the series up to there.

    Suites of KUnit, files of ftracetest, and names of BPF selftests.
    """
    for since in (before, series.base()):
        listed = series.git("diff", "--name-only", "--diff-filter=AM", since, commit, "--",
                            SELFTESTS, SUITES).splitlines()
        suites = {Path(path).stem for path in listed if path.endswith("_kunit.c")}
        files = [path.removeprefix(f"{SELFTESTS}/ftrace/") for path in listed
                 if path.endswith(".tc")]
        names = {name for path in listed if "/prog_tests/" in path
                 for name in bpf.TEST.findall((TREE / path).read_text())} & set(bpf.SELECTION)
        if suites or files or names:
            break
    return suites, files, sorted(names)


def test(kernel, build, before, commit):
    """The Results of the topic from @before to @commit on @kernel, which @build builds."""
    run = Results()
    with run.case(f"{kernel.name}: builds and boots"):
        build.result()
        suites, files, names = tests_of(before, commit)
        # The base's suites run with each topic.
        series_has = series.git("diff", "--name-only", "--diff-filter=A", series.base(), commit,
                                "--", SUITES).splitlines()
        check.kunit(run, kernel, ours=suites,
                    skip={Path(path).stem for path in series_has} - suites)
        if files:
            check.run_files(run, kernel, files, selftests=TREE / SELFTESTS / "ftrace")
        if names:
            programs = bpf.programs(kernel, names, HOME / f"bpf-{kernel.arch.name}")
            bpf.judge(run, kernel, {**programs, **bpf.modules(kernel)}, names)
    return run


def check_topics():
    """Every topic's tests, or those of the one in TOPIC, but for what is on record."""
    results, wanted = Results(), os.environ.get("TOPIC", "")
    check.stands_beside()
    if wanted not in ("", *series.topics()):
        raise Fail(f"unknown TOPIC '{wanted}'; there are: {' '.join(series.topics())}")
    tips = [series.commit_id(series.branch(topic)) for topic in series.topics()]
    trees = {series.git("rev-parse", f"{commit}^{{tree}}").strip(): commit for commit in tips}
    HOME.mkdir(parents=True, exist_ok=True)
    with lock(HOME / "lock", "another 'make check-topics' is running"):
        for topic, tree, before in zip(series.topics(), trees, [series.base(), *tips]):
            if wanted in ("", topic):
                check_topic(results, topic, tree, before, trees)
    return results.close()


def check_topic(results, topic, tree, before, trees):
    """Run what is not on record of @topic, which comes after @before and ends in @tree."""
    record, todo = bisect.read_record(RECORD), []
    for arch in selected():
        if arch.name in record.get(tree, ()):
            say(f"{topic}, {arch.name}: is on record")
            results.count(passed=1)
        else:
            todo.append(dataclasses.replace(
                kbuild.ours(arch, ("bpf",)), source=TREE, out=HOME / f"out-{arch.name}",
                name=f"{topic}-{arch.name}"))
    if todo:
        bisect.lay_out(trees[tree], TREE)
    with ThreadPoolExecutor(1) as builder:  # the next kernel, while a guest is on one CPU
        # An option may come with a later topic.
        builds = [builder.submit(kbuild.build, kernel, must=("guest", kernel.arch.name))
                  for kernel in todo]
        for kernel, build in zip(todo, builds):
            found = test(kernel, build, before, trees[tree])
            results.add(found)
            if not found.failed:
                record.setdefault(tree, set()).add(kernel.arch.name)
                bisect.write_record(record, set(trees), RECORD, HEAD)
