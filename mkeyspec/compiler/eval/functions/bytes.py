"""Functions that make and change bytes: `counter`, `flip`, `be32`, `xts_encrypt`…"""

from __future__ import annotations

from mkeyspec.compiler.eval.values import Function, Parameter, Value
from mkeyspec.value import bytestring, live
from mkeyspec.value.bytestring import ByteString, Literal
from mkeyspec.value.layout import Part
from mkeyspec.value.live import Int, Live, LiveBytes, LiveOp, is_known

MAX_INT_BYTES = 16
"""Greatest length of a number (limit INT_BITS)."""

_DATA = Parameter("data", "bytes")
_SEED = Parameter("seed", "int", keyword_only=True)


def _encode(encoding: str) -> Function:
    def encode(value: Int) -> Value:
        if is_known(value):
            return Literal(live.encode(encoding, value))
        _fits(encoding, value)
        return LiveBytes(encoding, value)

    size = live.ENCODINGS[encoding]
    order = "most" if encoding.startswith("be") else "least"
    doc = f"An int, live or not, as {size} bytes, {order} significant first."
    return Function(encoding, (Parameter("value", "live int"),), "bytes", doc, encode)


def _number_at(encoding: str) -> Function:
    size = live.ENCODINGS[encoding]

    def number(place: Part, at: int) -> Value:
        assert is_known(place.start)
        assert is_known(place.length)
        if not 0 <= at <= place.length - size:
            raise ValueError(f"bytes {at}..{at + size} of {place.length}")
        return live.number_at(encoding, place.name, place.start + at)

    order = "most" if encoding.startswith("be") else "least"
    doc = f"The {size} bytes at `at`, {order} significant first, as an int that is read when the case runs."
    return Function(f"{encoding}_at", (Parameter("of", "memory"), Parameter("at", "int")), "live int", doc, number)


def _fits(encoding: str, value: Live | LiveOp) -> None:
    """ValueError if the number does not fit on most devices; otherwise only the run would find it."""
    have = 8 * live.ENCODINGS[encoding]
    if isinstance(value, LiveOp) and len(value.args) == 1:
        sign = "-" if value.operator == "-" else "~"
        raise ValueError(f"`{sign}` makes it negative, and {encoding} holds no negative number; & a mask after it")
    bits = live.width(value)
    if bits is not None and bits > have:
        raise ValueError(f"a live number of up to {bits} bits does not fit into {encoding}; & {(1 << have) - 1:#x}")


def _decode(name: str, order: str) -> Function:
    def decode(data: ByteString) -> Value:
        if data.length > MAX_INT_BYTES:
            raise ValueError(f"{data.length} bytes are too long for a number, {MAX_INT_BYTES} is the limit")
        return int.from_bytes(data.data, "big" if order == "most" else "little")

    return Function(name, (_DATA,), "int", f"Up to 16 bytes as an int, {order} significant first.", decode)


def _xts(name: str, done: str) -> Function:
    make = bytestring.xts_encrypt if name == "xts_encrypt" else bytestring.xts_decrypt

    def transform(data: ByteString, key: ByteString, tweak: int | None, unit: int) -> Value:
        if key.length not in (32, 64):
            raise ValueError(f"an AES-XTS key has 32 or 64 bytes, not {key.length}")
        if unit < 16:
            raise ValueError(f"a data unit has at least 16 bytes, not {unit}")
        if 0 < data.length % unit < 16:
            raise ValueError(f"the last data unit would have {data.length % unit} bytes; AES-XTS needs 16")
        if not 0 <= (tweak or 0) < 1 << 128:
            raise ValueError("a tweak has 128 bits")
        return make(data, key, tweak or 0, unit)

    return Function(
        name,
        (
            _DATA,
            Parameter("key", "bytes"),
            Parameter("tweak", "int", "0"),
            Parameter("unit", "int", keyword_only=True),
        ),
        "bytes",
        f"`data` {done} by AES-XTS in units of `unit` bytes: unit i has tweak `tweak + i`, the last may be shorter.",
        transform,
    )


BYTE_FUNCTIONS: tuple[Function, ...] = (
    Function(
        "counter",
        (Parameter("n", "int"),),
        "bytes",
        "n bytes; byte i is (i + (i >> 8)) & 255, so that neighbouring blocks differ.",
        bytestring.counter,
    ),
    Function(
        "fill",
        (Parameter("byte", "int"), Parameter("n", "int")),
        "bytes",
        "`byte`, n times.",
        bytestring.fill,
    ),
    Function(
        "random",
        (Parameter("n", "int"), _SEED),
        "bytes",
        "n bytes that look like noise and are the same on every machine: numpy's PCG64 of the seed.",
        bytestring.random,
    ),
    Function(
        "join",
        (Parameter("parts", "list of bytes"),),
        "bytes",
        "The byte strings of a list, concatenated.",
        bytestring.join,
    ),
    Function(
        "length",
        (Parameter("x", "measured"),),
        "int",
        "Bytes of a byte string, buffer, mkey, range or layout; items of a list.",
        lambda length: length,
    ),
    *(_encode(encoding) for encoding in live.ENCODINGS),
    *(_number_at(encoding) for encoding in live.ENCODINGS),
    _decode("int_be", "most"),
    _decode("int_le", "least"),
    Function(
        "flip",
        (_DATA, Parameter("at", "place"), Parameter("bit", "int", "0")),
        "bytes",
        "`data` with one bit inverted; bit 0 is the least significant.",
        lambda data, at, bit: bytestring.flip(data, at, bit or 0),
    ),
    Function(
        "patch",
        (_DATA, Parameter("at", "place"), Parameter("new", "bytes")),
        "bytes",
        "`data` with `new` in place of the bytes from `at`; a range must be as long as `new`.",
        bytestring.patch,
    ),
    Function(
        "merge",
        (Parameter("a", "bytes"), Parameter("b", "bytes"), Parameter("positions", "list of int")),
        "bytes",
        "`a`, with the bytes at `positions` taken from `b`.",
        bytestring.merge,
    ),
    Function(
        "xor",
        (Parameter("a", "bytes"), Parameter("b", "bytes")),
        "bytes",
        "The exclusive or of two byte strings of one length.",
        bytestring.xor,
    ),
    _xts("xts_encrypt", "encrypted"),
    _xts("xts_decrypt", "decrypted"),
)
