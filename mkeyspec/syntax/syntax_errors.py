"""Recognises likely mistakes where the parser stopped.

The parser knows what is allowed there; the functions here know common mistakes. Each recognises one mistake and
reports it; the first one that does is used. If none does, the message is general: what was expected, after what, and
what was found.
"""

from __future__ import annotations

from collections.abc import Callable

from mkeyspec.diagnostics.diagnostic import Diagnostics, Edit, Note
from mkeyspec.diagnostics.source import Source, Span
from mkeyspec.syntax.builder import FIELDS_ONLY
from mkeyspec.syntax.lexer import PREPOSITIONS, Token
from mkeyspec.syntax.signs import SIGNS
from mkeyspec.syntax.unexpected import Stop
from mkeyspec.syntax.walk import DECLARING

_BETTER_NAME = {"by": "op", "case": "which", "in": "input", "to": "target", "from": "origin", "not": "inverted"}
_OTHERWISE = {"&&": "and", "||": "or", "&&&": "&", "|||": "|", "===": "==", "!==": "!=", "<>": "!=", "->": "."}
_SIGNS = frozenset(["AMP", "PIPE", "CARET", "MUL", "PLUS", "MINUS", "SHIFT", "CMP", "EQ", "CONCAT", "TILDE", "COLON"])


def report(
    source: Source,
    tokens: list[Token],
    bad: int,
    accepts: frozenset[str],
    joins: frozenset[int],
    diagnostics: Diagnostics,
    around: Token | None = None,
) -> None:
    """One finding for the statement `tokens`, unless a misspelt word in it has been reported already."""
    stop = Stop(source, tokens, bad, accepts, joins, diagnostics, around)
    start = tokens[0].start_pos if tokens else 0
    end = tokens[-1].end_pos if tokens else 0
    if any(start <= d.span.start <= end and d.span.source is source for d in diagnostics.errors):
        return
    for mistake in MISTAKES:
        if mistake(stop):
            return
    stop.error("MKS0100", f"expected {stop.expected()}, found {stop.found()}")


# The mistakes --------------------------------------------------------------------------------


def _reserved(stop: Stop) -> bool:
    """A reserved word where a name or a value must be and nothing else makes sense."""
    word = stop.value
    if not (word.isidentifier() and (word in PREPOSITIONS or stop.kind == word.upper())):
        return False
    if "NAME" not in stop.accepts:
        return False
    if stop.bad == 0:
        return False
    before = stop.before()
    if before is not None and before.type == "COMMA" and stop.kind == "PREP" and stop.sentence:
        fix = (
            (Edit(Span(stop.source, before.start_pos, before.end_pos), ""),)
            if _first_comma(stop) == stop.bad - 1
            else ()
        )
        moved = stop.text(stop.bad, stop.bad + 2)
        stop.error("MKS0108", f"`{moved}` must come before the modifiers", "without a comma before it", fix=fix)
        return True
    declares = before is not None and before.value in DECLARING
    alone = stop.following_kind() in ("END", "COMMA", "RPAR", "RSQB", "RBRACE", "DOT")
    if "INT" in stop.accepts and not declares and not alone:
        return False
    better = _BETTER_NAME.get(word)
    what = "the parameter" if stop.first == "FOR" and "INT" not in stop.accepts else "it"
    help = f"call {what} `{better}`" if better else f"call {what} something else"
    stop.error("MKS0102", f"`{word}` is a reserved word", help)
    return True


def _requirement(stop: Stop) -> bool:
    """Requirement ids in a wrong position or a wrong form."""
    if stop.kind == "REQ":
        stop.error("MKS0116", f"a requirement id must come after `verifies` or `known`, and `{stop.value}` does not")
        return True
    if "REQ" in stop.accepts and stop.before_kind() in ("VERIFIES", "KNOWN", "COMMA"):
        found = stop.found()
        stop.error("MKS0116", f"expected a requirement id, found {found}", "ids look like `CFG-07` or `X-DIFF-08`")
        return True
    return False


