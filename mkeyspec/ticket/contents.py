"""The files of a ticket, each with a sentence that says what it is, and what could not be read, with the reason."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field


@dataclass(slots=True)
class Contents:
    """In the order of the archive."""

    files: dict[str, tuple[bytes, str]] = field(default_factory=dict)
    """By path: the bytes, and what they are."""
    missing: list[tuple[str, str]] = field(default_factory=list)
    """What there is not, and why."""

    def add(self, path: str, text: str | bytes, what: str) -> None:
        data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape")
        self.files[path] = (data, what)

    def lacks(self, what: str, why: str) -> None:
        self.missing.append((what, why))

    def written(self, head: Sequence[str], redacted: Callable[[str], str] | None) -> dict[str, bytes]:
        """All files, README.md first. `redacted` is applied to every text."""
        readme = "\n".join([*head, *self._listed()]) + "\n"
        found = {"README.md": readme.encode()}
        found.update({path: data for path, (data, _) in self.files.items()})
        if redacted is None:
            return found
        return {path: redacted(_decoded(data)).encode("utf-8", "surrogateescape") for path, data in found.items()}

    def _listed(self) -> Iterator[str]:
        yield "## Files"
        yield ""
        yield "| file | is |"
        yield "| --- | --- |"
        for path, (_, what) in self.files.items():
            yield f"| `{path}` | {what} |"
        if self.missing:
            yield ""
            yield "## What is not here"
            yield ""
            yield "| what | why |"
            yield "| --- | --- |"
            for what, why in self.missing:
                yield f"| {what} | {' '.join(why.split())} |"


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")
