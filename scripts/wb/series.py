# SPDX-License-Identifier: GPL-2.0
"""patches/ and the new files at their kernel paths <-> the git tree build/linux.

patches/topics names the topics in their order; each has a folder with a series and a
cover letter. Every base is a commit without a parent, so the base of a tree is its root
commit. On top of it stands one commit for each line of each topic's series, and the branch
topic/NAME is at the last commit of each topic:

    a file the commit adds      lives whole in this repository as the last commit leaves
                                it, "New: path"; what later commits change are hunks
    our entry of MAINTAINERS    likewise, merged in at its alphabetical place; an
                                F: line comes with the commit that brings its file
    everything else             hunks in the patch

Commits are made with an index of their own, never through the work tree, so
that moving from one state of the series to the next touches the files that
differ and nothing else: builds stay incremental.
"""

import contextlib
import fnmatch
import hashlib
import os
import re
import subprocess
import tempfile
from pathlib import Path

from . import fetch
from .common import BUILD, ROOT, Fail, environment, loud, need_room, output, run, say, staging

LINUX = BUILD / "linux"
PRISTINE = BUILD / "base" / "linux"
# Which pin the branch "base" was made for, and which version it is; what the
# commits of refs/workbench/tip were made of.
RECORD = LINUX / ".git" / "workbench-pin"
STAMP = LINUX / ".git" / "workbench-key"
PATCHES = ROOT / "patches"
ENTRY = "MAINTAINERS"
SPDX = "SPDX-License-Identifier: GPL-2.0"
NAME, EMAIL = "Callsite Ops", "callsite-ops@project.invalid"
EPOCH = "2026-01-01T00:00:00+0000"
# What stands at the root of this repository without being part of the kernel.
OURS = {"README.md", "base.pin", "bench", "build", "configs", "patches", "scripts", "tests",
        ".ci", ".git", ".gitignore", ".shellcheckrc", "Makefile"}


def identity(date=EPOCH):
    return {f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER")
            for what, value in (("NAME", NAME), ("EMAIL", EMAIL), ("DATE", date))}


def git_environment(index=None, date=EPOCH):
    """Nobody's configuration, and no way up into the repository around build/."""
    env = {k: v for k, v in environment().items() if not k.startswith("GIT_")}
    env.update(identity(date), GIT_CONFIG_GLOBAL="/dev/null", GIT_CONFIG_NOSYSTEM="1",
               GIT_CEILING_DIRECTORIES=str(BUILD))
    if index:
        env["GIT_INDEX_FILE"] = str(index)
    return env


def git(*args, tree=LINUX, index=None, data=None, date=EPOCH, check=True):
    """Run git with nobody's configuration; its standard output."""
    env = git_environment(index, date)
    cmd = ["git", "-C", str(tree), "-c", "core.hooksPath=/dev/null", "-c", "gc.auto=0", *args]
    res = subprocess.run(cmd, input=data, capture_output=True, env=env, check=False)
    if check and res.returncode:
        raise Fail(f"'git {' '.join(args[:4])}' failed in {tree}:\n"
                   f"{res.stderr.decode(errors='replace').strip()[-4000:]}")
    return res.stdout.decode(errors="surrogateescape")


def commit_id(rev, tree=LINUX):
    return git("rev-parse", "--verify", "-q", f"{rev}^{{commit}}", tree=tree, check=False).strip()


# --- the base --------------------------------------------------------------

