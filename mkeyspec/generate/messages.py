"""Messages: what is in memory or comes from the wire, and by which words a person can tell what becomes of it."""

from __future__ import annotations

from collections.abc import Iterator

from mkeyspec.generate import values
from mkeyspec.generate.blocks import split_of
from mkeyspec.generate.case import Case, Message
from mkeyspec.generate.domain import Domain, Signature
from mkeyspec.generate.machine import Crypto, Key
from mkeyspec.generate.signatures import BLOCKS, MANY, wrong
from mkeyspec.generate.values import Value

LENGTHS = (1, 2, 7, 8, 16, 63, 64, 65, 100, 511, 512, 513, 520, 1000, 1024, 4095, 4096, 4097, 5000, 9000)
LONG = (65535, 65536, 65537, 70000)


def amount(case: Case, key: Key, room: int | None = None) -> int | None:
    """Bytes of data of a message through the key, both ways; None if none fits. `room`: bytes that the layout has."""
    rng, signature = case.rng, key.signature
    for _ in range(20):
        if signature is None:
            data = rng.choice(LONG) if rng.random() < 0.04 else rng.choice(LENGTHS)
            if key.crypto is not None:
                data = key.crypto.unit * rng.choice((1, 1, 2, 3, 4, 5, 9, 17)) - 16 * rng.choice((0, 0, 0, 1, 2, 5))
            if room is not None:
                data = rng.choice((room, min(data, room)))
            mem = data
            lengths = [data]
        else:
            blocks = rng.choice(MANY if rng.random() < 0.06 and signature.block <= 520 else BLOCKS)
            blocks = min(blocks, max(1, 140_000 // signature.block))
            if room is not None:
                blocks = rng.choice((room // signature.mem_frame, min(blocks, room // signature.mem_frame)))
            data, mem = blocks * signature.block, blocks * signature.mem_frame
            lengths = _ciphered(key.crypto, signature, blocks) if key.crypto else []
        if data <= 0 or (room is not None and mem > room):
            continue
        if key.crypto is None or all(key.crypto.fits(one) for one in lengths):
            return data
    return None


def _ciphered(crypto: Crypto, signature: Signature, blocks: int) -> list[int]:
    """How long what is enciphered is: data alone, or a framed stream."""
    if crypto.encrypt == crypto.before:
        domain = signature.wire if crypto.encrypt else signature.mem
        return [blocks * (domain.frame if domain else signature.block)]
    return [blocks * signature.block]


def compose(case: Case, key: Key, length: int, *, tx: bool, spoil: bool) -> Message:
    """A message with `length` bytes of data. `spoil`: one thing in its source domain is wrong."""
    script = case.script
    signature, crypto = key.signature, key.crypto
    domain = None if signature is None else signature.mem if tx else signature.wire
    name = case.domain_name(domain)
    data = script.let("data", case.noise(length))
    inside = data
    if crypto is not None and crypto.encrypt != tx and crypto.before == tx:
        inside = script.let("sealed", values.enciphered(data, _key(case, crypto), crypto.tweak, crypto.unit))
    source = script.let("stream", values.framed(inside, domain, name)) if domain is not None else inside
    what = ""
    if spoil and domain is not None and signature is not None:
        bad, what = wrong(case.rng, source, domain, name, signature.check_mask)
        source = script.let("bad", bad)
    given = source
    if crypto is not None and crypto.encrypt != tx and crypto.before != tx:
        given = script.let("sealed", values.enciphered(source, _key(case, crypto), crypto.tweak, crypto.unit))
    return Message(tx, data, source, given, what)


def _key(case: Case, crypto: Crypto) -> Value:
    return Value(case.script.let_text("secret", case_key_text(crypto)), crypto.key)


def case_key_text(crypto: Crypto) -> str:
    """The text of a data key."""
    return f'hex"{crypto.key.hex()}"'


def outcome(case: Case, key: Key, message: Message, data: bytes) -> Value | None:
    """`data`, which the machine says comes out, in words; None if there are none but hundreds of bytes in hex."""
    told = case.script.told(data, _candidates(case, key, message))
    if told is not None or key.signature is None:
        return told
    target = key.signature.wire if message.tx else key.signature.mem
    if target is None or key.crypto is not None or len(data) // target.frame > 40:
        return None
    return _by_fields(case, target, message, data)


def _candidates(case: Case, key: Key, message: Message) -> Iterator[Value]:
    signature, crypto = key.signature, key.crypto
    source, target = (None, None)
    if signature is not None:
        source, target = (signature.mem, signature.wire) if message.tx else (signature.wire, signature.mem)
    bare = message.data
    if source is not None and message.wrong:
        bare = values.stripped(message.source, source, case.domain_name(source))
    if crypto is None:
        yield from _framings(case, bare, message.source, target)
        return
    secret = _key(case, crypto)
    if crypto.before == message.tx:  # the signature, then the cipher
        turned = values.enciphered if crypto.encrypt == message.tx else values.deciphered
        yield message.data
        for one in _framings(case, bare, message.source, target):
            if crypto.fits(len(one)):
                yield turned(one, secret, crypto.tweak, crypto.unit)
        return
    if crypto.encrypt == message.tx:
        bare = values.enciphered(message.data, secret, crypto.tweak, crypto.unit)
    yield from _framings(case, bare, message.source, target)


def _framings(case: Case, bare: Value, source: Value, target: Domain | None) -> Iterator[Value]:
    yield bare
    if target is not None:
        yield values.framed(bare, target, case.domain_name(target))
    yield source


def _by_fields(case: Case, target: Domain, message: Message, data: bytes) -> Value:
    """Blocks of data, each with a field in hex."""
    blocks, fields = split_of(target, data)
    source = message.data
    if blocks.tobytes() != source.data:
        source = case.script.let(
            "moved", values.literal(blocks.tobytes()) if blocks.size < 64 else _patched(source, blocks.tobytes())
        )
    size, count = target.size, len(fields)
    laid = case.script.let("fields", values.literal(fields.tobytes()))
    block = f"{source.text}[{target.block} * i +: {target.block}]"
    text = f"join([{block} ++ {laid.text}[{size} * i +: {size}] for i in 0..{count}])"
    return Value(text, data)


def _patched(value: Value, data: bytes) -> Value:
    """The value with the bytes in which `data` differs from it."""
    for at, (one, other) in enumerate(zip(value.data, data, strict=True)):
        if one != other:
            value = values.patched(value, at, str(at), bytes([other]))
    return value
