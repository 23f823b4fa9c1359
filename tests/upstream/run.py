"""Runs modules of rdma-core's own tests and prints what came of each test, as JSON.

    LD_PRELOAD=… /usr/bin/python3 run.py DIRECTORY DEVICE MODULE…

DIRECTORY holds their package `tests`, unpacked. This file runs under the distribution's Python, which has
pyverbs; it uses the standard library alone and knows nothing of mkeyspec. The tests' own runner prints for
people, so theirs is not used.
"""

import json
import os
import random
import sys
import traceback
import unittest
from pathlib import Path


class Witness(unittest.TestResult):
    """`seen`: test -> [outcome, why]. The first thing that is not a pass is."""

    def __init__(self):
        super().__init__()
        self.seen = {}

    def note(self, test, outcome, why=""):
        name = test.id().split(".", 2)[-1]
        if self.seen.get(name, ["pass"])[0] == "pass":
            self.seen[name] = [outcome, why]

    def told(self, err):
        return "".join(traceback.format_exception(*err))

    def addSuccess(self, test):  # noqa: N802 (unittest's names, here and below)
        self.note(test, "pass")

    def addSkip(self, test, reason):  # noqa: N802
        self.note(test, "skip", reason)

    def addFailure(self, test, err):  # noqa: N802
        self.note(test, "fail", self.told(err))

    def addError(self, test, err):  # noqa: N802
        self.note(test, "error", self.told(err))

    def addSubTest(self, test, subtest, err):  # noqa: N802
        if err is not None:
            self.note(test, "fail", self.told(err))


def main():
    directory, device, modules = Path(sys.argv[1]), sys.argv[2], sys.argv[3:]
    sys.argv[1:] = []
    # The tests import their neighbours both as `tests.utils` and as `args_parser`.
    sys.path[:0] = [str(directory), str(directory / "tests")]
    from args_parser import parser

    parser.args = {
        "dev": device, "pci_dev": None, "port": 1, "gid": None, "gpu": 0, "gtt": False, "verbosity": None,
        "list_tests": False,
    }  # fmt: skip
    # What tests print must not be in the answer.
    answer = os.dup(1)
    os.dup2(2, 1)
    result = {}
    for module in modules:
        # They draw lengths and flags at random; a result which is kept as data must not depend on luck.
        random.seed(os.environ.get("MKEYSPEC_UPSTREAM_SEED", "mkeyspec"))
        witness = Witness()
        unittest.defaultTestLoader.loadTestsFromName(f"tests.{module}").run(witness)
        result[module] = witness.seen
    with os.fdopen(answer, "w") as out:
        json.dump(result, out)


main()
