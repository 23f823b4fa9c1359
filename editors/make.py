"""Writes the files of editors that list the words of the language: of Vim, of Emacs, the TextMate grammar of VS Code,
the colours of tree-sitter.

python editors/make.py            writes what differs
python editors/make.py --check    writes nothing; exit code 1 if anything differs
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from mkeyspec.compiler.eval.builtins import WORDS
from mkeyspec.editors.words import classes
from mkeyspec.syntax.lexer import PREPOSITIONS
from mkeyspec.syntax.parser import reserved_words

HERE = Path(__file__).resolve().parent
WRITTEN = "Written by editors/make.py from the compiler's tables."

VIM = {"keyword": "Keyword", "verb": "Statement", "field": "Identifier", "function": "Function", "value": "Constant"}
KINDS = {
    "keyword": "Reserved words, and those of the head of a case.",
    "verb": "Words that statements begin with.",
    "field": "Words that lines between braces begin with, and modifiers.",
    "function": "Functions.",
    "value": "Words that are values: flags, operations, statuses.",
}
EMACS_MODE = (HERE / "emacs" / "mode.template").read_text("utf-8")
SCOPES = {
    "keyword": "keyword.control.mks",
    "verb": "support.function.verb.mks",
    "field": "entity.other.attribute-name.mks",
    "function": "entity.name.function.mks",
    "value": "constant.language.mks",
}
NUMBER = r"\b(?:0x[0-9a-fA-F_]+|0b[01_]+|[0-9][0-9_]*[KMG]?)\b"
ID = r"\b[A-Z][A-Z0-9]*(?:-[A-Z]+)*-[0-9]+[a-z]?\b"


def vim() -> str:
    """`syntax/mks.vim`. The words are matched, not listed as keywords, so that `match` groups keep their order."""
    lines = [
        f'" {WRITTEN}',
        "if exists('b:current_syntax')",
        "  finish",
        "endif",
        "syntax iskeyword @,48-57,_",
    ]
    for kind, words in classes().items():
        lines += [f"syntax keyword mks{kind.title()} {' '.join(row)}" for row in rows(sorted(words))]
    lines += [
        r"syntax match mksNumber '\v<(0x[0-9a-fA-F_]+|0b[01_]+|[0-9][0-9_]*[KMG]?)>'",
        r"syntax match mksId '\v<[A-Z][A-Z0-9]*(-[A-Z]+)*-[0-9]+[a-z]?>'",
        r"syntax match mksErrno '\v<E[A-Z][A-Z0-9]*>'",
        r"syntax region mksString start='\v(<hex|<ascii)?\"' skip='\\.' end='\"' oneline",
        "syntax match mksComment '#.*$' contains=@Spell",
        *(f"highlight default link mks{kind.title()} {group}" for kind, group in VIM.items()),
        "highlight default link mksNumber Number",
        "highlight default link mksId Label",
        "highlight default link mksErrno Constant",
        "highlight default link mksString String",
        "highlight default link mksComment Comment",
        "let b:current_syntax = 'mks'",
    ]
    return "\n".join(lines) + "\n"


def rows(words: Sequence[str]) -> Iterable[list[str]]:
    """The words in lines of ten."""
    return (list(words[at : at + 10]) for at in range(0, len(words), 10))


def emacs() -> str:
    """`emacs/mkeyspec-mode.el`: the text of `mode.template` with the words."""
    words = []
    for kind, listed in classes().items():
        lines = "\n".join("    " + " ".join(f'"{word}"' for word in row) for row in rows(sorted(listed)))
        words.append(f'(defconst mkeyspec--{kind}s\n  \'(\n{lines})\n  "{KINDS[kind]}")\n')
    return EMACS_MODE.replace("@WRITTEN@", WRITTEN).replace("@WORDS@", "\n".join(words))


def textmate() -> dict[str, Any]:
    """The grammar of VS Code and others."""
    patterns: list[dict[str, Any]] = [
        {"name": "comment.line.number-sign.mks", "match": "#.*$"},
        {
            "name": "string.quoted.double.mks",
            "begin": r'(?:\b(?:hex|ascii))?"',
            "end": r'"|$',
            "patterns": [{"name": "constant.character.escape.mks", "match": r"\\."}],
        },
        {
            "match": r"^\s*(case|setup)\s+([a-z]\w*)",
            "captures": {"1": {"name": SCOPES["keyword"]}, "2": {"name": "entity.name.class.mks"}},
        },
        {"name": "constant.other.requirement.mks", "match": ID},
        {"name": "constant.language.errno.mks", "match": r"\bE[A-Z][A-Z0-9]*\b"},
        {"name": "constant.numeric.mks", "match": NUMBER},
    ]
    for kind, words in classes().items():
        patterns.append({"name": SCOPES[kind], "match": rf"(?<!\.)\b(?:{'|'.join(sorted(words))})\b"})
    return {"comment": WRITTEN, "name": "mkeyspec", "scopeName": "source.mks", "patterns": patterns}


def highlights() -> str:
    """The query of colours for tree-sitter's trees. The last pattern that fits a node counts."""
    words = classes()
    keywords = " ".join(f'"{word}"' for word in sorted(reserved_words() - PREPOSITIONS | {"allow"}))
    return "\n".join(
        [
            f"; {WRITTEN}",
            "(name) @variable",
            "(comment) @comment",
            "[(string) (ascii)] @string",
            "(hex) @string.special",
            "(integer) @number",
            "[(requirement) (code)] @label",
            "(error_number) @constant",
            "(preposition) @keyword",
            f"[{keywords}] @keyword",
            '["+" "-" "++" "|" "^" "&" "~" ".." "+:" "=" "cmp" "mul" "shift"] @operator',
            '["(" ")" "[" "]" "{" "}"] @punctuation.bracket',
            '["," "." ":"] @punctuation.delimiter',
            "(case_line (name) @type)",
            "(modifier . (name) @attribute)",
            "(item_named . (name) @variable.parameter)",
            "(call . (ref (name) @function.call))",
            "(call_empty . (ref (name) @function.call))",
            matched("ref (name)", "constant.builtin", frozenset(WORDS)),
            matched("step . (name)", "attribute", words["field"]),
            matched('step . "peer"? . (name)', "function.builtin", words["verb"]),
            matched("step . (name)", "keyword", words["keyword"] - reserved_words()),
            "",
        ]
    )


def matched(node: str, colour: str, words: frozenset[str]) -> str:
    """The pattern that gives a name of these words its colour."""
    return f'(({node} @{colour}) (#match? @{colour} "^({"|".join(sorted(words))})$"))'


def files() -> dict[Path, str]:
    """Every file that this script writes, by its place."""
    grammar = json.dumps(textmate(), indent=2, ensure_ascii=False) + "\n"
    return {
        HERE / "emacs" / "mkeyspec-mode.el": emacs(),
        HERE / "tree-sitter" / "queries" / "highlights.scm": highlights(),
        HERE / "vim" / "syntax" / "mks.vim": vim(),
        HERE / "vscode" / "syntaxes" / "mks.tmLanguage.json": grammar,
    }


def main(arguments: Sequence[str]) -> int:
    if any(argument != "--check" for argument in arguments):
        print((__doc__ or "").strip(), file=sys.stderr)
        return 2
    differing = {path: text for path, text in files().items() if not path.exists() or path.read_text("utf-8") != text}
    for path, text in differing.items():
        if arguments:
            print(f"{path.name} is out of date: python editors/make.py", file=sys.stderr)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
            print(path.name)
    return 1 if arguments and differing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
