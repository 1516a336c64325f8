# SPDX-License-Identifier: GPL-2.0
"""The tests: lints, builds, boots; counted, with one closing line."""

import contextlib
import functools
import hashlib
import os
import random
import re
import shutil
import sys
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from . import bench, bisect, bpf, deb, demo, fetch, figures, guest, kbuild, lint, rootfs, series
from .arch import selected
from .common import BUILD, ROOT, Fail, checkout_lock, say
from .results import FAIL, PASS, SKIP, Results, ktap

DATA = ROOT / "tests" / "data"
FTRACE = series.LINUX / "tools/testing/selftests/ftrace"
# What a guest needs whose kernel watches itself.
SLOW = {"memory": "3G", "silence": 900}
# For how many seconds of the guest's the storm goes on.
STORM = 600
# The options without which these suites of the series are not built
SUITE_NEEDS = {"ftrace_regs_kunit": "ARM64_FTRACE_REGS", "ftrace_ops_set_kunit": "FTRACE_OPS_SETS",
               "ftrace_sites_kunit": "FTRACE_OPS_SETS", "fprobe_return_kunit": "FPROBE"}
# The tests of ftracetest that are about a second CPU.
TWO_CPUS = [f"test.d/ftrace/{t}.tc"
            for t in ("func_cpumask", "func_hotplug", "func-multi-ops", "func-ops-sets")]


# --- one boot each -----------------------------------------------------------

def kunit(results, kernel, ours=None, skip=(), **kw):
    """The KUnit suites of @kernel, each case a test.

    @ours: modules whose suites must run, by default all of the series, but for those that
    @kernel's options leave out. @skip: modules whose suites must not run.
    """
    name = f"{kernel.name} KUnit"
    with results.case(name):
        modules = " ".join(sorted(p.stem for p in kernel.modules.rglob("*.ko")
                                  if re.search(r"kunit|^test_", p.stem)
                                  and p.stem not in skip))
        done = guest.boot(kernel.arch, kernel.image,
                          f"KUNIT_MODULES='{modules}'\n. /tests/kunit.sh\n",
                          f"kunit-{kernel.name}.log", files=kbuild.guest_files(kernel), label=name,
                          **{"timeout": 1200, "silence": 300, **kw,
                             "append": f"loglevel=5 kunit.enable=1 {kw.get('append', '')}"})
        reports = {suite: done.report(suite) for suite in done.report("suites").split()}
        cases = [case for report in reports.values() for case in ktap(report)]
        for case, result in cases:
            if result == FAIL:
                results.fail(f"{name} {case}", f"log: {done.log}")
            results.count(passed=result == PASS, skipped=result == SKIP)
        config = (kernel.out / ".config").read_text()
        if ours is None:
            ours = {Path(n).stem for n in series.all_new_files() if n.endswith("_kunit.c")}
        lost = {module for module in ours if module.removesuffix("_kunit") not in reports
                and f"\nCONFIG_{SUITE_NEEDS.get(module, 'FTRACE')}=y\n" in config}
        if lost:
            raise Fail(f"did not run: {' '.join(sorted(lost))}; log: {done.log}")
        # This kernel has fault injection, so such a case has tested nothing.
        if "\nCONFIG_FAILSLAB=y\n" in config:
            for suite, report in reports.items():
                if "SKIP no allocation failed" in report:
                    results.fail(f"{name} {suite}", f"no allocation failed; log: {done.log}")


def faults(results, kernel, **kw):
    """Attach tracers while the kernel's allocations fail, one after the other."""
    with results.case(f"{kernel.name}: attaching under failing allocations"):
        guest.boot(kernel.arch, kernel.image, ". /tests/faults.sh\n", f"faults-{kernel.name}.log",
                   files=kbuild.guest_files(kernel), label=f"faults {kernel.name}",
                   append="loglevel=5", timeout=3600, **kw)


