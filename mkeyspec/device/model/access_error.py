"""What a key refuses with, and the bytes that it lets through: what keys, signatures and ciphers all speak of."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.uint8]


class Violation(Exception):
    """A key refuses; `rule` says why."""

    def __init__(self, rule: str) -> None:
        super().__init__(rule)
        self.rule = rule
