# SPDX-License-Identifier: GPL-2.0
"""Bad input and faults: a clear error, and what was there before still there."""

import contextlib
import os
import subprocess
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from wb import check, deb, fetch, guest, kbuild, lint, rootfs, series
from wb.arch import Arch, selected
from wb.common import BUILD, ROOT, Fail


@contextlib.contextmanager
def series_of(patch, files=()):
    """A series of one patch, with its new files, in the place of ours."""
    with tempfile.TemporaryDirectory(dir=BUILD) as tmp:
        root = Path(tmp)
        (root / "patches").mkdir()
        (root / "patches/series").write_text("one.patch\n")
        (root / "patches/one.patch").write_text(patch)
        for name, text in dict(files).items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        with mock.patch.multiple(series, ROOT=root, PATCHES=root / "patches",
                                 SERIES=root / "patches/series"):
            yield root


MAIL = ("From: A <a@b.invalid>\nDate: Thu, 01 Jan 2026 00:00:00 +0000\nSubject: [PATCH] one\n\nwhy\n---\n"
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
        env = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "ARCH")}
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
        with series_of(MAIL.format(new="New: lib/Makefile", context="# Makefile for tests of kernel library "
                                   "functions."), {"lib/Makefile": "x\n"}):
            self.check_fails(["lib/Makefile", "file of the base"], series.make_commits, series.base())

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
        """bad input: make refresh refuses a HEAD that is not the series, as in the middle of a rebase"""
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
            with series_of(MAIL.format(new="", context="# Makefile for tests of kernel library functions.")):
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
        """bad input: a build/linux that is no repository does not lead git into the one around it"""
        with tempfile.TemporaryDirectory(dir=BUILD) as tmp:
            self.check_fails(["not a git repository"], series.git, "rev-parse", "HEAD", tree=Path(tmp))

    def test_new_file_twice(self):
        """bad input: make refresh refuses a new file that two commits touch"""
        before = {p: p.read_bytes() for p in (ROOT / "patches").iterdir()}
        head = series.commit_id("HEAD")
        path = series.LINUX / next(p for p in series.all_new_files() if p.endswith(".c"))
        try:
            path.write_text(path.read_text() + "\n/* more */\n")
            series.git("commit", "-q", "-a", "-m", "touch it again")
            self.check_fails(["touched by two commits", path.name], series.refresh)
        finally:
            series.git("reset", "-q", "--hard", head)
        self.assertEqual({p: p.read_bytes() for p in (ROOT / "patches").iterdir()}, before)

    def test_missing_option(self):
        """bad input: an option that does not reach .config is an error that names it"""
        kernel = kbuild.ours(selected()[0])
        with tempfile.TemporaryDirectory(dir=BUILD) as tmp:
            (Path(tmp) / "x.config").write_text("CONFIG_NO_SUCH_OPTION=y\n")
            with mock.patch.object(kbuild, "CONFIGS", Path(tmp)):
                options = kbuild.wanted(["x"])
        self.check_fails(["CONFIG_NO_SUCH_OPTION: wanted y, got n"], kbuild.check_options, kernel, options)


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
        whole = "    KTAP version 1\n    # Subtest: a\n    1..2\n    ok 1 x\n    not ok 2 y\nnot ok 1 a\n"
        self.assertEqual(check.ktap(whole), [("a.x", "ok"), ("a.y", "not ok")])
        short = "    # Subtest: b\n    1..7\n    ok 1 x\nok 1 b\n"
        self.assertIn("not ok", [r for _, r in check.ktap(short)])
        self.assertIn("not ok", [r for _, r in check.ktap("not ok 1 c\n")])
        self.assertIn("not ok", [r for _, r in check.ktap("    # Subtest: d\n    1..2\n    ok 1 x\n")])

    def test_splats(self):
        """guest: the scan sees what a kernel in trouble prints, and not the names of tests"""
        for line in ("Unable to handle kernel paging request", "------------[ ftrace bug ]------------",
                     "BUG kmalloc-64 (Not tainted): Poison overwritten", "WARNING: mm/x.c:1 at page_fault_user",
                     "INFO: task sh:1 blocked for more than 120 seconds.", "x: page allocation failure: order:0"):
            self.assertEqual(guest.splats([line]), [line])
        for line in ("[17] Test for BUG: and WARNING: lines\t[PASS]", "@@ step Call trace: of a test"):
            self.assertEqual(guest.splats([line]), [])


class Guests(unittest.TestCase):
    """The verdict on a guest is a failure until it has said otherwise."""

    def boot(self, job, words, **kw):
        kernel = kbuild.ours(selected()[0])
        with self.assertRaises(Fail) as caught:
            guest.boot(kernel.arch, kernel.image, f". /job-lib\n{job}", "test-guest.log", label="a test", append="loglevel=5", **kw)
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
        self.boot("step crashing\necho c > /proc/sysrq-trigger\n", ["complained", "in: crashing", "sysrq"])

    def test_guest_warns(self):
        """guest: a warning in the log fails a job that is otherwise content"""
        self.boot("echo '<4>WARNING: kernel/x.c:1 at y' > /dev/kmsg\n", ["complained", "WARNING: kernel/x.c"])

    def test_no_kernel(self):
        """guest: no kernel is said before anything is started"""
        with self.assertRaises(Fail) as caught:
            guest.boot(Arch("x86_64"), BUILD / "no-such-image", "", "test-guest.log")
        self.assertIn("no kernel at", str(caught.exception))

    def test_archive_is_reproducible(self):
        """guest: the same files give the same archive, in whatever order and whenever they were made"""
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
