"""Converts the value of an expression to the kind that its user takes, or gives a diagnostic.

`what` names the place in messages, e.g. "`entries`" or "`data` of `framed`"; the message reads
"`entries` takes an int, not text".
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NoReturn, Optional, Union

from mkeyspec import plan
from mkeyspec.compiler.eval.describe import KIND_NAMES, article, describe
from mkeyspec.compiler.eval.meant import bytes_for, number_for, without_quotes
from mkeyspec.compiler.eval.scope import Scope
from mkeyspec.compiler.eval.values import (
    BUFFER_KINDS,
    Errno,
    Flags,
    Function,
    Handle,
    Layout,
    PartThen,
    Reference,
    Signature,
    Value,
    Word,
    is_handle,
    is_known_bytes,
    is_live,
    is_live_bytes,
    is_number,
    is_reference,
    is_word,
    moment_of,
    number_of,
)
from mkeyspec.diagnostics.diagnostic import Diagnostic, Edit, Fault, Note
from mkeyspec.diagnostics.limits import LIST_ITEMS
from mkeyspec.diagnostics.source import Span
from mkeyspec.value.bytestring import ByteString
from mkeyspec.value.layout import Interleaved, List, Part, Repeated
from mkeyspec.value.live import MEMBER_TYPES, Int, Live, LiveBytes, LiveContent, LiveJoin, LiveOp, is_known
from mkeyspec.value.range import Range
from mkeyspec.value.signature import Crc, Domain, T10Dif

LIVE_TYPES = {"number": "a number", "errno": "an errno", "status": "a completion status"}
"""Types of live members, as messages call them."""


def fault(
    code: str,
    message: str,
    span: Span,
    *,
    label: str = "",
    notes: tuple[Note, ...] = (),
    help: str = "",
    page: str = "",
    fix: tuple[Edit, ...] = (),
) -> Fault:
    """A `Fault` ready to be raised."""
    return Fault(Diagnostic(code, message, span, "error", label, notes, help, page, fix))


def wrong(value: Value, scope: Scope, span: Span, what: str, wanted: str, help: str = "") -> NoReturn:
    """Raise "WHAT takes WANTED, not …"; MKS0204 where the reason is that a name hides a word of the language."""
    raise_if_hidden(value, scope, span, wanted)
    if is_live(value) or is_live_bytes(value):
        raise fault(
            "MKS0309",
            f"{what} takes {wanted} known before the case runs, not {describe(value)}",
            span,
            help=help
            or "live values are allowed in WR arguments, `but`, list repetition, `be32(…)`, `expect`, `record`",
        )
    text = span.source.text[span.start : span.end]
    hidden = scope.hidden_place(text) if text.isidentifier() else None
    notes = () if hidden is None else (Note(f"this hides the `{text}` of the file", hidden),)
    raise fault(
        "MKS0302",
        f"{what} takes {wanted}, not {describe(value)}",
        span,
        notes=notes,
        help=help or ("rename one" if notes else ""),
    )


def raise_if_hidden(value: Value, scope: Scope, span: Span, wanted: str) -> None:
    """MKS0204 where the text at `span` is a word of the language that the case has given another meaning."""
    text = span.source.text[span.start : span.end]
    if not text.isidentifier():
        return
    place = scope.place(text)
    meaning = None if place is None else _language_meaning(scope, text)
    if meaning is None:
        return
    raise fault(
        "MKS0204",
        f"`{text}` is {describe(value)} here, not {wanted}",
        span,
        notes=(Note(f"this hides {meaning} of that name", place),),
        help="rename it",
    )


def _language_meaning(scope: Scope, name: str) -> Optional[str]:
    """What `name` means in the language itself: "the function", "the word"; None if it is not a word of it."""
    outer = scope
    while outer.around is not None:
        outer = outer.around
    if name not in outer.names:
        return None
    return "the function" if isinstance(outer.names[name], Function) else "the word"


# Numbers, truth, text ------------------------------------------------------------------------


def as_int(value: Value, scope: Scope, span: Span, what: str = "this place") -> int:
    """An int that is known at expansion."""
    if type(value) is int:
        return value
    number = number_of(value)
    if number is not None:
        return number
    wrong(value, scope, span, what, "an int", number_for(value, span.source.text[span.start : span.end]))


def as_live_int(value: Value, scope: Scope, span: Span, what: str = "this place") -> Int:
    """An int, or one that the rig reads when the case runs."""
    match value:
        case Live(subject, member) if (kind := MEMBER_TYPES.get(member)) is not None:
            raise fault("MKS0302", f"{what} takes a number, and `{subject}.{member}` is {LIVE_TYPES[kind]}", span)
        case Live() | LiveOp():
            return value
        case _:
            return as_int(value, scope, span, what)


def as_bool(value: Value, scope: Scope, span: Span, what: str = "a condition") -> bool:
    if isinstance(value, bool):
        return value
    written = span.source.text[span.start : span.end]
    help = f"{written} != 0" if is_number(value) and not written[:1].isdigit() else ""
    wrong(value, scope, span, what, "yes or no", help)


# Words ---------------------------------------------------------------------------------------


def as_flags(value: Value, scope: Scope, span: Span, kind: str, what: str = "this place") -> Int:
    """Flag words of `kind`, ORed, or an int (live or not), as the page's number."""
    match value:
        case Word(kind=of, value=int() as number) | Flags(kind=of, value=number) if of == kind:
            return number
        case _ if is_live(value) or is_number(value):
            return value
        case _:
            wrong(value, scope, span, what, f"{KIND_NAMES.get(kind, kind)} or an int", without_quotes(value))


