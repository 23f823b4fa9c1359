"""The model with a fault: every name of the catalogue, and the model that has it."""

from __future__ import annotations

from mkeyspec.device.model import Model
from mkeyspec.device.profile import Profile
from mkeyspec.sabotage import cipher, completion, crc, dif, driver, field, layout, posting, report, request, rights
from mkeyspec.sabotage.bend import BENDS
from mkeyspec.sabotage.catalogue import named

ROOMS = (cipher, completion, crc, dif, driver, field, layout, posting, report, request, rights)
"""Importing them is what fills BENDS."""


def bent(name: str, profile: Profile) -> Model:
    """A model with one fault. Raises UnknownFaultError."""
    return BENDS[named(name).name].make(profile)
