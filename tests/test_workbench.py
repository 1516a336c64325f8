# SPDX-License-Identifier: GPL-2.0
"""Bad input and faults: a clear error, and what was there before still there."""

import contextlib
import errno
import io
import os
import re
import subprocess
import sys
import tempfile
import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest import mock

import workbench
from wb import bench, bisect, check, deb, demo, fetch, figures, guest, kbuild, lint, rootfs, series
from wb.arch import NAMES, Arch, selected
from wb.common import BUILD, ROOT, Fail, advice
from wb.results import Results, ktap


@contextlib.contextmanager
def series_of(patch, files=()):
    """A series of one patch, with its new files, in the place of ours."""
    with tempfile.TemporaryDirectory(dir=BUILD) as tmp:
        root = Path(tmp)
        (root / "patches/first").mkdir(parents=True)
        (root / "patches/topics").write_text("first\n")
        (root / "patches/first/series").write_text("one.patch\n")
        (root / "patches/first/one.patch").write_text(patch)
        for name, text in dict(files).items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        with mock.patch.multiple(series, ROOT=root, PATCHES=root / "patches"):
            yield root


MAIL = ("From: A <a@b.invalid>\nDate: Thu, 01 Jan 2026 00:00:00 +0000\n"
        "Subject: [PATCH] one\n\nwhy\n---\n"
        "{new}\ndiff --git a/lib/tests/Makefile b/lib/tests/Makefile\n--- a/lib/tests/Makefile\n"
        "+++ b/lib/tests/Makefile\n@@ -1,4 +1,5 @@\n # SPDX-License-Identifier: GPL-2.0\n #\n"
        "-{context}\n+# another\n+# two\n \n")


