"""Byte strings: written down and read back, lengths without bytes, bytes by the oracles, and explanations."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mkeyspec.abi import constants
from mkeyspec.abi.constants import CrcType
from mkeyspec.value import bytestring, layout, live, signature
from mkeyspec.value import range as range_module
from mkeyspec.value.bytestring import (
    EMPTY,
    ByteString,
    Counter,
    Field,
    Fill,
    Flip,
    Framed,
    Join,
    Literal,
    Merge,
    Patch,
    Random,
    Repeat,
    Slice,
    Strip,
    Xor,
    XtsDecrypt,
    XtsEncrypt,
    counter,
    field,
    fill,
    flip,
    framed,
    join,
    merge,
    patch,
    random,
    repeat,
    slice_of,
    strip,
    xor,
    xts_decrypt,
    xts_encrypt,
)
from mkeyspec.value.cache import DATA, ByteCache
from mkeyspec.value.expression import ENUMS, number
from mkeyspec.value.range import Range
from mkeyspec.value.signature import Crc, Domain, T10Dif
from tests.oracle import bitwise
from tests.oracle import xts as xts_by_hand

NAMES: dict[str, object] = {}
for module in (bytestring, signature, layout, live, range_module):
    NAMES |= {name: value for name, value in vars(module).items() if isinstance(value, type)}
NAMES |= {name: value for name, value in vars(constants).items() if name.startswith("ONES_") or name in ENUMS}

ONES = 0xFFFFFFFF
KEY = Literal(bytes(i for i in range(32)))

# One of every node, by the text of its repr; what the text evaluates to must print as the text.
WRITTEN = [
    "Literal(b'abc')",
    "Literal(b'')",
    "Literal(bytes.fromhex('00ff0a'))",
    "Counter(4096)",
    "Fill(0x11, 512)",
    "Fill(0, 512)",
    "Random(512, 1)",
    "Slice(Counter(4096), 512, 1024)",
    "Join((Counter(4), Fill(0xff, 4)))",
    "Join((Counter(4),))",
    "Repeat(Counter(4), 3)",
    "Framed(Counter(1024), Domain(Crc(CrcType.CRC32, ONES_32), 512))",
    "Framed(Counter(1024), Domain(T10Dif(), 512), (1, 0xffff))",
    (
        "Framed(Fill(1, 520), Domain(T10Dif(BgType.CSUM, ONES_16, 0x5678, 0xf0debc9a, "
        "T10difFlag.REF_REMAP | T10difFlag.APP_REF_ESCAPE), 520, (('block_size', 5),)))"
    ),
    "Strip(Counter(1032), Domain(Crc(CrcType.CRC32C, 0, (('seed', 4660), ('type', Live('k', 'x')))), 512))",
    "Field(Crc(CrcType.CRC64_XP10, ONES_64), Counter(512))",
    "Field(T10Dif(BgType.CRC, 0, 0, 7, T10difFlag.REF_REMAP), Counter(512), 3)",
    "Flip(Counter(512), 17)",
    "Flip(Counter(512), 17, 3)",
    "Patch(Counter(512), 17, Literal(b'xy'))",
    "Merge(Counter(512), Fill(0, 512), (1, 2, 511))",
    "Xor(Counter(512), Fill(0xff, 512))",
    "XtsEncrypt(Counter(512), Counter(32))",
    "XtsDecrypt(Counter(512), Counter(32), 0, 256)",
    "XtsEncrypt(Counter(512), Counter(32), 0x10)",
]


@pytest.mark.parametrize("text", WRITTEN)
def test_written_as_the_call_that_makes_it(text: str) -> None:
    value = eval(text, dict(NAMES))
    assert repr(value) == text
    assert eval(repr(value), dict(NAMES)) == value
    assert hash(eval(repr(value), dict(NAMES))) == hash(value)
    assert value.length == len(value) == len(value.data)
    for i in {0, value.length // 2, value.length - 1} if value.length else ():
        steps = value.explain(i)
        assert steps
        assert all(steps)


def test_every_node_is_among_them() -> None:
    nodes = {cls.__name__ for cls in NAMES.values() if isinstance(cls, type) and issubclass(cls, ByteString)}
    assert nodes - {"ByteString"} == {text.partition("(")[0] for text in WRITTEN}


def test_numbers_that_have_a_name_are_written_by_it() -> None:
    """And what is wrong on purpose stays the number that it is."""
    assert repr(Crc(2, 0)) == repr(Crc(CrcType.CRC64_XP10, 0)) == "Crc(CrcType.CRC64_XP10, 0)"
    assert repr(Crc(7, 0xFFFF)) == "Crc(7, ONES_16)"
    assert repr(Domain(Crc(CrcType.CRC32, 0), 512, (("sig_type", CrcType.CRC32C),))) == (
        "Domain(Crc(CrcType.CRC32, 0), 512, (('sig_type', 1),))"
    )


@pytest.mark.parametrize(
    ("flags", "text"),
    [
        (0, "0"),
        (1, "T10difFlag.REF_REMAP"),
        (6, "T10difFlag.APP_ESCAPE | T10difFlag.APP_REF_ESCAPE"),
        (0x21, "T10difFlag.REF_REMAP | 0x20"),
        (8, "8"),
        (-1, "-1"),
    ],
)
def test_flags_are_written_one_by_one(flags: int, text: str) -> None:
    assert number(flags, "T10difFlag") == text


def test_lengths_and_reprs_need_no_numpy() -> None:
    """Checking a suite computes no bytes, and so does not pay for loading what computes them."""
    program = (
        "import sys; from mkeyspec.value.bytestring import *; from mkeyspec.value.signature import *;"
        "x = join([framed(counter(1024), Domain(Crc(0, 0), 512)), fill(1, 2)]);"
        "assert len(x) == 1034 and repr(x); assert 'numpy' not in sys.modules, 'numpy'"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


def naive(length: int) -> bytes:
    return bytes(i + (i >> 8) & 255 for i in range(length))


def test_bytes_of_the_generators() -> None:
    assert Counter(70000).data == naive(70000)
    assert Counter(70000).data[:3] + Counter(70000).data[256:259] == bytes([0, 1, 2, 1, 2, 3])
    assert Fill(0xA5, 3).data == b"\xa5\xa5\xa5"
    assert Repeat(Literal(b"ab"), 3).data == b"ababab"


def test_random_is_the_same_everywhere() -> None:
    """The first numbers of numpy's own table of the stream, numpy/random/tests/data/pcg64-testset-1.csv."""
    published = (0x60D24054E17A0698, 0xD5E79D89856E4F12)
    assert Random(16, 0xDEADBEAF).data == b"".join(word.to_bytes(8, "little") for word in published)
    assert Random(11, 1).data == Random(16, 1).data[:11]
    assert Random(16, 2).data != Random(16, 1).data


