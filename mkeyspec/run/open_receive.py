"""Receives that were posted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mkeyspec.device.protocol import Sge
from mkeyspec.plan import At
from mkeyspec.run.label import Label

if TYPE_CHECKING:
    from mkeyspec.run.evidence import Due
    from mkeyspec.run.mkey_state import MkeyState


@dataclass(slots=True, eq=False)
class OpenReceive:
    """A receive that was posted. `fills`: its pieces in turn, each the signature mkey that it is of, or None, and its
    wire bytes; whether byte_len counts the wire or the memory of one is open (X-OPEN-17). `own`: posted by a short
    form, not by the case."""

    at: At
    wr_id: int
    sges: tuple[Sge, ...]
    names_mkey: bool = False
    fills: tuple[tuple[MkeyState | None, int], ...] = ()
    own: bool = False
    label: Label | None = None
    astray: bool = False
    """Its first key is not that of the object which it names."""
    due: Due | None = None
    """Set when a message for it was posted."""
    place: int = 0
    """Its place among all receives that were posted."""
    step: int = -1
    """The number of the step that posted it; -1: none of the case."""
    gone: bool = False
    """It was in a queue that a reset has emptied, and was not posted again."""
