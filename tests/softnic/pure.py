"""The software NIC's pure functions by ctypes, built by `make -C softnic pure` when a test first wants them.

Structures mirror softnic/pure/*.h; their sizes are compared with the compiler's before any is lent to C.
"""

from __future__ import annotations

import ctypes as c
import fcntl
import json
import shutil
import subprocess
import tempfile
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

SOFTNIC = Path(__file__).resolve().parents[2] / "softnic"
LIBRARY = SOFTNIC / "build" / "libmkeyspec_pure.so"
WQE, DATAGRAM_WQE, RECEIVE, CQE = range(4)
KINDS = {"t10": 0, "crc32": 1, "crc32c": 2, "crc64_xp10": 3}


class Checksum(c.Structure):
    _fields_ = (("sum", c.c_uint32), ("odd", c.c_bool))


class FieldSum(c.Structure):
    _fields_ = (("kind", c.c_int), ("crc", c.c_uint64), ("checksum", Checksum))


class Domain(c.Structure):
    _fields_ = (
        ("kind", c.c_int), ("block_selector", c.c_uint8), ("block", c.c_uint16), ("field", c.c_uint8),
        ("bfs", c.c_uint8), ("ones", c.c_bool), ("repeat", c.c_bool), ("psv", c.c_uint32), ("refresh", c.c_bool),
        ("app_tag", c.c_uint16), ("app_mask", c.c_uint16), ("ref_tag", c.c_uint32), ("dif_flags", c.c_uint8),
    )  # fmt: skip


class Transaction(c.Structure):
    _fields_ = (
        ("kind", c.c_int), ("field", c.c_uint8), ("ones", c.c_bool), ("init", c.c_bool), ("field_follows", c.c_bool),
        ("psv", c.c_uint32),
    )  # fmt: skip


class Bsf(c.Structure):
    _fields_ = (
        ("present", c.c_bool), ("size", c.c_uint8), ("sbs", c.c_bool), ("check_mask", c.c_uint8),
        ("copy_mask", c.c_uint8), ("raw_size", c.c_uint32), ("domain", Domain * 2), ("transaction", Transaction * 2),
        ("transactional", c.c_bool),
    )  # fmt: skip


class CryptoBsf(c.Structure):
    _fields_ = (
        ("present", c.c_bool), ("size", c.c_uint8), ("order", c.c_uint8), ("standard", c.c_uint8),
        ("raw_size", c.c_uint32), ("block_selector", c.c_uint8), ("block", c.c_uint16), ("tweak", c.c_uint8 * 16),
        ("dek", c.c_uint32), ("keytag", c.c_uint8 * 8),
    )  # fmt: skip


class Aes(c.Structure):
    _fields_ = (
        ("encrypt", c.c_uint8 * 240),
        ("decrypt", c.c_uint8 * 240),
        ("rounds", c.c_uint),
    )


class Xts(c.Structure):
    _fields_ = (("data", Aes), ("tweak", Aes))


class SignatureError(c.Structure):
    _fields_ = (
        ("expected", c.c_uint64), ("actual", c.c_uint64), ("offset", c.c_uint64), ("syndrome", c.c_uint16),
        ("type", c.c_uint8), ("domain", c.c_uint8), ("mkey", c.c_uint32),
    )  # fmt: skip


class Completion(c.Structure):
    _fields_ = (
        ("opcode", c.c_uint8), ("owner", c.c_bool), ("solicited", c.c_bool), ("send_opcode", c.c_uint8),
        ("qpn", c.c_uint32), ("uidx", c.c_uint32), ("wqe_counter", c.c_uint16), ("byte_count", c.c_uint32),
        ("imm", c.c_uint32), ("timestamp", c.c_uint64), ("src_qpn", c.c_uint32), ("sl", c.c_uint8), ("grh", c.c_bool),
        ("slid", c.c_uint16), ("src_path", c.c_uint8), ("vendor_error", c.c_uint8), ("syndrome", c.c_uint8),
        ("signature", SignatureError),
    )  # fmt: skip


class WqeSeg(c.Structure):
    _fields_ = (("data", c.c_void_p), ("length", c.c_uint32), ("key", c.c_uint32), ("addr", c.c_uint64))


MIRRORS = {
    "checksum": Checksum, "field_sum": FieldSum, "signature_domain": Domain, "bsf": Bsf, "crypto_bsf": CryptoBsf,
    "aes": Aes, "xts": Xts, "cqe": Completion, "wqe_seg": WqeSeg,
}  # fmt: skip


@lru_cache(maxsize=1)
def compiler() -> str | None:
    return next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)


def need_compiler() -> str:
    """The compiler's path, or the one reason why these tests are left out."""
    found = compiler() if shutil.which("make") else None
    if found is None:
        pytest.skip("no C compiler and make: Debian and Ubuntu `apt install gcc make`, Fedora `dnf install gcc make`")
    return found


