"""More devices that break a sentence only in some surroundings: by what is made, configured and done beside a row."""

from __future__ import annotations

import errno
from collections.abc import Sequence
from dataclasses import replace

from mkeyspec.abi.constants import MkeyFlag
from mkeyspec.device.model.device import Model
from mkeyspec.device.protocol import (
    Configure,
    Mkey,
    Pd,
    Qp,
    QpAttributes,
    QpPair,
    Refused,
    Send,
    SetAccess,
    SetInterleaved,
    SetList,
    Sge,
    Side,
    WorkRequest,
    Write,
)
from tests.vary.faults import Changed, Trial


def _without_rights(request: Configure) -> Configure:
    setters = tuple(SetAccess(0) if isinstance(one, SetAccess) else one for one in request.setters)
    return replace(request, setters=setters)


def _shorter(request: Send | Write) -> Send | Write:
    *others, last = request.sges
    return replace(request, sges=(*others, replace(last, length=last.length - 1)))


class SmallQueues(Model):
    """ibv_create_qp(3): no QP has room for more than 128 requests, though the device says 8192."""

    def qp_pair(self, attributes: QpAttributes) -> QpPair:
        if attributes.max_send_wr > 128:
            raise Refused("mlx5dv_create_qp", errno.EINVAL)
        return super().qp_pair(attributes)


class FlagsTakeEntries(Model):
    """MKY-09: an mkey with the create flag REMOTE_INVALIDATE has an entry fewer than is asked for."""

    def mkey(self, side: Side, *, create_flags: int, max_entries: int, pd: Pd | None = None) -> Mkey:
        made = super().mkey(side, create_flags=create_flags, max_entries=max_entries, pd=pd)
        fewer = bool(create_flags & MkeyFlag.REMOTE_INVALIDATE)
        return replace(made, max_entries=max_entries - 1) if fewer else made


class EvenAddresses(Changed):
    """LST-01: the lowest bit of an entry's address is taken for 0."""

    def changed(self, qp: Qp, requests: Sequence[WorkRequest], place: int) -> WorkRequest | None:
        request = requests[place]
        if not isinstance(request, Configure):
            return request
        setters = tuple(
            SetList(tuple(replace(sge, addr=sge.addr & ~1) for sge in one.sges)) if isinstance(one, SetList) else one
            for one in request.setters
        )
        return replace(request, setters=setters)


class MemoryOnly(Changed):
    """LST-01: an entry that is an mkey begins at the second byte of it."""

    def changed(self, qp: Qp, requests: Sequence[WorkRequest], place: int) -> WorkRequest | None:
        request = requests[place]
        if not isinstance(request, Configure):
            return request
        keys: set[int] = self.__dict__.setdefault("keys", set())
        keys.add(request.mkey.lkey)

        def moved(sge: Sge) -> Sge:
            return replace(sge, addr=sge.addr + 1, length=sge.length - 1) if sge.lkey in keys else sge

        setters = tuple(
            SetList(tuple(moved(sge) for sge in one.sges)) if isinstance(one, SetList) else one
            for one in request.setters
        )
        return replace(request, setters=setters)


class OneTurnIsNone(Changed):
    """INT-01: of an interleaved layout that is repeated once the last entry lacks its last byte."""

    def changed(self, qp: Qp, requests: Sequence[WorkRequest], place: int) -> WorkRequest | None:
        request = requests[place]
        if not isinstance(request, Configure):
            return request
        setters = []
        for one in request.setters:
            if isinstance(one, SetInterleaved) and one.repeat_count == 1:
                *others, last = one.entries
                one = replace(one, entries=(*others, replace(last, bytes_count=last.bytes_count - 1)))
            setters.append(one)
        return replace(request, setters=tuple(setters))


class AccessAloneIsNone(Changed):
    """CFG-09: a request that sets the access flags alone takes all rights."""

    def changed(self, qp: Qp, requests: Sequence[WorkRequest], place: int) -> WorkRequest | None:
        request = requests[place]
        alone = isinstance(request, Configure) and len(request.setters) == 1
        return _without_rights(request) if isinstance(request, Configure) and alone else request