def early(results, kernel, **kw):
    """Two tracers on every function since early boot, with ops sets and without."""
    for sets in ("on", "off"):
        with results.case(f"{kernel.name}: two tracers from early boot on, ftrace_ops_sets={sets}"):
            guest.boot(kernel.arch, kernel.image, ". /tests/early.sh\n",
                       f"early-{sets}-{kernel.name}.log",
                       files={**kbuild.guest_files(kernel),
                              **rootfs.programs(kernel.arch, kernel.source)},
                       label=f"early {kernel.name}",
                       **{**kw, "append": "loglevel=5 ftrace=function stacktrace slab_debug=F "
                                          f"ftrace_ops_sets={sets} {kw.get('append', '')}"})


def power(results, kernel, **kw):
    """Suspend, CPU hotplug and kexec with everything traced."""
    with results.case(f"{kernel.name}: suspend, hotplug and kexec with everything traced"):
        guest.boot(kernel.arch, kernel.image, ". /tests/power.sh\n", f"power-{kernel.name}.log",
                   files={**kbuild.guest_files(kernel), "boot/kernel": kernel.image},
                   label=f"power {kernel.name}",
                   **{"machine": kernel.arch.power, **kw,
                      "append": f"loglevel=5 {kw.get('append', '')}"})


def modules(results, kernel, **kw):
    """Modules come and go while their functions are traced."""
    with results.case(f"{kernel.name}: modules come and go while traced"):
        guest.boot(kernel.arch, kernel.image, ". /tests/modules.sh\n", f"modules-{kernel.name}.log",
                   files={**kbuild.guest_files(kernel), **bench.modules(kernel)},
                   label=f"modules {kernel.name}",
                   **{**kw, "append": f"loglevel=5 {kw.get('append', '')}"})


def boot_ftracetest(kernel, tests="", quick=False, smp=2, selftests=FTRACE, **kw):
    """[(description, result)] of ftracetest's files @tests, or all, and the guest's Result."""
    job = f"TESTS='{tests}'\n. /tests/ftracetest.sh\n"
    if quick:  # what tries all orders tries two
        job = "export FTRACETEST_QUICK=1\n" + job
    files = {**kbuild.guest_files(kernel), **rootfs.programs(kernel.arch, kernel.source),
             "selftests/ftrace": selftests}
    name = f"ftracetest {kernel.name}{' on two' if tests else ''}"
    # QEMU keeps its translations by address; with programs at random ones it makes them
    # for each of the tens of thousands that the tests start.
    done = guest.boot(kernel.arch, kernel.image, job, f"{name.replace(' ', '-')}.log", files=files,
                      label=name, smp=smp, paced=smp == 1,
                      **{"timeout": 2400, "silence": 600, **kw,
                         "append": f"loglevel=5 norandmaps {kw.get('append', '')}"})
    found = ktap(done.report("results"))
    if len(found) < len(tests.split()):
        raise Fail(f"{len(found)} of {len(tests.split())} tests ran; log: {done.log}")
    return found, done


def storm(results, kernel, length=STORM, seed="", **kw):
    """All that attaches to functions comes and goes at random, for @length guest seconds."""
    seed = seed or str(random.randrange(1, 1000000))
    with results.case(f"{kernel.name}: a storm of all that attaches, {length} s, SEED={seed}"):
        files = {**kbuild.guest_files(kernel), **rootfs.programs(kernel.arch, kernel.source),
                 **rootfs.bpftrace(kernel.arch)}
        guest.boot(kernel.arch, kernel.image, f"LENGTH={length} SEED={seed}\n. /tests/storm.sh\n",
                   f"storm-{kernel.name}.log", files=files, label=f"storm {kernel.name}",
                   **{"memory": "2G", "timeout": 10 * int(length) + 3000, "silence": 600, **kw,
                      "append": f"loglevel=5 {kw.get('append', '')}"})


def run_ftracetest(kernel, **kw):
    """[(description, result)] of all of ftracetest, and the guest's Result.

    On one CPU, so that QEMU's instruction clock does for it. What is about two gets two.
    """
    found, done = boot_ftracetest(kernel, smp=1, **kw)
    on_two = dict(boot_ftracetest(kernel, " ".join(TWO_CPUS), **kw)[0])
    return [(d, on_two.pop(d, r)) for d, r in found] + list(on_two.items()), done


