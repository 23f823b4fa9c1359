"""Faults of what the driver looks at before a NIC sees anything."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from mkeyspec.abi.constants import BLOCK_BYTES, BgType, CrcType, CryptoOrder, SendFlag, SigType
from mkeyspec.device.model.configuration import (
    ACCESS_BITS,
    CRYPTO,
    M16,
    RESET_SIG_ATTR,
    SEED_BITS,
    SEEDS,
    Builder,
    BuilderRefusal,
    Configuration,
)
from mkeyspec.device.model.crypto import AES_XTS, ORDERS
from mkeyspec.device.model.device import Model
from mkeyspec.device.model.key import IndirectKey, Layout
from mkeyspec.device.model.section import DriverSection
from mkeyspec.device.protocol import (
    CryptoAttr,
    Interleaved,
    Mkey,
    Pd,
    SetAccess,
    SetCrypto,
    SetSignature,
    Setter,
    Sge,
    Side,
    SigBlockAttr,
    SigBlockDomain,
    SigCrc,
    SigT10dif,
)
from mkeyspec.sabotage.fault import fault

SIZE_512 = min(BLOCK_BYTES)
INLINE = int(SendFlag.INLINE)

# Setters called too often, too rarely, elsewhere ---------------------------------------------


@fault("setter_twice")
class SetterTwice(Builder):
    def call(self, configuration: Configuration, setter: Setter) -> None:
        if isinstance(setter, SetAccess):
            configuration.access = None
        elif isinstance(setter, SetSignature):
            configuration.signature = None
        elif isinstance(setter, SetCrypto):
            configuration.crypto = None
        Builder.call(self, configuration, setter)

    def _layout_is_new(self, configuration: Configuration, kind: type[Layout]) -> None:
        if isinstance(configuration.layout, kind):
            configuration.layout = None
        Builder._layout_is_new(self, configuration, kind)


@fault("two_layouts")
class TwoLayouts(Builder):
    def _layout_is_new(self, configuration: Configuration, kind: type[Layout]) -> None:
        if not isinstance(configuration.layout, kind):
            configuration.layout = None
        Builder._layout_is_new(self, configuration, kind)


@fault("setter_outside")
class SetterOutside(DriverSection):
    def _setter(self, setter: Setter) -> None:
        if self.opened is not None:
            DriverSection._setter(self, setter)


@fault("setters_one_more")
class SettersOneMore(Builder):
    """The one too many is taken while the request is still being built; afterwards it is only passed over."""

    def call(self, configuration: Configuration, setter: Setter) -> None:
        if configuration.open or configuration.seen > configuration.setters:
            Builder.call(self, configuration, setter)
        else:
            configuration.seen += 1


# What a builder and its setters are given ----------------------------------------------------


def _begin(name: str, change: Callable[[int, int, int], tuple[int, int, int]]) -> None:
    """wr_flags, conf_flags and comp_mask of a configuration, changed."""

    @fault(name)
    class Mutant(Builder):
        def begin(
            self,
            mkey: IndirectKey,
            wr_id: int,
            flags: int,
            lkey: int,
            num_setters: int,
            conf_flags: int,
            comp_mask: int,
        ) -> Configuration:
            flags, conf_flags, comp_mask = change(flags, conf_flags, comp_mask)
            return Builder.begin(self, mkey, wr_id, flags, lkey, num_setters, conf_flags, comp_mask)


_begin("inline_unchecked", lambda flags, conf_flags, comp_mask: (flags | INLINE, conf_flags, comp_mask))
_begin("conf_comp_mask_unchecked", lambda flags, conf_flags, comp_mask: (flags, conf_flags, 0))
_begin("conf_flags_unchecked", lambda flags, conf_flags, comp_mask: (flags, conf_flags & RESET_SIG_ATTR, comp_mask))


@fault("access_bits_unchecked")
class AccessBitsUnchecked(Builder):
    def _access(self, configuration: Configuration, flags: int) -> None:
        Builder._access(self, configuration, flags & ACCESS_BITS)


def _room(name: str, more: int, interleaved: bool) -> None:
    """The room of a WQE for a list, or for an interleaved layout, is `more` bytes more."""

    @fault(name)
    class Mutant(Builder):
        def _list(self, configuration: Configuration, sges: tuple[Sge, ...]) -> None:
            Builder._list(self if interleaved else replace(self, room=self.room + more), configuration, sges)

        def _interleaved(self, configuration: Configuration, repeat: int, given: tuple[Interleaved, ...]) -> None:
            room = replace(self, room=self.room + more) if interleaved else self
            Builder._interleaved(room, configuration, repeat, given)


_room("list_room_one_less", -16, interleaved=False)
_room("list_room_one_more", 16, interleaved=False)
_room("interleaved_room_one_less", -16, interleaved=True)
_room("interleaved_room_one_more", 16, interleaved=True)


@fault("max_entries_unchecked")
class MaxEntriesUnchecked(Builder):
    def _list(self, configuration: Configuration, sges: tuple[Sge, ...]) -> None:
        configuration.mkey.entries = max(configuration.mkey.entries, len(sges))
        Builder._list(self, configuration, sges)

    def _interleaved(self, configuration: Configuration, repeat: int, given: tuple[Interleaved, ...]) -> None:
        configuration.mkey.entries = max(configuration.mkey.entries, len(given))
        Builder._interleaved(self, configuration, repeat, given)


@fault("strided_entry_unchecked")
class StridedEntryUnchecked(Builder):
    def _interleaved(self, configuration: Configuration, repeat: int, given: tuple[Interleaved, ...]) -> None:
        if len(given) == configuration.mkey.entries:
            configuration.mkey.entries += 1
        Builder._interleaved(self, configuration, repeat, given)


@fault("max_entries_short")
class MaxEntriesShort(Model):
    def mkey(self, side: Side, *, create_flags: int, max_entries: int, pd: Pd | None = None) -> Mkey:
        made = super().mkey(side, create_flags=create_flags, max_entries=max_entries, pd=pd)
        granted = max(0, max_entries - 1)
        self._mkeys[made.handle].entries = granted
        return replace(made, max_entries=granted)


# Signature attributes ------------------------------------------------------------------------


def _attributes(name: str, change: Callable[[SigBlockAttr], SigBlockAttr]) -> None:
    @fault(name)
    class Mutant(Builder):
        def _signature(self, configuration: Configuration, attr: SigBlockAttr) -> None:
            Builder._signature(self, configuration, change(attr))


def _domains(name: str, change: Callable[[SigBlockDomain], SigBlockDomain]) -> None:
    def both(attr: SigBlockAttr) -> SigBlockAttr:
        mem = None if attr.mem is None else change(attr.mem)
        return replace(attr, mem=mem, wire=None if attr.wire is None else change(attr.wire))

    _attributes(name, both)


def _crcs(name: str, change: Callable[[SigCrc], SigCrc]) -> None:
    _domains(name, lambda domain: replace(domain, sig=change(domain.sig)) if isinstance(domain.sig, SigCrc) else domain)


def _difs(name: str, change: Callable[[SigT10dif], SigT10dif]) -> None:
    _domains(
        name, lambda domain: replace(domain, sig=change(domain.sig)) if isinstance(domain.sig, SigT10dif) else domain
    )


def _known_type(domain: SigBlockDomain) -> SigBlockDomain:
    if domain.sig_type in (int(SigType.CRC), int(SigType.T10DIF)):
        return domain
    return replace(domain, sig_type=int(SigType.CRC), sig=SigCrc(int(CrcType.CRC32), 0))


def _known_size(domain: SigBlockDomain) -> SigBlockDomain:
    return domain if domain.block_size in BLOCK_BYTES else replace(domain, block_size=SIZE_512)


def _any_seed(crc: SigCrc) -> SigCrc:
    """Zeros or ones, by its lowest bit."""
    bits = SEED_BITS.get(crc.type)
    return crc if bits is None or crc.seed & bits in (0, bits) else replace(crc, seed=bits * (crc.seed & 1))


def _any_bg(dif: SigT10dif) -> SigT10dif:
    return replace(dif, bg=M16 * (dif.bg & 1))


_attributes("sig_flags_unchecked", lambda attr: replace(attr, flags=attr.flags & 1))
_attributes("sig_comp_mask_unchecked", lambda attr: replace(attr, comp_mask=0))
_domains("domain_comp_mask_unchecked", lambda domain: replace(domain, comp_mask=0))
_domains("sig_type_unchecked", _known_type)
_domains("block_size_unchecked", _known_size)
_crcs("crc_type_unchecked", lambda crc: crc if crc.type in SEEDS else replace(crc, type=int(CrcType.CRC32)))
_crcs("crc_seed_unchecked", _any_seed)
_difs(
    "bg_type_unchecked",
    lambda dif: dif if dif.bg_type in (int(BgType.CRC), int(BgType.CSUM)) else replace(dif, bg_type=int(BgType.CRC)),
)
_difs("bg_unchecked", _any_bg)
_difs("dif_flags_unchecked", lambda dif: replace(dif, flags=dif.flags & 7))


def _whole_seed(crc: SigCrc) -> SigCrc:
    if crc.type in SEEDS and crc.seed not in (0, SEED_BITS[crc.type]):
        return replace(crc, seed=1)  # which no CRC takes
    return crc


_crcs("crc_seed_whole", _whole_seed)


@fault("signature_mkey_unchecked")
class SignatureMkeyUnchecked(Builder):
    def _signature(self, configuration: Configuration, attr: SigBlockAttr) -> None:
        if configuration.mkey.state is not None:
            Builder._signature(self, configuration, attr)


@fault("copy_structure_unchecked")
class CopyStructureUnchecked(Builder):
    def _signature(self, configuration: Configuration, attr: SigBlockAttr) -> None:
        try:
            Builder._signature(self, configuration, attr)
        except BuilderRefusal as broken:
            if broken.rule != "copy_mask_structure":
                raise
            Builder._signature(self, configuration, replace(attr, flags=0))


# Crypto attributes ---------------------------------------------------------------------------


def _crypto(name: str, change: Callable[[CryptoAttr], CryptoAttr]) -> None:
    @fault(name)
    class Mutant(Builder):
        def _crypto(self, configuration: Configuration, attr: CryptoAttr) -> None:
            Builder._crypto(self, configuration, change(attr))


def _known_order(attr: CryptoAttr) -> CryptoAttr:
    if attr.signature_crypto_order in ORDERS:
        return attr
    return replace(attr, signature_crypto_order=int(CryptoOrder.SIGNATURE_AFTER_CRYPTO_ON_TX))


def _known_unit(attr: CryptoAttr) -> CryptoAttr:
    return attr if attr.data_unit_size in BLOCK_BYTES else replace(attr, data_unit_size=SIZE_512)


_crypto("crypto_comp_mask_unchecked", lambda attr: replace(attr, comp_mask=0))
_crypto("crypto_standard_unchecked", lambda attr: replace(attr, crypto_standard=AES_XTS))
_crypto("crypto_order_unchecked", _known_order)
_crypto("crypto_unit_unchecked", _known_unit)


@fault("crypto_mkey_unchecked")
class CryptoMkeyUnchecked(Builder):
    def _crypto(self, configuration: Configuration, attr: CryptoAttr) -> None:
        if configuration.mkey.flags & CRYPTO:
            Builder._crypto(self, configuration, attr)
