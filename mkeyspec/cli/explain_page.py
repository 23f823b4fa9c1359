"""`mkeyspec explain PAGE`: a page of the documentation, as text."""

from __future__ import annotations

from mkeyspec.files.resource import directory


def pages() -> dict[str, str]:
    """The names of all pages, each with its title: `running`, `howto/editor`. Raises FileNotFoundError."""
    folder = directory("docs")
    found = {path.relative_to(folder).with_suffix("").as_posix(): path for path in folder.rglob("*.md")}
    return {name: _title(found[name].read_text("utf-8")) for name in sorted(found)}


def names_of_pages() -> list[str]:
    """What may be asked for: each page by its name, and by the last part of it."""
    return sorted({short for name in pages() for short in (name, name.rpartition("/")[2])})


def page_called(name: str) -> str | None:
    """The text of a page by its name, or by the last part of it if one page alone has that; None if there is none.

    `.md` at its end and the folder `docs/` before it may be there, as in a link.
    """
    wanted = name.strip().removeprefix("docs/").removesuffix(".md").lower()
    named = {one.lower(): one for one in pages()}
    alike = [one for one in named if one.rpartition("/")[2] == wanted]
    found = wanted if wanted in named else alike[0] if len(alike) == 1 else None
    return None if found is None else (directory("docs") / f"{named[found]}.md").read_text("utf-8")


def meanings_of(word: str) -> list[str]:
    """What the glossary says of a word or a term: one text for each of its tables that has it."""
    found = []
    for table in (directory("docs") / "glossary.md").read_text("utf-8").split("\n## ")[1:]:
        name = table.partition("\n")[0]
        for line in table.splitlines():
            first, *columns = line.removeprefix("| ").removesuffix(" |").split(" | ")
            if columns and first.strip("`").lower() == word.lower():
                place = f"in {columns[0]}: " if len(columns) > 1 else ""
                found.append(f"{place}{columns[-1]}" if name != "Terms" else columns[-1])
    return found


def terms() -> list[str]:
    """The terms of the glossary that are the project's own, not of the language."""
    text = (directory("docs") / "glossary.md").read_text("utf-8")
    table = text.partition("\n## Terms\n")[2].partition("\n## ")[0]
    return [line[2:].partition(" | ")[0] for line in table.splitlines() if line.startswith("| ")][2:]


def _title(text: str) -> str:
    return text.partition("\n")[0].lstrip("# ")
