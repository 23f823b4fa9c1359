"""Faults of a driver that builds another request, or makes another object, than it was asked for."""

from __future__ import annotations

import errno
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from mkeyspec.abi.constants import Access, MkeyError, SendFlag
from mkeyspec.device.model.configuration import ACCESS_BITS, Builder, BuilderRefusal, Configuration
from mkeyspec.device.model.data_path import Movement, TranslatedSge
from mkeyspec.device.model.device import Model
from mkeyspec.device.model.key import IndirectKey, ListLayout, Region
from mkeyspec.device.model.queue import Queue
from mkeyspec.device.model.section import DriverSection
from mkeyspec.device.protocol import (
    Configure,
    Interleaved,
    Memcpy,
    Mkey,
    MrInterleaved,
    MrList,
    Pd,
    Qp,
    QpAttributes,
    Send,
    SetCrypto,
    SetInterleaved,
    SetList,
    SetSignature,
    Setter,
    Side,
    SigBlockAttr,
    SignatureError,
    WorkRequest,
)
from mkeyspec.sabotage.fault import fault

READ, WRITE = int(Access.REMOTE_READ), int(Access.REMOTE_WRITE)


@fault("remote_rights_one_of_two")
class RemoteRightsOneOfTwo(Builder):
    def _access(self, configuration: Configuration, flags: int) -> None:
        Builder._access(self, configuration, flags)
        if configuration.access is not None and not (READ | WRITE) & ~flags:
            configuration.access &= ~WRITE


@fault("access_granted")
class AccessGranted(Builder):
    def begin(
        self, mkey: IndirectKey, wr_id: int, flags: int, lkey: int, num_setters: int, conf_flags: int, comp_mask: int
    ) -> Configuration:
        made = Builder.begin(self, mkey, wr_id, flags, lkey, num_setters, conf_flags, comp_mask)
        made.access = ACCESS_BITS & self.profile.access_supported
        return made

    def _access(self, configuration: Configuration, flags: int) -> None:
        configuration.access = None
        Builder._access(self, configuration, flags)


@fault("wire_by_the_type_of_memory")
class WireByTheTypeOfMemory(Builder):
    def _signature(self, configuration: Configuration, attr: SigBlockAttr) -> None:
        if attr.mem is not None and attr.wire is not None and attr.mem.sig_type != attr.wire.sig_type:
            attr = replace(attr, wire=replace(attr.wire, sig_type=attr.mem.sig_type, sig=attr.mem.sig))
        Builder._signature(self, configuration, attr)


@fault("reset_discards_setter")
class ResetDiscardsSetter(Builder):
    def _signature(self, configuration: Configuration, attr: SigBlockAttr) -> None:
        Builder._signature(self, configuration, attr)
        if configuration.reset:
            configuration.signature = None


@fault("failed_attributes_stay")
class FailedAttributesStay(Model):
    """What a section set that failed, or was aborted, counts instead of what the next one sets."""

    def post(self, qp: Qp, requests: Sequence[WorkRequest], *, abort: bool = False) -> int:
        stale: dict[int, dict[type, Setter]] = self.__dict__.setdefault("stale", {})
        given = [_with(one, stale) for one in requests]
        found = super().post(qp, given, abort=abort)
        if found or abort:
            for one in requests:
                if isinstance(one, Configure):
                    stale[one.mkey.handle] = {
                        setter.__class__: setter for setter in one.setters if isinstance(setter, _STALE)
                    }
        return found


_STALE = (SetSignature, SetCrypto)


def _with(request: WorkRequest, stale: dict[int, dict[type, Setter]]) -> WorkRequest:
    """The request with the setters that its key has from a section that failed."""
    if not isinstance(request, Configure) or not any(isinstance(setter, _STALE) for setter in request.setters):
        return request
    old = stale.pop(request.mkey.handle, {})
    return replace(request, setters=tuple(old.get(setter.__class__, setter) for setter in request.setters))


@fault("key_of_one_qp")
class KeyOfOneQp(Model):
    """A key that a QP has configured can't be configured on another one."""

    def post(self, qp: Qp, requests: Sequence[WorkRequest], *, abort: bool = False) -> int:
        owners: dict[int, int] = self.__dict__.setdefault("owners", {})
        for one in requests:
            if isinstance(one, Configure) and owners.setdefault(one.mkey.handle, qp.handle) != qp.handle:
                return errno.EINVAL
        return super().post(qp, requests, abort=abort)


@fault("scatter_to_cqe")
class ScatterToCqe(Movement):
    """What is no longer than a CQE's inline data is taken for data of the completion."""

    def place(self, queue: Queue, key: int, addr: int, length: int, right: int, write: bool) -> TranslatedSge:
        found = super().place(queue, key, addr, length, right, write)
        if write and length <= 32 and isinstance(self.tables[queue.side].find(key), IndirectKey):
            return replace(found, pieces=[np.zeros(found.memory, np.uint8)])
        return found


@fault("access_zero_grants")
class AccessZeroGrants(Builder):
    def _access(self, configuration: Configuration, flags: int) -> None:
        Builder._access(self, configuration, flags or ACCESS_BITS & self.profile.access_supported)


