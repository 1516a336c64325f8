# SPDX-License-Identifier: GPL-2.0
"""Packages of other Debian releases, through an apt root of our own under build/.

The host's apt configuration is read (for the mirror) and never changed.
"""

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from .common import BUILD, LOGS, ROOT, Fail, loud, need_room, output, read_record, run, say, staging

PIN = ROOT / "base.pin"
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
APT = BUILD / "apt"
DOWNLOADS = BUILD / "downloads"
# The release whose packages the guest is made of, and its backports, with the base.
SUITE, BACKPORTS = "trixie", "trixie-backports"


def pin():
    return read_record(PIN)


def mirror():
    """MIRROR=, or the first Debian archive the machine's own apt uses."""
    if os.environ.get("MIRROR"):
        return os.environ["MIRROR"].rstrip("/")
    for uri, suite in re.findall(r"'(\S+?)/*/dists/(\S+?)/InRelease'",
                                 output(["apt-get", "update", "--print-uris"])):
        if uri.startswith("mirror+file:"):
            listed = Path("/" + uri.removeprefix("mirror+file:").lstrip("/")).read_text().split()
            uri = next((word for word in listed if "://" in word), "").rstrip("/")
        if uri.endswith("/debian") and "security" not in suite:
            return uri
    raise Fail("no Debian mirror found in this machine's apt configuration; "
               "give one with MIRROR=<address of a Debian archive>")


def apt_options():
    return ["-o", f"Dir={APT}", "-o", f"Dir::State::status={APT}/status",
            "-o", "APT::Architecture=amd64", "-o", "APT::Architectures::=amd64",
            "-o", "APT::Architectures::=arm64", "-o", "APT::Sandbox::User="]


def apt_root(refresh=False):
    """Make the private apt root and fetch the package lists, once."""
    stamp, source = APT / "fetched", mirror()
    if stamp.exists() and stamp.read_text() == source and not refresh:
        return
    say(f"fetching Debian's package lists ({SUITE}, {BACKPORTS})")
    with staging(APT) as tmp:
        for sub in ("etc/apt/apt.conf.d", "etc/apt/preferences.d", "var/lib/apt/lists/partial",
                    "var/cache/apt/archives/partial"):
            (tmp / sub).mkdir(parents=True)
        (tmp / "status").touch()
        (tmp / "etc/apt/sources.list").write_text("".join(
            f"deb [signed-by={KEYRING}] {source} {suite} main\n" for suite in (SUITE, BACKPORTS)))
        options = [str(o).replace(str(APT), str(tmp)) for o in apt_options()]
        try:
            run(["apt-get", *options, "-o", "APT::Update::Error-Mode=any", "update"], "apt.log")
        except Fail as exc:
            raise Fail(f"the Debian mirror did not answer (log: {LOGS}/apt.log); check the "
                       "network, or give MIRROR=<address>, LINUX_DEB=<file> or "
                       "LINUX_TARBALL=<file>") from exc
        (tmp / "fetched").write_text(source)


def apt_get(*words, **kw):
    """Run apt-get on the private apt root; once more if its lists are older than the mirror."""
    apt_root()
    cmd = ["apt-get", "-q=0", *apt_options(), *words]
    try:
        run(cmd, "download.log", label="download", **kw)
    except Fail:
        apt_root(refresh=True)
        run(cmd, "download.log", label="download", **kw)


