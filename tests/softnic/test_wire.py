"""The transport of the software NIC: rights, addresses, states, completions, windows, SGEs; one process and two.

Expected values: enum ibv_wc_status, IBTA and the Linux kernel, as the tests say; none was taken from this NIC.
"""

from __future__ import annotations

import json
import os
import subprocess
import uuid
from functools import cache
from typing import Any

import pytest

from mkeyspec.device.soft import softnic
from tests.softnic.test_traffic import (
    FLUSHED,
    HERE,
    LOCAL_PROTECTION,
    OK,
    REMOTE_ACCESS,
    REMOTE_REQUEST,
    RETRY,
    interpreter,
)

RTS, SQE, ERR = 3, 5, 6  # enum ibv_qp_state
MW_BIND = 6  # IBV_WC_MW_BIND_ERR
BOTH_WAYS = pytest.mark.parametrize("personality", ["connectx7", "connectx7;trap=0"])


@cache
def play(name: str, program: str = "wire.py", personality: str = "connectx7") -> Any:
    """What the scenario saw; skips the test if the machine can't play it."""
    library, python = softnic.library(), interpreter()
    if library is None:
        pytest.skip(f"no software NIC: {softnic.missing()}")
    if python is None:
        pytest.skip("no interpreter here has pyverbs (Debian: apt-get install python3-pyverbs ibverbs-providers)")
    environment = {**os.environ, "LD_PRELOAD": str(library), "MKEYSPEC_SOFTNIC_PERSONALITY": personality}
    if program == "duo.py":
        environment["MKEYSPEC_SOFTNIC_FABRIC"] = uuid.uuid4().hex
    done = subprocess.run(
        [python, str(HERE / program), name], capture_output=True, text=True, env=environment, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)[name]


def duo(name: str, personality: str = "connectx7") -> Any:
    return play(name, "duo.py", personality)


# Rights --------------------------------------------------------------------------------------

RIGHTS = {  # [status at the requester], the responder's state, what its memory holds then (the atomic adds 5)
    "read, local": [[LOCAL_PROTECTION], RTS, 0],
    "read, remote": [[REMOTE_ACCESS], ERR, 0],
    "read, both": [[REMOTE_ACCESS], ERR, 0],
    "atomic, local": [[LOCAL_PROTECTION], RTS, 5],
    "atomic, remote": [[REMOTE_ACCESS], ERR, 0],
    "atomic, both": [[REMOTE_ACCESS], ERR, 0],
}


@pytest.mark.parametrize("what", RIGHTS)
def test_the_request_goes_out_before_local_scatter_rights_are_judged(what: str) -> None:
    assert play("rights")[what] == RIGHTS[what]


def test_so_it_is_with_signature_mkeys() -> None:
    assert play("rights_of_a_signature_key") == [
        [[LOCAL_PROTECTION], RTS],
        [[REMOTE_ACCESS], ERR],
        [[REMOTE_ACCESS], ERR],
    ]


# Addresses and connections -------------------------------------------------------------------

ADDRESSES = {
    "lid": [OK],
    "lid of nobody": [RETRY],
    "own gid": [OK],
    "gid of nobody": [RETRY],
    "gid, lid of nobody": [RETRY],
    "equal PSNs": [OK],
    "unequal PSNs": [RETRY],
    "other way unequal": [OK],  # numbers of the other direction have no part in a write
}


@pytest.mark.parametrize("what", ADDRESSES)
def test_a_message_reaches_only_whom_it_is_addressed_to(what: str) -> None:
    assert play("addresses")[what] == ADDRESSES[what]


def test_datagrams_to_other_ports_are_lost() -> None:
    assert play("datagram_addresses") == [[OK, OK], [OK], [OK]]


def test_no_responder_resources_no_reads_and_atomics() -> None:
    """The mlx5 driver leaves a QP with max_dest_rd_atomic 0 only the right of remote writing."""
    assert play("responder_resources") == [[REMOTE_ACCESS], [REMOTE_ACCESS], [OK]]


def test_a_broken_send_queue_goes_back_to_rts_only() -> None:
    assert play("send_queue_error") == [[LOCAL_PROTECTION], SQE, *["refused"] * 4, [OK, OK]]


# Completions ---------------------------------------------------------------------------------


def test_the_control_segment_says_which_requests_complete() -> None:
    """PRM, ctrl.ce: 0 only on error, 1 only on the first error, 2 always, 3 always and with an event."""
    errors = [LOCAL_PROTECTION, FLUSHED, FLUSHED, FLUSHED]
    assert play("completions") == {
        "0": [[], errors],
        "1": [[], errors[:1]],
        "2": [[OK] * 4, errors],
        "3": [[OK] * 4, errors],
    }


def test_a_completion_with_event_is_a_solicited_one() -> None:
    assert play("solicited_completions") == [[False, [OK]], [True, [OK]]]


# Windows -------------------------------------------------------------------------------------

WINDOWS = {
    "bind with": [OK],
    "bind without": [MW_BIND],
    "type 1": [[OK], [REMOTE_REQUEST], [LOCAL_PROTECTION]],  # IBTA 10.6.7.2.2: only type 2 is invalidated so
    "type 2": [[OK], [OK], [OK]],
}


@pytest.mark.parametrize("what", WINDOWS)
def test_windows(what: str) -> None:
    assert play("windows")[what] == WINDOWS[what]


# Signatures over several SGEs ----------------------------------------------------------------

FIELDS = [f"ec7d5678f0debc9{digit}" for digit in "abcd"]  # 512 bytes A5, seed FFFF (hardware); the ref tag grows
CUTS = 10


