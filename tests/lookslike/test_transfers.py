"""Near misses of what transfers do, each with bytes that are put together by hand from its sentence."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from mkeyspec import plan
from mkeyspec.abi.constants import CrcType
from mkeyspec.lookslike.plain import Scene
from mkeyspec.lookslike.search import Looked, bytes_look_like
from mkeyspec.lookslike.transfer import Stage
from mkeyspec.plan import At
from mkeyspec.reference import xts
from mkeyspec.value.bytestring import Literal
from mkeyspec.value.layout import List, Part
from mkeyspec.value.signature import Crc, Domain
from tests.lookslike.bitwise import blocks, counting, crc32c

AT = At(1, 1)
DATA = counting(1024)
OTHER = DATA[::-1]
KEY = bytes(range(64))
DOMAIN = Domain(Crc(CrcType.CRC32C, (1 << 64) - 1), 512)
SHORT = DATA[:520]
FIELD = crc32c(DATA[:512])


def configured(*setters: plan.Setter, abort: bool = False) -> plan.Post:
    return plan.Post(AT, (plan.Configure(AT, "k", setters),), abort=abort)


def layout(*parts: tuple[str, int, int]) -> plan.SetLayout:
    return plan.SetLayout(List(tuple(Part(*part) for part in parts)))


def crypto(tweak: int) -> plan.SetCrypto:
    return plan.SetCrypto("e", tweak, data_unit=512)


def encrypted(*pieces: tuple[bytes, int]) -> bytes:
    return b"".join(xts.encrypt(data, KEY, tweak, 512) for data, tweak in pieces)


def memories(**contents: bytes) -> tuple[plan.Memory, ...]:
    return tuple(plan.Memory(AT, name, len(data), Literal(data)) for name, data in contents.items())


def written(*parts: tuple[str, int, int], to: tuple[str, int, int]) -> plan.Post:
    return plan.Post(AT, (plan.Write(AT, tuple(Part(*part) for part in parts), Part(*to)),))


@dataclass(frozen=True)
class Row:
    """The last memory, `w`, is looked at. `names`: which near misses are found, "-" before those that are not."""

    names: str
    steps: tuple[plan.Step, ...]
    want: bytes
    got: bytes


DEK = plan.Dek(AT, "e", Literal(KEY))
ENTRIES: tuple[plan.Step, ...] = (*memories(m=DATA, w=bytes(1024)), DEK, configured(layout(("m", 0, 1024)), crypto(7)))
SIGNED: tuple[plan.Step, ...] = (
    *memories(m=SHORT, w=bytes(524)),
    configured(layout(("m", 0, 520)), plan.SetSignature(None, DOMAIN, 0xF0)),
)
SHARE = DATA[:16]


def stopped(*ids: int) -> tuple[plan.Step, ...]:
    """Each request writes 16 bytes of `w`; the first one has a fence, and 2 is cancelled."""
    requests = [
        plan.Write(AT, (Part("m", 0, 16),), Part("w", 16 * place, 16), options=plan.Options(fence=not place, id=id))
        for place, id in enumerate(ids)
    ]
    before = plan.Write(AT, (Part("m", 0, 16),), Part("other", 0, 16), options=plan.Options(id=2))
    post = plan.Post(AT, (before, *requests), wait=False)
    buffers = memories(m=SHARE, other=bytes(16), w=bytes(16 * len(ids)))
    return (*buffers, post, plan.Cancel(AT, 2), plan.Resume(AT))


CANCELLED = ("cancel.none", "cancel.first", "cancel.all", "moved.earlier", "expectation.declared")


def only(name: str) -> str:
    """Of what a cancelled request may look like, this alone."""
    return " ".join(one if one == name else f"-{one}" for one in CANCELLED)


ROWS = {
    "cancelled, and carried out": Row(only("cancel.none"), stopped(2, 3, 2), bytes(16) + SHARE + bytes(16), SHARE * 3),
    "the first of the number is cancelled": Row(
        only("cancel.first"), stopped(2, 3, 2), bytes(16) + SHARE + bytes(16), bytes(16) + SHARE * 2
    ),
    "all that waits is cancelled": Row(
        only("cancel.all"), stopped(2, 3, 2), bytes(16) + SHARE + bytes(16), bytes(48)
    ),
    "another request of the number before the fence": Row(only("cancel.all"), stopped(3), SHARE, bytes(16)),
    "a layout of one entry has no first entry to leave out": Row(
        "bytes.unchanged moved.nothing -layout.first_missing -layout.last_missing -offset.+512 -target.-1",
        (*memories(m=DATA[:64], w=bytes(64)), configured(layout(("m", 0, 64))), written(("k", 0, 64), to=("w", 0, 64))),
        DATA[:64],
        bytes(64),
    ),
    "a layout of two has": Row(
        "layout.first_missing -layout.last_missing",
        (*memories(m=DATA, w=bytes(64)), configured(layout(("m", 0, 32), ("m", 512, 64))),
         written(("k", 0, 64), to=("w", 0, 64))),
        DATA[:32] + DATA[512:544],
        DATA[512:576],
    ),
    "data units of each entry of a request": Row(
        "crypto.tweak_restarts_at_sges -crypto.tweak_restarts_at_entries",
        (*ENTRIES, written(("k", 0, 512), ("k", 512, 512), to=("w", 0, 1024))),
        encrypted((DATA, 7)),
        encrypted((DATA[:512], 7), (DATA[512:], 7)),
    ),
    "data units of each entry of the layout": Row(
        "crypto.tweak_restarts_at_entries",
        (*memories(m=DATA, w=bytes(1536)), DEK, configured(layout(("m", 0, 1024), ("m", 0, 512)), crypto(7)),
         written(("k", 0, 1536), to=("w", 0, 1536))),
        encrypted((DATA, 7), (DATA[:512], 9)),
        encrypted((DATA, 7), (DATA[:512], 7)),
    ),
    "attributes of a section that failed": Row(
        "key.failed_attributes -key.old_crypto",
        (*ENTRIES, configured(crypto(3), abort=True), configured(crypto(5)),
         written(("k", 0, 1024), to=("w", 0, 1024))),
        encrypted((DATA, 5)),
        encrypted((DATA, 3)),
    ),
    "a rest of zeros": Row(
        "field.partial_zero -field.partial_lost",
        (*memories(m=SHORT, w=b"x" * 524), *SIGNED[2:], written(("k", 0, 524), to=("w", 0, 524))),
        DATA[:512] + FIELD + SHORT[512:], DATA[:512] + FIELD + bytes(8),
    ),
    "a rest that is lost": Row(
        "field.partial_lost -field.partial_zero",
        (*memories(m=SHORT, w=b"x" * 524), *SIGNED[2:], written(("k", 0, 524), to=("w", 0, 524))),
        DATA[:512] + FIELD + SHORT[512:], DATA[:512] + FIELD + b"x" * 8,
    ),
    "a transfer before the one in front of it": Row(
        "moved.earlier",
        (*memories(m=DATA, mid=OTHER, w=bytes(1024)), written(("m", 0, 1024), to=("mid", 0, 1024)),
         written(("mid", 0, 1024), to=("w", 0, 1024))),
        DATA,
        OTHER,
    ),
    "a block size beyond the message is no near miss": Row(
        "frame.not_inserted -block.size_4096",
        (*memories(m=DATA, w=bytes(1032)), configured(layout(("m", 0, 1024)), plan.SetSignature(None, DOMAIN, 0xF0)),
         written(("k", 0, 1032), to=("w", 0, 1032))),
        b"".join(block + crc32c(block) for block in blocks(DATA, 512)),
        DATA + bytes(8),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ROWS)
def test_transfers(name: str) -> None:
    row = ROWS[name]
    contents = {step.name: step.data.data for step in row.steps if isinstance(step, plan.Memory) and step.data}
    before, want, got = (np.frombuffer(data, np.uint8) for data in (contents["w"], row.want, row.got))
    if name == "a transfer before the one in front of it":
        contents["mid"] = DATA
    scene = Scene(want, got, np.ones(len(want), bool), before)
    found = bytes_look_like(Looked(scene, (), [("w", 0, len(want))], Stage(row.steps, contents, _unread))).names
    for one in row.names.split():
        assert (one.removeprefix("-") in found) is not one.startswith("-"), (one, found)


def _unread(subject: str, member: str) -> int:
    raise KeyError(member)
