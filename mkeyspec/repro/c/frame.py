"""The frame of a C program: what it is, its own functions of which it needs some, its objects, and main."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mkeyspec.plan import Comparison, Lacks, Need
from mkeyspec.repro.c.numbers import device_number, operand
from mkeyspec.repro.trace import PERSONALITY

if TYPE_CHECKING:
    from mkeyspec.repro.program import Subject

_PARTS = Path(__file__).with_name("parts.c")
_ALWAYS = ("head", "open_device")

_WRAPPED = "dv_attr.crypto_caps.wrapped_import_method & MLX5DV_CRYPTO_WRAPPED_IMPORT_METHOD_CAP_AES_XTS"
_OPERATIONAL = "dv_attr.crypto_caps.flags & MLX5DV_CRYPTO_CAPS_WRAPPED_CRYPTO_OPERATIONAL"
_QUERIES = {
    "signature.t10dif": "dv_attr.sig_caps.block_prot & MLX5DV_SIG_PROT_CAP_T10DIF",
    "signature.csum": "dv_attr.sig_caps.t10dif_bg & MLX5DV_SIG_T10DIF_BG_CAP_CSUM",
    "signature.crc32": "dv_attr.sig_caps.crc_type & MLX5DV_SIG_CRC_TYPE_CAP_CRC32",
    "signature.crc32c": "dv_attr.sig_caps.crc_type & MLX5DV_SIG_CRC_TYPE_CAP_CRC32C",
    "signature.crc64_xp10": "dv_attr.sig_caps.crc_type & MLX5DV_SIG_CRC_TYPE_CAP_CRC64_XP10",
    "block_signature": "dv_attr.sig_caps.block_prot",
    "memcpy": "dv_attr.max_wr_memcpy_length",
    "crypto": "dv_attr.crypto_caps.crypto_engines",
    "crypto.plaintext": f"!({_WRAPPED})",
    "crypto.wrapped": _WRAPPED,
    "crypto.login": f"{_WRAPPED} && {_OPERATIONAL}",
    "qp.dci_streams": "dv_attr.dci_streams_caps.max_log_num_concurent",
    "atomic": "device_attr.atomic_cap != IBV_ATOMIC_NONE",
}
"""Capabilities that a query tells; the others are seen where an object can't be made."""


_LOGIN = (
    f"It logs in with what the software NIC has stored (mkeyspec softnic exec --personality {PERSONALITY}). For "
    "another device put its ids, its credential and the keys, wrapped by its import KEK, in their place."
)


def needs_of(needs: Sequence[Need]) -> list[str]:
    """What is asked of the device before anything is made."""
    found = []
    for need in needs:
        match need:
            case Comparison(operator=">=", value=0):
                pass  # a number that the device tells, whatever it is
            case Comparison():
                have, value = device_number(need.live.member), str(need.value)
                if operand(value, need.operator, have).startswith("wide"):
                    value = f"wide({value})"
                found.append(f'needs({have} {need.operator} {value}, "{need}");')
            case Lacks():
                text = query_of(need.name)
                if text:
                    found.append(f'needs(!({text}), "nothing: it has {need.name}");')
            case _:
                text = query_of(need)
                if text:
                    found.append(f'needs({text}, "{need}");')
    return found


def query_of(name: str) -> str:
    """The expression that tells whether a device has a capability; "" where only making an object does."""
    if name.startswith("block."):
        return f"dv_attr.sig_caps.block_size & MLX5DV_BLOCK_SIZE_CAP_{name.partition('.')[2]}"
    return _QUERIES.get(name, "")


def parts() -> dict[str, str]:
    """The functions and types that a program may have, by name, in their order."""
    text = _PARTS.read_text(encoding="utf-8")
    found = re.split(r"^/\*\*\* (\w+) \*\*\*/\n", text, flags=re.MULTILINE)[1:]
    return {name: code.strip("\n") for name, code in zip(found[::2], found[1::2], strict=True)}


def used(text: str, all_parts: Mapping[str, str]) -> list[str]:
    """The code of the parts that a text names, and those that they name."""
    names = {name for name in all_parts if name in _ALWAYS}
    queue = [text, *(all_parts[name] for name in names)]
    while queue:
        words = set(re.findall(r"\w+", re.sub(r'"[^"\n]*"|/\*.*?\*/', "", queue.pop(), flags=re.DOTALL)))
        for name in all_parts.keys() - names:
            if name in words:
                names.add(name)
                queue.append(all_parts[name])
    return [code for name, code in all_parts.items() if name in names and code]


def whole(subject: Subject, cut: str, declared: Sequence[str], body: Sequence[str], pairs: Mapping[str, str]) -> str:
    """The program: what it is, the functions that it needs, its objects, and main. `pairs`: their types, by name."""
    defines = [
        f'#define CASE_ID "{_quoted(subject.id)}"',
        f'#define CASE_FILE "{_quoted(subject.source)}"',
        f"#define LAST_LINE {subject.row.steps[-1].at.line}",
        "#define DEADLINE 5.0 /* seconds that anything may take */",
    ]
    tail = [*declared]
    if any("poll_all()" in line for line in body):
        tail += _poll_all(pairs)
    tail += ["", "int main(int argc, char **argv)", "{", *body, "}", ""]
    code = "\n\n".join(used("\n".join(tail), parts()))
    return "\n".join([*_comment(subject, cut), "", *defines, "", code, "", *tail])


def _comment(subject: Subject, cut: str) -> list[str]:
    case, row = subject.case, subject.row
    about = [
        subject.id,
        "",
        *([case.title, ""] if case.title else []),
        *([f"verifies {', '.join(case.verifies)}"] if case.verifies else []),
        *([f"needs {', '.join(map(str, row.needs))}"] if row.needs else []),
        "",
        "cc -Wall -Wextra -Werror repro.c -libverbs -lmlx5 && ./a.out [DEVICE]",
        "",
        "Exit code: 0 passed, 1 failed, 2 could not be set up, 77 the device lacks something.",
        f"Numbers of lines are those of {subject.source}.",
        *([_LOGIN] if "crypto.login" in row.needs else []),
        *([f"It ends early: {cut}."] if cut else []),
        *(["", *subject.got] if subject.got else []),
    ]
    lines = [line for one in about for line in textwrap.wrap(one, 116, break_on_hyphens=False) or [""]]
    return ["/*", *[f" * {line.replace('*/', '* /')}".rstrip() for line in lines], " */"]


def _poll_all(pairs: Mapping[str, str]) -> list[str]:
    """A function that polls all CQs."""
    ends = [
        f"{name}.{side}"
        for name, type_ in pairs.items()
        for side in ("owner", "peer")
        if (type_, side) != ("dci", "peer")
    ]
    queues = [f"{end}.{queue}" for end in ends for queue in ("sends", "receives")]
    queues += ["targets.receives"] if "dci" in pairs.values() else []
    return ["", "static void poll_all(void)", "{", *[f"\tpoll_cq(&{queue});" for queue in queues], "}"]


def _quoted(text: str) -> str:
    """In a string of C."""
    return text.replace("\\", "\\\\").replace('"', '\\"')