class BadInput(unittest.TestCase):
    """What a user may get wrong, and what a mirror may."""

    def check_fails(self, words, action, *args, **kw):
        with self.assertRaises(Fail) as caught:
            action(*args, **kw)
        for word in words:
            self.assertIn(word, str(caught.exception))

    def make(self, *words):
        env = {k: v for k, v in os.environ.items()
               if k not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "ARCH")}
        return subprocess.run(["make", "-s", *words], cwd=ROOT, env=env, text=True,
                              capture_output=True, check=False)

    def test_unknown_arch(self):
        """bad input: an unknown ARCH is named, with those that exist"""
        res = self.make("build", "ARCH=mips")
        self.assertNotEqual(res.returncode, 0)
        self.assertIn("unknown ARCH 'mips'", res.stderr)
        self.assertIn("arm64", res.stderr)
        self.check_fails(["unknown ARCH", "x86_64"], Arch, "mips")

    def test_unknown_config(self):
        """bad input: an unknown CONFIG for make deb is named"""
        self.check_fails(["unknown CONFIG 'mine'", "guest"], deb.deb, Arch("x86_64"), "mine")

    def test_unknown_storm(self):
        """bad input: what make check-storm cannot do is named"""
        self.check_fails(["unknown KERNEL 'mine'", "debug"],
                         check.check_storm, Arch("x86_64"), "mine", "", "")
        self.check_fails(["LENGTH=soon"], check.check_storm, Arch("x86_64"), "", "soon", "")

    def test_corrupt_package(self):
        """bad input: a package that is not the pinned one is refused"""
        with tempfile.NamedTemporaryFile(dir=BUILD, suffix=".deb") as deb:
            deb.write(b"not a package")
            deb.flush()
            with mock.patch.dict(os.environ, LINUX_DEB=deb.name):
                self.check_fails(["is not the pinned", "base.pin"], fetch.base_deb)

    def test_corrupt_download(self):
        """faults: a damaged download is refused and not kept"""
        with tempfile.TemporaryDirectory(dir=BUILD) as tmp:
            def damaged(_names, folder):
                path = folder / "linux.deb"
                path.write_bytes(b"half of it")
                return [path]
            env = {k: v for k, v in os.environ.items() if k not in ("LINUX_DEB", "LINUX_TARBALL")}
            with mock.patch.multiple(fetch, DOWNLOADS=Path(tmp), download=damaged,
                                     versions=lambda _: [fetch.pin()["VERSION"]]), \
                    mock.patch.dict(os.environ, env, clear=True):
                self.check_fails(["is not the pinned"], fetch.base_deb)
            self.assertEqual(os.listdir(tmp), [])

    def test_missing_files(self):
        """bad input: LINUX_DEB= and LINUX_TARBALL= that are not there"""
        for name, action in (("LINUX_DEB", fetch.base_deb), ("LINUX_TARBALL", self.unpack)):
            with mock.patch.dict(os.environ, {name: "/nonexistent"}):
                self.check_fails([name, "no such file"], action)

    def unpack(self):
        with tempfile.TemporaryDirectory(dir=BUILD) as tmp:
            fetch.unpack_base(Path(tmp))

    def test_no_mirror(self):
        """faults: a mirror that does not answer leaves the package lists as they were"""
        stamp = (fetch.APT / "fetched").read_text() if fetch.APT.exists() else None
        with mock.patch.dict(os.environ, MIRROR="http://127.0.0.1:9/debian"):
            self.check_fails(["did not answer", "MIRROR="], fetch.apt_root)
        if stamp:
            self.assertEqual((fetch.APT / "fetched").read_text(), stamp)

    def test_no_room(self):
        """faults: too little room on the disk is said before anything is written"""
        with mock.patch("shutil.disk_usage", return_value=mock.Mock(free=2**20)):
            self.check_fails(["GiB", "make room"], self.unpack)

    def test_hunk_does_not_apply(self):
        """bad input: a series that does not apply is listed by file and line"""
        before = series.commit_id("HEAD")
        with series_of(MAIL.format(new="", context="# no such line")):
            self.check_fails(["one.patch", "does not apply", "lib/tests/Makefile:1"],
                             series.make_commits, series.base())
        self.assertEqual(series.commit_id("HEAD"), before)
        self.assertEqual(series.dirty(), [])

    def test_new_file_over_base(self):
        """bad input: a new file never goes over a file of the base"""
        with series_of(MAIL.format(new="New: lib/Makefile",
                                   context="# Makefile for tests of kernel library functions."),
                       {"lib/Makefile": "x\n"}):
            self.check_fails(["lib/Makefile", "file of the base"],
                             series.make_commits, series.base())

    def test_new_file_missing(self):
        """bad input: a new file that a patch names must be there"""
        with series_of("From: a\n---\nNew: lib/none.c\n"):
            self.check_fails(["lib/none.c", "not there"], series.key)

    def test_refresh_dirty(self):
        """bad input: make refresh refuses a dirty tree and leaves it alone"""
        stray = series.LINUX / "lib/stray-file-of-a-test.c"
        stray.write_text("int x;\n")
        try:
            self.check_fails(["uncommitted changes", "lib/stray"], series.refresh)
            self.check_fails(["uncommitted", "make refresh"], series.stands, strict=True)
            self.assertEqual(stray.read_text(), "int x;\n")
        finally:
            stray.unlink()

    def test_refresh_off_branch(self):
        """bad input: make refresh refuses a HEAD that is not the series, as amid a rebase"""
        series.git("checkout", "-q", "--detach")
        try:
            self.check_fails(["not on its branch 'series'"], series.refresh)
        finally:
            series.git("checkout", "-q", "series")

    def test_refresh_over_changed_series(self):
        """bad input: make refresh never goes over patches that changed since make tree"""
        stamp = series.STAMP.read_text()
        try:
            series.STAMP.write_text("another series")
            self.check_fails(["would be overwritten", "make tree"], series.refresh)
        finally:
            series.STAMP.write_text(stamp)

    def test_tree_keeps_commits(self):
        """bad input: make tree never drops commits, also when something else is checked out"""
        head = series.commit_id("HEAD")
        try:
            series.git("commit", "-q", "--allow-empty", "-m", "work of hours")
            series.git("checkout", "-q", "--detach", head)
            with series_of(MAIL.format(new="", context="# Makefile for tests of kernel library "
                                       "functions.")):
                self.check_fails(["has not written back", "rebase --onto"], series.tree)
            self.assertNotEqual(series.commit_id("refs/heads/series"), head)
        finally:
            series.git("checkout", "-q", "-B", "series", head)

    def test_message_that_ends_a_mail(self):
        """bad input: a commit message that a mail would cut short is refused"""
        head = series.commit_id("HEAD")
        try:
            series.git("commit", "-q", "--allow-empty", "-m", "one\n\nbefore\n---\nafter")
            self.check_fails(["word it differently"], series.refresh)
        finally:
            series.git("reset", "-q", "--hard", head)

    def test_git_stays_in_build(self):
        """bad input: a build/linux that is no repository leads git into no other around it"""
        with tempfile.TemporaryDirectory(dir=BUILD) as tmp:
            self.check_fails(["not a git repository"],
                             series.git, "rev-parse", "HEAD", tree=Path(tmp))

    def test_new_file_grows(self):
        """series: a later commit that changes a new file comes back from its patch"""
        head, root = series.commit_id("HEAD"), series.base()
        path = next(p for p in series.all_new_files() if p.endswith(".c"))
        with tempfile.TemporaryDirectory(dir=BUILD) as tmp:
            try:
                (series.LINUX / path).write_text((series.LINUX / path).read_text()
                                                 + "\n/* more */\n")
                series.git("commit", "-q", "-a", "-m", "touch it again")
                want = series.commit_id("HEAD")
                patches, new = series.collect(root, series.topic_tips(root))
            finally:
                series.git("reset", "-q", "--hard", head)
            self.assertTrue(new[path][1].endswith(b"/* more */\n"))
            self.assertIn("+/* more */", list(patches.values())[-1])
            for name, text in [*patches.items(),
                               *((f"{t}/series", "".join(f"{n.split('/')[1]}\n" for n in patches
                                                         if n.startswith(f"{t}/")))
                                 for t in series.topics()),
                               ("topics", "".join(f"{t}\n" for t in series.topics()))]:
                series.put(Path(tmp) / "patches" / name, text.encode(errors="surrogateescape"))
            for name, (mode, content) in new.items():
                series.put(Path(tmp) / name, content, mode)
            with mock.patch.multiple(series, ROOT=Path(tmp), PATCHES=Path(tmp) / "patches"):
                made = list(series.make_commits(root).values())[-1]
                self.assertEqual(series.git("rev-parse", f"{made}^{{tree}}"),
                                 series.git("rev-parse", f"{want}^{{tree}}"))
                (Path(tmp) / path).write_text("int x;\n")
                self.check_fails([path, "no longer fits", "build/linux"], series.make_commits, root)

    def test_new_file_removed(self):
        """bad input: make refresh refuses a commit that removes what another one adds"""
        before = {p: p.read_bytes() for p in (ROOT / "patches").rglob("*") if p.is_file()}
        head = series.commit_id("HEAD")
        path = next(p for p in series.all_new_files() if p.endswith(".c"))
        try:
            series.git("rm", "-q", path)
            series.git("commit", "-q", "-m", "remove it again")
            self.check_fails(["removes the new file", path], series.refresh)
        finally:
            series.git("reset", "-q", "--hard", head)
        self.assertEqual({p: p.read_bytes() for p in (ROOT / "patches").rglob("*") if p.is_file()},
                         before)

    def test_help(self):
        """help: it lists each command that there is, and no other"""
        listed = re.findall(r"^  make ([a-z-]+)", self.make("help").stdout, re.M)
        self.assertEqual(set(listed), set(workbench.COMMANDS))

    def test_topics(self):
        """bad input: topics that are unknown, repeat, or end nowhere are named"""
        self.check_fails(["unknown TOPIC 'nosuch'", "fixes"], series.write_mails, "nosuch")
        with series_of("From: a\n") as root:
            (root / "patches/topics").write_text("one\none\n")
            self.check_fails(["each topic once"], series.topics)
            (root / "patches/topics").write_text("../etc\n")
            self.check_fails(["../etc"], series.topics)
            (root / "patches/topics").write_text("nosuch\nfirst\n")
            self.check_fails(["no branch topic/nosuch", "git -C build/linux branch"],
                             series.topic_tips, series.base())
        first, second = (series.commit_id(series.branch(t)) for t in series.topics()[:2])
        try:
            series.git("update-ref", series.branch(series.topics()[0]), second)
            series.git("update-ref", series.branch(series.topics()[1]), first)
            self.check_fails([f"topic/{series.topics()[1]}", "--update-refs"], series.refresh)
        finally:
            series.git("update-ref", series.branch(series.topics()[0]), first)
            series.git("update-ref", series.branch(series.topics()[1]), second)

    def test_missing_option(self):
        """bad input: an option that does not reach .config is an error that names it"""
        kernel = kbuild.ours(selected()[0])
        with tempfile.TemporaryDirectory(dir=BUILD) as tmp:
            (Path(tmp) / "x.config").write_text("CONFIG_NO_SUCH_OPTION=y\n")
            with mock.patch.object(kbuild, "CONFIGS", Path(tmp)):
                options = kbuild.wanted(["x"])
        self.check_fails(["CONFIG_NO_SUCH_OPTION: wanted y, got n"],
                         kbuild.check_options, kernel, options)


