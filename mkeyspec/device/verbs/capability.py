"""The capabilities of a device: read by a query if there is one, otherwise found by creating an object."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mkeyspec.abi.constants import BLOCK_BYTES, RAW_OPCODES, MkeyFlag, QpOps
from mkeyspec.device.protocol import Capabilities, QpAttributes, Unsupported
from mkeyspec.device.verbs.native import Offload

KINDS = ((0, "crc32"), (1, "crc32c"), (2, "crc64_xp10"))
T10DIF, CRC = 1, 2
CSUM = 2
AES_XTS = 0x7
"""AES_XTS, and its single-block and multi-block engines."""
MULTI_BLOCK = 0x4
WRAPPED = 1
OPERATIONAL = 2
"""MLX5DV_CRYPTO_CAPS_WRAPPED_CRYPTO_OPERATIONAL: a credential and an import KEK are stored."""

MOST_ENTRIES = 65532
"""What libmlx5 rounds to 16 bits without a loss (X-LIM-07)."""

Try = Callable[[], object]
"""Creates something and closes it again; raises what pyverbs raises."""


def signatures(offload: Offload) -> set[str]:
    """Signature kinds and block sizes; none if the device did not report them or has no block signature."""
    found: set[str] = set()
    if not offload.prot:
        return found
    found.add("block_signature")
    if offload.prot & T10DIF:
        found.add("signature.t10dif")
        if (offload.t10dif_bg or 0) & CSUM:
            found.add("signature.csum")
    if offload.prot & CRC:
        found.update(f"signature.{name}" for bit, name in KINDS if (offload.crc_types or 0) >> bit & 1)
    found.update(f"block.{size}" for bit, size in BLOCK_BYTES.items() if (offload.block_sizes or 0) >> bit & 1)
    return found


def crypto(offload: Offload, can_login: bool) -> set[str]:
    """`crypto` is what a case can use: an engine that passed its self-tests, and keys that it can import. They are
    imported as they are, or wrapped; then the device is set up for logins, and something says what to log in with."""
    if offload.crypto is None:
        return set()
    failed, engines, wrapped, _ = offload.crypto
    if failed or not engines & AES_XTS:
        return set()
    more = {"crypto.multi_block"} if engines & MULTI_BLOCK else set()
    if not wrapped & WRAPPED:
        return {"crypto", "crypto.plaintext"} | more
    logs_in = can_login and offload.crypto_flags & OPERATIONAL
    return {"crypto.wrapped", "crypto", "crypto.login"} | more if logs_in else {"crypto.wrapped"}


def values(offload: Offload, attr: Any, mtu: int, longest: int) -> dict[str, int]:
    """Numbers that a case may read as `device.NAME`. Of the port: `mtu`, the active one, of enum ibv_mtu; `longest`,
    max_msg_sz in bytes."""
    found = {"max_wr_memcpy_length": offload.memcpy_length or 0}
    found |= {"max_qp_wr": int(attr.max_qp_wr), "max_sge": int(attr.max_sge), "active_mtu": 128 << mtu}
    found["max_msg_sz"] = longest
    if offload.streams is not None:
        found["max_log_num_concurent"], found["max_log_num_errored"] = offload.streams
    if offload.crypto is not None:
        found["crypto_engines"], found["log_max_num_deks"] = offload.crypto[1], offload.crypto[3]
    return found


def tried(
    errors: type[Exception], qp: Callable[[QpAttributes], object], mkey: Callable[[int, int], object]
) -> set[str]:
    """Capabilities that no query reports, found by creating an object; the functions close what they create."""
    attempts: dict[str, Try] = {
        "qp.uc": lambda: qp(QpAttributes(type="uc", send_ops=0)),
        "qp.ud": lambda: qp(QpAttributes(type="ud", send_ops=0)),
        "qp.dci": lambda: qp(QpAttributes(type="dci", send_ops=0)),
        "qp.xrc_send": lambda: qp(QpAttributes(type="xrc_send", send_ops=0)),
        "qp.raw_packet": lambda: qp(QpAttributes(type="raw_packet", send_ops=0)),
        "pipelining": lambda: qp(QpAttributes(sig_pipelining=True)),
        "raw_wqe": lambda: qp(QpAttributes(send_ops=int(QpOps.RAW_WQE))),
        "update_tag": lambda: mkey(int(MkeyFlag.INDIRECT | MkeyFlag.UPDATE_TAG), 4),
        "remote_invalidate": lambda: mkey(int(MkeyFlag.INDIRECT | MkeyFlag.REMOTE_INVALIDATE), 4),
        "large_mkey": lambda: mkey(int(MkeyFlag.INDIRECT), MOST_ENTRIES),
    }
    return {name for name, attempt in attempts.items() if _works(attempt, errors)}


def _works(attempt: Try, errors: type[Exception]) -> bool:
    try:
        attempt()
    except (errors, Unsupported):
        return False
    return True


def capabilities(offload: Offload, found: set[str], attr: Any, mtu: int, longest: int) -> Capabilities:
    """All capabilities; `attr` is the result of ibv_query_device, `mtu` and `longest` as of `values`."""
    offers = {"qp.rc", "mkey_configure", "mr_list", "mr_interleaved"}
    offers |= signatures(offload) | crypto(offload, "crypto.login" in found) | (found - {"crypto.login"})
    if not offers & {"crypto", "crypto.wrapped"}:
        offers.discard("dek_query")
    if int(attr.atomic_caps):
        offers.add("atomic")
    if offload.memcpy_length:
        offers.add("memcpy")
    # What such a QP is given goes to the device as it is.
    offers |= {f"transfer.{kind}" for kind in ("ud", "xrc_send", "raw_packet") if f"qp.{kind}" in found}
    if "raw_wqe" in found:
        offers |= {f"raw_wqe.{name}" for name in RAW_OPCODES.values()}
    if offload.streams is not None and offload.streams[0] and "qp.dci" in offers:
        offers.add("qp.dci_streams")
    return Capabilities(frozenset(offers), values(offload, attr, mtu, longest))


OWNER_ALONE = frozenset(
    {"crypto", "crypto.plaintext", "crypto.wrapped", "crypto.login", "crypto.multi_block", "dek_query"}
)
"""What is done at the owner's side only, so that the peer needs none of it."""
_SMALLER = ("max_qp_wr", "max_sge", "active_mtu", "max_msg_sz")


def both(owner: Capabilities, peer: Capabilities) -> Capabilities:
    """Those of a pair of devices: what both carry out. Numbers are the owner's; of those that both ends of a QP must
    have, the smaller one."""
    offers = owner.offers & (peer.offers | OWNER_ALONE)
    smaller = {name: min(owner.values[name], peer.values[name]) for name in _SMALLER}
    return Capabilities(offers, owner.values | smaller)