def _case_without_name(stop: Stop) -> bool:
    if stop.first != "CASE" or stop.bad != 1 or stop.kind not in ("STRING", "END"):
        return False
    stop.error("MKS0118", "a case needs a name", "case some_name, and its title on the next line")
    return True


def _one_equals_sign(stop: Stop) -> bool:
    """`expect a = b`, `let a == b`."""
    compares = stop.first in ("EXPECT", "WHERE", "IF") or any(t.type == "WHEN" for t in stop.tokens[: stop.bad])
    if stop.kind == "EQ" and compares and ("CMP" in stop.accepts or stop.before_kind() == "CMP"):
        stop.error("MKS0105", "one `=` declares, `==` compares", "write `==`")
        return True
    if stop.kind == "CMP" and stop.value == "==" and "EQ" in stop.accepts and "CMP" not in stop.accepts:
        stop.error("MKS0105", "`==` compares, one `=` declares", "write `=`")
        return True
    return False


def _for_with_equals_sign(stop: Stop) -> bool:
    if stop.first != "FOR" or stop.kind != "EQ":
        return False
    stop.error("MKS0100", "a `for` takes its values after `in`", f"{stop.text(0, stop.bad)} in …")
    return True


def _chained(stop: Stop) -> bool:
    """`a < b < c`."""
    if stop.kind not in ("CMP", "IN") or "AND" not in stop.accepts or "CMP" in stop.accepts:
        return False
    if stop.first == "FOR":
        return False
    stop.error("MKS0106", "comparisons do not chain", "a < b and b < c")
    return True


def _run_of_signs(stop: Stop) -> bool:
    """`&&`, `||`, `**`, `//`, `&&&`: signs that are of the language, one by one."""
    token, last = stop.token, stop.before()
    if token is None or last is None or token.type not in _SIGNS or last.type not in _SIGNS:
        return False
    begin, end = stop.bad - 1, stop.bad + 1
    if token.start_pos != last.end_pos or stop.tokens[begin].value in "([":
        return False
    while begin > 0 and stop.tokens[begin - 1].type in _SIGNS and _touch(stop, begin - 1):
        begin -= 1
    while end < len(stop.tokens) and stop.tokens[end].type in _SIGNS and _touch(stop, end - 1):
        end += 1
    first, final = stop.tokens[begin], stop.tokens[end - 1]
    span = Span(stop.source, first.start_pos, final.end_pos)
    sign = stop.source.text[span.start : span.end]
    if sign in _OTHERWISE:
        help = f"write `{_OTHERWISE[sign]}`"
    elif sign in ("-:", "+-:"):
        help = "m[16 +: 8] is base and width, m[16..24] from byte to byte"
    else:
        help = "`/` divides whole numbers" if sign == "//" else "" if sign == "**" else f"the signs are {SIGNS}"
    stop.error("MKS0110", f"`{sign}` is not a sign of the language", help, span)
    return True


def _touch(stop: Stop, at: int) -> bool:
    return stop.tokens[at].end_pos == stop.tokens[at + 1].start_pos


def _heading(stop: Stop) -> bool:
    """`suite "a" b`: a line that takes its text and nothing else."""
    word = stop.tokens[0].value if stop.tokens else ""
    if word not in ("suite", "use") or stop.bad < 2 or not stop.sentence:
        return False
    stop.error("MKS0117", f"`{word}` takes one text in quotes", f'{word} "…"')
    return True


def _modifier_without_comma(stop: Stop) -> bool:
    """`write a to b signaled`."""
    if stop.kind not in ("NAME", "BUT") or not stop.sentence:
        return False
    if not {"COMMA", "PREP"} <= stop.accepts and not _after_modifier(stop):
        return False
    end = _statement_end(stop)
    help = f"{stop.text(0, stop.bad)}, {stop.text(stop.bad, end)}"
    last = stop.before()
    fix = () if last is None else (Edit(Span(stop.source, last.end_pos, last.end_pos), ","),)
    stop.error("MKS0107", "a modifier follows a comma", help, fix=fix)
    return True