def import_base(branch):
    """Make the pristine commit of the base on @branch; return its version."""
    need_room(8)
    with tempfile.TemporaryDirectory(dir=BUILD) as tmp:
        tree, index = Path(tmp) / "tree", Path(tmp) / "index"
        tree.mkdir()
        version = fetch.unpack_base(tree)
        # Debian's tree ignores everything at its top: drop those lines.
        ignore = tree / ".gitignore"
        text = ignore.read_text()
        ignore.write_text(re.sub(r"\n#\n# Debian packaging: ignore everything.*", "", text,
                                 flags=re.S))
        say(f"importing the base {version} into git")
        run(["git", "-C", LINUX, "--work-tree", tree, "add", "-Afv", "."], "import.log",
            label="import", count="^add ", what="files", env=git_environment(index))
        made = git("commit-tree", git("write-tree", index=index).strip(), "-m",
                   f"Linux {version.split('-')[0]}\n\nThe source package of Debian, "
                   f"version {version},\nwithout the last lines of its .gitignore.").strip()
    want = fetch.pin()
    if version == want["VERSION"] and want.get("COMMIT") not in ("", made):
        raise Fail(f"the base's commit is {made}, base.pin says {want['COMMIT']}: the source given "
                   "is not the pinned one; use the pinned package, or move the pin with "
                   "'make bump'")
    git("branch", "-f", branch, made)
    return version


def base():
    """The pristine commit that the work tree stands on."""
    roots = git("rev-list", "--max-parents=0", "HEAD").split()
    if len(roots) != 1:
        raise Fail("build/linux has more than one root commit; keep its history linear")
    return roots[0]


def pinned():
    """Whether the base in use is the pinned one, and not a newer one in its place."""
    return RECORD.read_text().splitlines()[-1] == fetch.pin()["VERSION"]


def pristine():
    """A second work tree that holds the base alone, for building it."""
    want = commit_id("base")
    if commit_id("HEAD", PRISTINE) != want or git("status", "--porcelain", "-uno", tree=PRISTINE):
        need_room(3)
        say("laying out the pristine base")
        if commit_id("HEAD", PRISTINE):
            git("checkout", "-q", "-f", "--detach", want, tree=PRISTINE)
        else:
            output(["rm", "-rf", PRISTINE])
            git("worktree", "prune")
            git("worktree", "add", "-q", "--detach", str(PRISTINE), want)
    return PRISTINE


# --- reading the series ----------------------------------------------------

def listed(path):
    """The lines of @path that are no comments."""
    lines = path.read_text().splitlines() if path.exists() else []
    return [ln for ln in lines if ln and not ln.startswith("#")]


def topics():
    """The topics, each of which stands on those before it."""
    found = listed(PATCHES / "topics")
    strange = [t for t in found if not re.fullmatch(r"[a-z0-9][a-z0-9-]*", t)]
    if strange or not found or len(set(found)) < len(found):
        raise Fail("patches/topics must name each topic once, in small letters"
                   f"{': ' if strange else ''}{' '.join(strange)}")
    return found


def names(topic=None):
    """The patches of @topic, or of all, as paths below patches/."""
    return [f"{t}/{name}" for t in topics() if topic in (None, t)
            for name in listed(PATCHES / t / "series")]


def branch(topic):
    return f"refs/heads/topic/{topic}"


def new_files(patch):
    """The paths a patch brings: its 'New:' lines, which stand before the first hunk."""
    head = patch.read_text(errors="surrogateescape").split("\ndiff --git ", 1)[0]
    return re.findall(r"^New: (\S+)$", head, re.M)


def all_new_files():
    """path -> the patch that brings it, for the whole series; each path stands once."""
    seen = {}
    for name in names():
        for path in new_files(PATCHES / name):
            if path in seen and path != ENTRY:
                raise Fail(f"{path} is named new by both {seen[path]} and {name}; name it once")
            seen[path] = name
    return seen


