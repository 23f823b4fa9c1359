"""The values of the protocol come over the wire as they are."""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import Any

import execnet
import numpy as np
import pytest

from mkeyspec.abi.constants import Access
from mkeyspec.device.protocol import (
    Capabilities,
    Configure,
    CryptoAttr,
    Dek,
    Info,
    Mkey,
    Send,
    SetAccess,
    SetCrypto,
    SetList,
    SetSignature,
    Sge,
    SigBlockAttr,
    SigBlockDomain,
    SigCrc,
    SigT10dif,
)
from mkeyspec.device.verbs.peer import wire
from mkeyspec.device.verbs.station import ObjectCalls, StationCalls

MKEY = Mkey(1 << 32 | 5, "peer", 0xFFFFFF00, 7, 4)
SIGNATURE = SigBlockAttr(SigBlockDomain(1, SigCrc(2, (1 << 64) - 1), 0), SigBlockDomain(2, SigT10dif(1, 2, 3, 4, 5), 1))
CRYPTO = CryptoAttr(0, True, 1, 2, bytes(range(16)), Dek(3), b"\xff" * 8)
VALUES = (
    Configure(
        9, 2, MKEY, 4, (SetAccess(0xF), SetList((Sge(1 << 63, 4, 5),)), SetSignature(SIGNATURE), SetCrypto(CRYPTO))
    ),
    Send(1, 2, (), None, 3),
    Capabilities(frozenset({"atomic", "qp.rc"}), {"max_sge": 30}),
    Info("mlx5_1:1", "28.40.1000", {"kernel": "é"}),
    (None, True, -1, 1 << 64, 0.5, b"", "", ((),)),
)


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_there_and_back(value: Any) -> None:
    assert wire.decode(execnet.loads(execnet.dumps(wire.encode(value)))) == value


def of_class(cls: type) -> Any:
    """One whose members are small numbers, without those that have a default."""
    return cls(**{one.name: place for place, one in enumerate(fields(cls)) if one.default is MISSING})


@pytest.mark.parametrize("name", sorted(wire.CLASSES))
def test_each_class(name: str) -> None:
    value = of_class(wire.CLASSES[name])
    assert wire.decode(execnet.loads(execnet.dumps(wire.encode(value)))) == value


def test_numbers_and_bytes_of_other_kinds() -> None:
    assert wire.encode(Access.REMOTE_READ) == 4
    assert type(wire.encode(Access.REMOTE_READ)) is int
    assert type(wire.encode(np.uint32(4))) is int
    assert wire.encode(np.arange(3, dtype=np.uint8)) == b"\0\1\2"
    assert wire.encode(bytearray(b"ab")) == b"ab"


def test_what_is_not_of_the_protocol() -> None:
    with pytest.raises(TypeError, match="object is not of the protocol"):
        wire.encode(object())
    for strange in (["os"], [], [1]):
        with pytest.raises(ValueError, match="unknown class"):
            wire.decode(strange)


def test_each_call_of_a_station_is_there() -> None:
    """`info`, `capabilities` and `address` are told once, when it is opened."""
    told = {"objects", "info", "capabilities", "address"}
    assert {*wire.CALLS} == {name for name in vars(StationCalls) if not name.startswith("_")} - told
    assert {*wire.OBJECT_CALLS} == {name for name in vars(ObjectCalls) if not name.startswith("_")}


def test_another_protocol_has_another_digest(monkeypatch: pytest.MonkeyPatch) -> None:
    digest = wire.protocol_digest()
    assert digest == wire.protocol_digest()
    monkeypatch.setattr(wire, "CALLS", (*wire.CALLS, "more"))
    assert wire.protocol_digest() != digest
