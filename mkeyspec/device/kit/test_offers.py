"""What a device offers, it carries out: the smallest use of each capability."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from mkeyspec.abi.constants import (
    BLOCK_ENUM,
    CAPABILITIES,
    MANY_ENTRIES,
    Access,
    BgType,
    CrcType,
    MkeyFlag,
    QpOps,
    SigType,
)
from mkeyspec.device.kit.bench import KEY_ACCESS, SIGNALED, Bench, fail, sge
from mkeyspec.device.protocol import (
    Configure,
    CryptoAttr,
    DekAttr,
    DekState,
    FetchAdd,
    Interleaved,
    LoginAttr,
    Memcpy,
    Mkey,
    MrInterleaved,
    MrList,
    NoSuchCall,
    RawWqe,
    Refused,
    SetAccess,
    SetCrypto,
    SetList,
    SetSignature,
    SigBlockAttr,
    SigBlockDomain,
    SigCrc,
    SigT10dif,
    Unsupported,
)
from mkeyspec.reference.key_wrap import wrap

INLINE = 8
INDIRECT, SIGNATURE, CRYPTO, TAG, INVALIDATE = (int(flag) for flag in MkeyFlag)
OPS = int(QpOps.MR_INTERLEAVED | QpOps.MR_LIST | QpOps.MKEY_CONFIGURE)


def _mkey(bench: Bench, flags: int = 0) -> Mkey:
    mkey: Mkey = bench.device.mkey("owner", create_flags=INDIRECT | flags, max_entries=4)
    return mkey


def _listed(bench: Bench) -> None:
    memory = bench.memory("owner", bytes(64))
    bench.done(bench.pair(send_ops=OPS).owner, MrList(1, SIGNALED | INLINE, _mkey(bench), KEY_ACCESS, (sge(memory),)))


def _interleaved(bench: Bench) -> None:
    memory = bench.memory("owner", bytes(64))
    entry = Interleaved(memory.addr, 16, 16, memory.lkey)
    bench.done(
        bench.pair(send_ops=OPS).owner, MrInterleaved(1, SIGNALED | INLINE, _mkey(bench), KEY_ACCESS, 2, (entry,))
    )


def _configured(bench: Bench, flags: int = 0, *more: SetSignature | SetCrypto, length: int = 64) -> None:
    memory = bench.memory("owner", bytes(length))
    setters = (SetAccess(KEY_ACCESS), SetList((sge(memory),)), *more)
    request = Configure(1, SIGNALED | INLINE, _mkey(bench, flags), len(setters), setters)
    bench.done(bench.pair(send_ops=OPS).owner, request)


def _atomic(bench: Bench) -> None:
    old, number = bench.memory("owner", bytes(8)), bench.memory("peer", bytes(8))
    bench.done(bench.pair().owner, FetchAdd(1, SIGNALED, sge(old), number.addr, number.rkey, 1))


def _memcpy(bench: Bench) -> None:
    source, target = bench.memory("owner", bytes(range(64))), bench.memory("owner", bytes(64))
    request = Memcpy(1, SIGNALED, target.lkey, target.addr, source.lkey, source.addr, 64)
    bench.done(bench.pair(send_ops=int(QpOps.MEMCPY)).owner, request)
    bench.content(target, bytes(range(64)))


def _nop(bench: Bench) -> None:
    """A WQE of opcode 0, with a completion (mlx5 PRM, control segment)."""
    end = bench.pair(send_ops=int(QpOps.RAW_WQE)).owner
    wqe = bytes(4) + (end.number << 8 | 1).to_bytes(4, "big") + bytes([0, 0, 0, 8]) + bytes(4)
    bench.done(end, RawWqe(1, SIGNALED, wqe))


def _crypto(bench: Bench) -> None:
    dek = bench.device.dek(bytes(range(32)))
    setter = SetCrypto(CryptoAttr(0, True, 0, BLOCK_ENUM[512], bytes(16), dek))
    _configured(bench, CRYPTO, setter, length=512)


def _two_units(bench: Bench) -> None:
    dek = bench.device.dek(bytes(range(32)))
    setter = SetCrypto(CryptoAttr(0, True, 0, BLOCK_ENUM[512], bytes(16), dek))
    _configured(bench, CRYPTO, setter, length=1024)


def _atomic_right(bench: Bench) -> None:
    memory = bench.memory("owner", bytes(64))
    setters = (SetAccess(int(Access.REMOTE_ATOMIC)), SetList((sge(memory),)))
    request = Configure(1, SIGNALED | INLINE, _mkey(bench), len(setters), setters)
    bench.done(bench.pair(send_ops=OPS).owner, request)


def _dek(bench: Bench) -> None:
    opaque = bytes(range(8))
    dek = bench.device.dek(bytes(range(32)), None, DekAttr(opaque))
    got = bench.device.query_dek(dek)
    if got != DekState(0, opaque):
        fail(
            f"query_dek() of a new DEK gives {got}", "a new DEK is ready, and has the opaque bytes it was created with"
        )
    bench.device.destroy_dek(dek)


def _login(bench: Bench) -> None:
    device, lab = bench.device, bench.device.lab_login()
    attr = LoginAttr(lab.credential_id, lab.import_kek_id, wrap(lab.credential, lab.import_kek))
    device.login(attr)
    told = [device.login_state()]
    key = wrap(bytes(range(32)), lab.import_kek)
    device.destroy_dek(device.dek(key, None, DekAttr(comp_mask=0, wrapped=True)))
    device.logout()
    told.append(device.login_state())
    made = device.login_object(attr)
    told.append(device.query_login(made))
    device.destroy_login(made)
    if told != [0, 1, 0]:
        what = f"a login, a logout and a login object have the states {told}"
        fail(what, "they are VALID (0), NO_LOGIN (1) and VALID")


def _retag(bench: Bench) -> None:
    bench.device.retag(_mkey(bench, TAG), 0x7E)


CRCS = {"crc32": CrcType.CRC32, "crc32c": CrcType.CRC32C, "crc64_xp10": CrcType.CRC64_XP10}


def _signed(kind: str, unit: int = 512) -> Callable[[Bench], None]:
    def probe(bench: Bench) -> None:
        sig: SigCrc | SigT10dif
        if kind in CRCS:
            size, sig_type, sig = 8 if kind == "crc64_xp10" else 4, SigType.CRC, SigCrc(int(CRCS[kind]), 0)
        else:
            guard = BgType.CSUM if kind == "csum" else BgType.CRC
            size, sig_type, sig = 8, SigType.T10DIF, SigT10dif(int(guard), 0, 0, 0, 0)
        domain = SigBlockDomain(int(sig_type), sig, BLOCK_ENUM[unit])
        signature = SetSignature(SigBlockAttr(domain, None))
        _configured(bench, SIGNATURE, signature, length=unit + size)

    return probe


def _blocks(unit: int) -> Callable[[Bench], None]:
    def probe(bench: Bench) -> None:
        kinds = [kind for kind in ("crc32", "t10dif", *CRCS) if bench.offers(f"signature.{kind}")]
        if not kinds:
            fail(f"it offers block.{unit}, and no signature", "a size of blocks is of a signature")
        _signed(kinds[0], unit)(bench)

    return probe


def _type(kind: str, **more: int) -> Callable[[Bench], object]:
    return lambda bench: bench.pair(type=kind, send_ops=0, **more)


PROBES: dict[str, Callable[[Bench], object]] = {
    **{f"qp.{kind}": _type(kind) for kind in ("rc", "uc", "ud", "xrc_send", "raw_packet", "dci")},
    "qp.dci_streams": _type("dci", streams=2),
    "block_signature": lambda bench: _mkey(bench, SIGNATURE),
    "update_tag": _retag,
    "remote_invalidate": lambda bench: _mkey(bench, INVALIDATE),
    "mr_list": _listed,
    "mr_interleaved": _interleaved,
    "mkey_configure": _configured,
    "atomic": _atomic,
    "memcpy": _memcpy,
    "raw_wqe": _nop,
    "pipelining": lambda bench: bench.pair(sig_pipelining=True, private=True),
    "crypto": _crypto,
    "crypto.multi_block": _two_units,
    "access.remote_atomic": _atomic_right,
    "large_mkey": lambda bench: bench.device.mkey("owner", create_flags=INDIRECT, max_entries=MANY_ENTRIES + 1),
    "dek_query": _dek,
    "crypto.login": _login,
    "crypto.plaintext": _crypto,
    **{f"signature.{kind}": _signed(kind) for kind in ("t10dif", "csum", *CRCS)},
    **{f"block.{unit}": _blocks(unit) for unit in BLOCK_ENUM if f"block.{unit}" in CAPABILITIES},
}
"""By capability: its smallest use."""

ONLY_BY_CASES = {
    "crypto.wrapped": "a device has it beside crypto.login, or nothing tells the rig what to log in with",
    "transfer.ud": "the shipped cases send on such a QP by hand",
    "transfer.xrc_send": "as transfer.ud",
    "transfer.raw_packet": "as transfer.ud",
    "raw_wqe.compare_swap": "the shipped cases make such WQEs",
    "raw_wqe.set_psv": "as raw_wqe.compare_swap",
    "raw_wqe.umr": "as raw_wqe.compare_swap",
    "raw_wqe.mmo": "as raw_wqe.compare_swap",
}
"""Capabilities that this does not try, and why."""


@pytest.mark.parametrize("name", sorted(PROBES))
def test_what_is_offered_is_carried_out(bench: Bench, name: str) -> None:
    if not bench.offers(name):
        pytest.skip("not offered")
    bench.device.may_refuse = True
    try:
        PROBES[name](bench)
    except (Refused, Unsupported, NoSuchCall) as error:
        what = f"it offers {name}, and raises {type(error).__name__}: {error}"
        fail(what, "a device carries out what it offers, and leaves what it lacks out of its capabilities")
    finally:
        bench.device.may_refuse = False
