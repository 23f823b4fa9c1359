"""Faults of the CRCs, of what a field covers, and of framing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from mkeyspec.abi.constants import CrcType
from mkeyspec.device.model.key import Bytes
from mkeyspec.device.model.signature import Arithmetic, Bad, Between, SigDomain, Signature
from mkeyspec.device.protocol import SigBlockAttr, SigBlockDomain
from mkeyspec.reference.crc import CRC32, CRC32C, crc_blocks
from mkeyspec.sabotage.fault import fault

CRC_32, CRC_32C, CRC_64 = (int(kind) for kind in (CrcType.CRC32, CrcType.CRC32C, CrcType.CRC64_XP10))
ECMA_182 = 0x42F0E1EBA9EA3693


def _parameters(name: str, kind: int, **change: Any) -> None:
    @fault(name)
    class Mutant(Arithmetic):
        def __init__(self, *given: Any) -> None:
            super().__init__(*given)
            self.crc[kind] = replace(self.crc[kind], **change)


_parameters("crc32_polynomial", CRC_32, poly=CRC32C.poly)
_parameters("crc32c_polynomial", CRC_32C, poly=CRC32.poly)
_parameters("crc64_polynomial", CRC_64, poly=ECMA_182)
_parameters("crc32_not_inverted", CRC_32, xorout=0)
_parameters("crc32c_not_inverted", CRC_32C, xorout=0)
_parameters("crc64_not_inverted", CRC_64, xorout=0)
_parameters("crc32_little_endian", CRC_32, order="little")
_parameters("crc32c_big_endian", CRC_32C, order="big")
_parameters("crc64_big_endian", CRC_64, order="big")
_parameters("crc32_reflected", CRC_32, refin=True, refout=True)
_parameters("crc32c_not_reflected", CRC_32C, refin=False, refout=False)
_parameters("crc64_not_reflected", CRC_64, refin=False, refout=False)


@fault("crc32_is_crc32c")
class Crc32IsCrc32c(Arithmetic):
    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.crc[CRC_32] = self.crc[CRC_32C]


@fault("crc32c_is_crc32")
class Crc32cIsCrc32(Arithmetic):
    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.crc[CRC_32C] = self.crc[CRC_32]


def _domain(name: str, change: Callable[[SigDomain], SigDomain]) -> None:
    """Every domain as it is configured, changed."""

    @fault(name)
    class Mutant(Arithmetic):
        def domain(self, given: SigBlockDomain) -> SigDomain:
            return change(super().domain(given))


def _seed(kind: str | None, seed: Callable[[int, int], int]) -> Callable[[SigDomain], SigDomain]:
    """`seed` makes one of a seed and its mask, for one kind of CRC or for all."""

    def change(domain: SigDomain) -> SigDomain:
        if domain.crc is None or kind not in (None, domain.kind):
            return domain
        return replace(domain, seed=seed(domain.seed, domain.crc.mask))

    return change


_domain("crc32_seed_zeros", _seed("crc32", lambda seed, mask: 0))
_domain("crc32c_seed_ones", _seed("crc32c", lambda seed, mask: mask))
_domain("crc64_seed_zeros", _seed("crc64_xp10", lambda seed, mask: 0))
_domain("crc_seed_inverted", _seed(None, lambda seed, mask: seed ^ mask))


def _block(size: int, taken: int) -> Callable[[SigDomain], SigDomain]:
    return lambda domain: replace(domain, block=taken) if domain.block == size else domain


_domain("block_520_is_512", _block(520, 512))
_domain("block_4048_is_4096", _block(4048, 4096))
_domain("block_4096_is_512", _block(4096, 512))
_domain("block_4160_is_4096", _block(4160, 4096))

# What a field covers -------------------------------------------------------------------------


def guard_end(domain: SigDomain) -> int:
    """Where a field's guard ends; a CRC is all guard."""
    return domain.field if domain.crc is not None else 2


@fault("crc64_half")
class Crc64Half(Arithmetic):
    def calculate(self, domain: SigDomain, data: Bytes, before: int) -> Bytes:
        fields = super().calculate(domain, data, before)
        if domain.kind == "crc64_xp10":
            fields = fields.copy()
            fields[:, 4:] = 0
        return fields


@fault("crc_runs_on")
class CrcRunsOn(Arithmetic):
    def calculate(self, domain: SigDomain, data: Bytes, before: int) -> Bytes:
        if domain.crc is None or not len(data):
            return super().calculate(domain, data, before)
        ends = range(domain.block, len(data) + 1, domain.block)
        return np.concatenate([crc_blocks(domain.crc, data[:end], end, domain.seed) for end in ends])


def _covered(name: str, first: Callable[[int], int], end: Callable[[int], int]) -> None:
    """The bytes of each block from `first` to `end`, which are told its size, count as zeros."""

    @fault(name)
    class Mutant(Arithmetic):
        def calculate(self, domain: SigDomain, data: Bytes, before: int) -> Bytes:
            blocks = data.reshape(-1, domain.block).copy()
            blocks[:, first(domain.block) : end(domain.block)] = 0
            return super().calculate(domain, blocks.reshape(-1), before)


