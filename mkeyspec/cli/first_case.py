"""The texts of first cases, for `mkeyspec new`."""

from __future__ import annotations

from dataclasses import dataclass

KINDS = ("plain", "interleaved", "crc", "t10dif", "xts")
DIRECTIONS = ("transmit", "receive")
BLOCKS = (512, 520, 4048, 4096, 4160)
"""Of `every` and of `data_unit` (enum mlx5dv_block_size)."""
BLOCK_KINDS = ("crc", "t10dif", "xts")
"""Kinds that have blocks or data units."""


@dataclass(frozen=True, slots=True)
class Answers:
    """What the case shall be. `block` does not count for the kinds without blocks."""

    kind: str
    direction: str
    block: int
    negative: bool

    @property
    def name(self) -> str:
        what = {"plain": "list", "interleaved": "interleaved", "crc": "crc32c", "t10dif": "t10dif", "xts": "aes_xts"}
        return f"{what[self.kind]}_{self.direction}{'_refused' if self._refused else '_bad_block' * self.negative}"

    @property
    def _refused(self) -> bool:
        """A signature error is reported, and refuses nothing."""
        return self.negative and self.kind not in ("crc", "t10dif")


def text_of(answers: Answers, stem: str) -> str:
    """A whole file. `stem`: the name of the file, for the suite's title."""
    body = {"plain": _layout, "interleaved": _layout, "crc": _signature, "t10dif": _signature, "xts": _crypto}
    title, verifies, lines = body[answers.kind](answers)
    quoted = "".join(sign for sign in stem if sign.isprintable() and sign not in '"\\')
    head = ["mks 1", f'suite "{quoted}"', "", f"case {answers.name}", f'    "{title}"', f"    verifies {verifies}"]
    return "\n".join([*head, *(f"    {line}" for line in lines), ""])


def _layout(answers: Answers) -> tuple[str, str, list[str]]:
    """1,200 bytes through a list of two entries, or three turns of two."""
    plain = answers.kind == "plain"
    ids = "LST-01, LAY-05" if plain else "INT-01, LAY-05"
    walk = "list(m[0 +: 300], m[600 +: 900])" if plain else "interleaved(3, m count 300 skip 100, other count 100)"
    memory = "m" if plain else "m and other"
    transmit = answers.direction == "transmit"
    right = ("remote_write" if transmit else "remote_read") if answers.negative else "local_write"
    lines = ["# Layout: the mkey's bytes, in order, are these bytes of memory."]
    lines += ["memory m = random(1500, seed=1)"] if transmit else ["memory m[1500]"]
    if not plain:
        lines += ["memory other = random(300, seed=2)"] if transmit else ["memory other[300]"]
    lines += ["mkey k" if plain else "mkey k { entries 3 }"]
    lines += [f"configure k {{ access {right}; layout {walk} }}"]
    if answers.negative:
        wanted = "remote_read" if transmit else "remote_write"
        move = "transmit k by peer_read" if transmit else "receive counter(1200) into k by peer_write"
        lines += [f"# The peer needs {wanted} for this, and does not have it.", move]
        lines += ["    rejected at completion with remote_access"]
        if not transmit:
            lines += ["expect m == unchanged"] + ([] if plain else ["expect other == unchanged"])
        return f"Without {wanted} the peer is refused.", f"ACC-01, {ids}", lines
    if transmit:
        wire = "m[0 +: 300] ++ m[600 +: 900]"
        if not plain:
            wire = " ++ ".join(f"m[{turn * 400} +: 300] ++ other[{turn * 100} +: 100]" for turn in range(3))
        return f"The bytes of {memory} go out in the order of the layout.", ids, [
            *lines, "transmit k by send", f"expect wire == {wire}",
        ]  # fmt: skip
    lines += ["let data = counter(1200)", "receive data into k by recv"]
    if plain:
        lines += ["expect m[0 +: 300] == data[0 +: 300]", "expect m[600 +: 900] == data[300 +: 900]"]
    else:
        for turn in range(3):
            lines.append(f"expect m[{turn * 400} +: 300] == data[{turn * 400} +: 300]")
            lines.append(f"expect other[{turn * 100} +: 100] == data[{turn * 400 + 300} +: 100]")
    return f"What comes in is scattered to {memory} in the order of the layout.", ids, lines


