"""The static rules of the man pages: what a case may not do unless it claims the refusal.

The records of `compiler.statements` say which rules a statement can break; `statements.check_step` checks one step of a
row at a time, in order:

    state, spans = AbstractState(), Spans(case.span)
    spans.put(step, tree_step.span)                # steps, requests, setters, parts, claims' outcomes …
    spans.put_member(setter, "mem", span)          # … and members: mem, wire, access, layout, num_setters, copy_mask
    step = check_step(state, step, spans, diagnostics)  # returns the step with its claim settled (`Rejected.rule` set)

`settle` turns what is broken and what is claimed into diagnostics or a claim with its rule. `lint_case` looks at the
finished rows of a case.
"""

from mkeyspec.compiler.check.claims import settle
from mkeyspec.compiler.check.lint import lint_case
from mkeyspec.compiler.check.rules import RULES, BrokenRule, Rule, Spans
from mkeyspec.compiler.check.state import AbstractState

__all__ = [
    "RULES",
    "AbstractState",
    "BrokenRule",
    "Rule",
    "Spans",
    "lint_case",
    "settle",
]
