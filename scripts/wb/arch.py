# SPDX-License-Identifier: GPL-2.0
"""The records in scripts/arch/, one for each architecture."""

import os

from .common import ROOT, Fail, read_record

RECORDS = ROOT / "scripts" / "arch"
NAMES = sorted((p.name for p in RECORDS.iterdir()), reverse=True)


class Arch:
    """One architecture: the fields of its record as attributes, in lower case."""

    paced = ""  # words for a kernel under the instruction clock
    power = None  # a machine of its own for suspend and kexec, where the usual one has them not

    def __init__(self, name):
        if name not in NAMES:
            raise Fail(f"unknown ARCH '{name}'; there are: {' '.join(NAMES)}")
        self.name = name
        for key, value in read_record(RECORDS / name).items():
            setattr(self, key.lower(), value)

    @property
    def cross(self):
        return self.triple + "-"


def selected():
    """The architecture named by ARCH=, or all of them."""
    return [Arch(os.environ["ARCH"])] if os.environ.get("ARCH") else [Arch(name) for name in NAMES]
