"""The frame of a Python program: what it is, what it imports, those of its functions that it needs, its statements."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mkeyspec.plan import Comparison, Lacks, Need
from mkeyspec.repro.python.numbers import UNNAMED, device_number
from mkeyspec.repro.trace import PERSONALITY

if TYPE_CHECKING:
    from mkeyspec.repro.program import Subject

_PARTS = Path(__file__).with_name("parts.txt")
_ALWAYS = ("head", "crash", "open_device", "open_port")

_CRYPTO = 'dv_attr.crypto_caps["{}"]'
_WRAPPED = f"{_CRYPTO.format('wrapped_import_method')} & MLX5DV_CRYPTO_WRAPPED_IMPORT_METHOD_CAP_AES_XTS"
_OPERATIONAL = f"{_CRYPTO.format('flags')} & MLX5DV_CRYPTO_CAPS_WRAPPED_CRYPTO_OPERATIONAL"
_QUERIES = {
    "memcpy": "dv_attr.max_wr_memcpy_length",
    "crypto": _CRYPTO.format("crypto_engines"),
    "crypto.plaintext": f"not {_WRAPPED}",
    "crypto.wrapped": _WRAPPED,
    "crypto.login": f"{_WRAPPED} and {_OPERATIONAL}",
    "qp.dci_streams": 'dv_attr.dci_streams_caps["max_log_num_concurent"]',
    "atomic": "device_attr.atomic_caps != IBV_ATOMIC_NONE",
}
"""Capabilities that pyverbs tells; of the others some are seen where an object can't be made."""

_LOGIN = (
    f"It logs in with what the software NIC has stored (mkeyspec softnic exec --personality {PERSONALITY}). For "
    "another device put its ids, its credential and the keys, wrapped by its import KEK, in their place."
)

MODULES: Mapping[str, str] = {
    "Mlx5Context": "pyverbs.providers.mlx5.mlx5dv",
    "Mlx5DVContextAttr": "pyverbs.providers.mlx5.mlx5dv",
    "Mlx5QP": "pyverbs.providers.mlx5.mlx5dv",
    "Mlx5DVQPInitAttr": "pyverbs.providers.mlx5.mlx5dv",
    "Mlx5DVDCInitAttr": "pyverbs.providers.mlx5.mlx5dv",
    "Mlx5DCIStreamInitAttr": "pyverbs.providers.mlx5.mlx5dv",
    "Mlx5Mkey": "pyverbs.providers.mlx5.mlx5dv_mkey",
    "Mlx5MkeyConfAttr": "pyverbs.providers.mlx5.mlx5dv_mkey",
    "Mlx5MrInterleaved": "pyverbs.providers.mlx5.mlx5dv_mkey",
    "Mlx5SigCrc": "pyverbs.providers.mlx5.mlx5dv_mkey",
    "Mlx5SigT10Dif": "pyverbs.providers.mlx5.mlx5dv_mkey",
    "Mlx5SigBlockDomain": "pyverbs.providers.mlx5.mlx5dv_mkey",
    "Mlx5SigBlockAttr": "pyverbs.providers.mlx5.mlx5dv_mkey",
    "Mlx5CryptoAttr": "pyverbs.providers.mlx5.mlx5dv_crypto",
    "Mlx5CryptoExtLoginAttr": "pyverbs.providers.mlx5.mlx5dv_crypto",
    "Mlx5CryptoLogin": "pyverbs.providers.mlx5.mlx5dv_crypto",
    "Mlx5CryptoLoginAttr": "pyverbs.providers.mlx5.mlx5dv_crypto",
    "Mlx5DEK": "pyverbs.providers.mlx5.mlx5dv_crypto",
    "Mlx5DEKInitAttr": "pyverbs.providers.mlx5.mlx5dv_crypto",
    "AH": "pyverbs.addr",
    "AHAttr": "pyverbs.addr",
    "GlobalRoute": "pyverbs.addr",
    "CQ": "pyverbs.cq",
    "get_device_list": "pyverbs.device",
    "MR": "pyverbs.mr",
    "PD": "pyverbs.pd",
    "PyverbsRDMAError": "pyverbs.pyverbs_error",
    "PyverbsUserError": "pyverbs.pyverbs_error",
    "DataBuffer": "pyverbs.qp",
    "QPAttr": "pyverbs.qp",
    "QPCap": "pyverbs.qp",
    "QPInitAttrEx": "pyverbs.qp",
    "SRQ": "pyverbs.srq",
    "SrqAttr": "pyverbs.srq",
    "SrqInitAttr": "pyverbs.srq",
    "RecvWR": "pyverbs.wr",
    "SendWR": "pyverbs.wr",
    "SGE": "pyverbs.wr",
}
"""Where the classes of pyverbs are; mlx5dv is first, since it registers the driver."""

STANDARD = ("ctypes", "errno", "mmap", "os", "random", "select", "socket", "sys", "time")


