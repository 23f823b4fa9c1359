"""A run of a suite on each device or pair of a lab: in parallel, one at a time on each NIC, each with its stream."""

from __future__ import annotations

import contextlib
import re
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import Any

from mkeyspec import __version__
from mkeyspec.lab.cargo import Cargo
from mkeyspec.lab.file import LabDevice, Unit
from mkeyspec.lab.gateway import Lost, NoHost
from mkeyspec.lab.hosts import Hosts, Locks, Reached
from mkeyspec.lab.peers import peer_words
from mkeyspec.lab.stream import UnitStream, about, folder_names
from mkeyspec.report.place import FILE
from mkeyspec.report.record import Verdict, WrongRecord

PRINTED = "output.txt"
PEER_FIRMWARE = "peer firmware"
"""Its name among the versions of a device with a peer."""
OK, FAILED, USAGE, NOTHING, INTERNAL, INTERRUPTED = 0, 1, 2, 3, 4, 130
_WORST = (OK, NOTHING, FAILED, USAGE, INTERNAL, INTERRUPTED)
"""The last of these is the exit code of the run."""
_ERROR = re.compile(r"error\[(MKS\d{4})\]: (.*)")
_LAST = re.compile(r"^mkeyspec: (\d+ passed.*) on .* in ([\d.]+) s; ", re.MULTILINE)
_WARNING = re.compile(r"warning\[MKS09\d\d\]: .*")
"""Not those of the cases, which are told where they are compiled."""
_KEPT = 1 << 16
"""Bytes at the beginning and at the end of what is printed there that are looked at."""
_TELL = 30.0
"""Seconds between two lines about what is under way."""


@dataclass(frozen=True, slots=True)
class Job:
    """What is run on each device. `words`: arguments of `mkeyspec run` there, the paths among them; `may_stop`: one of
    them stops a run early. `about`: of the first line of each stream."""

    cargo: Cargo
    words: Sequence[str]
    about: Mapping[str, object] = field(default_factory=dict)
    may_stop: bool = False
    wait: float | None = None
    verbose: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """`line`: the counts of its verdicts, or why there are none."""

    unit: Unit
    results: Path
    code: int
    line: str


def worst(codes: Sequence[int]) -> int:
    """The exit code of runs with these; of one that ended by a signal it is 1."""
    return max((code if code in _WORST else FAILED for code in codes), key=_WORST.index, default=NOTHING)


def run(units: Sequence[Unit], job: Job, folder: Path, say: Callable[[str], None]) -> list[Outcome]:
    """Run all of them; each has a folder of its own in `folder`, which is the name of the run. `say` prints a line."""
    return _Run(units, job, folder, say).run()


