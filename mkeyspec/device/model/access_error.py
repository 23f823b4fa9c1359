"""The error of a refused access, and types for bytes, shared by keys, signatures and ciphers."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.uint8]


class Violation(Exception):
    """A key refuses; `rule` says why."""

    def __init__(self, rule: str) -> None:
        super().__init__(rule)
        self.rule = rule
