"""Computes an expression by other rules.

Every class of byte string is computed here as in `mkeyspec.value`, from the bytes of what it is made of; but fields,
frames and ciphers follow the rules of a hypothesis. The bytes that are computed are counted, and the count has a limit.
"""

from __future__ import annotations

from mkeyspec.lookslike.hypothesis import CryptJob, FieldsJob, Rules
from mkeyspec.reference import frame as frames
from mkeyspec.reference import xts
from mkeyspec.reference.buffer import Octets
from mkeyspec.value.bytestring import (
    ByteString,
    Field,
    Flip,
    Framed,
    Join,
    Merge,
    Patch,
    Repeat,
    Slice,
    Strip,
    Xor,
    XtsDecrypt,
    XtsEncrypt,
)
from mkeyspec.value.fields import stored_fields
from mkeyspec.value.signature import Domain

DEEPEST = 64
"""Expressions within expressions that are followed; deeper ones are taken as they are."""


class Spent(Exception):
    """More bytes would be computed than the limit admits."""


class Budget:
    """Bytes that may still be computed."""

    __slots__ = ("left",)

    def __init__(self, limit: int) -> None:
        self.left = limit

    def take(self, count: int) -> None:
        self.left -= count
        if self.left < 0:
            raise Spent


class Part(Budget):
    """A part of another one."""

    __slots__ = ("of",)

    def __init__(self, of: Budget, limit: int) -> None:
        super().__init__(min(limit, of.left))
        self.of = of

    def take(self, count: int) -> None:
        self.of.take(count)
        super().take(count)


class Evaluation:
    """Expressions by the rules of one hypothesis. ValueError where they have no value for it."""

    def __init__(self, rules: Rules, budget: Budget) -> None:
        self.rules = rules
        self.budget = budget
        self._known: dict[int, bytes] = {}

    def bytes_of(self, value: ByteString, depth: int = 0) -> bytes:
        """The bytes of an expression; they may be of another length than the expression's."""
        if depth > DEEPEST:
            return value.data
        known = self._known.get(id(value))
        if known is None:
            known = self._known[id(value)] = self._computed(value, depth + 1)
            self.budget.take(len(known) + 16)
        return known

    def _computed(self, value: ByteString, depth: int) -> bytes:
        match value:
            case Slice(of, start, length):
                return self.bytes_of(of, depth)[start : start + length]
            case Join(parts):
                return b"".join([self.bytes_of(part, depth) for part in parts])
            case Repeat(of, times):
                one = self.bytes_of(of, depth)
                self.budget.take(len(one) * times)
                return one * times
            case Flip(of, at, bit):
                flipped = bytearray(self.bytes_of(of, depth))
                if at < len(flipped):
                    flipped[at] ^= 1 << bit
                return bytes(flipped)
            case Patch(of, at, new):
                data, put = self.bytes_of(of, depth), self.bytes_of(new, depth)
                return b"".join((data[:at], put, data[at + len(put) :]))
            case Merge(a, b, positions):
                merged, other = bytearray(self.bytes_of(a, depth)), self.bytes_of(b, depth)
                for position in positions:
                    if position < len(merged) and position < len(other):
                        merged[position] = other[position]
                return bytes(merged)
            case Xor(a, b):
                first, second = self.bytes_of(a, depth), self.bytes_of(b, depth)
                return bytes([x ^ y for x, y in zip(first, second, strict=False)])
            case Framed(of, domain, app_tags):
                return self._framed(of, domain, app_tags, depth)
            case Strip(stream, domain):
                return self.stripped(self.bytes_of(stream, depth), domain)
            case Field(signature, block, index):
                data = self.bytes_of(block, depth)
                return self.fields(FieldsJob(signature, data, len(data), index)).tobytes()
            case XtsEncrypt() | XtsDecrypt():
                return self._crypted(value, depth)
            case _:
                return value.data

    def _framed(self, of: ByteString, domain: Domain, app_tags: tuple[int, ...], depth: int) -> bytes:
        if self.rules.crypto_order and isinstance(of, XtsEncrypt):
            plain = self.framed(self.bytes_of(of.of, depth), domain, app_tags)
            return self.crypted(CryptJob(plain, self.bytes_of(of.key, depth), of.tweak, of.unit, True))
        return self.framed(self.bytes_of(of, depth), domain, app_tags)

    def _crypted(self, value: XtsEncrypt | XtsDecrypt, depth: int) -> bytes:
        key = self.bytes_of(value.key, depth)
        encipher = isinstance(value, XtsEncrypt)
        if self.rules.crypto_order and encipher and isinstance(value.of, Framed):
            framed = value.of
            data = self.crypted(CryptJob(self.bytes_of(framed.of, depth), key, value.tweak, value.unit, True))
            return self.framed(data, framed.domain, framed.app_tags)
        return self.crypted(CryptJob(self.bytes_of(value.of, depth), key, value.tweak, value.unit, encipher))

    # What rules may change -------------------------------------------------------------------

    def fields(self, job: FieldsJob) -> Octets:
        """The fields of whole blocks, (n, size)."""
        self.budget.take(len(job.data))
        changed = self.rules.fields(job) if self.rules.fields is not None else None
        if changed is not None:
            return changed
        return stored_fields(job.signature, job.data, job.block, job.index, job.app_tags)

    def framed(self, data: bytes, domain: Domain, app_tags: tuple[int, ...] = ()) -> bytes:
        """Data with its fields."""
        return self.put_together(
            data, domain, self.fields(FieldsJob(domain.signature, data, domain.block, 0, app_tags))
        )

    def fields_of(self, data: bytes, domain: Domain, before: Octets) -> Octets:
        """The fields of data that came in with the fields `before`."""
        return self.fields(FieldsJob(domain.signature, data, domain.block, 0, (), before))

    def put_together(self, data: bytes, domain: Domain, fields: Octets) -> bytes:
        self.budget.take(len(data))
        if self.rules.frame is not None:
            return self.rules.frame(data, domain, fields)
        return frames.frame(data, domain.block, fields).tobytes()

    def stripped(self, stream: bytes, domain: Domain) -> bytes:
        self.budget.take(len(stream))
        if self.rules.strip is not None:
            return self.rules.strip(stream, domain)
        return frames.split(stream, domain.block, domain.signature.field_size)[0].tobytes()

    def crypted(self, job: CryptJob) -> bytes:
        self.budget.take(len(job.data))
        if self.rules.crypt is not None:
            return self.rules.crypt(job)
        turn = xts.encrypt if job.encipher else xts.decrypt
        return turn(job.data, job.key, job.tweak, job.unit)