class Verdicts(unittest.TestCase):
    """What is read out of logs."""

    def test_warnings_are_read(self):
        """lint: lines of gcc through the compiler cache and of sparse are both seen"""
        kernel = kbuild.ours(selected()[0])
        text = ("../linux/lib/x.c:3:5: warning: unused variable\n"
                f"{series.LINUX}/kernel/y.c:7:1: error: bad\n  CC lib/x.o\n")
        self.assertEqual(lint.parse_warnings(text, kernel),
                         {("lib/x.c", "unused variable"), ("kernel/y.c", "bad")})

    def test_ktap(self):
        """KUnit: a suite that fails as a whole or loses cases is no pass"""
        def one(suite):
            return ktap(f"KTAP version 1\n1..1\n{suite}")

        suite = "    KTAP version 1\n    # Subtest: a\n    1..2\n"
        self.assertEqual(one(f"{suite}    ok 1 x\n    not ok 2 y\nnot ok 1 a\n"),
                         [("a.x", "PASS"), ("a.y", "FAIL")])
        self.assertEqual(one(f"{suite}    ok 1 x # SKIP why\n    ok 2 y\nok 1 a\n"),
                         [("a.x", "SKIP"), ("a.y", "PASS")])
        self.assertIn(("a", "FAIL"), one(f"{suite}    ok 1 x\n    ok 2 y\nnot ok 1 a\n"))
        for lost in ("not ok 1 c\n", f"{suite}    ok 1 x\nok 1 a\n", f"{suite}    ok 1 x\n", ""):
            self.assertIn("FAIL", [r for _, r in one(lost)])
        self.assertIn("FAIL", [r for _, r in ktap("")])

    def test_ktap_of_ftracetest(self):
        """ftracetest: its KTAP gives each test by its description"""
        text = ("TAP version 13\n1..3\nok 1 Basic test\n"
                "not ok 2 (instance) Other # UNRESOLVED\nok 3 Last # SKIP\n")
        self.assertEqual(ktap(text), [("Basic test", "PASS"), ("(instance) Other", "FAIL"),
                                      ("Last", "SKIP")])

    def test_splats(self):
        """guest: the scan sees what a kernel in trouble prints, and not the names of tests"""
        for line in ("Unable to handle kernel paging request",
                     "------------[ ftrace bug ]------------",
                     "BUG kmalloc-64 (Not tainted): Poison overwritten",
                     "WARNING: mm/x.c:1 at page_fault_user",
                     "INFO: task sh:1 blocked for more than 120 seconds.",
                     "x: page allocation failure: order:0"):
            self.assertEqual(guest.splats([line]), [line])
        for line in ("[17] Test for BUG: and WARNING: lines\t[PASS]",
                     "@@ step Call trace: of a test"):
            self.assertEqual(guest.splats([line]), [])


