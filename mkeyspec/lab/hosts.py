"""The hosts of a run: each is reached once, by whichever thread needs it first, and has one copy of the files."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Any

from mkeyspec.lab.cargo import Cargo
from mkeyspec.lab.file import Host, LabDevice
from mkeyspec.lab.gateway import Gateway, Lost, NoHost

_CARGO_SECONDS = 10.0
"""Beside the deadline of the host, to write the files."""


class Reached:
    """A host that answers. `folder`: the copy of the files there; "" if none were sent."""

    def __init__(self, host: Host, cargo: Cargo | None) -> None:
        """Raises NoHost."""
        self.host = host
        self.gateway = Gateway(host)
        self.folder = ""
        self.turns = threading.BoundedSemaphore(host.at_most or 10_000)
        if cargo is not None:
            try:
                self.folder = self._send(cargo)
            except BaseException:
                self.gateway.close()
                raise

    def _send(self, cargo: Cargo) -> str:
        try:
            self._files: Any = self.gateway.ask({"what": "put"})
            for item in cargo.items():
                self._files.send(item)
            self._files.send(None)
            kind, text = self.gateway.answer(self._files, self.host.deadline + _CARGO_SECONDS)
        except (Lost, OSError) as error:
            raise NoHost("MKS0971", f"it did not take the files of the run: {error}") from None
        if kind != "folder":
            raise NoHost("MKS0971", f"it did not take the files of the run: {text}")
        return str(text)

    def close(self) -> None:
        self.gateway.close()


class Hosts:
    def __init__(self, cargo: Cargo | None, say: Callable[[str], None]) -> None:
        self._cargo = cargo
        self._say = say
        self._guard = threading.Lock()
        self._guards: dict[str, threading.Lock] = {}
        self._found: dict[str, Reached | NoHost] = {}
        self._closed = False

    def reach(self, host: Host) -> Reached:
        """Raises NoHost, each time again."""
        with self._guard:
            own = self._guards.setdefault(host.name, threading.Lock())
        with own:
            found = self._found.get(host.name)
            if found is None:
                try:
                    found = Reached(host, self._cargo)
                    about = found.gateway.about
                    where = f"{host.name} ({host.reach.text}): {about['host']}, Python {about['python']}"
                    self._say(f"mkeyspec: {where}")
                except NoHost as error:
                    found = NoHost(error.code, f"{host.place}: error[{error.code}]: host {host.name}: {error}")
                    self._say(str(found))
                with self._guard:
                    self._found[host.name] = found
                    late = self._closed
                if late and isinstance(found, Reached):
                    found.close()
        if isinstance(found, NoHost):
            raise found
        return found

    def close(self) -> None:
        with self._guard:
            self._closed = True
            found = [one for one in self._found.values() if isinstance(one, Reached)]
        threads = [threading.Thread(target=one.close, daemon=True) for one in found]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(5)


class Locks:
    """One run at a time on each NIC of this lab. The host's own lock keeps out the runs of others."""

    def __init__(self, devices: Iterable[LabDevice]) -> None:
        names = sorted({device.lock for device in devices} - {""})
        self._locks = {name: threading.Lock() for name in names}

    def of(self, devices: Iterable[LabDevice]) -> list[threading.Lock]:
        """In one order for all, so that two pairs never wait for each other."""
        return [self._locks[name] for name in sorted({device.lock for device in devices} - {""})]
