"""Steps that the model does not offer, carried out on a device with prepared answers."""

from __future__ import annotations

from typing import Any

from mkeyspec.abi.constants import MkeyFlag
from mkeyspec.device import protocol
from mkeyspec.plan import (
    Cancel,
    Configure,
    Dct,
    Dek,
    Expect,
    Memory,
    Mkey,
    Options,
    Pd,
    Post,
    Rejected,
    Resume,
    Retag,
    Send,
    SetCrypto,
    Transmit,
)
from mkeyspec.run.rig import Rig
from mkeyspec.value.bytestring import Counter, Literal
from mkeyspec.value.layout import List, Part
from mkeyspec.value.live import Live
from tests.run.fixtures import SIGNALED, at, changed, codes, configured, failures, plain, rig, run, transmit, wire


def answering(**answers: Any) -> tuple[Rig, Any]:
    """A rig whose device answers these calls with these values, or raises them."""
    tested, device = rig()
    for name, answer in answers.items():

        def call(*args: Any, _name: str = name, _answer: Any = answer, **options: Any) -> Any:
            device.calls.append((_name, args, options))
            if isinstance(_answer, Exception):
                raise _answer
            return _answer

        setattr(device, name, call)
    return tested, device


def test_cancel_counts_or_is_refused() -> None:
    tested, device = answering(cancel=0)
    cancel = Cancel(at(5), 7, label="c")
    count = Expect(at(6), Live("c", "count"), "==", 0)
    assert run(tested, *plain(), cancel, count).status == "pass"
    assert device.named("cancel")[0][1] == 7
    assert codes(tested, *plain(), changed(cancel, claim=(Rejected("cancel"),))) == ["MKS2002"]
    tested, _ = answering(cancel=-22)
    errno = Expect(at(6), Live("c", "errno"), "==", "EINVAL")
    assert run(tested, *plain(), changed(cancel, claim=(Rejected("cancel", "EINVAL"),)), errno).status == "pass"
    assert codes(tested, *plain(), cancel) == ["MKS2001"]


def test_resume() -> None:
    tested, _ = answering(resume=0)
    assert run(tested, *plain(), Resume(at(5))).status == "pass"
    tested, _ = answering(resume=22)
    assert codes(tested, *plain(), Resume(at(5))) == ["MKS2001"]


def test_a_retagged_mkey_is_used_by_its_new_key() -> None:
    tested, _ = rig()
    mkey = Mkey(at(3), "k", int(MkeyFlag.INDIRECT | MkeyFlag.UPDATE_TAG), 4)
    again = configured(List((Part("m", 0, 64),)))
    steps = (plain()[0], mkey, Retag(at(4), "k", 0x5A), again, transmit(), wire(Counter(64)))
    assert run(tested, *steps).status == "pass"
    old = Transmit(at(8), Part("k", 0, 64), "send", options=Options(but=(("tag", 0x5B),)))
    assert run(tested, *steps, changed(old, claim=(Rejected("completion"),))).status == "pass"


def test_keys_and_crypto_attributes() -> None:
    tested, device = answering(dek=protocol.Dek(1))
    dek = Dek(at(2), "d", Literal(b"k" * 32), Literal(b"t" * 8))
    crypto = SetCrypto("d", 5, 512, False, 1, b"t" * 8, (("comp_mask", 1),))
    configure = Configure(at(4), "k", (crypto,), False, SIGNALED)
    device.errno = 22
    claimed = Post(at(4), (configure,), claim=(Rejected("complete"),))
    assert run(tested, *plain()[:2], dek, claimed).status == "pass"
    assert device.named("dek") == [(b"k" * 32, b"t" * 8)]
    assert device.named("post")[0][1][0].setters[0].attr == protocol.CryptoAttr(
        0, False, 1, 0, (5).to_bytes(16, "little"), protocol.Dek(1), b"t" * 8, 1
    )


def test_a_key_that_was_refused_cannot_be_used() -> None:
    tested, _ = answering(dek=protocol.Refused("dek", 22))
    dek = Dek(at(2), "d", Literal(b"k"), claim=(Rejected("create", "EINVAL"),))
    assert run(tested, dek).status == "pass"
    configure = Configure(at(4), "k", (SetCrypto("d"),), False, SIGNALED)
    assert codes(tested, *plain()[:2], dek, Post(at(4), (configure,))) == ["MKS2105"]


def test_dc_addresses() -> None:
    tested, device = answering(dct=0x77)
    device.errno = 22
    send = Send(at(4), (Part("m", 0, 4),), options=Options(signaled=True, dct="t", stream=3))
    claimed = Post(at(4), (send,), claim=(Rejected("complete"),))
    assert run(tested, *plain()[:2], Dct(at(2), "t", 0x1234), claimed).status == "pass"
    assert device.named("post")[0][1][0].dc == protocol.DcAddress(0x77, 0x1234, 3)


def test_protection_domains() -> None:
    tested, _ = rig()
    foreign = Memory(at(2), "m", 64, Counter(64), pd="p")
    claimed = changed(transmit(), claim=(Rejected("completion", "local_protection"),))
    assert run(tested, Pd(at(1), "p"), foreign, *plain()[1:], claimed).status == "pass"
    assert codes(tested, Pd(at(1), "p"), foreign, *plain()[1:], transmit()) == ["MKS2005"]


def test_a_refused_registration_is_no_death() -> None:
    tested, _ = answering(memory=protocol.Refused("ibv_reg_mr", 12))
    assert codes(tested, *plain()) == ["MKS2001"]


def test_what_the_device_offered_and_then_lacks_is_a_failure() -> None:
    tested, _ = answering(dct=protocol.Unsupported("no DC here"))
    (failure,) = failures(tested, Dct(at(2), "t", 1))
    assert (failure.code, failure.at) == ("MKS2013", at(2))
    assert failure.message == "the device lacks what it offers: no DC here"
