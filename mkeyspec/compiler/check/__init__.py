"""The static rules of the man pages: what a case may not do unless it claims the refusal.

One step of a row at a time, in order (`lower` does this):

    world, spans = World(), Spans(case.span)       # spans: one a case; world: one a row
    spans.put(step, tree_step.span)                # steps, requests, setters, parts, claims' outcomes …
    spans.put_member(setter, "mem", span)          # … and members: mem, wire, access, layout, num_setters, copy_mask
    step = judge(world, step, spans, diagnostics)  # = broken_by + settle + lint + world.apply; returns the step
                                                   #   with its claim settled (`Rejected.rule` pinned)

The parts are public too: `broken_by` looks and changes nothing, `settle` turns what is broken and
what is claimed into diagnostics or a pinned claim, `AbstractState.apply` lets time pass.
`lint_case` looks at the finished rows of a case.
"""

from mkeyspec.compiler.check.check_step import broken_by, check_step
from mkeyspec.compiler.check.claims import settle
from mkeyspec.compiler.check.lint import lint_case, lint_step
from mkeyspec.compiler.check.rules import RULES, BrokenRule, Rule, Spans
from mkeyspec.compiler.check.state import AbstractState

__all__ = [
    "RULES",
    "AbstractState",
    "BrokenRule",
    "Rule",
    "Spans",
    "broken_by",
    "check_step",
    "lint_case",
    "lint_step",
    "settle",
]
