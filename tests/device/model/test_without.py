"""A device that lacks something refuses the configurations that need it, and no others (SIG-22, CRC-01, X-LIM-09)."""

from __future__ import annotations

import pytest

from mkeyspec.abi.constants import Access
from mkeyspec.device.profile.profile import Profile
from mkeyspec.device.protocol import Send, SetAccess, SetSignature, Setter, Sge, SigBlockDomain
from tests.device.model.fixtures import EVERYTHING, INDIRECT, Bench, crc, layout, signature, t10
from tests.device.model.test_crypto import BOTH, Vault, crypto

NO_RIGHT = EVERYTHING & ~int(Access.REMOTE_ATOMIC)
NO_CRC32C = ("signature.crc32c",)
NO_520 = ("block.520",)


def status(bench: Bench) -> str:
    (completion,) = bench.owner
    return completion.status


@pytest.mark.parametrize("other", [None, crc("crc32"), t10()], ids=["alone", "crc32", "t10"])
@pytest.mark.parametrize("side", ["mem", "wire"])
@pytest.mark.parametrize(
    ("lacks", "domain", "taken"),
    [
        (NO_CRC32C, crc("crc32c"), False),
        (NO_CRC32C, crc("crc64_xp10"), True),
        (NO_520, crc("crc32", block=520), False),
        (NO_520, t10(block=520), False),
        (NO_520, crc("crc32", block=4096), True),
        ((*NO_520, *NO_CRC32C), crc("crc32c", block=520), False),
        ((*NO_520, *NO_CRC32C), crc("crc32"), True),
    ],
)
def test_a_signature(
    lacks: tuple[str, ...], domain: SigBlockDomain, taken: bool, side: str, other: SigBlockDomain | None
) -> None:
    bench = Bench(Profile(without=lacks))
    setter: SetSignature = signature(domain, other) if side == "mem" else signature(other, domain)
    assert bench.configure(bench.mkey(), SetAccess(NO_RIGHT), layout(bench.memory(8192)), setter) == 0
    assert (status(bench) == "success") is taken


def test_no_signature_is_none_that_it_lacks() -> None:
    bench = Bench(Profile(without=NO_CRC32C))
    bench.over(bench.memory(512))


@pytest.mark.parametrize(
    ("access", "taken"), [(EVERYTHING, False), (int(Access.REMOTE_ATOMIC), False), (NO_RIGHT, True)]
)
@pytest.mark.parametrize("lacks", ["access.remote_atomic", "crypto.multi_block"])
def test_a_right(access: int, taken: bool, lacks: str) -> None:
    bench = Bench(Profile(without=(lacks,)))
    assert bench.configure(bench.mkey(INDIRECT), SetAccess(access), layout(bench.memory(512))) == 0
    assert (status(bench) == "success") is (taken or lacks != "access.remote_atomic")


@pytest.mark.parametrize("at_once", [True, False], ids=["at once", "layout first"])
@pytest.mark.parametrize(("length", "taken"), [(512, True), (528, False), (1024, False)])
def test_several_data_units(length: int, taken: bool, at_once: bool) -> None:
    """Of a layout that an earlier configuration gave, too."""
    bench = Vault(Profile(without=("crypto.multi_block",)))
    mkey = bench.mkey(BOTH)
    parts: list[list[Setter]] = [[SetAccess(EVERYTHING), layout(bench.memory(length))], [crypto(bench.dek)]]
    for setters in [[*parts[0], *parts[1]]] if at_once else parts:
        assert bench.configure(mkey, *setters) == 0
    assert (status(bench) == "success") is taken


def test_a_layout_behind_the_crypto_attributes() -> None:
    bench = Vault(Profile(without=("crypto.multi_block",)))
    mkey = bench.coded(bench.memory(512))
    assert bench.configure(mkey, layout(bench.memory(1024))) == 0
    assert status(bench) != "success"


def test_several_data_units_where_it_lacks_something_else() -> None:
    bench = Vault(Profile(without=NO_CRC32C))
    bench.coded(bench.memory(1024))
    assert status(bench) == "success"


def test_a_message_that_several_entries_of_a_key_take() -> None:
    """No lack, but the other side of one: each entry takes the bytes behind those of the entry before."""
    bench = Bench()
    memory = bench.memory(128)
    key = bench.over(memory, flags=INDIRECT).lkey
    source = bench.memory(bytes(range(128)), peer=True)
    assert bench.device.post_recv(bench.pair.owner, 3, (Sge(0, 100, key), Sge(100, 28, key))) == 0
    bench.post(Send(4, 2, (Sge(source.addr, 128, source.lkey),)), peer=True)
    assert bench.bytes_of(memory) == bytes(range(128))