def test_blocks_are_counted_over_the_message_wherever_it_is_cut() -> None:
    assert play("split_send") == [FIELDS] * CUTS


def test_another_key_may_stand_where_a_block_ends() -> None:
    """No page says what a block is that the bytes of another key interrupt: that is refused, and nothing is sent."""
    assert play("split_by_another_key") == [[[OK], "between ", FIELDS[2]], [[LOCAL_PROTECTION], 8 * "\0", 16 * "0"]]


def test_a_bad_block_is_told_alike_wherever_the_message_is_cut() -> None:
    whole, bad_guard, last_byte = [[OK], [OK], True], 1, 3 * 520 - 1
    assert play("split_receive") == [[whole, [0, 0], whole, [bad_guard, last_byte]]] * CUTS


def test_fields_in_memory_are_checked_wherever_the_message_is_cut() -> None:
    assert play("split_memory") == [[[OK], [OK], True, 0]] * 5


# Memory that goes away -----------------------------------------------------------------------


@BOTH_WAYS
def test_freed_memory_is_an_error_and_no_crash(personality: str) -> None:
    """The device copies by itself, and leaves the application's handlers as they are (here Python's faulthandler)."""
    seen, unchanged = play("freed", personality=personality)
    assert seen == [
        ["whole", [OK], RTS],
        ["source", [LOCAL_PROTECTION], RTS],
        ["signed source", [LOCAL_PROTECTION], RTS],
        ["target", [REMOTE_ACCESS], ERR],
        ["signed target", [REMOTE_ACCESS], ERR],
    ]
    assert unchanged


def test_a_fault_of_the_applications_own_is_its_own() -> None:
    library, python = softnic.library(), interpreter()
    if library is None or python is None:
        pytest.skip("no software NIC, or no pyverbs")
    done = subprocess.run(
        [python, str(HERE / "wire.py"), "crash"],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "LD_PRELOAD": str(library)},
    )
    assert done.returncode == -11
    assert "Fatal Python error: Segmentation fault" in done.stderr


# Two processes -------------------------------------------------------------------------------


@BOTH_WAYS
def test_what_was_rung_before_a_modify_to_error_goes_out(personality: str) -> None:
    """The peer is stopped from before the first send until after the modify: nothing is left to chance."""
    assert duo("error_after_sends", personality) == [ERR, [OK] * 8 + [FLUSHED], [OK] * 8]


def test_a_modify_to_error_does_not_wait_for_receives() -> None:
    assert duo("error_without_receives") == [FLUSHED] * 3


def test_a_modify_to_error_does_not_wait_for_ever() -> None:
    assert duo("error_with_a_stopped_peer") == [FLUSHED] * 3


@BOTH_WAYS
def test_what_was_rung_before_a_qp_is_destroyed_goes_out(personality: str) -> None:
    assert duo("destroy_after_sends", personality) == [OK] * 8


def test_a_stopped_peer_is_not_silent() -> None:
    assert duo("stopped") == [[], [OK]]


def test_only_a_closed_link_is_silence_and_timeout_0_has_no_end() -> None:
    assert duo("closed_link") == [[[OK], [RETRY]], [[OK], []]]


def test_an_rnr_retry_sends_no_payload() -> None:
    """4 MiB, once a millisecond for half a second, would take a processor and a half."""
    share, received, sent = duo("receiver_not_ready")
    assert share < 0.25
    assert (received, sent) == ([OK, "whole"], [OK])


CROSSED = {
    "first, small": [OK],
    "read": [OK],
    "read, bytes": True,
    "read through both keys": [OK],
    "read through both keys, bytes": True,
    "send": [OK],
    "send through both keys": [OK],
    "write": [OK],
}


@pytest.mark.parametrize(("scenario", "both"), [("crossed", True), ("crossed_without_files", False)])
def test_large_messages_are_whole_with_and_without_memory_of_both(scenario: str, both: bool) -> None:
    seen, there, here = duo(scenario)
    assert seen == CROSSED
    assert there == [[OK], True, [OK], True, True, both]
    assert here is both


def test_messages_that_wait_for_a_receive_take_no_room_from_others() -> None:
    assert duo("many_wait") == [[OK], [True, True]]


def test_the_end_of_a_peer_that_shares_memory_is_an_error() -> None:
    assert duo("killed_among_large_messages") == [[[OK], [RETRY]]] * 3


@BOTH_WAYS
def test_sends_that_wait_for_receives_keep_their_order(personality: str) -> None:
    seen = [[OK] * 12, [OK] * 12, [True] * 12, []]
    assert duo("receives_come_late", personality) == [seen, seen]


@BOTH_WAYS
def test_nothing_lands_after_a_write_that_is_refused(personality: str) -> None:
    """IBTA 9.9.3: the responder's queue pair is in error then."""
    landed = [True, True, False, False]
    assert duo("a_bad_key_among_writes", personality) == [[OK], [OK, OK, REMOTE_ACCESS, FLUSHED], landed]


def test_a_send_queue_is_drained_with_its_last_answer() -> None:
    assert duo("drained") == [[OK], 1, [], True, [OK] * 6, 0]


def test_a_read_between_writes_keeps_its_place() -> None:
    assert duo("writes_around_a_read") == [OK, True] * 50


@BOTH_WAYS
def test_what_was_acknowledged_is_told_before_the_peers_disconnect(personality: str) -> None:
    """The peer had the message before it sent its DREQ: an application that closes the connection finds all done."""
    assert duo("disconnect_after_receive", personality) == 60
