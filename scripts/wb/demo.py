# SPDX-License-Identifier: GPL-2.0
"""The demonstration: trace a live workload, then say what a hit costs."""

from . import bench, guest, kbuild, rootfs, series
from .common import loud, say


def trace(kernel):
    """Boot @kernel and run the demonstration's job; its Result."""
    files = {**kbuild.guest_files(kernel), **rootfs.programs(kernel.arch, kernel.source)}
    return guest.boot(kernel.arch, kernel.image, ". /tests/demo.sh\n", f"demo-{kernel.name}.log",
                      files=files, label=f"demonstration {kernel.name}", append="loglevel=5",
                      timeout=600)


def show(result):
    for name, title in (
            ("trace",
             "the trace (function tracer; fprobe with BTF arguments at entry and exit; kprobe):"),
            ("writers", "what a BPF program on vfs_write() counted:"),
            ("filtered", "what another one let an instance record: writes of one process "
                         "(bpf_filter; trace):"),
            ("enabled", "the traced callsites and what each one runs (enabled_functions):"),
            ("sets", "what their ops sets take (ftrace_ops_sets):")):
        print(f"\n{title}\n")
        for line in result.report(name).splitlines():
            print(f"   {line}")
    print(flush=True)


def run(arch):
    series.stands(strict=False)
    ours = kbuild.build(kbuild.ours(arch))
    show(trace(ours))
    say("what a hit costs, in instructions under QEMU's -icount")
    made, figures = bench.read_figures(arch)
    now = bench.measure(ours, "table")
    bench.table(f"{arch.name}: instructions added to one call; ops: on the function/elsewhere\n"
                f"(the pristine base's: as on record, {made.get('toolchain')}; "
                "'make bench' measures them here)",
                {key: value for key, value in figures.get("base", {}).items() if key in now}, now)
    old = bench.out_of_date(arch)
    if old:
        loud(f"the record is out of date: these have changed since: {old}")
    say("next: 'make shell' for a shell in the guest, 'make check' for the tests, "
        "'make bench' for all figures")
