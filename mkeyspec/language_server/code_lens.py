"""Above each case: run it on the model, run it on the software NIC."""

from __future__ import annotations

from dataclasses import dataclass

from mkeyspec.language_server.document import Document

COMMAND = "mkeyspec.run"
"""The command of the lenses. Arguments: the file's URI, the case ("" for the whole file), the device."""

DEVICES = (("model", "run on the model"), ("soft", "run on the software NIC"))


@dataclass(frozen=True, slots=True)
class Lens:
    start: int
    end: int
    title: str
    arguments: tuple[str, ...]


def code_lenses(document: Document) -> list[Lens]:
    found: list[Lens] = []
    for piece, case in document.cases():
        place = piece.place(case.name.span)
        if place is not None and case.name.span.end - case.name.span.start == len(case.name.text):
            found += [Lens(*place, title, (document.uri, case.name.text, device)) for device, title in DEVICES]
    return found
