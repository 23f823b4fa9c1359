"""Builds the tree from the grammar's rules: one method per rule, called by the parser (values: `builder_expr.py`).

Lark calls `Build.<rule>(children)` at every reduction, all tokens among the children. A method makes a node of
`ast.py` and reports errors that the grammar accepts: a missing digit, an unknown phase, a text without closing quote.
"""

from __future__ import annotations

from dataclasses import replace
from difflib import get_close_matches
from typing import Any, NamedTuple

from mkeyspec.diagnostics.source import Span
from mkeyspec.syntax import ast
from mkeyspec.syntax.ast import Name
from mkeyspec.syntax.builder_expr import Children, Values

PHASES = ("create", "complete", "completion", "mkey_check", "cancel", "destroy", "query", "login", "logout")
"""When something may be rejected."""

FIELDS_ONLY = frozenset({"mkey", "qp", "dek", "dct", "login", "login_object", "signature", "crypto", "configure"})
"""Verbs whose block has fields or setters: what follows a comma there was meant as the next field (`but` apart)."""


class CaseLine(NamedTuple):
    span: Span
    name: Name
    title: ast.Text | None


class Title(NamedTuple):
    span: Span
    text: ast.Text


class Verifies(NamedTuple):
    span: Span
    names: list[Name]


class Needs(NamedTuple):
    span: Span
    values: list[ast.Expr]


class Allow(NamedTuple):
    span: Span
    codes: list[Name]


class _Sentence:
    """A step under construction."""

    __slots__ = (
        "block", "branch", "claim", "end", "known", "modifiers", "operand", "peer", "phrases", "start", "value", "verb",
    )  # fmt: skip

    def __init__(self, start: int, end: int, verb: Name, operand: ast.Expr | None, peer: bool) -> None:
        self.start = start
        self.end = end
        self.verb = verb
        self.operand = operand
        self.peer = peer
        self.phrases: list[ast.Phrase] = []
        self.value: ast.Expr | None = None
        self.modifiers: list[ast.Modifier] = []
        self.block: ast.Block | None = None
        self.claim: ast.Claim | None = None
        self.branch: ast.Branch | None = None
        self.known: ast.Known | None = None


