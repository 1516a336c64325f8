# SPDX-License-Identifier: GPL-2.0
"""The guest's root file system, of Debian packages, without running foreign code.

The same unpacked packages serve as the sysroot that programs for the guest are
built against; what only a compiler wants is left out of the guest's archive.
"""

import hashlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from . import fetch
from .common import BUILD, ROOT, Fail, environment, need_room, output, run, say, staging

GUEST = ["busybox-static", "dash", "bash", "coreutils", "grep", "sed", "mawk", "kmod", "procps",
         "trace-cmd", "kexec-tools"]
SYSROOT = ["libc6-dev", "libgcc-14-dev", "linux-libc-dev", "libelf-dev", "zlib1g-dev", "libssl-dev"]
LEAN = ("./usr/include/*", "./usr/share/doc/*", "./usr/share/man/*", "./usr/share/locale/*",
        "./usr/share/info/*", "./usr/share/bash-completion/*", "./usr/lib/gcc/*",
        "./usr/lib/*/gconv/*", "./usr/lib/*/perl*", "./usr/lib/*san.so*",
        "./usr/lib/*/libstdc++*", "./var/*", "*.a", "*.o", "./.packages")
# bpftrace with the libraries that it needs and the guest has not: 210 MB, so only for those
# who run it.
BPFTRACE = ["bpftrace", "libbpf1", "libbpfcc", "libsframe1", "libclang1-19", "libllvm19",
            "libz3-4", "libedit2", "libbsd0", "libmd0", "libffi8", "libxml2", "libstdc++6"]
CLANG = "clang-19"
PROGRAMS = ("hits", "writers")


def sysroot(arch):
    """The unpacked packages for @arch, fetched once."""
    final = BUILD / "rootfs" / arch.name
    stamp = final / ".packages"
    wanted = hashlib.sha256(f"{fetch.SUITE} {GUEST + SYSROOT}".encode()).hexdigest()
    if not stamp.exists() or stamp.read_text() != wanted:
        need_room(2)
        say(f"fetching the guest's packages for {arch.name}")
        with staging(final) as tmp:
            mode = "root" if os.geteuid() == 0 else "unshare"
            source = f"deb [signed-by={fetch.KEYRING}] {fetch.mirror()} {fetch.SUITE} main"
            run(["mmdebstrap", "--variant=extract", f"--mode={mode}", "--format=tar",
                 f"--architectures={arch.debarch}", "--include=" + ",".join(GUEST + SYSROOT),
                 fetch.SUITE, tmp / "all.tar", source], f"rootfs-{arch.name}.log",
                label=f"guest's packages for {arch.name}",
                env={**os.environ, "SOURCE_DATE_EPOCH": "0"})
            output(["tar", "-xf", tmp / "all.tar", "-C", tmp, "--no-same-owner",
                    "--exclude=./dev/*"])
            (tmp / "all.tar").unlink()
            (tmp / ".packages").write_text(wanted)
            archive(arch).unlink(missing_ok=True)
    return final


def cpio(folder, final, leave_out=()):
    """Write @folder as an initramfs: root's, in a fixed order, without times."""
    prune = [arg for pattern in leave_out for arg in ("!", "-path", pattern)]
    output(["find", folder, "-exec", "touch", "-h", "-d", "@0", "{}", "+"])
    listed = subprocess.run(["find", ".", *prune, "-print0"], cwd=folder, capture_output=True,
                            check=True).stdout
    paths = b"\0".join(sorted(listed.rstrip(b"\0").split(b"\0"))) + b"\0"
    tmp = final.with_suffix(".tmp")
    with open(tmp, "wb") as out:
        res = subprocess.run(["cpio", "--null", "--reproducible", "--quiet", "-o", "-H", "newc",
                              "-R", "0:0"], cwd=folder, input=paths, stdout=out,
                             stderr=subprocess.PIPE, check=False)
    if res.returncode:
        raise Fail(f"cpio could not write {final}: {res.stderr.decode()[-500:]}")
    tmp.rename(final)