def own_descriptions():
    """The descriptions of the series' own files of ftracetest."""
    return {re.search(r"^# description: (.*)$", (ROOT / n).read_text(), re.M)[1].strip()
            for n in series.all_new_files() if n.endswith(".tc")}


def recorded(arch):
    lines = (DATA / f"ftracetest-{arch.name}").read_text().splitlines()
    return {d: r for r, d in (ln.split("\t", 1) for ln in lines if ln and ln[0] != "#")}


def decide(kernel):
    """Everything that decides on a run in a guest of @kernel and on its verdict.

    All of the scripts, tests and configurations, needed or not: a list of those that
    are would be one too short some day. Only what commands write down about the base and
    the series stands aside; who reads that adds it.
    """
    qemu = shutil.which(kernel.arch.qemu)
    tests = [path for path in (ROOT / "tests").iterdir() if path != DATA]
    return [kernel.image, kernel.modules, kernel.source / "tools/lib/bpf",
            kernel.source / "tools/bpf/ftrace_filter", *tests, ROOT / "scripts", ROOT / "configs",
            ROOT / "bench", *([Path(qemu)] if qemu else [])]


def digest(paths):
    """Files, and all that is in folders, as one hash."""
    found = hashlib.sha256()
    for path in sorted(p for path in paths
                       for p in ([path] if path.is_file() else path.rglob("*"))):
        if path.is_file() and "__pycache__" not in path.parts:
            found.update(f"{path}\0".encode() + path.read_bytes())
    return found.hexdigest()


def once(results, name, paths, test):
    """@test(results), unless it passed before.

    Runs in the guest take minutes each. One that passed is not repeated while
    @paths, which decide on it, are the same to the byte; builds are reproducible.
    """
    memory = BUILD / f"{name.replace(' ', '-')}.passed"
    now = digest(paths)
    if memory.exists() and memory.read_text().split()[0] == now:
        passed, skipped = map(int, memory.read_text().split()[1:])
        results.count(passed, skipped)
        say(f"{name}: all that decides on it is as when it passed: {passed} pass")
        return
    run = Results()
    test(run)
    if not run.failed:
        memory.write_text(f"{now} {run.passed} {run.skipped}\n")
    results.add(run)


def ftracetest(results, kernel, lacking=False, known=(), **kw):
    """No test that passes on the pristine base fails on @kernel; ours all pass.

    @lacking: @kernel may lack what a test of ours is for. @known: tests of the base
    that fail on such a kernel with or without the series.
    """
    once(results, f"ftracetest {kernel.name}",
         [*decide(kernel), FTRACE, DATA / f"ftracetest-{kernel.arch.name}"],
         lambda run: run_all_ftracetest(run, kernel, lacking, known, **kw))


def run_all_ftracetest(results, kernel, lacking, known=(), **kw):
    with results.case(f"{kernel.name} ftracetest"):
        before = recorded(kernel.arch)
        found, done = run_ftracetest(kernel, **kw)
        for description, result in found:
            was = before.get(description)
            if result == PASS:
                results.count(passed=1)
            elif description in known or was is None and lacking and result == SKIP:
                results.count(skipped=1)
            elif was in (PASS, None):
                results.fail(f"{kernel.name} ftracetest: {description}",
                             f"{result}, {'passes on the base' if was else 'a test of ours'}; "
                             f"log: {done.log}")
            else:
                results.count(skipped=1)
        ran = {d for d, _ in found}
        lost = {o for o in own_descriptions() if not any(d.endswith(o) for d in ran)}
        for description in set(before) - ran | lost:
            results.fail(f"{kernel.name} ftracetest: {description}",
                         f"was not run; log: {done.log}")
        say(f"ftracetest {kernel.name}: {len(found)} tests, "
            f"{sum(r == PASS for _, r in found)} pass")


