# SPDX-License-Identifier: GPL-2.0
"""Measure the pristine base beside the series, in instructions."""

import dataclasses
import hashlib
import json
import os
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
CPUS = (1, 2, 4, 8)
ALL = 100000  # functions; when asked for so many, hits takes all there are


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
    return {f"bench/{path.name}": path for path in out.glob("*.ko")}


def measure(kernel, level, icount=True, smp=1):
    """Boot @kernel on @smp CPUs and run the benchmark in it; {what: figure}."""
    files = {**kbuild.guest_files(kernel), **rootfs.programs(kernel.arch, kernel.source)}
    if level == "full":
        files.update(modules(kernel))
    tag, label = kernel.name.replace(" ", "-"), f"bench {kernel.name}"
    if level == "cpus":
        tag, label = f"{tag}-cpus-{smp}", f"{label}: {smp} CPUs"
    result = guest.boot(kernel.arch, kernel.image, f"LEVEL={level}\n. /tests/bench.sh\n",
                        f"bench-{tag}{'' if icount else '-wall'}.log", files=files, smp=smp,
                        icount=icount, label=label, append="loglevel=5",
                        timeout=3600, silence=600)
    return parse(result.report("bench"))


def cpus(kernel):
    """What switching costs with more and more CPUs; {what: figure}.

    The CPUs take turns, and the clock counts what all of them run meanwhile: what one that is
    interrupted does, and what the one that interrupts it does until it has answered.
    """
    return {f"cpus {count} {what}": figure for count in CPUS
            for what, figure in measure(kernel, "cpus", smp=count).items()
            if not what.endswith((" functions", "_kib"))}


