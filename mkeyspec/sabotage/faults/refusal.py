"""Faults of a driver that refuses what the pages allow."""

from __future__ import annotations

import errno
from collections.abc import Callable, Sequence

from mkeyspec.abi.constants import (
    BLOCK_BYTES,
    BgType,
    CrcType,
    CryptoOrder,
    MkeyFlag,
    QpOps,
    SendFlag,
    SigType,
    T10difFlag,
)
from mkeyspec.device.model.configuration import M16, RESET_SIG_ATTR, Builder, BuilderRefusal, Configuration
from mkeyspec.device.model.dct import DCI
from mkeyspec.device.model.device import Model
from mkeyspec.device.model.execution import Execution
from mkeyspec.device.model.queue import MKEY_OPS, Queue
from mkeyspec.device.model.section import DriverSection
from mkeyspec.device.protocol import (
    Configure,
    DcAddress,
    LocalInv,
    Memcpy,
    Mkey,
    MrInterleaved,
    MrList,
    Pd,
    QpAttributes,
    RawWqe,
    Refused,
    SetAccess,
    SetCrypto,
    SetSignature,
    Setter,
    Side,
    SigBlockAttr,
    SigBlockDomain,
    SigCrc,
    SigT10dif,
    WorkRequest,
)
from mkeyspec.device.protocol.requests import Data
from mkeyspec.sabotage.fault import fault

PREDEFINED = (0xC0, 0x30, 0x0F, 0xF0, 0xFF, 0)
"""enum mlx5dv_sig_mask, and none."""


# What a builder and its setters are given ----------------------------------------------------


def _refuses(name: str, method: str, when: Callable[..., bool]) -> None:
    """`method` of the builder refuses a call of which `when` is true."""

    def refuse(self: Builder, *given: object) -> object:
        if when(*given):
            raise BuilderRefusal("conf_flags")
        return getattr(Builder, method)(self, *given)

    fault(name)(type("Refuses", (Builder,), {method: refuse}))


def _out_of_order(configuration: Configuration, setter: Setter) -> bool:
    """Access, layout, signature, crypto: any other order."""
    later = [configuration.crypto is not None]
    if not isinstance(setter, (SetCrypto, SetSignature)):
        later.append(configuration.signature is not None)
    if isinstance(setter, SetAccess):
        later.append(configuration.layout is not None)
    return any(later)


_refuses("conf_comp_mask_demanded", "begin", lambda *given: not given[-1])
_refuses("configured_once", "begin", lambda mkey, *given: not mkey.free)
_refuses("reset_refused", "begin", lambda *given: bool(given[-2] & RESET_SIG_ATTR))
_refuses("inline_refused", "begin", lambda *given: bool(given[2] & int(SendFlag.INLINE)))
_refuses(
    "access_demanded",
    "call",
    lambda configuration, setter: configuration.setters == 1 and not isinstance(setter, SetAccess),
)
_refuses("setters_in_one_order", "call", _out_of_order)
_refuses("third_setter_refused", "call", lambda configuration, setter: configuration.seen == 2)
_refuses("access_zero_refused", "_access", lambda configuration, flags: not flags)
_refuses("access_sum_refused", "_access", lambda configuration, flags: flags & flags - 1 != 0)
_refuses("list_full_refused", "_list", lambda configuration, sges: len(sges) == configuration.mkey.entries)
_refuses(
    "interleaved_full_refused",
    "_interleaved",
    lambda configuration, repeat, given: len(given) + 1 == configuration.mkey.entries,
)
_refuses("layout_after_a_setter", "_layout_is_new", lambda configuration, kind: configuration.seen > 0)
_refuses("signature_after_a_setter", "_signature", lambda configuration, attr: configuration.seen > 0)
_refuses("signature_refused", "_signature", lambda configuration, attr: True)
_refuses("sig_comp_mask_demanded", "_signature", lambda configuration, attr: not attr.comp_mask)
_refuses("copy_mask_refused", "_signature", lambda configuration, attr: bool(attr.flags & 1))
_refuses("second_layout_refused", "_layout_is_new", lambda configuration, kind: configuration.mkey.layout is not None)
_refuses(
    "copy_mask_alone_refused", "_signature", lambda configuration, attr: bool(attr.copy_mask) and not attr.flags & 1
)
_refuses("keytag_refused", "_crypto", lambda configuration, attr: any(attr.keytag))
_refuses("crypto_refused", "_crypto", lambda configuration, attr: True)
_refuses("crypto_comp_mask_demanded", "_crypto", lambda configuration, attr: not attr.comp_mask)
_refuses(
    "crypto_order_refused",
    "_crypto",
    lambda configuration, attr: attr.signature_crypto_order == int(CryptoOrder.SIGNATURE_BEFORE_CRYPTO_ON_TX),
)


