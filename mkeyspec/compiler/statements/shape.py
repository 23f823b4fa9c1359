"""A sentence held against the table of verbs: its parts by name, or what is wrong with them.

None of this depends on a row's values, so it is done once per statement of a case (`Sentences`
remembers), and `check_sentences` finds all of a file's mistakes of this kind in one go.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches

from mkeyspec.compiler.eval.coercion import fault
from mkeyspec.compiler.eval.describe import article
from mkeyspec.compiler.statements.verbs import PLACE_NAMES, PLACES, REQUEST_NAMES, SETTER_NAMES, Slot, Verb
from mkeyspec.diagnostics.diagnostic import Diagnostics, Fault, Note
from mkeyspec.diagnostics.source import Span
from mkeyspec.plan import At
from mkeyspec.syntax import ast


@dataclass(frozen=True, slots=True, eq=False)
class Sentence:
    """A step whose parts are all known to its verb. `phrases` and `modifiers` are by name, `but` in order."""

    node: ast.Step
    verb: Verb
    at: At
    phrases: dict[str, ast.Expr]
    modifiers: dict[str, ast.Modifier]
    but: tuple[ast.Modifier, ...]

    @property
    def span(self) -> Span:
        return self.node.span

    @property
    def operand(self) -> ast.Expr:
        """The operand of a verb that must have one."""
        operand = self.node.operand
        if operand is None:  # read() has refused it
            raise AssertionError(f"{self.verb.name} without operand")
        return operand

    def new_name(self) -> ast.Name:
        """The name that the operand of a declaration (or of `record`) introduces."""
        operand = self.operand
        if isinstance(operand, ast.Index):
            operand = operand.of
        if isinstance(operand, ast.Ref):
            return ast.Name(operand.span, operand.name)
        raise fault(
            "MKS0213",
            f"`{self.verb.name}` takes {_what(self.verb.operand)} here",
            operand.span,
            help=self.verb.example,
            page=self.verb.page,
        )


class Sentences:
    """The sentences of one case by their nodes; its rows share it."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        # By identity: nodes are compared by value, which would walk their whole text.
        self._known: dict[int, Sentence] = {}

    def read(self, node: ast.Step, place: str) -> Sentence:
        """The sentence of `node` in `place`; raises `Fault` if it says what the verb can't take."""
        sentence = self._known.get(id(node))
        if sentence is None or sentence.node is not node:
            faults = list(_faults(node, place))
            if faults:
                raise faults[0]
            sentence = _sentence(node, PLACES[place][node.verb.text])
            self._known[id(node)] = sentence
        return sentence


def _sentence(node: ast.Step, verb: Verb) -> Sentence:
    location = node.span.source.location(node.span.start)
    return Sentence(
        node,
        verb,
        At(location.line, location.column),
        {phrase.preposition.text: phrase.value for phrase in node.phrases},
        {modifier.name.text: modifier for modifier in node.modifiers if not modifier.but},
        tuple(modifier for modifier in node.modifiers if modifier.but),
    )


def check_sentences(case: ast.Case, diagnostics: Diagnostics) -> bool:
    """Add every fault of every sentence of the case; is it free of them?"""
    return _check_lines(case.body, "case", diagnostics)


def _check_lines(lines: Iterable[ast.Statement], place: str, diagnostics: Diagnostics) -> bool:
    clean = True
    for line in lines:
        if isinstance(line, ast.If):
            clean &= _check_lines(line.then.lines, place, diagnostics)
            if line.orelse is not None:
                clean &= _check_lines(line.orelse.lines, place, diagnostics)
        elif isinstance(line, ast.Step):
            for found in _faults(line, place):
                diagnostics.add(found.diagnostic)
                clean = False
            verb = PLACES[place].get(line.verb.text)
            if verb is not None and verb.lines is not None and line.block is not None:
                clean &= _check_lines(line.block.lines, verb.lines, diagnostics)
            for outcome in line.claim.outcomes if line.claim is not None else ():
                if isinstance(outcome, ast.Completes):
                    clean &= _check_lines(outcome.block.lines, "completes", diagnostics)
        elif place != "case":
            diagnostics.add(not_a_line(line, place).diagnostic)
            clean = False
    return clean


def not_a_line(line: ast.Statement, place: str) -> Fault:
    """A `let`, `for`, `where` or `expect` between braces."""
    word = type(line).__name__.lower()
    return fault(
        "MKS0215",
        f"`{word}` can't stand in {PLACE_NAMES[place]}",
        line.span,
        help=f"`{word}` belongs to the case's own lines; `if` and sentences may stand here",
    )


# What may be wrong ---------------------------------------------------------------------------


def _what(slot: Slot | None) -> str:
    return slot.what if slot is not None else "nothing"


