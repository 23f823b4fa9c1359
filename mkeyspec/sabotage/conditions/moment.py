"""What is known while a part of the model acts: of the section, the message, the key, and what is worked on.

The observers keep a `Moment` up to date; `facts.py` reads the dimensions of requirements/space/dimensions.toml in it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from mkeyspec.device.model.crypto import Crypto
from mkeyspec.device.model.key import IndirectKey, KeyTable, Layout
from mkeyspec.device.model.queue import Queue
from mkeyspec.device.model.signature import SigDomain, Signature
from mkeyspec.device.protocol import QpAttributes, SigBlockAttr
from mkeyspec.sabotage.conditions.history import (
    History,
    Setting,
)


@dataclass(slots=True)
class Use:
    """A key as a message uses it. `message`: messages through it since it was configured."""

    key: IndirectKey | None
    role: str
    offset: int
    end: str
    sge: int = 0
    sges: int = 1
    message: int | None = None


@dataclass(slots=True)
class Moment:
    """What the observers know. Members of a message are reset when the next one begins."""

    histories: dict[int, History] = field(default_factory=dict)
    positions: dict[int, tuple[Any, int, int]] = field(default_factory=dict)
    """By id of a posted request: the request, how many stand before it in its section, and how many it has."""
    settings: dict[int, tuple[Any, Setting]] = field(default_factory=dict)
    """By id of a posted configuration: what it will make of its key."""
    tables: dict[str, KeyTable] = field(default_factory=dict)

    queue: Queue | None = None
    operation: str | None = None
    raw: bool = False
    flags: int | None = None
    wr: int | None = None
    wrs: int | None = None
    setter: int | None = None
    setting: Setting | None = None
    size: int | None = None
    use: Use | None = None
    key: IndirectKey | None = None
    uses: dict[int, tuple[Any, Use]] = field(default_factory=dict)
    sges: list[Any] = field(default_factory=list)
    """Those of the list that is being translated; `next_sge` is the next of them."""
    next_sge: int = 0
    touched: dict[int, int] = field(default_factory=dict)
    """By id of a key that the message uses: messages through it before."""
    coded: int = 0
    """Bytes that the cipher works on."""
    attr: SigBlockAttr | None = None
    """The signature attributes that are being read."""
    direction: str | None = None
    layout: Layout | None = None
    entry: int | None = None
    depth: int | None = None
    signature: Signature | None = None
    domain: SigDomain | None = None
    side: str | None = None
    blocks: int | None = None
    first_block: int = 0
    """The number, in the message, of the first block of those that are worked on."""
    some_blocks: int | None = None
    """How many blocks are worked on now."""
    bad_block: int | None = None
    part: str | None = None
    tail: str | None = None
    crypto: Crypto | None = None
    units: int | None = None
    first_unit: int = 0
    some_units: int | None = None
    create_flags: int | None = None
    max_entries: int | None = None
    end: str | None = None
    attributes: QpAttributes | None = None
    """Of the QP that is being created."""
    straight: Layout | None = None
    """The layout as it is, while a faulty one is walked."""
    ciphers: dict[int, tuple[Crypto, Crypto]] = field(default_factory=dict)
    """By id: crypto attributes, and what a fault makes of them."""
    masks: dict[int, Signature] = field(default_factory=dict)
    """By id: signatures that were set with COPY_MASK."""
    building: bool = False
    """A section is being built: what the key has is not what the request gives it."""
    turn: int = 0
    """Counts messages and requests."""
    record: Callable[[str], None] | None = None
    """Called with the name of every hook that is come to, to note its facts."""

    def at(self, hook: str) -> None:
        """A part of the model is about to act: "movement.emit"."""
        if self.record is not None:
            self.record(hook)

    def clear(self) -> None:
        """The case is over."""
        self.histories.clear()
        self.positions.clear()
        self.settings.clear()
        self.masks.clear()
        self.ciphers.clear()
        self.new_message()
        self.new_section()

    def new_section(self) -> None:
        self.queue = self.operation = self.flags = self.wr = self.wrs = self.setter = self.setting = None
        self.raw = self.building = False
        self.create_flags = self.max_entries = self.end = self.attributes = None

    def new_message(self) -> None:
        self.turn += 1
        self.size = self.use = self.key = self.direction = self.layout = self.entry = self.depth = None
        self.signature = self.domain = self.side = self.blocks = self.some_blocks = self.bad_block = None
        self.part = self.tail = self.crypto = self.units = self.some_units = None
        self.first_block = self.first_unit = 0
        self.sges = []
        self.next_sge = 0
        self.uses.clear()
        self.touched.clear()

    def history(self, key: IndirectKey) -> History:
        found = self.histories.get(id(key))
        if found is None:
            found = self.histories[id(key)] = History(key)
        return found
