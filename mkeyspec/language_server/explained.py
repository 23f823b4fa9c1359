"""What words, functions and requirements mean, in Markdown, from the compiler's tables."""

from __future__ import annotations

from collections.abc import Mapping

from mkeyspec.compiler.eval.builtins import DOCS, WORDS
from mkeyspec.compiler.eval.builtins import KINDS as WORD_KINDS
from mkeyspec.compiler.eval.functions.table import FUNCTIONS, KINDS
from mkeyspec.compiler.eval.values import Function, Word, parameter_text
from mkeyspec.compiler.statements.registry import PLACES
from mkeyspec.compiler.statements.shape import Shape, Slot
from mkeyspec.language_server.keywords import about_keyword
from mkeyspec.requirements.ledger import Requirement, departures


def code(text: str) -> str:
    return f"```mks\n{text}\n```"


def about_function(function: Function) -> str:
    lines = [code(str(function)), function.doc, ""]
    lines += [f"- `{parameter_text(one)}`: {KINDS[one.kind][0]}" for one in function.parameters]
    return "\n".join(lines).rstrip()


def about_word(name: str) -> str:
    """A word of the language that is a value; "" if there is none."""
    if name not in DOCS:
        return ""
    kind, meaning = DOCS[name]
    value = WORDS[name]
    number = f" = `{value.value:#x}`" if isinstance(value, Word) and value.value is not None else ""
    lines = [f"`{name}`{number}: {meaning}" if meaning else f"`{name}`{number}", WORD_KINDS.get(kind, "")]
    return "\n\n".join(line for line in lines if line)


def about_shape(shape: Shape) -> str:
    """A statement, or a line in braces: its form, what it takes, and its page."""
    lines = [code(shape.example), ""]
    takes = [] if shape.operand is None else [_optional(shape.operand)]
    takes += [f"`{name}` {_optional(slot)}" for name, slot in shape.phrases.items()]
    if shape.value is not None:
        takes.append(f"`=` {_optional(shape.value)}")
    if shape.lines is not None:
        takes.append(f"lines: {_listed(shape.lines.shapes)}")
    rows = [("takes", "; ".join(takes)), ("modifiers", "; ".join(_modifiers(shape.modifiers)))]
    rows.append(("`but`", _listed(dict.fromkeys(shape.but))))
    claims = [f"rejected at {phase}" for phase in shape.phases] + ["completes"] * shape.completes
    rows.append(("claims", _listed(dict.fromkeys(claims))))
    rows.append(("page", shape.page))
    lines += [f"- {name}: {text}" for name, text in rows if text]
    return "\n".join(lines).rstrip()


def _optional(slot: Slot) -> str:
    return slot.what if slot.required else f"{slot.what}, if wanted"


def _modifiers(modifiers: Mapping[str, Slot | None]) -> list[str]:
    return [f"`{name}`" if slot is None else f"`{name}` {_optional(slot)}" for name, slot in modifiers.items()]


def _listed(names: Mapping[str, object]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def about_reserved(word: str) -> str:
    """A word of the structure: its form, what it means, and the statements that have it."""
    told = about_keyword(word)
    if told is None:
        return ""
    taken: dict[str, set[str]] = {}
    for place in PLACES.values():
        for shape in place.shapes.values():
            if word in shape.phrases:
                taken.setdefault(shape.phrases[word].what, set()).add(f"`{shape.name}`")
    rows = [f"- takes {what}: {', '.join(sorted(of))}" for what, of in taken.items()]
    return "\n".join([code(told[0]), told[1], *([""] if rows else []), *rows])


def about_any(word: str) -> str:
    """A word of the language, wherever it may be: a function, a value, a statement, a line in braces, a modifier, an
    argument; "" if it is none."""
    told = [about_function(FUNCTIONS[word])] if word in FUNCTIONS else []
    told.append(about_word(word))
    forms: dict[str, list[str]] = {}
    for name, place in PLACES.items():
        if word in place.shapes:
            forms.setdefault(about_shape(place.shapes[word]), []).append(name)
    for form, places in forms.items():
        where = "" if "case" in places else f"in {_listed(dict.fromkeys(places))}:\n"
        told.append(where + form)
    of = {shape.name for place in PLACES.values() for shape in place.shapes.values() if word in shape.modifiers}
    if of:
        told.append(f"`{word}`: a modifier of {', '.join(f'`{name}`' for name in sorted(of))}")
    told.append(about_reserved(word))
    told.append(_about_parameter(word))
    return "\n\n".join(dict.fromkeys(one for one in told if one))


def _about_parameter(word: str) -> str:
    """The functions that have an argument of this name, and what it takes."""
    taken: dict[str, list[str]] = {}
    for function in FUNCTIONS.values():
        for one in function.parameters:
            if one.name == word:
                taken.setdefault(KINDS[one.kind][0], []).append(f"`{function.name}`")
    return "\n".join(f"an argument of {', '.join(names)}: {what}" for what, names in taken.items())


def about_requirement(one: Requirement) -> str:
    section = f", {one.section}" if one.section else ""
    return f"**{one.id}**: {one.title}\n\n{one.statement}\n\n{one.page}{section}, {one.level}"


def about_id(id: str, known: Mapping[str, Requirement]) -> str:
    """A requirement or a departure by its id; "" if there is none."""
    if id in known:
        return about_requirement(known[id])
    departure = departures().get(id)
    return "" if departure is None else f"**{id}**\n\n{departure.statement}"
