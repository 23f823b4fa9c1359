"""Functions about layouts, lists and choices: `list`, `interleaved`, `cut`, `pick`, `arrangements`…"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from itertools import permutations
from math import perm

from mkeyspec.compiler.eval.values import Flags, Function, Int, Parameter, Value, Word, number_of
from mkeyspec.diagnostics.limits import LIST_ITEMS
from mkeyspec.value.layout import Chunk, Interleaved, List, Part, Repeated
from mkeyspec.value.live import is_known
from mkeyspec.value.range import Range

MAX_ARRANGED = 7
"""`arrangements` of 7 items are 13,699 lists."""

MAX_SUBSET_FLAGS = 16


def _list(references: tuple[Value, ...]) -> Value:
    """`list(a, [b, c])`: the parts in order, nested lists flattened."""
    return List(tuple(_parts(references)))


def _parts(references: tuple[Value, ...]) -> Iterator[Part | Repeated[Part]]:
    for reference in references:
        match reference:
            case tuple():
                yield from _parts(reference)
            case Part() | Repeated(Part()):
                yield reference
            case _:
                raise ValueError("a part with a count belongs in `interleaved`")


def _interleaved(repeat: Int, entries: tuple[Value, ...]) -> Value:
    if is_known(repeat) and not 0 <= repeat < 1 << 32:
        raise ValueError(f"`repeat` has 32 bits, and {repeat} does not fit")
    return Interleaved(repeat, tuple(_chunks(entries)))


def _chunks(entries: tuple[Value, ...]) -> Iterator[Chunk | Repeated[Chunk]]:
    for entry in entries:
        match entry:
            case tuple():
                yield from _chunks(entry)
            case Chunk() | Repeated(Chunk()):
                yield entry
            case _:
                raise ValueError("an entry of `interleaved` needs a count: a count 512 skip 4")


def _cut(reference: Part, n: int) -> Value:
    """As equal as possible: the first `length % n` parts are one byte longer than the others."""
    bounds = reference.bounds()
    if bounds is None:
        raise ValueError("a part of live length cannot be cut")
    start, length = bounds
    if not 1 <= n <= max(length, 1):
        raise ValueError(f"{length} bytes cannot be cut into {n} parts")
    size, longer = divmod(length, n)
    parts: list[Value] = []
    for i in range(n):
        part = size + (i < longer)
        parts.append(Part(reference.name, start, part, reference.but))
        start += part
    return tuple(parts)


def _pick(condition: bool, a: Value, b: Value) -> Value:
    return a if condition else b


def _arrangements(items: tuple[Value, ...]) -> Value:
    """The shorter first; of equal length, in the order of the list."""
    n = len(items)
    if n > MAX_ARRANGED:
        count = sum(perm(n, k) for k in range(1, n + 1))
        raise ValueError(f"{n} items have {count:,} arrangements, {MAX_ARRANGED} items is the limit")
    return tuple(chosen for size in range(1, n + 1) for chosen in permutations(items, size))


def _subsets(flags: Value) -> Value:
    """Counting upwards: 0, the first flag, the second, both, the third…"""
    match flags:
        case Word(kind, name, int() as value):
            return _subsets_of_words(Flags(kind, value, (name,)))
        case Flags():
            return _subsets_of_words(flags)
        case int():
            return _subsets_of_number(flags)
        case _:
            raise TypeError(f"{flags!r} are not flags")  # the coercion lets none pass


def _subsets_of_words(flags: Flags) -> Value:
    bits = _flag_bits(flags)
    _few(len(bits))
    return tuple(
        Flags(
            flags.kind,
            sum(value for i, (_, value) in enumerate(bits) if chosen >> i & 1),
            tuple(name for i, (name, _) in enumerate(bits) if chosen >> i & 1),
        )
        for chosen in range(1 << len(bits))
    )


def _subsets_of_number(flags: int) -> Value:
    if flags < 0:
        raise ValueError(f"flags are not negative: {flags}")
    single = [1 << i for i in range(flags.bit_length()) if flags >> i & 1]
    _few(len(single))
    return tuple(sum(bit for i, bit in enumerate(single) if chosen >> i & 1) for chosen in range(1 << len(single)))


def _flag_bits(flags: Flags) -> list[tuple[str, int]]:
    from mkeyspec.compiler.eval.builtins import WORDS

    bits: list[tuple[str, int]] = []
    for name in flags.names:
        number = number_of(WORDS.get(name))
        bits.append((name, int(name, 0) if number is None else number))
    return bits


def _few(count: int) -> None:
    if count > MAX_SUBSET_FLAGS:
        raise ValueError(f"{count} flags have {1 << count:,} subsets, {MAX_SUBSET_FLAGS} flags is the limit")


def _random_ints(n: int, within: Range, seed: int) -> Value:
    """Number i is SHA-256 of "seed:i" modulo the range's length: the same on every machine, for all time."""
    if n < 0 or n > LIST_ITEMS.most:
        raise ValueError(f"a list has 0 to {LIST_ITEMS.most:,} items, not {n}")
    if not within.length:
        raise ValueError("an empty range has no number in it")
    return tuple(
        within.start + int.from_bytes(sha256(f"{seed}:{i}".encode()).digest(), "big") % within.length for i in range(n)
    )


LIST_FUNCTIONS: tuple[Function, ...] = (
    Function(
        "list",
        (Parameter("ref", "reference", several=True),),
        "layout",
        "A list layout: the parts concatenated.",
        _list,
    ),
    Function(
        "interleaved",
        (Parameter("repeat", "live int"), Parameter("chunk", "chunk", several=True)),
        "layout",
        "An interleaved layout: `count` bytes of every part, `skip` left out, `repeat` times: "
        "`interleaved(4, data count 512, fields count 8 skip 56)`.",
        _interleaved,
    ),
    Function(
        "cut",
        (Parameter("ref", "one reference"), Parameter("n", "int")),
        "list of references",
        "n parts in order, as even as can be: the first ones are a byte longer where the length does not divide.",
        _cut,
    ),
    Function(
        "pick",
        (Parameter("condition", "bool"), Parameter("a", "value"), Parameter("b", "value")),
        "value",
        "`a` if the condition holds, `b` otherwise; the other one is not evaluated.",
        _pick,
    ),
    Function(
        "arrangements",
        (Parameter("items", "list"),),
        "list of lists",
        "Every choice of one or more items in every order: of 3 items, 15 lists.",
        _arrangements,
    ),
    Function(
        "subsets",
        (Parameter("flags", "flags"),),
        "list of flags",
        "Every subset of ORed flags, the empty one first.",
        _subsets,
    ),
    Function(
        "random_ints",
        (Parameter("n", "int"), Parameter("range", "range"), Parameter("seed", "int", keyword_only=True)),
        "list of int",
        "n ints of a range that look like noise and are the same on every machine; the same one may come twice.",
        _random_ints,
    ),
)
