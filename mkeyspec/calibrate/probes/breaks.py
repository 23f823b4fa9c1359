"""Calls that break a rule, and calls like them that break none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from mkeyspec.abi.constants import Access, CryptoOrder, MkeyFlag, QpOps, SendFlag
from mkeyspec.calibrate.bench import (
    CONFIGURES,
    OK,
    SIGNALED,
    SIGNED,
    Absent,
    Bench,
    Unknown,
    crc,
    errno_name,
    layout,
    sge,
    signature,
    t10,
    turns,
)
from mkeyspec.device.protocol import (
    Configure,
    CryptoAttr,
    DcAddress,
    DekAttr,
    Memcpy,
    Mkey,
    NoSuchCall,
    QpAttributes,
    Refused,
    Send,
    SetAccess,
    SetCrypto,
    SetInterleaved,
    SetList,
    SetSignature,
    Setter,
    Sge,
    SigBlockAttr,
    SigT10dif,
    WorkRequest,
    Write,
)
from mkeyspec.reference.key_wrap import wrap

BOTH = SIGNED | int(MkeyFlag.CRYPTO)
INLINE = int(SendFlag.INLINE)
Break = Callable[[Bench], str]
ACCESS = SetAccess(int(Access.LOCAL_WRITE))


def called(name: str, call: Callable[[Bench], object], right: Callable[[Bench], object] | None = None) -> Break:
    """The call `name`, which must be refused. `right`: a call like it that must not be."""

    def look(bench: Bench) -> str:
        if right is not None:
            right(bench)
        try:
            call(bench)
        except Refused as refused:
            if refused.call != name:
                raise
            return errno_name(refused.errno)
        except NoSuchCall as error:
            raise Unknown(f"no call can express it: {error}") from None
        raise Absent("it is not refused")

    return look


def plain(bench: Bench) -> str:
    """A configuration that breaks no rule."""
    return bench.configure(bench.mkey(), ACCESS, layout(bench.memory(bytes(8))))


def with_signature(bench: Bench) -> str:
    return bench.configure(bench.mkey(SIGNED), layout(bench.memory(bytes(1024))), attr())


def with_dif(bench: Bench) -> str:
    return bench.configure(bench.mkey(SIGNED), layout(bench.memory(bytes(1024))), dif())


def with_copy_mask(bench: Bench) -> str:
    setter = signature(crc("crc32"), crc("crc32"), copy=0xFF)
    return bench.configure(bench.mkey(SIGNED), layout(bench.memory(bytes(1024))), setter)


def with_crypto(bench: Bench) -> str:
    mkey = bench.mkey(1 | int(MkeyFlag.CRYPTO))
    return bench.configure(mkey, layout(bench.memory(bytes(512))), crypto(bench))


def posted(requests: Callable[[Bench], tuple[WorkRequest, ...]], right: Callable[[Bench], str] | None = None) -> Break:
    """A section that must fail. `right`: a configuration like it, which must be carried out."""

    def look(bench: Bench) -> str:
        if (outcome := (right or plain)(bench)) != OK:
            raise Unknown(f"a configuration that is right ends with {outcome}")
        try:
            section = requests(bench)  # which may choose another QP
            number = bench.device.post(bench.pair.owner, section)
        except NoSuchCall as error:
            raise Unknown(f"no call can express it: {error}") from None
        bench.healthy = False
        if not number:
            raise Absent("it is not refused")
        return errno_name(number)

    return look


def configuration(
    *setters: Setter, right: Callable[[Bench], str] | None = None, flags: int = SIGNED, **members: Any
) -> Break:
    """A configuration of an mkey that breaks the rule."""

    def requests(bench: Bench) -> tuple[WorkRequest, ...]:
        wanted = flags if "block_signature" in bench.offers or flags != SIGNED else 1
        request = Configure(bench.id(), CONFIGURES, bench.mkey(wanted), len(setters), setters)
        return (replace(request, **members),)

    return posted(requests, right)


def with_buffer(
    setters: Callable[[Bench], tuple[Setter, ...]],
    flags: int = 1,
    entries: int = 8,
    right: Callable[[Bench], str] | None = None,
) -> Break:
    def requests(bench: Bench) -> tuple[WorkRequest, ...]:
        made = setters(bench)
        return (Configure(bench.id(), CONFIGURES, bench.mkey(flags, entries), len(made), made),)

    return posted(requests, right)


def attr(**members: Any) -> SetSignature:
    return SetSignature(replace(SigBlockAttr(crc("crc32"), None), **members))


def domain(**members: Any) -> SetSignature:
    return SetSignature(SigBlockAttr(None, replace(crc("crc32"), **members)))


def dif(**members: int) -> SetSignature:
    given = t10()
    assert isinstance(given.sig, SigT10dif)
    return SetSignature(SigBlockAttr(replace(given, sig=replace(given.sig, **members)), None))


def listed(bench: Bench, count: int) -> SetList:
    memory = bench.memory(bytes(8))
    return SetList((sge(memory),) * count)


def strided(bench: Bench, count: int) -> SetInterleaved:
    memory = bench.memory(bytes(8))
    return turns(1, *[(memory, 8, 0)] * count)


def created(flags: int, bench: Bench) -> object:
    return bench.device.mkey("owner", create_flags=flags, max_entries=1)


def paired(bench: Bench, **attributes: Any) -> object:
    return bench.device.qp_pair(QpAttributes(private=True, **attributes))


def small(bench: Bench) -> int:
    """A QP of little room; the entries of a list that fit."""
    pair = bench.use(QpAttributes(max_inline_data=0, max_send_sge=1, private=True))
    return (pair.owner.max_inline_data + 4) // 16


def crypto(bench: Bench, **members: Any) -> SetCrypto:
    after = int(CryptoOrder.SIGNATURE_AFTER_CRYPTO_ON_TX)
    return SetCrypto(replace(CryptoAttr(0, True, after, 0, bytes(16), bench.dek()), **members))


def crypto_broken(flags: int = 1 | int(MkeyFlag.CRYPTO), **members: Any) -> Break:
    return with_buffer(
        lambda bench: (layout(bench.memory(bytes(512))), crypto(bench, **members)), flags, right=with_crypto
    )


def other_tag(bench: Bench) -> tuple[WorkRequest, ...]:
    mkey: Mkey = bench.mkey(1)
    return (Configure(bench.id(), CONFIGURES, replace(mkey, lkey=mkey.lkey ^ 5), 1, (SetAccess(bench.rights),)),)


def too_much_inline(bench: Bench) -> tuple[WorkRequest, ...]:
    memory, far = bench.memory(bytes(1 << 16)), bench.memory(bytes(8), "peer")
    length = bench.pair.owner.max_inline_data + 1
    sges = (Sge(memory.addr, length, memory.lkey),)
    return (Write(bench.id(), SIGNALED | INLINE, sges, far.addr, far.rkey),)


def memcpy_too_long(bench: Bench) -> tuple[WorkRequest, ...]:
    bench.use(QpAttributes(send_ops=int(QpOps.MEMCPY), private=True))
    memory = bench.memory(bytes(8))
    length = bench.numbers["max_wr_memcpy_length"] + 1
    return (Memcpy(bench.id(), SIGNALED, memory.lkey, memory.addr, memory.lkey, memory.addr, length),)


def full_queue(bench: Bench) -> tuple[WorkRequest, ...]:
    """More in one section than the send queue holds."""
    bench.use(QpAttributes(max_send_wr=1, private=True))
    far = bench.memory(bytes(8), "peer")
    return tuple(Write(bench.id(), 0, (), far.addr, far.rkey) for _ in range(512))


def many_sges(bench: Bench) -> tuple[WorkRequest, ...]:
    memory = bench.memory(bytes(8))
    return (Send(bench.id(), SIGNALED, (Sge(memory.addr, 1, memory.lkey),) * 64),)


def without_address(bench: Bench) -> tuple[WorkRequest, ...]:
    bench.use(QpAttributes(type="dci", send_ops=0, private=True))
    memory, far = bench.memory(bytes(8)), bench.memory(bytes(8), "peer")
    return (Write(bench.id(), SIGNALED, (sge(memory),), far.addr, far.rkey),)


def address_without_streams(bench: Bench) -> tuple[WorkRequest, ...]:
    dct = bench.device.dct(7)
    bench.use(QpAttributes(type="dci", send_ops=0, private=True))
    memory, far = bench.memory(bytes(8)), bench.memory(bytes(8), "peer")
    return (Write(bench.id(), SIGNALED, (sge(memory),), far.addr, far.rkey, dc=DcAddress(dct, 7, 1)),)


def cancelled(bench: Bench) -> str:
    pair = bench.use(QpAttributes(sig_pipelining=True, private=True))
    number = bench.device.cancel(pair.owner, 1)
    if number >= 0:
        raise Absent("it is not refused")
    return errno_name(-number)


KEY = bytes(range(16)) + bytes(range(32, 48))


def plain_dek(bench: Bench) -> object:
    return bench.dek() if "crypto.plaintext" in bench.offers else None


def dek(key: bytes = KEY, right: Callable[[Bench], object] | None = plain_dek, **members: Any) -> Break:
    return called("mlx5dv_dek_create", lambda bench: bench.device.dek(key, None, replace(DekAttr(), **members)), right)


def wrapped_dek(bench: Bench) -> DekAttr:
    bench.login()
    return DekAttr(key_size=0, comp_mask=0, wrapped=True)


def wrapped(bench: Bench) -> object:
    attr = wrapped_dek(bench)
    return bench.device.dek(wrap(KEY, bench.device.lab_login().import_kek), None, attr)


def in_and_out(bench: Bench) -> None:
    bench.login()
    bench.device.logout()
    bench.logged_in = False


def damaged(bench: Bench) -> object:
    return bench.device.dek(bytes(40), None, wrapped_dek(bench))


def queried_after_logout(bench: Bench) -> object:
    made = bench.device.dek(wrap(KEY, bench.device.lab_login().import_kek), None, wrapped_dek(bench))
    bench.device.query_dek(made)
    bench.device.logout()
    bench.logged_in = False
    return bench.device.query_dek(made)


def destroyed_in_use(bench: Bench) -> None:
    setter = crypto(bench)
    mkey = bench.over(bench.memory(bytes(512)), setter, flags=1 | int(MkeyFlag.CRYPTO))
    bench.must(bench.transmit(mkey.lkey, 512).status, "a message through a key with crypto")
    bench.device.destroy_dek(setter.attr.dek)


def login_again(bench: Bench) -> None:
    bench.login()
    bench.device.login(bench.login_attr())


def second_login_object(bench: Bench) -> object:
    made = bench.device.login_object(bench.login_attr())
    try:
        return bench.device.login_object(bench.login_attr())
    finally:
        bench.device.destroy_login(made)


def login_with(bench: Bench, **members: Any) -> None:
    bench.healthy = False
    bench.device.login(replace(bench.login_attr(), **members))


def without_header(bench: Bench) -> tuple[WorkRequest, ...]:
    mkey = bench.mkey(1, 4)
    memory = bench.memory(bytes(64))
    return (Configure(bench.id(), CONFIGURES, mkey, 1, (turns(1, *[(memory, 8, 0)] * mkey.max_entries),)),)