def _domains(attr: SigBlockAttr) -> list[SigBlockDomain]:
    return [domain for domain in (attr.mem, attr.wire) if domain is not None]


def _any_domain(name: str, when: Callable[[SigBlockDomain], bool]) -> None:
    _refuses(name, "_signature", lambda configuration, attr: any(map(when, _domains(attr))))


def _any_dif(name: str, when: Callable[[SigT10dif], bool]) -> None:
    _any_domain(name, lambda domain: isinstance(domain.sig, SigT10dif) and when(domain.sig))


_any_domain("domain_comp_mask_demanded", lambda domain: not domain.comp_mask)
_any_domain("dif_type_refused", lambda domain: domain.sig_type == int(SigType.T10DIF))
_any_domain(
    "dif_block_size_refused",
    lambda domain: domain.sig_type == int(SigType.T10DIF) and BLOCK_BYTES.get(domain.block_size) == 520,
)
_any_dif("bg_ones_refused", lambda dif: dif.bg == M16)
_any_dif("bg_type_csum_refused", lambda dif: dif.bg_type == int(BgType.CSUM))
_any_dif("app_ref_escape_refused", lambda dif: bool(dif.flags & int(T10difFlag.APP_REF_ESCAPE)))


def _short_crc(attr: SigBlockAttr) -> bool:
    """A CRC of four bytes, for which the low bits of a mask mean nothing."""
    return all(
        isinstance(domain.sig, SigCrc) and domain.sig.type != int(CrcType.CRC64_XP10) for domain in _domains(attr)
    )


_refuses(
    "check_mask_spare_refused",
    "_signature",
    lambda configuration, attr: _short_crc(attr) and bool(attr.check_mask & 0x0F),
)
_refuses(
    "copy_mask_spare_refused",
    "_signature",
    lambda configuration, attr: attr.flags & 1 and _short_crc(attr) and bool(attr.copy_mask & 0x0F),
)
_refuses(
    "check_mask_custom_refused",
    "_signature",
    lambda configuration, attr: attr.check_mask not in PREDEFINED,
)
_refuses(
    "copy_mask_custom_refused",
    "_signature",
    lambda configuration, attr: attr.flags & 1 and attr.copy_mask not in PREDEFINED,
)


# What is created -----------------------------------------------------------------------------


def _mkey_refused(name: str, when: Callable[[int, int], bool]) -> None:
    """`when` is told the flags and the number of entries."""

    @fault(name)
    class Mutant(Model):
        def mkey(self, side: Side, *, create_flags: int, max_entries: int, pd: Pd | None = None) -> Mkey:
            if when(create_flags, max_entries):
                raise Refused("mlx5dv_create_mkey", errno.ENOMEM)
            return super().mkey(side, create_flags=create_flags, max_entries=max_entries, pd=pd)


_mkey_refused("many_entries_refused", lambda flags, entries: entries > 4)
_mkey_refused("indirect_alone_refused", lambda flags, entries: flags == int(MkeyFlag.INDIRECT))
_mkey_refused("crypto_flag_refused", lambda flags, entries: bool(flags & int(MkeyFlag.CRYPTO)))
_mkey_refused("signature_flag_refused", lambda flags, entries: bool(flags & int(MkeyFlag.BLOCK_SIGNATURE)))