class Guests(unittest.TestCase):
    """The verdict on a guest is a failure until it has said otherwise."""

    def boot(self, job, words, **kw):
        kernel = kbuild.ours(selected()[0])
        with self.assertRaises(Fail) as caught:
            guest.boot(kernel.arch, kernel.image, f". /job-lib\n{job}", "test-guest.log",
                       label="a test", append="loglevel=5", **kw)
        for word in words:
            self.assertIn(word, str(caught.exception))

    def test_job_fails(self):
        """guest: a job that fails is a failure, with what it was doing"""
        self.boot("step looking\nexit 3\n", ["exit 3", "in: looking", "log:"])

    def test_guest_ends_early(self):
        """guest: one that ends without a verdict is a failure"""
        self.boot("step leaving\nreboot -f\n", ["ended before its job did", "in: leaving"])

    def test_guest_hangs(self):
        """guest: one that hangs is ended, and where it hung is said"""
        self.boot("step sleeping\nsleep 1000\n", ["said nothing more", "in: sleeping"], silence=15)

    def test_guest_panics(self):
        """guest: a panic is a failure with its lines"""
        # The console's driver may have what was written last in its buffer yet.
        self.boot("step crashing\nsleep 1\necho c > /proc/sysrq-trigger\n",
                  ["complained", "in: crashing", "sysrq"])

    def test_guest_warns(self):
        """guest: a warning in the log fails a job that is otherwise content"""
        self.boot("echo '<4>WARNING: kernel/x.c:1 at y' > /dev/kmsg\n",
                  ["complained", "WARNING: kernel/x.c"])

    def test_no_kernel(self):
        """guest: no kernel is said before anything is started"""
        with self.assertRaises(Fail) as caught:
            guest.boot(Arch("x86_64"), BUILD / "no-such-image", "", "test-guest.log")
        self.assertIn("no kernel at", str(caught.exception))

    def test_archive_is_reproducible(self):
        """guest: the same files give the same archive, in whatever order and whenever made"""
        with tempfile.TemporaryDirectory(dir=BUILD) as tmp:
            archives = []
            for names in ("ab", "ba"):
                folder = Path(tmp) / names
                folder.mkdir()
                for name in names:
                    (folder / name).write_text(name)
                    os.utime(folder / name, (len(archives), len(archives)))
                archives.append(Path(tmp) / f"{names}.cpio")
                rootfs.cpio(folder, archives[-1])
            self.assertEqual(archives[0].read_bytes(), archives[1].read_bytes())