@pytest.mark.parametrize(
    ("domain", "kind"),
    [
        (Domain(Crc(0, ONES), 512), "crc32"),
        (Domain(Crc(0, 0xFFFFFFFFFFFFFFFF), 512), "crc32"),
        (Domain(Crc(1, ONES), 520), "crc32c"),
        (Domain(Crc(2, 0xFFFFFFFFFFFFFFFF), 4048), "crc64_xp10"),
    ],
)
def test_framed_by_a_crc(domain: Domain, kind: str) -> None:
    data = naive(3 * domain.block)
    fields = [
        bitwise.stored(kind, data[at : at + domain.block], domain.signature.seed)  # type: ignore[union-attr]
        for at in (0, domain.block, 2 * domain.block)
    ]
    value = framed(Counter(3 * domain.block), domain)
    assert value.data == bitwise.frame(data, domain.block, fields)
    assert Strip(value, domain).data == data
    assert Field(domain.signature, slice_of(Counter(len(data)), domain.block, domain.block)).data == fields[1]


@pytest.mark.parametrize("bg_type", [0, 1])
@pytest.mark.parametrize("remap", [0, 1])
def test_framed_by_t10dif(bg_type: int, remap: int) -> None:
    kind = ("t10", "csum")[bg_type]
    domain = Domain(T10Dif(bg_type, 0xFFFF, 0x5678, 0xFFFFFFFF, remap), 512)
    data = naive(1536)
    blocks = [data[at : at + 512] for at in (0, 512, 1024)]
    tuples = [bitwise.dif(kind, block, 0xFFFF, 0x5678, ONES, bool(remap), k) for k, block in enumerate(blocks)]
    assert framed(Counter(1536), domain).data == bitwise.frame(data, 512, tuples)
    assert Field(domain.signature, Literal(blocks[2]), 2).data == tuples[2]
    tagged = [
        bitwise.dif(kind, b, 0xFFFF, tag, ONES, bool(remap), k)
        for (k, b), tag in zip(enumerate(blocks), (0, 1, 9), strict=True)
    ]
    assert framed(Counter(1536), domain, (0, 1, 9)).data == bitwise.frame(data, 512, tagged)


