"""What it costs to say why bytes differ, for a small and a large buffer of which every field is wrong.

.venv/bin/python benchmarks/failing_bytes.py
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from mkeyspec.compiler.compile import compile_file
from mkeyspec.device.model.device import Model
from mkeyspec.device.profile.profile import Profile
from mkeyspec.run import byte_failure, likeness
from mkeyspec.run.departures import Expectations
from mkeyspec.run.rig import Rig
from mkeyspec.run.verdict import CaseFailed, CaseInfo

CASE = """\
mks 1
suite "a"
case a
    verifies SIG-05
    let d = crc32c(ones) every 4096
    memory src = counter({0} * 4096)
    mkey k {{ block_signature }}
    configure k {{ layout list(src[0 +: 100], src[100 +: {0} * 4096 - 100]); signature {{ wire d }} }}
    transmit k by send
    expect wire == framed(counter({0} * 4096), crc32c(zeros) every 4096)
"""


def timed(module: object, name: str) -> list[float]:
    """The times of all calls from now on."""
    real, found = getattr(module, name), []

    def call(*args: object) -> object:
        began = time.process_time()
        try:
            return real(*args)
        finally:
            found.append(time.process_time() - began)

    setattr(module, name, call)
    return found


def main() -> None:
    said, looked = timed(byte_failure, "of"), timed(likeness, "of_bytes")
    print(f"{'KiB':>8} {'lines':>6} {'characters':>11} {'the text, ms':>13} {'looks like, ms':>15}")
    for blocks in (16, 256, 4000):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "a.mks"
            path.write_text(CASE.format(blocks))
            suite = compile_file(path).suite
        assert suite is not None
        [case] = suite.cases
        [row] = case.rows
        rig = Rig(Model(Profile()), Profile(), Expectations(), deadline=30)
        rig.begin(CaseInfo("a", "a.mks", case.verifies))
        for step in row.steps:
            rig.step(step)
        try:
            rig.finish()
        except CaseFailed as failed:
            text = failed.text
        size = blocks * 4
        print(f"{size:8} {text.count(chr(10)) + 1:6} {len(text):11} {1000 * said[-1]:13.1f} {1000 * looked[-1]:15.1f}")


if __name__ == "__main__":
    main()
