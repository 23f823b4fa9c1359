"""Checks the statements of a case against the shapes of their verbs.

None of this depends on a row's values, so it is done once per statement of a case, and `check_sentences` finds all of
a file's mistakes of this kind in one pass.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from typing_extensions import assert_never

from mkeyspec.compiler.eval.coercion import fault
from mkeyspec.compiler.statements.claims import COMPLETES
from mkeyspec.compiler.statements.registry import BODIES, CASE, PLACES, REPEAT
from mkeyspec.compiler.statements.sentence import Sentences, not_a_line
from mkeyspec.compiler.statements.setters import CONFIGURE
from mkeyspec.compiler.statements.shape import Place, Shape, Slot
from mkeyspec.compiler.statements.work_requests import SECTION
from mkeyspec.diagnostics.diagnostic import Diagnostics, Fault, Note
from mkeyspec.diagnostics.source import Span
from mkeyspec.diagnostics.suggest import did_you_mean
from mkeyspec.syntax import ast
from mkeyspec.syntax.setups import SETUP
from mkeyspec.syntax.walk import branches, named

BEGINNINGS = (
    *("case", "let", "for", "where", "if", "expect", "peer"),
    *("verifies", "needs", "allow", "covering", "isolated", "tags", "level", "suite", "use", "mks", "setup"),
)
"""The words that statements and the lines of a head begin with, besides the verbs."""


def check_sentences(case: ast.Case, diagnostics: Diagnostics) -> Sentences:
    """The sentences of the case; every fault of each is added to `diagnostics`."""
    sentences = Sentences()
    _check_lines(case.body, CASE, sentences, diagnostics)
    return sentences


def _check_lines(lines: Iterable[ast.Statement], place: Place, sentences: Sentences, diagnostics: Diagnostics) -> None:
    for line in branches(lines):
        match line:
            case ast.Step():
                _check_sentence(line, place, sentences, diagnostics)
            case ast.Repeat() if place in BODIES:
                _check_sentence(line.sentence, place, sentences, diagnostics)
            case _ if place not in BODIES:
                diagnostics.add(not_a_line(line, place).diagnostic)


def _check_sentence(node: ast.Step, place: Place, sentences: Sentences, diagnostics: Diagnostics) -> None:
    faults = list(_faults(node, place))
    for found in faults:
        diagnostics.add(found.diagnostic)
    shape = place.shapes.get(node.verb.text)
    if faults or shape is None:
        sentences.put_fault(node, faults[0])
    else:
        sentences.put(node, shape)
    if shape is not None and shape.lines is not None and node.block is not None:
        _check_lines(node.block.lines, shape.lines, sentences, diagnostics)
    lists = () if node.claim is None else node.claim.lists()
    departed = () if node.known is None else node.known.lists()
    for block in (*lists, *departed):
        _check_lines(block.lines, COMPLETES, sentences, diagnostics)


# What may be wrong ---------------------------------------------------------------------------


def _what(slot: Slot | None) -> str:
    return slot.what if slot is not None else "nothing"


def _faults(node: ast.Step, place: Place) -> Iterable[Fault]:
    verb = place.shapes.get(node.verb.text)
    if verb is None:
        yield _unknown_verb(node, place)
        return
    found = [
        *_operand_faults(node, verb),
        *_phrase_faults(node, verb, place),
        *_modifier_faults(node, verb),
        *_tail_faults(node, verb, place),
    ]
    strange = any(one.diagnostic.code in ("MKS0214", "MKS0216") for one in found)
    for one in found:
        if not strange or one.diagnostic.code != "MKS0213":  # what is missing is likely in the strange part
            yield one


def _unknown_verb(node: ast.Step, place: Place) -> Fault:
    word = node.verb.text
    here = place.shapes
    guess = did_you_mean(word, [*here, *BEGINNINGS] if place in BODIES else here)
    meant = here.get(guess.split("`")[1]) if guess else None
    if meant is not None and node.span.source.text[node.verb.span.end : node.verb.span.end + 1] == "(":
        guess = f"it is written so: {meant.example}"
    if place is REPEAT and word in CASE.shapes:
        again = word == "repeat"
        return fault(
            "MKS0226",
            "a turn of a `repeat` has no `repeat` of its own" if again else f"a turn of a `repeat` declares no {word}",
            node.verb.span,
            help="one `repeat` with the product of both numbers" if again else "declare it above the `repeat`",
        )
    if word == SETUP:
        return fault(
            "MKS0229",
            "`setup` stands at the top level of a case, not in a block",
            node.verb.span,
            help="move it above; `if` and `repeat` may stand in the lines of the setup itself",
        )
    elsewhere = [other for other in PLACES.values() if word in other.shapes and other is not COMPLETES]
    if place in BODIES and word in CONFIGURE.shapes:
        return fault(
            "MKS0215",
            f"the setter `{word}` belongs into a configuration",
            node.verb.span,
            help=f"configure k {{ {CONFIGURE.shapes[word].example} }}; a misplaced one, on purpose, into `post {{ }}`",
            page="mlx5dv_wr_mkey_configure(3)",
        )
    if elsewhere:
        where = " or ".join(other.name for other in elsewhere)
        return fault(
            "MKS0215",
            f"`{word}` belongs in {where}, not in {place.name}",
            node.verb.span,
            help=(guess if node.block is None else "") or _in_its_place(word, elsewhere),
        )
    if word in BEGINNINGS and place in BODIES:
        guess = f"`{word}` stands outside of braces, before the statements"
    if place in BODIES or place is SECTION:
        return fault(
            "MKS0210",
            f"there is no verb `{word}`",
            node.verb.span,
            help=guess or "verbs: " + ", ".join(sorted(here)),
        )
    return fault(
        "MKS0212",
        f"{place.name} has no line `{word}`",
        node.verb.span,
        help=guess or _line_meant(node, here) or "it has: " + ", ".join(here),
    )


def _in_its_place(word: str, places: list[Place]) -> str:
    """Where a line belongs that is elsewhere: the statement with it between its braces."""
    last = places[-1]
    return "" if last.word in ("case", "section") else f"{last.word} … {{ {last.shapes[word].example} }}"


def _line_meant(node: ast.Step, here: Mapping[str, Shape]) -> str:
    """`d mem` is `mem d`; `list(a, b)` is what the line `layout list(a, b)` takes."""
    operand = named(node.operand)
    if operand is not None and operand.text in here:
        return f"the other way round: {operand.text} {node.verb.text}"
    value = re.compile(rf"\b{node.verb.text}\b")
    example = next((shape.example for shape in here.values() if value.search(shape.example)), "")
    return f"it is written so: {example}" if example else ""


def _operand_faults(node: ast.Step, verb: Shape) -> Iterable[Fault]:
    if node.operand is None and verb.operand is not None and verb.operand.required:
        yield _missing(verb, verb.operand.what, node.verb.span)
    elif node.operand is not None and verb.operand is None:
        yield fault("MKS0216", f"`{verb.name}` takes no operand", node.operand.span, help=verb.example, page=verb.page)
    if node.value is None and verb.value is not None and verb.value.required:
        yield _missing(verb, f"`=` ({verb.value.what})", node.verb.span)
    elif node.value is not None and verb.value is None:
        yield fault("MKS0216", f"`{verb.name}` takes no `=`", node.value.span, help=verb.example, page=verb.page)


def _missing(verb: Shape, what: str, span: Span) -> Fault:
    return fault("MKS0213", f"`{verb.name}` lacks {what}", span, help=verb.example, page=verb.page)


def _phrase_faults(node: ast.Step, verb: Shape, place: Place) -> Iterable[Fault]:
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
        elif place is SECTION and word in ("on", "as"):
            yield fault(
                "MKS0214",
                f"`{word}` belongs to the section, not to a request in it",
                phrase.preposition.span,
                help="post on q as l { … }",
            )
    if not seen.keys() <= verb.phrases.keys():
        return  # one wrong word is one mistake: what is missing is likely after it
    for word, slot in verb.phrases.items():
        if slot.required and word not in seen:
            yield _missing(verb, f"`{word}` ({slot.what})", node.verb.span)


def _twice(word: str, span: Span, first: Span) -> Fault:
    return fault("MKS0217", f"`{word}` is given twice", span, notes=(Note("first here", first),))


def _modifier_faults(node: ast.Step, verb: Shape) -> Iterable[Fault]:
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
        if slot is not None and modifier.value is None:
            yield fault("MKS0213", f"`{word}` lacks {slot.what}", modifier.name.span, help=f", {word} …")


def _unknown_modifier(modifier: ast.Modifier, verb: Shape) -> Fault:
    word = modifier.name.text
    if verb.lines is not None and word in verb.lines.shapes:
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
        help=did_you_mean(word, known) or ("it has: " + ", ".join(known) if known else f"it has none: {verb.example}"),
        page=verb.page,
    )


def _unknown_override(modifier: ast.Modifier, verb: Shape) -> Fault:
    word = modifier.name.text
    return fault(
        "MKS0218",
        f"`{verb.name}` has no member `{word}` to set wrong",
        modifier.name.span,
        help=did_you_mean(word, verb.but) or ("it has: " + ", ".join(verb.but) if verb.but else ""),
        page=verb.page,
    )


def _tail_faults(node: ast.Step, verb: Shape, place: Place) -> Iterable[Fault]:
    if node.block is not None and verb.lines is None:
        yield fault("MKS0216", f"`{verb.name}` takes no braces", node.block.span, help=verb.example, page=verb.page)
    elif verb.lines_required and (node.block is None or (verb.lines is REPEAT and not node.block.lines)):
        yield _missing(verb, "its lines in braces", node.verb.span)
    if node.peer and not verb.peer:
        yield fault(
            "MKS0219",
            f"`{verb.name}` has no `peer`",
            node.span,
            help="`peer` is written before what the other end declares or posts",
        )
    elif node.peer and place is SECTION:
        yield fault("MKS0219", "a section is posted by one end", node.span, help="peer post { … }")
    if node.claim is not None:
        yield from _claim_faults(node.claim, verb, place)
    if node.branch is not None and (place not in BODIES or not verb.branch):
        yield fault(
            "MKS0510",
            f"`{verb.name}` is carried out in each outcome: it takes no `when accepted` or `when rejected`",
            node.branch.span,
            help="`expect` and `check` may be of one outcome",
        )
    if node.known is not None and (place not in BODIES or not verb.known):
        yield fault(
            "MKS0510",
            "`known` belongs to the whole section" if place is SECTION else f"`{verb.name}` takes no `known`",
            node.known.span,
        )
    elif node.known is not None:
        yield from _known_faults(node.known, verb)


def _known_faults(known: ast.Known, verb: Shape) -> Iterable[Fault]:
    """A departure is written as an outcome that the verb has; for a `check`, also as members of its record."""
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


def _claim_faults(claim: ast.Claim, verb: Shape, place: Place) -> Iterable[Fault]:
    if place not in BODIES:
        inside = verb.name in SECTION.shapes
        yield fault(
            "MKS0510",
            "a claim is about the whole section" if inside else "a claim must follow the whole statement",
            claim.span,
            help="write it after the closing brace",
        )
        return
    for outcome in claim.outcomes:
        yield from _outcome_faults(outcome, verb)


def _outcome_faults(outcome: ast.Outcome, verb: Shape) -> Iterable[Fault]:
    match outcome:
        case ast.Rejected(phase=phase):
            if phase.text not in verb.phases:
                yield fault(
                    "MKS0510",
                    f"`{verb.name}` can't be rejected at {phase.text}",
                    phase.span,
                    help="it can at " + " or ".join(verb.phases) if verb.phases else "it takes no rejection",
                )
        case ast.Completes():
            if not verb.completes:
                message = f"`{verb.name}` has no completions of its own"
                yield fault("MKS0510", message, outcome.span, help="poll completes { … }")
        case ast.Accepted():
            if not verb.phases:
                yield fault("MKS0510", f"`{verb.name}` takes no claim", outcome.span)
        case _:
            assert_never(outcome)
