"""Statements that break exactly one rule of the pages, and are refused.

The key's state is unknown after a refused section (mlx5dv_wr_set_mkey_sig_block(3), Notes): it is configured whole
again.
The case names no errno: it is that of the one broken rule.
"""

from __future__ import annotations

from collections.abc import Callable

from mkeyspec.generate import attributes, life
from mkeyspec.generate.case import Case
from mkeyspec.generate.domain import Domain
from mkeyspec.generate.machine import Key

AT_COMPLETE = "\n    rejected at complete"
ENTRIES = 60
"""More than fit into any work request that the generator posts (X-LIM-06)."""


def refuse(case: Case, key: Key) -> None:
    """One refused statement about a key that is configured."""
    if key.unread is not None:
        life.check(case, key)
    kinds = [name for name, (fits, _) in _CONFIGURATIONS.items() if fits(case, key)]
    if key.block_signature and key.spent:
        # The next configuration arms the key, and the driver remembers that with its last setter, also if what that
        # gives is refused then: the key tells no error any more (X-BUG-03).
        kinds = [one for one in kinds if _CONFIGURATIONS[one][0] is _any and one != "too_many_setters"]
    # What few keys can break is drawn more often, where one can.
    name = case.rng.choices(kinds, [_WEIGHTS.get(_CONFIGURATIONS[one][0], 8) for one in kinds])[0]
    _CONFIGURATIONS[name][1](case, key)
    case.script.draws(f"broken: {name}", _REQUIREMENTS[name])
    key.usable, key.counted = False, False
    case.ready.pop(key.name, None)


def refuse_alone(case: Case) -> None:
    """One refused statement about objects of its own."""
    name = case.rng.choice(list(_ALONE))
    _ALONE[name](case)
    case.script.draws(f"broken: {name}", _REQUIREMENTS[name])


# Of a configuration --------------------------------------------------------------------------


def _lines(case: Case, key: Key, *without: str) -> list[str]:
    """Setters that are as they should be, some of those that the key can have."""
    shape = case.shapes[key.name]
    kinds = ["access", "layout"] + ["signature"] * (key.signature is not None) + ["crypto"] * (key.crypto is not None)
    chosen = [kind for kind in kinds if kind not in without and case.rng.random() < 0.5]
    return list(attributes.setter_lines(case, key, chosen, shape).values())


def _post(case: Case, key: Key, lines: list[str], modifier: str = "") -> None:
    """The configuration, its lines in any order; sometimes with an innocent request before it in its section."""
    case.rng.shuffle(lines)
    body = "\n".join(f"    {line}" for line in lines)
    text = f"configure {key.name}{{}}{modifier}" + (f" {{\n{body}\n}}" if lines else "")
    if case.rng.random() < 0.3:
        here, there = case.script.name_of("sent"), case.script.name_of("far")
        case.script.line(f"memory {here} = {case.noise(16).text}")
        case.script.line(f"peer memory {there}[16]")
        inside = "\n".join(f"    {line}" for line in text.replace("{}", "", 1).split("\n"))
        case.script.line(f"post{case.on} {{\n    write {here} to {there}, signaled\n{inside}\n}}{AT_COMPLETE}")
        case.script.draws("broken: behind a good request", "CFG-07")
    else:
        case.script.line(text.replace("{}", case.on, 1) + AT_COMPLETE)


def _twice(case: Case, key: Key) -> None:
    shape = case.shapes[key.name]
    kinds = (
        ["access"] * 2
        + ["layout"]
        + ["signature"] * (key.signature is not None)
        + ["crypto"] * (key.crypto is not None)
    )
    kind = case.rng.choice(kinds)
    line = attributes.setter_lines(case, key, [kind], shape)[kind]
    _post(case, key, [*_lines(case, key, kind), line, line])


def _two_layouts(case: Case, key: Key) -> None:
    shape = case.shapes[key.name]
    name = next(shape.every_region()).name
    other = f"layout list({name}[0 +: 1])" if shape.layout.strided else f"layout interleaved(1, {name} count 1)"
    _post(case, key, [*_lines(case, key, "layout"), f"layout {shape.text}", other])


def _too_many(case: Case, key: Key) -> None:
    lines = [*_lines(case, key, "access"), f"access {case.access_text(key.access)}"]
    _post(case, key, lines, f", but num_setters {case.rng.randrange(len(lines))}")


def _modified(*modifiers: str) -> Callable[[Case, Key], None]:
    def post(case: Case, key: Key) -> None:
        lines = [*_lines(case, key, "access"), f"access {case.access_text(key.access)}"]
        _post(case, key, lines, f", but {case.rng.choice(modifiers)}")

    return post


