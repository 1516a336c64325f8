# SPDX-License-Identifier: GPL-2.0
"""Configure and build kernels, out of tree, the pristine base's and ours."""

import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from . import fetch, series
from .arch import Arch
from .common import BUILD, ROOT, Fail, environment, need_room, run, say

CONFIGS = ROOT / "configs"
# So that two builds of the same source are the same to the byte.
FIXED = {"KBUILD_BUILD_TIMESTAMP": "2026-01-01 00:00:00 UTC", "KBUILD_BUILD_USER": "build",
         "KBUILD_BUILD_HOST": "callsite-ops", "KBUILD_BUILD_VERSION": "1"}
OPTION = re.compile(r"^(?:# )?(CONFIG_\w+)(?:=(.*)| is not set)$")


@dataclass
class Kernel:
    """One kernel: what it is built from, and where."""

    arch: Arch
    source: Path
    out: Path
    fragments: tuple
    name: str
    cc: str = ""
    debian: bool = False  # whether what Debian builds in is below the fragments

    @property
    def image(self):
        return self.out / self.arch.image

    @property
    def modules(self):
        return self.out / "modules"


def with_own(arch, fragments):
    """@fragments, each followed by the one that @arch has to it."""
    names = (n for f in fragments for n in (f, f"{f}-{arch.name}"))
    return tuple(n for n in names if n in fragments or (CONFIGS / f"{n}.config").exists())


def series_options(arch):
    """The fragments of the series' own options: for every architecture, and for @arch."""
    return with_own(arch, ("series",))


def ours(arch, extra=(), name=None):
    """The series' kernel; with @extra fragments in its own folder, called @name or after them."""
    kind = name or "-".join(extra) or "out"
    return Kernel(arch, series.LINUX, BUILD / f"{kind}-{arch.name}",
                  ("guest", arch.name, *series_options(arch), "tests", *with_own(arch, extra)),
                  f"{arch.name}{''.join('+' + e for e in extra)}")


def base(arch, extra=()):
    """The pristine base's kernel; with @extra fragments, in a build folder named after them.

    It is built below build/base/, where its source lies at the same relative
    place as ours does: so the two share compiler cache entries.
    """
    kind = "-".join(extra) or "out"
    if not extra:
        link = BUILD / f"base-{arch.name}"
        if not link.is_symlink():
            link.symlink_to(f"base/out-{arch.name}")
    return Kernel(arch, series.PRISTINE, BUILD / "base" / f"{kind}-{arch.name}",
                  ("guest", arch.name, *extra),
                  f"{arch.name} base{''.join('+' + e for e in extra)}")


def env():
    """What kernels are built with. The compiler cache works from the list of headers alone:
    a preprocessor run of its own costs an object that it does not have a third of its time."""
    path = [str(p) for p in (fetch.pahole(), os.environ["PATH"]) if p]
    return environment(PATH=":".join(path), CCACHE_BASEDIR=str(BUILD), CCACHE_NOHASHDIR="1",
                       CCACHE_DEPEND="1", CCACHE_COMPRESS="1", **FIXED)


def make(kernel, *words):
    """The make command for @kernel."""
    cc = f"{'ccache ' if shutil.which('ccache') else ''}{kernel.cc or kernel.arch.cross + 'gcc'}"
    hostcc = f"{'ccache ' if shutil.which('ccache') else ''}gcc"
    return ["nice", "-n", "5", "make", "-C", kernel.source, f"O={kernel.out}",
            f"ARCH={kernel.arch.karch}", f"CROSS_COMPILE={kernel.arch.cross}", f"CC={cc}",
            f"HOSTCC={hostcc}", "LOCALVERSION=", f"-j{os.cpu_count()}", *words]


def debian_builtin(arch):
    """option -> value, of what Debian's own kernel for @arch has built in."""
    found = (OPTION.match(ln) for ln in fetch.debian_config(arch).read_text().splitlines())
    return {f[1]: f[2] or "n" for f in found if f and f[2] != "m"}


def wanted(fragments):
    """option -> value, of all @fragments; a later one overrides an earlier one."""
    options = {}
    for name in fragments:
        path = CONFIGS / f"{name}.config"
        for number, line in enumerate(path.read_text().splitlines(), 1):
            found = OPTION.match(line)
            if found:
                options[found[1]] = found[2] or "n"
            elif line and not line.startswith("#"):
                raise Fail(f"{path}:{number}: not an option: {line}")
    return options


def missing(options, config):
    """Which of @options the final @config does not hold, as lines."""
    have = {}
    for line in Path(config).read_text().splitlines():
        found = OPTION.match(line)
        if found:
            have[found[1]] = found[2] or "n"
    return [f"{name}: wanted {value}, got {have.get(name, 'n')}" for name, value in options.items()
            if have.get(name, "n") != value]


def check_options(kernel, options):
    lost = missing(options, kernel.out / ".config")
    if lost:
        raise Fail(f"{kernel.name}: {len(lost)} options did not make it into {kernel.out}/.config "
                   "(a dependency is missing, or the name is wrong):\n"
                   + "\n".join("   | " + ln for ln in lost))


def configure(kernel, must=None):
    """Write .config from the fragments; every option asked for (or of @must) must be in it."""
    options = wanted(kernel.fragments)
    below = debian_builtin(kernel.arch) if kernel.debian else {}
    kernel.out.mkdir(parents=True, exist_ok=True)
    every = kernel.out / "all.config"
    every.write_text("".join(f"{k}={v}\n" for k, v in {**below, **options}.items()))
    log = f"config-{kernel.name.replace(' ', '-')}.log"
    run(make(kernel, f"KCONFIG_ALLCONFIG={every}", "allnoconfig"), log, env=env())
    check_options(kernel, wanted(must) if must else options)


def build(kernel, must=None):
    """Configure and build @kernel with its modules, as far as that is needed."""
    if kernel.source == series.PRISTINE:
        series.pristine()
    if not kernel.image.exists():
        need_room(4)
        say(f"building the kernel for {kernel.name}: 5 to 10 minutes on 2 cores from nothing")
    configure(kernel, must)
    tag = kernel.name.replace(" ", "-")
    run(make(kernel, kernel.arch.imagetarget, "vmlinux", "modules"), f"build-{tag}.log",
        label=f"build {kernel.name}", count=r"^\s+(CC|AS|LD|AR)\b", what="objects", env=env())
    shutil.rmtree(kernel.modules, ignore_errors=True)
    run(make(kernel, f"INSTALL_MOD_PATH={kernel.modules}", "INSTALL_MOD_STRIP=1",
             "modules_install"), f"modules-{tag}.log", env=env())
    return kernel


def guest_files(kernel):
    """What a guest of @kernel gets: its modules (lib is a link there) and our tests."""
    return {"usr/lib/modules": kernel.modules / "lib/modules", "tests": ROOT / "tests/guest"}


def defaults(arch, folder):
    """Debian's own configuration for @arch with our options, in @folder; for 'make deb'."""
    kernel = Kernel(arch, series.LINUX, folder, (*series_options(arch), "debian"),
                    f"{arch.name} debian")
    kernel.out.mkdir(parents=True, exist_ok=True)
    options = wanted(kernel.fragments)
    text = fetch.debian_config(arch).read_text()
    # Debian signs its modules with a key of its own; ours makes one at build time.
    (kernel.out / ".config").write_text(text + "".join(f"{k}={v}\n" for k, v in options.items()))
    run(make(kernel, "olddefconfig"), f"config-debian-{arch.name}.log", env=env())
    check_options(kernel, options)
    return kernel
