"""Devices that break a sentence only in some surroundings, and rows that don't have these.

Each stands for one variation: without it the row passes on the device, with it the row fails.
"""

from __future__ import annotations

import errno
from collections.abc import Sequence
from dataclasses import dataclass, replace

from mkeyspec.abi.constants import SendFlag
from mkeyspec.device.model.device import Model
from mkeyspec.device.protocol import (
    Configure,
    Dek,
    DekAttr,
    Mkey,
    MrInterleaved,
    Pd,
    Qp,
    Refused,
    Send,
    SetAccess,
    SetInterleaved,
    SetList,
    SetSignature,
    Side,
    WorkRequest,
    Write,
)

MANY = 10


class Changed(Model):
    """A device that carries out other requests than it is given."""

    def post(self, qp: Qp, requests: Sequence[WorkRequest], *, abort: bool = False) -> int:
        given = [self.changed(qp, requests, place) for place in range(len(requests))]
        return super().post(qp, [one for one in given if one is not None], abort=abort)

    def changed(self, qp: Qp, requests: Sequence[WorkRequest], place: int) -> WorkRequest | None:
        raise NotImplementedError


class FewMkeys(Model):
    """MKY-01: no mkey after so many that were destroyed."""

    made = 0

    def mkey(self, side: Side, *, create_flags: int, max_entries: int, pd: Pd | None = None) -> Mkey:
        self.made += 1
        if self.made > MANY:
            raise Refused("mlx5dv_create_mkey", errno.ENOMEM)
        return super().mkey(side, create_flags=create_flags, max_entries=max_entries, pd=pd)


class RefusalCounts(Model):
    """MKY-01: the mkey after a refused creation has no rkey of its own."""

    refused = False

    def mkey(self, side: Side, *, create_flags: int, max_entries: int, pd: Pd | None = None) -> Mkey:
        try:
            made = super().mkey(side, create_flags=create_flags, max_entries=max_entries, pd=pd)
        except Refused:
            self.refused = True
            raise
        return replace(made, rkey=made.rkey ^ 0x100) if self.refused else made


class RoundsDown(Model):
    """MKY-09: a number of entries above 40 is rounded down to a multiple of 64."""

    def mkey(self, side: Side, *, create_flags: int, max_entries: int, pd: Pd | None = None) -> Mkey:
        made = super().mkey(side, create_flags=create_flags, max_entries=max_entries, pd=pd)
        return replace(made, max_entries=max_entries // 64 * 64) if max_entries > 40 else made


class TwinsDie(Model):
    """XCRY-20: with a DEK the other ones with its key go."""

    def dek(self, key: bytes, keytag: bytes | None = None, attr: DekAttr | None = None) -> Dek:
        made = super().dek(key, keytag, attr)
        self.__dict__.setdefault("twins", {}).setdefault(key, []).append(made)
        return made

    def destroy_dek(self, dek: Dek) -> None:
        for twins in self.__dict__["twins"].values():
            if dek in twins:
                for twin in twins:
                    super().destroy_dek(twin)
                twins.clear()


class ShorterListOnly(Changed):
    """LST-02: a list is not taken by a key that has an interleaved layout."""

    def changed(self, qp: Qp, requests: Sequence[WorkRequest], place: int) -> WorkRequest | None:
        request = requests[place]
        walks: set[int] = self.__dict__.setdefault("walks", set())
        if isinstance(request, MrInterleaved):
            walks.add(request.mkey.handle)
        if not isinstance(request, Configure):
            return request
        if any(isinstance(one, SetInterleaved) for one in request.setters):
            walks.add(request.mkey.handle)
        if request.mkey.handle in walks and any(isinstance(one, SetList) for one in request.setters):
            setters = tuple(one for one in request.setters if not isinstance(one, SetList))
            return replace(request, setters=setters, num_setters=len(setters)) if setters else None
        return request


class AccessLast(Changed):
    """ACC-01: an access setter behind another one gives no right to read."""

    def changed(self, qp: Qp, requests: Sequence[WorkRequest], place: int) -> WorkRequest | None:
        request = requests[place]
        if not isinstance(request, Configure):
            return request
        setters = tuple(
            SetAccess(one.access_flags & ~0x5) if number and isinstance(one, SetAccess) else one
            for number, one in enumerate(request.setters)
        )
        return replace(request, setters=setters)


class FencedIsLost(Changed):
    """CFG-15: a fenced configuration does nothing to the rights."""

    def changed(self, qp: Qp, requests: Sequence[WorkRequest], place: int) -> WorkRequest | None:
        request = requests[place]
        if isinstance(request, Configure) and request.flags & SendFlag.FENCE:
            return replace(
                request, setters=tuple(SetAccess(0) if isinstance(one, SetAccess) else one for one in request.setters)
            )
        return request


class FirstOnly(Changed):
    """CFG-15: of a section that begins with a WRITE the configuration gives no rights."""

    def changed(self, qp: Qp, requests: Sequence[WorkRequest], place: int) -> WorkRequest | None:
        request = requests[place]
        if isinstance(request, Configure) and place and isinstance(requests[0], Write):
            return replace(
                request, setters=tuple(SetAccess(0) if isinstance(one, SetAccess) else one for one in request.setters)
            )
        return request


class ImmediateIsShort(Changed):
    """A SEND with immediate data loses the last byte of its first SGE."""

    def changed(self, qp: Qp, requests: Sequence[WorkRequest], place: int) -> WorkRequest | None:
        request = requests[place]
        if isinstance(request, Send) and request.imm is not None and request.sges:
            first = request.sges[0]
            return replace(request, sges=(replace(first, length=first.length - 1), *request.sges[1:]))
        return request


class SecondSgeAgain(Changed):
    """A WRITE of two SGEs takes the bytes of the second one from one byte before it."""

    def changed(self, qp: Qp, requests: Sequence[WorkRequest], place: int) -> WorkRequest | None:
        request = requests[place]
        if isinstance(request, Write) and len(request.sges) == 2:
            first, second = request.sges
            return replace(request, sges=(first, replace(second, addr=second.addr - 1)))
        return request


class HighBits(Changed):
    """SIG-18: of the comp_mask of a signature the high half is not looked at."""

    def changed(self, qp: Qp, requests: Sequence[WorkRequest], place: int) -> WorkRequest | None:
        request = requests[place]
        if not isinstance(request, Configure):
            return request
        setters = tuple(
            replace(one, attr=replace(one.attr, comp_mask=one.attr.comp_mask & 0xFFFF_FFFF))
            if isinstance(one, SetSignature)
            else one
            for one in request.setters
        )
        return replace(request, setters=setters)


@dataclass(frozen=True, slots=True)
class Trial:
    """A row that the device passes as it is written. `seeds`: one of so many finds it."""

    device: type[Model]
    row: str
    seeds: int = 40


_LIST = "cases/layout/list.mks::concatenation[n=3]"
TRIALS = (
    Trial(FewMkeys, _LIST),
    Trial(RefusalCounts, "cases/transport/operations.mks"),
    Trial(RoundsDown, _LIST),
    Trial(TwinsDie, "cases/crypto/xts.mks"),
    Trial(ShorterListOnly, _LIST),
    Trial(AccessLast, _LIST),
    Trial(FencedIsLost, _LIST),
    Trial(FirstOnly, _LIST),
    Trial(HighBits, "cases/configure/undefined_bits.mks::bits_of_the_signature[word=comp_mask"),
    Trial(ImmediateIsShort, "cases/signature/crc.mks::a_field_of_another"),
    Trial(SecondSgeAgain, "cases/mkey/create.mks::tag_may_be_set"),
)
