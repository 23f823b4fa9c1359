"""Writes docs/grammar.md and its railroad diagrams, docs/images/grammar/RULE.svg, from grammar/mks.lark.

    python docs/make_grammar.py            writes what differs, and removes the picture of a rule that is gone
    python docs/make_grammar.py --check    writes nothing; exit code 1 if anything differs

The grammar is read by Lark's own grammar of grammars. A rule that begins with itself is drawn as a loop.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lark import Lark, Tree
from railroad import Choice, Diagram, NonTerminal, OneOrMore, Skip, Terminal, ZeroOrMore
from railroad import Sequence as Row

HERE = Path(__file__).resolve().parent
GRAMMAR = HERE.parent / "grammar" / "mks.lark"
PICTURES = HERE / "images" / "grammar"
LEXED = ("apart",)
"""Rules that keep terminals for the filter between lexer and parser; no text has them."""
STYLE = """
svg.railroad-diagram { background-color: white; }
path { stroke-width: 2; stroke: #333; fill: none; }
text { font: 14px monospace; text-anchor: middle; fill: #111; }
rect { stroke-width: 2; stroke: #333; fill: #e8f0fe; }
g.non-terminal rect { fill: #f4f4f4; }
"""
ABOUT = """
<!-- Written by docs/make_grammar.py; `make_grammar.py --check` is one of the tests. -->

The rules of [`grammar/mks.lark`](../grammar/mks.lark) as railroad diagrams: a text follows the rule if it can be
read along the lines, from left to right. A round box is a word or sign that is written as it is shown; the words in
capitals in round boxes are [below](#words). A square box is another rule. `END` is the end of a statement: a new
line or `;`. It is not there inside brackets, where a line goes on. [The language](language.md) says what the rules
mean, and [statements](verbs.md) which words a sentence takes.
"""

Alternative = tuple[str, ...]
"""The names of rules and words, in their order."""


def read(text: str) -> tuple[dict[str, list[Alternative]], dict[str, str]]:
    """The rules with their alternatives, and the words with their patterns as Lark writes them."""
    rules: dict[str, list[Alternative]] = {}
    words: dict[str, str] = {}
    for one in Lark.open_from_package("lark", "lark.lark", ("grammars",)).parse(text).children:
        assert isinstance(one, Tree)
        if one.data == "rule":
            body = one.children[-1]
            assert isinstance(body, Tree)
            each = body.children if body.data == "expansions" else [body]
            rules[str(one.children[0]).lstrip("?")] = [tuple(tokens(part, "name", 0)) for part in each]
        elif one.data == "token":
            words[str(one.children[0])] = next(iter(tokens(one, "literal", 0)))
    return rules, words


def tokens(tree: Any, kind: str, at: int) -> list[str]:
    """The words at place `at` of all trees of one kind, as they are written."""
    return [str(found.children[at]) for found in tree.iter_subtrees_topdown() if found.data == kind]


def box(name: str, words: dict[str, str]) -> Any:
    """A rule, or a word: as it is written, or by its name if it has many forms."""
    if name not in words and name != "END":
        return NonTerminal(name)
    pattern = words.get(name, "/")
    return Terminal(name if pattern.startswith("/") else pattern[1:-1])


def row(alternative: Alternative, words: dict[str, str]) -> Any:
    boxes = [box(name, words) for name in alternative]
    return Skip() if not boxes else boxes[0] if len(boxes) == 1 else Row(*boxes)


def choice(alternatives: Sequence[Alternative], words: dict[str, str]) -> Any:
    rows = [row(one, words) for one in alternatives]
    return rows[0] if len(rows) == 1 else Choice(0, *rows)


def drawing(name: str, alternatives: Sequence[Alternative], words: dict[str, str]) -> str:
    """The diagram of a rule as SVG. `a: b | a SEP b` is one or more `b` with SEP between them; another left recursion
    is what begins, and then any number of what may follow."""
    first = [one for one in alternatives if one[:1] != (name,)]
    after = [one[1:] for one in alternatives if one[:1] == (name,)]
    if not after:
        whole = choice(first, words)
    elif len(first) == 1 and all(one[-len(first[0]) :] == first[0] for one in after):
        between = [one[: -len(first[0])] for one in after]
        whole = OneOrMore(choice(first, words), choice(between, words))
    else:
        whole = Row(choice(first, words), ZeroOrMore(choice(after, words)))
    out = io.StringIO()
    Diagram(whole, type="simple").writeStandalone(out.write, STYLE)
    return out.getvalue().rstrip() + "\n"


def described(alternatives: Sequence[Alternative]) -> str:
    return " or ".join(" ".join(one) or "nothing" for one in alternatives)


def files() -> dict[Path, str]:
    """Every file that this script writes, by its place."""
    rules, words = read(GRAMMAR.read_text("utf-8"))
    kept = {name: alternatives for name, alternatives in rules.items() if name not in LEXED}
    text = ["# The grammar", ABOUT.strip()]
    found: dict[Path, str] = {}
    for name, alternatives in kept.items():
        text += [f"## {name}", f"![{name}: {described(alternatives)}](images/grammar/{name}.svg)"]
        found[PICTURES / f"{name}.svg"] = drawing(name, alternatives, words)
    used = {name for alternatives in kept.values() for one in alternatives for name in one}
    patterns = {name: words[name] for name in words if name in used and words[name].startswith("/")}
    shown = [f"{name:<7}{pattern[1 : pattern.rindex('/')]}" for name, pattern in patterns.items()]
    text += ["## Words", "As regular expressions of Python:", "\n".join(["```text", *shown, "```"])]
    found[HERE / "grammar.md"] = "\n\n".join(text) + "\n"
    return found


def main(arguments: Sequence[str]) -> int:
    if any(argument != "--check" for argument in arguments):
        print((__doc__ or "").strip(), file=sys.stderr)
        return 2
    wanted = files()
    gone = [path for path in PICTURES.glob("*.svg") if path not in wanted]
    differing = [path for path, text in wanted.items() if not path.exists() or path.read_text("utf-8") != text]
    for path in [*differing, *gone]:
        if arguments:
            print(f"{path.name} is out of date: python docs/make_grammar.py", file=sys.stderr)
        elif path in gone:
            path.unlink()
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(wanted[path], "utf-8")
    return 1 if arguments and (differing or gone) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
