"""Block signatures of a device: framing, check, copy, generate, and the record of the first error.

Source: mlx5dv_wr_set_mkey_sig_block(3), docs/design/data-path.md and docs/design/hardware.md (HW-nn). The arithmetic
is `reference`'s; which of it a domain uses comes from the profile.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from mkeyspec.abi.constants import BLOCK_BYTES, BgType, CrcType, T10difFlag
from mkeyspec.device.model.access_error import Bytes, Violation
from mkeyspec.device.profile import error_record
from mkeyspec.device.profile.profile import Profile
from mkeyspec.device.protocol import SigBlockAttr, SigBlockDomain, SigCrc
from mkeyspec.reference.crc import CRC32, CRC32C, CRC64_XP10, T10, CrcParameters, crc_blocks
from mkeyspec.reference.dif import CSUM, SIZE, Guard, dif_blocks
from mkeyspec.reference.frame import frame, split

Flags = npt.NDArray[np.bool_]
Between = Callable[[Bytes], Bytes]
T10_SIZE = SIZE
CRC_KINDS = {int(CrcType.CRC32): "crc32", int(CrcType.CRC32C): "crc32c", int(CrcType.CRC64_XP10): "crc64_xp10"}
REF_REMAP, APP_ESCAPE, APP_REF_ESCAPE = (int(flag) for flag in T10difFlag)
ALL = (0, 1, 2, 3, 4, 5, 6, 7)


@dataclass(frozen=True, slots=True)
class SigDomain:
    """One domain as configured: `block` bytes of data, `field` bytes of signature. CRC: `seed`; T10-DIF: the rest."""

    kind: str
    block: int
    field: int
    crc: CrcParameters | None = None
    seed: int = 0
    guard: Guard = T10
    bg_type: int = 0
    bg: int = 0
    app_tag: int = 0
    ref_tag: int = 0
    flags: int = 0

    @property
    def frame(self) -> int:
        return self.block + self.field


@dataclass(frozen=True, slots=True)
class Signature:
    """The active attributes of an mkey. Masks are field bytes in memory order; `copied` of both domains' field."""

    mem: SigDomain | None
    wire: SigDomain | None
    check_mask: int
    copied: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class BlockSpan:
    """What `length` wire bytes from a wire offset are: `raw` data bytes, and where they lie in the mkey's memory."""

    length: int
    raw_start: int
    raw: int
    memory_start: int
    memory: int


@dataclass(frozen=True, slots=True)
class Bad:
    """The first bad block of a transfer: its number, the worst part, and both fields."""

    domain: SigDomain
    block: int
    part: str
    found: bytes
    computed: bytes


