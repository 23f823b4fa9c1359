"""Observers of the parts that stand for the driver: calls, sections, builders (see `observers.py`)."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

from mkeyspec.device.model.configuration import BuilderRefusal, Configuration
from mkeyspec.device.model.key import IndirectKey, Layout, ListLayout, StridedLayout
from mkeyspec.device.model.queue import Queue
from mkeyspec.device.model.section import Work
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
    Setter,
    Sge,
    Side,
    SigBlockAttr,
    SignatureError,
    StraySetter,
    WorkRequest,
)
from mkeyspec.sabotage.conditions.history import Setting
from mkeyspec.sabotage.conditions.moment import Use
from mkeyspec.sabotage.conditions.observer import Observer, operation_of, size_of


class ModelObserver(Observer):
    _mkeys: dict[int, IndirectKey]
    _queues: dict[int, Queue]
    tables: Any

    def post(self, qp: Qp, requests: Sequence[WorkRequest], *, abort: bool = False) -> int:
        moment = self.moment
        moment.new_section()
        moment.new_message()
        moment.tables = self.tables
        moment.queue = self._queues.get(qp.handle)
        moment.wrs = sum(not isinstance(request, StraySetter) for request in requests)
        moment.building = True
        for request in requests:  # the section's first key stands for it
            if isinstance(request, (Configure, MrList, MrInterleaved)) and moment.setting is None:
                key = self._mkeys.get(request.mkey.handle)
                if key is not None:
                    moment.key, moment.setting = key, moment.history(key).next(request)
        moment.at("model.post")
        given: int = super().post(qp, requests, abort=abort)  # type: ignore[misc]
        if given or abort:
            for request in requests:
                if isinstance(request, (Configure, MrList, MrInterleaved)):
                    key = self._mkeys.get(request.mkey.handle)
                    if key is not None:
                        moment.history(key).event = "failure"
        return given

    def mkey(self, side: Side, *, create_flags: int, max_entries: int, pd: Pd | None = None) -> Mkey:
        moment = self.moment
        moment.new_section()
        moment.new_message()
        moment.create_flags, moment.max_entries, moment.end = create_flags, max_entries, side
        moment.at("model.mkey")
        made: Mkey = super().mkey(side, create_flags=create_flags, max_entries=max_entries, pd=pd)  # type: ignore[misc]
        moment.new_section()
        return made

    def retag(self, mkey: Mkey, tag: int) -> Mkey:
        key = self._mkeys.get(mkey.handle)
        if key is not None:
            self.moment.history(key).event = "retag"
        made: Mkey = super().retag(mkey, tag)  # type: ignore[misc]
        return made

    def mkey_check(self, mkey: Mkey) -> SignatureError | None:
        moment = self.moment
        moment.new_section()
        moment.new_message()
        moment.tables = self.tables
        key = moment.key = self._mkeys.get(mkey.handle)
        if key is not None:
            moment.use = Use(key, "local", 0, mkey.side)
        moment.at("model.mkey_check")
        found: SignatureError | None = super().mkey_check(mkey)  # type: ignore[misc]
        if found is not None and key is not None:
            moment.history(key).error = "read"
        return found

    def dct(self, key: int) -> int:
        self.moment.at("model.dct")
        made: int = super().dct(key)  # type: ignore[misc]
        return made

    def _look_at(self, attributes: QpAttributes) -> None:
        self.moment.new_section()
        self.moment.new_message()
        self.moment.attributes = attributes
        self.moment.at("model._look_at")
        super()._look_at(attributes)  # type: ignore[misc]

    def release(self, *, healthy: bool) -> None:
        super().release(healthy=healthy)  # type: ignore[misc]
        self.moment.clear()


class SectionObserver(Observer):
    queue: Queue
    posted: list[Work]
    find: Any

    def build(self, requests: Sequence[WorkRequest]) -> None:
        moment = self.moment
        self.places = {}
        at = 0
        for request in requests:
            if not isinstance(request, StraySetter):
                self.places[id(request)] = at
                at += 1
        moment.queue, moment.wrs = self.queue, at
        self.built: list[tuple[Any, Setting | None]] = []
        moment.at("section.build")
        super().build(requests)  # type: ignore[misc]
        built = iter(self.built)
        for work in self.posted:  # in the order of the requests, of which some may be left out
            for request, setting in built:
                if request.wr_id == work.wr_id:
                    moment.positions[id(work)] = work, self.places[id(request)], at
                    if setting is not None:
                        moment.settings[id(work)] = work, setting
                    break
        moment.building = False
        moment.setter = moment.setting = None

    def _begin(self, request: Any) -> None:
        moment = self.moment
        moment.new_message()
        moment.setting = moment.setter = None
        moment.wr, moment.flags = self.places.get(id(request)), request.flags
        moment.operation, moment.size = operation_of(request), size_of(request)
        if isinstance(request, (Configure, MrList, MrInterleaved)):
            key = self.find(request.mkey)
            if key is not None:
                moment.key, moment.setting = key, moment.history(key).next(request)
        self.built.append((request, moment.setting))

    def _configure(self, request: Configure | MrList | MrInterleaved) -> None:
        self._begin(request)
        super()._configure(request)  # type: ignore[misc]

    def _data(self, request: Any) -> None:
        self._begin(request)
        super()._data(request)  # type: ignore[misc]

    def _memcpy(self, request: Memcpy) -> None:
        self._begin(request)
        self.moment.at("section._memcpy")
        super()._memcpy(request)  # type: ignore[misc]

    def _raw(self, request: Any) -> None:
        self._begin(request)
        self.moment.raw = True
        super()._raw(request)  # type: ignore[misc]

    def _setter(self, setter: Setter) -> None:
        self.moment.setter = 0 if self.moment.setter is None else self.moment.setter + 1
        self.moment.at("section._setter")
        super()._setter(setter)  # type: ignore[misc]


class BuilderObserver(Observer):
    arithmetic: Any

    def begin(
        self, mkey: IndirectKey, wr_id: int, flags: int, lkey: int, num_setters: int, conf_flags: int, comp_mask: int
    ) -> Configuration:
        self.moment.at("builder.begin")
        made: Configuration = super().begin(  # type: ignore[misc]
            mkey, wr_id, flags, lkey, num_setters, conf_flags, comp_mask
        )
        return made

    def call(self, configuration: Configuration, setter: Setter) -> None:
        self.moment.at("builder.call")
        super().call(configuration, setter)  # type: ignore[misc]

    def _layout_is_new(self, configuration: Configuration, kind: type[Layout]) -> None:
        self.moment.at("builder._layout_is_new")
        super()._layout_is_new(configuration, kind)  # type: ignore[misc]

    def _access(self, configuration: Configuration, flags: int) -> None:
        self.moment.at("builder._access")
        super()._access(configuration, flags)  # type: ignore[misc]

    def _list(self, configuration: Configuration, sges: tuple[Sge, ...]) -> None:
        self.moment.layout = ListLayout(tuple((sge.lkey, sge.addr, sge.length) for sge in sges), 0)
        self.moment.at("builder._list")
        super()._list(configuration, sges)  # type: ignore[misc]

    def _interleaved(self, configuration: Configuration, repeat: int, given: tuple[Interleaved, ...]) -> None:
        entries = tuple((one.lkey, one.addr, one.bytes_count, one.bytes_count + one.bytes_skip) for one in given)
        self.moment.layout = StridedLayout(entries, repeat, 0, 0)
        self.moment.at("builder._interleaved")
        super()._interleaved(configuration, repeat, given)  # type: ignore[misc]

    def _signature(self, configuration: Configuration, attr: SigBlockAttr) -> None:
        moment = self.moment
        moment.signature = moment.domain = None
        with contextlib.suppress(KeyError, AttributeError, ValueError, BuilderRefusal):
            moment.signature = self.arithmetic.signature(attr)  # what is refused need not be one
        moment.at("builder._signature")
        super()._signature(configuration, attr)  # type: ignore[misc]

    def _crypto(self, configuration: Configuration, attr: Any) -> None:
        self.moment.at("builder._crypto")
        super()._crypto(configuration, attr)  # type: ignore[misc]
