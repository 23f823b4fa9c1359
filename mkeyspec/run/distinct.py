"""Objects that a device has made: a second one must not turn out to be the first.

A handle names one object of its end (`device.protocol`), and two keys of one end have two indices
(mlx5dv_create_mkey(3), ibv_reg_mr(3)). An object that the case has destroyed may leave its names to another.
"""

from __future__ import annotations

from collections.abc import Iterator

from mkeyspec.device.protocol import Dek, Memory, Mkey, Pd
from mkeyspec.run.case_state import CaseState
from mkeyspec.run.granted import Less


def new_mkey(state: CaseState, name: str, made: Mkey) -> None:
    """Less if a key that the case has is this one."""
    for other, handle in state.mkeys.items():
        if handle.destroyed:
            continue
        _tell_apart(name, other, _same(made, handle.handle))
    _tell_keys_apart(state, name, made)


def new_memory(state: CaseState, name: str, made: Memory) -> None:
    """Less if a buffer that the case has, or its key, is this one."""
    for buffer in state.all_buffers():
        _tell_apart(name, buffer.name, _same(made, buffer.memory))
    _tell_keys_apart(state, name, made)


def new_pd(state: CaseState, name: str, made: Pd) -> None:
    """Less if a protection domain that the case has is this one."""
    for other, pd in state.pds.items():
        _tell_apart(name, other, _same(made, pd))


def new_dek(state: CaseState, name: str, made: Dek) -> None:
    """Less if a DEK that the case has is this one."""
    for other, dek in state.deks.items():
        _tell_apart(name, other, made.handle == dek.handle and other not in state.destroyed_deks)


def new_dct(state: CaseState, name: str, number: int) -> None:
    """Less if a DCT that the case has is this one."""
    for other, (known, _) in state.dcts.items():
        _tell_apart(name, other, number == known)


def _tell_keys_apart(state: CaseState, name: str, made: Mkey | Memory) -> None:
    for other, known in _keys(state):
        if known.side != made.side:
            continue
        for member, key, other_key in (("lkey", made.lkey, known.lkey), ("rkey", made.rkey, known.rkey)):
            if key >> 8 == other_key >> 8:
                index = f"{key >> 8:#x} in its {member}"
                text = f"`{name}` has the index of the key of `{other}`, {index}, and a key of its own was asked for"
                raise Less(text)


def _keys(state: CaseState) -> Iterator[tuple[str, Mkey | Memory]]:
    for mkey in state.mkeys.values():
        if not mkey.destroyed:
            yield mkey.name, mkey.handle
    for buffer in state.all_buffers():
        yield buffer.name, buffer.memory


def _same(one: Pd | Memory | Mkey, other: Pd | Memory | Mkey) -> bool:
    """Each end has a device of its own, which may number its objects as the other one does."""
    return one.side == other.side and one.handle == other.handle


def _tell_apart(name: str, other: str, same: bool) -> None:
    if same:
        raise Less(f"`{name}` is `{other}`: the device gave one object twice, and two were asked for")