def _guess(word: str, known: Iterable[str]) -> str:
    close = get_close_matches(word, list(known), 1, 0.6)
    return f"did you mean `{close[0]}`?" if close else ""


def _faults(node: ast.Step, place: str) -> Iterable[Fault]:
    verb = PLACES[place].get(node.verb.text)
    if verb is None:
        yield _unknown_verb(node, place)
        return
    yield from _operand_faults(node, verb)
    yield from _phrase_faults(node, verb, place)
    yield from _modifier_faults(node, verb)
    yield from _tail_faults(node, verb, place)


def _unknown_verb(node: ast.Step, place: str) -> Fault:
    word = node.verb.text
    here = PLACES[place]
    guess = _guess(word, here)
    elsewhere = [name for name, table in PLACES.items() if word in table and name != "completes"]
    if place == "case" and word in SETTER_NAMES:
        return fault(
            "MKS0215",
            f"the setter `{word}` belongs into a configuration",
            node.verb.span,
            help=f"configure k {{ {here['configure'].example and PLACES['configure'][word].example} }}; "
            "a misplaced one, on purpose, into `post { }`",
            page="mlx5dv_wr_mkey_configure(3)",
        )
    if elsewhere:
        where = " or ".join(PLACE_NAMES[name] for name in elsewhere)
        return fault(
            "MKS0215",
            f"`{word}` stands in {where}, not in {PLACE_NAMES[place]}",
            node.verb.span,
            help=guess,
        )
    if place == "case" or place == "section":
        return fault(
            "MKS0210",
            f"there is no verb `{word}`",
            node.verb.span,
            help=guess or "verbs: " + ", ".join(sorted(here)),
        )
    return fault(
        "MKS0212",
        f"{PLACE_NAMES[place]} has no line `{word}`",
        node.verb.span,
        help=guess or "it has: " + ", ".join(here),
    )


def _operand_faults(node: ast.Step, verb: Verb) -> Iterable[Fault]:
    if node.operand is None and verb.operand is not None and verb.operand.required:
        yield _missing(verb, verb.operand.what, node.verb.span)
    elif node.operand is not None and verb.operand is None:
        yield fault(
            "MKS0216", f"`{verb.name}` stands without an operand", node.operand.span, help=verb.example, page=verb.page
        )
    if node.value is None and verb.value is not None and verb.value.required:
        yield _missing(verb, f"`=` ({verb.value.what})", node.verb.span)
    elif node.value is not None and verb.value is None:
        yield fault("MKS0216", f"`{verb.name}` takes no `=`", node.value.span, help=verb.example, page=verb.page)


def _missing(verb: Verb, what: str, span: Span) -> Fault:
    return fault("MKS0213", f"`{verb.name}` lacks {what}", span, help=verb.example, page=verb.page)


def _phrase_faults(node: ast.Step, verb: Verb, place: str) -> Iterable[Fault]:
    seen: dict[str, Span] = {}
    for phrase in node.phrases:
        word = phrase.preposition.text
        if word in seen:
            yield _twice(word, phrase.preposition.span, seen[word])
        seen[word] = phrase.preposition.span
        if word not in verb.phrases:
            takes = ", ".join(f"`{name}`" for name in verb.phrases)
            yield fault(
                "MKS0214",
                f"`{verb.name}` takes no `{word}`",
                phrase.preposition.span,
                help=f"it takes {takes}: {verb.example}" if takes else verb.example,
                page=verb.page,
            )
        elif place == "section" and word in ("on", "as"):
            yield fault(
                "MKS0214",
                f"`{word}` belongs to the section, not to a request in it",
                phrase.preposition.span,
                help="post on q as l { … }",
            )
    if not seen.keys() <= verb.phrases.keys():
        return  # one wrong word is one mistake: what is missing is likely behind it
    for word, slot in verb.phrases.items():
        if slot.required and word not in seen:
            yield _missing(verb, f"`{word}` ({slot.what})", node.verb.span)


def _twice(word: str, span: Span, first: Span) -> Fault:
    return fault("MKS0217", f"`{word}` is said twice", span, notes=(Note("first here", first),))


def _modifier_faults(node: ast.Step, verb: Verb) -> Iterable[Fault]:
    seen: dict[str, Span] = {}
    for modifier in node.modifiers:
        word = modifier.name.text
        if modifier.but:
            if word not in verb.but:
                yield _unknown_override(modifier, verb)
            continue
        if word in seen:
            yield _twice(word, modifier.name.span, seen[word])
        seen[word] = modifier.name.span
        if word not in verb.modifiers:
            yield _unknown_modifier(modifier, verb)
            continue
        slot = verb.modifiers[word]
        if slot is None and modifier.value is not None:
            yield fault("MKS0216", f"`{word}` stands alone, without a value", modifier.value.span, help=f", {word}")
        elif slot is not None and modifier.value is None:
            yield fault("MKS0213", f"`{word}` lacks {slot.what}", modifier.name.span, help=f", {word} …")


