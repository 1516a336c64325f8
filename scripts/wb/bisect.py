# SPDX-License-Identifier: GPL-2.0
"""Build every patch of the series, on each architecture with the series' options on and off.

What has been built is on record, by tree id: a tree's id is its content. Only what is not there
is built, in a work tree and build folders of its own, so that it can go on beside other commands.
From one patch to the next make builds what differs; a patch that changes no file which a build
reads builds as the one before it did.
"""

import dataclasses
import functools
import os
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from . import kbuild, series
from .arch import selected
from .common import BUILD, ROOT, Fail, lock, need_room, output, run, say

RECORD = ROOT / "tests" / "data" / "bisect"
HOME = BUILD / "bisect"
# Beside the build folders as build/linux is, so that all share compiler cache entries.
TREE = HOME / "linux"
# The series' tests are in the kernel in one and modules in the other.
OPTIONS = {"on": ("built-in", "bisect"), "off": ("matrix/off", "bisect")}
# No debug information: it takes time, and no patch breaks it alone.
FLAGS = "KCFLAGS=-g0"
HEAD = ("# SPDX-License-Identifier: GPL-2.0\n"
        "# The trees of the series' commits that have been built, each with how. Written by\n"
        "# 'make check-bisect', which builds what is missing here.\n")


def kernels(archs):
    """{name: Kernel}: what every patch is built as."""
    found = {}
    for arch in archs:
        for word, extra in OPTIONS.items():
            name = f"{arch.name}-{word}"
            found[name] = dataclasses.replace(kbuild.ours(arch, extra), source=TREE,
                                              out=HOME / f"{word}-{arch.name}",
                                              name=f"bisect-{name}")
    return found


# --- the record --------------------------------------------------------------

def read_record(path=None):
    """{tree: names of its builds}; lines that say something else are skipped."""
    path = path or RECORD
    text = path.read_text() if path.exists() else ""
    return {tree: set(names.split())
            for tree, names in re.findall(r"^([0-9a-f]{40})((?: \S+)+)$", text, re.M)}


def write_record(record, trees, path=None, head=HEAD):
    """Write down what @record has about @trees, the present series'; what is older goes."""
    lines = (f"{tree} {' '.join(sorted(record[tree]))}\n"
             for tree in sorted(trees) if record.get(tree))
    path = path or RECORD
    tmp = path.with_suffix(".tmp")
    tmp.write_text(head + "".join(lines))
    tmp.rename(path)


def patches():
    """[(commit, tree, subject)] of the series in build/linux, the first patch first."""
    log = series.git("log", "--reverse", "--format=%H %T %s",
                     f"{series.base()}..refs/workbench/tip")
    return [tuple(line.split(" ", 2)) for line in log.splitlines()]


def on_record():
    """Every patch of the series has been built, says the record."""
    wanted = {f"{arch.name}-{word}" for arch in selected() for word in OPTIONS}
    record = read_record()
    lacking = [(subject, sorted(wanted - record.get(tree, set()))) for _, tree, subject in patches()
               if wanted - record.get(tree, set())]
    # A base in the place of the pinned one has other trees.
    if lacking and series.pinned():
        listed = "\n".join(f"   | {subject}: {' '.join(names)}" for subject, names in lacking[:10])
        raise Fail(f"{len(lacking)} patches are not known to build; run 'make check-bisect', which "
                   f"builds them and writes {RECORD.relative_to(ROOT)}, and commit that:\n{listed}")


# --- what a build reads ------------------------------------------------------

def source_files(text):
    """The paths below the source tree in @text, what kbuild notes of a build or a command."""
    inside = rf"(?:\.\./{TREE.name}|{re.escape(str(TREE))})/([^\s\\:;\"'()]+)"
    return {os.path.normpath(path) for path in re.findall(inside, text)}


def files_read(kernel):
    """All source files that builds in @kernel's folder ever read, as far as kbuild notes them."""
    listed = kernel.out / "files-read"
    found = set(listed.read_text().splitlines()) if listed.exists() else set()
    last = listed.stat().st_mtime if listed.exists() else 0
    for path in kernel.out.rglob(".*.cmd"):
        if path.stat().st_mtime >= last:
            found |= source_files(path.read_text(errors="replace"))
    kconfig = kernel.out / "include/config/auto.conf.cmd"
    if kconfig.exists():  # it names them as they are called in the source
        found |= set(re.findall(r"^\t(\S*Kconfig\S*)", kconfig.read_text(), re.M))
    if found:
        listed.write_text("".join(f"{path}\n" for path in sorted(found)))
    return found


def matters(path, arch, read):
    """Whether a build for @arch that read the files @read may come out otherwise if @path changes.

    kbuild does not note the makefiles, scripts and tools that it runs, nor that a header
    would come before another one if it were there.
    """
    parts = Path(path).parts
    if path in read:
        return True
    if parts[0] in ("Documentation", "LICENSES") or parts[:2] == ("tools", "testing"):
        return False
    if parts[0] == "arch" and len(parts) > 2 and parts[1] != arch.karch:
        return False
    return (parts[0] in ("scripts", "tools") or "include" in parts
            or bool(re.match(r"Makefile|Kbuild", parts[-1])))


