"""Requests that name a part of a plain key: offsets, several SGEs, memcpy, atomics."""

from __future__ import annotations

from mkeyspec.generate import life
from mkeyspec.generate.case import Case
from mkeyspec.generate.machine import Key
from mkeyspec.generate.values import Value, joined


def request(case: Case, key: Key) -> None:
    """One of them, of a key without attributes that count bytes."""
    rng = case.rng
    if key.signature is not None or key.crypto is not None or not key.usable:
        life.use(case, key)
        return
    _known(case, key)
    ways = [_part_out, _gathered, _copied_out]
    if "local_write" in key.access:
        ways += [_copied_in, _scattered]
    if {"local_write", "remote_write"} & key.access:
        ways.append(_part_in)
    if "remote_atomic" in key.access:
        ways += [_atomic] * 6
    rng.choice(ways)(case, key)


def _known(case: Case, key: Key) -> None:
    shape = case.shapes[key.name]
    if key.name not in case.held or not life.case_known(case, shape):
        space = case.script.let("space", case.noise(shape.length))
        case.fill(shape, space)
        case.held[key.name] = space
    case.ready.pop(key.name, None)


def _span(case: Case, key: Key, most: int = 1 << 20) -> tuple[int, int]:
    """A part of the key's space: first byte and length."""
    rng, whole = case.rng, case.shapes[key.name].length
    first = rng.choice((0, whole - 1, rng.randrange(whole), min(64, whole - 1), min(4096, whole - 1)))
    length = min(rng.choice((1, 8, 63, 64, 65, 511, 513, 4096, whole - first)), whole - first, most)
    return first, length


def _part_out(case: Case, key: Key) -> None:
    first, length = _span(case, key)
    way = case.rng.choice([way for way, right in life.WAYS.items() if not right or right in key.access])
    case.script.line(f"transmit {key.name}[{first} +: {length}] by {way}")
    _expect(case, key, "wire", first, length)
    case.script.draws("offset: out", "LAY-05", "WRP-10")


def _expect(case: Case, key: Key, place: str, first: int, length: int) -> None:
    assert key.layout is not None
    value = case.held[key.name].part(first, length)
    assert case.machine.gathered(key.layout, first, length) == value.data
    case.script.line(f"expect {place} == {value.text}")


def _changed(case: Case, key: Key, first: int, new: Value) -> None:
    """The key's space has `new` from `first` on; said and looked at."""
    assert key.layout is not None
    held = case.held[key.name]
    before, behind = held.part(0, first), held.part(first + len(new), len(held) - first - len(new))
    after = case.script.let("after", joined([before, new, behind]))
    case.machine.scatter(key.layout, first, new.data)
    assert case.machine.gathered(key.layout, 0, len(held)) == after.data
    case.held[key.name] = after
    case.script.line(f"expect {key.name} == {after.text}")


def _part_in(case: Case, key: Key) -> None:
    first, length = _span(case, key)
    way = case.rng.choice([way for way, right in life.WAYS_IN.items() if right in key.access])
    new = case.script.let("data", case.news(length, case.held[key.name].part(first, length).data))
    case.script.line(f"receive {new.text} into {key.name}[{first} +: {length}] by {way}")
    _changed(case, key, first, new)
    case.script.draws("offset: in", "LAY-05")


def _gathered(case: Case, key: Key) -> None:
    """A WRITE or SEND of some SGEs, of which one or two name the key."""
    rng, script = case.rng, case.script
    plain = case.noise(rng.choice((5, 64, 700)))
    name = script.name_of("own")
    script.line(f"memory {name} = {plain.text}")
    cut = rng.randrange(1, len(plain))
    first, length = _span(case, key, 9000)
    parts = [
        (f"{name}[0 +: {cut}]", plain.part(0, cut)),
        (f"{key.name}[{first} +: {length}]", case.held[key.name].part(first, length)),
        (f"{name}[{cut} +: {len(plain) - cut}]", plain.part(cut, len(plain) - cut)),
    ]
    if rng.random() < 0.4:
        again, more = _span(case, key, 5000)
        parts.append((f"{key.name}[{again} +: {more}]", case.held[key.name].part(again, more)))
    rng.shuffle(parts)
    far = script.name_of("far")
    total = joined([value for _, value in parts])
    script.line(f"peer memory {far}[{len(total)}]")
    sges = f"[{', '.join(text for text, _ in parts)}]"
    if rng.random() < 0.5:
        script.line(f"write {sges} to {far}")
    else:
        script.line(f"peer recv {far}")
        script.line(f"send {sges}")
    script.line(f"expect {far} == {total.text}")
    script.draws(f"sges: {len(parts)}", "WRP-05", "CFG-14")