_covered("field_misses_first_byte", lambda size: 0, lambda size: 1)
_covered("field_misses_last_byte", lambda size: size - 1, lambda size: size)
_covered("field_misses_last_8", lambda size: size - 8, lambda size: size)
_covered("field_covers_512", lambda size: 512, lambda size: size)


@fault("field_of_first_block")
class FieldOfFirstBlock(Arithmetic):
    def calculate(self, domain: SigDomain, data: Bytes, before: int) -> Bytes:
        fields: Bytes = super().calculate(domain, data, before).copy()
        fields[1:, : guard_end(domain)] = fields[:1, : guard_end(domain)]
        return fields


@fault("field_of_previous_block")
class FieldOfPreviousBlock(Arithmetic):
    def calculate(self, domain: SigDomain, data: Bytes, before: int) -> Bytes:
        fields: Bytes = super().calculate(domain, data, before).copy()
        fields[1:, : guard_end(domain)] = fields[:-1, : guard_end(domain)].copy()
        return fields


@fault("last_field_zero")
class LastFieldZero(Arithmetic):
    def _output(self, signature: Signature, target: SigDomain, data: Bytes, stored: Bytes | None, before: int) -> Bytes:
        fields: Bytes = super()._output(signature, target, data, stored, before).copy()
        if stored is None or not signature.copied:
            fields[-1:] = 0
        return fields


# Framing -------------------------------------------------------------------------------------


@fault("field_in_front")
class FieldInFront(Arithmetic):
    def framed(self, target: SigDomain, data: Bytes, fields: Bytes) -> Bytes:
        stream = super().framed(target, data, fields)
        whole = len(fields) * target.frame
        stream[:whole] = np.roll(stream[:whole].reshape(-1, target.frame), target.field, axis=1).reshape(-1)
        return stream


def _stripped(name: str, first: int, end: int) -> None:
    """What is left of each frame of a stripped stream: from its beginning to its block's end plus `end` bytes."""

    @fault(name)
    class Mutant(Arithmetic):
        def _convert(
            self,
            signature: Signature,
            source: SigDomain | None,
            target: SigDomain | None,
            stream: Bytes,
            before: int,
            between: Between | None,
        ) -> tuple[Bytes, Bad | None]:
            made, bad = super()._convert(signature, source, target, stream, before, between)
            if source is None or target is not None:
                return made, bad
            count = len(stream) // source.frame
            frames = stream[: count * source.frame].reshape(count, source.frame)
            left = np.concatenate((frames[:, first : source.block + end].reshape(-1), stream[count * source.frame :]))
            kept = np.zeros(len(made), np.uint8)
            kept[: min(len(left), len(kept))] = left[: len(kept)]
            return kept, bad


_stripped("strip_leaves_a_byte", 0, 1)
_stripped("strip_takes_a_byte", 0, -1)


@fault("domains_swapped")
class DomainsSwapped(Arithmetic):
    def signature(self, attr: SigBlockAttr) -> Signature:
        made = super().signature(attr)
        if made.mem is None or made.wire is None:
            return made
        return replace(made, mem=made.wire, wire=made.mem)


@fault("wire_is_memory")
class WireIsMemory(Arithmetic):
    def signature(self, attr: SigBlockAttr) -> Signature:
        made = super().signature(attr)
        return made if made.mem is None or made.wire is None else replace(made, wire=made.mem)


@fault("transmit_unsigned")
class TransmitUnsigned(Arithmetic):
    def transmit(
        self, signature: Signature, memory: Bytes, length: int, before: int, between: Between | None = None
    ) -> tuple[Bytes, Bad | None]:
        stream, bad = super().transmit(signature, memory, length, before, between)
        return (memory[:length] if signature.wire is None else stream), bad


@fault("receive_unsigned")
class ReceiveUnsigned(Arithmetic):
    def receive(
        self, signature: Signature, wire: Bytes, before: int, between: Between | None = None
    ) -> tuple[Bytes, Bad | None]:
        stream, bad = super().receive(signature, wire, before, between)
        mem = signature.mem
        if mem is not None and signature.wire is None:
            count = len(stream) // mem.frame
            stream[: count * mem.frame].reshape(count, mem.frame)[:, mem.block :] = 0
        return stream, bad


@fault("partial_block_zero")
class PartialBlockZero(Arithmetic):
    def _convert(
        self,
        signature: Signature,
        source: SigDomain | None,
        target: SigDomain | None,
        stream: Bytes,
        before: int,
        between: Between | None,
    ) -> tuple[Bytes, Bad | None]:
        made, bad = super()._convert(signature, source, target, stream, before, between)
        domain = target or source
        if domain is not None:
            rest = len(made) % (domain.frame if target is not None else domain.block)
            made = made.copy()
            made[len(made) - rest :] = 0
        return made, bad
