"""The names that expressions may use: those of the language, of a file, of a case; reports one without a meaning."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Optional

from mkeyspec.compiler.declarations import A_FUNCTION, A_VALUE
from mkeyspec.compiler.eval.builtins import WORDS
from mkeyspec.compiler.eval.functions.table import FUNCTIONS
from mkeyspec.compiler.meanings import Meanings
from mkeyspec.diagnostics.diagnostic import Diagnostic, Diagnostics, Edit, Note
from mkeyspec.diagnostics.source import Span
from mkeyspec.diagnostics.suggest import did_you_mean, unknown_name
from mkeyspec.syntax import ast
from mkeyspec.syntax.walk import refs_of, used_in

LANGUAGE = frozenset(WORDS) | frozenset(FUNCTIONS)
"""The words and functions of the language."""

SEEING = frozenset({"any", "device", "unchanged", "wire"})
"""Words with which expectations read the device or state allowed bytes."""

_MEMBER = re.compile(r"\.([a-z]\w*)")


class Names:
    """Walks expressions and reports names without a meaning."""

    def __init__(self, diagnostics: Diagnostics, later: dict[str, Span], meanings: Optional[Meanings]) -> None:
        self.diagnostics = diagnostics
        self.meanings = meanings
        self.later = later
        """Names that are declared somewhere, perhaps below their use."""
        self.texts: tuple[ast.Expr, ...] = ()
        """Values of a `for`: an unknown name there may be meant as a text."""
        self.declaring = A_VALUE
        """How a name is declared that is used at this place."""
        self.kinds: dict[str, str] = {}
        """The verbs that declared the objects so far."""

    def known(self, name: str) -> bool:
        raise NotImplementedError

    def place(self, name: str) -> Optional[Span]:
        """Where a known name is declared; None: it is a word of the language."""
        raise NotImplementedError

    def all_known(self) -> frozenset[str]:
        raise NotImplementedError

    def unknown(self, ref: ast.Ref, local: frozenset[str]) -> None:
        later = self.later.get(ref.name)
        if later is not None:
            self.diagnostics.error(
                "MKS0208",
                f"`{ref.name}` is used above its declaration",
                ref.span,
                notes=(Note("declared here", later),),
                help="a file is read from top to bottom",
            )
            return
        or_text = any(ref is text for text in self.texts)
        behind = ref.span.source.text[ref.span.end : ref.span.end + 80]
        declare = (A_FUNCTION if behind[:1] == "(" else self.declaring).replace("NAME", ref.name)
        found = unknown_name(ref.name, ref.span, self.all_known() | local, or_text, declare).diagnostic
        self.diagnostics.add(self._without_path(found, ref, behind, local) or self._of_a_kind(found, ref) or found)

    def _without_path(
        self, found: Diagnostic, ref: ast.Ref, behind: str, local: frozenset[str]
    ) -> Optional[Diagnostic]:
        """`common.sector`: names, also those of a used file, have no file, module or type before them."""
        member = _MEMBER.match(behind)
        if member is None or member[1] in SEEING or member[1] not in self.all_known() | local:
            return None
        path = Edit(Span(ref.span.source, ref.span.start, ref.span.end + member.start(1)), "")
        return replace(found, help=f"names stand alone: {member[1]}", fix=(path,))

    def _of_a_kind(self, found: Diagnostic, ref: ast.Ref) -> Optional[Diagnostic]:
        """Where only an mkey (a qp, a dek) can be, one of those that the case has is meant."""
        kind = self.declaring.partition(" ")[0]
        have = [name for name, verb in self.kinds.items() if verb == kind]
        if not have or kind not in ("mkey", "qp", "dek", "pd", "dct"):
            return None
        close = did_you_mean(ref.name, have)
        if close:
            return replace(found, help=close)
        return replace(found, help=f"the {kind}{'' if len(have) == 1 else 's'} here: {', '.join(have)}")

    def expr(self, expr: Optional[ast.Expr], local: frozenset[str] = frozenset()) -> None:
        """Check all names in `expr`; `local` are parameters and names of comprehensions around it."""
        if expr is None:
            return
        for ref, inside in used_in(expr, local):
            if not self.known(ref.name):
                self.unknown(ref, inside)
            elif self.meanings is not None:
                self.meanings.use(ref.span, self.place(ref.name))

    def function(self, let: ast.Let) -> None:
        """The body of `let f(x) = …`, and its parameters."""
        parameters = let.parameters or ()
        seen: dict[str, ast.Name] = {}
        for parameter in parameters:
            if parameter.text in seen:
                self.twice(parameter.text, parameter.span, seen[parameter.text].span)
            seen[parameter.text] = parameter
        if let.parameters is not None and let.name.text not in seen:
            for ref in refs_of(let.value):
                if ref.name == let.name.text:
                    self.diagnostics.error(
                        "MKS0207",
                        f"`{ref.name}` would call itself",
                        ref.span,
                        help="functions of the language do not recur: [… for i in 0..n] repeats",
                    )
                    return
        self.expr(let.value, frozenset(seen))

    def hides(self, name: ast.Name) -> None:
        """A name that hides a word with which expectations read the device."""
        if name.text in SEEING:
            self.diagnostics.warning(
                "MKS0613",
                f"this hides the word `{name.text}`: an expectation that names it looks at something else",
                name.span,
                help="rename it",
            )

    def twice(self, name: str, span: Span, first: Span) -> None:
        self.diagnostics.error(
            "MKS0203",
            f"`{name}` is declared twice",
            span,
            notes=(Note("declared here first", first),),
            help="rename one",
        )


class FileNames(Names):
    """The names of a file: its `let`s, over the language's words."""

    def __init__(
        self, lets: tuple[ast.Let, ...], diagnostics: Diagnostics, meanings: Optional[Meanings] = None
    ) -> None:
        super().__init__(diagnostics, {let.name.text: let.name.span for let in lets}, meanings)
        self.names: dict[str, Span] = {}

    def known(self, name: str) -> bool:
        return name in self.names or name in LANGUAGE

    def place(self, name: str) -> Optional[Span]:
        return self.names.get(name)

    def all_known(self) -> frozenset[str]:
        return LANGUAGE | self.names.keys()

    def let(self, let: ast.Let) -> None:
        name = let.name
        first = self.names.get(name.text)
        if first is not None and first.source is name.span.source:  # a clash of two files is the `use`'s
            self.twice(name.text, name.span, first)
        self.function(let)
        self.names.setdefault(name.text, name.span)
        if self.meanings is not None:
            self.meanings.declare(name.span, first)
