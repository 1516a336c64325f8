# SPDX-License-Identifier: GPL-2.0
"""Clients as Debian ships them, on the pristine base and on ours: the same results."""

import re
import shutil
import tempfile
from pathlib import Path

from . import fetch, guest, kbuild, series
from .arch import selected
from .common import BUILD, Fail, need_room, say, staging
from .results import Results

PACKAGES = ["bpftrace", "linux-perf", "libbpf-tools"]
# Half of what these bring along is for scripts, which are not run here.
NEEDLESS = ("share", "include", "lib/*/perl", "lib/*/gconv", "lib/python3*", "lib/perf-core/tests")


def packages(arch):
    """What a guest of @arch needs to run the clients, but for what every guest has."""
    final = BUILD / "clients" / arch.name
    stamp, wanted = final / ".packages", f"{fetch.SUITE} {PACKAGES}"
    if not stamp.exists() or stamp.read_text() != wanted:
        need_room(2)
        say(f"fetching {', '.join(PACKAGES)} for {arch.name}")
        with staging(final) as tmp, tempfile.TemporaryDirectory(dir=BUILD) as debs:
            for deb in fetch.download_all([f"{n}:{arch.debarch}" for n in PACKAGES], Path(debs)):
                if deb.stem.endswith(("_all", f"_{arch.debarch}")):
                    fetch.unpack(deb, tmp)
            for path in (p for n in NEEDLESS for p in (tmp / "usr").glob(n)):
                shutil.rmtree(path)
            (tmp / stamp.name).write_text(wanted)
    return {"usr": final / "usr"}


def told(kernel):
    """What the clients told on @kernel, and how long they took: {what: text}, {what: numbers}."""
    files = {**kbuild.guest_files(kernel), **packages(kernel.arch)}
    done = guest.boot(kernel.arch, kernel.image, ". /tests/clients.sh\n",
                      f"clients-{kernel.name.replace(' ', '-')}.log", files=files, smp=1,
                      icount=True, label=f"clients {kernel.name}", memory="3G", timeout=3600,
                      silence=600, append="loglevel=5")
    results = dict(ln.split(": ", 1) for ln in done.report("results").splitlines())
    times = {name: [int(n) for n in numbers] for name, *numbers in
             re.findall(r"^(.*) attach=(\d+) detach=(\d+)$", done.report("times"), re.M)}
    return results, times


def table(arch, base, ours):
    """Print what attaching and detaching took; one nanosecond is one instruction."""
    print(f"\n{arch.name}: million instructions of the guest until a client's workload began, "
          "and after its end\n")
    print(f"   {'':36}{'attach: base':>14}{'ours':>9}{'detach: base':>15}{'ours':>9}")
    for what, (attach, detach) in ours.items():
        was = base.get(what, (0, 0))
        print(f"   {what:36}{was[0] / 1e6:14.0f}{attach / 1e6:9.0f}"
              f"{was[1] / 1e6:15.0f}{detach / 1e6:9.0f}")
    print(flush=True)


def check_clients():
    """Every client, on the base and on ours, on each architecture."""
    results = Results()
    series.stands(strict=False)
    for arch in selected():
        with results.case(f"{arch.name}: clients tell the same on the base and on ours"):
            base, was = told(kbuild.build(kbuild.base(arch)))
            ours, now = told(kbuild.build(kbuild.ours(arch)))
            table(arch, was, now)
            differ = [f"   | {what}: base '{base.get(what)}', ours '{ours.get(what)}'"
                      for what in {**base, **ours} if base.get(what) != ours.get(what)]
            if differ:
                raise Fail("\n".join(["the clients told different things:", *differ]))
            results.count(passed=len(ours))
    return results.close()