def _two_fields_in_a_line(stop: Stop) -> bool:
    """`mkey k { block_signature entries 4 }`."""
    if stop.around not in FIELDS_ONLY or not stop.sentence or stop.kind not in ("NAME", "INT"):
        return False
    if "PREP" not in stop.accepts:
        return False
    end = stop.bad if stop.kind == "NAME" else stop.bad - 1
    help = f"{stop.text(0, end)}; {stop.text(end, _statement_end(stop))}" if end > 0 else ""
    stop.error("MKS0109", "fields are separated by a new line or `;`", help)
    return True


def _claim_on_expect(stop: Stop) -> bool:
    """`expect a == b rejected at complete`."""
    if stop.first != "EXPECT" or stop.kind not in ("REJECTED", "ACCEPTED", "COMPLETES", "WHEN"):
        return False
    stop.error(
        "MKS0120", f"`{stop.value}` belongs to a step; an `expect` only compares", "move it to the step it is about"
    )
    return True


def _after_modifier(stop: Stop) -> bool:
    """Whether the parser is right after a modifier with its value."""
    return {"COMMA", "LBRACE", "KNOWN"} <= stop.accepts and "PREP" not in stop.accepts and "EQ" not in stop.accepts


def _statement_end(stop: Stop) -> int:
    """The index after the part that can be shown in one line: up to a block or the end."""
    for at in range(stop.bad, len(stop.tokens)):
        if stop.tokens[at].type in ("LBRACE", "END"):
            return at
    return len(stop.tokens)


_BEHIND_PHRASE = frozenset(["COMMA", "LBRACE", "PREP", "END", "REJECTED", "ACCEPTED", "COMPLETES", "WHEN", "KNOWN"])


def _order(stop: Stop) -> bool:
    """`send k, signaled as s`; `memory m, misaligned 3 = counter(8)`."""
    if stop.kind not in ("PREP", "EQ") or not stop.sentence or not _after_modifier(stop):
        return False
    comma = _first_comma(stop)
    end = stop.bad + 1
    while end < len(stop.tokens) and stop.tokens[end].type not in _BEHIND_PHRASE:
        end += 1
    moved = stop.text(stop.bad, end)
    what = f"`{moved}`" if stop.kind == "PREP" else "the value"
    help = f"{stop.text(0, comma)} {moved}{', ' if comma < stop.bad else ''}{stop.text(comma + 1, stop.bad)}"
    stop.error("MKS0108", f"{what} must come before the modifiers", help)
    return True


def _first_comma(stop: Stop) -> int:
    depth = 0
    for at, token in enumerate(stop.tokens):
        if token.type in ("LPAR", "LSQB", "LBRACE"):
            depth += 1
        elif token.type in ("RPAR", "RSQB", "RBRACE"):
            depth -= 1
        elif token.type == "COMMA" and depth == 0:
            return at
    return stop.bad


_STARTS = frozenset(["LET", "EXPECT", "CASE", "FOR", "WHERE", "IF", "VERIFIES", "NEEDS", "PEER"])


def _value_missing(stop: Stop) -> bool:
    """`let d =`, and a statement in the next line, which was read for the value."""
    for at in (stop.bad, stop.bad - 1):
        if not 0 < at < len(stop.tokens) or stop.tokens[at].start_pos not in stop.joins:
            continue
        word, last = stop.tokens[at], stop.tokens[at - 1]
        if last.type in _NO_VALUE_FOLLOWS or not (
            word.type in _STARTS or (at < stop.bad and word.type == "NAME" and stop.kind in ("NAME", "LBRACE"))
        ):
            continue
        place = Span(stop.source, last.end_pos, last.end_pos)
        what = "something" if last.type == "COMMA" else "a value"
        help = "" if last.type != "COMMA" else "or leave the `,` out"
        begun = Span(stop.source, word.start_pos, word.end_pos)
        stop.diagnostics.error(
            "MKS0100",
            f"{what} is missing after `{last.value}`",
            place,
            notes=(Note("the next line is read as its continuation", begun),),
            help=help,
        )
        return True
    return False


_NO_VALUE_FOLLOWS = frozenset(["NAME", "INT", "RPAR", "RSQB", "RBRACE", "STRING", "HEX", "ASCII"])


