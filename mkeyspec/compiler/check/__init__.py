"""The static rules of the man pages: what a case may not do unless it claims the refusal.

The records of `compiler.statements` say which rules a statement can break; `statements.check_step` checks one step of a
row at a time, in order:

    state, origin = AbstractState(), Origin(tree_step.span, case.span)
    origin.put(setter, span)                             # requests, setters, parts, outcomes of the claim …
    origin.put_member(setter, "mem", span)               # … and members: mem, wire, access, layout, num_setters
    step = check_step(state, step, origin, diagnostics)  # returns the step with its claim settled (`Rejected.rule` set)

`settle` turns what is broken and what is claimed into diagnostics or a claim with its rule. `lint_case` looks at the
finished rows of a case.
"""

from mkeyspec.compiler.check.claims import settle
from mkeyspec.compiler.check.lint import lint_case
from mkeyspec.compiler.check.origin import Origin
from mkeyspec.compiler.check.rules import RULES, BrokenRule, Rule
from mkeyspec.compiler.check.state import AbstractState

__all__ = [
    "RULES",
    "AbstractState",
    "BrokenRule",
    "Origin",
    "Rule",
    "lint_case",
    "settle",
]