def breakpoints(kernel):
    """Exceptions for breakpoints that a hit takes, counted by QEMU; {what: figure}."""
    figures = {}
    files = {**kbuild.guest_files(kernel), **rootfs.programs(kernel.arch, kernel.source)}
    for probe in ("kprobe", "kretprobe"):
        tag = f"breakpoints-{kernel.name.replace(' ', '-')}-{probe}"
        log = OUT / f"{tag}.int"
        guest.boot(kernel.arch, kernel.image, f"cd /bench && ./hits hit {probe}\n",
                   f"bench-{tag}.log", files=files,
                   label=f"bench {kernel.name}: breakpoints of a {probe}", append="loglevel=5",
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


# --- the figures on record ---------------------------------------------------

def kernels(arch):
    """{column of the record: Kernel}; on x86-64 also sets without literals."""
    found = {"base": kbuild.base(arch), "ours": kbuild.ours(arch)}
    if arch.name == "x86_64":
        kernel = kbuild.ours(arch, ("matrix/trampolines",), "matrix-trampolines")
        found["trampolines"] = dataclasses.replace(kernel, name=f"{arch.name}+trampolines")
    return found


def record_file(arch):
    return REFERENCE / f"figures-{arch.name}"


def toolchain(arch):
    """What of this machine decides on the figures: compilers and emulator, by first numbers."""
    gcc = output([f"{arch.cross}gcc", "-dumpversion"]).strip().split(".")[0]
    qemu = re.search(r"version (\d+\.\d+)", output([arch.qemu, "--version"]))[1]
    return f"gcc {gcc}, {rootfs.CLANG.replace('-', ' ')}, QEMU {qemu}"


def short_digest(text):
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def decides(arch):
    """{what: version or digest}: what of this repository decides on the base's figures."""
    kernel = kbuild.base(arch)
    files = [*(ROOT / "bench").rglob("*"),
             *(ROOT / "tests/guest" / n for n in ("bench.sh", "job-lib", "init")),
             *(ROOT / "scripts/wb" / n for n in ("guest.py", "rootfs.py"))]
    programs = [f"{p.relative_to(ROOT)}\0{p.read_text()}" for p in sorted(files) if p.is_file()]
    return {"base": fetch.pin()["VERSION"],
            "configuration": short_digest(str(sorted(kbuild.wanted(kernel.fragments).items()))),
            "programs": short_digest("\0".join([arch.tcg, arch.getpgid, *programs]))}


def number(text):
    return float(text) if re.match(r"-?\d", text) else text


def read_figures(arch):
    """The record: ({what decided on it: version or digest}, {column: {what: figure}})."""
    path = record_file(arch)
    lines = path.read_text().splitlines() if path.exists() else []
    heads = (re.match(r"# (base|configuration|programs|toolchain): (.*)$", ln) for ln in lines)
    rows = [ln.split("\t") for ln in lines if ln and ln[0] != "#"]
    names = rows[0][1:] if rows else ["base", "ours"]
    return ({m[1]: m[2] for m in heads if m},
            {name: {row[0]: number(row[at]) for row in rows[1:] if row[at] != "-"}
             for at, name in enumerate(names, 1)})


def out_of_date(arch):
    """What has changed since the base's figures were recorded, in words; '' for nothing."""
    then = read_figures(arch)[0]
    return ", ".join(what for what, now in decides(arch).items() if then.get(what) != now)


def lint_record():
    """What decides on the base's figures is as it was when they were recorded."""
    for arch in selected():
        old = out_of_date(arch)
        if old and series.pinned():
            raise Fail(f"{record_file(arch).relative_to(ROOT)} is out of date: these have changed "
                       f"since: {old}; run 'make bench RECORD=1 ARCH={arch.name}', which measures "
                       "the base anew, and commit it")


def same(got, want):
    return got == want or isinstance(got, float) and isinstance(want, float) and \
        abs(got - want) <= max(TOLERANCE * abs(want), 0.5)


def deviations(arch, column, figures):
    """@figures against those on record; the ones further off than the tolerance."""
    return [f"{key}: {show(figures.get(key))}, on record {show(want)}"
            for key, want in read_figures(arch)[1].get(column, {}).items()
            if not same(figures.get(key), want)]


def written(value):
    if value is None:
        return "-"
    return value if isinstance(value, str) else f"{value:.{0 if value >= 10 else 2}f}"


def agreed(runs):
    """{what: figure} of those on which two of @runs agree, and what is said of the others."""
    found, left = {}, []
    for what in dict.fromkeys(what for run in runs for what in run):
        values = [run[what] for run in runs if run.get(what, "missing") != "missing"]
        pairs = [one for at, one in enumerate(values) if any(same(v, one) for v in values[at + 1:])]
        if pairs:
            found[what] = pairs[0]
        else:
            left.append(f"{what}: {' and '.join(map(show, values))}")
    return found, left


def record(arch):
    """Measure each kernel twice, or three times if need be; write down what two runs agree on."""
    found, left = {}, []
    for column, kernel in kernels(arch).items():
        kbuild.build(kernel)
        runs = [measure(kernel, "full"), measure(kernel, "full")]
        if agreed(runs)[1]:
            runs.append(measure(kernel, "full"))
        found[column], differ = agreed(runs)
        left += [f"{column} {what}" for what in differ]
    rows = [["", *found]]
    for key in dict.fromkeys(key for figures in found.values() for key in figures):
        rows.append([key, *(written(figures.get(key)) for figures in found.values())])
    heads = {**decides(arch), "toolchain": toolchain(arch)}
    record_file(arch).write_text(
        "# SPDX-License-Identifier: GPL-2.0\n"
        "# What the pristine base and the series cost, in instructions. 'make bench RECORD=1'\n"
        "# writes it, from runs that agree; 'make bench' compares its run with these, 'make\n"
        "# run' shows the base's, and what the documents quote is from here. They hold for:\n"
        + "".join(f"# {what}: {value}\n" for what, value in heads.items())
        + "".join("\t".join(row) + "\n" for row in rows))
    say(f"{record_file(arch)}: {len(rows) - 1} figures"
        + (f"; no two runs agree on {'; '.join(left)}" if left else ""))


def broken(base, ours):
    """What the base can do and the series cannot."""
    return [f"{key}: {show(ours.get(key))}" for key, value in base.items()
            if isinstance(value, float) and not isinstance(ours.get(key), float)]


# --- the charts --------------------------------------------------------------

def each(what, *numbers):
    """{number: what is measured}, of which @what has a place for the number."""
    return {number: what.format(number) for number in numbers}


@dataclasses.dataclass
class Plot:
    """A chart of costs against a number; of each curve, one for the base and one for ours."""

    name: str
    title: str
    number: str  # what is counted
    curves: dict  # what a curve shows -> {number: what is measured}
    cost: str = "instructions"
    log: str = "xy"  # the logarithmic axes


PLOTS = (
    Plot("hit", "A call of a traced function", "ops on the function",
         {"": each("ops {}/0", 0, 1, 2, 10, 100, 1000, 10000)}, "instructions a call"),
    Plot("hit-elsewhere", "A call of a traced function, by what else is traced",
         "ops on another function",
         {"one ops on the function": each("ops 1/{}", 0, 10, 100),
          "two": each("ops 2/{}", 0, 10, 100, 1000, 10000)}, "instructions a call"),
    Plot("attach", "Attaching a BPF program to many functions", "functions attached to",
         {"fentry.multi": each("attach fentry.multi {} attach", 1, 100, 1000, 3000, ALL),
          "kprobe.multi": each("attach kprobe.multi {} attach", 1, 100, 1000, ALL)}),
    Plot("register", "Registering one more ops on a function", "ops on the function then",
         {"alone": each("write one-function-{} cost", 1, 100, 1000, 10000),
          "one of many in a row": {50: "write one-function-2-to-99 cost",
                                   550: "write one-function-101-to-999 cost",
                                   5500: "write one-function-1001-to-9999 cost"}}),
    Plot("module", "Loading a module of 5,000 functions", "what is there before",
         {"instances that trace all that comes": each("insmod {}-instances cost", 0, 2, 20),
          "fprobes or ops on other functions": {
              0: "insmod 0-instances cost", 100: "insmod beside-100-fprobes cost",
              1000: "insmod beside-1000-ops cost"}},
         log="x"),
    Plot("graph", "A call that a graph tracer is asked about, by what others trace",
         "graph tracers of another function",
         {name: {0: f"filter function_graph {what}",
                 **each(f"filter function_graph beside-{{}}-graphs {what}", 1, 4, 10)}
          for what, name in (("alone", "recorded"), ("dropped", "dropped by a program"))},
         "instructions a call", log=""),
    Plot("cpus-function", "Switching the function tracer for all functions", "CPUs",
         {way: each(f"cpus {{}} write function-{way} cost", *CPUS) for way in ("on", "off")},
         log=""),
    Plot("cpus-attach", "Attaching a BPF kprobe.multi program", "CPUs",
         {name: each(f"cpus {{}} attach kprobe.multi {count} attach", *CPUS)
          for count, name in ((1, "one function"), (1000, "1,000 functions"))}, log="y"),
)
NOUGHT = 0.3  # where a logarithmic axis has it
COLOURS = {"base": "#b03030", "ours": "#2050a0"}


def points(figures, curve, log):
    """[(number, cost)] of what @figures have of @curve; of a range of ops, the cost of each."""
    found = []
    for number, what in curve.items():
        cost = figures.get(what)
        if not isinstance(cost, float) or "y" in log and cost <= 0:
            continue
        span = re.search(r"-(\d+)-to-(\d+) ", what)
        if span:
            cost /= int(span[2]) - int(span[1]) + 1
        if number == ALL:
            number = figures.get(f"{what.rsplit(' ', 1)[0]} functions", ALL)
        found.append((NOUGHT if not number and "x" in log else number, cost))
    return found


def draw(plot, arch, figures, svg):
    """Draw @plot of the base and ours, if there is something to draw."""
    curves = [(column, name, at, points(figures[column], curve, plot.log))
              for column in ("base", "ours")
              for at, (name, curve) in enumerate(plot.curves.items())]
    curves = [curve for curve in curves if curve[3]]
    if not curves:
        return
    every = [point for curve in curves for point in curve[3]]
    million = max(cost for _, cost in every) >= 1e6
    lines = [f"set terminal svg size 720,540 noenhanced background 'white'; set output '{svg}'",
             f"set title '{plot.title} ({arch.name.replace('_', '-')})'; set grid",
             f"set xlabel '{plot.number}'; set ylabel '{'million ' if million else ''}{plot.cost}'",
             "set key bmargin center vertical maxrows 4 height 1",
             f"set logscale {plot.log}" if plot.log else "",
             "" if "y" in plot.log else "set yrange [0:]"]
    if any(number == NOUGHT for number, _ in every):
        lines.append(f"set xrange [{NOUGHT / 1.5}:]; set xtics add ('0' {NOUGHT})")
    shown = []
    for number, (column, name, at, of) in enumerate(curves):
        rows = "\n".join(f"{x:g} {cost / (1e6 if million else 1):.10g}" for x, cost in of)
        lines.append(f"$curve{number} << END\n{rows}\nEND")
        shown.append(f"$curve{number} with linespoints linewidth 2 pointtype {5 + 2 * at} "
                     f"dashtype {1 + at} linecolor rgb '{COLOURS[column]}' "
                     f"title '{column}{', ' if name else ''}{name}'")
    script = "\n".join([*lines, "plot " + ", ".join(shown), ""])
    res = subprocess.run(["gnuplot"], input=script, capture_output=True, text=True, check=False)
    if res.returncode:
        raise Fail(f"gnuplot failed on {svg.name}: {res.stderr.strip()[-500:]}")


def charts(arch, figures):
    """Draw PLOTS from @figures of 'base' and 'ours'; where they are."""
    for plot in PLOTS:
        svg = OUT / f"{arch.name}-{plot.name}.svg"
        svg.unlink(missing_ok=True)
        draw(plot, arch, figures, svg)
    return OUT / f"{arch.name}-*.svg"


def compare(arch, column, figures):
    """Say how @figures, measured here, differ from the record; whether that is an error."""
    old, then = out_of_date(arch), read_figures(arch)[0].get("toolchain")
    off = deviations(arch, column, figures)
    if old:
        loud(f"{record_file(arch)} is out of date: these have changed since: {old}; "
             f"'make bench RECORD=1 ARCH={arch.name}' writes it anew")
    if not off:
        say(f"{arch.name}: the figures of '{column}' are those on record, within {TOLERANCE:.0%}")
        return False
    loud(f"{arch.name}: {len(off)} figures of '{column}' are not those on record, which were "
         f"measured with {then}; here {toolchain(arch)}:\n   " + "\n   ".join(off))
    return not old and then == toolchain(arch)


def bench():
    """The whole benchmark, for ARCH= or for every architecture; with RECORD= only to record it."""
    series.stands(strict=False)
    OUT.mkdir(parents=True, exist_ok=True)
    if os.environ.get("RECORD"):
        for arch in selected():
            record(arch)
        return 0
    wrong = False
    for arch in selected():
        two = {name: kbuild.build(kernel(arch))
               for name, kernel in (("base", kbuild.base), ("ours", kbuild.ours))}
        figures = {name: {**measure(kernel, "full"), **breakpoints(kernel), **cpus(kernel)}
                   for name, kernel in two.items()}
        table(f"{arch.name}: instructions (QEMU -icount; attaching: the thread's own, "
              "without waiting)", figures["base"], figures["ours"])
        if guest.kvm_works(arch, two["ours"].image):
            wall = {name: measure(kernel, "full", icount=False) for name, kernel in two.items()}
            table(f"{arch.name}: nanoseconds on this machine's CPU (KVM)",
                  wall["base"], wall["ours"])
            figures.update({f"{name}_wall": value for name, value in wall.items()})
        results = OUT / f"{arch.name}.json"
        results.write_text(json.dumps({"arch": arch.name, "base_version": fetch.pin()["VERSION"],
                                       **figures}, indent=1, sort_keys=True) + "\n")
        say(f"figures: {results}; charts: {charts(arch, figures)}")
        lost = broken(figures["base"], figures["ours"])
        if lost:
            raise Fail(f"{arch.name}: the base has figures for what fails here:\n   "
                       + "\n   ".join(lost))
        for column in two:
            wrong |= compare(arch, column, figures[column])
    return 1 if wrong else 0