class _Run:
    def __init__(self, units: Sequence[Unit], job: Job, folder: Path, say: Callable[[str], None]) -> None:
        self._units, self._job, self._folder = units, job, folder
        guard = threading.Lock()

        def one_line(text: str) -> None:
            with guard:
                say(text)

        self._say = one_line
        self._hosts = Hosts(job.cargo, one_line)
        self._locks = Locks(device for unit in units for device in unit.devices)
        self._streams: dict[str, UnitStream] = {}
        self._outcomes: dict[str, Outcome] = {}
        self._names = folder_names(unit.name for unit in units)
        self._stopped = threading.Event()

    def run(self) -> list[Outcome]:
        threads = [threading.Thread(target=self._one, args=(unit,), daemon=True) for unit in self._units]
        for thread in threads:
            thread.start()
        told = time.monotonic()
        try:
            while any(thread.is_alive() for thread in threads):
                for thread in threads:
                    thread.join(0.05)
                if time.monotonic() - told > _TELL:
                    told = time.monotonic()
                    self._tell()
        except KeyboardInterrupt:
            self._stopped.set()
            self._say("mkeyspec: interrupted; the runs on the hosts are ended")
        finally:
            self._stopped.set()
            self._hosts.close()
            for thread in threads:
                thread.join(5)
        return [self._outcomes.get(unit.name, self._interrupted(unit)) for unit in self._units]

    def _interrupted(self, unit: Unit) -> Outcome:
        return Outcome(unit, self._path(unit), INTERRUPTED, "interrupted")

    def _path(self, unit: Unit) -> Path:
        return self._folder / self._names[unit.name] / FILE

    def _tell(self) -> None:
        for name, stream in list(self._streams.items()):
            if name not in self._outcomes:
                wrong = f", {stream.wrong} wrong" if stream.wrong else ""
                self._say(f"mkeyspec: {name}: {stream.done} of {stream.selected} rows{wrong}")

    def _one(self, unit: Unit) -> None:
        try:
            with contextlib.ExitStack() as held:
                for lock in self._locks.of(unit.devices):
                    held.enter_context(lock)
                if self._stopped.is_set():
                    return
                outcome = self._on(unit)
        except Exception as error:  # of ours: the others go on
            outcome = Outcome(unit, self._path(unit), INTERNAL, f"error[MKS0999]: {type(error).__name__}: {error}")
        if self._stopped.is_set():
            outcome = self._interrupted(unit)
        self._outcomes[unit.name] = outcome
        self._say(f"mkeyspec: {unit.name}: {outcome.line}")

    def _on(self, unit: Unit) -> Outcome:
        path = self._path(unit)
        about_it = {
            **self._job.about, "run": f"{self._folder.name}/{path.parent.name}", "lab": self._folder.name,
            "unit": unit.name, "device_profile": _shown(unit.owner.profile),
        }  # fmt: skip
        stream = self._streams[unit.name] = UnitStream(path, partial(about, about_it))
        try:
            with (path.parent / PRINTED).open("wb", buffering=0) as printed:
                return self._filled(unit, stream, printed)
        finally:
            stream.close()

    def _filled(self, unit: Unit, stream: UnitStream, printed: Any) -> Outcome:
        try:
            reached = [self._hosts.reach(device.host) for device in unit.devices]
        except NoHost as error:
            return self._refused(unit, stream, "blocked", error.code, str(error))
        owner = reached[0]
        with contextlib.ExitStack() as held:
            # In one order for all, so that two pairs never wait for each other.
            for one in sorted(dict.fromkeys(reached), key=lambda one: one.host.name):
                held.enter_context(one.turns)
            try:
                code, text = self._passed_on(unit, stream, owner, printed)
            except Lost as lost:
                why = f"{unit.owner.place}: error[MKS0973]: {unit.name} was lost in the run: {lost}"
                return self._refused(unit, stream, "lost", "MKS0973", why)
            except WrongRecord as error:
                why = f"{unit.owner.place}: error[MKS0973]: {unit.name} sent what is no stream of results: {error}"
                return self._refused(unit, stream, "lost", "MKS0973", why)
            except _OtherFirmware as other:
                return self._refused(unit, stream, "blocked", "MKS0974", str(other))
        return self._ended(unit, stream, code, text)

    def _passed_on(self, unit: Unit, stream: UnitStream, owner: Reached, printed: Any) -> tuple[int, str]:
        """Start it there, and keep what comes; its exit code and the end of what it printed. Raises Lost,
        WrongRecord."""
        own = f"{owner.folder}/.runs/{stream.path.parent.name}"
        command = ["run", *device_words(unit.owner, self._job.cargo), *peer_words(unit), *self._job.words]
        command += [*self._wait_words(unit.owner), f"--results={own}/results", f"--row-ids={own}/rows"]
        command.append(f"--junit={own}/junit.xml")
        request = {
            "what": "run", "command": command, "folder": f"{owner.folder}/{self._job.cargo.folder}",
            "results": f"{own}/results", "rows": f"{own}/rows",
        }  # fmt: skip
        gateway = owner.gateway
        channel = gateway.ask(request)
        head = text = b""
        try:
            for message in gateway.messages(channel, unit.owner.host.deadline):
                if self._stopped.is_set():
                    raise Lost("the run was interrupted")
                match message:
                    case ("out", data):
                        printed.write(data)
                        head = (head + data)[:_KEPT]
                        text = (text + data)[-_KEPT:]
                        if self._job.verbose:
                            self._pass_on(unit, data)
                    case ("rows", ids):
                        stream.ids = ids
                    case ("results", data):
                        stream.take(data)
                        _check_firmware(unit, stream)
                    case ("end", code):
                        self._warn(unit, head, text)
                        return code, text.decode(errors="backslashreplace")
        finally:
            with contextlib.suppress(Exception):
                channel.close()
        raise Lost("it ended without a word")

    def _warn(self, unit: Unit, head: bytes, text: bytes) -> None:
        """Pass on what is told of the device: a profile of another one, a lock that was left."""
        found = [one for part in (head, text) for one in _WARNING.findall(part.decode(errors="backslashreplace"))]
        for line in dict.fromkeys(found):
            self._say(f"{unit.owner.place}: {unit.name}: {line}")

    def _wait_words(self, device: LabDevice) -> list[str]:
        wait = self._job.wait if self._job.wait is not None else device.wait
        return [] if wait is None else [f"--wait-for-device={wait:g}"]

    def _pass_on(self, unit: Unit, data: bytes) -> None:
        for line in data.decode(errors="backslashreplace").splitlines():
            if line.strip():
                self._say(f"{unit.name} | {line}")

    def _refused(self, unit: Unit, stream: UnitStream, verdict: Verdict, code: str, why: str) -> Outcome:
        """Rows without a result have this one from now on."""
        now = datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        stream.begin(unit.owner.text, __version__, now)
        if self._stopped.is_set():
            return self._interrupted(unit)
        number = stream.close_rows(verdict, code, why)
        line = f"{rows(number)} {verdict}" if number else f"it is {verdict}"
        if stream.done > number:
            line = f"{rows(stream.done - number)} came to a result, {line}"
        if code not in ("MKS0971", "MKS0972"):  # of a host it is said once
            self._say(why)
        return Outcome(unit, stream.path, FAILED, f"{line} ({code})")

    def _ended(self, unit: Unit, stream: UnitStream, code: int, text: str) -> Outcome:
        """The run there has ended by itself, with this exit code and these last words."""
        place = unit.owner.place
        if not stream.done and code not in (OK, NOTHING):
            found = _ERROR.search(text)
            said = found[2] if found else _last_words(text)
            number = found[1] if found else "MKS0973"
            why = f"{place}: error[{number}]: {unit.name} could not be run (exit code {code}): {said}"
            outcome = self._refused(unit, stream, "blocked", number, why)
            return Outcome(unit, stream.path, worst([code, FAILED]), outcome.line)
        if (stream.left and not self._job.may_stop) or not stream.ended:
            why = f"{place}: error[MKS0973]: {unit.name} was lost in the run: it ended there with exit code {code}"
            outcome = self._refused(unit, stream, "lost", "MKS0973", why)
            return Outcome(unit, stream.path, worst([code, FAILED]), outcome.line)
        last = _LAST.findall(text)
        line = f"{last[-1][0]} in {last[-1][1]} s" if last else f"exit code {code}"
        return Outcome(unit, stream.path, code, line)


