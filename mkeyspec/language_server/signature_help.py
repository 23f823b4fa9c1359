"""The signature of the function whose arguments are being written."""

from __future__ import annotations

from dataclasses import dataclass

from mkeyspec.compiler.eval.functions.table import FUNCTIONS, KINDS
from mkeyspec.compiler.eval.values import parameter_text
from mkeyspec.language_server.context import context_at
from mkeyspec.language_server.declared import declarations_before
from mkeyspec.language_server.document import Document
from mkeyspec.syntax import ast


@dataclass(frozen=True, slots=True)
class Signature:
    """`parameters`: the text of each, which is in `label`, and what it takes; `active`: the one being written."""

    label: str
    about: str
    parameters: tuple[tuple[str, str], ...]
    active: int | None


def signature(document: Document, offset: int) -> Signature | None:
    """That of the innermost call around an offset."""
    context = context_at(document, offset)
    if context is None or context.call is None:
        return None
    name, argument, keyword = context.call.function, context.call.argument, context.call.keyword
    for one in declarations_before(document, offset):
        if one.name == name:
            if not isinstance(one.node, ast.Let) or not one.node.parameters:
                return None
            own = tuple(parameter.text for parameter in one.node.parameters)
            active = argument if argument < len(own) else None
            return Signature(f"{name}({', '.join(own)})", one.line, tuple((text, "") for text in own), active)
    function = FUNCTIONS.get(name)
    if function is None:
        return None
    parameters = function.parameters
    position = None
    for at, parameter in enumerate(parameters):
        if keyword == parameter.name or (
            not keyword and not parameter.keyword_only and (at == argument or (parameter.several and at <= argument))
        ):
            position = at
    shown = tuple((parameter_text(one), KINDS[one.kind][0]) for one in parameters)
    return Signature(str(function), function.doc, shown, position)