def needs_of(needs: Sequence[Need]) -> list[str]:
    """What is asked of the device before anything is made."""
    found = []
    for need in needs:
        match need:
            case Comparison():
                found.append(f'needs({device_number(need.live.member)} {need.operator} {need.value}, "{need}")')
            case Lacks():
                text = query_of(need.name)
                if text:
                    found.append(f'needs(not ({text}), "nothing: it has {need.name}")')
            case _:
                text = query_of(need)
                if text:
                    found.append(f'needs({text}, "{need}")')
    return found


def query_of(name: str) -> str:
    """The expression that tells whether a device has a capability; "" where pyverbs has none."""
    return _QUERIES.get(name, "")


def untold(name: str) -> bool:
    """Whether pyverbs has no getter for a capability that mlx5dv_query_device tells."""
    return name.startswith(("signature.", "block.")) or name == "block_signature"


def parts() -> dict[str, str]:
    """The functions and classes that a program may have, by name, in their order."""
    text = _PARTS.read_text(encoding="utf-8")
    found = re.split(r"^### (\w+) ###\n", text, flags=re.MULTILINE)[1:]
    return {name: code.strip("\n") for name, code in zip(found[::2], found[1::2], strict=True)}


def words(text: str) -> set[str]:
    """The names in code: not those of comments, strings and docstrings."""
    return set(re.findall(r"\w+", re.sub(r'""".*?"""|(?<!f)"[^"\n]*"|#[^\n]*', "", text, flags=re.DOTALL)))


def used(text: str, all_parts: Mapping[str, str]) -> list[str]:
    """The code of the parts that a text names, and those that they name."""
    names = {name for name in all_parts if name in _ALWAYS}
    queue = [text, *(all_parts[name] for name in names)]
    while queue:
        found = words(queue.pop())
        for name in all_parts.keys() - names:
            if name in found:
                names.add(name)
                queue.append(all_parts[name])
    return [code for name, code in all_parts.items() if name in names and code]


def whole(subject: Subject, cut: str, body: Sequence[str]) -> str:
    """The program: what it is, the functions that it needs, and its statements."""
    constants = [
        f"CASE_ID = {_quoted(subject.id)}",
        f"CASE_FILE = {_quoted(subject.source)}",
        f"LAST_LINE = {subject.row.steps[-1].at.line}",
        "DEADLINE = 5.0  # seconds that anything may take",
    ]
    code = "\n\n\n".join(used("\n".join(body), parts()))
    found = words("\n".join([code, *body]))
    unnamed = [f"{name} = {value}  # pyverbs has no name for it" for name, value in UNNAMED.items() if name in found]
    head = [*_comment(subject, cut), "", *_imports(found), "", *constants, *unnamed]
    return "\n".join(["#!/usr/bin/env python3", *head, "", code, "", *body, ""])


def _imports(found: set[str]) -> list[str]:
    lines = [f"import {name}" for name in STANDARD if name in found]
    lines += ["", "try:", "    from pyverbs.libibverbs_enums import *  # of rdma-core 50 and later"]
    lines += ["except ImportError:", "    from pyverbs.enums import *"]
    by_module: dict[str, list[str]] = {}
    for name, module in MODULES.items():
        if name in found:
            by_module.setdefault(module, []).append(name)
    lines.append("from pyverbs.providers.mlx5.mlx5_enums import *")
    for module, names in by_module.items():
        text = f"from {module} import {', '.join(sorted(names))}"
        if len(text) > 110:
            text = f"from {module} import (\n" + "".join(f"    {name},\n" for name in sorted(names)) + ")"
        lines.append(text)
    return lines


def _comment(subject: Subject, cut: str) -> list[str]:
    case, row = subject.case, subject.row
    hidden = [str(need) for need in row.needs if untold(str(need))]
    about = [
        subject.id,
        "",
        *([case.title, ""] if case.title else []),
        *([f"verifies {', '.join(case.verifies)}"] if case.verifies else []),
        *([f"needs {', '.join(map(str, row.needs))}"] if row.needs else []),
        "",
        "python3 repro.py [DEVICE]    (with pyverbs, as python3-pyverbs of Debian and Ubuntu has it)",
        "",
        "Exit code: 0 passed, 1 failed, 2 could not be set up, 77 the device lacks something.",
        f"Numbers of lines are those of {subject.source}.",
        *([f"pyverbs does not tell whether the device has {', '.join(hidden)}: without, it fails."] if hidden else []),
        *([_LOGIN] if "crypto.login" in row.needs else []),
        *([f"It ends early: {cut}."] if cut else []),
        *(["", *subject.got] if subject.got else []),
    ]
    lines = [line for one in about for line in textwrap.wrap(one, 116, break_on_hyphens=False) or [""]]
    return [f"# {line}".rstrip() for line in lines]


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