def tree_of(files):
    """The git tree of the base with @files over it."""
    with tempfile.TemporaryDirectory(dir=BUILD) as tmp:
        index = Path(tmp) / "index"
        series.git("read-tree", series.base(), index=index)
        for path, text in files.items():
            blob = series.hash_object(text.encode())
            series.git("update-index", "--add", "--cacheinfo", f"100644,{blob},{path}", index=index)
        return series.git("write-tree", index=index).strip()


class EveryPatch(unittest.TestCase):
    """make check-bisect: what it builds, and what it remembers."""

    def setUp(self):
        tmp = tempfile.TemporaryDirectory(dir=BUILD)
        self.addCleanup(tmp.cleanup)
        self.home, self.built, self.broken = Path(tmp.name), [], set()
        environ = mock.patch.dict(os.environ, {"ARCH": ""})  # all of them, whichever is checked
        environ.start()
        self.addCleanup(environ.stop)
        self.record = self.home / "record"
        patched = mock.patch.multiple(bisect, RECORD=self.record, HOME=self.home,
                                      TREE=self.home / "linux", lay_out=lambda commit: None,
                                      say=lambda text: None)
        patched.start()
        self.addCleanup(patched.stop)

    def build(self, kernel):
        """In a build's place: it reads one file of the kernel's and one of its architecture's."""
        self.built.append(kernel.name)
        if kernel.name in self.broken:
            raise Fail("an error in a file")
        kernel.out.mkdir(parents=True, exist_ok=True)
        (kernel.out / ".x.o.cmd").write_text("source_x.o := ../linux/lib/x.c\n\ndeps_x.o := \\\n"
                                             f"  {bisect.TREE}/arch/{kernel.arch.karch}/x.c \\\n")

    def run_on(self, *trees):
        """The names of what is built of the series @trees, and the Results."""
        results, self.built = Results(), []
        listed = [(f"{n:040}", tree, f"patch {n}") for n, tree in enumerate(trees)]
        with mock.patch.object(bisect, "patches", lambda: listed), \
                contextlib.redirect_stdout(io.StringIO()):
            bisect.build_all(results, self.build)
        return [name.removeprefix("bisect-") for name in sorted(self.built)], results

    def test_builds_what_is_not_recorded(self):
        """check-bisect: what is on record is not built again, what failed is; the rest goes on"""
        one, two = tree_of({"lib/x.c": "1"}), tree_of({"lib/x.c": "2"})
        self.broken = {"bisect-arm64-off"}
        built, results = self.run_on(one, two)
        self.assertEqual((len(built), results.passed, results.failed), (8, 6, 2))
        self.broken = set()
        built, results = self.run_on(one, two)
        self.assertEqual((built, results.passed), (["arm64-off"] * 2, 8))
        self.assertEqual(self.run_on(one, two)[0], [])

    def test_no_build_without_change(self):
        """check-bisect: a patch that changes nothing built is not built, and is on record"""
        plain = {"lib/x.c": "1"}
        doc = tree_of({**plain, "Documentation/x.rst": "a"})
        other = tree_of({**plain, "arch/arm64/x.c": "a"})
        self.run_on(tree_of(plain))
        self.assertEqual(self.run_on(tree_of(plain), doc)[0], [])
        self.assertEqual(len(bisect.read_record()[doc]), 4)
        self.assertEqual(self.run_on(other)[0], ["arm64-off", "arm64-on"])
        # An earlier patch's text changes, and with it the trees of all after it.
        self.assertEqual(self.run_on(tree_of({**plain, "arch/arm64/x.c": "a",
                                              "MAINTAINERS": "b"}))[0], [])
        self.assertEqual(len(self.run_on(tree_of({**plain, "lib/Makefile": "a"}))[0]), 4)
        self.assertEqual(len(self.run_on(tree_of({**plain, "include/linux/new.h": "a"}))[0]), 4)

    def test_record_is_read_strictly(self):
        """check-bisect: the record survives edits and merges, and forgets other series' trees"""
        one, two, old = (f"{n:040x}" for n in (2, 1, 3))
        self.record.write_text(f"# text\n<<<<<<< ours\n{one} x86_64-on arm64-on\n=======\n"
                               f"nonsense\n\n{old} arm64-on\n{two}\n>>>>>>> theirs\n")
        record = bisect.read_record()
        self.assertEqual(record, {one: {"x86_64-on", "arm64-on"}, old: {"arm64-on"}})
        record[two] = {"arm64-off"}
        bisect.write_record(record, {one, two})
        self.assertEqual(self.record.read_text(),
                         f"{bisect.HEAD}{two} arm64-off\n{one} arm64-on x86_64-on\n")

    def test_lint_names_the_command(self):
        """lint: a patch that is not known to build is named, with the command to run"""
        listed = [("c" * 40, "a" * 40, "one"), ("d" * 40, "b" * 40, "two")]
        with mock.patch.object(bisect, "patches", lambda: listed), \
                mock.patch.object(series, "pinned", lambda: True):
            bisect.write_record({"a" * 40: set(bisect.kernels(selected()))}, {"a" * 40})
            with self.assertRaises(Fail) as caught:
                bisect.on_record()
            for word in ("1 patches", "make check-bisect", "two: ", f"{selected()[0].name}-off"):
                self.assertIn(word, str(caught.exception))
            self.assertNotIn("one: ", str(caught.exception))
            bisect.write_record({t * 40: set(bisect.kernels(selected())) for t in "ab"},
                                {"a" * 40, "b" * 40})
            bisect.on_record()

    def test_short_link(self):
        """check-bisect: the base's script that links vmlinux is cut short; another is refused"""
        kernel = bisect.kernels([Arch("x86_64")])["x86_64-on"]
        kernel.source = series.LINUX
        bisect.short_link(kernel)
        script = kernel.out / "scripts/link-vmlinux.sh"
        self.assertTrue(os.access(script, os.X_OK))
        self.assertEqual(subprocess.run(["sh", "-n", script], check=False).returncode, 0)
        kernel.source = self.home
        (self.home / "scripts").mkdir()
        (self.home / "scripts/link-vmlinux.sh").write_text("exit 0\n")
        with self.assertRaises(Fail):
            bisect.short_link(kernel)

    def test_configures_when_needed(self):
        """check-bisect: a kernel is configured when its options or what explains them change"""
        kernel = bisect.kernels([Arch("x86_64")])["x86_64-on"]
        kernel.source = series.LINUX
        kernel.out.mkdir()
        with mock.patch.object(kbuild, "configure") as configure:
            bisect.configure(kernel)
            bisect.configure(kernel)
            self.assertEqual(configure.call_count, 1)
            with mock.patch.object(bisect, "changes", lambda *_: {"lib/Kconfig.debug": "1" * 40,
                                                                  "lib/x.c": "2" * 40}):
                bisect.configure(kernel)
            self.assertEqual(configure.call_count, 2)
            kernel.fragments = kernel.fragments[:-1]
            bisect.configure(kernel)
            self.assertEqual(configure.call_count, 3)

    def test_off_is_off(self):
        """check-bisect: every option of the series is off in the builds with the options off"""
        for name in NAMES:
            kernel = bisect.kernels([Arch(name)])[f"{name}-off"]
            options = kbuild.wanted(kernel.fragments)
            for option, value in kbuild.wanted(kbuild.series_options(Arch(name))).items():
                self.assertTrue(value != "y" or options[option] == "n", option)


