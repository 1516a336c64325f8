# SPDX-License-Identifier: GPL-2.0
"""Measure the pristine base beside the series, in instructions."""

import json
import re
import subprocess

from . import fetch, guest, kbuild, rootfs, series
from .arch import selected
from .common import BUILD, ROOT, Fail, loud, output, run, say

OUT = BUILD / "bench"
CALLS = 100000
HITS = 10000  # of one "hits hit"
REFERENCE = ROOT / "tests" / "data"
TOLERANCE = 0.02


def parse(report):
    """'words name=value ...' lines -> {words and name: number or error}."""
    figures = {}
    for line in report.splitlines():
        words = [w for w in line.split() if "=" not in w]
        for name, value in re.findall(r"(\w+)=(\S+)", line):
            key = " ".join([*words, name])
            figures[key] = float(value) if re.fullmatch(r"-?\d+(\.\d+)?", value) else value
            if name == "total" and isinstance(figures[key], float):
                figures[" ".join(words)] = figures.pop(key) / CALLS
    return figures


def modules(kernel):
    """Build the modules of bench/ops for @kernel."""
    out = kernel.out / "bench-ops"
    out.mkdir(exist_ok=True)
    run(kbuild.make(kernel, f"M={ROOT / 'bench/ops'}", f"MO={out}", "modules"),
        f"bench-ops-{kernel.name.replace(' ', '-')}.log", env=kbuild.env())
    return {f"bench/{name}": out / name for name in ("ops_bench.ko", "ops_filler.ko")}


def measure(kernel, level, icount=True):
    """Boot @kernel and run the benchmark in it; {what: figure}."""
    files = {**kbuild.guest_files(kernel), **rootfs.programs(kernel.arch, kernel.source)}
    if level == "full":
        files.update(modules(kernel))
    tag = kernel.name.replace(" ", "-")
    result = guest.boot(kernel.arch, kernel.image, f"LEVEL={level}\n. /tests/bench.sh\n",
                        f"bench-{tag}{'' if icount else '-wall'}.log", files=files, smp=1, icount=icount,
                        label=f"bench {kernel.name}", append="loglevel=5", timeout=1800, silence=600)
    return parse(result.report("bench"))


def breakpoints(kernel):
    """Exceptions for breakpoints that a hit takes, counted by QEMU; {what: figure}."""
    figures = {}
    files = {**kbuild.guest_files(kernel), **rootfs.programs(kernel.arch, kernel.source)}
    for probe in ("kprobe", "kretprobe"):
        tag = f"breakpoints-{kernel.name.replace(' ', '-')}-{probe}"
        log = OUT / f"{tag}.int"
        guest.boot(kernel.arch, kernel.image, f"cd /bench && ./hits hit {probe}\n", f"bench-{tag}.log",
                   files=files, label=f"bench {kernel.name}: breakpoints of a {probe}", append="loglevel=5",
                   machine=f"{kernel.arch.tcg} -d int -D {log}")
        with open(log, encoding="ascii", errors="replace") as lines:
            count = sum(bool(re.search(kernel.arch.breakpoint, line)) for line in lines)
        figures[f"hit {probe} breakpoints"] = round(count / HITS, 2)
        log.unlink()
    return figures


def show(value):
    if value is None:
        return "-"
    if isinstance(value, str):
        return value
    return f"{value / 1e6:.2f} M" if value >= 1e6 else f"{value:.{0 if value >= 10 else 2}f}"


def ratio(base, ours):
    if not isinstance(base, float) or not isinstance(ours, float) or base <= 0:
        return ""
    return f"{ours / base:.2f}"


def table(title, base, ours):
    rows = [(key, show(base.get(key)), show(ours.get(key)), ratio(base.get(key), ours.get(key)))
            for key in dict.fromkeys([*base, *ours])]
    wide = max(len(r[0]) for r in rows)
    print(f"\n{title}\n{'':{wide}}  {'base':>12}  {'ours':>12}  {'ratio':>6}")
    for key, was, now, rel in rows:
        print(f"{key:{wide}}  {was:>12}  {now:>12}  {rel:>6}")
    print()


