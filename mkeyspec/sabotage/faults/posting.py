"""Faults of the driver where it creates objects, posts sections, and answers mlx5dv_mkey_check."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from mkeyspec.abi.constants import MkeyFlag, QpOps
from mkeyspec.device.model.configuration import Configuration
from mkeyspec.device.model.device import MKEY_FLAGS, MKEY_OFFERS, Model
from mkeyspec.device.model.execution import Execution, Outcome
from mkeyspec.device.model.queue import Queue
from mkeyspec.device.model.section import DriverSection
from mkeyspec.device.protocol import (
    Memcpy,
    Mkey,
    MrInterleaved,
    MrList,
    Pd,
    Qp,
    QpAttributes,
    Refused,
    Side,
    SignatureError,
    WorkRequest,
)
from mkeyspec.sabotage.fault import fault, profile

INDIRECT = int(MkeyFlag.INDIRECT)
RAW = int(QpOps.RAW_WQE)

# Creation ------------------------------------------------------------------------------------


@fault("create_flags_unchecked")
class CreateFlagsUnchecked(Model):
    def mkey(self, side: Side, *, create_flags: int, max_entries: int, pd: Pd | None = None) -> Mkey:
        known = create_flags & MKEY_FLAGS
        for flag, offer in MKEY_OFFERS:
            if offer not in self.profile.offers:
                known &= ~flag
        known = known or (create_flags and INDIRECT)
        return super().mkey(side, create_flags=known, max_entries=max_entries, pd=pd)


@fault("create_flags_zero")
class CreateFlagsZero(Model):
    def mkey(self, side: Side, *, create_flags: int, max_entries: int, pd: Pd | None = None) -> Mkey:
        return super().mkey(side, create_flags=create_flags or INDIRECT, max_entries=max_entries, pd=pd)


@fault("qp_type_unchecked")
class QpTypeUnchecked(Model):
    def _look_at(self, attributes: QpAttributes) -> None:
        kind = attributes.type if attributes.streams else "rc"
        super()._look_at(replace(attributes, type=kind, send_ops=0, sig_pipelining=False))


@fault("raw_for_rc_only")
class RawForRcOnly(Model):
    def _look_at(self, attributes: QpAttributes) -> None:
        if attributes.send_ops & RAW and attributes.type != "rc":
            raise Refused("mlx5dv_create_qp", self.profile.errno_of("qp_operations"))
        super()._look_at(attributes)


profile("dci_without_builders", dci_mkey_operations=False)

# Sections ------------------------------------------------------------------------------------


def _posted(name: str, change: Callable[[WorkRequest], WorkRequest]) -> None:
    @fault(name)
    class Mutant(Model):
        def post(self, qp: Qp, requests: Sequence[WorkRequest], *, abort: bool = False) -> int:
            return super().post(qp, [change(request) for request in requests], abort=abort)


def _without_access(request: WorkRequest) -> WorkRequest:
    return replace(request, access_flags=0) if isinstance(request, (MrList, MrInterleaved)) else request


_posted("mr_access_ignored", _without_access)


@fault("memcpy_length_unchecked")
class MemcpyLengthUnchecked(DriverSection):
    def _memcpy(self, request: Memcpy) -> None:
        most = self.builder.profile.max_wr_memcpy_length
        DriverSection._memcpy(self, replace(request, length=min(max(request.length, 1), most)))


@fault("memcpy_largest_refused")
class MemcpyLargestRefused(DriverSection):
    def _memcpy(self, request: Memcpy) -> None:
        if request.length == self.builder.profile.max_wr_memcpy_length:
            self._error("memcpy_length")
        else:
            DriverSection._memcpy(self, request)


@fault("abort_posts")
class AbortPosts(Model):
    def post(self, qp: Qp, requests: Sequence[WorkRequest], *, abort: bool = False) -> int:
        given = super().post(qp, requests)
        return 0 if abort else given


@fault("failure_posts")
class FailurePosts(Model):
    def post(self, qp: Qp, requests: Sequence[WorkRequest], *, abort: bool = False) -> int:
        given = super().post(qp, requests, abort=abort)
        if given:
            for end in range(len(requests) - 1, 0, -1):
                if not super().post(qp, requests[:end]):
                    break
        return given


@fault("failure_unreported")
class FailureUnreported(Model):
    def post(self, qp: Qp, requests: Sequence[WorkRequest], *, abort: bool = False) -> int:
        super().post(qp, requests, abort=abort)
        return 0


@fault("reset_not_enough")
class ResetNotEnough(Execution):
    def _configure(self, queue: Queue, work: Configuration) -> Outcome:
        state = work.mkey.state
        unknown = state is not None and state.unknown
        outcome = super()._configure(queue, work)
        if state is not None and work.reset:
            state.unknown = unknown
        return outcome


# mlx5dv_mkey_check ---------------------------------------------------------------------------


@fault("check_keeps")
class CheckKeeps(Model):
    def mkey_check(self, mkey: Mkey) -> SignatureError | None:
        found = self._mkeys.get(mkey.handle)
        kept = found.state.error if found is not None and found.state is not None else None
        told = super().mkey_check(mkey)
        if found is not None and found.state is not None:
            found.state.error = kept
        return told
