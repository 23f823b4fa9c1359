"""The peer's process: opens its device, and carries out the calls that come over the channel.

Calls are carried out by the thread that receives them, so that no other thread has to be woken. Each has its time: a
call that hangs holds the interpreter, and nothing but the kernel's timer can end this process then.
"""

from __future__ import annotations

import os
import platform
import signal
import threading
from typing import Any

from mkeyspec import __version__
from mkeyspec.device.protocol import NoSuchCall, PathChoice, Refused, Unavailable, Unsupported
from mkeyspec.device.verbs import device_lock
from mkeyspec.device.verbs.opening import open_station
from mkeyspec.device.verbs.peer.wire import CALLS, OBJECT_CALLS, decode, encode, protocol_digest
from mkeyspec.device.verbs.station import Station

FIRST_HANDLE = 1 << 32
"""Of the objects of this side: the other side never has as many."""


def hello() -> dict[str, Any]:
    """What the two processes must agree on, and what the report says of this one."""
    return {
        "mkeyspec": __version__,
        "protocol": protocol_digest(),
        "python": platform.python_version(),
        "host": platform.node(),
        "pid": os.getpid(),
    }


def run(channel: Any) -> None:
    """Until the other process closes the device, or is gone."""
    channel.send(hello())
    order = channel.receive()
    limit = float(order["limit"])
    try:
        _watch(limit)
        station = _open(order)
    except Unavailable as error:
        channel.send(("unavailable", error.code, error.message))
        return
    finally:
        _watch(0)
    ended = threading.Event()
    server = Server(station, channel, limit, ended)
    channel.send(("ok", encode((station.info(), station.capabilities(), station.address()))))
    channel.setcallback(server.take, endmarker=None)
    ended.wait()
    _watch(limit)
    station.close()


def _open(order: dict[str, Any]) -> Station:
    os.environ[device_lock.RUN] = order["run"]
    return open_station(
        order["name"],
        order["port"],
        allow_busy_port=order["allow_busy_port"],
        shared=order["shared"],
        label=order["label"],
        path=PathChoice(order["gid_index"], order["mtu"]),
        first_handle=FIRST_HANDLE,
    )


def _watch(seconds: float) -> None:
    """The kernel ends this process by SIGALRM then; 0: it does not."""
    signal.setitimer(signal.ITIMER_REAL, seconds)


class Server:
    def __init__(self, station: Station, channel: Any, limit: float, ended: threading.Event) -> None:
        self._channel = channel
        self._limit = limit
        self._ended = ended
        self._calls = {name: getattr(station, name) for name in CALLS}
        self._calls |= {name: getattr(station.objects, name) for name in OBJECT_CALLS}

    def take(self, message: Any) -> None:
        """One call: its name, its arguments by position, those by name. None: the other process is gone."""
        if message is None:
            self._ended.set()
            return
        name, given, named = message
        _watch(self._limit)
        answer = self._answer(name, given, named)
        _watch(0)
        self._channel.send(answer)
        if name == "close":
            self._ended.set()

    def _answer(self, name: str, given: Any, named: Any) -> tuple[Any, ...]:
        try:
            return "ok", encode(self._calls[name](*decode(given), **decode(named)))
        except Refused as error:
            return "refused", error.call, error.errno
        except Unsupported as error:
            return "unsupported", str(error)
        except NoSuchCall as error:
            return "no such call", str(error)
        except BaseException as error:
            return "raised", type(error).__name__, str(error)