def key():
    """What the series is made of, as one hash."""
    digest = hashlib.sha256(commit_id("base").encode())
    paths = [PATCHES / "topics", *(PATCHES / t / "series" for t in topics()),
             *(PATCHES / n for n in names()), *(ROOT / p for p in sorted(all_new_files()))]
    for path in paths:
        if not path.is_file():
            raise Fail(f"{path.relative_to(ROOT)} is named by the series but not there")
        mode = path.stat().st_mode & 0o100
        digest.update(f"{path.relative_to(ROOT)} {mode} {path.stat().st_size}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def merge_entry(maintainers, entry):
    """@maintainers with @entry at its alphabetical place among the list's titles."""
    body = "\n".join(ln for ln in entry.split("\n") if not ln.startswith("#")).strip("\n")
    title = body.split("\n", 1)[0]
    start = maintainers.index("\nMaintainers List\n")
    # The list has a few entries out of order: find the nearest one before ours.
    titles = [(m[1], start + m.end()) for m in
              re.finditer(r"\n\n(?=(\S[^\n]*)\n[A-Z]:\t)", maintainers[start:])]
    before = max(((name, at) for name, at in titles if name < title), default=None)
    if not before:
        raise Fail(f"no place for the entry '{title}' in the base's {ENTRY}")
    at = maintainers.index("\n\n", before[1]) + 2
    return f"{maintainers[:at]}{body}\n\n{maintainers[at:]}"


def entry_before(entry, later):
    """@entry without the F: lines that name nothing but files of @later, which are yet to come."""
    def stays(line):
        pattern = line.removeprefix("F:\t")
        return pattern == line or not any(fnmatch.fnmatch(path, pattern) for path in later)
    return "".join(ln for ln in entry.splitlines(keepends=True) if stays(ln.rstrip("\n")))


def hash_object(content):
    return git("hash-object", "-w", "--stdin", data=content).strip()


def hunks(patch):
    """The paths that the hunks of @patch change."""
    return re.findall(r"^diff --git a/(\S+) b/\1$", patch.read_text(errors="surrogateescape"), re.M)


def apply_hunks(patch, index, *options):
    """git apply @patch in @index; what git says of hunks that do not fit, '' if all do."""
    res = subprocess.run(["git", "-C", str(LINUX), "apply", "--cached", "--whitespace=nowarn",
                          *options, str(patch)], env=git_environment(index), capture_output=True,
                         text=True, check=False)
    errors = "\n".join("   | " + ln.removeprefix("error: ") for ln in res.stderr.splitlines()
                       if ln.startswith("error"))
    return (errors or res.stderr) if res.returncode else ""


def first_versions(root):
    """{path: (mode, blob)} of the new files as the patches bring them.

    This repository has them as the last patch leaves them: take back what later ones do.
    """
    new, found = all_new_files(), {}
    with tempfile.TemporaryDirectory(dir=BUILD) as tmp:
        index = Path(tmp) / "index"
        git("read-tree", "--empty", index=index)
        for path in new:
            mode = "100755" if os.access(ROOT / path, os.X_OK) else "100644"
            if path != ENTRY and git("ls-tree", root, "--", path):
                raise Fail(f"{path} is named new but is a file of the base, which is never copied "
                           "over; edit it in build/linux and run 'make refresh'")
            found[path] = (mode, hash_object((ROOT / path).read_bytes()))
            git("update-index", "--add", "--cacheinfo", f"{mode},{found[path][1]},{path}",
                index=index)
        for name in reversed(names()):
            later = [p for p in hunks(PATCHES / name) if p in new and p != ENTRY]
            why = later and apply_hunks(PATCHES / name, index, "-R",
                                        *(f"--include={p}" for p in later))
            if why:
                raise Fail(f"patches/{name} changes what an earlier patch brings, and no longer "
                           f"fits; edit new files in build/linux and run 'make refresh':\n{why}")
            for path in later:
                found[path] = tuple(git("ls-files", "-s", "--", path, index=index).split()[:2])
    return found


def add_new(path, index, base_commit, later, first):
    """Put the new file @path of this repository into @index; @later come with later patches."""
    mode, blob = first[path]
    if path == ENTRY:
        entry = entry_before((ROOT / path).read_text(), later)
        blob = hash_object(merge_entry(git("show", f"{base_commit}:{ENTRY}"), entry).encode())
    git("update-index", "--add", "--cacheinfo", f"{mode},{blob},{path}", index=index)


def apply_patch(name, parent, index, later, first):
    """Commit the patch @name on top of @parent, in @index; return the commit."""
    patch = PATCHES / name
    with tempfile.TemporaryDirectory() as tmp:
        info = git("mailinfo", "-b", f"{tmp}/message", f"{tmp}/patch", data=patch.read_bytes())
        head = dict(ln.split(": ", 1) for ln in info.splitlines() if ": " in ln)
        if not {"Subject", "Date"} <= head.keys():
            raise Fail(f"patches/{name} is not a mail: it wants From, Date and Subject")
        message = (f"{head['Subject'].removeprefix('[PATCH] ')}\n\n"
                   f"{Path(tmp, 'message').read_text()}")
        if "\ndiff --git " in Path(tmp, "patch").read_text(errors="surrogateescape"):
            why = apply_hunks(f"{tmp}/patch", index)
            if why:
                raise Fail(f"patches/{name} does not apply to the base "
                           f"{git('log', '-1', '--format=%s', base_of(parent)).strip()}:\n{why}")
    root = base_of(parent)
    for path in new_files(patch):
        add_new(path, index, root, later, first)
    tree = git("write-tree", index=index).strip()
    return git("commit-tree", tree, "-p", parent, data=message.rstrip("\n").encode() + b"\n",
               date=head["Date"]).strip()


def base_of(commit):
    return git("rev-list", "--max-parents=0", commit).strip()


def make_commits(root):
    """The series as commits on top of the base @root; {topic: its last commit}."""
    all_new_files()
    tips, tip, first = {}, root, first_versions(root)
    with tempfile.TemporaryDirectory(dir=BUILD) as tmp:
        index, every = Path(tmp) / "index", names()
        git("read-tree", root, index=index)
        for topic in topics():
            for name in names(topic):
                later = [p for n in every[every.index(name) + 1:] for p in new_files(PATCHES / n)]
                tip = apply_patch(name, tip, index, later, first)
            tips[topic] = tip
    return tips


# --- the work tree ---------------------------------------------------------

def dirty():
    return git("status", "--porcelain").splitlines()


def unrefreshed():
    """What build/linux holds that patches/ does not, in words; '' when nothing."""
    changes, tip = dirty(), commit_id("refs/workbench/tip")
    if changes:
        return (f"{len(changes)} uncommitted changes ({changes[0].strip()}"
                f"{' ...' if changes[1:] else ''})")
    if {commit_id("HEAD"), commit_id("refs/heads/series")} != {tip}:
        return "commits that 'make refresh' has not written back"
    return ""


@contextlib.contextmanager
def creating():
    """A repository for build/linux that is there whole or not at all."""
    if (LINUX / ".git").exists():
        yield
        return
    with staging(LINUX) as tmp:
        git("init", "-q", "-b", "series", ".", tree=tmp)
        for what, value in (("user.name", NAME), ("user.email", EMAIL), ("gc.auto", "0"),
                            ("advice.detachedHead", "false"), ("rebase.updateRefs", "true")):
            git("config", what, value, tree=tmp)
    try:
        yield
    except BaseException:
        if not commit_id("HEAD"):
            output(["rm", "-rf", LINUX])
        raise


def tree():
    """Bring build/linux to what patches/ says; refuse to lose work in it."""
    with creating():
        want = "".join(f"{fetch.pin()[k]}\n" for k in ("PACKAGE", "VERSION", "SHA256"))
        if not RECORD.exists() or not RECORD.read_text().startswith(want):
            RECORD.write_text(want + import_base("base"))
        elif not pinned():
            loud(f"the base is {RECORD.read_text().splitlines()[-1]}, which was used in place of "
                 f"the pinned {fetch.pin()['VERSION']}; 'make bump' pins it")
        now = key()
        if STAMP.exists() and STAMP.read_text() == now and commit_id("refs/workbench/tip"):
            return
        held = unrefreshed() if commit_id("HEAD") else ""
        tips = make_commits(commit_id("base"))
        tip = list(tips.values())[-1]
        if held and git("merge-base", "HEAD", tip, check=False).strip() != tip:
            git("update-ref", "refs/workbench/new", tip)
            raise Fail(f"build/linux holds {held}, and the series has changed under it. Commit "
                       "them and take them along with 'git -C build/linux rebase --onto "
                       "refs/workbench/new refs/workbench/tip series', or drop them with 'git -C "
                       "build/linux checkout -f -B series refs/workbench/tip'; then 'make tree' "
                       "again")
        say(f"build/linux: {len(names())} patches on "
            f"{git('log', '-1', '--format=%s', 'base').strip()}")
        if not held:
            git("checkout", "-q", "-B", "series", tip)
            for topic, last in tips.items():
                git("update-ref", branch(topic), last)
        git("update-ref", "refs/workbench/tip", tip)
        STAMP.write_text(now)


def current():
    """Whether build/linux is what patches/ says, so that there is nothing to write."""
    return RECORD.exists() and STAMP.exists() and STAMP.read_text() == key() and not unrefreshed()


def stands(strict):
    """Ready build/linux for a build. @strict: it must be what patches/ says."""
    tree()
    held = unrefreshed()
    if held and strict:
        raise Fail(f"build/linux holds {held}; write them back with 'make refresh' first, "
                   "so that what is tested is what is committed")
    if held:
        loud(f"using build/linux as it stands: it holds {held}")


# --- writing the series ----------------------------------------------------

def entry_of(root, commit):
    """Our entry of MAINTAINERS, as it stands in @commit on the base @root."""
    added = [ln[1:] for ln in git("diff", "-U0", root, commit, "--", ENTRY).splitlines()
             if ln.startswith("+") and not ln.startswith("+++")]
    entry = f"# {SPDX}\n" + "\n".join(added).strip("\n") + "\n"
    if merge_entry(git("show", f"{root}:{ENTRY}"), entry) != git("show", f"{commit}:{ENTRY}"):
        raise Fail(f"{commit[:12]} changes {ENTRY} by more than one entry at its alphabetical "
                   "place; that is all the series may do there")
    return entry


def diff(parent, commit, paths):
    """The hunks of @paths, without blob ids: those change with the base for no reason."""
    text = git("diff", "--no-renames", "--no-color", "--no-ext-diff", "--diff-algorithm=myers",
               "-U3", parent, commit, "--", *paths) if paths else ""
    if "\nBinary files " in text:
        raise Fail(f"{commit[:12]} changes a binary file; the series holds text only")
    return re.sub(r"^index [0-9a-f]+\.\.[0-9a-f]+.*\n", "", text, flags=re.M)


def topic_tips(root):
    """{topic: its last commit} in build/linux; what follows the last branch is the last topic's."""
    tips, before, every = {}, root, topics()
    for topic in every:
        tip = commit_id(branch(topic) if topic != every[-1] else "HEAD")
        if not tip:
            raise Fail(f"build/linux has no branch topic/{topic}; 'git -C build/linux branch "
                       f"topic/{topic} COMMIT' at the last commit of that topic")
        for late, early in ((tip, before), ("HEAD", tip)):
            if git("merge-base", late, early, check=False).strip() != commit_id(early):
                raise Fail(f"the branch topic/{topic} of build/linux is not between the topic "
                           "before it and the head of the series; 'git rebase --update-refs' takes "
                           "such branches along, 'git -C build/linux branch -f "
                           f"topic/{topic} COMMIT' puts it where the topic ends")
        tips[topic] = before = tip
    return tips


def collect(root, tips):
    """(patches, new): name -> text, path -> (mode, content), of the topics to @tips on @root."""
    last = list(tips.values())[-1]
    if git("rev-list", "--min-parents=2", f"{root}..{last}").strip():
        raise Fail("build/linux has merge commits; keep one commit for each patch, in a line")
    patches, new, entries, parent = {}, {}, [], root
    for topic, tip in tips.items():
        for number, commit in enumerate(
                git("rev-list", "--reverse", f"{parent}..{tip}").split(), 1):
            changed, brings = [], []
            for line in git("diff-tree", "-r", "--no-renames", parent, commit).splitlines():
                meta, path = line.split("\t", 1)
                _, mode, _, blob, status = meta.split()
                if path != ENTRY and status == "A":
                    if git("ls-tree", root, "--", path) or path in new:
                        raise Fail(f"{commit[:12]} adds {path}, which was there before")
                    if path.split("/")[0] in OURS or mode not in ("100644", "100755"):
                        raise Fail(f"{commit[:12]} adds {path}, which cannot live at its path in "
                                   "this repository; choose another place in the kernel tree")
                elif path in new and mode != new[path][0]:
                    raise Fail(f"{commit[:12]} removes the new file {path} or changes its mode; "
                               "fold that into the commit that adds it (git -C build/linux "
                               "rebase -i)")
                (brings if path == ENTRY or status == "A" else changed).append(path)
                if path in new or path in brings and path != ENTRY:
                    new[path] = (mode,
                                 git("cat-file", "blob", blob).encode(errors="surrogateescape"))
            if ENTRY in brings:
                entries.append((commit, entry_of(root, commit), set(new)))
            name, text = mail(commit, number, brings, diff(parent, commit, changed))
            patches[f"{topic}/{name}"] = text
            parent = commit
    for commit, entry, present in entries:
        if entry != entry_before(entries[-1][1], set(new) - present):
            raise Fail(f"{commit[:12]}: the F: lines of {ENTRY} must come with the commits that "
                       "add their files, and nothing else of the entry may change after it was "
                       "added")
    if entries:
        new[ENTRY] = ("100644", entries[-1][1].encode())
    return patches, new


def mail(commit, number, brings, changes):
    """(name, text) of the patch for @commit, the @number-th of its topic."""
    subject, slug, date, body = git("log", "-1", "--format=%s%x00%f%x00%aD%x00%b",
                                    commit).split("\0")
    body = body.strip("\n")
    if re.search(r"^(---|diff -|Index: )", body, re.M) or body.startswith("From: "):
        raise Fail(f"the message of {commit[:12]} has a line that a mail takes for its end or head "
                   "('---', 'diff -', 'Index: ', or 'From: ' first); word it differently")
    head = "\n".join([f"From: {NAME} <{EMAIL}>", f"Date: {date}", f"Subject: [PATCH] {subject}",
                      ""])
    tail = "\n".join([*([body] if body else []), "---", SPDX, *(f"New: {p}" for p in brings), ""])
    return (f"{number:04d}-{slug[:52].rstrip('-.')}.patch",
            f"{head}\n{tail}\n{changes}".rstrip("\n") + "\n")


def put(path, content, mode="100644"):
    """Write a file only when it differs, so that a refresh without changes does nothing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_bytes() != content:
        path.write_bytes(content)
    path.chmod(0o755 if mode == "100755" else 0o644)


def drop(path):
    path.unlink(missing_ok=True)
    with contextlib.suppress(OSError):
        for folder in path.relative_to(ROOT).parents:
            (ROOT / folder).rmdir()


def refresh():
    """Write build/linux back into patches/ and the new files."""
    if not LINUX.exists():
        raise Fail("there is no build/linux yet; 'make tree' makes it")
    changes = dirty()
    if changes:
        raise Fail(f"build/linux has uncommitted changes ({changes[0].strip()}"
                   f"{' ...' if changes[1:] else ''}); commit them there first")
    if git("symbolic-ref", "-q", "HEAD", check=False).strip() != "refs/heads/series":
        raise Fail("build/linux is not on its branch 'series' (a rebase that has not ended?); end "
                   "it, or 'git -C build/linux checkout series'")
    if not STAMP.exists() or STAMP.read_text() != key():
        raise Fail("patches/ or the new files have changed since the last 'make tree' or "
                   "'make refresh', and would be overwritten; run 'make tree' first")
    root = base()
    before = all_new_files()
    tips = topic_tips(root)
    patches, new = collect(root, tips)
    for path in set(new) - set(before):
        if (ROOT / path).exists():
            raise Fail(f"{path} exists in this repository but is not part of the series")
    # Everything that can be refused has been; from here on only writing is left.
    for path in set(before) - set(new):
        drop(ROOT / path)
    for path, (mode, content) in new.items():
        put(ROOT / path, content, mode)
    for name in set(names()) - set(patches):
        drop(PATCHES / name)
    for name, text in patches.items():
        put(PATCHES / name, text.encode(errors="surrogateescape"))
    for topic, tip in tips.items():
        mine = (name.split("/")[1] for name in patches if name.startswith(f"{topic}/"))
        put(PATCHES / topic / "series", "\n".join([f"# {SPDX}", *mine, ""]).encode())
        git("update-ref", branch(topic), tip)
    git("update-ref", "refs/workbench/tip", "HEAD")
    STAMP.write_text(key())
    say(f"wrote {len(patches)} patches of {len(tips)} topics, and {len(new)} new files")


def mails(topic, folder):
    """@topic as mails that 'git am' takes, with cover letter, base-commit and prerequisites."""
    cover = (PATCHES / topic / "cover-letter").read_text().split("\n", 1)[1]
    subject, blurb = cover.lstrip("\n").split("\n", 1)
    tips = topic_tips(base())
    before = [base(), *tips.values()][list(tips).index(topic)]
    git("format-patch", "-q", "--cover-letter", "--no-signature", "--base", base(),
        "-o", str(folder), f"{before}..{tips[topic]}")
    letter = folder / "0000-cover-letter.patch"
    letter.write_text(letter.read_text().replace("*** SUBJECT HERE ***", subject)
                      .replace("*** BLURB HERE ***", blurb.strip("\n")))


def write_mails(wanted):
    """One thread of mails for each topic, or for the one named @wanted."""
    stands(strict=True)
    if wanted not in ("", *topics()):
        raise Fail(f"unknown TOPIC '{wanted}'; there are: {' '.join(topics())}")
    for topic in [wanted] if wanted else topics():
        folder = BUILD / "series" / topic
        folder.parent.mkdir(exist_ok=True)
        with staging(folder) as tmp:
            mails(topic, tmp)
        say(f"{topic}: {len(names(topic))} mails and a cover letter in {folder}")
    say("check them, add your Signed-off-by, and send each folder with git send-email as a "
        "thread of its own")


def bump():
    """Move the pin to the newest 7.3.* and see that the series applies there."""
    if not (LINUX / ".git").exists():
        tree()
    held = unrefreshed()
    if held:
        raise Fail(f"build/linux holds {held}; 'make refresh' first")
    for name in ("LINUX_DEB", "LINUX_TARBALL"):
        os.environ.pop(name, None)
    fetch.apt_root(refresh=True)
    want = fetch.pin()
    found = fetch.newest(want["PACKAGE"])
    if not found or subprocess.run(["dpkg", "--compare-versions", found, "gt", want["VERSION"]],
                                   check=False).returncode:
        say(f"nothing newer than the pinned {want['VERSION']}")
        return
    text, branch = fetch.PIN.read_text(), "base-" + found.split("-")[0]
    try:
        with tempfile.TemporaryDirectory(dir=BUILD) as tmp:
            deb = fetch.download([f"{want['PACKAGE']}={found}"], Path(tmp))[0]
            rewrite_pin({"VERSION": found, "SIZE": deb.stat().st_size,
                         "SHA256": fetch.sha256(deb), "COMMIT": ""})
            fetch.DOWNLOADS.mkdir(exist_ok=True)
            deb.rename(fetch.DOWNLOADS / f"{want['PACKAGE']}_{found}_all.deb")
        import_base(branch)
        make_commits(commit_id(branch))
        rewrite_pin({"COMMIT": commit_id(branch)})
    except BaseException as exc:
        fetch.PIN.write_text(text)
        if not isinstance(exc, Fail):
            raise
        raise Fail(f"{exc}\nthe pin stays at {want['VERSION']}. To port the series: "
                   f"'git -C build/linux rebase --onto {branch} base series', then 'make refresh' "
                   "and 'make bump' again") from exc
    tree()
    say(f"base.pin: {want['VERSION']} -> {found}; the series applies. Run 'make refresh' (line "
        "numbers may have moved) and 'make check' before you commit it")


def rewrite_pin(fields):
    text = fetch.PIN.read_text()
    for name, value in fields.items():
        text = re.sub(rf"^{name}=.*$", f"{name}={value}", text, flags=re.M)
    fetch.PIN.write_text(text)
