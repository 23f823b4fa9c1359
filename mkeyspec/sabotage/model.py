"""The model with a fault: every name of the catalogue, and the model that has it."""

from __future__ import annotations

from mkeyspec.device.model.device import Model
from mkeyspec.device.profile.profile import Profile
from mkeyspec.sabotage.catalogue import named
from mkeyspec.sabotage.fault import FAULTY
from mkeyspec.sabotage.faults import (
    access,
    check_and_copy,
    completion,
    crc,
    crypto,
    dek,
    dif,
    driver,
    error_report,
    layout,
    login,
    other_request,
    posting,
    refusal,
    request,
)

MODULES = (
    access,
    check_and_copy,
    completion,
    crc,
    crypto,
    dek,
    dif,
    driver,
    error_report,
    layout,
    login,
    other_request,
    posting,
    refusal,
    request,
)
"""Importing them is what fills FAULTY."""


def faulty_model(name: str, profile: Profile) -> Model:
    """A model with one fault. Raises UnknownFaultError."""
    return FAULTY[named(name).name].make(profile)
