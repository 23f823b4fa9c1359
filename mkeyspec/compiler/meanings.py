"""What each name of a file means, kept while names are resolved: for an editor, which shows and renames them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Optional

from mkeyspec.diagnostics.source import Span


@dataclass(slots=True)
class Meanings:
    """`uses`: each place of a name with the place of its declaration, None where it is a word of the language.
    `declarations`: each place where a name is declared, with that of an earlier declaration of the same name (which is
    an error), else None."""

    uses: list[tuple[Span, Optional[Span]]] = field(default_factory=list)
    declarations: list[tuple[Span, Optional[Span]]] = field(default_factory=list)

    def use(self, place: Span, declared: Optional[Span]) -> None:
        self.uses.append((place, declared))

    def declare(self, place: Span, earlier: Optional[Span]) -> None:
        self.declarations.append((place, earlier))
