"""The first line of a stream of results: how a run was started, and on what."""

from __future__ import annotations

import contextlib
import platform
import sys
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mkeyspec import __version__
from mkeyspec.files.commit import commit_of
from mkeyspec.plugin.judging import bundle_of
from mkeyspec.plugin.option_values import read_choice
from mkeyspec.report import place
from mkeyspec.report.record import SCHEMA, Begin

if TYPE_CHECKING:
    from mkeyspec.bundle.reader import Bundle


def run_of(config: pytest.Config) -> str:
    """The name of this run, in each of its processes: that of its folder of results, or a new one."""
    option = config.option
    if getattr(option, "run_name", None) is None:
        results = Path(option.results or "")
        usual = results.name == place.FILE and place.is_run_name(results.parent.name)
        option.run_name = results.parent.name if usual else place.run_name(option.device)
    name: str = option.run_name
    return name


def begin_of(config: pytest.Config, run: str) -> Begin:
    option = config.option
    choice = read_choice(option.device)
    commit, changed = commit_of(config.rootpath)
    bundle = bundle_of(config)
    return Begin(
        schema=SCHEMA,
        run=run,
        started=datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        mkeyspec=__version__,
        device=choice.text if bundle is None else bundle.device,
        personality=choice.personality or "" if bundle is None else str(bundle.run.get("personality", "")),
        profile=option.case_profile or "",
        device_profile=option.device_profile or "",
        device_points=_points(option.device_profile),
        expectations=list(option.expectations),
        options=_arguments(config),
        git_commit=commit,
        git_changed=changed,
        host=platform.node(),
        kernel=f"{platform.system()} {platform.release()}",
        python=platform.python_version(),
        pytest=pytest.__version__,
        seed=str(option.drawn_from or ""),
        vary=option.vary or "",
        judged="" if bundle is None else _judged(bundle),
    )


def _points(profile: str | None) -> list[list[str]]:
    if profile is None:
        return []
    from mkeyspec.device.profile.difference import differences

    return [[one.point, one.value, one.default, one.seen, *one.sides] for one in differences(Path(profile))]


def _judged(bundle: Bundle) -> str:
    run = bundle.run
    return f"{bundle.path.name}, sha256 {bundle.sha256}, of {run.get('run', '')}, {run.get('started', '')}"


def _arguments(config: pytest.Config) -> list[str]:
    """Those of the user: `mkeyspec run` adds its own for pytest."""
    of_run = getattr(config.option, "journal", None) is not None
    return sys.argv[1:] if of_run else [str(one) for one in config.invocation_params.args]


def pci_of(config: pytest.Config) -> str:
    """The PCI address of a real NIC; "" of others."""
    choice = read_choice(config.option.device)
    if choice.kind != "nic":
        return ""
    with contextlib.suppress(OSError):
        return Path(f"/sys/class/infiniband/{choice.name}/device").readlink().name
    return ""