def _qp_refused(name: str, when: Callable[[QpAttributes], bool]) -> None:
    @fault(name)
    class Mutant(Model):
        def _look_at(self, attributes: QpAttributes) -> None:
            if when(attributes):
                raise Refused("mlx5dv_create_qp", errno.EOPNOTSUPP)
            super()._look_at(attributes)


_qp_refused("rc_configure_refused", lambda one: one.type == "rc" and bool(one.send_ops & MKEY_OPS))
_qp_refused("rc_memcpy_refused", lambda one: one.type == "rc" and bool(one.send_ops & int(QpOps.MEMCPY)))
_qp_refused("dci_refused", lambda one: one.type == DCI)
_qp_refused("inline_room_refused", lambda one: one.max_inline_data > 124)
_qp_refused("raw_refused", lambda one: bool(one.send_ops & int(QpOps.RAW_WQE)))
_qp_refused("streams_refused", lambda one: one.streams > 0)


def _section_refused(name: str, when: Callable[[Sequence[WorkRequest]], bool]) -> None:
    @fault(name)
    class Mutant(DriverSection):
        def build(self, requests: Sequence[WorkRequest]) -> None:
            DriverSection.build(self, requests)
            if when(requests):
                self.rule = "conf_flags"


CONFIGURATIONS = (Configure, MrList, MrInterleaved)
BUILDERS = (*CONFIGURATIONS, Memcpy, RawWqe)
"""Requests that mlx5dv_wr_*() makes; the others are those of ibv_wr_*()."""


def _own(requests: Sequence[WorkRequest]) -> list[bool]:
    return [isinstance(one, BUILDERS) for one in requests]


_section_refused("both_apis_refused", lambda requests: any(_own(requests)) and not all(_own(requests)))
_section_refused(
    "second_configuration_refused", lambda requests: sum(isinstance(one, CONFIGURATIONS) for one in requests) > 1
)


def _data_refused(name: str, when: Callable[[str, DcAddress | None], bool]) -> None:
    """`when` is told the type of the QP and the address of the request."""

    @fault(name)
    class Mutant(DriverSection):
        def _data(self, request: Data | LocalInv) -> None:
            DriverSection._data(self, request)
            if not isinstance(request, LocalInv) and when(self.queue.attributes.type, request.dc):
                self.rule = "dc_address"


_data_refused("dci_data_refused", lambda kind, dc: kind == DCI)
_data_refused("dc_stream_refused", lambda kind, dc: dc is not None and dc.stream is not None)


@fault("cancel_refused")
class CancelRefused(Execution):
    def cancel(self, queue: Queue, wr_id: int) -> int:
        return -errno.EINVAL


@fault("destroyed_mkeys_kept")
class DestroyedMkeysKept(Model):
    """Until the process, whose part a case is here, gives its context back."""

    kept = 0

    def destroy(self, mkey: Mkey) -> None:
        super().destroy(mkey)
        self.kept += 1

    def mkey(self, side: Side, *, create_flags: int, max_entries: int, pd: Pd | None = None) -> Mkey:
        if self.kept >= 256:
            raise Refused("mlx5dv_create_mkey", errno.ENOMEM)
        return super().mkey(side, create_flags=create_flags, max_entries=max_entries, pd=pd)

    def release(self, *, healthy: bool) -> None:
        self.kept = 0
        super().release(healthy=healthy)


@fault("destroy_refused")
class DestroyRefused(Model):
    """Of an mkey that has been configured."""

    def destroy(self, mkey: Mkey) -> None:
        used = mkey.handle in self._mkeys and not self._mkeys[mkey.handle].free
        super().destroy(mkey)
        if used:
            raise Refused("mlx5dv_destroy_mkey", errno.EBUSY)

    def release(self, *, healthy: bool) -> None:
        used = any(not found.free for found in self._mkeys.values())
        super().release(healthy=healthy)
        if used:
            raise Refused("mlx5dv_destroy_mkey", errno.EBUSY)


@fault("destroyed_mkey_lives")
class DestroyedMkeyLives(Model):
    def destroy(self, mkey: Mkey) -> None:
        found = self._mkeys.get(mkey.handle)
        super().destroy(mkey)
        if found is not None:
            self.tables[mkey.side].keys[found.index] = found