def _signature(answers: Answers) -> tuple[str, str, list[str]]:
    """Two blocks, or five, with a field after each, in memory or on the wire."""
    crc = answers.kind == "crc"
    size, transmit = answers.block, answers.direction == "transmit"
    value = "crc32c(ones)" if crc else "t10dif(app_tag=0x5678, ref_tag=0xf0debc9a, flags=ref_remap)"
    ids = "CRC-03, CRC-08" if crc else "DIF-01, DIF-12"
    lines = ["for n in 2, 5", f"let d = {value} every {size}"]
    made = f"framed(counter(n * {size}), d)"
    bad, kind = ("field_at", "bad_guard") if crc else ("ref_at", "bad_reftag")
    if answers.negative:
        made = f"flip({made}, {bad}(d, 1))"
    if transmit:
        lines += [f"memory src = {made}", "mkey k { block_signature }"]
        lines += ["configure k { layout list(src); signature { mem d } }"]
        lines += ["# The mkey checks the field after each block of memory, and strips it.", "transmit k by send"]
        lines += [f"expect wire == counter(n * {size})"]
        title = "The fields in memory are checked and stripped."
    elif answers.negative:
        lines += [f"memory dst[n * {size}]", "mkey k { block_signature }"]
        lines += ["configure k { access local_write; layout list(dst); signature { wire d } }"]
        lines += ["# The mkey checks the field after each block of the wire, and strips it."]
        lines += [f"receive {made} into k by recv", "expect dst == any"]
        title = "The fields on the wire are checked and stripped."
    else:
        lines += [f"memory dst[length({made})]", "mkey k { block_signature }"]
        lines += ["configure k { access local_write; layout list(dst); signature { mem d } }"]
        lines += ["# The mkey makes a field after each block in memory."]
        lines += [f"receive counter(n * {size}) into k by recv", f"expect dst == {made}"]
        title = "A field is made after each block."
    if answers.negative:
        lines += [f"check k is {kind}, block 1"]
        return f"{title[:-1]}, and the block with a bad one is reported.", f"{ids}, SIG-01, XCHK-03", lines
    return title, f"{ids}, SIG-01", lines


def _crypto(answers: Answers) -> tuple[str, str, list[str]]:
    """Three data units."""
    size, transmit = answers.block, answers.direction == "transmit"
    lines = ["# A DEK of 256 bits: the data key, then the tweak key."]
    lines += ['let key = hex"2718281828459045235360287471352631415926535897932384626433832795"']
    lines += [f"let data = counter(3 * {size})"] if transmit or not answers.negative else []
    lines += ["memory m = data" if transmit else f"memory m[3 * {size}]", "dek e { key key }"]
    setter = f"crypto {{ dek e; tweak 7; data_unit {size}; encrypt_on_tx yes }}"
    access = "" if transmit else "access local_write; "
    if answers.negative:
        lines += ["mkey k  # without `crypto`", f"configure k {{ {access}layout list(m); {setter} }}"]
        return "A key that was not created for crypto is refused.", "MKY-05, XCRY-01", [
            *lines, "    rejected at complete",
        ]  # fmt: skip
    lines += ["mkey k { crypto }", f"configure k {{ {access}layout list(m); {setter} }}"]
    cipher = f"xts_encrypt(data, key, tweak=7, unit={size})"
    if transmit:
        lines += ["transmit k by send", f"expect wire == {cipher}"]
        return "Each data unit is encrypted with a tweak of its own.", "CRY-01, XCRY-06, XCRY-08", lines
    lines += [f"receive {cipher} into k by recv", "expect m == data"]
    return "Each data unit is decrypted with a tweak of its own.", "CRY-01, XCRY-06, XCRY-08", lines
