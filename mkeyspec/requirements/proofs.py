"""What `mkeyspec sabotage --claims` proved of a suite, as `cases/claims.json` keeps it.

One line a proof: the case, the entry and its half, and the fault, the row and the failure that prove it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

POSITIVE, NEGATIVE = "positive", "negative"
FILE = Path("cases") / "claims.json"


class ProofsError(ValueError):
    """A file that holds no proofs; `str()` is one line."""


@dataclass(frozen=True, slots=True)
class Proof:
    """`fault` of the catalogue, or with a condition; `row` as in the item's id, in brackets; `code` of the failure."""

    fault: str
    row: str
    code: str

    def item(self, case: str) -> str:
        """The id of the row."""
        return f"{case}[{self.row}]" if self.row else case


@dataclass(slots=True)
class Proofs:
    """By case, entry and half."""

    known: dict[tuple[str, str, str], Proof] = field(default_factory=dict)

    def of(self, case: str, requirement: str, half: str) -> Proof | None:
        return self.known.get((case, requirement, half))

    def text(self) -> str:
        """As the file has it, a line each, in order."""
        lines = [
            f"  {json.dumps(' '.join(key))}: {json.dumps([one.fault, one.row, one.code], ensure_ascii=False)}"
            for key, one in sorted(self.known.items())
        ]
        return "{\n" + ",\n".join(lines) + "\n}\n"

    def replaced(self, cases: Iterable[str], found: dict[tuple[str, str, str], Proof]) -> Proofs:
        """What is known now of these cases, and of the others as before."""
        gone = set(cases)
        return Proofs({**{key: one for key, one in self.known.items() if key[0] not in gone}, **found})


def read(project: Path) -> Proofs | None:
    """The project's; None if it has none. Raises ProofsError."""
    path = project / FILE
    try:
        table = json.loads(path.read_text(encoding="utf-8"))
        found: dict[tuple[str, str, str], Proof] = {}
        for key, (fault, row, code) in table.items():
            case, requirement, half = key.rsplit(" ", 2)
            found[case, requirement, half] = Proof(fault, row, code)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, AttributeError):
        raise ProofsError(f"{path} holds no proofs of `mkeyspec sabotage --claims`; take it away") from None
    return Proofs(found)
