"""The plugins of a session beside the hooks of `mkeyspec.plugin`: those of the process that gets all reports, or those
of a worker, which runs rows for it.

A worker is a process of pytest-xdist, or one that `processes` has started. It has `config.workerinput`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from mkeyspec.plugin import journal, judging, not_closed, quarantine, recording, result_stream, waivers, worker_errors
from mkeyspec.plugin.collected import Collected
from mkeyspec.plugin.colour import Colours
from mkeyspec.plugin.device_points import DevicePoints
from mkeyspec.plugin.measured_elsewhere import MeasuredElsewhere
from mkeyspec.plugin.nothing_judged import Judged
from mkeyspec.plugin.option_values import read_choice, read_required
from mkeyspec.plugin.provenance import run_of
from mkeyspec.plugin.required import Required
from mkeyspec.plugin.row_ids import RowIds
from mkeyspec.plugin.same_device import NAME as SAME
from mkeyspec.plugin.same_device import SameDevice
from mkeyspec.plugin.unseen_departures import Absences
from mkeyspec.plugin.watchdog import NAME, Watch

OURS = "mkeyspec-"
"""The names of these plugins begin so."""


def register(config: pytest.Config, *, watched: bool = False) -> None:
    """`watched`: also the model's calls have a deadline. Raises UsageError if a file that an option names can't be
    used, or if `-p no:` names one of these plugins."""
    option, manager = config.option, config.pluginmanager
    _refuse_blocked(config)
    journal.register(config)
    worker_errors.register(config)
    not_closed.register(config)
    quarantine.register(config)
    waivers.register(config, option.waivers)
    run_of(config)
    manager.register(Collected(config), "mkeyspec-collected")
    judging.register(config)
    recording.register(config)
    watched |= read_choice(option.device).kind not in ("model", "bundle")
    if watched and not option.collectonly:
        manager.register(Watch(config, journal.note_for(config)), NAME)
    result_stream.register(config)
    if not hasattr(config, "workerinput"):
        if option.row_ids is not None:
            manager.register(RowIds(Path(option.row_ids)), "mkeyspec-row-ids")
        manager.register(Absences(config), "mkeyspec-absences")
        manager.register(Judged(), "mkeyspec-judged")
        manager.register(SameDevice(), SAME)
        manager.register(Colours(config), "mkeyspec-colours")
        if option.device_profile is not None:
            manager.register(DevicePoints(option.device_profile), "mkeyspec-device-points")
            manager.register(MeasuredElsewhere(option.device_profile), "mkeyspec-measured-elsewhere")
        if option.require:
            manager.register(Required(read_required(option.require)), "mkeyspec-required")


def _refuse_blocked(config: pytest.Config) -> None:
    """`-p no:NAME`, also in `addopts`: the failures that this part reports would be missing, and the run a success."""
    for asked in config.option.plugins:
        name = asked.removeprefix("no:")
        if name != asked and name.startswith(OURS):
            raise pytest.UsageError(
                f"error[MKS0928]: -p {asked}: this part of mkeyspec can't be switched off, since the failures that it "
                "reports would be missing; leave it out, or switch all of the plugin off by -p no:mkeyspec"
            )