class Arithmetic:
    """Table 0 of the signature notes with the profile's answers filled in."""

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        self.crc = {int(CrcType.CRC32): CRC32, int(CrcType.CRC32C): CRC32C, int(CrcType.CRC64_XP10): CRC64_XP10}
        self.guards: dict[int, Guard] = {
            int(BgType.CRC): T10,
            int(BgType.CSUM): replace(CSUM, seed_mask=0xFFFF if profile.csum_seed_ffff == "start-value" else 0),
        }
        self.parts = tuple((part, *error_record.PARTS[part]) for part in profile.err_priority)

    # From the API's structs ------------------------------------------------------------------

    def domain(self, given: SigBlockDomain) -> SigDomain:
        """A domain that passed the rules of the section."""
        block = BLOCK_BYTES[given.block_size]
        sig = given.sig
        if isinstance(sig, SigCrc):
            parameters = self.crc[sig.type]
            seed = sig.seed & parameters.mask
            return SigDomain(CRC_KINDS[sig.type], block, parameters.size, parameters, seed)
        return SigDomain(
            "t10dif",
            block,
            T10_SIZE,
            None,
            0,
            self.guards[sig.bg_type],
            sig.bg_type,
            sig.bg & 0xFFFF,
            sig.app_tag & 0xFFFF,
            sig.ref_tag & 0xFFFFFFFF,
            sig.flags,
        )

    def signature(self, attr: SigBlockAttr) -> Signature:
        """The attributes that passed the rules of the section."""
        mem = self.domain(attr.mem) if attr.mem is not None else None
        wire = self.domain(attr.wire) if attr.wire is not None else None
        copied: tuple[int, ...] = ()
        if mem is not None and wire is not None:
            if attr.flags & 1:
                copied = self.positions(mem, attr.copy_mask)
            elif same_structure(mem, wire):
                copied = self.automatic_copy(mem, wire)
        return Signature(mem, wire, attr.check_mask & 0xFF, copied)

    def automatic_copy(self, mem: SigDomain, wire: SigDomain) -> tuple[int, ...]:
        """Field bytes copied when both domains have one structure (MSK-10, MSK-11; X-DIFF-10, X-DIFF-11)."""
        if mem.crc is not None:
            if self.profile.copy_compares_seed and mem.seed != wire.seed:
                return ()
            return ALL[: mem.field]
        copied: tuple[int, ...] = ()
        if (mem.bg_type, mem.bg) == (wire.bg_type, wire.bg):
            copied += ALL[0:2]
        if mem.app_tag == wire.app_tag:
            copied += ALL[2:4]
        remap = (mem.flags ^ wire.flags) & REF_REMAP and self.profile.copy_compares_flags
        if mem.ref_tag == wire.ref_tag and not remap:
            copied += ALL[4:8]
        return copied

    def positions(self, domain: SigDomain, mask: int) -> tuple[int, ...]:
        """Field bytes, in memory order, that a mask selects: bit 7 is byte 0 (MSK-04 to MSK-06)."""
        backwards = (
            self.profile.mask_le_fields == "value-order" and domain.crc is not None and domain.crc.order == "little"
        )
        chosen = (b for b in range(domain.field) if mask & (0x80 >> b))
        return tuple(sorted(domain.field - 1 - b for b in chosen)) if backwards else tuple(chosen)

    # Geometry --------------------------------------------------------------------------------

    def span(self, signature: Signature, start: int, length: int) -> BlockSpan:
        """The geometry of a use; lengths and offsets count wire bytes (HW-12).

        A partial last block is data without a field (HW-13). A start inside a block is refused: where
        the engine would begin is not known (X-OPEN-02).
        """
        raw_start, raw = _data_bytes(signature.wire, start), _data_bytes(signature.wire, length)
        wire, mem = signature.wire, signature.mem
        if (wire is not None and start % wire.frame) or (mem is not None and raw_start % mem.block):
            raise Violation("beyond_layout")
        if mem is None:
            return BlockSpan(length, raw_start, raw, raw_start, raw)
        fields_before = mem.field * (raw_start // mem.block)
        return BlockSpan(length, raw_start, raw, raw_start + fields_before, raw + mem.field * (raw // mem.block))

    # The operation ---------------------------------------------------------------------------

    def transmit(
        self, signature: Signature, memory: Bytes, length: int, before: int, between: Between | None = None
    ) -> tuple[Bytes, Bad | None]:
        """Memory bytes to `length` wire bytes. `before`: raw bytes of the message so far, for ref tags.

        `between` is done to the data when the input's fields are off, and the output's not yet on.
        """
        stream, bad = self._convert(signature, signature.mem, signature.wire, memory, before, between)
        return stream[:length], bad

    def receive(
        self, signature: Signature, wire: Bytes, before: int, between: Between | None = None
    ) -> tuple[Bytes, Bad | None]:
        """Wire bytes to memory bytes."""
        return self._convert(signature, signature.wire, signature.mem, wire, before, between)

    def _convert(
        self,
        signature: Signature,
        source: SigDomain | None,
        target: SigDomain | None,
        stream: Bytes,
        before: int,
        between: Between | None,
    ) -> tuple[Bytes, Bad | None]:
        bad: Bad | None = None
        stored: Bytes | None = None
        data = stream
        if source is not None:
            data, stored = self._taken_apart(source, stream)
            if signature.check_mask and len(stored):
                bad = self._first_bad(signature, source, data, stored, before)
        if between is not None:
            data = between(data)
        if target is None:
            return data, bad
        count = len(data) // target.block
        fields = self._output(signature, target, data[: count * target.block], stored, before)
        return self.framed(target, data, fields), bad

    def framed(self, target: SigDomain, data: Bytes, fields: Bytes) -> Bytes:
        """Each block with its field after it (CRC-08)."""
        return frame(data, target.block, fields, partial=True)

    def _taken_apart(self, source: SigDomain, stream: Bytes) -> tuple[Bytes, Bytes]:
        tail = len(stream) % source.frame
        if tail >= source.block:
            # The last block is whole, its field is cut off: data without a field.
            whole = len(stream) - tail
            data, stored = split(stream[:whole], source.block, source.field)
            return np.concatenate((data, stream[whole : whole + source.block])), stored
        return split(stream, source.block, source.field, partial=True)

    def calculate(self, domain: SigDomain, data: Bytes, before: int) -> Bytes:
        """The field of every block of `data`, as it comes after the block."""
        if domain.crc is not None:
            return crc_blocks(domain.crc, data, domain.block, domain.seed)
        return dif_blocks(
            data,
            domain.block,
            guard=domain.guard,
            bg=domain.bg,
            app_tags=domain.app_tag,
            ref_tag=domain.ref_tag,
            step=domain.flags & REF_REMAP,
            index=before // domain.block,
        )

    def _output(self, signature: Signature, target: SigDomain, data: Bytes, stored: Bytes | None, before: int) -> Bytes:
        """Each field byte is copied from the input or calculated for the output (MSK-14)."""
        copied = signature.copied
        if stored is None or not copied:
            return self.calculate(target, data, before)
        if len(copied) == target.field and len(stored) * target.block == len(data):
            return stored
        fields = self.calculate(target, data, before)
        columns = list(copied)
        fields[: len(stored), columns] = stored[:, columns]
        return fields

    def _first_bad(
        self, signature: Signature, source: SigDomain, data: Bytes, stored: Bytes, before: int
    ) -> Bad | None:
        checked = self.positions(source, signature.check_mask)
        if not checked:
            return None
        computed = self.calculate(source, data[: len(stored) * source.block], before)
        differs = stored != computed
        if not differs.any():
            return None
        if len(checked) < source.field:
            ignored = [b for b in range(source.field) if b not in checked]
            differs[:, ignored] = False
        if source.crc is None:
            escaped = self.escaped(source.flags, stored)
            if escaped is not None:
                differs[escaped, : 2 if self.profile.escape_scope == "guard" else T10_SIZE] = False
        rows = differs.any(axis=1)
        if not rows.any():
            return None
        block = self.reported(rows)
        return Bad(
            source,
            before // source.block + block,
            self._part(source, differs[block]),
            stored[block].tobytes(),
            computed[block].tobytes(),
        )

    def escaped(self, flags: int, stored: Bytes) -> Flags | None:
        """Which blocks an escape exempts; APP_REF_ESCAPE wins over APP_ESCAPE (DIF-14, DIF-15, X-DIFF-21)."""
        if flags & APP_REF_ESCAPE:
            tags = stored[:, 2:8]
        elif flags & APP_ESCAPE:
            tags = stored[:, 2:4]
        else:
            return None
        escaped: Flags = (tags == 0xFF).all(axis=1)
        return escaped

    def reported(self, bad: Flags) -> int:
        """Of the bad blocks the one that is reported (XCHK-04)."""
        return int(bad.argmax())

    def _part(self, source: SigDomain, differs: Flags) -> str:
        """Of several bad parts the first by priority (XCHK-06); a CRC is all guard."""
        if source.crc is None:
            for part, first, end in self.parts:
                if differs[first:end].any():
                    return part
        return "guard"

    def record(self, bad: Bad) -> tuple[int, int, int, int]:
        """(type, expected, actual, offset) as the profile reports them."""
        domain = bad.domain
        return error_record.record(
            self.profile, domain.kind, domain.field, domain.block, bad.block, bad.found, bad.computed, bad.part
        )


def same_structure(mem: SigDomain | None, wire: SigDomain | None) -> bool:
    """Same signature type and block size on both sides, for CRCs the same CRC (copy_mask of the man page)."""
    return mem is not None and wire is not None and mem.kind == wire.kind and mem.block == wire.block


def _data_bytes(domain: SigDomain | None, length: int) -> int:
    """How many of `length` bytes of a domain's stream are data."""
    if domain is None:
        return length
    whole, tail = divmod(length, domain.frame)
    return whole * domain.block + min(tail, domain.block)