def test_overrides_do_not_reach_the_bytes() -> None:
    plain = framed(Counter(512), Domain(T10Dif(0, 0, 1, 2), 512))
    bent = framed(Counter(512), Domain(T10Dif(0, 0, 1, 2, 0, (("bg", 5), ("app_tag", 9))), 512, (("block_size", 5),)))
    assert plain.data == bent.data
    assert plain != bent


def test_bytes_of_the_changes() -> None:
    base = Counter(512)
    assert Flip(base, 17, 3).data == naive(17) + bytes([17 ^ 8]) + naive(512)[18:]
    assert Patch(base, 17, Literal(b"xy")).data == naive(17) + b"xy" + naive(512)[19:]
    assert Merge(base, Fill(0xEE, 512), (0, 511)).data == b"\xee" + naive(512)[1:511] + b"\xee"
    assert Xor(base, Fill(0xF0, 512)).data == bytes(byte ^ 0xF0 for byte in naive(512))
    assert Slice(base, 5, 3).data == bytes([5, 6, 7])


def test_xts() -> None:
    cipher = xts_encrypt(Counter(1100), KEY, 7, 512)
    assert cipher.data == xts_by_hand.encrypt(naive(1100), KEY.data, 7, 512)
    assert xts_decrypt(cipher, KEY, 7, 512).data == naive(1100)


# Folding -------------------------------------------------------------------------------------

LEFT, RIGHT = Slice(Counter(8), 0, 3), Slice(Counter(9), 3, 5)
SMALL, LARGE = Domain(Crc(0, 0), 256), Domain(Crc(0, 0), 516)


