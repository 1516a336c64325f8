# SPDX-License-Identifier: GPL-2.0
"""Figures that documents quote are those on record.

tests/data/quotes has, below the name of each document in brackets, what the document says, a
quote on each line, with {ARCH COLUMN WHAT} in place of a figure:

    {x86_64 base ops 2/0}               204
    {arm64 ours attach fentry 1 attach:,}   28,000      to thousands, from 10,000 on
    {x86_64 ours attach fentry 1 attach:M}  0.07        millions

Where a document speaks of instructions, each number must be in a quote.
"""

import re

from . import bench, series
from .arch import NAMES, Arch
from .common import ROOT, Fail

QUOTES = ROOT / "tests" / "data" / "quotes"
PLACE = re.compile(r"\{(\w+) (\w+) ([^{}]*?)(?::([M,]))?\}")
# A number that is no part of a name such as x86-64.
NUMBER = re.compile(r"(?<![\w.,/-])\d[\d.,]*\d(?![\w-])")
SPEAKS = re.compile(r"(?i)\binstructions\b")


def squeezed(text):
    return re.sub(r"\s+", " ", text)


def documents():
    """{name: text} of all that may quote figures; of a patch its message, without its number."""
    found = {"README.md": (ROOT / "README.md").read_text()}
    for topic in series.topics():
        found[f"patches/{topic}/cover-letter"] = (
            series.PATCHES / topic / "cover-letter").read_text()
    for name in series.names():
        text = (series.PATCHES / name).read_text(errors="surrogateescape")
        unnumbered = re.sub(r"/\d+-", "/", f"patches/{name}")
        found[unnumbered] = text.split("\n\n", 1)[1].split("\n---\n", 1)[0]
    for path in series.all_new_files():
        if path.startswith("Documentation/"):
            found[path] = (ROOT / path).read_text()
    return found


def shown(value, form):
    """@value as documents write it."""
    if form == "M":
        return f"{value / 1e6:.{0 if value >= 1e7 else 2}f}"
    if form == ",":
        return f"{round(value, -3 if value >= 1e4 else 0):,.0f}"
    return f"{value:.0f}"


def quotes(figures):
    """{document: its quotes}, with what is in {arch: {column: {what: figure}}} for figures."""
    def figure(match):
        arch, column, what, form = match.groups()
        try:
            return shown(figures[arch][column][what], form)
        except (KeyError, TypeError, ValueError):
            raise Fail(f"tests/data/quotes: there is no figure {match[0]} on record") from None

    found, name = {}, None
    for line in QUOTES.read_text().splitlines():
        head = re.fullmatch(r"\[(.*)\]", line)
        if head:
            name = head[1]
            found.setdefault(name, [])
        elif line and not line.startswith("#"):
            found[name].append(squeezed(PLACE.sub(figure, line)).strip())
    return found


def loose_numbers(text, quoted):
    """The numbers of @text, where it speaks of instructions, that are in none of @quoted."""
    blocks, found = re.split(r"\n\s*\n", text), []
    for at, block in enumerate(blocks):
        led = at and SPEAKS.search(blocks[at - 1]) and blocks[at - 1].rstrip().endswith(":")
        if SPEAKS.search(block) or led:
            rest = squeezed(block)
            for quote in sorted(quoted, key=len, reverse=True):
                rest = rest.replace(quote, " ")
            found += NUMBER.findall(rest)
    return found


def lint():
    """Each quote stands in its document, with the figures on record; and no other figures do."""
    said = quotes({name: bench.read_figures(Arch(name))[1] for name in NAMES})
    texts, wrong = documents(), []
    for name in sorted({*said, *texts}):
        if name not in texts:
            wrong.append(f"{name}: there is no such document")
            continue
        whole = squeezed(texts[name])
        wrong += [f"{name}: does not say: {quote}" for quote in said.get(name, [])
                  if quote not in whole]
        loose = loose_numbers(texts[name], said.get(name, []))
        if loose:
            wrong.append(f"{name}: figures that are in no quote: {' '.join(loose)}")
    if wrong:
        raise Fail("figures in documents are not those on record, or not in tests/data/quotes:\n"
                   + "\n".join(f"   | {line}" for line in wrong))