def _scattered(case: Case, key: Key) -> None:
    """The answer of a READ, or a message, into two SGEs of which one names the key."""
    rng, script = case.rng, case.script
    first, length = _span(case, key, 9000)
    own = rng.choice((1, 64, 700))
    name, source = script.name_of("own"), script.name_of("src")
    data = script.let("data", case.noise(own + length))
    script.line(f"memory {name}[{own}]")
    script.line(f"peer memory {source} = {data.text}")
    ahead = rng.random() < 0.5
    parts = [f"{name}[0 +: {own}]", f"{key.name}[{first} +: {length}]"]
    sges = f"[{', '.join(parts if ahead else parts[::-1])}]"
    if rng.random() < 0.5:
        script.line(f"read {sges} from {source}")
    else:
        script.line(f"recv {sges}")
        script.line(f"peer send {source}")
    script.line(f"expect {name} == {data.part(0 if ahead else length, own).text}")
    _changed(case, key, first, data.part(own if ahead else 0, length))
    script.draws("sges: scattered", "WRP-05", "CFG-14")


def _copy_qp(case: Case) -> str:
    return case.one("copier", "qp {} {{ send_ops [memcpy] }}")


def _copied_out(case: Case, key: Key) -> None:
    qp = _copy_qp(case)
    first, length = _span(case, key)
    name = case.script.name_of("copy")
    case.script.line(f"memory {name}[{length}]")
    case.script.line(f"memcpy {key.name}[{first} +: {length}] to {name} on {qp}")
    _expect(case, key, name, first, length)
    case.script.draws("memcpy: out", "WRP-18")


def _copied_in(case: Case, key: Key) -> None:
    qp = _copy_qp(case)
    first, length = _span(case, key)
    name = case.script.name_of("copy")
    new = case.script.let("data", case.news(length, case.held[key.name].part(first, length).data))
    case.script.line(f"memory {name} = {new.text}")
    case.script.line(f"memcpy {name} to {key.name}[{first} +: {length}] on {qp}")
    _changed(case, key, first, new)
    case.script.draws("memcpy: in", "WRP-18")


def _atomic(case: Case, key: Key) -> None:
    """On 8 bytes that the layout does not cut (X-OPEN-15), at a multiple of 8."""
    assert key.layout is not None
    rng, script = case.rng, case.script
    odd = {region.name: region.misaligned for region in case.shapes[key.name].every_region()}
    places: list[int] = []
    at = 0
    for name, start, size in case.machine.pieces(key.layout):
        skip = -(odd[name] + start) % 8
        if skip + 8 <= size and (at + skip) % 8 == 0:
            places += [at + skip, at + skip + (size - skip - 8) // 8 * 8]
        at += size
    if not places:
        _part_out(case, key)
        return
    first = rng.choice(places)
    before = case.held[key.name].part(first, 8)
    number = int.from_bytes(before.data, "little")
    old = script.name_of("old")
    script.line(f"peer memory {old}[8]")
    if rng.random() < 0.6:
        add = rng.choice((1, 0xFFFFFFFF, 1 << 63, rng.getrandbits(64)))
        script.line(f"peer fetch_add {old} from {key.name}[{first} +: 8], add {add:#x}")
        new = number + add & (1 << 64) - 1
        script.draws("atomic: fetch_add", "ACC-01")
    else:
        equal = rng.random() < 0.6
        compare, swap = number if equal else number ^ 1 << rng.randrange(64), rng.getrandbits(64)
        script.line(f"peer compare_swap {old} from {key.name}[{first} +: 8], compare {compare:#x}, swap {swap:#x}")
        new = swap if equal else number
        script.draws(f"atomic: compare_swap, {'equal' if equal else 'other'}", "ACC-01")
    script.line(f"expect {old} == {before.text}")
    if new != number:
        _changed(case, key, first, Value(f"le64({new:#x})", new.to_bytes(8, "little")))
