"""A configuration work request while it is being built: the rules of the builder and its setters.

Source: mlx5dv_wr_mkey_configure(3) and mlx5dv_wr_set_mkey_sig_block(3); the profile decides what they leave open. Each
rule has a name and is checked in one place. The driver keeps the error until the section is completed.
"""

from __future__ import annotations

from dataclasses import dataclass

from mkeyspec.abi.constants import BLOCK_BYTES, Access, BgType, ConfFlag, CrcType, MkeyFlag, SendFlag, SigType
from mkeyspec.device.model.crypto import AES_XTS, ORDERS, RAW, Crypto, DataKey, attributes
from mkeyspec.device.model.key import IndirectKey, Layout, ListLayout, StridedLayout
from mkeyspec.device.model.signature import Arithmetic, Signature, same_structure
from mkeyspec.device.profile.profile import Profile
from mkeyspec.device.protocol import (
    CryptoAttr,
    Interleaved,
    SetAccess,
    SetCrypto,
    SetInterleaved,
    SetList,
    SetSignature,
    Setter,
    Sge,
    SigBlockAttr,
    SigBlockDomain,
    SigCrc,
    SigT10dif,
)

M8, M16, M32, M64 = 0xFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF
"""The API's integers are those of C: a value is cut to the member's width."""

ACCESS_BITS = sum(int(flag) for flag in Access)
INLINE = int(SendFlag.INLINE)
RESET_SIG_ATTR = int(ConfFlag.RESET_SIG_ATTR)
UPDATE_TAG, CRYPTO = int(MkeyFlag.UPDATE_TAG), int(MkeyFlag.CRYPTO)
SEEDS = {int(CrcType.CRC32): (0, M32), int(CrcType.CRC32C): (0, M32), int(CrcType.CRC64_XP10): (0, M64)}
SEED_BITS = {int(CrcType.CRC32): M32, int(CrcType.CRC32C): M32, int(CrcType.CRC64_XP10): M64}
BG_TYPES = (int(BgType.CRC), int(BgType.CSUM))


class BuilderRefusal(Exception):
    """A rule of the pages is broken."""

    def __init__(self, rule: str) -> None:
        super().__init__(rule)
        self.rule = rule


@dataclass(slots=True)
class Configuration:
    """The changes that the work request makes when it is executed; None leaves a property unchanged (CFG-09)."""

    wr_id: int
    flags: int
    mkey: IndirectKey
    tag: int
    setters: int
    """How many setters must follow the builder."""
    reset: bool = False
    seen: int = 0
    access: int | None = None
    layout: Layout | None = None
    signature: Signature | None = None
    crypto: Crypto | None = None
    strided_full: bool = False
    """The interleaved layout leaves no entry for its header, and it is not reported yet (X-DIFF-06)."""

    @property
    def slots(self) -> int:
        """Send queue slots: one, and one more to set each domain's seed (X-LIM-05)."""
        if self.signature is None:
            return 1
        return 1 + (self.signature.mem is not None) + (self.signature.wire is not None)

    @property
    def open(self) -> bool:
        return self.seen < self.setters


