"""Work requests as calls of pyverbs.

Everything is made and checked before `ibv_wr_start`: from there to complete or abort libmlx5 holds the send
queue's lock, and an exception in between would never release it. What pyverbs remembers by raw pointer only
(domains and their parameters, attributes of a setter) is kept here until the section is over.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from typing_extensions import assert_never

from mkeyspec.abi.constants import QpOps, SendFlag
from mkeyspec.device.protocol import (
    Addressed,
    Atomic,
    CompareSwap,
    Configure,
    CryptoAttr,
    Data,
    Dek,
    FetchAdd,
    LocalInv,
    Memcpy,
    Mkey,
    MrInterleaved,
    MrList,
    NoSuchCall,
    RawWqe,
    Read,
    Refused,
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
from mkeyspec.device.verbs import names
from mkeyspec.device.verbs.native import scribble
from mkeyspec.device.verbs.queue import QKEY, End

INLINE = int(SendFlag.INLINE)
U8, U16, U32, U64 = ((1 << bits) - 1 for bits in (8, 16, 32, 64))
MKEY_OPS = int(QpOps.MR_INTERLEAVED | QpOps.MR_LIST | QpOps.MKEY_CONFIGURE)

Call = Callable[[], object]


def fit(value: int, most: int, what: str) -> int:
    """A number that the C member can hold; NoSuchCall for one that no caller could pass."""
    if not 0 <= value <= most:
        raise NoSuchCall(f"{what} {value:#x} is more than its C type holds")
    return value


def enum_fit(value: int, what: str) -> int:
    """A number for an enum. The compiler may choose int or unsigned, so the number must fit both."""
    return fit(value, 0x7FFFFFFF, what)


@dataclass(slots=True, eq=False)
class SectionCalls:
    """One section on one QP: calls in order, and the objects that must exist until its end."""

    pyverbs: Any
    end: End
    mkey: Callable[[Mkey], Any]
    dek: Callable[[Dek], Any]
    calls: list[Call] = field(default_factory=list)
    kept: list[Any] = field(default_factory=list)

    # Making -----------------------------------------------------------------------------------

    def build(self, request: WorkRequest) -> None:
        """Add the calls of one request. Raises NoSuchCall for what no call can express; makes no call."""
        qp = self.end.handle
        if isinstance(request, StraySetter):
            self._needs(MKEY_OPS, "setters of mkeys")
            self._setter(request.setter)
            return
        wr_id, flags = fit(request.wr_id, U64, "wr_id"), fit(request.flags, U32, "wr_flags")
        self.calls.append(lambda: self._open(wr_id, flags))
        match request:
            case Configure():
                self._configure(request)
            case MrList():
                self._needs(MKEY_OPS, "mr_list")
                mkey, access = self.mkey(request.mkey), fit(request.access_flags, U32, "access_flags")
                sges = [self._sge(sge) for sge in request.sges]
                self.calls.append(lambda: qp.wr_mr_list(mkey, access, sges))
            case MrInterleaved():
                self._needs(MKEY_OPS, "mr_interleaved")
                mkey, access = self.mkey(request.mkey), fit(request.access_flags, U32, "access_flags")
                repeat, entries = fit(request.repeat_count, U32, "repeat_count"), self._interleaved(request.entries)
                self.calls.append(lambda: qp.wr_mr_interleaved(mkey, access, repeat, entries))
            case Memcpy():
                self._needs(int(QpOps.MEMCPY), "memcpy")
                copy = (
                    fit(request.dest_lkey, U32, "dest_lkey"),
                    fit(request.dest_addr, U64, "dest_addr"),
                    fit(request.src_lkey, U32, "src_lkey"),
                    fit(request.src_addr, U64, "src_addr"),
                    fit(request.length, U64, "length"),
                )
                self.calls.append(lambda: qp.wr_memcpy(*copy))
            case RawWqe():
                self._raw(request)
            case LocalInv():
                rkey = fit(request.rkey, U32, "rkey")
                self._of_type("rc", "uc", what="local_inv")
                self.calls.append(lambda: qp.wr_local_inv(rkey))
            case Addressed():
                self._message(request)
            case _:
                assert_never(request)

    def _message(self, request: Data) -> None:
        match request:
            case Send():
                self._send(request)
            case Write():
                self._write(request)
            case Read():
                self._of_type("rc", "dci", "xrc_send", what="read")
                self._remote("wr_rdma_read", request)
            case FetchAdd():
                self._of_type("rc", "dci", what="fetch_add")
                self._remote("wr_atomic_fetch_add", request, fit(request.add, U64, "add"))
            case CompareSwap():
                self._of_type("rc", "dci", what="compare_swap")
                operands = fit(request.compare, U64, "compare"), fit(request.swap, U64, "swap")
                self._remote("wr_atomic_cmp_swp", request, *operands)
            case _:
                assert_never(request)
        self._addressed(request)
        if isinstance(request, (Send, Write)) and request.flags & INLINE:
            self._inline(request.sges)
            return
        self._data((request.sge,) if isinstance(request, Atomic) else request.sges)

    def _remote(self, call: str, request: Write | Read | Atomic, *more: int) -> None:
        """A builder of a request with a remote address: `call` of a QP of pyverbs, and its last arguments."""
        builder = getattr(self.end.handle, call)
        rkey, addr = fit(request.rkey, U32, "rkey"), fit(request.remote_addr, U64, "remote_addr")
        self.calls.append(lambda: builder(rkey, addr, *more))

    def _send(self, request: Send) -> None:
        qp = self.end.handle
        if request.invalidate_rkey is not None:
            self._of_type("rc", "uc", what="send_inv")
            rkey = fit(request.invalidate_rkey, U32, "invalidate_rkey")
            self.calls.append(lambda: qp.wr_send_inv(rkey))
        elif request.imm is not None:
            imm = fit(request.imm, U32, "imm")
            self.calls.append(lambda: qp.wr_send_imm(imm))
        else:
            self.calls.append(qp.wr_send)

    def _write(self, request: Write) -> None:
        types = ("rc", "uc", "dci", "xrc_send")
        if request.imm is not None:
            self._of_type(*types, what="write_imm")
            self._remote("wr_rdma_write_imm", request, fit(request.imm, U32, "imm"))
        else:
            self._of_type(*types, what="write")
            self._remote("wr_rdma_write", request)

    def _addressed(self, request: Data) -> None:
        """Set the address of a datagram or a DC message."""
        end = self.end
        qp, kind, address = end.handle, end.attributes.type, end.address
        if kind == "ud":
            assert end.far is not None
            number = end.far.qp.number
            self.calls.append(lambda: qp.wr_set_ud_addr(address, number, QKEY))
        dc = request.dc
        if dc is None:
            return
        if kind != "dci":
            raise NoSuchCall("a DC address on a QP that is not a DCI")
        number, key = fit(dc.dct, U32, "dct"), fit(dc.key, U64, "DC key")
        if dc.stream is None:
            self.calls.append(lambda: qp.wr_set_dc_addr(address, number, key))
        else:
            stream = fit(dc.stream, U16, "stream")
            self.calls.append(lambda: qp.wr_set_dc_addr_stream(address, number, key, stream))

    def _data(self, sges: Sequence[Sge]) -> None:
        qp, made = self.end.handle, [self._sge(sge) for sge in sges]
        if len(made) == 1:
            self.calls.append(lambda: qp.wr_set_sge(made[0]))
        else:
            self.calls.append(lambda: qp.wr_set_sge_list(len(made), made))

    def _inline(self, sges: Sequence[Sge]) -> None:
        """The driver copies the bytes while the request is built."""
        qp = self.end.handle
        places = [(fit(sge.addr, U64, "addr"), fit(sge.length, U32, "length")) for sge in sges]
        if len(places) == 1:
            self.calls.append(lambda: qp.wr_set_inline_data(*places[0]))
        else:
            made = [self.pyverbs.DataBuffer(addr, length) for addr, length in places]
            self.kept.append(made)
            self.calls.append(lambda: qp.wr_set_inline_data_list(len(made), made))

    def _configure(self, request: Configure) -> None:
        self._needs(MKEY_OPS, "mkey_configure")
        qp, mkey = self.end.handle, self.mkey(request.mkey)
        setters = fit(request.num_setters, U8, "num_setters")
        attr = self.pyverbs.Mlx5MkeyConfAttr(
            fit(request.conf_flags, U32, "conf_flags"), fit(request.comp_mask, U64, "comp_mask")
        )
        self.kept.append(attr)
        self.calls.append(lambda: qp.wr_mkey_configure(mkey, setters, attr))
        for setter in request.setters:
            self._setter(setter)

    def _setter(self, setter: Setter) -> None:
        qp = self.end.handle
        if isinstance(setter, SetAccess):
            access = fit(setter.access_flags, U32, "access_flags")
            self.calls.append(lambda: qp.wr_set_mkey_access_flags(access))
        elif isinstance(setter, SetList):
            # pyverbs hands over a copy and frees it after the call, as a caller's array on the stack would go.
            sges = [self._sge(sge) for sge in setter.sges]
            self.calls.append(lambda: qp.wr_set_mkey_layout_list(sges))
        elif isinstance(setter, SetInterleaved):
            repeat, entries = fit(setter.repeat_count, U32, "repeat_count"), self._interleaved(setter.entries)
            self.calls.append(lambda: qp.wr_set_mkey_layout_interleaved(repeat, entries))
        elif isinstance(setter, SetSignature):
            self._signature(setter)
        else:
            attr = self._crypto(setter)
            self.calls.append(lambda: qp.wr_set_mkey_crypto(attr))

    def _interleaved(self, entries: Sequence[Any]) -> list[Any]:
        made = [
            self.pyverbs.Mlx5MrInterleaved(
                fit(entry.addr, U64, "addr"),
                fit(entry.bytes_count, U32, "bytes_count"),
                fit(entry.bytes_skip, U32, "bytes_skip"),
                fit(entry.lkey, U32, "lkey"),
            )
            for entry in entries
        ]
        self.kept.append(made)
        return made

    def _signature(self, setter: SetSignature) -> None:
        qp, attr = self.end.handle, setter.attr
        gone: list[Call] = []
        mem, wire = self._domain(attr.mem, gone), self._domain(attr.wire, gone)
        made = self.pyverbs.Mlx5SigBlockAttr(
            mem=mem,
            wire=wire,
            flags=fit(attr.flags, U32, "flags"),
            check_mask=fit(attr.check_mask, U8, "check_mask"),
            copy_mask=fit(attr.copy_mask, U8, "copy_mask"),
            comp_mask=fit(attr.comp_mask, U64, "comp_mask"),
        )
        self.kept.append((made, mem, wire))

        def call() -> None:
            qp.wr_set_mkey_sig_block(made)
            for scribbled in gone:
                scribbled()

        self.calls.append(call)

    def _domain(self, domain: SigBlockDomain | None, gone: list[Call]) -> Any:
        if domain is None:
            return None
        pyverbs, sig = self.pyverbs, domain.sig
        size = 16  # of struct mlx5dv_sig_crc and mlx5dv_sig_t10dif alike
        if isinstance(sig, SigCrc):
            kind = enum_fit(sig.type, "crc type")
            made = pyverbs.Mlx5SigCrc(kind, fit(sig.seed, U64, "seed"))
            parameters = {"crc": made}
        else:
            kind = enum_fit(sig.bg_type, "bg_type")
            made = pyverbs.Mlx5SigT10Dif(
                kind,
                fit(sig.bg, U16, "bg"),
                fit(sig.app_tag, U16, "app_tag"),
                fit(sig.ref_tag, U32, "ref_tag"),
                fit(sig.flags, U16, "flags"),
            )
            parameters = {"dif": made}
        starts = kind.to_bytes(4, "little")
        gone.append(lambda: scribble(made, size, starts))
        self.kept.append(made)
        return pyverbs.Mlx5SigBlockDomain(
            sig_type=enum_fit(domain.sig_type, "sig_type"),
            block_size=enum_fit(domain.block_size, "block_size"),
            comp_mask=fit(domain.comp_mask, U64, "comp_mask"),
            **parameters,
        )

    def _crypto(self, setter: SetCrypto) -> Any:
        attr: CryptoAttr = setter.attr
        if len(attr.initial_tweak) != 16 or len(attr.keytag) != 8:
            raise NoSuchCall("a tweak of 16 bytes and a keytag of 8 are what the struct holds")
        made = self.pyverbs.Mlx5CryptoAttr(
            crypto_standard=enum_fit(attr.crypto_standard, "crypto_standard"),
            encrypt_on_tx=bool(attr.encrypt_on_tx),
            signature_crypto_order=enum_fit(attr.signature_crypto_order, "signature_crypto_order"),
            data_unit_size=enum_fit(attr.data_unit_size, "data_unit_size"),
            initial_tweak=attr.initial_tweak,
            # Never None: pyverbs would store a pointer made of nothing.
            dek=self.dek(attr.dek),
            keytag=attr.keytag,
            comp_mask=fit(attr.comp_mask, U64, "comp_mask"),
        )
        self.kept.append(made)
        return made

    def _raw(self, request: RawWqe) -> None:
        self._needs(int(QpOps.RAW_WQE), "a raw WQE")
        if len(request.wqe) < 16:
            raise NoSuchCall("a WQE begins with 16 bytes of control segment")
        qp, buffer = self.end.handle, ctypes.create_string_buffer(request.wqe, len(request.wqe))
        # pyverbs asks its argument for an address and nothing else.
        wqe = SimpleNamespace(address=ctypes.addressof(buffer))
        self.kept.append((buffer, wqe))
        self.calls.append(lambda: qp.wr_raw_wqe(wqe))

    def _sge(self, sge: Sge) -> Any:
        made = self.pyverbs.SGE(fit(sge.addr, U64, "addr"), fit(sge.length, U32, "length"), fit(sge.lkey, U32, "lkey"))
        self.kept.append(made)
        return made

    def _open(self, wr_id: int, flags: int) -> None:
        qp = self.end.handle
        qp.wr_id, qp.wr_flags = wr_id, flags

    def _needs(self, any_of: int, what: str) -> None:
        """libmlx5 installs the functions of RC QPs together, and calls through NULL where there are none."""
        have = self.end.attributes.send_ops
        if not (have & any_of or (have and self.end.attributes.type == "rc" and any_of != int(QpOps.MEMCPY))):
            raise NoSuchCall(f"{what} on a QP made without its op flag: the driver would call a null pointer")

    def _of_type(self, *types: str, what: str) -> None:
        if self.end.attributes.type not in types:
            raise NoSuchCall(f"{what} on a QP of type {self.end.attributes.type}")

    # Posting ----------------------------------------------------------------------------------

    def post(self, *, abort: bool) -> int:
        """Start, call, complete or abort; errno. The lock is released after any exception."""
        qp, end = self.end.handle, self.end
        qp.wr_start()
        try:
            for call in self.calls:
                call()
            if not abort:
                qp.wr_complete()
        except self.pyverbs.PyverbsRDMAError as error:
            # Only wr_complete raises this: it has rolled back, and unlocked.
            end.spent = True
            return names.errno_of(error)
        except BaseException:
            end.spent = True
            qp.wr_abort()
            raise
        finally:
            self._release()
        if abort:
            end.spent = True
            qp.wr_abort()
        return 0

    def _release(self) -> None:
        """SGEs give back their array only when told so, up to pyverbs 64."""
        for item in self.kept:
            if isinstance(item, self.pyverbs.SGE):
                item.close()
        self.calls.clear()
        self.kept.clear()


def post_send(pyverbs: Any, end: End, request: LocalInv) -> int:
    """IBV_WR_LOCAL_INV by ibv_post_send; errno."""
    wr = pyverbs.SendWR(
        wr_id=fit(request.wr_id, U64, "wr_id"),
        opcode=names.WR_LOCAL_INV,
        imm_data=fit(request.rkey, U32, "rkey"),  # one word of the struct with invalidate_rkey
        send_flags=fit(request.flags, U32, "send_flags"),
    )
    try:
        end.handle.post_send(wr)
    except pyverbs.PyverbsRDMAError as error:
        end.spent = True
        return names.errno_of(error)
    finally:
        wr.close()
    return 0


def post_recv(pyverbs: Any, end: End, wr_id: int, sges: Sequence[Sge]) -> int:
    """ibv_post_recv, or of a DC responder ibv_post_srq_recv; errno."""
    queue = end.srq if end.srq is not None else end.handle
    made = [
        pyverbs.SGE(fit(sge.addr, U64, "addr"), fit(sge.length, U32, "length"), fit(sge.lkey, U32, "lkey"))
        for sge in sges or (Sge(0, 0, 0),)
    ]
    wr = pyverbs.RecvWR(wr_id=fit(wr_id, U64, "wr_id"), num_sge=len(made), sg=made)
    wr.num_sge = len(sges)  # pyverbs makes none without an SGE, and a write with immediate needs none
    try:
        queue.post_recv(wr)
    except pyverbs.PyverbsRDMAError as error:
        return names.errno_of(error)
    finally:
        wr.close()
        for sge in made:
            sge.close()
    end.receives += 1
    return 0


def refused(call: str, error: Any) -> Refused:
    """A pyverbs error as the protocol's."""
    return Refused(call, names.errno_of(error))