def toolchain(arch):
    """What decides on the figures: compiler and emulator, by their first numbers."""
    gcc = output([f"{arch.cross}gcc", "-dumpversion"]).strip().split(".")[0]
    qemu = re.search(r"version (\d+\.\d+)", output([arch.qemu, "--version"]))[1]
    return f"gcc {gcc}, QEMU {qemu}"


def deviations(arch, base):
    """The base's figures against those on record; the ones further off than the tolerance."""
    off = []
    for line in (REFERENCE / f"base-figures-{arch.name}").read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        key, want = line.split("\t")
        got = base.get(key)
        if not (got == want or isinstance(got, float) and
                abs(got - float(want)) <= max(TOLERANCE * float(want), 0.5)):
            off.append(f"{key}: {show(got)}, on record {want}")
    return off


def broken(base, ours):
    """What the base can do and the series cannot."""
    return [f"{key}: {show(ours.get(key))}" for key, value in base.items()
            if isinstance(value, float) and not isinstance(ours.get(key), float)]


def chart(arch, base, ours):
    """Cost against the number of ops on the function, as SVG."""
    data = OUT / f"{arch.name}.dat"
    rows = [[n, *(figures.get(f"ops {n}/{elsewhere}", "NaN") for figures in (base, ours)
                  for elsewhere in (0, 100))] for n in (0, 1, 2, 10)]
    data.write_text("".join(" ".join(str(v) for v in row) + "\n" for row in rows))
    titles = ["base, none elsewhere", "base, 100 elsewhere", "ours, none elsewhere", "ours, 100 elsewhere"]
    plots = ", ".join(f"'{data}' using 1:{i} with linespoints title '{title}'"
                      for i, title in enumerate(titles, 2))
    svg = OUT / f"{arch.name}.svg"
    script = (f"set terminal svg size 720,440; set output '{svg}'; set logscale y; set grid; set key left top;"
              f"set xlabel 'ftrace\\_ops on the function'; set ylabel 'instructions a call';"
              f"set title '{arch.name.replace('_', '-')}: one call of a traced function'; plot {plots}")
    res = subprocess.run(["gnuplot", "-e", script], capture_output=True, text=True, check=False)
    if res.returncode:
        raise Fail(f"gnuplot failed: {res.stderr.strip()[-500:]}")
    return svg


def bench():
    """The whole benchmark, for ARCH= or for every architecture."""
    series.stands(strict=False)
    OUT.mkdir(parents=True, exist_ok=True)
    wrong = []
    for arch in selected():
        kernels = {"base": kbuild.build(kbuild.base(arch)), "ours": kbuild.build(kbuild.ours(arch))}
        figures = {name: {**measure(kernel, "full"), **breakpoints(kernel)} for name, kernel in kernels.items()}
        table(f"{arch.name}: instructions (QEMU -icount; attaching: the thread's own, without waiting)",
              figures["base"], figures["ours"])
        if guest.kvm_works(arch, kernels["ours"].image):
            wall = {name: measure(kernel, "full", icount=False) for name, kernel in kernels.items()}
            table(f"{arch.name}: nanoseconds on this machine's CPU (KVM)", wall["base"], wall["ours"])
            figures.update({f"{name}_wall": value for name, value in wall.items()})
        record = OUT / f"{arch.name}.json"
        record.write_text(json.dumps({"arch": arch.name, "base_version": fetch.pin()["VERSION"], **figures},
                                     indent=1, sort_keys=True) + "\n")
        say(f"figures: {record}; chart: {chart(arch, figures['base'], figures['ours'])}")
        lost = broken(figures["base"], figures["ours"])
        if lost:
            raise Fail(f"{arch.name}: the base has figures for what fails here:\n   " + "\n   ".join(lost))
        off = deviations(arch, figures["base"])
        recorded = read_record_toolchain(arch)
        if not off:
            say(f"{arch.name}: the base's figures are those on record, within {TOLERANCE:.0%}")
            continue
        loud(f"{arch.name}: {len(off)} of the base's figures are not those on record, which were measured with "
             f"{recorded}; here {toolchain(arch)}:\n   " + "\n   ".join(off))
        if recorded == toolchain(arch):
            wrong.append(arch.name)
    return 1 if wrong else 0


def read_record_toolchain(arch):
    text = (REFERENCE / f"base-figures-{arch.name}").read_text()
    return re.search(r"^# toolchain: (.*)$", text, re.M)[1]
