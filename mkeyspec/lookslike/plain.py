"""Near misses that need no expression: the bytes that were got, the expected ones, and those that were there before."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.uint8]

SHIFTS = (1, 2, 3, 4, 8, 16, 32, 64, 128, 256, 512, 520, 1024, 4096)
"""Bytes by which a transfer may begin at a wrong place."""


@dataclass(frozen=True, slots=True)
class Scene:
    """What an expectation saw. `want`, `got`: of one length; `fixed`: where bytes are compared at all, of that length.
    `before`: what was there before, if that is known. `others`: the expected content of the case's buffers by name."""

    want: Bytes
    got: Bytes
    fixed: npt.NDArray[np.bool_]
    before: Bytes | None = None
    others: Mapping[str, Bytes] | None = None

    def is_got(self, data: npt.NDArray[Any]) -> bool:
        """Whether `data`, of the same length, is what was got wherever bytes are compared."""
        return len(data) == len(self.got) and bool(((data == self.got) | ~self.fixed).all())


@dataclass(frozen=True, slots=True)
class Plain:
    """A hypothesis about bytes alone. `find` gives a sentence where it holds, else ""."""

    name: str
    find: Callable[[Scene], str]


def _unchanged(scene: Scene) -> str:
    if scene.before is None or not scene.is_got(scene.before):
        return ""
    return "nothing was written: these bytes are what was there before"


def _filled(byte: int) -> Callable[[Scene], str]:
    def find(scene: Scene) -> str:
        return f"all bytes are {byte:#04x}" if scene.is_got(np.full_like(scene.got, byte)) else ""

    return find


def _zeros_in_place(scene: Scene) -> str:
    differs = (scene.got != scene.want) & scene.fixed
    return "the bytes that differ are zeros" if not scene.got[differs].any() and differs.sum() > 1 else ""


def _kept_in_place(scene: Scene) -> str:
    """Some bytes are written, and the others are as before: all that differ. Where they begin is told if it is one
    place."""
    if scene.before is None:
        return ""
    differs = np.flatnonzero((scene.got != scene.want) & scene.fixed)
    if not len(differs) or (scene.got[differs] != scene.before[differs]).any():
        return ""
    first, last = int(differs[0]), int(differs[-1])
    if scene.is_got(scene.before):
        return ""
    if scene.is_got(np.concatenate((scene.want[:first], scene.before[first:]))):
        return f"nothing was written from byte {first} on: what follows was there before"
    if scene.is_got(np.concatenate((scene.before[: last + 1], scene.want[last + 1 :]))):
        return f"the first {last + 1} bytes were not written: they were there before"
    return "the bytes that differ were not written: they are what was there before"


def _too_much(scene: Scene) -> str:
    """Where nothing was to be written, something was; found by the bytes before being the expected ones."""
    if scene.before is None or not scene.is_got(scene.got):
        return ""
    differs = (scene.got != scene.want) & scene.fixed
    if (scene.want[differs] != scene.before[differs]).any():
        return ""
    return "bytes were written that should have stayed as they were"


def _shifted(scene: Scene) -> str:
    """The expected bytes from another place on, for as long as they last."""
    for shift in SHIFTS:
        if shift >= len(scene.want) - 7:
            break
        if bool(((scene.got[:-shift] == scene.want[shift:]) | ~scene.fixed[:-shift]).all()):
            return f"the bytes begin {shift} too late in their source: byte i is the expected byte i + {shift}"
        if bool(((scene.got[shift:] == scene.want[:-shift]) | ~scene.fixed[shift:]).all()):
            return f"the bytes begin {shift} too early in their source: byte i is the expected byte i - {shift}"
    return ""


def _grouped(size: int) -> Callable[[Scene], str]:
    def find(scene: Scene) -> str:
        if len(scene.want) % size:
            return ""
        turned = np.ascontiguousarray(scene.want.reshape(-1, size)[:, ::-1]).reshape(-1)
        return f"the bytes of each {8 * size}-bit word are in the other order" if scene.is_got(turned) else ""

    return find


def _backwards(scene: Scene) -> str:
    return "all bytes are in the other order" if scene.is_got(scene.want[::-1]) else ""


def _permuted(size: int) -> Callable[[Scene], str]:
    def find(scene: Scene) -> str:
        count, rest = divmod(len(scene.want), size)
        if rest or not 2 <= count <= 4096 or not scene.fixed.all():
            return ""
        blocks = [scene.got[at : at + size].tobytes() for at in range(0, len(scene.got), size)]
        wanted = [scene.want[at : at + size].tobytes() for at in range(0, len(scene.want), size)]
        return f"the blocks of {size} bytes are in another order" if sorted(blocks) == sorted(wanted) else ""

    return find


def _inverted(scene: Scene) -> str:
    return "all bits are inverted" if scene.is_got(scene.want ^ 0xFF) else ""


def _repeated(scene: Scene) -> str:
    """The first bytes over and over."""
    for size in (8, 16, 64, 256, 512, 520, 1024, 4096):
        if 2 * size <= len(scene.want):
            repeated: Bytes = np.resize(scene.want[:size], len(scene.want)).astype(np.uint8)
            if scene.is_got(repeated):
                return f"the first {size} bytes come again and again"
    return ""


def _elsewhere(scene: Scene) -> str:
    """A piece of a buffer of the case, at least 8 bytes, and not of one value."""
    if len(scene.got) < 8 or not scene.fixed.all() or (scene.got == scene.got[0]).all():
        return ""
    needle = scene.got.tobytes()
    for name, content in (scene.others or {}).items():
        at = content.tobytes().find(needle) if len(content) >= len(needle) else -1
        if at >= 0:
            return f"these are the bytes of {name} from byte {at} on"
    return ""


PLAINS: tuple[Plain, ...] = (
    Plain("bytes.unchanged", _unchanged),
    Plain("bytes.zero", _filled(0)),
    Plain("bytes.ones", _filled(0xFF)),
    Plain("bytes.partly_zero", _zeros_in_place),
    Plain("bytes.partly_unchanged", _kept_in_place),
    Plain("bytes.too_many", _too_much),
    Plain("bytes.shifted", _shifted),
    Plain("bytes.repeated", _repeated),
    *(Plain(f"bytes.words_{8 * size}", _grouped(size)) for size in (2, 4, 8)),
    Plain("bytes.backwards", _backwards),
    Plain("bytes.inverted", _inverted),
    *(Plain(f"bytes.order_{size}", _permuted(size)) for size in (4096, 1024, 512, 256, 64, 16)),
    Plain("bytes.elsewhere", _elsewhere),
)


def plain_causes(scene: Scene) -> Iterator[tuple[str, str]]:
    """(name, sentence) of those that hold."""
    for plain in PLAINS:
        sentence = plain.find(scene)
        if sentence:
            yield plain.name, sentence