@pytest.mark.parametrize(
    ("value", "folded"),
    [
        (slice_of(Counter(8), 0, 8), Counter(8)),
        (slice_of(Counter(8), 3, 0), EMPTY),
        (slice_of(slice_of(Counter(4096), 512, 1024), 4, 8), Slice(Counter(4096), 516, 8)),
        (slice_of(Fill(1, 9), 2, 3), Fill(1, 3)),
        (slice_of(Literal(b"abcdef"), 2, 3), Literal(b"cde")),
        (slice_of(Join((Counter(4), Fill(1, 4), Counter(8))), 4, 4), Fill(1, 4)),
        (slice_of(Join((Counter(4), Fill(1, 4), Counter(8))), 2, 5), Join((Slice(Counter(4), 2, 2), Fill(1, 3)))),
        (join([]), EMPTY),
        (join([EMPTY, Counter(4), Fill(1, 0)]), Counter(4)),
        (join([Literal(b"ab"), Literal(b"cd"), Fill(0, 1), Fill(0, 2)]), Join((Literal(b"abcd"), Fill(0, 3)))),
        (join([Join((Counter(4), Fill(1, 4))), Counter(2)]), Join((Counter(4), Fill(1, 4), Counter(2)))),
        (join([Slice(Counter(8), 0, 3), Slice(Counter(8), 3, 5)]), Counter(8)),
        (join([LEFT, LEFT]), Join((LEFT, LEFT))),
        (join([LEFT, RIGHT]), Join((LEFT, RIGHT))),
        (repeat(Counter(4), 1), Counter(4)),
        (repeat(Counter(4), 0), EMPTY),
        (repeat(repeat(Counter(4), 2), 3), Repeat(Counter(4), 6)),
        (repeat(Fill(1, 2), 3), Fill(1, 6)),
        (framed(Counter(512), None), Counter(512)),
        (strip(Counter(516), None), Counter(516)),
        (strip(framed(Counter(512), SMALL), Domain(Crc(1, 0), 256)), Counter(512)),
        (strip(Framed(Counter(512), SMALL), LARGE), Strip(Framed(Counter(512), SMALL), LARGE)),
        (patch(Counter(4), 0, Fill(1, 4)), Fill(1, 4)),
        (patch(Counter(4), 2, EMPTY), Counter(4)),
        (patch(Counter(4), Range(1, 2), Fill(1, 2)), Patch(Counter(4), 1, Fill(1, 2))),
        (flip(Counter(4), Range(1, 2)), Flip(Counter(4), 1)),
        (xor(EMPTY, EMPTY), EMPTY),
        (merge(Counter(4), Fill(1, 4), []), Counter(4)),
        (merge(Counter(4), Fill(1, 4), [3, 1]), Merge(Counter(4), Fill(1, 4), (3, 1))),
    ],
)  # fmt: skip
def test_folded(value: ByteString, folded: ByteString) -> None:
    assert value == folded


@settings(deadline=None, max_examples=300)
@given(st.data())
def test_folding_changes_no_byte(draw: st.DataObject) -> None:
    """A random expression through the folding functions, against the same operations on bytes."""
    byte_strings = st.deferred(lambda: leaves | joins | slices | repeats | patches)
    leaves = st.one_of(
        st.integers(0, 40).map(Counter),
        st.builds(Fill, st.integers(0, 2), st.integers(0, 9)),
        st.binary(max_size=9).map(Literal),
    ).map(lambda leaf: (leaf, leaf.data))
    joins = st.lists(byte_strings, max_size=4).map(
        lambda parts: (join([node for node, _ in parts]), b"".join(data for _, data in parts))
    )
    cuts = st.tuples(byte_strings, st.floats(0, 1), st.floats(0, 1))

    def cut(drawn: tuple[tuple[ByteString, bytes], float, float]) -> tuple[ByteString, bytes]:
        (node, data), a, b = drawn
        low, high = sorted((int(a * len(data)), int(b * len(data))))
        return slice_of(node, low, high - low), data[low:high]

    def repeated(drawn: tuple[tuple[ByteString, bytes], int]) -> tuple[ByteString, bytes]:
        (node, data), times = drawn
        return repeat(node, times), data * times

    def patched(drawn: tuple[tuple[ByteString, bytes], float, float]) -> tuple[ByteString, bytes]:
        (node, data), a, b = drawn
        low, high = sorted((int(a * len(data)), int(b * len(data))))
        return patch(node, low, Fill(0xCC, high - low)), data[:low] + b"\xcc" * (high - low) + data[high:]

    slices = cuts.map(cut)
    patches = cuts.map(patched)
    repeats = st.tuples(byte_strings, st.integers(0, 3)).map(repeated)
    node, data = draw.draw(byte_strings)
    assert node.length == len(data)
    assert node.data == data
    assert eval(repr(node), dict(NAMES)) == node
    for i in range(node.length):
        assert node.explain(i)


