"""What the peer got of a short form."""

from __future__ import annotations

from dataclasses import dataclass

from mkeyspec.plan import At
from mkeyspec.run.buffer import Buffer


@dataclass(slots=True, eq=False)
class WireView:
    """The peer's buffer of one transmit; `whole`: the transfer succeeded, so all of it is the wire."""

    buffer: Buffer
    length: int
    at: At
    whole: bool
