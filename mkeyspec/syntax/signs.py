"""Characters that are not of the language: which sign, blank or letter of the keyboard was meant by each."""

from __future__ import annotations

import unicodedata

SIGNS = "== != < <= > >= | ^ & << >> ++ + - * / % .. +: ="
"""The operators, as they are shown to one who wrote another."""

_WORDS = {"RIGHTWARDS": "to", "LEFTWARDS": "from", "LOGICAL AND": "and", "LOGICAL OR": "or", "NOT SIGN": "not"}
"""What is written as a word, by a part of the character's name."""

_NAMED = {
    "NOT EQUAL TO": "!=",
    "LESS-THAN OR EQUAL TO": "<=",
    "GREATER-THAN OR EQUAL TO": ">=",
    "IDENTICAL TO": "==",
    "MULTIPLICATION SIGN": "*",
    "DOT OPERATOR": "*",
    "ASTERISK OPERATOR": "*",
    "DIVISION SIGN": "/",
    "DIVISION SLASH": "/",
    "MINUS SIGN": "-",
    "ELEMENT OF": "in",
    "NOT AN ELEMENT OF": "not in",
    "HORIZONTAL ELLIPSIS": "..",
    "TWO DOT LEADER": "..",
    "UNION": "|",
    "XOR": "^",
    "CIRCLED PLUS": "^",
}

_LETTERS = dict(zip("аеорсухіѕјԁһклмнтвαοενκτρυχι", "aeopcyxisjdhklmhtbaoevktpuxi", strict=True))
"""Letters of other scripts that look like one of ours."""

_BY_CATEGORY = {"Pd": "-", "Pi": '"', "Pf": '"', "Zs": " ", "Cf": ""}


def meant(character: str) -> str | None:
    """What is written for `character`; None where that is not known."""
    if character.isascii():
        return None
    name = unicodedata.name(character, "")
    if name in _NAMED:
        return _NAMED[name]
    if "ARROW" in name or name in _WORDS:
        return next((word for part, word in _WORDS.items() if name.startswith(part)), None)
    if character in _LETTERS:
        return _LETTERS[character]
    plain = unicodedata.normalize("NFKC", character)
    if plain != character and plain.isascii() and plain.strip():
        return plain
    category = unicodedata.category(character)
    if name in (
        "LEFT SINGLE QUOTATION MARK",
        "RIGHT SINGLE QUOTATION MARK",
        "DOUBLE PRIME",
        "DOUBLE LOW-9 QUOTATION MARK",
    ):
        return '"'
    return _BY_CATEGORY.get(category)


def shown(character: str) -> str:
    """`character` in a message: itself, and its name where it can't be told from another one."""
    name = unicodedata.name(character, "a control character").lower()
    if not character.isprintable() or character == " " or unicodedata.category(character) == "Zs":
        return f"U+{ord(character):04X} ({name})"
    if character in _LETTERS or (character.isalnum() and not character.isascii()):
        return f"`{character}` ({name})"
    return f"`{character}`"
