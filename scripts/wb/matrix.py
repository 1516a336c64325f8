# SPDX-License-Identifier: GPL-2.0
"""The configurations that decide how a callsite is reached, each built, booted and tested."""

import dataclasses
import re

from . import check, guest, kbuild, series
from .arch import Arch
from .common import Fail, say
from .results import Results


@dataclasses.dataclass
class Boot:
    """One boot of a kernel, and the line that ftrace must say about literals; None for none.

    @lacking: it has not all that our tests are for. @threads: of the emulator, see guest.boot().
    """

    slot: str
    append: str = ""
    cpu: str = ""
    lacking: bool = False
    threads: str = ""


@dataclasses.dataclass
class Variant:
    """A kernel: its name, the fragments over ours, the compiler, how it is booted.

    @known: what of the base's ftracetest cannot pass there, with or without the series.
    @debian: over what Debian's kernel has built in, not over the guest's configuration.
    """

    name: str
    arch: str
    fragments: tuple
    boots: tuple
    cc: str = ""
    known: tuple = ()
    debian: bool = False


# The first wants functions whose name has a suffix of gcc's; the second takes what
# is next to a function's symbol for a function, which kCFI's __cfi_ symbol is not.
CLANG = ("Kprobe event auto/manual naming",)
KCFI = (*CLANG, "Kprobe events - probe points")
# Debian's kernel has no function profiler, and function_graph shows no return values there.
DEBIAN = ("ftrace - function profiler with function tracing", "ftrace - function profiling",
          "ftrace - function profiler with function graph tracing",
          "ftrace - function graph print function return value")
AT8, AT24 = "literals at func-8 of", "literals at func-24 of"
VARIANTS = (
    Variant("off", "x86_64", ("off",), (Boot(None, lacking=True),)),
    Variant("off-arm64", "arm64", ("off",), (Boot(None, lacking=True),)),
    Variant("trampolines", "x86_64", ("trampolines",), (Boot(None, lacking=True),)),
    Variant("frame-pointer", "x86_64", ("frame-pointer", "preempt-dynamic", "hibernation"),
            (Boot(AT8, "preempt=lazy"), Boot(AT8, "preempt=full"))),
    Variant("ibt", "x86_64", ("mitigations", "ibt"),
            (Boot(AT8),
             Boot("Call depth tracking is active", "retbleed=stuff", "Skylake-Client",
                  lacking=True))),
    Variant("mitigations32", "x86_64", ("mitigations", "align32"),
            (Boot(AT24, "retbleed=stuff", "Skylake-Client"),)),
    Variant("kcfi", "x86_64", ("mitigations", "ibt", "kcfi"),
            (Boot(AT8, "cfi=kcfi"), Boot("FineIBT is active", "cfi=fineibt", lacking=True)),
            cc="clang-19", known=KCFI),
    Variant("kcfi32", "x86_64", ("mitigations", "ibt", "kcfi", "align32"),
            (Boot(AT24, "cfi=fineibt"),), cc="clang-19", known=KCFI),
    Variant("bti", "arm64", ("bti",), (Boot(None, "irqchip.gicv3_pseudo_nmi=1"),), cc="clang-19",
            known=CLANG),
    Variant("bti-no-regs", "arm64", ("bti", "no-regs"),
            (Boot(None, "irqchip.gicv3_pseudo_nmi=1", lacking=True),), cc="clang-19",
            known=CLANG),
    Variant("64k", "arm64", ("64k",), (Boot(None),)),
    # Its ftrace_caller() calls what ftrace writes there. With a thread for each CPU, QEMU can
    # go on with the old call.
    Variant("no-call-ops", "arm64", ("size",), (Boot(None, lacking=True, threads="single"),)),
    Variant("no-regs", "arm64", ("no-regs",), (Boot(None, lacking=True),)),
    Variant("debian", "x86_64", ("debian",),
            (Boot(AT8), Boot(AT8, "ibt=off"),
             Boot("Call depth tracking is active", "retbleed=stuff", "Skylake-Client",
                  lacking=True)), known=DEBIAN, debian=True),
    Variant("debian-arm64", "arm64", ("debian",), (Boot(None),), known=DEBIAN, debian=True),
)


def test(results, kernel, boot, known=()):
    """KUnit, tracers from early boot on, and ftracetest; and the kernel says which slot it uses."""
    kw = {"machine": kernel.arch.tcg.replace("-cpu qemu64", f"-cpu {boot.cpu}")} if boot.cpu else {}
    if boot.threads:
        kw["threads"] = boot.threads
    with results.case(f"{kernel.name}: slot"):
        done = guest.boot(kernel.arch, kernel.image,
                          ". /job-lib\ndmesg > /tmp/slot\nreport slot /tmp/slot\n",
                          f"slot-{kernel.name}.log", files=kbuild.guest_files(kernel),
                          label=f"slot {kernel.name}", append=boot.append, **kw)
        said = [ln.split("] ")[-1] for ln in done.report("slot").splitlines()
                if re.search(r"(^| )ftrace: ", ln)]
        found = [ln for ln in said if "literals" in ln]
        say(f"{kernel.name}: {found[0] if found else 'no literals'}")
        if bool(found) != bool(boot.slot) or (found and boot.slot not in found[0]):
            raise Fail(f"expected '{boot.slot}'; ftrace says: {said}")
    for suite in (check.kunit, check.early, check.power):
        suite(results, kernel, append=boot.append, **kw)
    check.ftracetest(results, kernel, lacking=boot.lacking, known=known, append=boot.append,
                     quick=True, **kw)


def check_matrix(wanted):
    """All variants, or the one named @wanted."""
    results = Results()
    series.stands(strict=False)
    if wanted and wanted not in [v.name for v in VARIANTS]:
        raise Fail(f"unknown V '{wanted}'; there are: {' '.join(v.name for v in VARIANTS)}")
    for variant in VARIANTS:
        if wanted not in ("", variant.name):
            continue
        kernel = kbuild.ours(Arch(variant.arch), tuple(f"matrix/{f}" for f in variant.fragments),
                             f"matrix-{variant.name}")
        kernel.cc, kernel.name = variant.cc, f"{variant.arch}+{variant.name}"
        if variant.debian:
            kernel.debian = True
            kernel.fragments = tuple(f for f in (*kernel.fragments, "debian")
                                     if f not in ("guest", variant.arch))
        with results.case(f"{variant.name}: build"):
            kbuild.build(kernel)
            for boot in variant.boots:
                name = "+".join([kernel.name, *boot.append.split()]).replace("=", "-")
                test(results, dataclasses.replace(kernel, name=name), boot, variant.known)
    return results.close()