def _without_inline(case: Case, key: Key) -> None:
    shape = case.shapes[key.name]
    _post(case, key, [*_lines(case, key, "layout"), f"layout {shape.text}"], ", but inline 0")


def _access_bits(case: Case, key: Key) -> None:
    _post(
        case, key, [*_lines(case, key, "access"), f"access remote_read | 1 << {case.rng.choice((10, 19, 21, 25, 31))}"]
    )


def _room(case: Case, key: Key) -> None:
    name = next(case.shapes[key.name].every_region()).name
    _post(case, key, [*_lines(case, key, "layout"), f"layout list([{name}[0 +: 1]] * {ENTRIES})"])


def _domain(text: Callable[[Case, Domain], str], *kinds: str) -> Callable[[Case, Key], None]:
    """A signature whose one domain is wrong in one member. `kinds` of signature that have the member."""

    def post(case: Case, key: Key) -> None:
        domain = Domain(case.rng.choice(kinds), case.rng.choice((512, 4096)), False)
        side = case.rng.choice(("mem", "wire"))
        _post(case, key, [*_lines(case, key, "signature", "crypto"), f"signature {{ {side} {text(case, domain)} }}"])

    return post


ANY = ("crc32", "crc32c", "crc64_xp10", "t10dif")
CRCS = ANY[:3]


def _signature(*modifiers: str) -> Callable[[Case, Key], None]:
    def post(case: Case, key: Key) -> None:
        line = f"signature, but {case.rng.choice(modifiers)} {{ wire crc32(ones) every 512 }}"
        _post(case, key, [*_lines(case, key, "signature", "crypto"), line])

    return post


def _unlike(case: Case, key: Key) -> None:
    first, second = case.rng.sample(ANY, 2)
    block = case.rng.choice((512, 520))
    a, b = Domain(first, block, True), Domain(second, block, True)
    line = f"signature {{ mem {a.text}; wire {b.text}; copy_mask {case.rng.choice((0xFF, 0xF0, 0xC0)):#x} }}"
    _post(case, key, [*_lines(case, key, "signature", "crypto"), line])


def _no_signature(case: Case, key: Key) -> None:
    _post(case, key, [*_lines(case, key), "signature { wire crc32(ones) every 512 }"])


def _no_crypto_flag(case: Case, key: Key) -> None:
    dek = case.script.name_of("e")
    case.script.line(f"dek {dek} {{ key {case.noise(64).text} }}")
    _post(
        case,
        key,
        [*_lines(case, key), f"crypto {{ dek {dek}; tweak 0; data_unit 512; order signature_before_crypto_on_tx }}"],
    )


def _crypto(*modifiers: str) -> Callable[[Case, Key], None]:
    def post(case: Case, key: Key) -> None:
        assert key.crypto is not None
        line = f"crypto, but {case.rng.choice(modifiers)} {{ {attributes.crypto_lines(key.crypto)} }}"
        _post(case, key, [*_lines(case, key, "crypto"), line])

    return post


def _order_of_two(case: Case, key: Key) -> None:
    assert key.crypto is not None
    encrypt, order = case.rng.choice((("yes", "after"), ("no", "before")))
    crypto = (
        f"crypto {{ dek {key.crypto.name}; tweak 0; data_unit 512; encrypt_on_tx {encrypt};"
        f" order signature_{order}_crypto_on_tx }}"
    )
    signature = "signature { mem crc64_xp10(ones) every 512; wire crc64_xp10(ones) every 512 }"
    _post(case, key, [*_lines(case, key, "crypto", "signature"), signature, crypto])


def _any(case: Case, key: Key) -> bool:
    return True


def _signed(case: Case, key: Key) -> bool:
    return key.block_signature


def _ciphered(case: Case, key: Key) -> bool:
    return key.crypto is not None


def _both(case: Case, key: Key) -> bool:
    return key.block_signature and key.crypto is not None


