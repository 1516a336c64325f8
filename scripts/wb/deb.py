# SPDX-License-Identifier: GPL-2.0
"""Installable Debian packages of the patched kernel."""

import tempfile
from pathlib import Path

from . import fetch, kbuild, series
from .common import BUILD, Fail, loud, need_room, run, say

OUT = BUILD / "deb"


def packages(kernel, folder, **extra):
    """Build @kernel's packages into @folder, with @extra in the environment; return them."""
    tag = kernel.name.replace(" ", "-")
    for old in kernel.out.parent.glob(f"linux-*_{kernel.arch.debarch}.deb"):
        old.unlink()
    env = {**kbuild.env(), "DEBEMAIL": series.EMAIL, "DEBFULLNAME": series.NAME,
           # The debug package holds a vmlinux of gigabytes that few want.
           "DEB_BUILD_PROFILES": "pkg.linux-upstream.nokerneldbg", **extra}
    version = f"{fetch.pin()['VERSION'].split('-')[0]}+callsite-1"
    # The machine's own libraries do for the build; dpkg would want the target's.
    run(kbuild.make(kernel, "DPKG_FLAGS=-d", f"KDEB_PKGVERSION={version}", "bindeb-pkg"),
        f"deb-{tag}.log", env=env, label=f"packages {kernel.name}",
        count=r"^\s+(CC|AS|LD|AR|INSTALL|SIGN)\b", what="objects")
    # dpkg leaves them beside the build folder; those of an earlier run were moved away.
    made = sorted(p for p in kernel.out.parent.glob(f"linux-*_{kernel.arch.debarch}.deb"))
    if not any(p.name.startswith("linux-image-") for p in made):
        raise Fail(f"no linux-image package came out; log: build/logs/deb-{tag}.log")
    folder.mkdir(parents=True, exist_ok=True)
    for left in kernel.out.parent.glob("linux-upstream_*"):
        left.unlink()
    return [p.rename(folder / p.name) for p in made]


def check_image(debs, arch):
    """Unpack the image package: the kernel, its configuration and our modules are in it."""
    image = debs[[p.name.startswith("linux-image-") for p in debs].index(True)]
    with tempfile.TemporaryDirectory(dir=BUILD) as tmp:
        fetch.unpack(image, tmp)
        config = next(Path(tmp).glob("boot/config-*"), None)
        kernel = next(Path(tmp).glob("boot/vmlinu?-*"), None)
        if not config or not kernel or "callsite" not in kernel.name:
            raise Fail(f"{image.name} holds no kernel of ours under boot/")
        lost = kbuild.missing(kbuild.wanted(kbuild.series_options(arch)), config)
        if lost:
            raise Fail(f"{image.name}: options of ours are missing: {lost}")
        if not list(Path(tmp).glob("**/ftrace-ops.ko*")) \
                and "SAMPLE_FTRACE_OPS=m" in config.read_text():
            raise Fail(f"{image.name} holds no modules")


def guest_packages(kernel):
    """The packages of the tests' @kernel, quick to build: most of it is there already."""
    # To compress them would take as long again, and nobody downloads them.
    debs = packages(kernel, OUT / "guest", DPKG_DEB_COMPRESSOR_TYPE="none")
    check_image(debs, kernel.arch)
    return debs


def deb(arch, config):
    if config not in ("debian", "guest"):
        raise Fail(f"unknown CONFIG '{config}'; there are: debian guest")
    series.stands(strict=False)
    if config == "guest":
        debs = guest_packages(kbuild.build(kbuild.ours(arch)))
    else:
        loud("Debian's own configuration builds thousands of drivers: hours on 2 cores, and "
             "30 GiB of disk. CONFIG=guest builds the tests' small kernel in minutes.")
        need_room(30)
        debs = packages(kbuild.defaults(arch, BUILD / f"deb-{arch.name}"), OUT / "debian")
    for path in debs:
        say(f"{path} ({path.stat().st_size >> 20} MiB)")
    image = next(p for p in debs if p.name.startswith("linux-image-"))
    say(f"install with: sudo apt install {image}; the kernel's release ends in -callsite")