def as_word(value: Value, scope: Scope, span: Span, kinds: tuple[str, ...], what: str = "this place") -> Word:
    """A word of one of `kinds`."""
    if is_word(value, *kinds):
        return value
    wanted = " or ".join(KIND_NAMES.get(kind, kind) for kind in kinds)
    wrong(value, scope, span, what, wanted, without_quotes(value))


def as_reason(value: Value, scope: Scope, span: Span) -> str:
    """The reason of `rejected at … with REASON`: an errno's name, a completion status or a class of them."""
    match value:
        case Errno(name) | Word("status", name):
            return name
        case _:
            wrong(value, scope, span, "`with`", "an errno or a completion status", without_quotes(value))


def as_handle(value: Value, scope: Scope, span: Span, kinds: tuple[str, ...], what: str = "this place") -> Handle:
    """A declared object of one of `kinds`."""
    if is_handle(value, *kinds):
        return value
    wrong(value, scope, span, what, " or ".join(article(kind) for kind in kinds))


# Bytes ---------------------------------------------------------------------------------------


def as_bytes(value: Value, scope: Scope, span: Span, what: str = "this place") -> ByteString:
    """Bytes. Of a buffer, an mkey or the wire: the bytes that are expected there."""
    if is_known_bytes(value):
        return value
    if is_reference(value):
        no_but(value, span)
        moment = moment_of(value)
        if moment is not None and moment.moved:
            raise fault(
                "MKS0320",
                f"nothing says what `{moment.name}` holds",
                span,
                notes=(Note("at this `let` a request has written there, and no `expect` has looked", moment.span),),
                help="expect … == bytes before the `let`",
            )
        return (scope.ledger if moment is None else moment.ledger).content(value, span)
    wrong(value, scope, span, what, "bytes", bytes_for(value, span))


def no_but(place: Reference, span: Span) -> None:
    """`Fault` MKS0327 if a part with overridden members is used as bytes."""
    if isinstance(place, Part) and place.but:
        raise fault(
            "MKS0327",
            f"`but {place.but[0][0]}` has no effect: `{place.name}` means its bytes here",
            span,
            help="it sets a member of a request or of a layout's entry wrong",
        )


def as_live_bytes(
    value: Value, scope: Scope, span: Span, what: str = "this place"
) -> Union[ByteString, LiveBytes, LiveContent, LiveJoin]:
    """Bytes, or bytes made of live values (`be32(k.rkey)`), or bytes that the rig reads at a `let`."""
    if is_live_bytes(value):
        return value
    moment = moment_of(value)
    if moment is not None and is_reference(value):
        return scope.ledger.then(value, moment, span)
    return as_bytes(value, scope, span, what)


def length_of(value: Union[Reference, Handle], scope: Scope) -> Optional[int]:
    """Length in bytes of a buffer, an mkey's layout or a wire; None where it is unknown or live."""
    length = value.length
    return scope.ledger.length(value) if length is None else length if is_known(length) else None


def as_part(value: Value, scope: Scope, span: Span, what: str = "this place") -> Part:
    """A part of a buffer or mkey; the whole of it if only the name is given."""
    match value:
        case PartThen():
            return Part(value.name, value.start, value.length, value.but)
        case Part():
            return value
        case Handle(kind) if kind in BUFFER_KINDS:
            length = length_of(value, scope)
            if length is None:
                raise fault(
                    "MKS0308",
                    f"how long {describe(value)} is, is not known here",
                    span,
                    help=f"say which part: {value.name}[0 +: 512]",
                )
            return Part(value.name, 0, length)
        case _:
            help = "bytes are not a buffer: declare `memory m = …`" if is_known_bytes(value) else ""
            wrong(value, scope, span, what, "a buffer or a part of one", help)


# Signatures and layouts ----------------------------------------------------------------------


