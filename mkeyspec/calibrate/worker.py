"""Calibration in a process of its own, so that a call that never returns, or a crash, costs one side of a point.

The process opens the device, and tells each side when it begins and each point when it is decided. If it is silent for
too long, it is killed; the point is undecided, and another process goes on behind it.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Union

from mkeyspec.calibrate import bench, engine
from mkeyspec.calibrate.point import Found, Point
from mkeyspec.calibrate.probes import POINTS
from mkeyspec.device.protocol import Capabilities, Device, Info, Unavailable
from mkeyspec.process.child import end_with

MOST_ENDS = 3
"""So many processes may end in a point; then the rest is undecided."""


@dataclass(frozen=True, slots=True)
class Opened:
    """The device, as it tells of itself."""

    info: Info
    capabilities: Capabilities


@dataclass(frozen=True, slots=True)
class _Begun:
    """A side that is looked at now."""

    point: int
    side: str


@dataclass(frozen=True, slots=True)
class _Closed:
    """The device could not be opened: a code, and a line."""

    code: str
    text: str


_Told = Union[Opened, _Begun, _Closed, Found, None]
"""None is the end."""


def calibrate(
    opened: Callable[[], Device],
    deadline: float = engine.DEADLINE,
    quiet: float = engine.QUIET,
    longest: float | None = None,
    points: Sequence[Point] = POINTS,
) -> Iterator[Opened | Found]:
    """The device, then what is found of each point, in order. `opened` is called in the other process. `longest`: of
    one side, in seconds. Raises Unavailable if the device can't be opened at first."""
    wait = longest if longest is not None else 20 * deadline + 10
    at, ends, is_open = 0, 0, False
    while at < len(points):
        if ends == MOST_ENDS:
            for point in points[at:]:
                yield Found(point.key, "undecided", reason=f"not looked at: {ends} processes had ended before it")
            return
        with _Process(opened, points, at, deadline, quiet) as process:
            side = "the device is opened"
            while True:
                told = process.next(wait)
                if told is None:
                    return
                if isinstance(told, str):
                    if not is_open:
                        code = "MKS2010" if process.is_silent else "MKS2012"
                        raise Unavailable(code, f"the device can't be opened: {told}; look at `mkeyspec doctor`")
                    yield Found(points[at].key, "undecided", reason=f"{side}: {told}")
                    at, ends = at + 1, ends + 1
                    break
                if isinstance(told, _Closed):
                    if not is_open:
                        raise Unavailable(told.code, told.text)
                    yield Found(points[at].key, "undecided", reason=f"the device can't be opened again: {told.text}")
                    at, ends = at + 1, MOST_ENDS
                    break
                if isinstance(told, Opened):
                    if not is_open:
                        is_open = True
                        yield told
                elif isinstance(told, _Begun):
                    at, side = told.point, told.side
                else:
                    yield told
                    at += 1


class _Process:
    """One process from point `at` on."""

    def __init__(
        self, opened: Callable[[], Device], points: Sequence[Point], at: int, deadline: float, quiet: float
    ) -> None:
        here, there = multiprocessing.Pipe(duplex=False)
        self._here = here
        self.is_silent = False
        context = multiprocessing.get_context("fork")
        arguments = (os.getpid(), opened, points, at, deadline, quiet, there)
        self._process = context.Process(target=_work, args=arguments, daemon=True)
        self._process.start()
        there.close()

    def __enter__(self) -> _Process:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.join(0.5)
        if self._process.is_alive():
            self._process.kill()
            self._process.join(5)
        self._here.close()

    def next(self, wait: float) -> _Told | str:
        """What it tells next; a text if it ended, or told nothing for `wait` seconds."""
        if not self._here.poll(wait):
            self.is_silent = True
            return f"no call returned within {wait:g} s"
        try:
            told: _Told = self._here.recv()
        except EOFError:
            self._process.join(5)
            code = self._process.exitcode
            if code is not None and code < 0:
                return f"its process ended with {signal.Signals(-code).name}"
            return f"its process ended with exit code {code}"
        return told


def _work(
    parent: int,
    opened: Callable[[], Device],
    points: Sequence[Point],
    at: int,
    deadline: float,
    quiet: float,
    there: Connection,
) -> None:
    if not end_with(parent):
        return
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the first process ends this one
    try:
        device = opened()
    except Unavailable as error:
        there.send(_Closed(error.code, error.message))
        return
    there.send(Opened(device.info(), device.capabilities()))
    there.send(_Begun(at, "rights of a key"))
    rights = bench.rights_of(device, deadline, quiet)
    for number in range(at, len(points)):
        point = points[number]
        seen = []
        for side in point.sides:
            there.send(_Begun(number, side.name))
            seen.append(engine.see(device, side, deadline, quiet, rights))
        there.send(engine.decide(point, seen))
    there.send(None)
    device.close()
