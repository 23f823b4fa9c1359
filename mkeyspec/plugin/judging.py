"""`--device bundle:FILE`: the rows of a bundle are judged again, and the device is not there."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import pytest

from mkeyspec.device.select import Kind
from mkeyspec.plugin.nodes import BrokenFile
from mkeyspec.plugin.not_closed import NOT_CLOSED
from mkeyspec.plugin.option_values import read_choice
from mkeyspec.report.rows import plain
from mkeyspec.run.marks import case_of

if TYPE_CHECKING:
    from mkeyspec.bundle.reader import Bundle
    from mkeyspec.bundle.replay import Replay
    from mkeyspec.device.select import DeviceChoice

_REPLAY: pytest.StashKey[Replay] = pytest.StashKey()
CODE = "MKS0954"


def bundle_of(config: pytest.Config) -> Bundle | None:
    """The bundle that is judged; None on a device. Raises UsageError."""
    from mkeyspec.bundle.reader import Unusable, opened

    choice = read_choice(config.option.device)
    if choice.kind != "bundle":
        return None
    try:
        return opened(Path(os.path.abspath(Path(config.invocation_params.dir, choice.argument))))
    except Unusable as error:
        raise pytest.UsageError(str(error)) from None


def replay_of(config: pytest.Config) -> Replay | None:
    """What the rig and its device answer from, if a bundle is judged."""
    bundle = bundle_of(config)
    if bundle is None:
        return None
    if config.stash.get(_REPLAY, None) is None:
        from mkeyspec.bundle.replay import Replay

        config.stash[_REPLAY] = Replay(bundle)
    return config.stash[_REPLAY]


def device_choice(config: pytest.Config) -> DeviceChoice:
    """The device of the session; of a bundle, that of its run."""
    choice = read_choice(config.option.device)
    bundle = bundle_of(config)
    if bundle is None:
        return choice
    kinds: tuple[Kind, ...] = get_args(Kind)
    return replace(choice, kind=next((one for one in kinds if one == bundle.kind), "outside"))


class Judging:
    """Registered in each process of a session that judges a bundle."""

    def __init__(self, config: pytest.Config, bundle: Bundle) -> None:
        self.config = config
        self.bundle = bundle
        self._collected: set[str] | None = None
        self._unjudged = False

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Leave out the rows that the bundle does not have."""
        ids = self.bundle.ids
        kept: list[pytest.Item] = []
        left: list[pytest.Item] = []
        for item in items:
            row = case_of(getattr(item, "obj", None)) is not None
            (kept if not row or isinstance(item, BrokenFile) or item.nodeid in ids else left).append(item)
        self._collected = {item.nodeid for item in items}
        if left:
            items[:] = kept
            config.hook.pytest_deselected(items=left)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._unjudged = self._unjudged or getattr(report, "not_judged", "") == CODE

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """A row of the bundle without a verdict may be one that failed in the run: that is no success."""
        partly = self.bundle.cut or self._unjudged or self._gone()
        if partly and session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        write, bundle = terminalreporter.write_line, self.bundle
        if bundle.cut:
            rows = f"{len(bundle.ids)} row{'s' if len(bundle.ids) != 1 else ''}"
            write(f"error[MKS0953]: {bundle.path}: the bundle is cut: the {rows} before that are judged", red=True)
        gone = self._gone()
        if gone:
            what = "1 row of the bundle is" if len(gone) == 1 else f"{len(gone)} rows of the bundle are"
            write(f"error[MKS0955]: {what} not in these cases, as {gone[0]}", red=True)

    def _gone(self) -> list[str]:
        """Rows of the bundle that are not in the cases, if all of these are judged. A file that is there, and that the
        named paths leave out, is not looked at."""
        option, args = self.config.option, self.config.args
        if self._collected is None or option.keyword or option.markexpr or any("::" in one for one in args):
            return []
        here = self.config.invocation_params.dir
        named = [Path(os.path.realpath(here / one)) for one in args]
        files: dict[str, bool] = {}
        for name in dict.fromkeys(id.partition("::")[0] for id in self.bundle.ids):
            file = Path(os.path.realpath(self.config.rootpath / name))
            files[name] = not file.is_file() or any(file.is_relative_to(one) for one in named)
        return [id for id in self.bundle.ids if id not in self._collected and files[id.partition("::")[0]]]


def register(config: pytest.Config) -> None:
    bundle = bundle_of(config)
    if bundle is not None:
        if bundle.not_closed:
            config.stash[NOT_CLOSED] = plain(bundle.not_closed)
        config.pluginmanager.register(Judging(config, bundle), "mkeyspec-judging")