@functools.lru_cache(maxsize=None)
def changes(root, tree):
    """{path: blob} of what @tree changes over @root."""
    listed = series.git("diff-tree", "-r", "--no-renames", root, tree).splitlines()
    return {path: meta.split()[3] for meta, path in (line.split("\t", 1) for line in listed)}


class Built:
    """The trees that @kernel's build folder has built, or that build as one of them."""

    def __init__(self, kernel):
        self.kernel, self.path, self.root = kernel, kernel.out / "built", series.base()
        self.read = files_read(kernel)
        known = set(series.git("cat-file", "--batch-check=%(objectname)",
                               "--batch-all-objects").split())
        listed = self.path.read_text().split() if self.path.exists() else []
        self.trees = [tree for tree in listed if tree in known]
        self.contents = {self.content(tree) for tree in self.trees}

    def content(self, tree):
        """What of @tree decides how it builds."""
        return frozenset(change for change in changes(self.root, tree).items()
                         if matters(change[0], self.kernel.arch, self.read))

    def has(self, tree):
        return self.content(tree) in self.contents

    def add(self, tree):
        self.trees = [*self.trees, tree][-200:]
        self.path.write_text("".join(f"{tree}\n" for tree in self.trees))
        read = files_read(self.kernel)
        if read == self.read:
            self.contents.add(self.content(tree))
        else:
            self.read = read
            self.contents = {self.content(tree) for tree in self.trees}


# --- building ----------------------------------------------------------------

def short_link(kernel):
    """Have kbuild link vmlinux once, without symbol table and BTF, which no patch breaks alone.

    make finds a script in the build folder before the source's.
    """
    first = "\tvmlinux_link .tmp_vmlinux1\n"
    text = (kernel.source / "scripts/link-vmlinux.sh").read_text()
    if text.count(first) != 1:
        raise Fail("scripts/link-vmlinux.sh no longer links .tmp_vmlinux1 first; see short_link() "
                   "in bisect.py")
    kbuild_wants = ('\tmv .tmp_vmlinux1 "$VMLINUX"\n'
                    '\techo "$VMLINUX: $0" > ".$VMLINUX.d"\n\texit 0\n')
    script = kernel.out / "scripts/link-vmlinux.sh"
    script.parent.mkdir(parents=True, exist_ok=True)
    series.put(script, text.replace(first, first + kbuild_wants).encode(), "100755")


def configure(kernel):
    """Configure @kernel, unless the options and all that explains them are as they were."""
    tree = series.git("rev-parse", "HEAD^{tree}", tree=kernel.source).strip()
    explained = [f"{path} {blob}" for path, blob in changes(series.base(), tree).items()
                 if "Kconfig" in path]
    now = "\n".join([series.base(), *explained, str(kbuild.wanted(kernel.fragments))])
    stamp = kernel.out / "configured"
    if not stamp.exists() or stamp.read_text() != now:
        stamp.unlink(missing_ok=True)
        # An option may come with a later patch: only the guest's are asked for.
        kbuild.configure(kernel, must=("guest", kernel.arch.name, "bisect"))
        stamp.write_text(now)


def build(kernel):
    """Bring @kernel's build folder to what its source is: all objects, vmlinux, and modules."""
    configure(kernel)
    short_link(kernel)
    run(kbuild.make(kernel, FLAGS, "vmlinux", "modules"), f"{kernel.name}.log", env=kbuild.env())


def lay_out(commit, tree=TREE):
    """Bring the work tree @tree to @commit; only files that differ are touched."""
    if not series.commit_id("HEAD", tree):
        need_room(6)
        say("laying out a work tree for the patches, and building the first from nothing: "
            "15 minutes")
        output(["rm", "-rf", tree])
        series.git("worktree", "prune")
        series.git("worktree", "add", "-q", "--no-checkout", "--detach", str(tree), commit)
    series.git("checkout", "-q", "-f", "--detach", commit, tree=tree)


def build_all(results, what=build):
    """Build with @what each patch that is not on record, and put it there."""
    todo, every, writing = patches(), kernels(selected()), threading.Lock()
    trees = {tree for _, tree, _ in todo}

    def note(name, tree):
        with writing:
            built[name].add(tree)
            record = read_record()  # it may have been edited meanwhile
            record.setdefault(tree, set()).add(name)
            write_record(record, trees)

    def one(name, tree, subject):
        with results.case(f"{name}: {subject}"):
            what(every[name])
            note(name, tree)

    HOME.mkdir(parents=True, exist_ok=True)
    with lock(HOME / "lock", "another 'make check-bisect' is running"), \
            ThreadPoolExecutor(2) as pool:
        built = {name: Built(kernel) for name, kernel in every.items()}
        record = read_record()
        before = sum(name in record.get(tree, ()) for tree in trees for name in every)
        say(f"{before} of {len(trees) * len(every)} builds are on record")
        results.count(passed=before)
        for number, (commit, tree, subject) in enumerate(todo, 1):
            missing = [name for name in every if name not in record.get(tree, ())]
            same = [name for name in missing if built[name].has(tree)]
            for name in same:
                note(name, tree)
            results.count(passed=len(same))
            needed = [name for name in missing if name not in same]
            if missing:
                say(f"{number} of {len(todo)}: {subject}{'' if needed else ': nothing to build'}")
            if needed:
                lay_out(commit)
                for done in [pool.submit(one, name, tree, subject) for name in needed]:
                    done.result()
        write_record(read_record(), trees)
