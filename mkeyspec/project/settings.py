"""The settings of a project (`mkeyspec.toml`), with the values that only the compiler and the devices can check."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mkeyspec.files.settings import Settings, settings_for
from mkeyspec.requirements.own import own_ledger

if TYPE_CHECKING:
    from mkeyspec.compiler.warning_levels import Levels


def checked_settings(start: Path) -> Settings:
    """The settings for what is in the folder `start`. Raises TomlError (MKS0940; MKS0941 of its
    ledgers) with all that is wrong with them."""
    settings = settings_for(start)
    document = settings.document
    if document is None:
        return settings
    if settings.device is not None:
        from mkeyspec.device.protocol import Unavailable
        from mkeyspec.device.select import parse

        try:
            parse(settings.device)
        except Unavailable as error:
            document.error(error.message, "device")
    if settings.require:
        from mkeyspec.device.profile.profile import ProfileError, check_required

        for number, name in enumerate(settings.require):
            try:
                check_required([name])
            except ProfileError as error:
                document.error(str(error), "require", number)
    _levels(settings)
    document.finish()
    if settings.ledgers:
        own_ledger(start)
    return settings


def _levels(settings: Settings) -> Levels:
    from mkeyspec.compiler.warning_levels import Levels

    found = Levels()
    for key, codes in (("allow", settings.allow), ("deny", settings.deny)):
        for number, code in enumerate(codes):
            try:
                one = Levels.of([code], []) if key == "allow" else Levels.of([], [code])
                found = Levels(found.allow | one.allow, found.deny | one.deny)
            except ValueError as error:
                assert settings.document is not None
                settings.document.error(str(error).removeprefix("--"), "warnings", key, number)
    return found


def levels_of(settings: Settings, given: Levels) -> Levels:
    """What becomes of warnings: as a command line says (`given`), then as the project says."""
    return given.over(_levels(settings)) if settings.allow or settings.deny else given
