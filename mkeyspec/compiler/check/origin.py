"""Where a statement and its parts stand in the text: what a lowered step carries."""

from __future__ import annotations

from mkeyspec import plan
from mkeyspec.diagnostics.source import Span


class Origin:
    """Of one statement, or of one work request of a section; the step, or the request, made of it carries it.

    `span`: of all of it. `default`: of the case, for what has no place. The parts that a step is made of (setters, data
    segments, outcomes of a claim) are values: they are distinguished by identity, among those of the one statement.
    """

    __slots__ = ("_inner", "_members", "_parts", "default", "span")

    def __init__(self, span: Span, default: Span) -> None:
        self.span = span
        self.default = default
        self._parts: list[tuple[object, Span]] = []
        self._members: list[tuple[object, str, Span]] = []
        """With the part that the member is of; None: of the step, or of the request, itself."""
        self._inner: list[Origin] = []

    def inner(self, span: Span) -> Origin:
        """The origin of a request inside a section."""
        found = Origin(span, self.default)
        self._inner.append(found)
        return found

    def put(self, thing: object, span: Span) -> None:
        """`thing` (a setter, a part, an outcome of the claim; or the step) is at `span`."""
        if isinstance(thing, plan.Located):
            self.span = span
        else:
            self._parts.append((thing, span))

    def put_member(self, thing: object, member: str, span: Span) -> None:
        """One member of `thing` is at `span`: `mem`, `access`, `layout`, `num_setters`…"""
        self._members.append((None if isinstance(thing, plan.Located) else thing, member, span))

    def get(self, thing: object, member: str = "", fallback: object = None) -> Span:
        """The place of the member, else of the thing, else of `fallback`, else of the case."""
        found = self._find(thing, member)
        if found is None and fallback is not None:
            found = self._find(fallback, "")
        return self.default if found is None else found

    def _find(self, thing: object, member: str) -> Span | None:
        if isinstance(thing, plan.Located):
            origin = thing.origin if isinstance(thing.origin, Origin) else self
            return (origin._member(None, member) if member else None) or origin.span
        for origin in (self, *self._inner):
            found = origin._member(thing, member) if member else None
            if found is None:
                found = next((span for part, span in reversed(origin._parts) if part is thing), None)
            if found is not None:
                return found
        return None

    def _member(self, thing: object, member: str) -> Span | None:
        return next((span for of, name, span in reversed(self._members) if of is thing and name == member), None)


def origin_of(step: plan.Located) -> Origin:
    """The origin of a step of a row. AssertionError if lowering has not made it."""
    assert isinstance(step.origin, Origin), step
    return step.origin
