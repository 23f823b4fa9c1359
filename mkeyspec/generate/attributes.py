"""Configurations: which attributes a key gets, by which call, in which order."""

from __future__ import annotations

from mkeyspec.generate.case import RIGHTS, Case
from mkeyspec.generate.domain import Signature
from mkeyspec.generate.layouts import Shape
from mkeyspec.generate.machine import Crypto, Key
from mkeyspec.generate.messages import case_key_text
from mkeyspec.generate.signatures import signature

ALL = frozenset(RIGHTS)
UNITS = (512, 520, 4048, 4096, 4160)
TWEAKS = (0, 1, 7, 0xFF, 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF, 0xFEFFFFFFFFFFFFFF, 1 << 100)


def draw_signature(case: Case, key: Key) -> None:
    """New attributes for the key, of one that it had or not."""
    before = key.signature
    while True:
        key.signature = signature(case.rng, before)
        if not key.crypto_flag or _orders(key.signature):
            return


def _orders(made: Signature | None) -> list[tuple[bool, bool]]:
    """What encrypt_on_tx and signature_before_crypto_on_tx may be with a signature, such that data units are whole."""
    both = (True, False)
    if made is None:
        return [(encrypt, before) for encrypt in both for before in both]
    found: list[tuple[bool, bool]] = []
    for encrypt in both:
        near, far = (made.mem, made.wire) if encrypt else (made.wire, made.mem)
        if far is None or far.frame in UNITS:
            found.append((encrypt, encrypt))
        if near is None:
            found.append((encrypt, not encrypt))
    return found


def draw_crypto(case: Case, key: Key) -> None:
    """Crypto attributes that go with the key's signature (mlx5dv_wr_set_mkey_crypto(3), signature_crypto_order)."""
    rng, made = case.rng, key.signature
    encrypt, before = rng.choice(_orders(made))
    data = bytes(rng.randrange(256) for _ in range(rng.choice((32, 64))))
    units = list(UNITS)
    if made is not None:
        framed = made.wire if encrypt else made.mem
        units = [made.block]
        if encrypt == before and framed is not None:
            units = [framed.frame]
    script = case.script
    tag = rng.random() < 0.25
    name = script.name_of("e")
    crypto = Crypto(name, data, rng.choice(TWEAKS), rng.choice(units), encrypt, before, tag)
    secret = script.let_text("secret", case_key_text(crypto))
    script.line(f"dek {name} {{ key {secret}{'; keytag fill(7, 8)' if tag else ''} }}")
    key.crypto = crypto


def crypto_lines(crypto: Crypto) -> str:
    """What is between the braces of the setter."""
    order = "signature_before_crypto_on_tx" if crypto.before else "signature_after_crypto_on_tx"
    tag = "; keytag fill(7, 8)" if crypto.keytag else ""
    return (
        f"dek {crypto.name}; tweak {crypto.tweak:#x}; data_unit {crypto.unit};"
        f" encrypt_on_tx {'yes' if crypto.encrypt else 'no'}; order {order}{tag}"
    )


def draw_rights(case: Case) -> frozenset[str]:
    """Mostly all of them; sometimes some."""
    if case.rng.random() < 0.6:
        return ALL
    return frozenset(one for one in RIGHTS if case.rng.random() < 0.6)


def setter_lines(case: Case, key: Key, kinds: list[str], shape: Shape | None) -> dict[str, str]:
    """The line of each setter. `shape` of the layout setter."""
    lines: dict[str, str] = {}
    for kind in kinds:
        if kind == "access":
            lines[kind] = f"access {case.access_text(key.access)}"
        elif kind == "layout":
            assert shape is not None
            lines[kind] = f"layout {shape.text}"
        elif kind == "signature":
            assert key.signature is not None
            lines[kind] = f"signature {{ {case.signature_lines(key.signature)} }}"
        else:
            assert key.crypto is not None
            lines[kind] = f"crypto {{ {crypto_lines(key.crypto)} }}"
    return lines


def post_configuration(case: Case, key: Key, kinds: list[str], shape: Shape | None, *, reset: bool = False) -> None:
    """One configuration by one of the APIs, alone in its section; the machine has the same."""
    script, rng = case.script, case.rng
    if set(kinds) == {"access", "layout"} and not reset and rng.random() < 0.4:
        assert shape is not None
        call = "mr_interleaved" if shape.layout.strided else "mr_list"
        script.line(f"{call} {key.name} from {shape.text}{case.on}, access {case.access_text(key.access)}")
        script.draws(f"by {call}", "WRP-07" if shape.layout.strided else "WRP-08")
    else:
        script.line(configuration(case, key, kinds, shape, reset=reset, place=case.on))
        script.draws("by configure", "CFG-03")
    configured(case, key, kinds, shape)


def configuration(
    case: Case, key: Key, kinds: list[str], shape: Shape | None, *, reset: bool = False, place: str = ""
) -> str:
    """The text of `configure`, its setters in any order."""
    lines = setter_lines(case, key, kinds, shape)
    order = list(kinds)
    case.rng.shuffle(order)
    flags = ", reset_signature" * reset
    case.script.draws(f"setters: {'+'.join(sorted(kinds)) or 'none'}", "CFG-05" if len(kinds) > 1 else "CFG-06")
    if len(kinds) > 1:
        case.script.draws(f"order: {order[0]} first", "CFG-05")
    if not order:
        return f"configure {key.name}{place}{flags}"
    if len(order) == 1 and len(lines[order[0]]) < 60:
        return f"configure {key.name}{place}{flags} {{ {lines[order[0]]} }}"
    body = "\n".join(f"    {lines[kind]}" for kind in order)
    return f"configure {key.name}{place}{flags} {{\n{body}\n}}"


def configured(case: Case, key: Key, kinds: list[str], shape: Shape | None) -> None:
    """The key as it is after that."""
    if shape is not None and "layout" in kinds:
        key.layout = shape.layout
        case.shapes[key.name] = shape
        case.script.draws(f"layout: {shape.kind}", "INT-01" if shape.layout.strided else "LST-01")
        case.script.draws(f"entries: {_class(shape.entries)}", "LAY-01")
    key.usable, key.spent = True, False
    if "signature" in kinds:
        key.counted = False
        made = key.signature
        assert made is not None
        for side, one in (("mem", made.mem), ("wire", made.wire)):
            if one is not None:
                case.script.draws(f"{side}: {one.kind}", "DIF-01" if one.tags else "CRC-01", "SIG-01")
                case.script.draws(f"block: {one.block}", "SIG-22")
                for flag in one.flags:
                    case.script.draws(f"flag: {flag}", "DIF-11")
        checked = made.check_mask & made.relevant
        many = (
            "all" if checked == made.relevant else "some" if checked & (checked - 1) else "one" if checked else "none"
        )
        case.script.draws(f"check_mask: {many}", "MSK-01", *["MSK-03"] * (not checked))
        if made.copy_mask is not None:
            case.script.draws("copy_mask", "MSK-12", *["MSK-15"] * (not made.copy_mask & made.relevant))
    if "crypto" in kinds and key.crypto is not None:
        row = f"{'encrypt' if key.crypto.encrypt else 'decrypt'} {'before' if key.crypto.before else 'after'}"
        case.script.draws(f"crypto: {row}", "CRY-01", "XCRY-06")
        case.script.draws(f"unit: {key.crypto.unit}", "XCRY-05")


def _class(number: int) -> str:
    """The class of a number of entries."""
    return next((f"up to {bound}" for bound in (1, 2, 4, 8, 16, 32) if number <= bound), "beyond 32")
