"""A hook of MkDocs: links of the documentation to files beside docs/ lead to pages of the site.

The documentation links sources, cases, explanations of codes. On the site each of them is a page under `files/`:
Markdown as it is, another file as a block of code, a folder as a list of names. So the site is whole, wherever it is
opened.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, InclusionLevel

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
LINK = re.compile(r"(?P<before>\]\()(?P<target>[^()\s#]+)(?P<anchor>#[^()\s]*)?(?=\))")
FENCE = re.compile(r"^ *```.*?^ *```", re.MULTILINE | re.DOTALL)
LANGUAGES = {".c": "c", ".h": "c", ".mks": "mks", ".py": "python", ".toml": "toml", ".json": "json", ".yml": "yaml"}
places: dict[str, Path] = {}
"""Of each page that this hook adds: the file or folder that it shows."""


def outside_of_code(markdown: str) -> Iterator[tuple[bool, str]]:
    """The pieces of a page in their order, and whether each is text (not a fenced block)."""
    at = 0
    for block in FENCE.finditer(markdown):
        yield True, markdown[at : block.start()]
        yield False, block[0]
        at = block.end()
    yield True, markdown[at:]


def linked(place: Path, markdown: str) -> Iterator[Path]:
    """The files and folders beside docs/ that a page links."""
    for is_text, piece in outside_of_code(markdown):
        for one in LINK.finditer(piece) if is_text else ():
            path = target_of(place, one["target"])
            if path is not None and not path.is_relative_to(DOCS):
                yield path


def target_of(place: Path, target: str) -> Path | None:
    """What a link of the page `place` leads to, if it is a file or folder of the repository."""
    if ":" in target:
        return None
    path = Path(os.path.normpath(place.parent / target))
    return path if path.exists() and path.is_relative_to(ROOT) else None


def uri(path: Path) -> str:
    """The page of a file or folder, below the folder of the site's sources."""
    if path.is_relative_to(DOCS):
        return path.relative_to(DOCS).as_posix()
    name = path.relative_to(ROOT).as_posix().lstrip(".")
    return f"files/{name}" if path.suffix == ".md" else f"files/{name}.md"


def page_of(path: Path) -> str:
    """The text of the page that shows a file or a folder."""
    if path.suffix == ".md":
        return path.read_text("utf-8")
    name = path.relative_to(ROOT).as_posix()
    head = f"---\nsearch:\n  exclude: true\n---\n# {name}\n\n"
    if path.is_dir():
        names = sorted(one.name + "/" * one.is_dir() for one in path.iterdir() if not one.name.startswith((".", "__")))
        return head + "".join(f"- `{one}`\n" for one in names)
    text = path.read_text("utf-8")
    fence = "`" * max(3, 1 + max(map(len, re.findall(r"`+", text)), default=0))
    return f"{head}{fence}{LANGUAGES.get(path.suffix, 'text')}\n{text.rstrip()}\n{fence}\n"


def on_files(files: Any, config: Any) -> Any:
    """Adds a page for all that is linked, and for what those pages link."""
    pages = [(DOCS / file.src_uri, (DOCS / file.src_uri).read_text("utf-8")) for file in files.documentation_pages()]
    while pages:
        place, text = pages.pop()
        for path in linked(place, text):
            if uri(path) not in places:
                places[uri(path)] = path
                content = page_of(path)
                files.append(File.generated(config, uri(path), content=content, inclusion=InclusionLevel.NOT_IN_NAV))
                if path.suffix == ".md":
                    pages.append((path, content))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """The links of a page lead to pages of the site."""
    del config, files
    here = page.file.src_uri
    place = places.get(here, DOCS / here)

    def led(one: re.Match[str]) -> str:
        path = target_of(place, one["target"])
        if path is None or (path.is_relative_to(DOCS) and place.is_relative_to(DOCS)):
            return one[0]
        new = os.path.relpath(uri(path), Path(here).parent)
        return f"{one['before']}{new}{one['anchor'] or ''}"

    return "".join(LINK.sub(led, piece) if is_text else piece for is_text, piece in outside_of_code(markdown))
