"""All limits of the language, in one table.

A mistake (a wrong exponent, a product of loops) must give one clear message within a second and must not use all
memory. The limits are far above the needs of the pages' examples. A pass names the limit it keeps:
`FILE_BYTES.broken(size)` is the message.
"""

from __future__ import annotations

from dataclasses import dataclass

from mkeyspec.value.live import MOST_BITS


@dataclass(frozen=True, slots=True)
class Limit:
    """One limit. `code` is its diagnostic, `most` the largest number allowed, `unit` what is counted."""

    code: str
    most: int
    unit: str

    def broken(self, count: int | None = None) -> str:
        """The message for `count` of them; None where counting stopped at the limit."""
        if count is None:
            return f"more than {self.most:,} {self.unit}"
        return f"{count:,} {self.unit}, {self.most:,} is the limit"


FILE_BYTES = Limit("MKS0701", 1 << 20, "bytes in a file")
TOKENS = Limit("MKS0702", 250_000, "words and signs in a file")
NESTING = Limit("MKS0703", 64, "brackets inside one another")
CASE_ROWS = Limit("MKS0704", 10_000, "rows of one case")
FILE_ROWS = Limit("MKS0705", 50_000, "rows of one file")
BUFFER_BYTES = Limit("MKS0706", 16 << 20, "bytes in one buffer")
ROW_BYTES = Limit("MKS0707", 64 << 20, "bytes in one row of a case")
LIST_ITEMS = Limit("MKS0708", 100_000, "items in a list")
INT_BITS = Limit("MKS0709", MOST_BITS, "bits in a number")
USE_FILES = Limit("MKS0710", 64, "files brought in by `use`")
CALL_DEPTH = Limit("MKS0711", 64, "functions inside one another")
EVALUATION_STEPS = Limit("MKS0712", 1_000_000, "steps of evaluation in one file")
OPERATORS = Limit("MKS0713", 200, "operators in one expression")
ERRORS = Limit("MKS0714", 100, "errors in a file")
STATEMENT_TOKENS = Limit("MKS0715", 50_000, "words and signs in one statement")
COMBINATIONS = Limit("MKS0716", 50_000, "combinations of values tried for one case")
VALUE_PARTS = Limit("MKS0717", 500_000, "parts in one value")
VALUE_DEPTH = Limit("MKS0718", 64, "values inside one another")
COVERED_COMBINATIONS = Limit("MKS0719", 200_000, "combinations from which `covering` chooses")
COVERED_TUPLES = Limit("MKS0720", 10_000_000, "tuples of values in the combinations from which `covering` chooses")
TURNS = Limit("MKS0721", 1_000, "turns of a `repeat`")
REPEATED = Limit("MKS0722", 20_000, "statements in the turns of one file, all rows together")

ALL = (
    FILE_BYTES,
    TOKENS,
    NESTING,
    CASE_ROWS,
    FILE_ROWS,
    BUFFER_BYTES,
    ROW_BYTES,
    LIST_ITEMS,
    INT_BITS,
    USE_FILES,
    CALL_DEPTH,
    EVALUATION_STEPS,
    OPERATORS,
    ERRORS,
    STATEMENT_TOKENS,
    COMBINATIONS,
    VALUE_PARTS,
    VALUE_DEPTH,
    COVERED_COMBINATIONS,
    COVERED_TUPLES,
    TURNS,
    REPEATED,
)
"""Every limit of the language."""