def unit_tests(results):
    """The workbench's own tests, in tests/test_*.py."""
    class Adapter(unittest.TestResult):
        """Counts into ours."""

        def addSuccess(self, test):
            results.count(passed=1)
            print(f"ok   {test.shortDescription()}", flush=True)

        def addFailure(self, test, err):
            results.fail(test.shortDescription(), self._exc_info_to_string(err, test))

        def addSkip(self, test, reason):
            results.count(skipped=1)

        addError = addFailure

    sys.path.insert(0, str(ROOT / "tests"))
    unittest.defaultTestLoader.discover(str(ROOT / "tests")).run(Adapter())


# --- the commands ------------------------------------------------------------

def lints(results):
    for name, test in (("series: make tree and make refresh leave no diff", lint.round_trip),
                       ("series: form of patches and files", lint.series_form),
                       ("series: mails pass checkpatch --strict and git am", lint.mails),
                       ("series: kernel-doc", lint.kernel_doc),
                       ("scripts: shellcheck", lint.shell_scripts),
                       ("scripts: pyflakes", lint.python_scripts),
                       ("scripts: no line over 100 columns", lint.columns)):
        with results.case(name):
            test()


def records(results):
    """What took an hour to find out, and is written down, is of this series. Not part of
    'make check': to renew the records is for whoever sends the series."""
    for name, test in (("series: every patch is known to build", bisect.on_record),
                       ("bench: the base's figures on record are not out of date",
                        bench.lint_record),
                       ("documents: the figures that they quote are those on record",
                        figures.lint)):
        with results.case(name):
            test()


def lint_only():
    results = Results()
    series.stands(strict=True)
    lints(results)
    records(results)
    return results.close()


def check():
    """Everything. What needs no guest goes on behind the guests, when they leave a CPU idle."""
    results = Results()
    series.stands(strict=True)
    with ThreadPoolExecutor(1, initializer=os.nice, initargs=(19,)) as behind:
        builds, rest = [], []
        for arch in selected():
            builds.append((arch, behind.submit(build, results, arch)))
            if not rest:  # the first guest waits for no more than its kernel
                rest.append(behind.submit(lints, results))
        rest += [behind.submit(without_guest, results, arch, done) for arch, done in builds]
        for _, done in builds:
            if done.result():
                with_guest(results, done.result())
        for done in rest:
            done.result()
    kernel = builds[0][1].result()
    if not kernel:
        results.fail("the workbench's own tests", "there is no kernel for them")
    else:
        once(results, "workbench", [*decide(kernel), ROOT / "Makefile", DATA], unit_tests)
    return results.close()


def build(results, arch):
    """Build the series' kernel for @arch; None where that fails."""
    with results.case(f"{arch.name}: build"):
        return kbuild.build(kbuild.ours(arch))


def with_guest(results, kernel):
    for test in (kunit, early, modules, power, demonstration):
        once(results, f"{test.__name__} {kernel.name}", decide(kernel),
             functools.partial(test, kernel=kernel))
    with_bpf = kbuild.ours(kernel.arch, ("bpf",))
    with results.case(f"{with_bpf.name}: build"):
        kbuild.build(with_bpf)
        once(results, f"BPF selftests {kernel.name}",
             [*decide(with_bpf), kernel.source / "tools/bpf", kernel.source / bpf.SELFTESTS],
             functools.partial(bpf.selection, kernel=with_bpf))
    ftracetest(results, kernel)


def demonstration(results, kernel):
    with results.case(f"{kernel.name}: demonstration"):
        demo.trace(kernel)


def without_guest(results, arch, built):
    with results.case(f"{arch.name}: Debian's configuration keeps our options"):
        lint.debian_config(arch)
    if built.result():
        with results.case(f"{arch.name}: function names that a kernel with the suites "
                          "built in may have"):
            lint.function_names(built.result())
        with results.case(f"{arch.name}: no new line from W=1 and sparse"):
            lint.no_new_warnings(arch)
        with results.case(f"{arch.name}: Debian packages build and unpack"):
            deb.guest_packages(built.result())


