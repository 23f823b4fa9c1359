"""Whose a key is: of which buffer or mkey of the case, as the keys are now."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from mkeyspec.device.protocol import Memory, Mkey, Side
from mkeyspec.run.case_state import CaseState


class Owner(NamedTuple):
    """`exact`: the key is one of that kind (lkey or rkey) of an object of that side. Other keys of one device are of
    one space of numbers, whatever they are used for. `lives`: the case has not destroyed it."""

    name: str
    exact: bool
    lives: bool = True


def key_of(handle: Memory | Mkey, *, remote: bool) -> int:
    """Its rkey if `remote`, else its lkey."""
    return handle.rkey if remote else handle.lkey


def owner_of(state: CaseState, key: int, side: Side, *, remote: bool, named: str = "") -> Owner | None:
    """The object that a request with this lkey, or rkey if `remote`, goes to, where it is of the case: the one that the
    request names (`named`) before others, and one that is destroyed only if the key was not given again. None: the key
    is of nothing."""
    best: tuple[tuple[bool, bool, bool], str] | None = None
    for name, there, keys, lives in _keys(state):
        if key not in keys:
            continue
        exact = there == side and keys[remote] == key
        rank = exact and name == named and lives, exact, lives
        if best is None or rank >= best[0]:
            best = rank, name
    return None if best is None else Owner(best[1], *best[0][1:])


def _keys(state: CaseState) -> Iterator[tuple[str, Side, tuple[int, int], bool]]:
    """Of each object, its lkey and its rkey, and whether it is there. An mkey has its earlier keys until a
    configuration brings the new tag to the device (mlx5dv_wr_mkey_configure(3))."""
    for name, buffer in state.buffers.items():
        yield name, buffer.side, (buffer.memory.lkey, buffer.memory.rkey), True
    for name, mkey in state.mkeys.items():
        side = mkey.handle.side
        for earlier in mkey.earlier[mkey.configured :]:
            yield name, side, earlier, not mkey.destroyed
        yield name, side, (mkey.handle.lkey, mkey.handle.rkey), not mkey.destroyed