class NothingTakesRights(Changed):
    """CFG-09: a request without setters takes all rights."""

    def changed(self, qp: Qp, requests: Sequence[WorkRequest], place: int) -> WorkRequest | None:
        request = requests[place]
        if isinstance(request, Configure) and not request.setters:
            return replace(request, setters=(SetAccess(0),), num_setters=1)
        return request


class SecondTimeIsShort(Changed):
    """A message of the same SGEs as the one before it lacks its last byte."""

    def changed(self, qp: Qp, requests: Sequence[WorkRequest], place: int) -> WorkRequest | None:
        request = requests[place]
        if not isinstance(request, (Send, Write)):
            return request
        before, self.__dict__["before"] = self.__dict__.get("before"), request.sges
        return _shorter(request) if before == request.sges else request


class HighStreams(Changed):
    """WRP-34: a message in stream 1 or above lacks its last byte."""

    def changed(self, qp: Qp, requests: Sequence[WorkRequest], place: int) -> WorkRequest | None:
        request = requests[place]
        if isinstance(request, (Send, Write)) and request.dc is not None and request.dc.stream:
            return _shorter(request)
        return request


class UnreliableIsShort(Changed):
    """A SEND over UC lacks its last byte."""

    def qp_pair(self, attributes: QpAttributes) -> QpPair:
        made = super().qp_pair(attributes)
        if attributes.type == "uc":
            self.__dict__.setdefault("uc", set()).add(made.owner.number)
        return made

    def changed(self, qp: Qp, requests: Sequence[WorkRequest], place: int) -> WorkRequest | None:
        request = requests[place]
        over_uc = qp.number in self.__dict__.get("uc", ())
        return _shorter(request) if isinstance(request, Send) and over_uc else request


class ForgetsTheFirst(Model):
    """CFG-02: the fourth configuration that a device carries out takes the rights of the mkey of the first one."""

    def post(self, qp: Qp, requests: Sequence[WorkRequest], *, abort: bool = False) -> int:
        done = super().post(qp, requests, abort=abort)
        keys: list[Mkey] = self.__dict__.setdefault("keys", [])
        keys += [one.mkey for one in requests if isinstance(one, Configure)]
        if len(keys) > 3 and done == 0 and not abort and keys[0].handle not in {one.handle for one in keys[1:]}:
            super().post(qp, [Configure(0, 0, keys[0], 1, (SetAccess(0),))])
        return done


class Tires(Changed):
    """CFG-01: a configuration behind 100 other requests gives no rights."""

    def changed(self, qp: Qp, requests: Sequence[WorkRequest], place: int) -> WorkRequest | None:
        request = requests[place]
        number = self.__dict__["number"] = self.__dict__.get("number", 0) + 1
        return _without_rights(request) if isinstance(request, Configure) and number > 100 else request


class UsedKeepsNothing(Changed):
    """CFG-02: an mkey that has been the source of a message is given no rights any more."""

    def changed(self, qp: Qp, requests: Sequence[WorkRequest], place: int) -> WorkRequest | None:
        request = requests[place]
        used: set[int] = self.__dict__.setdefault("used", set())
        if isinstance(request, (Send, Write)):
            used.update(sge.lkey for sge in request.sges)
        if isinstance(request, Configure) and request.mkey.lkey in used:
            return _without_rights(request)
        return request


_LIST = "cases/layout/list.mks::concatenation[n=3]"
_CRC = "cases/signature/every_crc.mks::crc32_everywhere"
TRIALS = (
    Trial(SmallQueues, _LIST),
    Trial(FlagsTakeEntries, _LIST),
    Trial(EvenAddresses, "cases/signature/crc.mks::a_field_of_another"),
    Trial(MemoryOnly, _LIST),
    Trial(OneTurnIsNone, _LIST),
    Trial(AccessAloneIsNone, _LIST),
    Trial(NothingTakesRights, _LIST),
    Trial(SecondTimeIsShort, "cases/crypto/xts.mks"),
    Trial(HighStreams, _CRC),
    Trial(UnreliableIsShort, _CRC),
    Trial(ForgetsTheFirst, _LIST),
    Trial(Tires, _LIST, seeds=400),
    Trial(UsedKeepsNothing, _LIST),
)
