"""The component classes of a model. A faulty class can replace each of them (mkeyspec.sabotage)."""

from __future__ import annotations

from dataclasses import dataclass

from mkeyspec.device.model.configuration import Builder
from mkeyspec.device.model.data_path import Movement
from mkeyspec.device.model.execution import Execution
from mkeyspec.device.model.key import KeyTable
from mkeyspec.device.model.queue import Queue
from mkeyspec.device.model.section import DriverSection
from mkeyspec.device.model.signature import Arithmetic
from mkeyspec.device.model.transfer import Transfer


@dataclass(frozen=True, slots=True)
class Parts:
    """One class for each part of the behaviour."""

    arithmetic: type[Arithmetic] = Arithmetic
    table: type[KeyTable] = KeyTable
    movement: type[Movement] = Movement
    transfer: type[Transfer] = Transfer
    execution: type[Execution] = Execution
    builder: type[Builder] = Builder
    section: type[DriverSection] = DriverSection
    queue: type[Queue] = Queue


PARTS = Parts()