class Memory(unittest.TestCase):
    """What decides whether a pass still counts."""

    def test_all_decides(self):
        """check: scripts, tests and configurations decide on a guest's verdict; records do not"""
        kernel = kbuild.ours(selected()[0])
        paths = check.decide(kernel)
        for name in lint.tracked():
            path = ROOT / name
            decides = any(path == p or p in path.parents for p in paths)
            if name.startswith(("scripts/", "configs/", "bench/", "tests/")):
                self.assertEqual(decides, not name.startswith("tests/data/"), name)
            elif name.endswith((".md", ".rst")):
                self.assertFalse(decides, name)
        self.assertIn(kernel.image, paths)

    def test_digest(self):
        """check: a changed, new or removed file makes another digest, compiled python does not"""
        with tempfile.TemporaryDirectory(dir=BUILD) as tmp:
            path, seen = Path(tmp), set()
            for name, text in (("a", "1"), ("a", "2"), ("b/c", "1")):
                (path / name).parent.mkdir(exist_ok=True)
                (path / name).write_text(text)
                seen.add(check.digest([path]))
            self.assertEqual(len(seen), 3)
            (path / "__pycache__").mkdir()
            (path / "__pycache__/a.pyc").write_text("x")
            self.assertIn(check.digest([path]), seen)

    def test_counting(self):
        """check: results counted from several threads at a time all count"""
        class Slow(int):
            """A number that another thread can come between."""

            def __add__(self, other):
                found = int(self) + other
                time.sleep(0)
                return Slow(found)

        results = Results()
        results.passed = Slow(0)
        with ThreadPoolExecutor(4) as pool:
            for _ in range(4):
                pool.submit(lambda: [results.count(1, 1, ["x"]) for _ in range(500)])
        self.assertEqual([results.passed, results.skipped, results.failed, len(results.failures)],
                         [2000] * 4)