REFUSED = [
    (lambda: slice_of(Counter(8), 4, 5), r"\[4\.\.9\] is not within 8"),
    (lambda: slice_of(Counter(8), -1, 2), "not within"),
    (lambda: slice_of(Counter(8), 1, -1), "not negative"),
    (lambda: flip(Counter(8), 8), "byte 8 is not within 8"),
    (lambda: flip(Counter(8), 0, 8), "bits 0 to 7"),
    (lambda: patch(Counter(8), 7, Fill(0, 2)), "not within"),
    (lambda: patch(Counter(8), Range(0, 3), Fill(0, 2)), "2 bytes in place of 3"),
    (lambda: xor(Counter(8), Counter(7)), "8 bytes exclusive-or 7"),
    (lambda: merge(Counter(8), Counter(7), (0,)), "8 bytes merged with 7"),
    (lambda: merge(Counter(8), Fill(0, 8), (8,)), "byte 8"),
    (lambda: repeat(Counter(8), -1), "-1 times"),
    (lambda: fill(256, 1), "not a byte"),
    (lambda: fill(-1, 1), "not a byte"),
    (lambda: fill(0, -1), "not negative"),
    (lambda: counter(-1), "not negative"),
    (lambda: random(4, -1), "seed"),
    (lambda: framed(Counter(513), Domain(Crc(0, 0), 512)), "513 bytes .* blocks of 512"),
    (lambda: strip(Counter(517), Domain(Crc(0, 0), 512)), r"517 bytes .* blocks of 512 \+ 4"),
    (lambda: framed(Counter(512), Domain(Crc(0, 0), 512), (1,)), "no application tag"),
    (lambda: framed(Counter(512), Domain(T10Dif(), 512), (1, 2)), "2 application tags for 1 blocks"),
    (lambda: framed(Counter(512), Domain(T10Dif(), 512), (0x10000,)), "16 bits"),
    (lambda: framed(Counter(512), None, (1,)), "no signature"),
    (lambda: field(Crc(0, 0), Counter(512), -1), "no block -1"),
    (lambda: field(Crc(0, 0), EMPTY), "no bytes"),
    (lambda: xts_encrypt(Counter(512), Counter(31)), "not 31"),
    (lambda: xts_decrypt(Counter(520), KEY), "data unit"),
]


@pytest.mark.parametrize(("nonsense", "why"), REFUSED, ids=[why for _, why in REFUSED])
def test_refused(nonsense: object, why: str) -> None:
    assert callable(nonsense)
    with pytest.raises(ValueError, match=why):
        nonsense()


# Explanations --------------------------------------------------------------------------------

CRC_DOMAIN = Domain(Crc(0, ONES), 512)
T10_DOMAIN = Domain(T10Dif(1, 0xFFFF, 0x5678, 0xF0DEBC9A, 1), 512)


