"""`--bundle FILE`: what is observed of the device is kept, by each process in a part, and merged at the end."""

from __future__ import annotations

import argparse
import contextlib
import os
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from mkeyspec.emit.header import read_header
from mkeyspec.files import installed
from mkeyspec.files.project import SUFFIX
from mkeyspec.files.unwritable import Unwritable
from mkeyspec.plugin.compilation import compilation
from mkeyspec.plugin.option_values import read_choice
from mkeyspec.plugin.provenance import begin_of, run_of

if TYPE_CHECKING:
    from mkeyspec.bundle.part import Part
    from mkeyspec.bundle.recorder import Recorder
    from mkeyspec.run.marks import CaseMark

RECORDER: pytest.StashKey[Recorder] = pytest.StashKey()
"""In the config's stash: the recording of this process."""
_PART: pytest.StashKey[Part] = pytest.StashKey()


def recorder_of(config: pytest.Config) -> Recorder | None:
    """The recording of this process; None if nothing is kept."""
    folder = parts_of(config)
    if folder is None:
        return None
    part = config.stash.get(_PART, None)
    if part is None or part.pid != os.getpid():  # a forked process has a file of its own
        from mkeyspec.bundle.part import Part
        from mkeyspec.bundle.recorder import Recorder

        choice = read_choice(config.option.device)
        head = {"device": choice.text, "device_kind": choice.kind, "run": asdict(begin_of(config, run_of(config)))}
        config.stash[_PART] = part = Part(folder, head)
        config.stash[RECORDER] = Recorder(part)
    return config.stash[RECORDER]


def parts_of(config: pytest.Config) -> Path | None:
    """The folder that this process writes its part to; None if nothing is kept."""
    option = config.option
    if option.bundle_parts is not None:
        return Path(config.invocation_params.dir, option.bundle_parts)
    if option.bundle is None:
        return None
    from mkeyspec.bundle.merge import folder_of

    return folder_of(Path(config.invocation_params.dir, option.bundle))


def keep_device(config: pytest.Config, about: dict[str, Any]) -> None:
    """Keep what the device says of itself."""
    if config.stash.get(_PART, None) is not None:
        config.stash[_PART].device(about)


def keep_not_closed(config: pytest.Config, text: str) -> None:
    """Keep the failure of a session whose device could not be closed."""
    if config.stash.get(_PART, None) is not None:
        config.stash[_PART].not_closed(text)


def keep_sources(config: pytest.Config, path: Path, mark: CaseMark) -> None:
    """Keep the file that a row was compiled from, and those that it uses."""
    part = config.stash.get(_PART, None)
    if part is None or part.has_source(mark.suite.source) or path.suffix != SUFFIX:
        return
    part.source(mark.suite.source, _text(path))
    with contextlib.suppress(OSError):
        header = read_header(Path(compilation(config).of(path).module).read_text(encoding="utf-8"))
        for name in header.used if header is not None else ():
            if not part.has_source(name):
                library = installed.file_of(name) if name.startswith(installed.PREFIX) else None
                part.source(name, _text(config.rootpath / name if library is None else library[0]))


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="surrogateescape")


class Recording:
    """Registered in each process that keeps something."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self._unwritten = ""

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        part = self.config.stash.get(_PART, None)
        if part is not None:
            part.close()
        if hasattr(self.config, "workerinput"):
            return
        error = part.error if part is not None else None
        option = self.config.option
        if error is None and option.bundle is not None:
            error = self._merge(Path(self.config.invocation_params.dir, option.bundle))
        if error is not None:
            self._unwritten = str(Unwritable(Path(option.bundle or option.bundle_parts), error, "--bundle"))
            if session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
                session.exitstatus = pytest.ExitCode.USAGE_ERROR

    def _merge(self, file: Path) -> OSError | None:
        from mkeyspec.bundle.merge import folder_of, merge, parts_in

        try:
            if parts_in(folder_of(file)):
                merge(folder_of(file), file)
        except OSError as error:
            return error
        return None

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self._unwritten:
            terminalreporter.write_line(self._unwritten, red=True)


def add_options(group: pytest.OptionGroup) -> None:
    group.addoption("--bundle", metavar="FILE", help="keep what is observed of the device, for `mkeyspec judge`")
    group.addoption("--bundle-parts", metavar="DIR", help=argparse.SUPPRESS)  # of `mkeyspec run`, which merges them


def register(config: pytest.Config) -> None:
    option = config.option
    if parts_of(config) is None or option.collectonly or option.replay is not None:
        return
    if read_choice(option.device).kind == "bundle":
        raise pytest.UsageError("error[MKS0905]: --bundle keeps what a device does; a bundle that is judged is none")
    if option.bundle is not None and not hasattr(config, "workerinput"):
        refuse(Path(config.invocation_params.dir, option.bundle))
    config.pluginmanager.register(Recording(config), "mkeyspec-recording")


def refuse(file: Path) -> None:
    """Raises UsageError for a place that another file, or what a killed run left, is in."""
    from mkeyspec.bundle.merge import in_the_way

    why = in_the_way(file)
    if why:
        raise pytest.UsageError(f"error[MKS0902]: {why}")
