"""The life of one key: it is configured, used, configured anew by part or whole, invalidated, and looked at."""

from __future__ import annotations

from mkeyspec.generate import attributes
from mkeyspec.generate.blocks import Report
from mkeyspec.generate.case import Case, Message
from mkeyspec.generate.layouts import Shape
from mkeyspec.generate.machine import Key, Open, through
from mkeyspec.generate.messages import amount, compose, outcome
from mkeyspec.generate.services import service
from mkeyspec.generate.values import Value, joined

SETTERS = ("access", "layout", "signature", "crypto")
WAYS = {"send": "", "send_imm": "", "write": "", "write_imm": "", "peer_read": "remote_read"}
"""How data leaves, and the right that it takes."""
WAYS_IN = {"recv": "local_write", "read": "local_write", "peer_write": "remote_write", "peer_write_imm": "remote_write"}


def begin(case: Case, key: Key) -> None:
    """The first configuration, or one that leaves nothing of what was there."""
    kinds = ["access", "layout"] + ["signature"] * key.block_signature + ["crypto"] * key.crypto_flag
    if key.block_signature and not key.crypto_flag and case.rng.random() < 0.08:
        kinds.remove("signature")
    reset = key.signature is not None and "signature" not in kinds
    if not key.usable and key.block_signature and "signature" not in kinds:
        key.signature, reset = None, True
    configure(case, key, kinds, reset=reset)


def configure(case: Case, key: Key, kinds: list[str], *, reset: bool = False) -> None:
    """One configuration with these setters, and memory for what is to be sent through the key."""
    if key.unread is not None and ("signature" in kinds or reset):  # the driver decodes it by the new one (X-DIFF-29)
        check(case, key)
    if reset:
        key.signature = None
    if "access" in kinds:
        key.access = attributes.draw_rights(case)
    if "signature" in kinds:
        attributes.draw_signature(case, key)
        if key.crypto_flag and "crypto" not in kinds:
            kinds = [*kinds, "crypto"]
    if "crypto" in kinds:
        attributes.draw_crypto(case, key)
    if reset or "signature" in kinds or "crypto" in kinds:
        case.ready.pop(key.name, None)
    room = None
    if "layout" not in kinds and key.layout is not None:
        room = case.machine.length(key.layout)
        if amount(case, key, room) is None:
            kinds, room = [*kinds, "layout"], None
    shape = None
    if "layout" in kinds:
        shape = laid(case, key)
    attributes.post_configuration(case, key, kinds, shape, reset=reset)


def laid(case: Case, key: Key) -> Shape:
    """A new layout, whose memory holds a message; the keys that it goes through are configured."""
    length = amount(case, key)
    assert length is not None
    message = _message(case, key, length, tx=True)
    given = message.given
    extra = case.rng.choice((0, 0, 0, 0, 1, 7, 600))
    if extra:
        given = case.script.let("space", joined([given, case.noise(extra)]))
    shape = case.layouts().shape(len(given), nested=2)
    case.fill(shape, given)
    case.held[key.name], case.ready[key.name] = given, message
    _configure_inner(case, shape)
    return shape


def _configure_inner(case: Case, shape: Shape) -> None:
    for name, inner in shape.inner:
        _configure_inner(case, inner)
        key = Key(name, access=attributes.ALL)
        case.machine.keys[name] = key
        case.script.line(f"mkey {name}")
        attributes.post_configuration(case, key, ["access", "layout"], inner)
        case.script.draws("nesting", "LAY-01")


def _message(case: Case, key: Key, length: int, *, tx: bool) -> Message:
    """A message that no open point decides."""
    spoil = key.signature is not None and key.unread is None and case.rng.random() < 0.45
    for wrong in (spoil, spoil, spoil, False):
        mark = case.script.mark()
        message = compose(case, key, length, tx=tx, spoil=wrong)
        try:
            out, report = through(key.signature, key.crypto, message.given.data, tx=tx)
        except Open:
            case.script.back(mark)
            continue
        if outcome(case, key, message, out) is None or (report is not None and key.unread is not None):
            case.script.back(mark)
            continue
        return message
    # Even what is right has a second reading: without its signature it has none.
    raise Open


def use(case: Case, key: Key) -> None:
    """One message through the key, out or in."""
    if not key.usable:
        begin(case, key)
    if key.counted and key.signature is not None:
        configure(case, key, ["signature"])
    elif key.spent:
        configure(case, key, case.rng.choice(([], ["access"], ["layout"], ["signature"] * (key.signature is not None))))
    tx = case.rng.random() < 0.55
    if key.unread is not None and (not tx or key.signature is None or key.signature.mem != key.told_by):
        check(case, key)  # the language knows the error by the signature of the last message
        use(case, key)
        return
    if tx:
        transmit(case, key)
    else:
        receive(case, key)
    if key.signature is not None and key.signature.remap:
        key.counted = True


