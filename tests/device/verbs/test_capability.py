"""What mlx5dv_query_device's bits mean, by the headers."""

from __future__ import annotations

import types

import pytest

from mkeyspec.abi.constants import CAPABILITIES
from mkeyspec.device.protocol import QpAttributes, Unsupported
from mkeyspec.device.verbs import capability
from mkeyspec.device.verbs.native import Offload

NOTHING = Offload(None, None, None, None, None, None, None)
EVERYTHING = Offload(0x1F, 3, 3, 7, (4, 4), 1 << 31, (0, 6, 0, 10))
ATTR, NO_ATOMICS = (types.SimpleNamespace(atomic_caps=n, max_qp_wr=1 << 15, max_sge=30) for n in (1, 0))


def test_a_device_that_answers_nothing_offers_nothing() -> None:
    found = capability.capabilities(NOTHING, set(), NO_ATOMICS, 3, 1 << 30)
    assert not {name for name in found.offers if "." in name and not name.startswith("qp.")}
    assert not {"crypto", "memcpy", "atomic", "block_signature", "qp.dci_streams"} & found.offers
    assert found.values == {
        "max_wr_memcpy_length": 0, "max_qp_wr": 1 << 15, "max_sge": 30, "active_mtu": 1024, "max_msg_sz": 1 << 30,
    }  # fmt: skip


def test_everything() -> None:
    found = capability.capabilities(EVERYTHING, {"qp.dci"}, ATTR, 5, 1 << 30)
    assert {f"block.{size}" for size in (512, 520, 4048, 4096, 4160)} <= found.offers
    kinds = {"signature.t10dif", "signature.csum", "signature.crc32", "signature.crc32c", "signature.crc64_xp10"}
    assert kinds | {"crypto", "memcpy", "qp.dci_streams", "atomic"} <= found.offers
    assert found.values["max_wr_memcpy_length"] == 1 << 31
    assert found.offers <= CAPABILITIES


@pytest.mark.parametrize(
    ("offload", "has", "has_not"),
    [
        (Offload(0b1011, 3, 3, 1, None, None, None), "block.4096", "block.4048"),
        (Offload(1, 3, 3, 0b011, None, None, None), "signature.crc32c", "signature.crc64_xp10"),
        (Offload(1, 2, 3, 1, None, None, None), "signature.crc32", "signature.t10dif"),
        (Offload(1, 1, 1, 7, None, None, None), "signature.t10dif", "signature.crc32"),
        (Offload(1, 1, 1, 7, None, None, None), "block_signature", "signature.csum"),
        (Offload(0x1F, 0, 3, 7, None, None, None), "qp.rc", "block_signature"),
        (EVERYTHING._replace(crypto=(0, 2, 1, 0)), "crypto.wrapped", "crypto"),
        (EVERYTHING._replace(crypto=(1, 2, 0, 0)), "memcpy", "crypto"),
        (EVERYTHING._replace(crypto=(0, 0, 0, 0)), "memcpy", "crypto"),
        (EVERYTHING._replace(crypto=(0, 4, 0, 0)), "crypto", "crypto.wrapped"),
        (EVERYTHING._replace(crypto=(0, 6, 0, 0)), "crypto.multi_block", "crypto.wrapped"),
        (EVERYTHING._replace(crypto=(0, 2, 0, 0)), "crypto", "crypto.multi_block"),
        (EVERYTHING._replace(streams=(0, 0)), "qp.dci", "qp.dci_streams"),
    ],
)
def test_bits(offload: Offload, has: str, has_not: str) -> None:
    offers = capability.capabilities(offload, {"qp.dci"}, ATTR, 5, 1 << 30).offers
    assert has in offers
    assert has_not not in offers


@pytest.mark.parametrize(
    ("wrapped", "flags", "login", "offered"),
    [
        (1, 3, True, {"crypto", "crypto.wrapped", "crypto.login"}),
        (1, 3, False, {"crypto.wrapped"}),
        (1, 1, True, {"crypto.wrapped"}),
        (0, 3, True, {"crypto", "crypto.plaintext"}),
    ],
)
def test_a_device_that_wraps_needs_a_login(wrapped: int, flags: int, login: bool, offered: set[str]) -> None:
    """Commissioned (MLX5DV_CRYPTO_CAPS_WRAPPED_CRYPTO_OPERATIONAL), and something says what to log in with."""
    offload = EVERYTHING._replace(crypto=(0, 2, wrapped, 8), crypto_flags=flags)
    found = capability.capabilities(offload, {"crypto.login"} if login else set(), ATTR, 5, 1 << 30).offers
    assert {name for name in found if name.startswith("crypto")} == offered


def test_what_nothing_announces_is_tried() -> None:
    tried: list[object] = []

    def qp(attributes: QpAttributes) -> None:
        tried.append(attributes)
        if attributes.sig_pipelining:
            raise ValueError
        if attributes.type in ("dci", "xrc_send"):
            raise Unsupported("no")

    def mkey(flags: int, entries: int) -> None:
        tried.append(flags)
        if entries > 1024:
            raise ValueError
        if flags & 16:
            raise ValueError

    assert capability.tried(ValueError, qp, mkey) == {"qp.uc", "qp.ud", "qp.raw_packet", "raw_wqe", "update_tag"}
    assert {1 | 8, 1 | 16} <= {item for item in tried if isinstance(item, int)}

    def broken(attributes: QpAttributes) -> None:
        raise KeyError

    with pytest.raises(KeyError):  # a fault is not a lack
        capability.tried(ValueError, broken, mkey)


@pytest.mark.parametrize(
    ("crypto", "offered"),
    [((0, 2, 0, 8), True), ((0, 2, 1, 8), True), ((1, 2, 0, 8), False), ((0, 0, 0, 0), False), (None, False)],
)
def test_deks_are_queried_where_there_are_keys(crypto: tuple[int, int, int, int] | None, offered: bool) -> None:
    """libmlx5 has the call whatever the device is."""
    offers = capability.capabilities(EVERYTHING._replace(crypto=crypto), {"dek_query"}, ATTR, 5, 1 << 30).offers
    assert ("dek_query" in offers) is offered