def archive(arch):
    return BUILD / "rootfs" / f"{arch.name}.cpio"


def image(arch):
    """The guest's archive for @arch, made once."""
    folder, final = sysroot(arch), archive(arch)
    if not final.exists():
        cpio(folder, final, LEAN)
        say(f"root file system for {arch.name}: {final.stat().st_size >> 20} MiB")
    return final


def overlay(final, files, script):
    """An archive of @files (path in the guest -> file or folder) and the job @script."""
    with staging(final.with_suffix(".d")) as tmp:
        for path, source in {"init": ROOT / "tests/guest/init", **files}.items():
            target = tmp / path.lstrip("/")
            target.parent.mkdir(parents=True, exist_ok=True)
            if source.is_dir():
                shutil.copytree(source, target, symlinks=True, dirs_exist_ok=True,
                                ignore=shutil.ignore_patterns("build", "source"))
            else:
                shutil.copy(source, target)
        (tmp / "job").write_text(script)
        cpio(tmp, final)


def bpftrace(arch):
    """What a guest of @arch needs to run bpftrace."""
    final = BUILD / "bpftrace" / arch.name
    stamp = final / ".packages"
    wanted = f"{fetch.SUITE} {BPFTRACE}"
    if not stamp.exists() or stamp.read_text() != wanted:
        need_room(1)
        say(f"fetching bpftrace for {arch.name}")
        with staging(final) as tmp, tempfile.TemporaryDirectory(dir=BUILD) as debs:
            for deb in fetch.download([f"{name}:{arch.debarch}" for name in BPFTRACE], Path(debs)):
                fetch.unpack(deb, tmp)
            for needless in ("share", "sbin"):
                shutil.rmtree(tmp / "usr" / needless, ignore_errors=True)
            (tmp / ".packages").write_text(wanted)
    return {"usr": final / "usr"}


def programs(arch, tree):
    """Build the BPF programs of bench/ for @arch with @tree's own libbpf; their folder."""
    out = BUILD / "bench" / f"{tree.parent.name}-{arch.name}"
    out.mkdir(parents=True, exist_ok=True)
    root = sysroot(arch)
    cc = f"{CLANG} --target={arch.triple} --sysroot={root}"
    log = f"libbpf-{tree.parent.name}-{arch.name}.log"
    run(["make", "-s", "-C", tree / "tools/lib/bpf", f"OUTPUT={out}/", f"DESTDIR={out}/install",
         "prefix=", f"ARCH={arch.karch}", f"CC={cc}", "AR=llvm-ar-19", "LD=ld.lld-19",
         "EXTRA_CFLAGS=-O2 -fPIC", f"{out}/libbpf.a", "install_headers"], log, env=environment())
    common = ["-O2", "-g", "-Wall", "-Werror", f'-DTARGET="{arch.getpgid}"',
              f"-I{out}/install/include"]
    for name in PROGRAMS:
        source, log = ROOT / "bench" / name, f"{name}-{tree.parent.name}-{arch.name}.log"
        run([CLANG, *common, "-target", "bpf", f"-I{root}/usr/include/{arch.triple}",
             "-c", f"{source}.bpf.c", "-o", out / f"{name}.bpf.o"], log)
        run([*cc.split(), *common, "-fuse-ld=lld-19", f"{source}.c", "-o", out / name,
             f"{out}/libbpf.a", "-lelf", "-lz"], log)
    built = {f"bench/{f}": out / f for name in PROGRAMS for f in (name, f"{name}.bpf.o")}
    tool = tree / "tools/bpf/ftrace_filter"
    if tool.exists():
        run(["make", "-s", "-C", tool, f"OUTPUT={out}", f"LIBBPF={out}/libbpf.a", f"CC={cc}",
             f"INCLUDES=-I{out}/install/include -I{tree}/tools/include/uapi",
             f"CLANG={CLANG}", "LDFLAGS=-fuse-ld=lld-19"], log, env=environment())
        built |= {f"bench/{f}": out / f for f in ("ftrace_filter", "examples.bpf.o")}
    return built
