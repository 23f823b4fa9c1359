"""Work requests as the calls of libibverbs and libmlx5, in C."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from typing_extensions import assert_never

from mkeyspec.abi.constants import Access, SendFlag
from mkeyspec.device.protocol import (
    Addressed,
    Atomic,
    CompareSwap,
    Configure,
    DcAddress,
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
from mkeyspec.repro.c.numbers import flags, number
from mkeyspec.repro.c.tables import Tables
from mkeyspec.repro.recorder import Recorder

_BLOCKS = ("512", "520", "4048", "4096", "4160")
_CRCS = ("CRC32", "CRC32C", "CRC64_XP10")


def named(value: int, names: Sequence[str], prefix: str) -> str:
    """A value of an enum; a number that is none of it is given as that."""
    return prefix + names[value] if 0 <= value < len(names) else number(value)


def sges(given: Sequence[Sge]) -> str:
    """An array, or NULL."""
    if not given:
        return "NULL"
    return f"(struct ibv_sge[]){{{', '.join(_sge(one) for one in given)}}}"


def _sge(sge: Sge) -> str:
    return f"{{{number(sge.addr)}, {number(sge.length)}, {number(sge.lkey)}}}"


class Requests:
    """Prints the calls of a section; `ibv` and `mlx5` are its QP as ibv_qp_ex and mlx5dv_qp_ex."""

    def __init__(self, recorder: Recorder, tables: Tables, wr_id: Callable[[int], str]) -> None:
        self._recorder = recorder
        self._tables = tables
        self._wr_id = wr_id

    def lines(self, request: WorkRequest, end: str, other: str, live: Sequence[str] = ()) -> Iterator[str]:
        """The calls of one request. `end`: where it is posted; `other`: of UD, where it goes; `live`: of a raw WQE,
        what sets the bytes of `wqe` that the device gives."""
        if isinstance(request, StraySetter):
            yield from self._setter(request.setter)
            return
        yield f"ibv->wr_id = {self._wr_id(request.wr_id)};"
        yield f"ibv->wr_flags = {flags(request.flags, SendFlag)};"
        match request:
            case Configure():
                more = []
                if request.conf_flags:
                    text = (
                        "MLX5DV_MKEY_CONF_FLAG_RESET_SIG_ATTR"
                        if request.conf_flags == 1
                        else number(request.conf_flags)
                    )
                    more.append(f".conf_flags = {text}")
                if request.comp_mask:
                    more.append(f".comp_mask = {number(request.comp_mask)}")
                attr = f"&(struct mlx5dv_mkey_conf_attr){{{', '.join(more) or '.conf_flags = 0'}}}"
                yield f"mlx5dv_wr_mkey_configure(mlx5, {self._mkey(request)}, {number(request.num_setters)}, {attr});"
                for setter in request.setters:
                    yield from self._setter(setter)
            case MrList():
                access, count = flags(request.access_flags, Access), len(request.sges)
                yield f"mlx5dv_wr_mr_list(mlx5, {self._mkey(request)}, {access}, {count}, {sges(request.sges)});"
            case MrInterleaved():
                access, turns = flags(request.access_flags, Access), number(request.repeat_count)
                entries = f"{len(request.entries)}, {_interleaved(request.entries)}"
                yield f"mlx5dv_wr_mr_interleaved(mlx5, {self._mkey(request)}, {access}, {turns}, {entries});"
            case Memcpy():
                target = f"{number(request.dest_lkey)}, {number(request.dest_addr)}"
                source = f"{number(request.src_lkey)}, {number(request.src_addr)}"
                yield f"mlx5dv_wr_memcpy(mlx5, {target}, {source}, {number(request.length)});"
            case RawWqe():
                yield from self._raw(request, live)
            case LocalInv():
                yield f"ibv_wr_local_inv(ibv, {number(request.rkey)});"
            case Send() | Write() | Read() | FetchAdd() | CompareSwap():
                yield self._message(request)
                yield from _address(request, end, other)
                yield from _data(request)
            case _:
                assert_never(request)

    def _mkey(self, request: Configure | MrList | MrInterleaved) -> str:
        return self._recorder.mkey_name(request.mkey)

    def _raw(self, request: RawWqe, live: Sequence[str]) -> Iterator[str]:
        table = self._tables.table(request.wqe)
        if not live:
            yield f"mlx5dv_wr_raw_wqe(mlx5, {table});"
            return
        yield "{"
        yield f"\tuint8_t wqe[{len(request.wqe)}];"
        yield ""
        yield f"\tmemcpy(wqe, {table}, sizeof(wqe));"
        yield from (f"\t{line}" for line in live)
        yield "\tmlx5dv_wr_raw_wqe(mlx5, wqe);"
        yield "}"

    def _message(self, request: Send | Write | Read | FetchAdd | CompareSwap) -> str:
        match request:
            case Send():
                if request.invalidate_rkey is not None:
                    return f"ibv_wr_send_inv(ibv, {number(request.invalidate_rkey)});"
                return (
                    "ibv_wr_send(ibv);"
                    if request.imm is None
                    else f"ibv_wr_send_imm(ibv, htobe32({number(request.imm)}));"
                )
            case Write():
                place = f"ibv, {number(request.rkey)}, {number(request.remote_addr)}"
                if request.imm is None:
                    return f"ibv_wr_rdma_write({place});"
                return f"ibv_wr_rdma_write_imm({place}, htobe32({number(request.imm)}));"
            case Read():
                return f"ibv_wr_rdma_read(ibv, {number(request.rkey)}, {number(request.remote_addr)});"
            case FetchAdd():
                place = f"ibv, {number(request.rkey)}, {number(request.remote_addr)}"
                return f"ibv_wr_atomic_fetch_add({place}, {number(request.add)});"
            case CompareSwap():
                place = f"ibv, {number(request.rkey)}, {number(request.remote_addr)}"
                return f"ibv_wr_atomic_cmp_swp({place}, {number(request.compare)}, {number(request.swap)});"
            case _:
                assert_never(request)

    # Setters ---------------------------------------------------------------------------------

    def _setter(self, setter: Setter) -> Iterator[str]:
        match setter:
            case SetAccess():
                yield f"mlx5dv_wr_set_mkey_access_flags(mlx5, {flags(setter.access_flags, Access)});"
            case SetList():
                yield f"mlx5dv_wr_set_mkey_layout_list(mlx5, {len(setter.sges)}, {sges(setter.sges)});"
            case SetInterleaved():
                entries = f"{len(setter.entries)}, {_interleaved(setter.entries)}"
                yield f"mlx5dv_wr_set_mkey_layout_interleaved(mlx5, {number(setter.repeat_count)}, {entries});"
            case SetSignature():
                yield from _signature(setter)
            case SetCrypto():
                yield from self._crypto(setter)
            case _:
                assert_never(setter)

    def _crypto(self, setter: SetCrypto) -> Iterator[str]:
        attr = setter.attr
        orders = ("SIGNATURE_AFTER_CRYPTO_ON_TX", "SIGNATURE_BEFORE_CRYPTO_ON_TX")
        order = named(attr.signature_crypto_order, orders, "MLX5DV_SIGNATURE_CRYPTO_ORDER_")
        yield "mlx5dv_wr_set_mkey_crypto(mlx5, &(struct mlx5dv_crypto_attr){"
        yield f"\t.crypto_standard = {named(attr.crypto_standard, ('CRYPTO_STANDARD_AES_XTS',), 'MLX5DV_')},"
        yield f"\t.encrypt_on_tx = {'true' if attr.encrypt_on_tx else 'false'},"
        yield f"\t.signature_crypto_order = {order},"
        yield f"\t.data_unit_size = {named(attr.data_unit_size, _BLOCKS, 'MLX5DV_BLOCK_SIZE_')},"
        yield f"\t.initial_tweak = {_chars(attr.initial_tweak)},"
        yield f"\t.dek = {self._recorder.dek_name(attr.dek)},"
        yield f"\t.keytag = {_chars(attr.keytag)},"
        if attr.comp_mask:
            yield f"\t.comp_mask = {number(attr.comp_mask)},"
        yield "});"


def _chars(data: bytes) -> str:
    """An array of char."""
    used = data.rstrip(b"\0") or b"\0"
    return "{" + ", ".join(f"(char){byte:#04x}" for byte in used) + "}"


def _interleaved(entries: Sequence[Interleaved]) -> str:
    if not entries:
        return "NULL"
    texts = [
        f"{{{number(one.addr)}, {number(one.bytes_count)}, {number(one.bytes_skip)}, {number(one.lkey)}}}"
        for one in entries
    ]
    return f"(struct mlx5dv_mr_interleaved[]){{{', '.join(texts)}}}"


def _signature(setter: SetSignature) -> Iterator[str]:
    attr = setter.attr
    yield "mlx5dv_wr_set_mkey_sig_block(mlx5, &(struct mlx5dv_sig_block_attr){"
    for name, domain in (("mem", attr.mem), ("wire", attr.wire)):
        if domain is not None:
            yield from _domain(name, domain)
    if attr.flags:
        text = "MLX5DV_SIG_BLOCK_ATTR_FLAG_COPY_MASK" if attr.flags == 1 else number(attr.flags)
        yield f"\t.flags = {text},"
    yield f"\t.check_mask = {attr.check_mask:#04x},"
    if attr.copy_mask:
        yield f"\t.copy_mask = {attr.copy_mask:#04x},"
    if attr.comp_mask:
        yield f"\t.comp_mask = {number(attr.comp_mask)},"
    yield "});"


def _domain(name: str, domain: SigBlockDomain) -> Iterator[str]:
    yield f"\t.{name} = &(struct mlx5dv_sig_block_domain){{"
    yield f"\t\t.sig_type = {named(domain.sig_type, ('T10DIF', 'CRC'), 'MLX5DV_SIG_TYPE_')},"
    sig = domain.sig
    if isinstance(sig, SigCrc):
        kind = named(sig.type, _CRCS, "MLX5DV_SIG_CRC_TYPE_")
        yield f"\t\t.sig.crc = &(struct mlx5dv_sig_crc){{.type = {kind}, .seed = {number(sig.seed)}}},"
    else:
        kind = named(sig.bg_type, ("CRC", "CSUM"), "MLX5DV_SIG_T10DIF_")
        members = [f".bg_type = {kind}", f".bg = {number(sig.bg)}", f".app_tag = {number(sig.app_tag)}"]
        members += [f".ref_tag = {number(sig.ref_tag)}", f".flags = {_dif_flags(sig.flags)}"]
        yield f"\t\t.sig.dif = &(struct mlx5dv_sig_t10dif){{{', '.join(members)}}},"
    yield f"\t\t.block_size = {named(domain.block_size, _BLOCKS, 'MLX5DV_BLOCK_SIZE_')},"
    if domain.comp_mask:
        yield f"\t\t.comp_mask = {number(domain.comp_mask)},"
    yield "\t},"


def _dif_flags(value: int) -> str:
    names = ("REF_REMAP", "APP_ESCAPE", "APP_REF_ESCAPE")
    found = [f"MLX5DV_SIG_T10DIF_FLAG_{name}" for bit, name in enumerate(names) if value >> bit & 1]
    rest = value & ~7
    return " | ".join(found + ([number(rest)] if rest or not found else []))


def _address(request: Addressed, end: str, other: str) -> Iterator[str]:
    if other:
        yield f"ibv_wr_set_ud_addr(ibv, {end}.ah, {other}.qp->qp_num, QKEY);"
    dc: DcAddress | None = request.dc
    if dc is not None:
        place = f"mlx5, {end}.ah, {number(dc.dct)}, {number(dc.key)}"
        if dc.stream is None:
            yield f"mlx5dv_wr_set_dc_addr({place});"
        else:
            yield f"mlx5dv_wr_set_dc_addr_stream({place}, {number(dc.stream)});"


def _data(request: Send | Write | Read | FetchAdd | CompareSwap) -> Iterator[str]:
    given = (request.sge,) if isinstance(request, Atomic) else request.sges
    if isinstance(request, (Send, Write)) and request.flags & SendFlag.INLINE:
        texts = [f"{{(void *)(uintptr_t){_paren(number(one.addr))}, {number(one.length)}}}" for one in given]
        buffers = f"(struct ibv_data_buf[]){{{', '.join(texts)}}}" if texts else "NULL"
        yield f"ibv_wr_set_inline_data_list(ibv, {len(given)}, {buffers});"
    elif len(given) == 1:
        one = given[0]
        yield f"ibv_wr_set_sge(ibv, {number(one.lkey)}, {number(one.addr)}, {number(one.length)});"
    else:
        yield f"ibv_wr_set_sge_list(ibv, {len(given)}, {sges(given)});"


def _paren(text: str) -> str:
    return f"({text})"