def as_signature(value: Value, scope: Scope, span: Span, what: str = "this place") -> Signature:
    match value:
        case Crc() | T10Dif():
            return value
        case Domain():
            wrong(value, scope, span, what, "a signature", "leave `every` and the block size out")
        case Function(result="signature"):
            wrong(value, scope, span, what, "a signature", _call_help(value))
        case _:
            wrong(value, scope, span, what, "a signature")


def as_domain(value: Value, scope: Scope, span: Span, what: str = "this place") -> Domain:
    """`SIGNATURE every N`; MKS0301 for a signature without its block size."""
    match value:
        case Domain():
            return value
        case Crc() | T10Dif():
            text = span.source.text[span.start : span.end]
            raise fault(
                "MKS0301",
                "a domain is a signature and a block size",
                span,
                label="this is the signature alone",
                help=f"{text} every 512" if "\n" not in text else "… every 512",
                page="sig_block(3) block_size, SIG-22",
            )
        case Function(result="signature"):
            wrong(value, scope, span, what, "a domain", _call_help(value) + " every 512")
        case _:
            wrong(value, scope, span, what, "a domain (a signature `every` block size)")


def as_domain_or_none(value: Value, scope: Scope, span: Span, what: str = "this place") -> Optional[Domain]:
    """A domain, or the word `none`: no signature there."""
    return None if value is None else as_domain(value, scope, span, what)


def _call_help(function: Function) -> str:
    return f"{function.name}({'ones' if function.name != 't10dif' else ''})"


def as_layout(value: Value, scope: Scope, span: Span, what: str = "`layout`") -> Layout:
    """A layout; a list of buffers is a list layout (`mr_list k from crumbs(m, 4)`)."""
    match value:
        case List() | Interleaved():
            return value
        case tuple():
            return List(layout_parts(value, scope, span, what))
        case _:
            help = f"write `list({span.source.text[span.start : span.end]})`" if is_reference(value) else ""
            wrong(value, scope, span, what, "a layout", help)


def layout_parts(
    values: Iterable[Value], scope: Scope, span: Span, what: str = "`list`"
) -> tuple[Union[Part, Repeated[Part]], ...]:
    """The entries of a list layout; nested lists are flattened."""
    parts: list[Union[Part, Repeated[Part]]] = []
    for value in values:
        match value:
            case tuple():
                parts.extend(layout_parts(value, scope, span, what))
            case Repeated(Part()):
                parts.append(value)
            case _:
                parts.append(as_part(value, scope, span, what))
    return tuple(parts)


# Lists and ranges ----------------------------------------------------------------------------


def as_range(value: Value, scope: Scope, span: Span, what: str = "this place") -> Range:
    if isinstance(value, Range):
        return value
    wrong(value, scope, span, what, "a range", "e.g. 0..4, 16 +: 512, field_at(d, 3)")


def as_list(value: Value, scope: Scope, span: Span, what: str = "this place") -> tuple[Value, ...]:
    """The items of a list or tuple; the ints of a range."""
    match value:
        case tuple():
            return value
        case Range(start, length):
            if length > LIST_ITEMS.most:
                raise fault(LIST_ITEMS.code, LIST_ITEMS.broken(length), span)
            return tuple(range(start, start + length))
        case _:
            wrong(value, scope, span, what, "a list or a range")


def measure(value: Value, scope: Scope, span: Span, what: str = "this place") -> int:
    """How many bytes, items of a list, or numbers of a range."""
    length: Optional[int]
    match value:
        case tuple():
            return len(value)
        case ByteString() | Range() | LiveBytes() | LiveContent() | LiveJoin():
            return value.length
        case List() | Interleaved():
            length = value.length
        case _ if is_reference(value):
            length = length_of(value, scope)
        case _:
            wrong(value, scope, span, what, "something that has a length: bytes, a buffer, a list, a range, a layout")
    if length is None:
        raise fault("MKS0308", f"how long {describe(value)} is, is not known here", span)
    return length


# Patterns ------------------------------------------------------------------------------------


def as_expected(value: Value, scope: Scope, span: Span, what: str = "the right side") -> plan.Expected:
    """The value right of `expect`'s operator; a list is "one of these", a word or errno its name."""
    match value:
        case plan.Any() | plan.Masked() | plan.Unchanged() | plan.OneOf() | plan.Sequence() | ByteString():
            return value
        case int() | str() | Live() | LiveOp() | LiveBytes() | LiveContent() | LiveJoin():
            return value
        case Flags(value=number):
            return number
        case Word() | Errno():
            found = number_of(value)
            return value.name if found is None else found
        case tuple():
            return plan.OneOf(tuple(as_expected(item, scope, span, what) for item in value))
        case _:
            return as_live_bytes(value, scope, span, what)
