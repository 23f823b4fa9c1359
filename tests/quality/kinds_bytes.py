"""Bytes of registered buffers that change by themselves: between steps, during a transfer, after a completion."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from mkeyspec.device.protocol import Atomic, Memcpy, Read, Send
from tests.quality.kind import AtBoundary, OnCall, Place, places
from tests.quality.subject import GUARD, Subject
from tests.quality.tap import Disturbance, Region, Tap

Offsets = Callable[[Subject, Region], list[int]]


def data(subject: Subject, region: Region) -> range:
    return range(GUARD, region.memory.length - GUARD)


def some(subject: Subject, offsets: range | list[int]) -> list[int]:
    """The first, the last, and one between."""
    if not offsets:
        return []
    return sorted({offsets[0], offsets[-1], subject.random.choice(offsets)})


def named_data(subject: Subject, region: Region) -> list[int]:
    return some(subject, data(subject, region)) if region.number in subject.names else []


def other_data(subject: Subject, region: Region) -> list[int]:
    return some(subject, data(subject, region)) if region.number not in subject.names else []


def before_data(subject: Subject, region: Region) -> list[int]:
    return some(subject, range(GUARD))


def after_data(subject: Subject, region: Region) -> list[int]:
    return some(subject, range(region.memory.length - GUARD, region.memory.length))


def in_gaps(subject: Subject, region: Region) -> list[int]:
    """Bytes of a buffer that no layout and no request names: between strides, beside parts, after the last block."""
    memory = subject.names.get(region.number)
    if memory is None:
        return []
    covered = bytearray(memory.length)
    for offset, length in subject.parts.get(memory.name, ()):
        covered[offset : offset + length] = b"\1" * len(covered[offset : offset + length])
    return some(subject, [GUARD + at for at, is_covered in enumerate(covered) if not is_covered])


WHERE: dict[str, tuple[str, Offsets]] = {
    "buffer": ("of a buffer of the case", named_data), "far_buffer": ("of a short form's far buffer", other_data),
    "guard_before": ("before a buffer's data", before_data), "guard_after": ("after a buffer's data", after_data),
    "gap": ("that no layout names", in_gaps),
}  # fmt: skip


def between(name: str, offsets: Offsets) -> Callable[[Subject], Iterator[Place]]:
    def found(subject: Subject) -> Iterator[Place]:
        for step in range(1, len(subject.steps) + 1):
            for region in subject.record.regions:
                if region.step >= step:
                    continue
                for offset in offsets(subject, region):
                    yield flipped(step, region, offset, partial(AtBoundary, step))

    return found


def flipped(step: int, region: Region, offset: int, make: Callable[[Callable[[Tap], object]], Disturbance]) -> Place:
    def act(tap: Tap) -> None:
        tap.flip(region.number, offset)

    name = f"buffer {region.number} ({region.memory.side}, step {region.step})"
    return Place(step, f"bit 0 of byte {offset - GUARD} of {name} is flipped", partial(make, act))


def after_post(number: int, act: Callable[[Tap], object]) -> Disturbance:
    def answer(tap: Tap, go: Callable[[], Any], args: tuple[Any, ...]) -> Any:
        result = go()
        act(tap)
        return result

    return OnCall("post", number, answer)


def during(name: str, offsets: Offsets) -> Callable[[Subject], Iterator[Place]]:
    def found(subject: Subject) -> Iterator[Place]:
        for call in subject.record.named("post"):
            for region in subject.record.regions:
                if region.step > call.step or call.result:
                    continue
                for offset in offsets(subject, region):
                    yield flipped(call.step, region, offset, partial(after_post, call.number))

    return found


for _name, (_what, _offsets) in WHERE.items():
    places(f"flip_{_name}")(between(_name, _offsets))
    places(f"flip_{_name}_in_transfer")(during(_name, _offsets))


class DataLater(Disturbance):
    """What a request brings lands when the case next touches the device, and its completion comes before."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number
        self.kept: list[tuple[Region, bytes]] = []

    def call(self, tap: Tap, name: str, number: int, go: Callable[[], Any], args: tuple[Any, ...]) -> Any:
        if name != "post" or number != self.number:
            if self.kept and name in ("post", "post_recv", "memory"):
                for region, image in self.kept:
                    tap.device.write(region.memory, 0, image)
                self.kept = []
            return go()
        before = tap.images()
        result = go()
        for region, was in zip(tap.record.regions, before, strict=True):
            now = tap.image(region)
            if now != was:
                self.done = True
                self.kept.append((region, now))
                tap.device.write(region.memory, 0, was)
        return result


@places("data_later")
def data_later(subject: Subject) -> Iterator[Place]:
    for call in subject.record.named("post"):
        brings = any(isinstance(request, (Send, Read, Atomic, Memcpy)) for request in call.args[1])
        if brings and not call.result and not subject.phases(call.step):
            yield Place(
                call.step, f"the bytes of post {call.number} land after its completion", partial(DataLater, call.number)
            )


@places("data_lost")
def data_lost(subject: Subject) -> Iterator[Place]:
    for call in subject.record.named("post"):
        if not call.result and "completion" not in subject.phases(call.step):
            yield Place(call.step, f"the bytes of post {call.number} never land", partial(DataLost, call.number))


class DataLost(Disturbance):
    """A request completes, and moves nothing."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number

    def call(self, tap: Tap, name: str, number: int, go: Callable[[], Any], args: tuple[Any, ...]) -> Any:
        if name != "post" or number != self.number:
            return go()
        before = tap.images()
        result = go()
        for region, was in zip(tap.record.regions, before, strict=True):
            if tap.image(region) != was:
                self.done = True
                tap.device.write(region.memory, 0, was)
        return result
