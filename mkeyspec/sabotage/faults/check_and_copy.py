"""Faults of what is checked and of what is copied."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from mkeyspec.device.model.key import Bytes
from mkeyspec.device.model.signature import ALL, Arithmetic, Bad, Between, SigDomain, Signature, same_structure
from mkeyspec.device.protocol import SigBlockAttr
from mkeyspec.sabotage.fault import fault


def _check_mask(name: str, mask: Callable[[int], int]) -> None:
    @fault(name)
    class Mutant(Arithmetic):
        def signature(self, attr: SigBlockAttr) -> Signature:
            return super().signature(replace(attr, check_mask=mask(attr.check_mask & 0xFF)))


def reversed_bits(mask: int) -> int:
    return int(f"{mask & 0xFF:08b}"[::-1], 2)


_check_mask("check_mask_ignored", lambda mask: 0xFF)
_check_mask("check_never", lambda mask: 0)
_check_mask("check_mask_inverted", lambda mask: mask ^ 0xFF)
_check_mask("check_mask_shifted", lambda mask: mask >> 1)
_check_mask("check_mask_low_bits_lost", lambda mask: mask & 0xF0)


@fault("check_mask_reversed")
class CheckMaskReversed(Arithmetic):
    def _first_bad(
        self, signature: Signature, source: SigDomain, data: Bytes, stored: Bytes, before: int
    ) -> Bad | None:
        turned = reversed_bits(signature.check_mask) << (8 - source.field) & 0xFF
        return super()._first_bad(replace(signature, check_mask=turned), source, data, stored, before)


@fault("check_mask_by_part")
class CheckMaskByPart(Arithmetic):
    def _first_bad(
        self, signature: Signature, source: SigDomain, data: Bytes, stored: Bytes, before: int
    ) -> Bad | None:
        if source.crc is None:
            mask = signature.check_mask
            whole = sum(part for part in (0xC0, 0x30, 0x0F) if mask & part)
            signature = replace(signature, check_mask=whole)
        return super()._first_bad(signature, source, data, stored, before)


@fault("check_mask_guard_only")
class CheckMaskGuardOnly(Arithmetic):
    def _first_bad(
        self, signature: Signature, source: SigDomain, data: Bytes, stored: Bytes, before: int
    ) -> Bad | None:
        if source.crc is None:
            signature = replace(signature, check_mask=signature.check_mask & 0xC0)
        return super()._first_bad(signature, source, data, stored, before)


@fault("check_first_block_only")
class CheckFirstBlockOnly(Arithmetic):
    def _first_bad(
        self, signature: Signature, source: SigDomain, data: Bytes, stored: Bytes, before: int
    ) -> Bad | None:
        return super()._first_bad(signature, source, data, stored[:1], before)


@fault("check_not_first_block")
class CheckNotFirstBlock(Arithmetic):
    def _first_bad(
        self, signature: Signature, source: SigDomain, data: Bytes, stored: Bytes, before: int
    ) -> Bad | None:
        first = source.block
        return super()._first_bad(signature, source, data[first:], stored[1:], before + first)


@fault("check_not_last_block")
class CheckNotLastBlock(Arithmetic):
    def _first_bad(
        self, signature: Signature, source: SigDomain, data: Bytes, stored: Bytes, before: int
    ) -> Bad | None:
        checked = stored if len(stored) < 2 else stored[:-1]
        return super()._first_bad(signature, source, data, checked, before)


@fault("check_not_transmitted")
class CheckNotTransmitted(Arithmetic):
    def transmit(
        self, signature: Signature, memory: Bytes, length: int, before: int, between: Between | None = None
    ) -> tuple[Bytes, Bad | None]:
        return super().transmit(replace(signature, check_mask=0), memory, length, before, between)


@fault("check_not_received")
class CheckNotReceived(Arithmetic):
    def receive(
        self, signature: Signature, wire: Bytes, before: int, between: Between | None = None
    ) -> tuple[Bytes, Bad | None]:
        return super().receive(replace(signature, check_mask=0), wire, before, between)


@fault("check_low_bit")
class CheckLowBit(Arithmetic):
    def _first_bad(
        self, signature: Signature, source: SigDomain, data: Bytes, stored: Bytes, before: int
    ) -> Bad | None:
        computed = self.calculate(source, data[: len(stored) * source.block], before)
        bad = super()._first_bad(signature, source, data, stored & np.uint8(0xFE) | computed & np.uint8(1), before)
        return bad and replace(bad, found=stored[bad.block - before // source.block].tobytes())


@fault("check_false_alarm")
class CheckFalseAlarm(Arithmetic):
    def _first_bad(
        self, signature: Signature, source: SigDomain, data: Bytes, stored: Bytes, before: int
    ) -> Bad | None:
        bad = super()._first_bad(signature, source, data, stored, before)
        if bad is None and len(stored) > 1:
            field = stored[-1].tobytes()
            return Bad(source, before // source.block + len(stored) - 1, "guard", field, field)
        return bad


# Copies --------------------------------------------------------------------------------------


def _copied(name: str, copied: Callable[[SigBlockAttr, SigDomain, Signature], tuple[int, ...]]) -> None:
    """`copied` tells which bytes of domains of one structure are copied."""

    @fault(name)
    class Mutant(Arithmetic):
        def signature(self, attr: SigBlockAttr) -> Signature:
            made = super().signature(attr)
            if made.mem is None or not same_structure(made.mem, made.wire):
                return made
            return replace(made, copied=copied(attr, made.mem, made))


def _selected(mem: SigDomain, mask: int) -> tuple[int, ...]:
    return tuple(byte for byte in range(mem.field) if mask & (0x80 >> byte))


def _given(mask: Callable[[SigDomain, int], int]) -> Callable[[SigBlockAttr, SigDomain, Signature], tuple[int, ...]]:
    """An explicit copy_mask, changed."""

    def copied(attr: SigBlockAttr, mem: SigDomain, made: Signature) -> tuple[int, ...]:
        return _selected(mem, mask(mem, attr.copy_mask & 0xFF)) if attr.flags & 1 else made.copied

    return copied


_copied("copy_never", lambda attr, mem, made: ())
_copied("copy_always", lambda attr, mem, made: made.copied if attr.flags & 1 else ALL[: mem.field])
_copied("copy_mask_inverted", _given(lambda mem, mask: mask ^ 0xFF))
_copied("copy_mask_reversed", _given(lambda mem, mask: reversed_bits(mask) << (8 - mem.field) & 0xFF))
_copied("copy_mask_shifted", _given(lambda mem, mask: mask >> 1))
_copied("copy_mask_without_flag", lambda attr, mem, made: _selected(mem, attr.copy_mask))


@fault("copy_flag_ignored")
class CopyFlagIgnored(Arithmetic):
    def signature(self, attr: SigBlockAttr) -> Signature:
        return super().signature(replace(attr, flags=0))


def _automatic(name: str, copied: Callable[[SigDomain, SigDomain, tuple[int, ...]], tuple[int, ...]]) -> None:
    """`copied` is told both T10-DIF domains and what is rightly copied."""

    @fault(name)
    class Mutant(Arithmetic):
        def automatic_copy(self, mem: SigDomain, wire: SigDomain) -> tuple[int, ...]:
            right = super().automatic_copy(mem, wire)
            return right if mem.crc is not None else tuple(sorted(copied(mem, wire, right)))


GUARD, APP, REF = ALL[0:2], ALL[2:4], ALL[4:8]


def _also(part: tuple[int, ...]) -> Callable[[SigDomain, SigDomain, tuple[int, ...]], tuple[int, ...]]:
    return lambda mem, wire, right: tuple({*right, *part})


def _swapped(mem: SigDomain, wire: SigDomain, right: tuple[int, ...]) -> tuple[int, ...]:
    tags = (REF if 2 in right else ()) + (APP if 4 in right else ())
    return (GUARD if 0 in right else ()) + tags


_automatic("copy_parts_swapped", _swapped)
_automatic("copy_guard_always", _also(GUARD))
_automatic("copy_app_always", _also(APP))
_automatic("copy_ref_always", _also(REF))
_automatic("copy_all_or_nothing", lambda mem, wire, right: right if len(right) == len(ALL) else ())


@fault("copy_first_block_only")
class CopyFirstBlockOnly(Arithmetic):
    def _output(self, signature: Signature, target: SigDomain, data: Bytes, stored: Bytes | None, before: int) -> Bytes:
        fields: Bytes = super()._output(signature, target, data, stored, before).copy()
        if len(fields) > 1:
            fields[1:] = self.calculate(target, data, before)[1:]
        return fields
