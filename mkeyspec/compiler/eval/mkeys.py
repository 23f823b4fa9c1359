"""What the ledger asks of the mkeys of a row. The abstract state of the row answers (`check.state`)."""

from __future__ import annotations

from typing import Protocol

from mkeyspec.diagnostics.source import Span
from mkeyspec.value.layout import Layout
from mkeyspec.value.signature import Domains


class Mkey(Protocol):
    """What a case has configured an mkey to, as far as its bytes are concerned."""

    @property
    def layout(self) -> Layout | None:
        """None until a layout was set."""
        ...

    @property
    def domains(self) -> Domains: ...

    @property
    def wire_span(self) -> Span | None:
        """Where its wire domain was written, for notes."""
        ...


class Mkeys(Protocol):
    """The mkeys of a row as they are at one point of it."""

    def mkey(self, name: str) -> Mkey | None:
        """None: no mkey is called so."""
        ...

    def copy(self) -> Mkeys:
        """The mkeys as they are now, whatever configures them later."""
        ...