@dataclass(frozen=True, slots=True)
class Builder:
    """mlx5dv_wr_mkey_configure and its setters on a QP with `room` bytes for a configuration; `deks` by handle."""

    profile: Profile
    arithmetic: Arithmetic
    room: int
    deks: dict[int, DataKey]

    def begin(
        self, mkey: IndirectKey, wr_id: int, flags: int, lkey: int, num_setters: int, conf_flags: int, comp_mask: int
    ) -> Configuration:
        """The builder; its own rules (CFG-12, CFG-22, CFG-23, MKY-06)."""
        if not flags & INLINE:
            raise BuilderRefusal("inline_missing")
        if comp_mask & M64:
            raise BuilderRefusal("conf_comp_mask")
        if conf_flags & M32 & ~RESET_SIG_ATTR:
            raise BuilderRefusal("conf_flags")
        tag = lkey & M8
        if tag != mkey.key & M8 and not mkey.flags & UPDATE_TAG:
            raise BuilderRefusal("update_tag_flag")
        configuration = Configuration(wr_id, flags, mkey, tag, num_setters & M8, bool(conf_flags & RESET_SIG_ATTR))
        if not configuration.setters:
            self.finish(configuration)
        return configuration

    def call(self, configuration: Configuration, setter: Setter) -> None:
        """One setter; the last announced one closes the work request (CFG-04)."""
        if not configuration.open:
            raise BuilderRefusal("too_many_setters")
        if isinstance(setter, SetAccess):
            self._access(configuration, setter.access_flags)
        elif isinstance(setter, SetList):
            self._list(configuration, setter.sges)
        elif isinstance(setter, SetInterleaved):
            self._interleaved(configuration, setter.repeat_count, setter.entries)
        elif isinstance(setter, SetSignature):
            self._signature(configuration, setter.attr)
        elif isinstance(setter, SetCrypto):
            self._crypto(configuration, setter.attr)
        configuration.seen += 1
        if not configuration.open:
            self.finish(configuration)

    def finish(self, configuration: Configuration) -> None:
        """Layout, signature and crypto attributes have to fit in one WQE, and with each other (X-LIM-01, X-LIM-03)."""
        blocks = (configuration.signature is not None) + (configuration.crypto is not None)
        if not blocks:
            return
        layout = configuration.layout
        taken = 0
        if layout is not None:
            taken = (16 * (len(layout.entries) + isinstance(layout, StridedLayout)) + 63) // 64 * 64
        if taken + blocks * self.profile.bsf_bytes > self.room:
            raise BuilderRefusal("interleaved_room" if isinstance(layout, StridedLayout) else "list_room")
        length = configuration.mkey.layout.length if configuration.mkey.layout is not None else 0
        if (layout.length if layout is not None else length) > M32:
            raise BuilderRefusal("mkey_length")
        check_order(configuration)

    # Setters ---------------------------------------------------------------------------------

    def _access(self, configuration: Configuration, flags: int) -> None:
        flags &= M32
        if flags & ~ACCESS_BITS or flags & ~self.profile.access_supported:
            raise BuilderRefusal("access_bits")
        if configuration.access is not None:
            raise BuilderRefusal("setter_called_twice")
        configuration.access = flags

    def _layout_is_new(self, configuration: Configuration, kind: type[Layout]) -> None:
        """One layout setter in all, whatever `kind` each is of (LAY-03)."""
        if configuration.layout is not None:
            raise BuilderRefusal("two_layouts")

    def _list(self, configuration: Configuration, sges: tuple[Sge, ...]) -> None:
        if len(sges) > self.room // 16:
            raise BuilderRefusal("list_room")
        if len(sges) > configuration.mkey.entries:
            raise BuilderRefusal("mkey_entries")
        self._layout_is_new(configuration, ListLayout)
        entries = tuple((sge.lkey & M32, sge.addr & M64, sge.length & M32) for sge in sges)
        configuration.layout = ListLayout(entries, sum(size for _, _, size in entries))

    def _interleaved(self, configuration: Configuration, repeat: int, given: tuple[Interleaved, ...]) -> None:
        if len(given) > self.room // 16 - 1:
            raise BuilderRefusal("interleaved_room")
        if len(given) > configuration.mkey.entries:
            raise BuilderRefusal("mkey_entries")
        if len(given) + 1 > configuration.mkey.entries:
            if self.profile.strided_entry == "complete":
                raise BuilderRefusal("strided_entry")
            configuration.strided_full = True
        self._layout_is_new(configuration, StridedLayout)
        repeat &= M32
        stored = (1 << self.profile.stride_bits) - 1
        entries = []
        for entry in given:
            count, skip = entry.bytes_count & M32, entry.bytes_skip & M32
            stride = count + skip
            if self.profile.stride_bits < 32:
                count, stride = count & stored, stride & stored
            entries.append((entry.lkey & M32, entry.addr & M64, count, stride))
        width = sum(count for _, _, count, _ in entries)
        configuration.layout = StridedLayout(tuple(entries), repeat, width, repeat * width)

    def _signature(self, configuration: Configuration, attr: SigBlockAttr) -> None:
        if configuration.mkey.state is None:
            raise BuilderRefusal("mkey_without_signature")
        if configuration.signature is not None:
            raise BuilderRefusal("setter_called_twice")
        if attr.mem is None and attr.wire is None:
            raise BuilderRefusal("both_domains_none")
        if attr.flags & M32 & ~1:
            raise BuilderRefusal("sig_flags")
        if attr.comp_mask & M64:
            raise BuilderRefusal("sig_comp_mask")
        for domain in (attr.mem, attr.wire):
            if domain is not None:
                check_domain(domain)
        signature = self.arithmetic.signature(attr)
        if attr.flags & 1 and not same_structure(signature.mem, signature.wire):
            raise BuilderRefusal("copy_mask_structure")
        sizes = {domain.block_size for domain in (attr.mem, attr.wire) if domain is not None}
        if len(sizes) > 1 and not self.profile.mixed_block_sizes:  # no page's rule: those that pages have come first
            raise BuilderRefusal("mixed_block_sizes")
        configuration.signature = signature

    def _crypto(self, configuration: Configuration, attr: CryptoAttr) -> None:
        """The rules of mlx5dv_wr_set_mkey_crypto (XCRY-01 to XCRY-05)."""
        if not configuration.mkey.flags & CRYPTO:
            raise BuilderRefusal("mkey_without_crypto")
        if configuration.crypto is not None:
            raise BuilderRefusal("setter_called_twice")
        if attr.comp_mask & M64:
            raise BuilderRefusal("crypto_comp_mask")
        if attr.crypto_standard != AES_XTS:
            raise BuilderRefusal("crypto_standard")
        if attr.signature_crypto_order not in ORDERS:
            raise BuilderRefusal("crypto_order")
        if attr.data_unit_size not in BLOCK_BYTES:
            raise BuilderRefusal("crypto_data_unit")
        dek = self.deks.get(attr.dek.handle)
        if dek is None:
            raise BuilderRefusal("crypto_dek")
        configuration.crypto = attributes(attr, dek)