def _unknown_modifier(modifier: ast.Modifier, verb: Verb) -> Fault:
    word = modifier.name.text
    table = PLACES.get(verb.lines or "", {})
    if word in table:
        return fault(
            "MKS0211",
            f"`{word}` is a line of `{verb.name} {{ }}`, not a modifier",
            modifier.name.span,
            help=verb.example,
            page=verb.page,
        )
    known = list(verb.modifiers)
    return fault(
        "MKS0211",
        f"`{verb.name}` has no modifier `{word}`",
        modifier.name.span,
        help=_guess(word, known) or ("it has: " + ", ".join(known) if known else f"it has none: {verb.example}"),
        page=verb.page,
    )


def _unknown_override(modifier: ast.Modifier, verb: Verb) -> Fault:
    word = modifier.name.text
    return fault(
        "MKS0218",
        f"`{verb.name}` has no member `{word}` to set wrong",
        modifier.name.span,
        help=_guess(word, verb.but) or ("it has: " + ", ".join(verb.but) if verb.but else ""),
        page=verb.page,
    )


def _tail_faults(node: ast.Step, verb: Verb, place: str) -> Iterable[Fault]:
    if node.block is not None and verb.lines is None:
        yield fault("MKS0216", f"`{verb.name}` takes no braces", node.block.span, help=verb.example, page=verb.page)
    elif node.block is None and verb.lines_required:
        yield _missing(verb, "its lines in braces", node.verb.span)
    if node.peer and not verb.peer:
        yield fault(
            "MKS0219",
            f"`{verb.name}` has no `peer`",
            node.span,
            help="`peer` stands before what the other end declares or posts",
        )
    elif node.peer and place == "section":
        yield fault("MKS0219", "a section is posted by one end", node.span, help="peer post { … }")
    if node.claim is not None:
        yield from _claim_faults(node.claim, verb, place)
    if node.known is not None and (place != "case" or not verb.known):
        yield fault(
            "MKS0510",
            "`known` belongs to the whole section" if place == "section" else f"`{verb.name}` takes no `known`",
            node.known.span,
        )
    elif node.known is not None:
        yield from _known_faults(node.known, verb)


def _known_faults(known: ast.Known, verb: Verb) -> Iterable[Fault]:
    """A departure is said by an outcome that the verb has; of a `check`, by the members of its record too."""
    if known.outcome is not None:
        yield from _outcome_faults(known.outcome, verb)
    record = verb.name == "check"
    if known.value is not None and not record:
        yield fault(
            "MKS0120",
            f"after `{verb.name}`, `known` names the outcome seen instead",
            known.value.span,
            help=f"known {known.requirement.text} rejected at …, or the id alone",
        )
    seen: dict[str, Span] = {}
    for modifier in known.modifiers:
        word = modifier.name.text
        if word in seen:
            yield _twice(word, modifier.name.span, seen[word])
        seen[word] = modifier.name.span
        if not record:
            yield fault("MKS0120", f"the `known` of `{verb.name}` has no members", modifier.span)
        elif word not in verb.modifiers or modifier.but:
            yield _unknown_modifier(modifier, verb)
        elif modifier.value is None:
            yield fault("MKS0213", f"`{word}` lacks its value", modifier.span)


def _claim_faults(claim: ast.Claim, verb: Verb, place: str) -> Iterable[Fault]:
    if place != "case":
        inside = verb.name in REQUEST_NAMES or verb.name in SETTER_NAMES
        yield fault(
            "MKS0510",
            "a claim is about the whole section" if inside else "a claim stands behind a whole statement",
            claim.span,
            help="write it behind the closing brace",
        )
        return
    for outcome in claim.outcomes:
        yield from _outcome_faults(outcome, verb)


def _outcome_faults(outcome: ast.Outcome, verb: Verb) -> Iterable[Fault]:
    if isinstance(outcome, ast.Rejected):
        phase = outcome.phase.text
        if phase not in verb.phases:
            yield fault(
                "MKS0510",
                f"`{verb.name}` can't be rejected at {phase}",
                outcome.phase.span,
                help="it can at " + " or ".join(verb.phases) if verb.phases else "it takes no rejection",
            )
    elif isinstance(outcome, ast.Completes) and not verb.completes:
        yield fault(
            "MKS0510", f"`{verb.name}` has no completions of its own", outcome.span, help="poll completes { … }"
        )
    elif isinstance(outcome, ast.Accepted) and not verb.phases:
        yield fault("MKS0510", f"`{verb.name}` takes no claim", outcome.span)


__all__ = ["Sentence", "Sentences", "article", "check_sentences", "not_a_line"]
