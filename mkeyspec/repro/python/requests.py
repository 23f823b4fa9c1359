"""Sections in Python: from wr_start to wr_complete of pyverbs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from typing_extensions import assert_never

from mkeyspec.abi.constants import Access, SendFlag
from mkeyspec.device.protocol import (
    Atomic,
    CompareSwap,
    Configure,
    Data,
    FetchAdd,
    Interleaved,
    LocalInv,
    Memcpy,
    MrInterleaved,
    MrList,
    RawWqe,
    Read,
    Send,
    SetAccess,
    SetCrypto,
    SetInterleaved,
    SetList,
    SetSignature,
    Setter,
    Sge,
    SigBlockDomain,
    SigCrc,
    StraySetter,
    WorkRequest,
    Write,
)
from mkeyspec.repro import calls
from mkeyspec.repro.python.numbers import flags, number

if TYPE_CHECKING:
    from mkeyspec.repro.program import Program
    from mkeyspec.repro.python.language import Python

_BLOCKS = ("512", "520", "4048", "4096", "4160")
_CRCS = ("CRC32", "CRC32C", "CRC64_XP10")
_DIF_FLAGS = ("REF_REMAP", "APP_ESCAPE", "APP_REF_ESCAPE")
_ORDERS = ("SIGNATURE_AFTER_CRYPTO_ON_TX", "SIGNATURE_BEFORE_CRYPTO_ON_TX")


def named(value: int, names: Sequence[str], prefix: str) -> str:
    """A value of an enum; a number that is none of it is given as that."""
    return prefix + names[value] if 0 <= value < len(names) else number(value)


def bits(value: int, names: Sequence[str], prefix: str) -> str:
    """Flags by name; bits without one as a number."""
    found = [prefix + name for bit, name in enumerate(names) if value >> bit & 1]
    rest = value & ~((1 << len(names)) - 1)
    return " | ".join(found + ([number(rest)] if rest or not found else []))


def sges(given: Sequence[Sge]) -> str:
    """A list of SGEs."""
    return f"[{', '.join(sge(one) for one in given)}]"


def sge(one: Sge) -> str:
    return f"SGE({number(one.addr)}, {number(one.length)}, {number(one.lkey)})"


def _interleaved(entries: Sequence[Interleaved]) -> str:
    texts = []
    for one in entries:
        members = map(number, (one.addr, one.bytes_count, one.bytes_skip, one.lkey))
        texts.append(f"Mlx5MrInterleaved({', '.join(members)})")
    return f"[{', '.join(texts)}]"


class Section:
    """The lines of one posting: `result` is 0 or an errno. `raw`: expressions of its raw WQEs."""

    def __init__(self, program: Program, language: Python, call: calls.Post, raw: Sequence[str]) -> None:
        self._program = program
        self._language = language
        self._call = call
        self._raw = iter(raw)
        self._end, self._other = f"{call.pair}.{call.side}", ""
        if program.pairs.get(call.pair) == "ud":
            self._other = f"{call.pair}.{'peer' if call.side == 'owner' else 'owner'}"

    def lines(self) -> Iterator[str]:
        """A LOCAL_INV by ibv_post_send is in no section: what is before and after it are sections of their own."""
        run: list[WorkRequest] = []
        first = True
        yield f"ibv = {self._end}.qp"
        for request in self._call.requests:
            if not (isinstance(request, LocalInv) and request.by_post_send):
                run.append(request)
                continue
            if run:
                yield from self._section(run, first=first)
                first = False
            wr_id = self._program.wr_id(request.wr_id)
            inv = f"post_local_inv(ibv, {wr_id}, {flags(request.flags, SendFlag)}, {number(request.rkey)})"
            yield f"result = {inv}" if first else f"result = result or {inv}"
            run, first = [], False
        if run or first:
            yield from self._section(run, first=first)

    def _section(self, run: Sequence[WorkRequest], *, first: bool) -> Iterator[str]:
        lines = ["ibv.wr_start()"]
        for request in run:
            lines += self._request(request)
        lines.append("ibv.wr_abort()" if self._call.abort else "result = wr_complete(ibv)")
        if first:
            yield from lines
        else:
            yield "if not result:"
            yield from (f"    {line}" for line in lines)

    def _request(self, request: WorkRequest) -> Iterator[str]:
        if isinstance(request, StraySetter):
            yield from self._setter(request.setter)
            return
        yield f"ibv.wr_id, ibv.wr_flags = {self._program.wr_id(request.wr_id)}, {flags(request.flags, SendFlag)}"
        match request:
            case Configure():
                conf = bits(request.conf_flags, ("RESET_SIG_ATTR",), "MLX5DV_MKEY_CONF_FLAG_")
                yield f"conf = Mlx5MkeyConfAttr({conf}, {number(request.comp_mask)})"
                yield f"ibv.wr_mkey_configure({self._mkey(request)}, {number(request.num_setters)}, conf)"
                for setter in request.setters:
                    yield from self._setter(setter)
            case MrList():
                access = flags(request.access_flags, Access)
                yield f"ibv.wr_mr_list({self._mkey(request)}, {access}, {sges(request.sges)})"
            case MrInterleaved():
                access, turns = flags(request.access_flags, Access), number(request.repeat_count)
                entries = _interleaved(request.entries)
                yield f"ibv.wr_mr_interleaved({self._mkey(request)}, {access}, {turns}, {entries})"
            case Memcpy():
                target = f"{number(request.dest_lkey)}, {number(request.dest_addr)}"
                source = f"{number(request.src_lkey)}, {number(request.src_addr)}"
                yield f"ibv.wr_memcpy({target}, {source}, {number(request.length)})"
            case RawWqe():
                yield f"wqe = Wqe({next(self._raw, '') or self._language.table(request.wqe)})"
                yield "ibv.wr_raw_wqe(wqe)"
            case LocalInv():
                yield f"ibv.wr_local_inv({number(request.rkey)})"
            case Send() | Write() | Read() | FetchAdd() | CompareSwap():
                yield self._message(request)
                yield from self._address(request)
                yield self._data(request)
            case _:
                assert_never(request)

    def _mkey(self, request: Configure | MrList | MrInterleaved) -> str:
        return self._program.trace.recorder.mkey_name(request.mkey)

    def _message(self, request: Data) -> str:
        match request:
            case Send(invalidate_rkey=int(rkey)):
                return f"ibv.wr_send_inv({number(rkey)})"
            case Send(imm=int(imm)):
                return f"ibv.wr_send_imm({number(imm)})"
            case Send():
                return "ibv.wr_send()"
            case _:
                pass
        place = f"{number(request.rkey)}, {number(request.remote_addr)}"
        match request:
            case Write(imm=int(imm)):
                return f"ibv.wr_rdma_write_imm({place}, {number(imm)})"
            case Write():
                return f"ibv.wr_rdma_write({place})"
            case Read():
                return f"ibv.wr_rdma_read({place})"
            case FetchAdd():
                return f"ibv.wr_atomic_fetch_add({place}, {number(request.add)})"
            case CompareSwap():
                return f"ibv.wr_atomic_cmp_swp({place}, {number(request.compare)}, {number(request.swap)})"
            case _:
                assert_never(request)

    def _address(self, request: Data) -> Iterator[str]:
        if self._other:
            yield f"ibv.wr_set_ud_addr({self._end}.ah, {self._other}.qp.qp_num, QKEY)"
        dc = request.dc
        if dc is not None:
            place = f"{self._end}.ah, {number(dc.dct)}, {number(dc.key)}"
            if dc.stream is None:
                yield f"ibv.wr_set_dc_addr({place})"
            else:
                yield f"ibv.wr_set_dc_addr_stream({place}, {number(dc.stream)})"

    def _data(self, request: Data) -> str:
        given = (request.sge,) if isinstance(request, Atomic) else request.sges
        if isinstance(request, (Send, Write)) and request.flags & SendFlag.INLINE:
            if len(given) == 1:
                return f"ibv.wr_set_inline_data({number(given[0].addr)}, {number(given[0].length)})"
            texts = [f"DataBuffer({number(one.addr)}, {number(one.length)})" for one in given]
            return f"ibv.wr_set_inline_data_list({len(given)}, [{', '.join(texts)}])"
        if len(given) == 1:
            return f"ibv.wr_set_sge({sge(given[0])})"
        return f"ibv.wr_set_sge_list({len(given)}, {sges(given)})"

    # Setters ---------------------------------------------------------------------------------

    def _setter(self, setter: Setter) -> Iterator[str]:
        match setter:
            case SetAccess():
                yield f"ibv.wr_set_mkey_access_flags({flags(setter.access_flags, Access)})"
            case SetList():
                yield f"ibv.wr_set_mkey_layout_list({sges(setter.sges)})"
            case SetInterleaved():
                turns, entries = number(setter.repeat_count), _interleaved(setter.entries)
                yield f"ibv.wr_set_mkey_layout_interleaved({turns}, {entries})"
            case SetSignature():
                yield from self._signature(setter)
            case SetCrypto():
                yield from self._crypto(setter)
            case _:
                assert_never(setter)

    def _signature(self, setter: SetSignature) -> Iterator[str]:
        attr, members = setter.attr, []
        for name, domain in (("mem", attr.mem), ("wire", attr.wire)):
            if domain is not None:
                yield from _domain(name, domain)
                members.append(f"{name}={name}_domain")
        if attr.flags:
            members.append(f"flags={bits(attr.flags, ('COPY_MASK',), 'MLX5DV_SIG_BLOCK_ATTR_FLAG_')}")
        members.append(f"check_mask={attr.check_mask:#04x}")
        if attr.copy_mask:
            members.append(f"copy_mask={attr.copy_mask:#04x}")
        if attr.comp_mask:
            members.append(f"comp_mask={number(attr.comp_mask)}")
        yield f"ibv.wr_set_mkey_sig_block(Mlx5SigBlockAttr({', '.join(members)}))"

    def _crypto(self, setter: SetCrypto) -> Iterator[str]:
        attr, table = setter.attr, self._language.table
        order = named(attr.signature_crypto_order, _ORDERS, "MLX5DV_SIGNATURE_CRYPTO_ORDER_")
        yield "crypto = Mlx5CryptoAttr("
        yield f"    crypto_standard={named(attr.crypto_standard, ('CRYPTO_STANDARD_AES_XTS',), 'MLX5DV_')},"
        yield f"    encrypt_on_tx={bool(attr.encrypt_on_tx)},"
        yield f"    signature_crypto_order={order},"
        yield f"    data_unit_size={named(attr.data_unit_size, _BLOCKS, 'MLX5DV_BLOCK_SIZE_')},"
        yield f"    initial_tweak={table(attr.initial_tweak)},"
        yield f"    dek={self._program.trace.recorder.dek_name(attr.dek)},"
        yield f"    keytag={table(attr.keytag)},"
        if attr.comp_mask:
            yield f"    comp_mask={number(attr.comp_mask)},"
        yield ")"
        yield "ibv.wr_set_mkey_crypto(crypto)"


def _domain(name: str, domain: SigBlockDomain) -> Iterator[str]:
    """pyverbs keeps pointers to what a domain is made of, and to domains: each has a variable of its own."""
    sig = domain.sig
    if isinstance(sig, SigCrc):
        member = "crc"
        yield f"{name}_sig = Mlx5SigCrc({named(sig.type, _CRCS, 'MLX5DV_SIG_CRC_TYPE_')}, {number(sig.seed)})"
    else:
        member, kind = "dif", named(sig.bg_type, ("CRC", "CSUM"), "MLX5DV_SIG_T10DIF_")
        given = f"bg={number(sig.bg)}, app_tag={number(sig.app_tag)}, ref_tag={number(sig.ref_tag)}"
        dif_flags = bits(sig.flags, _DIF_FLAGS, "MLX5DV_SIG_T10DIF_FLAG_")
        yield f"{name}_sig = Mlx5SigT10Dif({kind}, {given}, flags={dif_flags})"
    kind = named(domain.sig_type, ("T10DIF", "CRC"), "MLX5DV_SIG_TYPE_")
    size = named(domain.block_size, _BLOCKS, "MLX5DV_BLOCK_SIZE_")
    more = f", comp_mask={number(domain.comp_mask)}" if domain.comp_mask else ""
    yield f"{name}_domain = Mlx5SigBlockDomain({kind}, {member}={name}_sig, block_size={size}{more})"