def make(*targets: str) -> None:
    """One `make` at a time: pytest's workers share the build directory."""
    cc = need_compiler()
    build = SOFTNIC / "build"
    build.mkdir(exist_ok=True)
    with (build / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = subprocess.run(
            ["make", "-C", str(SOFTNIC), f"CC={cc}", *targets], capture_output=True, text=True, check=False
        )
    assert done.returncode == 0, done.stdout + done.stderr


def sizes() -> dict[str, int]:
    """Of the structures of MIRRORS, as the compiler has them."""
    headers = "".join(f'#include "{path}"\n' for path in sorted((SOFTNIC / "pure").glob("*.h")))
    prints = "".join(f'    printf("{name} %zu\\n", sizeof(struct {name}));\n' for name in MIRRORS)
    with tempfile.TemporaryDirectory() as folder:
        command = [need_compiler(), "-std=c11", "-D_GNU_SOURCE", f"-I{SOFTNIC}", "-xc", "-", "-o", f"{folder}/sizes"]
        text = f"#include <stdio.h>\n{headers}int main(void)\n{{\n{prints}}}\n"
        subprocess.run(command, input=text, text=True, check=True)
        told = subprocess.run([f"{folder}/sizes"], capture_output=True, text=True, check=True).stdout
    return {name: int(size) for name, size in map(str.split, told.splitlines())}


@lru_cache(maxsize=1)
def library() -> c.CDLL:
    make("pure")
    assert {name: c.sizeof(mirror) for name, mirror in MIRRORS.items()} == sizes()
    pure = c.CDLL(str(LIBRARY))
    u64, size, data = c.c_uint64, c.c_size_t, c.c_char_p
    signatures: dict[str, tuple[Any, list[Any]]] = {
        "crc_start": (u64, [c.c_int, c.c_bool]),
        "crc_update": (u64, [c.c_int, u64, data, size]),
        "crc_update_portable": (u64, [c.c_int, u64, data, size]),
        "crc_copy": (u64, [c.c_int, u64, data, data, size]),
        "crc_fold": (size, [c.c_int, u64, data, data, size, c.c_bool, data]),
        "crc_folds": (c.c_bool, []),
        "crc_value": (u64, [c.c_int, u64]),
        "crc_size": (c.c_uint, [c.c_int]),
        "crc_store": (None, [c.c_int, u64, data]),
        "checksum_start": (Checksum, [c.c_bool]),
        "checksum_update": (None, [c.POINTER(Checksum), data, size]),
        "checksum_value": (c.c_uint16, [c.POINTER(Checksum)]),
        "bsf_decode": (c.c_bool, [data, size, c.POINTER(Bsf), c.POINTER(CryptoBsf)]),
        "field_start": (None, [c.POINTER(FieldSum), c.POINTER(Domain)]),
        "field_update": (None, [c.POINTER(FieldSum), data, size]),
        "field_generate": (None, [c.POINTER(FieldSum), c.POINTER(Domain), c.c_uint32, data]),
        "field_check": (
            c.c_uint16,
            [c.POINTER(FieldSum), c.POINTER(Domain), c.c_uint32, c.c_uint8, data, c.POINTER(u64), c.POINTER(u64)],
        ),
        "field_copy": (None, [c.c_uint8, c.c_uint, data, data]),
        "aes_init": (c.c_bool, [c.POINTER(Aes), data, size]),
        "aes_encrypt": (None, [c.POINTER(Aes), data, data]),
        "aes_decrypt": (None, [c.POINTER(Aes), data, data]),
        "xts_init": (c.c_bool, [c.POINTER(Xts), data, size]),
        "xts_encrypt": (c.c_bool, [c.POINTER(Xts), data, data, data, size]),
        "xts_decrypt": (c.c_bool, [c.POINTER(Xts), data, data, data, size]),
        "xts_units": (c.c_bool, [c.POINTER(Xts), c.c_bool, data, size, data, data, size]),
        "cqe_encode": (None, [c.POINTER(Completion), data]),
        "cqe_decode": (None, [data, c.POINTER(Completion)]),
        "segs_decode": (c.c_uint, [data, size, c.POINTER(WqeSeg), c.c_uint]),
        "describe": (size, [c.c_int, data, size, c.c_bool, data, size]),
    }
    for name, (result, arguments) in signatures.items():
        function = getattr(pure, name)
        function.restype, function.argtypes = result, arguments
    return pure


def described(what: int, element: bytes) -> dict[str, Any]:
    """The element as the trace's JSON has it."""
    record = json.loads(_describe(what, element, as_json=True))
    assert isinstance(record, dict)
    return record


def described_text(what: int, element: bytes) -> str:
    return _describe(what, element, as_json=False)


def _describe(what: int, element: bytes, *, as_json: bool) -> str:
    room = library().describe(what, element, len(element), as_json, None, 0)
    out = c.create_string_buffer(room + 1)
    assert library().describe(what, element, len(element), as_json, out, room + 1) == room
    return out.value.decode("ascii")


def bsf(element: bytes) -> tuple[Bsf, CryptoBsf] | None:
    """Both parts of a BSF, or None if it has no meaning."""
    signature, crypto = Bsf(), CryptoBsf()
    return (signature, crypto) if library().bsf_decode(element, len(element), signature, crypto) else None