def wire_length(key: Key, data: int) -> int:
    """Wire bytes of so many bytes of data."""
    if key.signature is None:
        return data
    return data // key.signature.block * key.signature.wire_frame


def transmit(case: Case, key: Key) -> None:
    """From memory to the wire; what is in memory is written first if it is not there."""
    rng, script = case.rng, case.script
    shape = case.shapes[key.name]
    message = case.ready.pop(key.name, None)
    if message is None or not _still(case, key, message):
        length = amount(case, key, shape.length)
        if length is None:
            return
        message = _message(case, key, length, tx=True)
        space = message.given
        if len(space) < shape.length:
            space = script.let("space", joined([space, case.noise(shape.length - len(space))]))
        case.fill(shape, space)
        case.held[key.name] = space
    if "remote_read" not in key.access and rng.random() < 0.08:
        announce(case, key, None, tx=True)
        script.line(
            f"transmit {key.name}[0 +: {wire_length(key, len(message.data))}] by peer_read\n"
            "    rejected at completion with remote_access"
        )
        script.draws("refused: peer_read", "ACC-01")
        return
    ways, on, more = service(case, [way for way, right in WAYS.items() if not right or right in key.access], tx=True)
    way = rng.choice(ways)
    length = wire_length(key, len(message.data))
    out, report = case.machine.sent(key, length)
    assert len(out) == length
    whole = len(message.given) == shape.length and rng.random() < 0.7
    announce(case, key, report, tx=True)
    script.line(f"transmit {key.name}{'' if whole else f'[0 +: {length}]'} by {way}{on}{more}")
    told = outcome(case, key, message, out)
    assert told is not None
    script.line(f"expect wire == {told.text}")
    script.draws(f"way: {way}", "CFG-14")
    _reported(case, key, report, message)


def announce(case: Case, key: Key, report: Report | None, *, tx: bool) -> None:
    """Before a message that is told of: what came in another domain is asked for, so that the block is one of this."""
    domain = None if key.signature is None else key.signature.mem if tx else key.signature.wire
    if domain is None:
        return
    if report is not None and key.came - {(domain.kind, domain.frame)}:
        case.script.line(f"check {key.name} is ok")
        key.came.clear()
    key.came.add((domain.kind, domain.frame))


def _still(case: Case, key: Key, message: Message) -> bool:
    """Whether a message that was laid down is one of the key as it is now, and still there."""
    held = case.held.get(key.name)
    if held is None or held.data[: len(message.given)] != message.given.data:
        return False
    known = all(case.machine.memories[region.name].known for region in case.shapes[key.name].every_region())
    return known and (key.unread is None or not message.wrong)


def receive(case: Case, key: Key) -> None:
    """From the wire to memory."""
    rng, script = case.rng, case.script
    shape = case.shapes[key.name]
    length = amount(case, key, shape.length)
    if length is None:
        return
    ways = [way for way, right in WAYS_IN.items() if right in key.access]
    refused = not ways or rng.random() < 0.08
    if refused and len(ways) == len(WAYS_IN):
        refused = False
    if not case_known(case, shape):
        space = script.let("space", case.noise(shape.length))
        case.fill(shape, space)
        case.held[key.name] = space
    case.ready.pop(key.name, None)
    message = _message(case, key, length, tx=False)
    plain = key.signature is None and key.crypto is None
    while plain and case.held[key.name].data[: len(message.given)] == message.given.data:  # one byte, by chance
        message = _message(case, key, length, tx=False)
    if refused:
        way = rng.choice([way for way in WAYS_IN if way not in ways])
        reason = "remote_access" if way.startswith("peer") else "local_protection"
        announce(case, key, None, tx=False)
        script.line(f"receive {message.given.text} into {key.name} by {way}\n    rejected at completion with {reason}")
        script.draws(f"refused: {way}", "ACC-01")
        return
    ways, on, more = service(case, ways, tx=False)
    way = rng.choice(ways)
    untouched = {name: bytes(memory.data) for name, memory in case.machine.memories.items()}
    stream, report = case.machine.landed(key, message.given.data)
    announce(case, key, report, tx=False)
    script.line(f"receive {message.given.text} into {key.name} by {way}{on}{more}")
    script.draws(f"way: {way}", "CFG-14")
    if report is not None:
        _reported(case, key, report, message)
        script.line(f"expect {key.name} == any                  # X-OPEN-10")
        case.held.pop(key.name, None)
        return
    told = outcome(case, key, message, stream)
    assert told is not None
    before = case.held[key.name]
    after = joined([told, before.part(len(stream), len(before) - len(stream))]) if len(stream) < len(before) else told
    after = Value(script.let("after", after).text, after.data) if after.joined or len(after.text) > 40 else after
    case.held[key.name] = after
    held_by = {name: bytes(memory.data) for name, memory in case.machine.memories.items()}
    regions = [one for one in shape.every_region() if held_by[one.name] != untouched[one.name]]
    # An `expect` of every memory is needed, or the compiler takes the rest for unseen; what did not change has none.
    if len(regions) > 6 or len(regions) < len(list(shape.every_region())) or rng.random() < 0.2:
        script.line(f"expect {key.name} == {after.text}")
    else:
        for region in regions:
            held = region.contents(after)
            assert held.data == held_by[region.name]
            script.line(f"expect {region.name} == {held.text}")
    _reported(case, key, report, message)


