"""Cases written in the language, run by a rig on a device of the test's own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from mkeyspec.compiler.compile import compile_file
from mkeyspec.compiler.live_rules import LiveRules
from mkeyspec.device.model.device import Model
from mkeyspec.device.profile.profile import Profile
from mkeyspec.device.protocol import Device
from mkeyspec.plan import Case
from mkeyspec.run.departures import Expectations
from mkeyspec.run.rig import Rig
from mkeyspec.run.verdict import CaseFailed, CaseInfo, Failure, Verdict

KEY = """\
    memory m = fill(1, 64)
    peer memory w[64]
    mkey k
    configure k { access local_write | remote_read | remote_write; layout list(m) }
"""
"""Lines 4 to 7 of a case: a buffer, one of the peer, a key over the first."""


def compiled(text: str) -> tuple[Case, ...]:
    """The cases of a file with this text after its two first lines."""
    with TemporaryDirectory(prefix="mkeyspec-") as folder:
        path = Path(folder) / "a.mks"
        path.write_text(f'mks 1\nsuite "a"\n{text}', encoding="utf-8")
        found = compile_file(path)
    assert found.suite is not None, [str(one) for one in found.diagnostics]
    return found.suite.cases


def one(*lines: str) -> str:
    """A case of these lines after `KEY`'s: the first is line 9."""
    return "case a\n    verifies LAY-01\n" + KEY + "".join(f"    {line}\n" for line in lines)


def verdicts(
    text: str, device: Device | None = None, deadline: float = 0.05, expectations: Expectations | None = None
) -> list[Verdict | Sequence[Failure]]:
    """Of each row, on one device: its verdict, or its failures."""
    device = device if device is not None else Model(Profile())
    rig = Rig(device, Profile(), expectations or Expectations(), deadline=deadline, rules=LiveRules)
    found: list[Verdict | Sequence[Failure]] = []
    for case in compiled(text):
        for row in case.rows:
            info = CaseInfo(f"{case.name}[{row.id}]", "a.mks", case.verifies, row.needs, None, case.at, case.isolated)
            try:
                assert rig.begin(info) == []
                for step in row.steps:
                    rig.step(step)
                found.append(rig.finish())
            except CaseFailed as failed:
                found.append(failed.failures)
    return found


def told(
    text: str, device: Device | None = None, deadline: float = 0.05, expectations: Expectations | None = None
) -> list[str]:
    """Of each row: its status, or its failures as `MKS2004:9, MKS2005:10` (code and line)."""
    return [
        one.status if isinstance(one, Verdict) else ", ".join(f"{each.code}:{each.at.line}" for each in one)
        for one in verdicts(text, device, deadline, expectations)
    ]