class Build(Values):
    """All callbacks of the grammar."""

    # Lines

    def file(self, c: Children) -> Children:
        return c[0] if c else c

    def lines(self, c: Children) -> Children:
        if len(c) == 2:
            return [c[0]]
        lines: Children = c[0]
        lines.append(c[1])
        return lines

    def case_line(self, c: Children) -> CaseLine:
        title = self.text(c[2:]) if len(c) == 3 else None
        return CaseLine(Span(self.source, c[0].start_pos, c[-1].end_pos), self._name(c[1]), title)

    def title(self, c: Children) -> Title:
        text = self.text(c)
        return Title(text.span, text)

    def verifies(self, c: Children) -> Verifies:
        if len(c) == 2:
            return Verifies(Span(self.source, c[0].start_pos, c[1].end_pos), [self._name(c[1])])
        line: Verifies = c[0]
        line.names.append(self._name(c[2]))
        return Verifies(Span(self.source, line.span.start, c[2].end_pos), line.names)

    def allow(self, c: Children) -> Allow:
        if len(c) == 2:
            return Allow(Span(self.source, c[0].start_pos, c[1].end_pos), [self._name(c[1])])
        line: Allow = c[0]
        line.codes.append(self._name(c[2]))
        return Allow(Span(self.source, line.span.start, c[2].end_pos), line.codes)

    def needs(self, c: Children) -> Needs:
        if len(c) == 2:
            return Needs(Span(self.source, c[0].start_pos, c[1].span.end), [c[1]])
        line: Needs = c[0]
        line.values.append(c[2])
        return Needs(line.span.to(c[2].span), line.values)

    def let_value(self, c: Children) -> ast.Let:
        return ast.Let(Span(self.source, c[0].start_pos, c[3].span.end), self._name(c[1]), None, c[3])

    def let_function(self, c: Children) -> ast.Let:
        return ast.Let(Span(self.source, c[0].start_pos, c[6].span.end), self._name(c[1]), tuple(c[3]), c[6])

    def names(self, c: Children) -> list[Name]:
        if len(c) == 1:
            return [self._name(c[0])]
        names: list[Name] = c[0]
        names.append(self._name(c[2]))
        return names

    def for_line(self, c: Children) -> ast.For:
        return ast.For(Span(self.source, c[0].start_pos, c[3][-1].value.span.end), tuple(c[1]), tuple(c[3]))

    def for_items(self, c: Children) -> list[ast.ForItem]:
        if len(c) == 1:
            return [c[0]]
        items: list[ast.ForItem] = c[0]
        items.append(c[2])
        return items

    def for_item(self, c: Children) -> ast.ForItem:
        return ast.ForItem(None, c[0])

    def for_labelled(self, c: Children) -> ast.ForItem:
        return ast.ForItem(self._name(c[0]), c[2])

    def where(self, c: Children) -> ast.Where:
        return ast.Where(Span(self.source, c[0].start_pos, c[1].span.end), c[1])

    def if_line(self, c: Children) -> ast.If:
        span = Span(self.source, c[0].start_pos, c[-1].span.end)
        orelse = None
        if len(c) == 5:
            orelse = c[4] if isinstance(c[4], ast.Block) else ast.Block(c[4].span, (c[4],))
        return ast.If(span, c[1], c[2], orelse)

    def expect(self, c: Children) -> ast.Expect:
        branch = next((part for part in c[2:] if isinstance(part, ast.Branch)), None)
        known = next((part for part in c[2:] if isinstance(part, ast.Known)), None)
        if known is not None and (known.outcome is not None or known.modifiers):
            wrong = known.outcome.span if known.outcome is not None else known.modifiers[0].span
            self._error(
                "MKS0120",
                "after an `expect`, `known` names the bytes or value seen instead",
                wrong.start,
                wrong.end,
                help=f"known {known.requirement.text} VALUE",
            )
        return ast.Expect(Span(self.source, c[0].start_pos, c[-1].span.end), c[1], known, branch)

    def branch(self, c: Children) -> ast.Branch:
        return ast.Branch(Span(self.source, c[0].start_pos, c[2].end_pos), c[1].value == "accepted", self._name(c[2]))

    # Sentences

    def step_verb(self, c: Children) -> _Sentence:
        verb = c[0]
        return _Sentence(verb.start_pos, verb.end_pos, self._name(verb), None, False)

    def step_operand(self, c: Children) -> _Sentence:
        verb = c[0]
        return _Sentence(verb.start_pos, c[1].span.end, self._name(verb), c[1], False)

    def step_peer(self, c: Children) -> _Sentence:
        return _Sentence(c[0].start_pos, c[1].end_pos, self._name(c[1]), None, True)

    def step_peer_operand(self, c: Children) -> _Sentence:
        return _Sentence(c[0].start_pos, c[2].span.end, self._name(c[1]), c[2], True)

    def step_phrase(self, c: Children) -> _Sentence:
        sentence: _Sentence = c[0]
        sentence.phrases.append(ast.Phrase(self._name(c[1]), c[2]))
        sentence.end = c[2].span.end
        return sentence

    def step_value(self, c: Children) -> _Sentence:
        sentence: _Sentence = c[0]
        sentence.value = c[2]
        sentence.end = c[2].span.end
        return sentence

    def step_modifier(self, c: Children) -> _Sentence:
        sentence: _Sentence = c[0]
        sentence.modifiers.append(c[2])
        sentence.end = c[2].span.end
        return sentence

    def step_block(self, c: Children) -> _Sentence:
        sentence: _Sentence = c[0]
        sentence.block = c[1]
        sentence.end = c[1].span.end
        if sentence.verb.text in FIELDS_ONLY:
            self._fields_only(c[1])
        return sentence

    def _fields_only(self, block: ast.Block) -> None:
        for line in block.lines:
            if isinstance(line, ast.Step):
                extra = next((m for m in line.modifiers if not m.but), None)
                if extra is not None:
                    text = self.source.text[extra.span.start : extra.span.end]
                    self._error(
                        "MKS0109",
                        "fields are separated by a new line or `;`",
                        extra.span.start,
                        extra.span.end,
                        help=f"{line.verb.text}; {text}" if line.operand is None else f"…; {text}",
                    )
            elif isinstance(line, ast.If):
                self._fields_only(line.then)
                if line.orelse is not None:
                    self._fields_only(line.orelse)

    def step_claim(self, c: Children) -> _Sentence:
        sentence: _Sentence = c[0]
        sentence.claim = c[1]
        sentence.end = c[1].span.end
        return sentence

    def step_branch(self, c: Children) -> _Sentence:
        sentence: _Sentence = c[0]
        sentence.branch = c[1]
        sentence.end = c[1].span.end
        return sentence

    def step_known(self, c: Children) -> _Sentence:
        sentence: _Sentence = c[0]
        sentence.known = c[1]
        sentence.end = c[1].span.end
        return sentence

    def step(self, c: Children) -> ast.Step | ast.Repeat:
        s: _Sentence = c[0]
        step = ast.Step(
            Span(self.source, s.start, s.end),
            s.verb,
            s.operand,
            tuple(s.phrases),
            s.value,
            tuple(s.modifiers),
            s.block,
            s.claim,
            s.known,
            s.peer,
            s.branch,
        )
        return ast.Repeat(step.span, step) if step.verb.text == "repeat" else step

    def modifier(self, c: Children) -> ast.Modifier:
        name = self._name(c[0])
        if len(c) == 1:
            return ast.Modifier(name.span, name)
        return ast.Modifier(Span(self.source, c[0].start_pos, c[1].span.end), name, c[1])

    def modifier_but(self, c: Children) -> ast.Modifier:
        return ast.Modifier(Span(self.source, c[0].start_pos, c[2].span.end), self._name(c[1]), c[2], True)

    def block_empty(self, c: Children) -> ast.Block:
        return ast.Block(Span(self.source, c[0].start_pos, c[1].end_pos), ())

    def block(self, c: Children) -> ast.Block:
        lines = tuple(line for line in c[1] if self._stands_in_block(line))
        return ast.Block(Span(self.source, c[0].start_pos, c[2].end_pos), lines)

    def _stands_in_block(self, line: Any) -> bool:
        if isinstance(line, (ast.Step, ast.If, ast.Let, ast.Expect, ast.Repeat)):
            return True
        word = self.source.text[line.span.start : line.span.end].split(None, 1)[0]
        self._error(
            "MKS0120", f"`{word}` must be at the top level of a case, not in a block", line.span.start, line.span.end
        )
        return False

    def block_lines(self, c: Children) -> Children:
        if len(c) == 1:
            return c
        lines: Children = c[0]
        lines.append(c[2])
        return lines

    # Claims

    def claim(self, c: Children) -> ast.Claim:
        outcomes: list[ast.Outcome] = c[0]
        when = c[2] if len(c) == 3 else None
        end = when.span.end if when is not None else outcomes[-1].span.end
        return ast.Claim(Span(self.source, outcomes[0].span.start, end), tuple(outcomes), when)

    def outcomes(self, c: Children) -> list[ast.Outcome]:
        if len(c) == 1:
            return [c[0]]
        outcomes: list[ast.Outcome] = c[0]
        outcomes.append(c[2])
        return outcomes

    def accepted(self, c: Children) -> ast.Accepted:
        return ast.Accepted(Span(self.source, c[0].start_pos, c[0].end_pos))

    def completes(self, c: Children) -> ast.Completes:
        return ast.Completes(Span(self.source, c[0].start_pos, c[1].span.end), c[1])

    def completes_in(self, c: Children) -> ast.Completes:
        if (c[2].value, c[3].value) != ("any", "order"):
            what = f"a list of completions is `in any order`, not `in {c[2].value} {c[3].value}`"
            help = "completes in any order { … }; without these words they come in the order of the list"
            self._error("MKS0115", what, c[2].start_pos, c[3].end_pos, help)
        return ast.Completes(Span(self.source, c[0].start_pos, c[4].span.end), c[4], True)

    def rejected(self, c: Children) -> ast.Rejected:
        self._phase(c)
        return ast.Rejected(Span(self.source, c[0].start_pos, c[2].end_pos), self._name(c[2]))

    def rejected_with(self, c: Children) -> ast.Rejected:
        self._phase(c)
        if c[3].value != "with":
            self._error(
                "MKS0115",
                f"a rejection's reason follows `with`, not `{c[3].value}`",
                c[3].start_pos,
                c[3].end_pos,
                help=f"rejected at {c[2].value} with …",
            )
        return ast.Rejected(Span(self.source, c[0].start_pos, c[4].span.end), self._name(c[2]), c[4])

    def _phase(self, c: Children) -> None:
        if c[1].value != "at":
            self._error(
                "MKS0115",
                f"rejected when? `at` and a phase follow, not `{c[1].value}`",
                c[1].start_pos,
                c[1].end_pos,
                help=f"phases: {', '.join(PHASES)}",
            )
        elif c[2].value not in PHASES:
            close = get_close_matches(c[2].value, PHASES, 1)
            self._error(
                "MKS0115",
                f"there is no phase `{c[2].value}`",
                c[2].start_pos,
                c[2].end_pos,
                help=f"did you mean `{close[0]}`?" if close else f"phases: {', '.join(PHASES)}",
            )

    def known(self, c: Children) -> ast.Known:
        return ast.Known(Span(self.source, c[0].start_pos, c[1].end_pos), self._name(c[1]))

    def known_outcome(self, c: Children) -> ast.Known:
        return ast.Known(Span(self.source, c[0].start_pos, c[2].span.end), self._name(c[1]), outcome=c[2])

    def known_value(self, c: Children) -> ast.Known:
        return ast.Known(Span(self.source, c[0].start_pos, c[2].span.end), self._name(c[1]), value=c[2])

    def known_modifiers(self, c: Children) -> ast.Known:
        span = Span(self.source, c[0].start_pos, c[2][-1].span.end)
        return ast.Known(span, self._name(c[1]), modifiers=tuple(c[2]))

    def known_value_modifiers(self, c: Children) -> ast.Known:
        span = Span(self.source, c[0].start_pos, c[3][-1].span.end)
        return ast.Known(span, self._name(c[1]), value=c[2], modifiers=tuple(c[3]))

    def known_when(self, c: Children) -> ast.Known:
        departure: ast.Known = c[0]
        return replace(departure, span=departure.span.to(c[2].span), when=c[2])

    def modifiers(self, c: Children) -> list[ast.Modifier]:
        if len(c) == 2:
            return [c[1]]
        modifiers: list[ast.Modifier] = c[0]
        modifiers.append(c[2])
        return modifiers
