"""Devices whose completions are too many, too few, in another order, or say something else."""

from __future__ import annotations

from functools import partial

from tests.quality.devices import device
from tests.quality.kinds_late import Slow

device("slow")(partial(Slow, 3))