def check_debug():
    """The boots again, with the kernel watching itself."""
    results = Results()
    series.stands(strict=True)
    for arch in selected():
        kernel = kbuild.ours(arch, ("debug",))
        with results.case(f"{kernel.name}: build"):
            kbuild.build(kernel)
            kunit(results, kernel, timeout=3600, **SLOW)
            early(results, kernel, timeout=3600, **SLOW)
            modules(results, kernel, timeout=3600, **SLOW)
            power(results, kernel, timeout=3600, **SLOW)
            faults(results, kernel, **SLOW)
            storm(results, kernel, **SLOW)
            bpf.selection(results, kbuild.build(kbuild.ours(arch, ("bpf", "debug"))))
            ftracetest(results, kernel, timeout=7200, quick=True, **SLOW)
    return results.close()


def check_storm(arch, kind, length, seed):
    """The storm alone; @kind is "" for the ordinary kernel, or debug; the rest as make got it."""
    if kind not in ("", "debug"):
        raise Fail(f"unknown KERNEL '{kind}'; there is: debug")
    for name, value in (("LENGTH", length), ("SEED", seed)):
        if value and not re.fullmatch(r"[1-9]\d{0,5}", value):
            raise Fail(f"{name}={value} is not a number from 1 to 999999")
    series.stands(strict=False)
    results, kernel = Results(), kbuild.build(kbuild.ours(arch, (kind,) if kind else ()))
    storm(results, kernel, length or STORM, seed, **(SLOW if kind else {}))
    return results.close()


def stands_beside():
    """As series.stands(), for commands that run beside others."""
    with contextlib.nullcontext() if series.current() else checkout_lock():
        series.stands(strict=True)


def check_bisect():
    """Every patch of the series builds, on each architecture with the options on and off."""
    results = Results()
    stands_beside()
    bisect.build_all(results)
    return results.close()


def test_only(arch, tests):
    """Boot build/linux as it stands and run KUnit, or the ftracetest files named @tests."""
    series.stands(strict=False)
    results, kernel = Results(), kbuild.build(kbuild.ours(arch))
    if not tests:
        kunit(results, kernel)
        return results.close()
    files = sorted(str(p.relative_to(FTRACE)) for p in FTRACE.glob("test.d/**/*.tc")
                   if tests in str(p))
    if not files:
        raise Fail(f"no ftracetest file has '{tests}' in its path; see {FTRACE}/test.d")
    run_files(results, kernel, files)
    return results.close()


def run_files(results, kernel, files, **kw):
    """Run the @files of ftracetest, each of which is a test, on @kernel."""
    found, done = boot_ftracetest(kernel, " ".join(files), **kw)
    for description, result in found:
        print(f"{result:5} {description}")
        results.count(result == PASS, result == SKIP, [description] if result == FAIL else ())
    say(f"log: {done.log}")


def record_base():
    """Write down what the pristine base's ftracetest does, as data for 'make check'."""
    series.stands(strict=True)
    ours = own_descriptions()
    for arch in selected():
        kernel = kbuild.build(kbuild.base(arch))
        merged = {}
        for _ in range(2):
            for description, result in run_ftracetest(kernel)[0]:
                # What passes only now and then is no measure for anything.
                if merged.setdefault(description, result) != result:
                    merged[description] = "UNSTABLE"
        path = DATA / f"ftracetest-{arch.name}"
        path.write_text(
            "# SPDX-License-Identifier: GPL-2.0\n"
            f"# ftracetest on the pristine base {fetch.pin()['VERSION']} with "
            "configs/guest.config,\n"
            "# in QEMU, run twice; UNSTABLE: the two differ. Made by 'make check-base'.\n"
            + "".join(f"{result}\t{description}\n" for description, result in merged.items()
                      if not any(description.endswith(o) for o in ours)))
        say(f"{path}: {sum(r == PASS for r in merged.values())} of {len(merged)} pass")