class Errors(unittest.TestCase):
    """An error of the system says what to do about it."""

    def said(self, exc):
        def fails():
            raise exc
        out = io.StringIO()
        with mock.patch.dict(workbench.COMMANDS, tree=fails), \
                mock.patch.object(sys, "argv", ["x", "tree"]), \
                mock.patch.object(workbench, "checkout_lock", contextlib.nullcontext), \
                mock.patch("signal.signal"), contextlib.redirect_stderr(out):
            self.assertEqual(workbench.main(), 1)
        return out.getvalue()

    def test_advice(self):
        """faults: a full disk, a file of another's and a missing program each say what to do"""
        self.assertIn("make room",
                      self.said(OSError(errno.ENOSPC, "No space left on device", "/x")))
        text = self.said(PermissionError(errno.EACCES, "Permission denied", f"{BUILD}/out-x86_64"))
        self.assertIn("as its owner", text)
        self.assertNotIn("room", text)
        self.assertIn("install that program",
                      self.said(FileNotFoundError(errno.ENOENT, "No such file", "gnuplot")))
        self.assertIn("make tree", advice(FileNotFoundError(errno.ENOENT, "No such file",
                                                            str(BUILD / "linux/x"))))
        self.assertIn("git status", advice(FileNotFoundError(errno.ENOENT, "No such file",
                                                             str(ROOT / "configs/x"))))

    def test_names_refused(self):
        """lint: a function of ours with a name barred from vmlinux is found in a module, too"""
        kernel = kbuild.ours(Arch("x86_64"))
        with tempfile.TemporaryDirectory(dir=BUILD) as tmp, \
                mock.patch.object(lint, "our_sources", lambda: ["x.c"]):
            kernel.out = Path(tmp)
            for name, bad in (("busy", False), ("hot", True)):
                (kernel.out / "x.c").write_text(f"static int __attribute__((used)) {name}(void) "
                                                "{ return 1; }\n")
                subprocess.run(["gcc", "-c", "x.c", "-o", "x.o"], cwd=tmp, check=True)
                with self.assertRaises(Fail) if bad else contextlib.nullcontext():
                    lint.function_names(kernel)