def rows(number: int) -> str:
    return "1 row" if number == 1 else f"{number} rows"


def _last_words(text: str) -> str:
    """The last line that speaks of an error, or the last one."""
    lines = [line.strip() for line in text.splitlines() if line.strip()] or ["it said nothing"]
    return next((line for line in reversed(lines) if "error" in line.lower()), lines[-1])


class _OtherFirmware(Exception):
    """`str()` is a line with its place."""


def _check_firmware(unit: Unit, stream: UnitStream) -> None:
    """Raises _OtherFirmware."""
    found = stream.device
    if found is None:
        return
    told = (found.firmware, found.versions.get(PEER_FIRMWARE, ""))
    for device, firmware in zip(unit.devices, told, strict=False):
        if device.firmware and not fnmatchcase(firmware, device.firmware):
            said = f"{device.name} has firmware {firmware or 'unknown'}, and the lab file expects {device.firmware}"
            why = "what the file says of it (profile, waivers) may not be true any more"
            raise _OtherFirmware(f"{device.firmware_place}: error[MKS0974]: {said}; {why}")


def device_words(device: LabDevice, cargo: Cargo) -> list[str]:
    """The options of `mkeyspec run` and `mkeyspec doctor` that choose the device, and of `run` what is known of it."""
    words = [f"--device={device.text}"]
    if device.gid_index is not None:
        words.append(f"--gid-index={device.gid_index}")
    if device.path_mtu is not None:
        words.append(f"--path-mtu={device.path_mtu}")
    words += ["--allow-busy-port"] * device.allow_busy_port
    if device.profile is not None:
        words.append(f"--device-profile={cargo.add(device.profile)}")
    words += [f"--expectations={cargo.add(path)}" for path in device.expectations]
    words += [f"--waivers={cargo.add(path)}" for path in device.waivers]
    words += [f"--require={name}" for name in device.require]
    if device.deadline is not None:
        words.append(f"--deadline={device.deadline:g}")
    return words


def load(cargo: Cargo, units: Sequence[Unit]) -> None:
    """Take the files of the devices along, before the first host is reached. Raises OSError."""
    for unit in units:
        for device in unit.devices:
            device_words(device, cargo)


def _shown(path: Path | None) -> str:
    return "" if path is None else path.name
