"""What grows while the same rows run again and again: memory, file descriptors, threads, handles of verbs objects."""

from __future__ import annotations

import gc
import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from mkeyspec.device.soft import live
from mkeyspec.plugin.evidence import Port
from mkeyspec.ticket import commands

MEMORY, FILES, THREADS = "memory", "file descriptors", "threads"
MEBIBYTE = 1 << 20
_SHARE = 0.05
"""Of the memory: so much may come and go by itself."""
TOLERANCE: Mapping[str, int] = {MEMORY: 8 * MEBIBYTE, FILES: 4, THREADS: 2}
"""How much more there may be at the end than after the first round."""
OBJECTS = 8
"""The same, of objects of each kind."""
_STILL = 4
"""A leak goes on: the second half of the rounds has this part of its growth, at least."""
_NAMED = 3


@dataclass(frozen=True, slots=True)
class Measure:
    """After a round. `values`: by name; `files`: what the descriptors lead to."""

    values: Mapping[str, int]
    files: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Leak:
    name: str
    first: int
    last: int
    rounds: int
    """After the first one."""
    about: str = ""

    def __str__(self) -> str:
        grew = self.last - self.first
        more = f"{grew / MEBIBYTE:.1f} MiB" if self.name == MEMORY else str(grew)
        each = grew / self.rounds
        rate = f"{each / 1024:.0f} KiB" if self.name == MEMORY else f"{each:.3g}"
        about = f", {self.about}" if self.about else ""
        span = f"{shown(self.name, self.first)} -> {shown(self.name, self.last)}"
        return f"{self.name} {span}: {more} more, {rate} a round{about}"


def shown(name: str, value: int) -> str:
    return f"{value / MEBIBYTE:.0f} MiB" if name == MEMORY else str(value)


def measure(port: Port | None, *, real: bool) -> Measure:
    """This process, now. `real`: the kernel knows the device of `port`."""
    gc.collect()
    descriptors = list(_files())
    values = {MEMORY: _resident(), FILES: len(descriptors), THREADS: len(os.listdir("/proc/self/task"))}  # noqa: PTH208
    values.update(_handles())
    values.update({f"{kind} of the software NIC": number for kind, number in live.counts().items()})
    if real and port is not None:
        values.update({f"{kind} of {port.device}": number for kind, number in _resources(port)})
    return Measure(values, descriptors)


def _resident() -> int:
    """Bytes."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _files() -> Iterator[str]:
    """What each descriptor leads to, without the one that lists them."""
    for name in os.listdir("/proc/self/fd"):  # noqa: PTH208
        with suppress(OSError):
            yield str(Path("/proc/self/fd", name).readlink())


def _handles() -> Counter[str]:
    """Objects of pyverbs, and handles of the protocol, that are alive in Python."""
    found: Counter[str] = Counter()
    for one in gc.get_objects():
        kind = type(one)
        module = str(kind.__module__)
        if module.startswith("pyverbs."):
            found[f"{kind.__name__} objects of pyverbs"] += 1
        elif module == "mkeyspec.device.protocol.objects":
            found[f"{kind.__name__} handles"] += 1
    return found


def _resources(port: Port) -> Iterator[tuple[str, int]]:
    """Of the device, of all processes; nothing without the command."""
    told = commands.told(["rdma", "-j", "resource", "show", port.device])
    with suppress(ValueError, AttributeError, IndexError, TypeError):
        for kind, number in json.loads(told.text)[0].items():
            if type(number) is int and kind != "ifindex":
                yield kind, number


def leaks(measures: Sequence[Measure]) -> Iterator[Leak]:
    """`measures`: after each round; what the first one has taken is not a leak."""
    first, middle, last = measures[0], measures[(len(measures) - 1) // 2], measures[-1]
    rounds = len(measures) - 1
    for name, value in last.values.items():
        before, half = first.values.get(name, 0), middle.values.get(name, 0)
        grew = value - before
        allowed = TOLERANCE.get(name, OBJECTS)
        if name == MEMORY:
            allowed = max(allowed, int(before * _SHARE))
        if grew > allowed and (value - half) * _STILL >= grew:
            yield Leak(name, before, value, rounds, _new_files(first, last) if name == FILES else "")


def _new_files(first: Measure, last: Measure) -> str:
    """`/dev/null (12), socket (3)`."""
    more = Counter(map(_kind, last.files)) - Counter(map(_kind, first.files))
    return ", ".join(f"{what} ({number})" for what, number in more.most_common(_NAMED))


def _kind(target: str) -> str:
    """`socket:[1234]` without its number."""
    return target.partition(":[")[0]