def _block_alone(stop: Stop) -> bool:
    if stop.bad != 0 or stop.kind != "LBRACE":
        return False
    stop.error("MKS0100", "a block opens on the line of its statement", "move `{` up, to the end of the line before")
    return True


def _statement_after_block(stop: Stop) -> bool:
    """`post { … } send m`."""
    if stop.before_kind() != "RBRACE" or stop.kind in ("END", "COMMA", "LBRACE", "ELSE", "RBRACE"):
        return False
    stop.error(
        "MKS0100",
        f"expected the end of the line after `}}`, found {stop.found()}",
        "a new statement begins on a new line or after `;`; modifiers come before the block",
    )
    return True


def _connective_alone(stop: Stop) -> bool:
    """A statement that begins with a word which continues one."""
    if stop.bad != 0:
        return False
    word = stop.value
    if stop.kind == "ELSE":
        stop.error("MKS0100", "`else` without an `if` before it", "it follows the `}` of the `if`, without `;`")
    elif stop.kind in ("WHEN", "KNOWN", "REJECTED", "ACCEPTED", "COMPLETES", "PREP", "BUT", "AND", "OR", "IN", "EVERY"):
        stop.error("MKS0100", f"`{word}` continues a statement, and there is none before it")
    elif stop.kind in ("INT", "ERRNO", "HEX", "ASCII", "LPAR", "LSQB", "MINUS", "NOT"):
        before = stop.source.text[: stop.span().start].rstrip(" \t")
        help = (
            "between values stands `,`; `;` ends a statement" if before.endswith(";") else f"leave {stop.found()} out"
        )
        stop.error("MKS0100", f"a statement begins with a verb, not with {stop.found()}", help)
    else:
        return False
    return True


def _rejection_without_phase(stop: Stop) -> bool:
    """`rejected`, `rejected with EINVAL`, `rejected at`."""
    back = next((n for n in (1, 2, 3) if stop.before_kind(n) == "REJECTED"), 0)
    if not back or (back == 3 and stop.kind != "END"):
        return False
    stop.error(
        "MKS0115",
        "rejected when? `at` and a phase follow",
        "rejected at create, complete, completion, mkey_check or cancel",
    )
    return True


def _if_without_block(stop: Stop) -> bool:
    if stop.first != "IF" or stop.kind != "END" or "LBRACE" not in stop.accepts:
        return False
    stop.error("MKS0100", "an `if` needs a block in braces", f"{stop.text(0, stop.bad)} {{ … }}")
    return True


def _fraction(stop: Stop) -> bool:
    """`1.5`; `needs block.4048`."""
    if (stop.before_kind(), stop.kind) not in (("INT", "DOT"), ("DOT", "INT")):
        return False
    named = stop.before(2)
    if stop.kind == "INT" and named is not None and named.type == "NAME":
        help = f'needs "{named.value}.{stop.value}"' if stop.first == "NEEDS" else ""
        stop.error("MKS0111", "the part of a name after `.` begins with a letter", help)
    else:
        stop.error("MKS0111", "numbers are whole")
    return True


def _open_range(stop: Stop) -> bool:
    """`let r = 4..`."""
    if stop.before_kind() != "DOTDOT" or "INT" not in stop.accepts:
        return False
    stop.error(
        "MKS0100",
        f"expected the end of the range after `..`, found {stop.found()}",
        "the end may be left out only inside an index: m[512..]",
    )
    return True


MISTAKES: tuple[Callable[[Stop], bool], ...] = (
    _case_without_name,
    _rejection_without_phase,
    _requirement,
    _value_missing,
    _run_of_signs,
    _one_equals_sign,
    _for_with_equals_sign,
    _chained,
    _reserved,
    _connective_alone,
    _block_alone,
    _claim_on_expect,
    _heading,
    _two_fields_in_a_line,
    _order,
    _statement_after_block,
    _modifier_without_comma,
    _if_without_block,
    _fraction,
    _open_range,
)
"""The recognisers, in the order in which they are tried."""
