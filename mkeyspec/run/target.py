"""What a step reaches: its parts with the addresses, keys and lengths that it gives the device.

A key decides where a request goes, whatever the text names: `write a to w, but remote_addr v.addr, but rkey v.rkey`
writes to `v`. So a part that is set wrong (`but`) stands for a part of what its key is of. What asks which bytes a step
may reach is given the step with these parts. A key of nothing reaches nothing: SGEs from there on are left out, and any
other part is `NOWHERE`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import NamedTuple, Union

from mkeyspec import plan
from mkeyspec.device.protocol import Side
from mkeyspec.run.buffer import inside
from mkeyspec.run.case_state import CaseState, Misfit
from mkeyspec.run.key_owner import Owner, key_of, owner_of
from mkeyspec.run.mkey_state import MkeyState
from mkeyspec.run.moved import NOWHERE
from mkeyspec.value.bytestring import slice_of
from mkeyspec.value.layout import Chunk, Interleaved, Layout, List, Part, Repeated, as_often
from mkeyspec.value.live import lives_in

NEAR = ("addr", "length", "lkey", "tag")
"""Members of the first SGE, or of the part of a short form."""
FAR = ("remote_addr", "rkey")
TAG_BITS = 8
"""Of a key (mlx5dv_create_mkey(3), UPDATE_TAG)."""

Numbers = dict[str, int]
"""Overrides, evaluated."""

Moving = Union[plan.Send, plan.Write, plan.Read, plan.FetchAdd, plan.CompareSwap, plan.Memcpy]


class Place(NamedTuple):
    """Where the device is told to go."""

    addr: int
    length: int
    key: int


def of(step: plan.Step, state: CaseState) -> plan.Step:
    """The step with what it reaches; the same one where nothing is set wrong, and no key of it is a destroyed mkey's.
    Raises Beyond, Misfit, and what reading a number raises."""
    match step:
        case plan.Post():
            targets = _Targets(state, any_key=plan.is_undecided(step.claim))
            requests = tuple([targets.request(request) for request in step.requests])
            return replace(step, requests=requests) if requests != step.requests else step
        case plan.Recv():
            targets = _Targets(state)
            return replace(step, into=targets.parts(step.into, {})) if targets.mean(step.into, step.options) else step
        case plan.Transmit() | plan.Receive():
            targets = _Targets(state, any_key=plan.is_undecided(step.claim))
            return _short_form(step, targets) if targets.mean((step.part,), step.options) else step
        case _:
            return step


def _short_form(step: plan.Transmit | plan.Receive, targets: _Targets) -> plan.Step:
    remote = step.end().use.remote
    but = targets.numbers(step.options.but)
    length = step.part.length if isinstance(step, plan.Transmit) else step.data.length
    place = targets.place(replace(step.part, length=length), remote)
    key = but.get("rkey" if remote else "lkey", _tagged(place.key, but))
    place = Place(but.get("addr", place.addr), but.get("length", place.length), key)
    part = targets.part(step.part, place, remote)
    options = _sound(step.options)
    match step:
        case plan.Receive() if step.by in ("recv", "read") and place.length < step.data.length:
            data = slice_of(step.data, 0, place.length)
            return replace(step, part=part, data=data, options=options)
        case _:
            return replace(step, part=part, options=options)


class _Targets:
    """The parts of requests."""

    def __init__(self, state: CaseState, *, any_key: bool = False) -> None:
        """`any_key`: a key may be of an object that the request does not name."""
        self.state = state
        self.any_key = any_key
        self.names: frozenset[str] | None = None
        """The objects that the request at hand names; None: it may mean any."""
        self.gone = [mkey for mkey in state.mkeys.values() if mkey.destroyed]

    def mean(self, parts: Sequence[Part], options: plan.Options) -> bool:
        """Note what a request with these parts names. Whether one of its keys may be that of something else: it is set
        wrong, or a destroyed mkey's. Raises Misfit if the layout of a key has an entry whose key was given again."""
        given = [*options.but, *(one for part in parts for one in part.but)]
        if not given and not self.gone:
            return False
        lives = [live for _, value in given for live in lives_in(value)]
        known = all(live.subject in self.state.buffers or live.subject in self.state.mkeys for live in lives)
        named = {part.name for part in parts} | {live.subject for live in lives}
        certain = known and not self.any_key and not any("@" in live.member for live in lives)
        self.names = frozenset(named) if certain else None
        mkeys = [self.state.mkeys[part.name] for part in parts if part.name in self.state.mkeys]
        if self.gone and certain:
            self._look_inside(mkeys)
        return bool(given) or any(mkey.destroyed for mkey in mkeys)

    def _look_inside(self, mkeys: Sequence[MkeyState]) -> None:
        """The layouts of these keys, and those of the keys in them."""
        seen = [*mkeys]
        for mkey in seen:
            seen += [one for one in mkey.entries if one not in seen]
        for mkey in seen[len(mkeys) :]:
            if mkey.destroyed:
                self._meant(mkey.name, mkey.handle.lkey, mkey.handle.side, False, {mkey.name})

    def _meant(self, named: str, key: int, side: Side, remote: bool, names: Collection[str]) -> None:
        """Misfit if a key, given in the place of that of `named`, is of an object of that side which is not in `names`.
        Buffers that the rig has made are none."""
        owner = owner_of(self.state, key, side, remote=remote, named=named)
        lives = owner is not None and owner.exact and owner.lives
        found = [owner.name] if owner is not None and lives and owner.name not in names else []
        found += [one.name for one in self.state.fresh if one.side == side and key == key_of(one.memory, remote=remote)]
        if found:
            kind = "rkey" if remote else "lkey"
            gone = next((mkey.name for mkey in self.gone if key == key_of(mkey.handle, remote=remote)), None)
            why = f"`{gone}` had it before, and is destroyed" if gone else "the statement means another object"
            raise Misfit(f"`{found[0]}` has the {kind} {key:#x}: {why}")

    def numbers(self, but: plan.Overrides) -> Numbers:
        return {member: self.state.evaluate(value) for member, value in but}

    # Requests --------------------------------------------------------------------------------

    def request(self, request: plan.Wr) -> plan.Wr:
        match request:
            case plan.Configure():
                return self._configured(request)
            case plan.MrList() | plan.MrInterleaved():
                self.mean(request.layout.targets(), request.options)
                layout = self.layout(request.layout, self._turns(request.options.but))
                return request if layout is request.layout else replace(request, layout=layout)
            case plan.Send() | plan.Write() | plan.Read() | plan.FetchAdd() | plan.CompareSwap() | plan.Memcpy():
                wrong = self.mean([end.part for end in request.ends()], request.options)
                return self._moving(request) if wrong else request
            case _:
                return request

    def _moving(self, request: Moving) -> plan.Wr:
        but = self.numbers(request.options.but)
        match request:
            case plan.Memcpy():
                return self._memcpy(request, but)
            case plan.Send():
                return replace(request, data=self.parts(request.data, but), options=_sound(request.options))
            case plan.Write():
                data, length = self.parts(request.data, but), self._length(request.data, but)
                to = self.far(request.to, request.data, but, length)
                return replace(request, data=data, to=to, options=_sound(request.options))
            case plan.Read():
                into, length = self.parts(request.into, but), self._length(request.into, but)
                source = self.far(request.source, request.into, but, length)
                return replace(request, into=into, source=source, options=_sound(request.options))
            case _:
                (place,) = self._near((request.into,), but)
                answer = self.part(request.into, place, False)
                source = self.far(request.source, (request.into,), but, plan.ATOMIC_BYTES)
                return replace(request, into=answer, source=source, options=_sound(request.options))

    def _memcpy(self, request: plan.Memcpy, but: Numbers) -> plan.Memcpy:
        source, to = self.place(request.source, False), self.place(request.to, False)
        length = but.get("length", source.length)
        places = ((request.source, source), (request.to, to))
        source_part, to_part = [self.part(part, place._replace(length=length), False) for part, place in places]
        return replace(request, source=source_part, to=to_part, options=_sound(request.options))

    def parts(self, parts: Sequence[Part], but: Numbers) -> tuple[Part, ...]:
        """Local parts with the overrides of a request, which are of its first SGE: those before a key of nothing."""
        found: list[Part] = []
        for part, place in zip(parts, self._near(parts, but), strict=True):
            one = self.part(part, place, False)
            if one.name == NOWHERE and place.length:
                break
            found.append(one)
        return tuple(found)

    def _near(self, parts: Sequence[Part], but: Numbers) -> list[Place]:
        places = [self.place(part, False) for part in parts]
        if places and any(member in but for member in NEAR):
            first = places[0]
            key = _tagged(first.key, but) if self._names_mkey(parts) else first.key
            places[0] = Place(but.get("addr", first.addr), but.get("length", first.length), but.get("lkey", key))
        return places

    def _length(self, parts: Sequence[Part], but: Numbers) -> int:
        return sum(place.length for place in self._near(parts, but))

    def far(self, part: Part, near: Sequence[Part], but: Numbers, length: int) -> Part:
        """The part at the other end of the parts `near`, of this length. A tag is of the local key, if that is an
        mkey's."""
        place = self.place(part, True)
        key = place.key if self._names_mkey(near) or not self._names_mkey((part,)) else _tagged(place.key, but)
        return self.part(part, Place(but.get("remote_addr", place.addr), length, but.get("rkey", key)), True)

    def _names_mkey(self, parts: Sequence[Part]) -> bool:
        return any(part.name in self.state.mkeys for part in parts)

    # Layouts ---------------------------------------------------------------------------------

    def _configured(self, request: plan.Configure) -> plan.Configure:
        setters: list[plan.Setter] = []
        for setter in request.setters:
            match setter:
                case plan.SetLayout():
                    self.mean(setter.layout.targets(), request.options)
                    layout = self.layout(setter.layout, self._turns(setter.but))
                    setters.append(setter if layout is setter.layout else replace(setter, layout=layout))
                case _:
                    setters.append(setter)
        changed = any(new is not old for new, old in zip(setters, request.setters, strict=True))
        return replace(request, setters=tuple(setters)) if changed else request

    def _turns(self, but: plan.Overrides) -> int | None:
        return self.numbers(but).get("repeat_count") if but else None

    def layout(self, layout: Layout, turns: int | None) -> Layout:
        if turns is None and not any(part.but for part in layout.targets()):
            return layout
        match layout:
            case List():
                return replace(layout, parts=tuple([self._entry(entry) for entry in layout.parts]))
            case Interleaved():
                entries = tuple([self._chunk(entry) for entry in layout.entries])
                return replace(layout, entries=entries, repeat=layout.repeat if turns is None else turns)

    def _entry(self, entry: Part | Repeated[Part]) -> Part | Repeated[Part]:
        part = entry.target()
        if not part.but:
            return entry
        return as_often(entry, self.part(part, self.place(part, False), False))

    def _chunk(self, entry: Chunk | Repeated[Chunk]) -> Chunk | Repeated[Chunk]:
        chunk = entry.bare()
        part = chunk.part
        if not part.but:
            return entry
        chunk = replace(chunk, part=self.part(part, self.place(replace(part, length=0), False), False, cut=False))
        return as_often(entry, chunk)

    # Places ----------------------------------------------------------------------------------

    def place(self, part: Part, remote: bool) -> Place:
        """Where a part is, with its own overrides."""
        state = self.state
        start, length = state.evaluate(part.start), state.evaluate(part.length)
        if part.name in state.buffers:
            buffer = state.buffers[part.name]
            addr, key = buffer.addr + start, key_of(buffer.memory, remote=remote)
        else:
            handle = state.mkeys[part.name].handle
            addr, key = start, key_of(handle, remote=remote)
        but = self.numbers(part.but)
        key = but.get("rkey" if remote else "lkey", _tagged(key, but))
        return Place(but.get("addr", addr), but.get("length", length), key)

    def part(self, named: Part, place: Place, remote: bool, *, cut: bool = True) -> Part:
        """The part of the case's object that is there, the one that is named before others. A key of another tag alone
        is of the same object, for a device that does not look at it. `cut` False: of an entry that its layout gives a
        length."""
        state = self.state
        side = state.buffers[named.name].side if named.name in state.buffers else state.mkeys[named.name].handle.side
        if self.names is not None:
            self._meant(named.name, place.key, side, remote, self.names)
        owner = owner_of(state, place.key, side, remote=remote, named=named.name)
        if owner is None:
            usual = self.place(Part(named.name, 0, 0), remote).key
            if (place.key ^ usual) >> TAG_BITS:
                return Part(NOWHERE, 0, place.length)
            owner = Owner(named.name, False)
        if owner.name not in state.buffers:
            return Part(owner.name, place.addr, place.length)
        buffer = state.buffers[owner.name]
        if owner.exact and owner.name != named.name and cut:
            inside(buffer, place.addr, place.length, meant=True)
        start = place.addr - buffer.addr
        if not cut:
            return Part(owner.name if 0 <= start <= buffer.length else NOWHERE, max(start, 0), 0)
        if not 0 <= start < buffer.length:
            return Part(owner.name, 0, 0)
        # What is read behind its end, in the guard or behind that, may be written elsewhere before the request fails.
        return Part(owner.name, start, place.length)


def _tagged(key: int, but: Numbers) -> int:
    return key >> TAG_BITS << TAG_BITS | but["tag"] if "tag" in but else key


def _sound(options: plan.Options) -> plan.Options:
    """Options without the overrides of addresses, keys and lengths."""
    return replace(options, but=tuple(one for one in options.but if one[0] not in (*NEAR, *FAR)))
