"""Devices that are wrong in one way each: the model, with one call changed. broken.toml says what must find them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from mkeyspec.device.model.device import Model
from mkeyspec.device.protocol import (
    AsyncEvent,
    Capabilities,
    Completion,
    Dek,
    DekAttr,
    Info,
    Memory,
    Mkey,
    Pd,
    Qp,
    QpAttributes,
    QpPair,
    Refused,
    Sge,
    Side,
    SignatureError,
    Unsupported,
    WorkRequest,
)


class Clock:
    """What the kit takes for the time: each look at it is a millisecond later."""

    now = 0.0

    def __call__(self) -> float:
        self.now += 1e-3
        return self.now


CLOCK = Clock()


class OffersCrypto(Model):
    def dek(self, key: bytes, keytag: bytes | None = None, attr: DekAttr | None = None) -> Dek:
        raise Unsupported("no engine")


class OffersMemcpy(Model):
    def post(self, qp: Qp, requests: Sequence[WorkRequest], *, abort: bool = False) -> int:
        return (
            95 if any(type(one).__name__ == "Memcpy" for one in requests) else super().post(qp, requests, abort=abort)
        )


class OffersUnknown(Model):
    def capabilities(self) -> Capabilities:
        found = super().capabilities()
        return replace(found, offers=found.offers | {"cryto"})


class CountsItsCases(Model):
    cases = 0

    def info(self) -> Info:
        return Info("counts", str(self.cases))

    def release(self, *, healthy: bool) -> None:
        self.cases += 1
        super().release(healthy=healthy)


class LosesAnOffer(Model):
    cases = 0

    def release(self, *, healthy: bool) -> None:
        self.cases += 1
        super().release(healthy=healthy)

    def capabilities(self) -> Capabilities:
        found = super().capabilities()
        return replace(found, offers=found.offers - {"atomic"}) if self.cases % 2 else found


class RefreshesItsNumbers(Model):
    """In the object that it has given."""

    def __init__(self) -> None:
        super().__init__()
        self.told = replace(found := super().capabilities(), values=dict(found.values))

    def capabilities(self) -> Capabilities:
        return self.told

    def release(self, *, healthy: bool) -> None:
        self.told.values["max_wr_memcpy_length"] += 1
        super().release(healthy=healthy)


class KeepsTheArray(Model):
    """That the host stored over a whole buffer, as the buffer."""

    def __init__(self) -> None:
        super().__init__()
        self.arrays: dict[int, npt.NDArray[np.uint8]] = {}

    def write(self, memory: Memory, offset: int, data: bytes | npt.NDArray[np.uint8]) -> None:
        super().write(memory, offset, data)
        if isinstance(data, np.ndarray) and len(data) == memory.length:
            self.arrays[memory.handle] = data

    def read(self, memory: Memory, offset: int, length: int) -> npt.NDArray[np.uint8]:
        kept = self.arrays.get(memory.handle)
        return super().read(memory, offset, length) if kept is None else kept[offset : offset + length]


class TellsNoNumbers(Model):
    def capabilities(self) -> Capabilities:
        return replace(super().capabilities(), values={})


class IgnoresAlignment(Model):
    def memory(self, side: Side, length: int, *, access: int, misaligned: int = 0, pd: Any = None) -> Memory:
        return super().memory(side, length, access=access, pd=pd)


class HasNoName(Model):
    def info(self) -> Info:
        return Info("")


class LacksRc(Model):
    def capabilities(self) -> Capabilities:
        found = super().capabilities()
        return replace(found, offers=found.offers - {"qp.rc"})


class HasOnePd(Model):
    def pd(self, side: Side) -> Pd:
        return self._default_pds[side]


class OverlapsBuffers(Model):
    def memory(self, side: Side, length: int, *, access: int, misaligned: int = 0, pd: Any = None) -> Memory:
        made = super().memory(side, length, access=access, misaligned=misaligned, pd=pd)
        return replace(made, addr=made.addr >> 20 << 20 | misaligned)


class HasOneHandle(Model):
    def qp_pair(self, attributes: QpAttributes) -> QpPair:
        made = super().qp_pair(attributes)
        return replace(made, peer=replace(made.peer, handle=made.owner.handle))


class HasOneDct(Model):
    def dct(self, key: int) -> int:
        super().dct(key)
        return 0x200


class CountsWhatWasNot(Model):
    def cancel(self, qp: Qp, wr_id: int) -> int:
        return max(1, super().cancel(qp, wr_id)) if qp.handle in self._queues else -22


class KeepsCompletions(Model):
    """In the pair that every case gets."""

    def release(self, *, healthy: bool) -> None:
        pair = self.default_pair
        assert pair is not None
        left = list(self._queues[pair.owner.handle].entries)
        super().release(healthy=healthy)
        assert self.default_pair is not None
        self._queues[self.default_pair.owner.handle].entries.extend(left)


class ReadsBytes(Model):
    def read(self, memory: Memory, offset: int, length: int) -> Any:
        return super().read(memory, offset, length).tobytes()


class ReadsShort(Model):
    """Cuts what is outside, as a slice does."""

    def read(self, memory: Memory, offset: int, length: int) -> Any:
        return super().read(memory, 0, memory.length)[max(offset, 0) : offset + length]


class GrantsFewer(Model):
    def mkey(self, side: Side, *, create_flags: int, max_entries: int, pd: Any = None) -> Mkey:
        made = super().mkey(side, create_flags=create_flags, max_entries=max_entries, pd=pd)
        return replace(made, max_entries=max_entries - 1)


class TakesAnyFlag(Model):
    def mkey(self, side: Side, *, create_flags: int, max_entries: int, pd: Any = None) -> Mkey:
        return super().mkey(side, create_flags=create_flags & 0x1F, max_entries=max_entries, pd=pd)


class TagsTheIndex(Model):
    def retag(self, mkey: Mkey, tag: int) -> Mkey:
        return replace(super().retag(mkey, tag), lkey=mkey.lkey | tag << 8)


class DestroysNothing(Model):
    def destroy(self, mkey: Mkey) -> None:
        pass


class SeesAnError(Model):
    def mkey_check(self, mkey: Mkey) -> SignatureError | None:
        super().mkey_check(mkey)
        return SignatureError(1, 0, 0, 0)


class LendsOnePair(Model):
    def qp_pair(self, attributes: QpAttributes) -> QpPair:
        self._is_lent = False
        return super().qp_pair(attributes)


class PollWaits(Model):
    def poll(self, qp: Qp) -> list[Completion]:
        CLOCK.now += 3
        return super().poll(qp)


class PollsATuple(Model):
    def poll(self, qp: Qp) -> Any:
        return tuple(super().poll(qp))


class TellsTwice(Model):
    last: tuple[Completion, ...] = ()

    def poll(self, qp: Qp) -> list[Completion]:
        found, self.last = [one for one in self.last if one.qp == qp], tuple(super().poll(qp))
        return [*found, *self.last]

    def release(self, *, healthy: bool) -> None:
        self.last = ()
        super().release(healthy=healthy)


class NamesOfTheHeader(Model):
    def poll(self, qp: Qp) -> list[Completion]:
        return [replace(one, status=f"IBV_WC_{one.status.upper()}") for one in super().poll(qp)]


class LosesImmediates(Model):
    def poll(self, qp: Qp) -> list[Completion]:
        return [replace(one, imm=None) for one in super().poll(qp)]


class SignalsAll(Model):
    def qp_pair(self, attributes: QpAttributes) -> QpPair:
        return super().qp_pair(replace(attributes, sq_sig_all=True))


class AbortsNothing(Model):
    def post(self, qp: Qp, requests: Sequence[WorkRequest], *, abort: bool = False) -> int:
        return super().post(qp, requests)


class NegativeErrno(Model):
    def post(self, qp: Qp, requests: Sequence[WorkRequest], *, abort: bool = False) -> int:
        return -super().post(qp, requests, abort=abort)


class RaisesKeyError(Model):
    def post_recv(self, qp: Qp, wr_id: int, sges: Sequence[Sge]) -> int:
        self._queues[qp.handle]
        return super().post_recv(qp, wr_id, sges)


class RefusesWithNothing(Model):
    def memory(self, side: Side, length: int, *, access: int, misaligned: int = 0, pd: Any = None) -> Memory:
        if pd is not None:
            raise Refused("ibv_reg_mr", 0)
        return super().memory(side, length, access=access, misaligned=misaligned)


class KeepsEvents(Model):
    def events(self) -> list[AsyncEvent]:
        return [AsyncEvent("comm_est", self.default_pair.owner)] if self.default_pair else []


class NeverConnectsAgain(Model):
    def reconnect(self, pair: QpPair) -> QpPair:
        return pair


class ReconnectsAll(Model):
    """Begins anew, with the memory and the mkeys."""

    def reconnect(self, pair: QpPair) -> QpPair:
        self._empty()
        return self.qp_pair(QpAttributes(send_ops=7))


class KeepsObjects(Model):
    def release(self, *, healthy: bool) -> None:
        pass


class KeepsTheHealthy(Model):
    def release(self, *, healthy: bool) -> None:
        if not healthy:
            super().release(healthy=healthy)


class ClosesOnce(Model):
    closed = False

    def close(self) -> None:
        if self.closed:
            raise OSError("bad file descriptor")
        self.closed = True
        super().close()


class OpensAnother(Model):
    made = 0

    def __init__(self) -> None:
        super().__init__()
        OpensAnother.made += 1
        self.number = OpensAnother.made

    def info(self) -> Info:
        return Info(f"another{self.number}")
