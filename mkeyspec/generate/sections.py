"""Sections in which several keys are configured and used at once, with nothing polled in between."""

from __future__ import annotations

from mkeyspec.generate import attributes, life
from mkeyspec.generate.blocks import Report
from mkeyspec.generate.case import Case, Message
from mkeyspec.generate.machine import Key
from mkeyspec.generate.messages import outcome
from mkeyspec.generate.values import Value


def in_flight(case: Case, keys: list[Key]) -> None:
    """Each key is configured whole and used by a WRITE, or the answer of a READ goes through it, in one section."""
    rng, script = case.rng, case.script
    lines: list[str] = []
    looks: list[tuple[Key, Message, Value, str]] = []
    reports: list[tuple[Key, Report]] = []
    for number, key in enumerate(keys):
        kinds = ["access", "layout"] + ["signature"] * key.block_signature + ["crypto"] * key.crypto_flag
        key.access = attributes.ALL
        if key.block_signature:
            attributes.draw_signature(case, key)
        if key.crypto_flag:
            attributes.draw_crypto(case, key)
        shape = life.laid(case, key)
        message = case.ready.pop(key.name)
        text = attributes.configuration(case, key, kinds, shape)
        attributes.configured(case, key, kinds, shape)
        length = life.wire_length(key, len(message.data))
        out, report = case.machine.sent(key, length)
        life.announce(case, key, report, tx=True)
        told = outcome(case, key, message, out)
        assert told is not None
        far = script.name_of("far")
        script.line(f"peer memory {far}[{length}]")
        last = number == len(keys) - 1
        signaled = ", signaled" if last or rng.random() < 0.3 else ""
        fence = ", fence" * (rng.random() < 0.15)
        lines += [text, f"write {key.name}[0 +: {length}] to {far}{signaled}{fence}"]
        looks.append((key, message, told, far))
        if report is not None:
            reports.append((key, report))
        if key.signature is not None and key.signature.remap:
            key.counted = True
    body = "\n".join(f"    {line}" for text in lines for line in text.split("\n"))
    script.line(f"post{case.on} {{\n{body}\n}}")
    script.draws(f"section: {min(len(keys), 4)} keys", "CFG-14", "CFG-15", "CFG-16")
    for _, message, told, far in looks:
        script.line(f"expect {far} == {told.text}")
        if message.wrong:
            script.note(f"Wrong: {message.wrong}.")
    for key, report in reports:
        assert key.signature is not None
        key.unread, key.told_by = report, key.signature.mem
        life.check(case, key)