@fault("bytes_count_12_bits")
class BytesCount12Bits(Builder):
    def _interleaved(self, configuration: Configuration, repeat: int, given: tuple[Interleaved, ...]) -> None:
        cut = tuple(replace(one, bytes_count=one.bytes_count & 0xFFF) for one in given)
        Builder._interleaved(self, configuration, repeat, cut)


@fault("crypto_between_two_signatures")
class CryptoBetweenTwoSignatures(Builder):
    """The rule is checked after the last setter, when all of them have been taken."""

    def call(self, configuration: Configuration, setter: Setter) -> None:
        try:
            Builder.call(self, configuration, setter)
        except BuilderRefusal as broken:
            if broken.rule != "crypto_order_domains":
                raise


@fault("mr_access_all")
class MrAccessAll(DriverSection):
    def _configure(self, request: Configure | MrList | MrInterleaved) -> None:
        if not isinstance(request, Configure):
            request = replace(request, access_flags=ACCESS_BITS & self.builder.profile.access_supported)
        DriverSection._configure(self, request)


@fault("fence_lost")
class FenceLost(DriverSection):
    """A fenced request is carried out before the memcpy that it was to wait for."""

    def build(self, requests: Sequence[WorkRequest]) -> None:
        DriverSection.build(self, requests)
        for at in range(1, len(self.posted)):
            before, fenced = self.posted[at - 1], self.posted[at]
            if isinstance(before, Memcpy) and fenced.flags & int(SendFlag.FENCE):
                self.posted[at - 1 : at + 1] = [fenced, before]


@fault("user_data_inlined")
class UserDataInlined(Model):
    """What was in the memory of a list when it was configured is sent, whatever is there now."""

    def post(self, qp: Qp, requests: Sequence[WorkRequest], *, abort: bool = False) -> int:
        inlined: dict[int, bytes] = self.__dict__.setdefault("inlined", {})
        table = self.tables[qp.side].keys
        regions = {key: found for key, found in table.items() if isinstance(found, Region)}
        now = {}
        if all(isinstance(one, Send) for one in requests):
            for key, data in inlined.items():
                if key in regions and len(data) == len(regions[key].data):
                    now[key] = regions[key].data.tobytes()
                    regions[key].data[:] = np.frombuffer(data, np.uint8)
        found = super().post(qp, requests, abort=abort)
        for key, data in now.items():
            regions[key].data[:] = np.frombuffer(data, np.uint8)
        if any(isinstance(one, Configure) for one in requests):
            inlined.update({key: region.data.tobytes() for key, region in regions.items()})
        return found


@fault("entry_lkey_by_address")
class EntryLkeyByAddress(Model):
    """The lkey of an entry is looked up by its address."""

    def post(self, qp: Qp, requests: Sequence[WorkRequest], *, abort: bool = False) -> int:
        regions = [one for one in self.tables[qp.side].keys.values() if isinstance(one, Region)]
        return super().post(qp, [_looked_up(one, regions) for one in requests], abort=abort)


def _looked_up(request: WorkRequest, regions: Sequence[Region]) -> WorkRequest:
    if not isinstance(request, Configure):
        return request
    setters: list[Setter] = []
    for setter in request.setters:
        if isinstance(setter, SetList):
            sges = tuple(replace(one, lkey=_lkey(regions, one.addr, one.lkey)) for one in setter.sges)
            setters.append(replace(setter, sges=sges))
        elif isinstance(setter, SetInterleaved):
            entries = tuple(replace(one, lkey=_lkey(regions, one.addr, one.lkey)) for one in setter.entries)
            setters.append(replace(setter, entries=entries))
        else:
            setters.append(setter)
    return replace(request, setters=tuple(setters))


def _lkey(regions: Sequence[Region], addr: int, given: int) -> int:
    return next((one.key for one in regions if one.addr <= addr < one.addr + len(one.data)), given)


# What is created -----------------------------------------------------------------------------


@fault("mkey_ready_at_creation")
class MkeyReadyAtCreation(Model):
    """A new mkey is a page of the driver's, open to everybody."""

    def mkey(self, side: Side, *, create_flags: int, max_entries: int, pd: Pd | None = None) -> Mkey:
        made = super().mkey(side, create_flags=create_flags, max_entries=max_entries, pd=pd)
        page = self.memory(side, 4096, access=ACCESS_BITS, pd=pd)
        found = self._mkeys[made.handle]
        found.free = False
        found.access = ACCESS_BITS
        found.layout = ListLayout(((page.lkey, page.addr, page.length),), page.length)
        return made


@fault("mkey_pd_of_its_own")
class MkeyPdOfItsOwn(Model):
    def mkey(self, side: Side, *, create_flags: int, max_entries: int, pd: Pd | None = None) -> Mkey:
        return super().mkey(side, create_flags=create_flags, max_entries=max_entries, pd=pd or self.pd(side))


@fault("streams_unchecked")
class StreamsUnchecked(Model):
    def _look_at(self, attributes: QpAttributes) -> None:
        super()._look_at(replace(attributes, streams=min(attributes.streams, 1)))


@fault("error_type_reftag")
class ErrorTypeReftag(Model):
    def mkey_check(self, mkey: Mkey) -> SignatureError | None:
        found = super().mkey_check(mkey)
        return None if found is None else replace(found, type=int(MkeyError.BAD_REFTAG))