def check_order(configuration: Configuration) -> None:
    """If the cipher works between the fields, only one side may have fields after this request (XCRY-07)."""
    mkey = configuration.mkey
    crypto = configuration.crypto or mkey.crypto
    signature = configuration.signature or (None if configuration.reset else mkey.signature)
    if crypto is None or signature is None or crypto.at != RAW:
        return
    if signature.mem is not None and signature.wire is not None:
        raise BuilderRefusal("crypto_order_domains")


def check_domain(domain: SigBlockDomain) -> None:
    """The rules of one domain (SIG-19 to SIG-22, CRC-01, CRC-06, CRC-07, DIF-07, DIF-08, DIF-11)."""
    if domain.block_size not in BLOCK_BYTES:
        raise BuilderRefusal("block_size")
    if domain.comp_mask & M64:
        raise BuilderRefusal("domain_comp_mask")
    sig = domain.sig
    if domain.sig_type == SigType.CRC and isinstance(sig, SigCrc):
        if sig.type not in SEEDS:
            raise BuilderRefusal("crc_type")
        if sig.seed & SEED_BITS[sig.type] not in SEEDS[sig.type]:
            raise BuilderRefusal("crc_seed")
    elif domain.sig_type == SigType.T10DIF and isinstance(sig, SigT10dif):
        if sig.bg & M16 not in (0, M16):
            raise BuilderRefusal("dif_bg")
        if sig.bg_type not in BG_TYPES:
            raise BuilderRefusal("dif_bg_type")
        if sig.flags & M16 & ~7:
            raise BuilderRefusal("dif_flags")
    else:
        raise BuilderRefusal("sig_type")