class Figures(unittest.TestCase):
    """The figures on record, and those that documents quote."""

    def setUp(self):
        tmp = tempfile.TemporaryDirectory(dir=BUILD)
        self.addCleanup(tmp.cleanup)
        self.arch = selected()[0]
        patched = mock.patch.multiple(bench, REFERENCE=Path(tmp.name), say=lambda text: None,
                                      loud=lambda text: None, selected=lambda: [self.arch])
        patched.start()
        self.addCleanup(patched.stop)
        run = {"ops 1/0": 41.0, "attach": 2e6, "cost": 100.0, "late": 1e3, "error": "EINVAL"}
        runs = iter([run, {**run, "ops 1/0": 41.2, "attach": 2.001e6, "cost": 150.0, "late": 2e3},
                     {**run, "cost": 151.0, "late": 3e3},
                     *[{"ops 1/0": 40.0, "attach": 28123.0, "sets value": 7.0}] * 2])
        with mock.patch.object(kbuild, "build", lambda kernel: kernel), \
                mock.patch.object(bench, "kernels", lambda arch: {"base": 1, "ours": 2}), \
                mock.patch.object(bench, "measure", lambda kernel, level: next(runs)):
            bench.record(self.arch)

    def test_record(self):
        """bench: what two runs of three agree on is recorded and compared with"""
        both = bench.read_figures(self.arch)[1]
        self.assertEqual(both, {"base": {"ops 1/0": 41, "attach": 2e6, "cost": 150,
                                         "error": "EINVAL"},
                                "ours": {"ops 1/0": 40, "attach": 28123, "sets value": 7}})
        for column in both:
            self.assertFalse(bench.compare(self.arch, column, both[column]))
            self.assertTrue(bench.compare(self.arch, column, {**both[column], "attach": 2.1e6}))
            with mock.patch.object(bench, "toolchain", lambda _: "another"):
                self.assertFalse(bench.compare(self.arch, column,
                                               {**both[column], "attach": 2.1e6}))

    def test_cpus(self):
        """bench: the figures of guests with several CPUs say with how many"""
        with mock.patch.object(bench, "measure", lambda kernel, level, smp: {
                "write function-on cost": 1e6 * smp, "attach kprobe.multi 1 functions": 1.0}):
            self.assertEqual(bench.cpus(None), {f"cpus {n} write function-on cost": 1e6 * n
                                                for n in bench.CPUS})

    def test_charts(self):
        """bench: a chart is drawn of the figures that there are, and none of no figures"""
        curves = [curve for plot in bench.PLOTS for curve in plot.curves.values()]
        whole = {what: 3e6 for curve in curves for what in curve.values()}
        part = {"ops 0/0": 6.0, "ops 1/0": "missing", "ops 2/0": 81.0,
                "write one-function-2-to-99 cost": 98e4,
                "attach kprobe.multi 100000 attach": 2e7,
                "attach kprobe.multi 100000 functions": 19503.0}
        at = {plot.name: plot for plot in bench.PLOTS}
        for name, curve, want in (
                ("hit", "", [(bench.NOUGHT, 6.0), (2, 81.0)]),
                ("register", "one of many in a row", [(50, 1e4)]),
                ("attach", "kprobe.multi", [(19503.0, 2e7)]), ("graph", "recorded", [])):
            self.assertEqual(bench.points(part, at[name].curves[curve], at[name].log), want)
        with mock.patch.object(bench, "OUT", bench.REFERENCE):
            some = {"hit", "hit-elsewhere", "attach", "register"}
            for base, names in ((whole, set(at)), ({}, some)):
                pattern = bench.charts(self.arch, {"base": base, "ours": part})
                self.assertEqual({path.name for path in bench.OUT.glob(pattern.name)},
                                 {f"{self.arch.name}-{name}.svg" for name in names})

    def test_quotes(self):
        """lint: a document is named whose figures are others than on record, or not on record"""
        arch, text = self.arch.name, ("It took 41\ninstructions, and attaching 28,000.\n\n"
                                      "On 3,000 others: 0.03 M.\n")
        quotes = bench.REFERENCE / "quotes"
        with mock.patch.multiple(figures, QUOTES=quotes,
                                 documents=lambda: {"one": text}):
            for line, word in (
                    (f"took {{{arch} base ops 1/0}} instructions, "
                     f"and attaching {{{arch} ours attach:,}}", None),
                    (f"took {{{arch} ours ops 1/0}} instructions, and attaching 28,000",
                     "does not say: took 40"),
                    (f"took {{{arch} base ops 1/0}} instructions", "in no quote: 28,000"),
                    (f"{{{arch} ours nothing}} instructions", "no figure"),
                    (f"{{{arch} base error}}", "no figure")):
                quotes.write_text(f"# A comment\n[one]\n{line}\n"
                                  f"others: {{{arch} ours attach:M}} M\n")
                with self.assertRaises(Fail) if word else contextlib.nullcontext() as caught:
                    figures.lint()
                self.assertIn(word or "", str(caught.exception) if word else "")
            quotes.write_text("[two]\nx\n")
            with self.assertRaisesRegex(Fail, "two: there is no such document"):
                figures.lint()

    def test_old_record(self):
        """bench: a changed option, program or base makes the record old; lint says what to run"""
        bench.lint_record()
        options = kbuild.wanted
        for what, change in (
                ("configuration",
                 mock.patch.object(kbuild, "wanted", lambda f: {**options(f), "CONFIG_X": "y"})),
                ("programs", mock.patch.object(Arch, "getpgid", "another", create=True)),
                ("base", mock.patch.object(fetch, "pin", lambda: {"VERSION": "7.3.99"}))):
            arch = self.arch
            if what == "programs":
                arch = Arch(self.arch.name)
                del arch.getpgid
            with change, mock.patch.object(bench, "selected", lambda arch=arch: [arch]), \
                    mock.patch.object(series, "pinned", lambda: True):
                with self.assertRaises(Fail) as caught:
                    bench.lint_record()
                self.assertIn(what, str(caught.exception))
                self.assertIn("make bench RECORD=1", str(caught.exception))
                # And then a difference is no fault of the kernel's.
                self.assertFalse(bench.compare(arch, "base", {}))

    def test_run_builds_no_base(self):
        """run: the base's figures come from the record, its kernel is not built"""
        built, out = [], io.StringIO()
        with mock.patch.object(kbuild, "build",
                               lambda kernel: built.append(kernel.source) or kernel), \
                mock.patch.object(series, "stands"), \
                mock.patch.multiple(demo, trace=mock.DEFAULT, show=mock.DEFAULT), \
                mock.patch.object(bench, "measure", lambda kernel, level: {"ops 1/0": 40.0}), \
                contextlib.redirect_stdout(out):
            demo.run(self.arch)
        self.assertEqual(built, [series.LINUX])
        self.assertRegex(out.getvalue(), r"ops 1/0 +41 +40 +0\.98")
        self.assertNotIn("attach", out.getvalue())
