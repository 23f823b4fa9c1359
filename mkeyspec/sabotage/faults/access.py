"""Faults of access rights, protection domains, keys, configurations and invalidation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from mkeyspec.abi.constants import Access
from mkeyspec.device.model.configuration import M8, M32, Configuration
from mkeyspec.device.model.execution import Execution, Outcome
from mkeyspec.device.model.key import (
    LOCAL_WRITE,
    Bytes,
    IndirectKey,
    Key,
    KeyTable,
    ListLayout,
    Piece,
    StridedLayout,
    Violation,
)
from mkeyspec.device.model.queue import Queue
from mkeyspec.device.model.section import Work
from mkeyspec.device.model.transfer import SUCCESS, Transfer
from mkeyspec.device.protocol import LocalInv, Send, Write
from mkeyspec.sabotage.fault import fault

REMOTE_WRITE, REMOTE_READ, REMOTE_ATOMIC = (
    int(flag) for flag in (Access.REMOTE_WRITE, Access.REMOTE_READ, Access.REMOTE_ATOMIC)
)


def _right(name: str, change: Callable[[Key, int], int]) -> None:
    """The right that a key is claimed with, changed."""

    @fault(name)
    class Mutant(KeyTable):
        def claim(self, pd: int, key: int, right: int) -> Key:
            return super().claim(pd, key, change(self.find(key), right))


def _local(found: Key, right: int) -> int:
    return right & ~LOCAL_WRITE if isinstance(found, IndirectKey) else right


def _swapped(found: Key, right: int) -> int:
    if right not in (REMOTE_READ, REMOTE_WRITE) or not isinstance(found, IndirectKey):
        return right
    return right ^ (REMOTE_READ | REMOTE_WRITE)


_right("local_write_unchecked", _local)
_right("remote_write_unchecked", lambda found, right: right & ~REMOTE_WRITE)
_right("remote_read_unchecked", lambda found, right: right & ~REMOTE_READ)
_right("remote_atomic_unchecked", lambda found, right: right & ~REMOTE_ATOMIC)
_right("remote_rights_swapped", _swapped)


class _Entries(KeyTable):
    """Entries of mkeys looked at one by one."""

    def _columns(
        self, pd: int, layout: StridedLayout, turn: int, rows: int, write: bool
    ) -> tuple[tuple[int, Bytes], ...] | None:
        return None


@fault("entry_rights_unchecked")
class EntryRightsUnchecked(_Entries):
    def _reach_entry(
        self, pd: int, key: int, addr: int, length: int, write: bool, pieces: list[Piece], depth: int
    ) -> None:
        self.reach(self.claim(pd, key, 0), addr, length, write, pieces, depth + 1)


@fault("entry_pd_unchecked")
class EntryPdUnchecked(_Entries):
    def _reach_entry(
        self, pd: int, key: int, addr: int, length: int, write: bool, pieces: list[Piece], depth: int
    ) -> None:
        super()._reach_entry(self.find(key).pd, key, addr, length, write, pieces, depth)


@fault("pd_unchecked")
class PdUnchecked(_Entries):
    def claim(self, pd: int, key: int, right: int) -> Key:
        return super().claim(self.find(key).pd, key, right)

    def _reach_entry(
        self, pd: int, key: int, addr: int, length: int, write: bool, pieces: list[Piece], depth: int
    ) -> None:
        if self.find(key).pd != pd:
            raise Violation("foreign_pd")
        super()._reach_entry(pd, key, addr, length, write, pieces, depth)


@fault("tag_unchecked")
class TagUnchecked(KeyTable):
    def find(self, key: int) -> Key:
        found = self.keys.get(key >> 8)
        if found is None:
            raise Violation("bad_lkey")
        return found


@fault("refused_write_lands")
class RefusedWriteLands(Transfer):
    def write(self, queue: Queue, request: Write) -> tuple[str, int]:
        status, count = super().write(queue, request)
        length = sum(sge.length for sge in request.sges)
        if status == self.profile.status_remote and length and queue.peer is not None:
            _, places = self._sources(queue, request.sges, length)
            try:
                target = self.movement.place(queue.peer, request.rkey, request.remote_addr, length, 0, True)
                self.movement.absorb(queue.peer, [target], self.movement.emit(queue, places))
            except Violation:
                pass
        return status, count


# Configurations ------------------------------------------------------------------------------


def _configuration(name: str, change: Callable[[Configuration, IndirectKey], None]) -> None:
    """`change` changes what a work request will do to its mkey, or the mkey, before it is carried out."""

    @fault(name)
    class Mutant(Execution):
        def _configure(self, queue: Queue, work: Configuration) -> Outcome:
            change(work, work.mkey)
            return super()._configure(queue, work)


def _tag_kept(work: Configuration, mkey: IndirectKey) -> None:
    work.tag = mkey.key & M8


def _access_ored(work: Configuration, mkey: IndirectKey) -> None:
    if work.access is not None:
        work.access |= mkey.access


def _access_kept(work: Configuration, mkey: IndirectKey) -> None:
    if not mkey.free and mkey.access:
        work.access = None


def _access_lost(work: Configuration, mkey: IndirectKey) -> None:
    work.access = work.access or 0


def _reset_ignored(work: Configuration, mkey: IndirectKey) -> None:
    work.reset = False


def _reset_clears_layout(work: Configuration, mkey: IndirectKey) -> None:
    if work.reset:
        mkey.layout = None


def _reset_clears_access(work: Configuration, mkey: IndirectKey) -> None:
    if work.reset:
        mkey.access = 0


def _signature_lost(work: Configuration, mkey: IndirectKey) -> None:
    if work.signature is None:
        mkey.signature = None


def _signature_kept(work: Configuration, mkey: IndirectKey) -> None:
    if mkey.signature is not None and not work.reset:
        work.signature = None


def _memory_domain_kept(work: Configuration, mkey: IndirectKey) -> None:
    if work.signature is not None and work.signature.mem is None and mkey.signature is not None:
        work.signature = replace(work.signature, mem=mkey.signature.mem)


def _check_mask_kept(work: Configuration, mkey: IndirectKey) -> None:
    if work.signature is not None and mkey.signature is not None:
        work.signature = replace(work.signature, check_mask=mkey.signature.check_mask)


def _layout_lost(work: Configuration, mkey: IndirectKey) -> None:
    if work.layout is None:
        mkey.layout = None


def _layout_kept(work: Configuration, mkey: IndirectKey) -> None:
    if mkey.layout is not None:
        work.layout = None


def _list_after_interleaved_kept(work: Configuration, mkey: IndirectKey) -> None:
    if isinstance(work.layout, ListLayout) and isinstance(mkey.layout, StridedLayout):
        work.layout = None


def _interleaved_after_list_kept(work: Configuration, mkey: IndirectKey) -> None:
    if isinstance(work.layout, StridedLayout) and isinstance(mkey.layout, ListLayout):
        work.layout = None


def _no_setters_clears(work: Configuration, mkey: IndirectKey) -> None:
    if not work.setters:
        mkey.layout = mkey.signature = None


def _crypto_kept(work: Configuration, mkey: IndirectKey) -> None:
    if mkey.crypto is not None:
        work.crypto = None


def _crypto_lost(work: Configuration, mkey: IndirectKey) -> None:
    if work.crypto is None:
        mkey.crypto = None


_configuration("tag_kept", _tag_kept)
_configuration("access_ored", _access_ored)
_configuration("access_kept", _access_kept)
_configuration("access_lost", _access_lost)
_configuration("reset_ignored", _reset_ignored)
_configuration("reset_clears_layout", _reset_clears_layout)
_configuration("reset_clears_access", _reset_clears_access)
_configuration("signature_lost", _signature_lost)
_configuration("signature_kept", _signature_kept)
_configuration("memory_domain_kept", _memory_domain_kept)
_configuration("check_mask_kept", _check_mask_kept)
_configuration("layout_lost", _layout_lost)
_configuration("layout_kept", _layout_kept)
_configuration("list_after_interleaved_kept", _list_after_interleaved_kept)
_configuration("interleaved_after_list_kept", _interleaved_after_list_kept)
_configuration("no_setters_clears", _no_setters_clears)
_configuration("crypto_kept", _crypto_kept)
_configuration("crypto_lost", _crypto_lost)


@fault("access_late")
class AccessLate(Execution):
    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.late: tuple[IndirectKey, int] | None = None

    def _configure(self, queue: Queue, work: Configuration) -> Outcome:
        if self.late is not None and self.late[0] is work.mkey:
            work.mkey.access = self.late[1]
        self.late = None
        if work.access is not None:
            self.late = work.mkey, work.access
            work.access = None
        return super()._configure(queue, work)


@fault("configuration_ignored")
class ConfigurationIgnored(Execution):
    def _configure(self, queue: Queue, work: Configuration) -> Outcome:
        unknown = work.mkey.state is not None and work.mkey.state.unknown
        if not work.mkey.free and not unknown and work.mkey.layout is not None:
            return SUCCESS, 0
        return super()._configure(queue, work)


@fault("configuration_late")
class ConfigurationLate(Execution):
    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.late: tuple[Queue, Configuration] | None = None

    def _configure(self, queue: Queue, work: Configuration) -> Outcome:
        self.late = queue, work
        return SUCCESS, 0

    def _run(self, queue: Queue, work: Work, cancelled: bool = False) -> None:
        late, self.late = self.late, None
        super()._run(queue, work, cancelled)
        if late is not None:
            super()._configure(*late)


# Invalidation --------------------------------------------------------------------------------


def _restore(mkey: IndirectKey, before: IndirectKey) -> None:
    mkey.free, mkey.layout, mkey.signature = before.free, before.layout, before.signature
    mkey.access, mkey.crypto = before.access, before.crypto


@fault("local_inv_ignored")
class LocalInvIgnored(Execution):
    def _local_inv(self, queue: Queue, work: LocalInv) -> Outcome:
        found = self.transfer.tables[queue.side].keys.get((work.rkey & M32) >> 8)
        before = replace(found) if isinstance(found, IndirectKey) else None
        outcome = super()._local_inv(queue, work)
        if isinstance(found, IndirectKey) and before is not None:
            _restore(found, before)
        return outcome


@fault("local_inv_for_good")
class LocalInvForGood(Execution):
    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.dead: list[IndirectKey] = []

    def _local_inv(self, queue: Queue, work: LocalInv) -> Outcome:
        outcome = super()._local_inv(queue, work)
        found = self.transfer.tables[queue.side].keys.get((work.rkey & M32) >> 8)
        if outcome[0] == SUCCESS and isinstance(found, IndirectKey):
            self.dead.append(found)
        return outcome

    def _configure(self, queue: Queue, work: Configuration) -> Outcome:
        outcome = super()._configure(queue, work)
        if any(work.mkey is one for one in self.dead):
            work.mkey.free = True
        return outcome


@fault("remote_inv_ignored")
class RemoteInvIgnored(Transfer):
    def send(self, queue: Queue, request: Send) -> tuple[str, int]:
        found = None
        if request.invalidate_rkey is not None and queue.peer is not None:
            found = self.tables[queue.peer.side].keys.get((request.invalidate_rkey & M32) >> 8)
        before = replace(found) if isinstance(found, IndirectKey) else None
        outcome = super().send(queue, request)
        if isinstance(found, IndirectKey) and before is not None:
            _restore(found, before)
        return outcome


@fault("remote_inv_unasked")
class RemoteInvUnasked(Transfer):
    def invalidable(self, queue: Queue, key: int) -> IndirectKey:
        found = self.tables[queue.side].claim(queue.pd, key, 0)
        if not isinstance(found, IndirectKey):
            raise Violation("remote_invalidate_flag")
        return found