_CONFIGURATIONS: dict[str, tuple[Callable[[Case, Key], bool], Callable[[Case, Key], None]]] = {
    "setter_called_twice": (_any, _twice),
    "two_layouts": (_any, _two_layouts),
    "too_many_setters": (_any, _too_many),
    "inline_missing": (_any, _without_inline),
    "conf_comp_mask": (_any, _modified("comp_mask 1", "comp_mask 1 << 31", "comp_mask 1 << 63")),
    "conf_flags": (_any, _modified("conf_flags 2", "conf_flags 4", "conf_flags 1 << 31")),
    "access_bits": (_any, _access_bits),
    "list_room": (_any, _room),
    "mkey_without_signature": (lambda case, key: not key.block_signature, _no_signature),
    "mkey_without_crypto": (lambda case, key: not key.crypto_flag, _no_crypto_flag),
    "sig_flags": (_signed, _signature("flags 2", "flags 4", "flags 1 << 31")),
    "sig_comp_mask": (_signed, _signature("comp_mask 1", "comp_mask 1 << 63")),
    "domain_comp_mask": (_signed, _domain(lambda case, one: f"{one.text} but comp_mask 1", *ANY)),
    "sig_type": (_signed, _domain(lambda case, one: f"{one.text} but sig_type {case.rng.choice((2, 3, 255))}", *ANY)),
    "block_size": (
        _signed,
        _domain(lambda case, one: f"{one.text} but block_size {case.rng.choice((5, 6, 255))}", *ANY),
    ),
    "crc_type": (
        _signed,
        _domain(lambda case, one: f"({one.signature} but type {case.rng.choice((3, 7))}) every {one.block}", *CRCS),
    ),
    "crc_seed": (
        _signed,
        _domain(
            lambda case, one: f"{one.kind}({case.rng.choice((1, 0xFFFE, 0x80000000)):#x}) every {one.block}", *CRCS
        ),
    ),
    "dif_bg": (
        _signed,
        _domain(lambda case, one: f"t10dif(bg={case.rng.choice((1, 0x8000, 0xFFFE)):#x}) every {one.block}", "t10dif"),
    ),
    "dif_bg_type": (
        _signed,
        _domain(
            lambda case, one: f"({one.signature} but bg_type {case.rng.choice((2, 3))}) every {one.block}", "t10dif"
        ),
    ),
    "dif_flags": (
        _signed,
        _domain(
            lambda case, one: f"({one.signature} but flags 1 << {case.rng.choice((3, 7))}) every {one.block}", "t10dif"
        ),
    ),
    "copy_mask_structure": (lambda case, key: key.block_signature and key.crypto is None, _unlike),
    "crypto_comp_mask": (_ciphered, _crypto("comp_mask 1", "comp_mask 1 << 63")),
    "crypto_standard": (_ciphered, _crypto("crypto_standard 1", "crypto_standard 7")),
    "crypto_order": (_ciphered, _crypto("signature_crypto_order 2")),
    "crypto_data_unit": (_ciphered, _crypto("data_unit_size 5", "data_unit_size 9")),
    "crypto_order_domains": (_both, _order_of_two),
}
"""Rules by their names in a claim (`compiler.check.rules`): whether a key can break it, and how."""
_WEIGHTS: dict[Callable[[Case, Key], bool], int] = {_any: 2, _signed: 2, _ciphered: 6, _both: 20}
"""How often each is drawn where it can be; 8 of any other."""


# Of objects of its own -----------------------------------------------------------------------


def _plain_key(case: Case, setters: str, flags: str = "") -> str:
    name = case.script.name_of("z")
    case.script.line(f"mkey {name}{flags}")
    case.script.line(f"configure {name} {{ {setters} }}")
    return name


def _memory(case: Case, size: int, more: str = "") -> str:
    name = case.script.name_of("buf")
    case.script.line(f"memory {name} = {case.noise(size).text}{more}")
    return name


def _beyond(case: Case) -> None:
    rng = case.rng
    size = rng.choice((1, 64, 512, 4096))
    memory = _memory(case, size)
    key = _plain_key(case, f"access local_write | remote_write | remote_read; layout list({memory})")
    over = rng.choice((1, 8, 64))
    if rng.random() < 0.5:
        way, reason = rng.choice(
            (("send", "local_protection"), ("write", "local_protection"), ("peer_read", "remote_access"))
        )
        case.script.line(f"transmit {key}[0 +: {size + over}] by {way}\n    rejected at completion with {reason}")
        case.script.line("expect wire == any                      # how much of it went out is open")
        return
    way, reason = rng.choice((("read", "local_protection"), ("peer_write", "remote_access")))
    case.script.line(
        f"receive {case.noise(size + over).text} into {key} by {way}\n    rejected at completion with {reason}"
    )
    case.script.line(f"expect {memory} == any")


def _no_layout(case: Case) -> None:
    key = _plain_key(case, "access local_write | remote_read")
    way, reason = case.rng.choice((("send", "local_protection"), ("peer_read", "remote_access")))
    case.script.line(f"transmit {key}[0 +: 8] by {way}\n    rejected at completion with {reason}")