def case_known(case: Case, shape: Shape) -> bool:
    """Whether all bytes of a layout's memories are known."""
    return all(case.machine.memories[region.name].known for region in shape.every_region())


def _reported(case: Case, key: Key, report: Report | None, message: Message) -> None:
    if message.wrong:
        case.script.draws(
            "spoiled, and told" if report else "spoiled, and not checked", "SIG-07" if message.tx else "SIG-11"
        )
        case.script.note(f"Wrong: {message.wrong}.")
    if report is not None:
        assert key.signature is not None
        key.unread, key.told_by = report, key.signature.mem if message.tx else key.signature.wire
        if not message.tx or case.rng.random() < 0.6:
            check(case, key)
    elif key.signature is not None and key.unread is None and case.rng.random() < 0.15:
        case.script.line(f"check {key.name} is ok")
        case.script.draws("check: ok", "XCHK-02")


def check(case: Case, key: Key) -> None:
    """The error that was not asked for yet."""
    report = key.unread
    assert report is not None
    found = f', found hex"{report.found.hex()}", computed hex"{report.computed.hex()}"'
    case.script.line(f"check {key.name} is {report.kind}, block {report.block}{found}")
    case.script.draws(f"check: {report.kind}", "XCHK-03", "XCHK-07")
    case.script.draws(f"check: {'first' if not report.block else 'later'} block", "XCHK-08")
    if case.rng.random() < 0.2:
        case.script.line(f"check {key.name} is ok")
        case.script.draws("check: once", "XCHK-04")
    key.unread, key.spent = None, True
    key.came.clear()


def change(case: Case, key: Key) -> None:
    """Some of the setters, none, or a reset."""
    rng = case.rng
    kinds = ["access", "layout"] + ["signature"] * key.block_signature + ["crypto"] * key.crypto_flag
    if not key.usable:
        begin(case, key)
        return
    if key.signature is not None and rng.random() < 0.15:
        chosen = [kind for kind in ("access", "layout") if rng.random() < 0.4]
        configure(case, key, chosen, reset=True)
        case.script.draws("reset", "CFG-20")
        return
    chosen = [kind for kind in kinds if rng.random() < 0.4]
    configure(case, key, chosen)
    case.script.draws("configured anew", "CFG-09", "CFG-21")


def invalidate(case: Case, key: Key) -> None:
    """LOCAL_INV, or the peer's SEND with invalidate; the key is used or asked for in vain, and configured again."""
    rng, script = case.rng, case.script
    if key.unread is not None:
        check(case, key)
    if key.remote_invalidate and rng.random() < 0.5:
        inbox, note = script.name_of("inbox"), script.name_of("note")
        script.line(f"memory {inbox}[16]")
        script.line(f"peer memory {note} = {case.noise(16).text}")
        script.line(f"recv {inbox}")
        script.line(f"peer send_inv {note}, key {key.name}")
        script.line(f"expect {inbox} == {note}")
        script.draws("invalidated remotely", "MKY-08")
    else:
        way = rng.choice(("post_send", "wr_post"))
        script.line(f"invalidate {key.name} by {way}")
        script.draws(f"invalidated by {way}", "CFG-10", "CFG-11")
    length = wire_length(key, key.signature.block if key.signature else 1)
    way, reason = rng.choice(
        (("send", "local_protection"), ("write", "local_protection"), ("peer_read", "remote_access"))
    )
    if rng.random() < 0.7:
        announce(case, key, None, tx=True)
        script.line(f"transmit {key.name}[0 +: {length}] by {way}\n    rejected at completion with {reason}")
    key.usable, key.signature, key.crypto = False, None, None
    case.ready.pop(key.name, None)


def retag(case: Case, key: Key) -> None:
    """Another lowest byte of the key, and a configuration with it."""
    if key.update_tag:
        case.script.line(f"retag {key.name} to {case.rng.randrange(256)}")
        case.script.draws("retag", "MKY-06")
        begin(case, key)


def end(case: Case) -> None:
    """Errors that no check has read are read."""
    for key in case.machine.keys.values():
        if key.unread is not None:
            check(case, key)