def download(names, folder):
    """Download packages (name, name:arch or name=version) into @folder; return the files."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as tmp:
        apt_get("download", *names, cwd=tmp)
        return [f.rename(folder / f.name) for f in sorted(Path(tmp).glob("*.deb"))]


def download_all(names, folder):
    """As download(), with everything that the packages depend on."""
    (folder / "partial").mkdir(parents=True)
    apt_get("-o", f"Dir::Cache::archives={folder}", "-y", "--no-install-recommends",
            "--download-only", "install", *names)
    return sorted(folder.glob("*.deb"))


def newest(package):
    """The newest version of @package, or None."""
    policy = output(["apt-cache", *apt_options(), "policy", package])
    found = re.search(r"Candidate: (\S+)", policy)
    return found.group(1) if found and found.group(1) != "(none)" else None


def versions(package):
    madison = output(["apt-cache", *apt_options(), "madison", package])
    return [ln.split("|")[1].strip() for ln in madison.splitlines() if "|" in ln]


def sha256(path):
    with open(path, "rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def check_pin(path, want):
    """@path is the pinned package to the byte, or a Fail."""
    size, digest = path.stat().st_size, sha256(path)
    if (str(size), digest) != (want["SIZE"], want["SHA256"]):
        raise Fail(f"{path.name} is not the pinned {want['PACKAGE']} {want['VERSION']}: {size} "
                   f"bytes with SHA-256 {digest}, the pin in base.pin says {want['SIZE']} and "
                   f"{want['SHA256']}; remove it and fetch again, or move the pin with 'make bump'")


def base_deb():
    """The base's package: LINUX_DEB=, one fetched before, or Debian's; and its version."""
    want = pin()
    if os.environ.get("LINUX_DEB"):
        path = Path(os.environ["LINUX_DEB"])
        if not path.is_file():
            raise Fail(f"LINUX_DEB={path}: no such file")
        check_pin(path, want)
        return path, want["VERSION"]
    path = DOWNLOADS / f"{want['PACKAGE']}_{want['VERSION']}_all.deb"
    if not path.exists():
        need_room(1)
        apt_root()
        if want["VERSION"] not in versions(want["PACKAGE"]):
            apt_root(refresh=True)
        if want["VERSION"] not in versions(want["PACKAGE"]):
            found = newest(want["PACKAGE"])
            if not found:
                raise Fail(f"Debian's {BACKPORTS} has no {want['PACKAGE']} any more; give a local "
                           "copy with LINUX_DEB=<file> or LINUX_TARBALL=<file>")
            loud(f"the pinned {want['PACKAGE']} {want['VERSION']} is gone from the mirror; using "
                 f"{found} instead, UNPINNED. 'make bump' makes that the pin.")
            return download([f"{want['PACKAGE']}={found}"], DOWNLOADS)[0], found
        say(f"downloading {want['PACKAGE']} {want['VERSION']} ({int(want['SIZE']) >> 20} MiB)")
        with tempfile.TemporaryDirectory(dir=BUILD) as tmp:
            got = download([f"{want['PACKAGE']}={want['VERSION']}"], Path(tmp))[0]
            check_pin(got, want)
            DOWNLOADS.mkdir(exist_ok=True)
            shutil.move(got, path)
    check_pin(path, want)
    return path, want["VERSION"]


def unpack(deb, folder):
    output(["dpkg-deb", "-x", deb, folder])


def unpack_base(folder):
    """Lay the base's source tree into @folder; return its version."""
    need_room(6)
    with tempfile.TemporaryDirectory(dir=BUILD) as tmp:
        if os.environ.get("LINUX_TARBALL"):
            tarball, version = Path(os.environ["LINUX_TARBALL"]), pin()["VERSION"]
            if not tarball.is_file():
                raise Fail(f"LINUX_TARBALL={tarball}: no such file")
        else:
            deb, version = base_deb()
            unpack(deb, tmp)
            tarball = next(Path(tmp).glob("usr/src/*.tar.*"))
        say(f"unpacking the base {version}")
        output(["tar", "-xf", tarball, "-C", folder, "--strip-components=1"])
    return version


def pahole():
    """A folder to put first in PATH so that pahole is 1.26 or newer there, or None."""
    have = shutil.which("pahole")
    if have:
        text = subprocess.run([have, "--version"], capture_output=True, text=True,
                              check=False).stdout
        found = re.match(r"v(\d+)\.(\d+)", text)
        if found and (int(found[1]), int(found[2])) >= (1, 26):
            return None
    final = BUILD / "pahole"
    if not (final / "bin/pahole").exists():
        say("fetching Debian 13's pahole (the machine's is older than 1.26, or missing)")
        with staging(final) as tmp, tempfile.TemporaryDirectory(dir=BUILD) as debs:
            for deb in download(["pahole:amd64", "libbpf1:amd64", "libc6:amd64", "libdw1t64:amd64",
                                 "libelf1t64:amd64", "zlib1g:amd64", "libzstd1:amd64",
                                 "liblzma5:amd64", "libbz2-1.0:amd64"], Path(debs)):
                unpack(deb, tmp)
            # It runs behind its own release's ld.so, whatever the machine's libc.
            (tmp / "bin").mkdir()
            wrapper = tmp / "bin/pahole"
            wrapper.write_text('#!/bin/sh\n'
                               'top=$(dirname "$(dirname "$(readlink -f "$0")")")\n'
                               'lib=$top/usr/lib/x86_64-linux-gnu\n'
                               'exec "$lib/ld-linux-x86-64.so.2" --library-path "$lib" '
                               '"$top/usr/bin/pahole" "$@"\n')
            wrapper.chmod(0o755)
    return final / "bin"


def debian_config(arch):
    """Debian's own kernel configuration for @arch, of the pinned version where it is there."""
    want = pin()
    final = BUILD / "debian-config" / want["VERSION"] / arch.debconfig
    if not final.exists():
        apt_root()
        name = want["PACKAGE"].replace("source", "config")
        which = f"={want['VERSION']}" if want["VERSION"] in versions(name) else ""
        say(f"fetching Debian's kernel configuration ({name})")
        with tempfile.TemporaryDirectory(dir=BUILD) as tmp:
            deb = download([f"{name}:{arch.debarch}{which}"], Path(tmp))[0]
            unpack(deb, tmp)
            packed = next(Path(tmp).glob(f"usr/src/*/{arch.debconfig}.xz"))
            text = output(["xz", "-dc", packed])
            final.parent.mkdir(parents=True, exist_ok=True)
            final.write_text(text)
    return final