@pytest.mark.parametrize(
    ("value", "i", "steps"),
    [
        (
            Framed(Counter(2048), CRC_DOMAIN),
            3 * 516 + 512 + 2,
            ("block 3, CRC32 field, byte 2 (big endian)", "crc32(ones) over data[1536..2048]"),
        ),
        (Framed(Counter(2048), CRC_DOMAIN), 516 + 7, ("block 1, byte 7", "counter(2048), byte 519")),
        (
            Framed(Fill(1, 512), Domain(Crc(1, 0), 512)),
            512,
            ("block 0, CRC32C field, byte 0 (little endian)", "crc32c(zeros) over data[0..512]"),
        ),
        (
            Framed(Fill(1, 1024), T10_DOMAIN),
            520 + 513,
            ("block 1, guard, byte 1 (big endian)", "Internet checksum from bg ones over data[512..1024]"),
        ),
        (Framed(Fill(1, 1024), T10_DOMAIN), 515, ("block 0, application tag, byte 1 (big endian)", "app_tag 0x5678")),
        (
            Framed(Fill(1, 1024), T10_DOMAIN, (1, 0xFFFF)),
            520 + 514,
            ("block 1, application tag, byte 0 (big endian)", "app_tag 0xffff"),
        ),
        (
            Framed(Fill(1, 1024), T10_DOMAIN),
            520 + 519,
            ("block 1, reference tag, byte 3 (big endian)", "ref_tag 0xf0debc9a + block 1"),
        ),
        (Field(T10Dif(), Counter(512)), 7, ("reference tag, byte 3 (big endian)", "ref_tag 0x00000000")),
        (Field(T10Dif(), Counter(512)), 0, ("guard, byte 0 (big endian)", "T10 CRC from bg zeros over 512 bytes")),
        (Strip(Counter(1032), CRC_DOMAIN), 513, ("block 1, byte 1, of the stream byte 517", "counter(1032), byte 517")),
        (Flip(Fill(1, 4), 2, 5), 2, ("bit 5 flipped by the case", "fill(0x01, 4)")),
        (Flip(Fill(1, 4), 2, 5), 1, ("fill(0x01, 4)",)),
        (Patch(Fill(1, 4), 2, Literal(b"x")), 2, ("patched, byte 0 of 1", "literal, byte 0 of 1")),
        (Patch(Fill(1, 4), 2, Literal(b"x")), 3, ("fill(0x01, 4)",)),
        (Xor(Counter(4), Fill(0x80, 4)), 2, ("exclusive or with 0x80", "counter(4), byte 2")),
        (Merge(Fill(1, 4), Counter(4), (2,)), 2, ("merged from the second", "counter(4), byte 2")),
        (Merge(Fill(1, 4), Counter(4), (2,)), 3, ("merged from the first", "fill(0x01, 4)")),
        (Join((Fill(1, 4), Random(4, 9))), 5, ("part 2 of 2, byte 1", "random(4, seed=9), byte 1")),
        (Repeat(Counter(4), 3), 6, ("copy 2 of 3, byte 2", "counter(4), byte 2")),
        (Slice(Counter(9), 4, 2), 1, ("byte 5 of 9", "counter(9), byte 5")),
        (
            XtsEncrypt(Counter(64), KEY, 5, 32),
            33,
            ("data unit 1, byte 1", "AES-XTS enciphered, tweak 0x6", "counter(64), byte 33"),
        ),
        (XtsDecrypt(Fill(0, 32), KEY), 0, ("data unit 0, byte 0", "AES-XTS deciphered, tweak 0x0", "fill(0x00, 32)")),
    ],
)
def test_explained(value: ByteString, i: int, steps: tuple[str, ...]) -> None:
    assert value.explain(i) == steps


@pytest.mark.parametrize("i", [-1, 4])
def test_there_is_nothing_to_explain_beyond_the_end(i: int) -> None:
    with pytest.raises(IndexError):
        Counter(4).explain(i)


# The cache -----------------------------------------------------------------------------------


def test_the_cache_holds_no_more_than_its_bound() -> None:
    cache = ByteCache(10 * ByteCache.ENTRY)
    for i in range(100):
        assert cache.get(i, lambda: bytes(ByteCache.ENTRY)) == bytes(ByteCache.ENTRY)
        assert cache.held <= cache.limit
    computed: list[int] = []

    def compute() -> bytes:
        computed.append(1)
        return b"x"

    assert cache.get("a", compute) == cache.get("a", compute) == b"x"
    assert len(computed) == 1
    for i in range(100):
        cache.get(("b", i), lambda: b"")
    cache.get("a", compute)
    assert len(computed) == 2  # it was the least recently used
    for i in range(100):
        cache.get(("c", i), lambda: b"")
        cache.get("a", compute)
    assert len(computed) == 2  # it was always the most recently used
    assert cache.get("large", lambda: bytes(20 * ByteCache.ENTRY)) == bytes(20 * ByteCache.ENTRY)
    assert cache.held <= cache.limit
    cache.get("a", compute)
    assert len(computed) == 2  # what could never be held drove nothing out


def test_bytes_are_computed_once() -> None:
    DATA.clear()
    value = Framed(Counter(1024), CRC_DOMAIN)
    assert value.data is Framed(Counter(1024), CRC_DOMAIN).data
    assert value.compute() == value.data
