"""What the hardware does, as far as it is published: hardware_rules.toml names for each rule the tests that hold it.

The scenarios of this file are those which no other file plays. Expected values: see the rules.
"""

from __future__ import annotations

import ast
import errno
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mkeyspec.device.soft import softnic
from tests.softnic.test_robust import compiled
from tests.softnic.test_traffic import OK
from tests.softnic.test_wire import play

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[2]
RULES: list[dict[str, Any]] = tomllib.loads((Path(__file__).parent / "hardware_rules.toml").read_text("utf-8"))["rule"]
NO_ERROR, BAD_GUARD = 0, 1
QP_OPERATION = 2  # IBV_WC_LOC_QP_OP_ERR
A5_CRC32, A5_CRC32C, A5_CRC64 = "699aca21", "4207e6b4", "8c8adb450cce85aa"  # hardware, seed zero
A5_DIF = "ec7d5678f0debc9a"  # hardware, seed ffff


def rule(name: str) -> Any:
    return play(name, "rules.py")


def write_length(folder: Path) -> Any:
    """byte_len of a completion of each kind, where the program had written 5a5a5a5a before it polled."""
    library = softnic.library()
    if library is None:
        pytest.skip(softnic.missing() or "no library")
    program = compiled("write_length.c", folder)
    done = subprocess.run(
        [str(program)], capture_output=True, text=True, timeout=60, env={**os.environ, "LD_PRELOAD": str(library)}
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def functions(path: Path) -> set[str]:
    return {node.name for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("entry", RULES, ids=lambda entry: f"{entry['number']}")
def test_the_named_tests_exist(entry: dict[str, Any]) -> None:
    assert entry["says"]
    assert entry["source"]
    assert entry["tests"]
    for name in entry["tests"]:
        path, _, function = name.partition("::")
        assert (ROOT / path).is_file(), name
        assert function.partition("[")[0] in functions(ROOT / path), name
        parameter = function.partition("[")[2].rstrip("]")
        assert parameter in (ROOT / path).read_text("utf-8"), name


def test_no_rule_is_missing() -> None:
    assert [entry["number"] for entry in RULES] == list(range(1, len(RULES) + 1))
    assert len(RULES) == 24


def test_the_values_of_an_error_and_its_place() -> None:
    computed, stored = int(A5_CRC32, 16), 0x01020304
    assert rule("error_values") == [
        [[OK], [OK], [BAD_GUARD, computed, stored, 515]],
        [[OK], [OK], [BAD_GUARD, computed, stored, 3 * 516 - 1]],
    ]


def test_only_the_input_domain_is_checked() -> None:
    """Memory at the sender, the wire at the receiver; what is written there is made again."""
    both = [[OK], [OK]]
    assert rule("input_domains") == [[*both, BAD_GUARD], [*both, NO_ERROR], [*both, BAD_GUARD], [*both, NO_ERROR]]


def test_the_passive_side_of_a_read_is_told_in_its_own_queue() -> None:
    """Nothing at the initiator; and nothing at the owner either before its queue was polled, which returns nothing."""
    assert rule("passive") == [[OK], True, 0, NO_ERROR, 0, BAD_GUARD]


def test_the_transient_value_does_not_start_a_crc() -> None:
    assert rule("transient_value") == [[[OK, OK], A5_CRC32]] * 3


def test_each_block_starts_anew_in_its_byte_order() -> None:
    assert rule("blocks") == {"crc32": [A5_CRC32] * 3, "crc32c": [A5_CRC32C] * 3, "crc64": [A5_CRC64] * 3}


def test_a_part_that_both_domains_have_in_common_is_copied() -> None:
    """A wrong guard that nobody checks arrives as it was; a different app tag is made again."""
    assert rule("copied") == [[[OK], "ec7c5678f0debc9a", NO_ERROR], [[OK], "ec7c1111f0debc9a", NO_ERROR]]


def test_ref_tags_restart_with_each_message() -> None:
    assert rule("messages") == [["f0debc9a", "f0debc9b"]] * 2


def test_offsets_count_wire_bytes() -> None:
    assert rule("wire_offsets") == [[OK], True, "15d286f7"]  # 512 times 01, hardware


def test_blocks_do_not_see_layout_entries_and_a_partial_block_passes() -> None:
    assert rule("layout_entries") == [[OK], [A5_DIF] * 2, True, NO_ERROR]


def test_a_signature_on_top_of_an_indirect_mkey_and_beside_a_plain_one() -> None:
    assert rule("nested") == [[OK], A5_DIF, "plain", A5_DIF]


def test_a_configuration_needs_no_fence_on_its_own_queue() -> None:
    assert rule("configured_and_used") == [[OK], [OK], "one after the other"]


DRAINED, SEND_OPCODE, WRITE_OPCODE, RTS, SQD = 5, 0, 1, 3, 4  # enum ibv_event_type, ibv_wc_opcode, ibv_qp_state


def test_a_signature_error_stops_a_queue_with_pipelining() -> None:
    """mlx5dv_create_qp(3): it completes with success and data, as all before it; what is after it waits, can be called
    off, and then completes as if it had been sent. SQD to RTS takes no other attribute."""
    seen = rule("pipelining")
    done = [[OK, WRITE_OPCODE, 7], [OK, SEND_OPCODE, 8]]
    assert seen["stopped"] == [DRAINED, done, SQD, [OK]]
    assert seen["told"] == [True, BAD_GUARD]
    assert seen["cancelled"] == 1
    assert seen["refused"] == [errno.EINVAL, SQD, []]
    assert seen["resumed"] == [0, [[OK, SEND_OPCODE, 1], [OK, SEND_OPCODE, 9]], RTS, [OK]]


def test_no_signature_in_both_domains_is_refused_by_the_driver() -> None:
    assert rule("without_signature") == errno.EINVAL


@pytest.mark.parametrize("personality", ["connectx7", "connectx5"])
def test_a_device_refuses_the_crcs_that_it_does_not_have(personality: str) -> None:
    """The others come out as the published values are, on both."""
    has = personality != "connectx5"
    refused = [QP_OPERATION, ""]
    assert play("offered", "rules.py", personality) == {
        "crc32": [OK, A5_CRC32],
        "crc32c": [OK, A5_CRC32C] if has else refused,
        "crc64": [OK, A5_CRC64] if has else refused,
    }


def test_the_completion_of_a_write_leaves_byte_len_alone(tmp_path: Path) -> None:
    """ibv_poll_cq(3): byte_len is of receives, reads and atomics. After a write or a send it is what it was before."""
    assert write_length(tmp_path) == {"write": 0x5A5A5A5A, "send": 0x5A5A5A5A, "read": 33, "receive": 48}
