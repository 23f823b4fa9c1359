"""Functions about signatures and domains: `crc32(ones)`, `framed`, `field_at`…"""

from __future__ import annotations

from collections.abc import Callable

from mkeyspec.abi.constants import CrcType
from mkeyspec.compiler.eval.values import Function, Parameter, Signature, Value, is_word
from mkeyspec.value import bytestring
from mkeyspec.value.bytestring import ByteString
from mkeyspec.value.range import Range
from mkeyspec.value.signature import Crc, Domain, T10Dif


def _seed(seed: Value, bits: int) -> int:
    """The number of a seed: zeros and ones take the width of the signature, a number stays as written."""
    if is_word(seed):
        return 0 if seed.name == "zeros" else (1 << bits) - 1
    return _int(seed)


def _int(value: Value) -> int:
    """A number; the coercion lets nothing else pass."""
    assert isinstance(value, int)
    return value


def _crc(name: str, kind: CrcType, bits: int, doc: str) -> Function:
    return Function(
        name, (Parameter("seed", "seed"),), "signature", doc, lambda seed: Crc(int(kind), _seed(seed, bits))
    )


def _t10dif(bg_type: Value, bg: Value, app_tag: Value, ref_tag: Value, flags: Value) -> Value:
    kind = bg_type.value if is_word(bg_type) else 0
    return T10Dif(
        _int(kind),
        0 if bg is None else _seed(bg, 16),
        _fits("app_tag", app_tag, 16),
        _fits("ref_tag", ref_tag, 32),
        0 if flags is None else _int(flags),
    )


def _fits(name: str, value: Value, bits: int) -> int:
    if value is None:
        return 0
    number = _int(value)
    if not 0 <= number < 1 << bits:
        raise ValueError(f"{name} has {bits} bits: {number:#x}")
    return number


def _framed(data: ByteString, domain: Domain | None, app_tags: tuple[int, ...] | None) -> Value:
    return bytestring.framed(data, domain, app_tags or ())


def _field(signature: Signature, block: ByteString, index: int | None) -> Value:
    return bytestring.field(signature, block, index or 0)


def _place(name: str, doc: str, at: Callable[[Domain, int], Range]) -> Function:
    return Function(name, (Parameter("domain", "domain"), Parameter("k", "int")), "range", doc, at)


SIGNATURE_FUNCTIONS: tuple[Function, ...] = (
    _crc("crc32", CrcType.CRC32, 32, "The 4-byte CRC32 signature (FC-PH; not zlib's)."),
    _crc("crc32c", CrcType.CRC32C, 32, "The 4-byte CRC32C signature (iSCSI)."),
    _crc("crc64_xp10", CrcType.CRC64_XP10, 64, "The 8-byte CRC64_XP10 signature (NVMe's CRC-64)."),
    Function(
        "t10dif",
        (
            Parameter("bg_type", "guard", "crc"),
            Parameter("bg", "seed", "zeros"),
            Parameter("app_tag", "int", "0"),
            Parameter("ref_tag", "int", "0"),
            Parameter("flags", "t10dif flags", "0"),
        ),
        "signature",
        "The 8-byte T10-DIF tuple: guard, application tag, reference tag. As an int `bg` is 0 or 0xffff (MKS0406).",
        _t10dif,
    ),
    Function(
        "framed",
        (
            Parameter("data", "bytes"),
            Parameter("domain", "domain or none"),
            Parameter("app_tags", "list of int", "[]"),
        ),
        "bytes",
        "`data` with the domain's field after every block; `app_tags`, one a block, instead of the signature's.",
        _framed,
    ),
    Function(
        "strip",
        (Parameter("stream", "bytes"), Parameter("domain", "domain or none")),
        "bytes",
        "`stream` without the domain's fields.",
        bytestring.strip,
    ),
    Function(
        "field",
        (Parameter("signature", "signature"), Parameter("block", "bytes"), Parameter("index", "int", "0")),
        "bytes",
        "The field of one block; `index` is the block's number, which ref_remap adds to the reference tag.",
        _field,
    ),
    _place("block_at", "Where the data of block `k` is in the framed stream.", Domain.block_at),
    _place("field_at", "Where the field of block `k` is in the framed stream.", Domain.field_at),
    _place("guard_at", "Where the guard of block `k` is; of a CRC, its whole field.", Domain.guard_at),
    _place("app_at", "Where the application tag of block `k` is.", Domain.app_at),
    _place("ref_at", "Where the reference tag of block `k` is.", Domain.ref_at),
    Function(
        "mask_at",
        (Parameter("domain", "domain"), Parameter("k", "int"), Parameter("mask", "int")),
        "list of int",
        "Positions, in the framed stream, of the bytes of block `k`'s field that a check or copy mask selects.",
        lambda domain, k, mask: domain.mask_at(k, mask),
    ),
)
