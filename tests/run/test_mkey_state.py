"""What a key is taken to be configured with, where some of what was posted to it was not carried out."""

from __future__ import annotations

import pytest

from mkeyspec.device import protocol
from mkeyspec.plan import At
from mkeyspec.run.evidence import Due
from mkeyspec.run.mkey_state import MkeyState, Setting
from mkeyspec.value.signature import Crc, Domain

AT = At(1, 1)
WIRE = (None, Domain(Crc(0, 0xFFFFFFFF), 512))
PLAIN = (None, None)


def posted(
    step: int = 0, *, flushed: bool = False, perhaps: bool = False, cancelled: bool = False, doubtful: bool = False
) -> Due:
    due = Due(AT, "send", 1, "driver1", cancelled=cancelled, doubtful=doubtful)
    due.step, due.flushed, due.perhaps = step, flushed, perhaps
    return due


@pytest.mark.parametrize(
    ("last", "in_force", "domains"),
    [
        (posted(1), True, [WIRE]),
        (posted(1, flushed=True), False, [PLAIN]),
        (posted(1, flushed=True, perhaps=True), True, [WIRE, PLAIN]),
        (posted(1, cancelled=True), False, [PLAIN]),
        (posted(1, cancelled=True, doubtful=True), True, [WIRE, PLAIN]),
    ],
    ids=["carried out", "flushed", "flushed, perhaps carried out", "cancelled", "one of two cancelled"],
)
def test_what_was_not_carried_out_has_set_nothing(
    last: Due, in_force: bool, domains: list[tuple[Domain | None, Domain | None]]
) -> None:
    mkey, inner = (MkeyState(name, AT, 2, protocol.Mkey(1, "owner", 7, 7, 4)) for name in ("k", "j"))
    assert (mkey.configured, mkey.domains_at(posted(2)), mkey.entries) == (0, [PLAIN], ())
    mkey.settings.append(Setting(posted(), 1, PLAIN, (inner,)))
    mkey.settings.append(Setting(last, 2, WIRE, None))
    assert mkey.configured == (2 if in_force else 1)
    assert mkey.domains_at(posted(2)) == domains
    assert mkey.domains_at(posted(1)) == [PLAIN], "what is posted later changes nothing of it"
    assert mkey.entries == (inner,)