def _foreign(case: Case) -> None:
    pd = case.script.name_of("foreign")
    case.script.line(f"pd {pd}")
    memory = _memory(case, 64, f", pd {pd}")
    key = _plain_key(case, f"access local_write; layout list({memory})")
    case.script.line(f"transmit {key} by send\n    rejected at completion with local_protection")


def _no_crypto(case: Case) -> None:
    memory = _memory(case, 512)
    key = _plain_key(case, f"access local_write; layout list({memory})", " { crypto }")
    case.script.line(f"transmit {key} by send\n    rejected at completion")


def _keytag(case: Case) -> None:
    memory, dek = _memory(case, 512), case.script.name_of("e")
    case.script.line(f"dek {dek} {{ key {case.noise(64).text}; keytag fill(7, 8) }}")
    tag = bytearray([7] * 8)
    tag[case.rng.randrange(8)] ^= 1 << case.rng.randrange(8)
    crypto = f'crypto {{ dek {dek}; tweak 0; data_unit 512; keytag hex"{tag.hex()}" }}'
    key = _plain_key(case, f"access local_write; layout list({memory}); {crypto}", " { crypto }")
    case.script.line(f"transmit {key} by send\n    rejected at completion with local_protection")


def _job(case: Case) -> None:
    unit, size = case.rng.choice(((512, 47), (512, 520), (520, 512), (520, 528), (4048, 4049)))
    memory, dek = _memory(case, size), case.script.name_of("e")
    case.script.line(f"dek {dek} {{ key {case.noise(64).text} }}")
    crypto = f"crypto {{ dek {dek}; tweak 0; data_unit {unit} }}"
    key = _plain_key(case, f"access local_write; layout list({memory}); {crypto}", " { crypto }")
    case.script.line(f"transmit {key} by send\n    rejected at completion")
    case.script.line("expect wire == any                      # units before the last may have gone out")


def _create(case: Case) -> None:
    name = case.script.name_of("z")
    case.script.line(
        f"mkey {name}, but create_flags {case.rng.choice(('0', '1 << 5', '1 << 7', '1 << 31'))}\n    rejected at create"
    )


def _operations(case: Case) -> None:
    name = case.script.name_of("q")
    kind = case.rng.choice(("uc", "ud", "xrc_send", "raw_packet"))
    ops = case.rng.choice(("configure", "mr_list", "mr_interleaved"))
    case.script.line(f"qp {name} {{ type {kind}; send_ops [{ops}] }}\n    rejected at create")


def _cancel(case: Case) -> None:
    name = case.script.name_of("q")
    case.script.line(f"qp {name} {{ sig_pipelining }}")
    case.script.line(f"cancel 1 on {name}\n    rejected at cancel")


_ALONE: dict[str, Callable[[Case], None]] = {
    "beyond_layout": _beyond,
    "no_layout": _no_layout,
    "foreign_pd": _foreign,
    "crypto_missing": _no_crypto,
    "crypto_keytag": _keytag,
    "crypto_job": _job,
    "create_flags": _create,
    "qp_operations": _operations,
    "cancel_state": _cancel,
}

_REQUIREMENTS = {
    "setter_called_twice": "CFG-07", "two_layouts": "LAY-03", "too_many_setters": "CFG-04", "inline_missing": "CFG-12",
    "conf_comp_mask": "CFG-22", "conf_flags": "CFG-23", "access_bits": "ACC-05", "list_room": "LST-03",
    "mkey_without_signature": "SIG-24", "mkey_without_crypto": "XCRY-01", "sig_flags": "SIG-17",
    "sig_comp_mask": "SIG-18", "domain_comp_mask": "SIG-19",
    "sig_type": "SIG-20", "block_size": "SIG-22", "crc_type": "CRC-01", "crc_seed": "CRC-07", "dif_bg": "DIF-07",
    "dif_bg_type": "DIF-08", "dif_flags": "DIF-11", "copy_mask_structure": "MSK-17", "crypto_comp_mask": "XCRY-02",
    "crypto_standard": "XCRY-03", "crypto_order": "XCRY-04", "crypto_data_unit": "XCRY-05",
    "crypto_order_domains": "XCRY-07", "beyond_layout": "LAY-05", "no_layout": "LAY-02", "foreign_pd": "MKY-11",
    "crypto_missing": "CRY-04", "crypto_keytag": "XCRY-09", "crypto_job": "XCRY-10", "create_flags": "MKY-03",
    "qp_operations": "WRP-06", "cancel_state": "XCAN-06",
}  # fmt: skip
"""What each of them is about, in the ledger."""

RULES = frozenset(_REQUIREMENTS)
"""The rules that are broken here."""
