"""What the rig's tests share: a rig over the model, and steps of small cases."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from mkeyspec.abi.constants import Access, MkeyFlag
from mkeyspec.device.model.device import Model
from mkeyspec.device.profile.profile import Profile
from mkeyspec.plan import (
    At,
    Configure,
    Content,
    Expect,
    Memory,
    Mkey,
    Options,
    Post,
    SetAccess,
    SetLayout,
    SetSignature,
    Step,
    Transmit,
    Wire,
)
from mkeyspec.run.departures import Expectations
from mkeyspec.run.rig import Rig
from mkeyspec.run.verdict import CaseFailed, CaseInfo, Failure, Verdict
from mkeyspec.value.bytestring import ByteString, Counter, Framed
from mkeyspec.value.layout import Layout, List, Part
from mkeyspec.value.signature import Crc, Domain
from tests.run.faulty_device import Crooked

CRC32 = Domain(Crc(0, 0xFFFFFFFF), 512)
INDIRECT = int(MkeyFlag.INDIRECT)
SIGNATURE = int(MkeyFlag.INDIRECT | MkeyFlag.BLOCK_SIGNATURE)
ALL = int(Access.LOCAL_WRITE | Access.REMOTE_WRITE | Access.REMOTE_READ)
SIGNALED = Options(signaled=True)


def at(line: int) -> At:
    return At(line, 5)


def rig(
    deadline: float = 0.02, expectations: Expectations | None = None, profile: Profile | None = None
) -> tuple[Rig, Any]:
    """A rig, and its device: a Crooked, whose methods tests may replace."""
    profile = profile or Profile()
    device = Crooked(Model(profile))
    return (
        Rig(device, profile, expectations or Expectations(), deadline=deadline, statement=STATEMENTS.get),
        device,
    )


STATEMENTS = {"CRC-02": "CRC32 is computed most significant bit first."}


def changed(value: Any, **members: Any) -> Any:
    """`value` with other members, whatever dataclass it is."""
    return replace(value, **members)


def run(
    tested: Rig, *steps: Step, verifies: tuple[str, ...] = ("CRC-02",), path: Path | None = None, id: str = "a.mks::a"
) -> Verdict:
    """Run a case; raises what the rig raises."""
    assert tested.begin(CaseInfo(id, "a.mks", verifies, (), path)) == []
    for step in steps:
        tested.step(step)
    return tested.finish()


def failures(tested: Rig, *steps: Step) -> list[Failure]:
    """The failures of a case that must fail."""
    try:
        run(tested, *steps)
    except CaseFailed as failed:
        return list(failed.failures)
    raise AssertionError("the case passed")


def codes(tested: Rig, *steps: Step) -> list[str]:
    return [failure.code for failure in failures(tested, *steps)]


def configured(layout: Layout, *setters: SetSignature, access: int = ALL) -> Post:
    configure = Configure(at(4), "k", (SetAccess(access), SetLayout(layout), *setters), False, SIGNALED)
    return Post(at(4), (configure,))


def plain(length: int = 64, data: ByteString | None = None) -> tuple[Step, ...]:
    """A memory of `length` bytes and an mkey over all of it."""
    data = data if data is not None else Counter(length)
    return (
        Memory(at(2), "m", length, data),
        Mkey(at(3), "k", INDIRECT, 4),
        configured(List((Part("m", 0, length),))),
    )


def transmit(length: int = 64, by: str = "send", line: int = 5) -> Transmit:
    return Transmit(at(line), Part("k", 0, length), by)


def wire(data: ByteString, line: int = 6) -> Expect:
    return Expect(at(line), Wire(data.length), "==", data)


def content(name: str, data: ByteString, line: int = 7) -> Expect:
    return Expect(at(line), Content((Part(name, 0, data.length),), name), "==", data)


def generating(blocks: int = 2) -> tuple[Step, ...]:
    """Transmit `blocks` blocks of 512 bytes with a CRC32 put after each on the wire."""
    length = blocks * 512
    signature = SetSignature(None, CRC32, 0xF0)
    return (
        Memory(at(2), "m", length, Counter(length)),
        Mkey(at(3), "k", SIGNATURE, 4),
        configured(List((Part("m", 0, length),)), signature),
        transmit(blocks * 516),
        wire(Framed(Counter(length), CRC32)),
    )


def validating(blocks: int, data: ByteString) -> tuple[Step, ...]:
    """Transmit framed `data` so that its CRC32s are checked and stripped."""
    return (
        Memory(at(2), "m", data.length, data),
        Mkey(at(3), "k", SIGNATURE, 4),
        configured(List((Part("m", 0, data.length),)), SetSignature(CRC32, None, 0xF0)),
        transmit(blocks * 512),
    )
