# SPDX-License-Identifier: GPL-2.0
"""Checks of the series and of this repository that boot no kernel."""

import os
import re
import subprocess
import tempfile
from pathlib import Path

from . import kbuild, series
from .common import BUILD, ROOT, Fail, environment, run

# The tree's own tools run with the distribution's python, not one found first.
SYSTEM_PATH = {"PATH": f"/usr/sbin:/usr/bin:/sbin:/bin:{os.environ['PATH']}"}


def tracked():
    """The files of this repository, committed or about to be."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, text=True,
                            capture_output=True, check=False)
    if listed.returncode:
        raise Fail("this is no git checkout; the lints want one")
    return [p for p in listed.stdout.splitlines() if (ROOT / p).is_file()]


def tool(cmd, what, ok=(0,), **kw):
    """Run a checker; a Fail with what it said unless it is content."""
    res = subprocess.run([str(c) for c in cmd], text=True, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, env=environment(**SYSTEM_PATH), check=False,
                         **kw)
    if res.returncode not in ok:
        raise Fail(f"{what}:\n" + "\n".join("   | " + ln for ln in res.stdout.splitlines()[-40:]))
    return res.stdout


def round_trip():
    """make tree, then make refresh, leaves no diff."""
    tips = series.make_commits(series.base())
    patches, new = series.collect(series.base(), tips)
    here = {n: (series.PATCHES / n).read_text(errors="surrogateescape") for n in series.names()}
    if list(patches) != list(here):
        raise Fail("the series files below patches/ do not name the patches that 'make refresh' "
                   "writes; run it")
    for name, text in patches.items():
        # On another base than the pinned one the line numbers may have moved.
        plain = [t if series.pinned() else re.sub(r"^@@.*", "@@", t, flags=re.M)
                 for t in (text, here[name])]
        if plain[0] != plain[1]:
            raise Fail(f"patches/{name} is not what 'make refresh' writes; run it and look at "
                       "git diff")
    if set(new) != set(series.all_new_files()):
        raise Fail("the New: lines do not name the files that the commits add")
    for path, (mode, content) in new.items():
        if (ROOT / path).read_bytes() != content \
                or os.access(ROOT / path, os.X_OK) != (mode == "100755"):
            raise Fail(f"{path} is not what 'make refresh' writes")


def mails():
    """The mails of 'make series' give the same tree through git am, and checkpatch is content."""
    with tempfile.TemporaryDirectory(dir=BUILD) as tmp:
        every = []
        for topic in series.topics():
            folder = Path(tmp) / topic
            folder.mkdir()
            series.mails(topic, folder)
            cover, *letters = sorted(folder.glob("*.patch"))
            text, before = cover.read_text() + letters[-1].read_text(), len(every)
            if len(letters) != len(series.names(topic)) \
                    or f"base-commit: {series.base()}" not in text \
                    or text.count("prerequisite-patch-id: ") != before or "***" in text:
                raise Fail(f"the mails of {topic} are not complete: one for each patch, a "
                           "base-commit with all patches before as prerequisites, a cover letter "
                           "with text")
            every += letters
        for letter in every:
            checkpatch(letter)
        work = Path(tmp) / "am"
        touched = series.git("diff", "--name-only", series.base(), "HEAD").split()
        series.git("worktree", "add", "-q", "--no-checkout", "--detach", str(work), series.base())
        try:
            series.git("sparse-checkout", "set", "--no-cone", *(f"/{p}" for p in touched),
                       tree=work)
            series.git("reset", "-q", "--hard", tree=work)
            series.git("am", "-q", *(str(m) for m in every), tree=work)
            if series.git("rev-parse", "HEAD^{tree}", tree=work) \
                    != series.git("rev-parse", "HEAD^{tree}"):
                raise Fail("git am of the mails does not give the tree of build/linux")
        finally:
            series.git("worktree", "remove", "--force", str(work), check=False)


def checkpatch(mail):
    # It lets BPF use RCU-tasks-trace, but does not know that kernel/trace/bpf_* is BPF.
    bpf = "+++ b/kernel/trace/bpf_" in mail.read_text()
    out = tool(["perl", "scripts/checkpatch.pl", "--strict", "--no-signoff", "--no-tree",
                "--root=.", *(["--ignore=RCU_TASKS_TRACE"] if bpf else []), mail],
               f"checkpatch on {mail.name}", ok=(0, 1), cwd=series.LINUX)
    if "total: 0 errors, 0 warnings" not in out or ", 0 checks" not in out:
        raise Fail(f"checkpatch on {mail.name}:\n"
                   + "\n".join("   | " + ln for ln in out.splitlines()[-40:]))


def series_form():
    """What every patch and every new file owes."""
    for name in series.names():
        text = (series.PATCHES / name).read_text(errors="surrogateescape")
        if f"\nFrom: {series.NAME} <{series.EMAIL}>\n" not in f"\n{text}":
            raise Fail(f"patches/{name} is not from {series.NAME}")
        if re.search(r"^Signed-off-by:", text, re.M):
            raise Fail(f"patches/{name} has a Signed-off-by; the person who sends the series "
                       "signs it")
    named = set(series.all_new_files())
    for path in tracked():
        top = path.split("/")[0]
        if top not in series.OURS and path not in named:
            raise Fail(f"{path} lies at a kernel path but no patch names it with 'New:'")
        if "SPDX-License-Identifier: GPL-2.0" \
                not in (ROOT / path).read_text(errors="replace")[:4000]:
            raise Fail(f"{path} has no SPDX line")


def our_sources():
    return [p for p in series.all_new_files() if p.endswith((".c", ".h"))]


def kernel_doc():
    sources = our_sources()
    if sources:
        out = tool(["tools/docs/kernel-doc", "-none", "-Wall", "-Werror", *sources], "kernel-doc",
                   cwd=series.LINUX)
        if "warning" in out:
            raise Fail(f"kernel-doc:\n{out}")


def shell_scripts():
    ours = [p for p in tracked()
            if p.split("/")[0] in ("scripts", "tests", ".ci") and not p.endswith(".py")]
    shells = [p for p in ours
              if re.match(r"#!.*\b(ba|da)?sh\b", (ROOT / p).read_text(errors="replace"))
              or p.endswith(".sh")
              or "shellcheck shell=" in (ROOT / p).read_text(errors="replace")]
    tool(["shellcheck", "-x", "--source-path=SCRIPTDIR", *shells], "shellcheck", cwd=ROOT)
    for path in series.all_new_files():
        if path.endswith(".tc"):
            tool(["dash", "-n", path], f"dash -n {path}", cwd=ROOT)


def python_scripts():
    tool(["/usr/bin/python3", "-m", "pyflakes", *[p for p in tracked() if p.endswith(".py")]],
         "pyflakes", cwd=ROOT)


def columns():
    """No line of ours outside the kernel is longer than 100 characters, but for tables."""
    long = []
    for path in tracked():
        if path.split("/")[0] in ("scripts", "tests", "bench", "README.md", "Makefile") \
                and not path.startswith("tests/data/"):
            lines = (ROOT / path).read_text(errors="replace").splitlines()
            long += [f"{path}:{number}" for number, line in enumerate(lines, 1)
                     if len(line) > 100 and not line.startswith("|")]
    if long:
        raise Fail(f"longer than 100 columns: {' '.join(long)}")


def function_names(kernel):
    """The kernel refuses some names in vmlinux alone; our files may be built into it, too."""
    for path in our_sources():
        built = kernel.out / re.sub(r"\.[ch]$", ".o", path)
        if path.endswith(".c") and built.exists():
            tool(["env", f"NM={kernel.arch.cross}nm",
                  kernel.source / "scripts/check-function-names.sh", built],
                 f"the names of functions in {path}")


def debian_config(arch):
    """Debian's configuration with our options keeps every one of them."""
    with tempfile.TemporaryDirectory(dir=BUILD) as tmp:
        kbuild.defaults(arch, Path(tmp))


