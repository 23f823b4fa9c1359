"""Rigs for commands that run single cases again and again: on the model, and on the device that the options name."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from mkeyspec.cli.session import Failure

if TYPE_CHECKING:
    from mkeyspec.run.rig import Rig

MODEL_WAIT = 0.01
"""Longest wait on the model, in seconds: it has done all its work before a call returns."""


def add_device(parser: argparse.ArgumentParser) -> None:
    """What `opener` reads, but `--device`."""
    parser.add_argument(
        "--fault", metavar="NAME", help="give the model or the software NIC a fault of `sabotage --list`"
    )
    parser.add_argument("--device-profile", metavar="FILE", help="TOML: the device's implementation-defined points")
    parser.add_argument("--expectations", action="append", default=[], metavar="FILE", help="known departures, TOML")
    parser.add_argument(
        "--deadline", type=float, default=1.0, metavar="S", help="longest wait for anything (default: 1)"
    )


def take_fault(options: argparse.Namespace) -> None:
    """The fault of the software NIC, which it has from its start on."""
    if options.fault is not None and options.device.startswith("soft"):
        from mkeyspec.device.soft.preload import FAULT

        os.environ[FAULT] = options.fault


def opener(options: argparse.Namespace) -> Callable[[], Rig]:
    """Opens the device in question. Raises Failure for options that can't be used."""
    from mkeyspec.device.profile.profile import Profile, ProfileError, load
    from mkeyspec.device.protocol import Unavailable
    from mkeyspec.device.select import open_choice, parse
    from mkeyspec.files import resource
    from mkeyspec.run.departures import Expectations
    from mkeyspec.run.rig import Rig
    from mkeyspec.sabotage.catalogue import UnknownFaultError, named
    from mkeyspec.sabotage.model import faulty_model

    try:
        profile = load(Path(options.device_profile)) if options.device_profile else Profile()
        choice = parse(options.device)
        if options.fault is not None:
            named(options.fault)
    except ProfileError as error:
        raise Failure("MKS0904", str(error)) from None
    except Unavailable as error:
        raise Failure(error.code, error.message) from None
    except UnknownFaultError as error:
        raise Failure("MKS0907", str(error)) from None
    if options.fault is not None and choice.kind not in ("model", "soft"):
        raise Failure("MKS0905", "--fault: only the model and the software NIC can be given one")

    def opened() -> Rig:
        try:
            faulty = choice.kind == "model" and options.fault is not None
            device = faulty_model(options.fault, profile) if faulty else open_choice(choice, profile)
        except Unavailable as error:
            raise Failure(error.code, error.message) from None
        files = [Path(name) for name in options.expectations]
        if choice.kind != "model":
            files = [*resource.directory("expectations").glob("*.toml"), *files]
        deadline = options.deadline if choice.kind != "model" else min(options.deadline, MODEL_WAIT)
        return _quick(Rig(device, profile, Expectations.load(files, device.info()), deadline=deadline))

    return opened


def rig_of_model() -> Rig:
    from mkeyspec.device.model.device import Model
    from mkeyspec.device.profile.profile import Profile
    from mkeyspec.run.departures import Expectations
    from mkeyspec.run.rig import Rig

    model = Model(Profile())
    return _quick(Rig(model, Profile(), Expectations.load([], model.info()), deadline=MODEL_WAIT))


def _quick(rig: Rig) -> Rig:
    """A thousand failures are looked at, and only their codes."""
    rig.likens = False
    return rig
