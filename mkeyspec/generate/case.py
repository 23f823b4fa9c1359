"""A case as it is drawn: its random numbers, its text, the machine, and what several parts of the generator need."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from mkeyspec.generate import values
from mkeyspec.generate.domain import Domain, Signature
from mkeyspec.generate.layouts import Layouts, Region, Shape
from mkeyspec.generate.machine import Key, Machine, Memory
from mkeyspec.generate.script import Script
from mkeyspec.generate.values import Value


@dataclass(frozen=True, slots=True)
class Message:
    """`given`: what is put into memory (TX) or sent by the peer (RX). `source`: before a cipher, framed. `wrong`: what
    is not right in it, in words; empty if nothing is."""

    tx: bool
    data: Value
    source: Value
    given: Value
    wrong: str


RIGHTS = ("local_write", "remote_write", "remote_read", "remote_atomic")


class Case:
    """What a case is made of. `wide`: configurations are posted on a QP with much room."""

    def __init__(self, rng: Random, name: str) -> None:
        self.rng = rng
        self.script = Script(name)
        self.machine = Machine()
        self.wide = False
        self.shapes: dict[str, Shape] = {}
        """The layout of each key as it was drawn."""
        self.held: dict[str, Value] = {}
        """What the space of each key holds, in words."""
        self.ready: dict[str, Message] = {}
        """The message that a key's layout holds, not sent yet."""
        self._objects: dict[str, str] = {}

    def one(self, stem: str, text: str) -> str:
        """The name of the one object of its kind; declared by `text` when it is first asked for."""
        if stem not in self._objects:
            self._objects[stem] = self.script.name_of(stem)
            self.script.line(text.format(self._objects[stem]))
        return self._objects[stem]

    @property
    def on(self) -> str:
        """Where configurations are posted."""
        return " on roomy" if self.wide else ""

    def layouts(self) -> Layouts:
        """What a layout can be, for the room that there is (X-LIM-01, X-LIM-06)."""
        return Layouts(self.rng, self.script.name_of, 40 if self.wide else 24)

    def domain_name(self, domain: Domain | None) -> str:
        """The name of its `let`."""
        return "none" if domain is None else self.script.let_text("d", domain.text)

    def noise(self, length: int) -> Value:
        """Bytes that no other value of the case has."""
        return values.noise(length, self.rng.randrange(1 << 16))

    def news(self, length: int, held: bytes) -> Value:
        """As `noise`, but not the bytes that are there already."""
        while (made := self.noise(length)).data == held:
            pass
        return made

    def key(self, *, signature: bool = False, crypto: bool = False) -> Key:
        """A new key, declared."""
        rng = self.rng
        key = Key(self.script.name_of("k"), signature, crypto)
        key.update_tag, key.remote_invalidate = rng.random() < 0.2, rng.random() < 0.2
        words = ["block_signature"] * signature + ["crypto"] * crypto
        words += ["update_tag"] * key.update_tag + ["remote_invalidate"] * key.remote_invalidate
        if rng.random() < 0.3:
            words.append(f"entries {rng.choice((64, 65, 100, 128))}")
        self.script.line(f"mkey {key.name}{f' {{ {chr(59).join(words)} }}' if words else ''}".replace(";", "; "))
        self.machine.keys[key.name] = key
        self.script.draws(
            f"key: {'signature' * signature}{'+crypto' * crypto}{'plain' * (not signature and not crypto)}", "MKY-01"
        )
        return key

    def fill(self, shape: Shape, stream: Value) -> None:
        """The memories of a layout, such that it holds `stream`; what is new is declared, the rest written to."""
        for region in shape.every_region():
            held = region.contents(stream)
            self._put(region, held)

    def _put(self, region: Region, held: Value) -> None:
        memory = self.machine.memories.get(region.name)
        if memory is None:
            odd = f", misaligned {region.misaligned}" if region.misaligned else ""
            self.script.line(f"memory {region.name} = {held.text}{odd}")
            self.machine.memories[region.name] = Memory(region.name, bytearray(held.data))
        elif bytes(memory.data) != held.data or not memory.known:
            self.script.line(f"store {region.name} = {held.text}")
            memory.data[:], memory.known = held.data, True

    def access_text(self, rights: frozenset[str]) -> str:
        """In the language's words, in the order of the header."""
        return " | ".join(one for one in RIGHTS if one in rights) or "0"

    def signature_lines(self, signature: Signature) -> str:
        """What is between the braces of the setter."""
        lines = [f"mem {self.domain_name(signature.mem)}"] if signature.mem else []
        lines += [f"wire {self.domain_name(signature.wire)}"] if signature.wire else []
        if signature.check_mask != signature.relevant or self.rng.random() < 0.2:
            lines.append(f"check_mask {signature.check_mask:#x}")
        if signature.copy_mask is not None:
            lines.append(f"copy_mask {signature.copy_mask:#x}")
        return "; ".join(lines)