WARNING = re.compile(r"^(\S+\.[chS]):(?:\d+:)*\s*(warning|error): (.*)$")


def parse_warnings(text, kernel):
    """{(path below the source tree, warning)} of a build's output."""
    found = (WARNING.match(ln) for ln in text.splitlines())
    # The compiler cache makes paths relative to the build folder; sparse names them whole.
    return {(os.path.relpath(os.path.join(kernel.out, m[1]), kernel.source), m[3])
            for m in found if m}


def warnings(kernel, sources, tag):
    """The W=1 and sparse lines about @sources when their objects are built."""
    objects = [re.sub(r"\.[cS]$", ".o", p) for p in sources if p.endswith((".c", ".S"))]
    kbuild.configure(kernel)
    log = f"warnings-{tag}.log"
    for path in objects:
        (kernel.out / path).unlink(missing_ok=True)
    run(kbuild.make(kernel, "W=1", "C=2", *objects), log, env=kbuild.env(),
        label=f"W=1 and sparse {tag}")
    text = (BUILD / "logs" / log).read_text(errors="replace")
    return {(path, what) for path, what in parse_warnings(text, kernel) if path in sources}


def no_new_warnings(arch):
    """Our files give no line under W=1 and sparse that the base does not have."""
    touched = [p for p in series.git("diff", "--name-only", series.base(), "HEAD").split()
               if p.endswith((".c", ".S", ".h"))]
    built = kbuild.ours(arch).out
    sources = [p for p in touched
               if p.endswith(".h") or (built / re.sub(r"\.[cS]$", ".o", p)).exists()]
    old = [p for p in sources if p not in series.all_new_files()]
    ours, base = kbuild.ours(arch), kbuild.base(arch)
    ours.out, base.out = BUILD / f"lint-{arch.name}", BUILD / "base" / f"lint-{arch.name}"
    now = warnings(ours, sources, f"{arch.name}")
    before = set()
    if now and any(p.endswith((".c", ".S")) for p in old):
        series.pristine()
        before = warnings(base, old, f"{arch.name}-base")
    fresh = sorted(now - before)
    if fresh:
        raise Fail("new warnings:\n" + "\n".join(f"   | {path}: {text}" for path, text in fresh))
