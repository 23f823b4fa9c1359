"""Opens the device that a session runs on, and the rig that drives it."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

import pytest

from mkeyspec.plugin import junitxml_option
from mkeyspec.plugin.again import command_of
from mkeyspec.plugin.device_wait import tell, when_free
from mkeyspec.plugin.evidence import traced
from mkeyspec.plugin.judging import replay_of
from mkeyspec.plugin.option_values import read_choice, read_profile
from mkeyspec.plugin.recording import recorder_of
from mkeyspec.plugin.row_values import calls_of_row, values_of_row
from mkeyspec.plugin.settings_defaults import settings_folder
from mkeyspec.plugin.watchdog import watched

if TYPE_CHECKING:
    from mkeyspec.device.profile.profile import Profile
    from mkeyspec.device.protocol import Device
    from mkeyspec.device.select import DeviceChoice
    from mkeyspec.run.departures import Expectations
    from mkeyspec.run.rig import Rig


def open_device(config: pytest.Config, *, recorded: bool = True) -> Device:
    """The device of `--device`. Raises Unavailable with the reason if it can't be used.

    `recorded`: what it does is kept in the bundle of the run, if one is asked for.
    """
    option = config.getoption
    profile = read_profile(option("--device-profile"))
    choice = read_choice(option("--device"))
    replay = replay_of(config)
    if replay is not None:
        from mkeyspec.bundle.replayed import Replayed

        return Replayed(replay)
    recorder = recorder_of(config) if recorded else None
    device = traced(config, _opened(config, choice, profile))
    return device if recorder is None else recorder.wrap(device)


def _opened(config: pytest.Config, choice: DeviceChoice, profile: Profile) -> Device:
    from mkeyspec.device.protocol import PathChoice
    from mkeyspec.device.select import open_choice

    option = config.getoption
    if choice.kind == "model" and option("--fault") is not None:
        from mkeyspec.sabotage.conditions import catalogue
        from mkeyspec.sabotage.model import faulty_model

        conditional = catalogue.candidates().get(option("--fault"))
        return faulty_model(option("--fault"), profile) if conditional is None else conditional.make(profile)
    path = PathChoice(option("--gid-index"), option("--path-mtu"), option("--peer"))

    def opening() -> Device:
        with watched(config, "opened"):
            return open_choice(choice, profile, allow_busy_port=option("--allow-busy-port"), path=path)

    return when_free(config, opening)


DEVICE: pytest.StashKey[Device] = pytest.StashKey()
"""In the config's stash: the device that was opened when the session started, until the first test takes it."""


def pytest_sessionstart(session: pytest.Session) -> None:
    """A device that can't be opened ends the session here with one line, instead of failing every test. With xdist
    the controller only checks that it can be opened; the workers use it.
    """
    config = session.config
    junitxml_option.take_over(config)
    if config.getoption("--collect-only") or hasattr(config, "workerinput") or config.getoption("--device") == "model":
        return
    if config.getoption("--processes") or config.getoption("--isolate"):
        return  # it is tried in another process
    from mkeyspec.device.protocol import Unavailable
    from mkeyspec.device.verbs import device_lock

    try:
        device = open_device(config)
    except Unavailable as error:
        raise pytest.UsageError(str(error)) from None
    tell(config, device_lock.notes())
    if config.pluginmanager.hasplugin("dsession"):
        if (text := not_closed(config, device)) is not None:
            raise pytest.UsageError(text)
    else:
        config.stash[DEVICE] = device


OPEN: pytest.StashKey[Device | None] = pytest.StashKey()
"""In the config's stash: the device that the tests run on; None while there is none to close."""


def not_closed(config: pytest.Config, device: Device) -> str | None:
    """Close a device; what it raised, with its code and place."""
    try:
        with watched(config, "closed"):
            device.close()
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # whatever a broken device raises, also what would end a test
        return f"error[MKS2207]: the device can't be closed: {raised_by(error)}"
    return None


def raised_by(error: BaseException) -> str:
    """`OSError: no answer, at acme_nic.py:42`."""
    (*_, frame) = traceback.extract_tb(error.__traceback__)
    text = str(error).split("\n", 1)[0]
    return f"{type(error).__name__}{': ' if text else ''}{text}, at {os.path.relpath(frame.filename)}:{frame.lineno}"


@contextmanager
def asked(config: pytest.Config) -> Iterator[None]:
    """While the device is asked what it is, outside of any case. What it raises fails the row, also where it is of
    pytest, and would skip the row or end the run: MKS0944 for a device of another package."""
    try:
        with watched(config, "asked what it is"):
            yield
    except (KeyboardInterrupt, pytest.fail.Exception):
        raise
    except BaseException as error:
        ends = not isinstance(error, Exception) or isinstance(error, pytest.exit.Exception)
        if not ends and read_choice(config.getoption("--device")).kind != "outside":
            raise
        pytest.fail(f"error[MKS0944]: the device of another package raises {raised_by(error)}", pytrace=False)


def close_device(config: pytest.Config) -> None:
    device, config.stash[OPEN] = config.stash.get(OPEN, None), None
    if device is not None:
        with watched(config, "closed"):
            device.close()


def open_anew(config: pytest.Config, deadline: float) -> Device | None:
    """Close the device, which is not healthy, and open it again: a healthy one, or None. A device that can't be
    closed is not opened again, nor one that was not healthy after it was opened again before.
    """
    from mkeyspec.run import health_check

    if config.stash.get(OPEN, None) is None:
        return None
    try:
        close_device(config)
        config.stash[OPEN] = device = open_device(config)
        with watched(config, "tested"):
            if not health_check.symptom(device, deadline):
                device.events()  # of the canary transfer
                return device
        close_device(config)
    except KeyboardInterrupt:
        raise
    except BaseException:  # whatever a broken device raises: it stays as it was
        config.stash[OPEN] = None
    return None


def pytest_unconfigure(config: pytest.Config) -> None:
    """Close a device that no test used."""
    device = config.stash.get(DEVICE, None)
    if device is not None:
        del config.stash[DEVICE]
        if (text := not_closed(config, device)) is not None:
            print(text, file=sys.stderr)


def make_rig(config: pytest.Config, device: Device, profile: Profile, expectations: Expectations) -> Rig:
    from mkeyspec.compiler.live_rules import LiveRules
    from mkeyspec.requirements.own import all_requirements
    from mkeyspec.run.rig import Rig

    known = all_requirements(settings_folder(config))

    def statement(identifier: str) -> str | None:
        found = known.get(identifier)
        return found.statement if found is not None else None

    return Rig(
        device,
        profile,
        expectations,
        deadline=config.getoption("--deadline"),
        statement=statement,
        again=partial(command_of, config),
        values=values_of_row,
        calls=calls_of_row,
        around=replay_of(config) or recorder_of(config),
        rules=LiveRules,
    )
