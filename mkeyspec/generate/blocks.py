"""What a device does with the blocks of a message: it checks fields, copies them or makes new ones.

docs/design/data-path.md, "Check, copy, generate", from mlx5dv_wr_set_mkey_sig_block(3). The arithmetic is that of the
references. Points that the pages leave open are members of `Reading`: the generator takes a message only if every
reading gives the same bytes and the same report.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from mkeyspec.generate.domain import Domain, Signature
from mkeyspec.reference import crc
from mkeyspec.reference.dif import CSUM, dif_blocks
from mkeyspec.reference.frame import frame, split

Octets = npt.NDArray[np.uint8]
PARAMETERS = {"crc32": crc.CRC32, "crc32c": crc.CRC32C, "crc64_xp10": crc.CRC64_XP10}
PARTS = {"bad_guard": slice(0, 2), "bad_apptag": slice(2, 4), "bad_reftag": slice(4, 8)}
"""The parts of a T10-DIF field by the error of each, in the order in which they are reported (XCHK-06)."""


@dataclass(frozen=True, slots=True)
class Reading:
    """One way to read what the pages leave open."""

    escapes_tags: bool = True
    """An escaped block is not checked at all, or its guard is not (X-OPEN-06)."""
    memory_order: bool = True
    """Mask bit 7 means the first byte of a little-endian field in memory, or of the value (X-OPEN-12)."""
    guard_first: bool = True
    """Of several bad parts the guard is told, or the reference tag (X-DIFF-22)."""
    seed_counts: bool = True
    """CRCs of unequal seeds are made anew, or copied (X-DIFF-10)."""
    remap_counts: bool = False
    """Equal reference tags of which one is remapped are copied, or made anew (X-DIFF-11)."""


USUAL = Reading()


@dataclass(frozen=True, slots=True)
class Report:
    """What mlx5dv_mkey_check() reports. `found` and `computed`: the bytes of the bad part."""

    kind: str
    block: int
    found: bytes
    computed: bytes


def fields_of(domain: Domain, data: bytes | Octets) -> Octets:
    """The fields of whole blocks of `data` from block 0 on, (n, size) as stored."""
    if not domain.tags:
        parameters = PARAMETERS[domain.kind]
        return crc.crc_blocks(parameters, data, domain.block, parameters.mask if domain.ones else 0)
    bg = 0xFFFF if domain.ones else 0
    return dif_blocks(
        data,
        domain.block,
        guard=CSUM if domain.csum else crc.T10,
        bg=bg,
        app_tags=domain.app,
        ref_tag=domain.ref,
        step=int(domain.remap),
    )


def frame_of(domain: Domain, data: bytes) -> bytes:
    """Whole blocks of data with their fields."""
    return frame(data, domain.block, fields_of(domain, data)).tobytes()


def split_of(domain: Domain, stream: bytes) -> tuple[Octets, Octets]:
    """The data and the fields of whole frames."""
    return split(stream, domain.block, domain.size)


def readings(signature: Signature) -> Iterator[Reading]:
    """The usual reading, and the others that can matter to this signature."""
    yield USUAL
    domains = [one for one in (signature.mem, signature.wire) if one is not None]
    if any("app_escape" in one.flags or "app_ref_escape" in one.flags for one in domains):
        yield replace(USUAL, escapes_tags=False)
    if any(one.little for one in domains):
        yield replace(USUAL, memory_order=False)
    if any(one.tags for one in domains):
        yield replace(USUAL, guard_first=False)
    if len(domains) == 2 and domains[0].structure == domains[1].structure:
        yield replace(USUAL, seed_counts=False)
        yield replace(USUAL, remap_counts=True)


def moved(signature: Signature, stream: bytes, *, tx: bool, reading: Reading = USUAL) -> tuple[bytes, Report | None]:
    """A message: what comes out of whole frames (or blocks) that go in, and the report of the first bad block.

    `tx`: from memory to the wire; else from the wire to memory.
    """
    source, target = (signature.mem, signature.wire) if tx else (signature.wire, signature.mem)
    if source is None:
        data: Octets = np.frombuffer(stream, np.uint8)
        fields = None
    else:
        data, fields = split_of(source, stream)
    report = None
    if source is not None and fields is not None and len(fields):
        report = _checked(source, data, fields, signature.check_mask, reading)
    if target is None:
        return data.tobytes(), report
    made = fields_of(target, data)
    if source is not None and fields is not None:
        columns = _copied(source, target, signature.copy_mask, reading)
        made = made.copy()
        made[:, columns] = fields[:, columns]
    return frame(data, target.block, made).tobytes(), report


def bytes_of_mask(domain: Domain, mask: int, reading: Reading = USUAL) -> list[int]:
    """Positions in the field, from 0, of the bytes that a check or copy mask names."""
    chosen = [i for i in range(domain.size) if mask & 0x80 >> i]
    if domain.little and not reading.memory_order:
        return [domain.size - 1 - i for i in chosen]
    return chosen


def _checked(domain: Domain, data: Octets, fields: Octets, mask: int, reading: Reading) -> Report | None:
    computed = fields_of(domain, data)
    looked = np.zeros(domain.size, bool)
    looked[bytes_of_mask(domain, mask, reading)] = True
    differs = (fields != computed) & looked
    if domain.tags:
        escaped = np.zeros(len(fields), bool)
        if "app_escape" in domain.flags:
            escaped |= (fields[:, 2:4] == 0xFF).all(axis=1)
        if "app_ref_escape" in domain.flags:
            escaped |= (fields[:, 2:8] == 0xFF).all(axis=1)
        differs[escaped, 0 : 8 if reading.escapes_tags else 2] = False
    bad = differs.any(axis=1)
    if not bad.any():
        return None
    block = int(bad.argmax())
    kind, part = "bad_guard", slice(0, domain.size)
    if domain.tags:
        order = list(PARTS.items())
        kind, part = next(
            one for one in (order if reading.guard_first else order[::-1]) if differs[block, one[1]].any()
        )
    return Report(kind, block, fields[block, part].tobytes(), computed[block, part].tobytes())


def _copied(source: Domain, target: Domain, mask: int | None, reading: Reading) -> list[int]:
    """Positions of the field's bytes that pass through, where both domains have a signature."""
    if source.structure != target.structure:
        return []
    if mask is not None:
        return bytes_of_mask(target, mask, reading)
    if not source.tags:
        return list(range(target.size)) if source.ones == target.ones or not reading.seed_counts else []
    columns: list[int] = []
    if (source.csum, source.ones) == (target.csum, target.ones):
        columns += [0, 1]
    if source.app == target.app:
        columns += [2, 3]
    if source.ref == target.ref and (source.remap == target.remap or not reading.remap_counts):
        columns += [4, 5, 6, 7]
    return columns
