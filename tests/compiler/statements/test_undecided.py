"""MKS0514: behind an outcome that a case leaves open, nothing is judged that depends on it."""

from __future__ import annotations

import pytest

from tests.compiler.statements.lower_text import errors, rows

BASE = """
memory m = counter(64)
memory n[64]
peer memory w[64]
peer memory v[64]
mkey k
configure k { access local_write | remote_read | remote_write; layout list(m) }
"""
EITHER = "accepted or rejected at completion"
AT_COMPLETE = "accepted or rejected at complete"
WRITE = f"write m to w as s\n    {EITHER}\n"
PARTIAL = f"configure k, but comp_mask 4 {{ layout list(n) }} {AT_COMPLETE}\n"
SIGNED = """
let d = crc32(ones) every 512
memory src = framed(counter(512), d)
mkey j { block_signature }
configure j { access remote_read; layout list(src); signature { mem d } }
"""
PIPE = """
qp q { sig_pipelining }
mkey s { block_signature }
configure s { access 0; layout list(m) }
post on q as p, nowait { write s to w, signaled, id 1; write m to v, signaled, id 2 }
"""

TWO = "configure k as c, but comp_mask 1 { access 0 } rejected at complete or rejected at completion"
ASKED = "transmit j by send\nexpect wire == any\ncheck j is bad_guard accepted or rejected at mkey_check"

JUDGED = "what is judged here depends on an outcome that the case leaves open"
ERROR = "whether `j` has an error depends on an outcome that the case leaves open"
LEFT = "which completions are left here depends on an outcome that the case leaves open"


def shown(member: str) -> str:
    return f"`{member}` is not there in each outcome that the case leaves open"


REFUSED = {
    # Bytes.
    "equal": (WRITE + "expect w == m", JUDGED),
    "a part": (WRITE + "expect w[63..] == m[63..]", JUDGED),
    "a part of a write": (f"write m[0 +: 8] to w[8 +: 8] {EITHER}\nexpect w[0 +: 9] == m[0 +: 9]", JUDGED),
    "other": (WRITE + "expect w != m", JUDGED),
    "unchanged": (WRITE + "expect w == unchanged", JUDGED),
    "one of": (WRITE + "expect w in [m, fill(1, 64)]", JUDGED),
    "half open": (WRITE + "expect w == any(63) ++ m[63..]", JUDGED),
    "a known departure": (WRITE + "expect w == any known X-DIFF-08 m", JUDGED),
    "a read": (f"read n from w {EITHER}\nexpect n == any(32) ++ fill(0, 32)", JUDGED),
    "a receive": (f"receive fill(1, 64) into k by peer_write {EITHER}\nexpect m == fill(1, 64)", JUDGED),
    "through the key": (f"peer write w to k {EITHER}\nexpect k == fill(0, 64)", JUDGED),
    "a send": (f"peer recv w\nsend m {EITHER}\nexpect w == m", JUDGED),
    "two requests": (f"post {{ write m to v; write m to w, signaled }} {EITHER}\nexpect v == m", JUDGED),
    "lists": ("write m to w, id 5 completes { rdma_write } or completes { error, id 5 }\nexpect w == m", JUDGED),
    "wire": (f"transmit k by send {EITHER}\nexpect wire == m", JUDGED),
    "labelled wire": (f"transmit k by send as t {EITHER}\ntransmit k by send\nexpect t.wire == m", JUDGED),
    "atomic": (f"peer fetch_add w[0 +: 8] from k[0 +: 8], add 1 {EITHER}\nexpect m == any(4) ++ fill(0,60)", JUDGED),
    "swap": (
        f"peer compare_swap w[0 +: 8] from k[0 +: 8], compare 0, swap 1 {EITHER}\nexpect m == any(4) ++ fill(0,60)",
        JUDGED,
    ),
    "raw": (f"qp q {{ send_ops [raw] }}\nraw fill(0, 64) on q {EITHER}\nexpect n == unchanged", JUDGED),
    # What is made of them.
    "sent on": (WRITE + "read n from w\nexpect n == m", JUDGED),
    "sent on twice": (WRITE + "read n from w\nwrite n to v\nexpect v == m", JUDGED),
    "sent through a key": (f"read m from w {EITHER}\ntransmit k by send\nexpect wire == fill(0, 64)", JUDGED),
    "stored": (WRITE + "let now = w\nstore n = now\nexpect n == m", JUDGED),
    "taken": (WRITE + "let now = w\ntransmit k by send\nexpect wire == now", JUDGED),
    "a wire taken": (f"transmit k by send {EITHER}\nlet now = wire\ntransmit k by send\nexpect wire == now", JUDGED),
    # Two outcomes: `when` names one of them.
    "a key's configuration": (
        PARTIAL + f"transmit k by send as t {EITHER}\nexpect t.wire == m when accepted t",
        JUDGED,
    ),
    "a configuration, received": (
        PARTIAL + f"receive fill(1, 64) into k by recv as t {EITHER}\nexpect n == fill(1, 64) when accepted t",
        JUDGED,
    ),
    "a configuration, written": (
        PARTIAL + f"write k[0 +: 64] to w as t {EITHER}\nexpect w == fill(0, 64) when accepted t",
        JUDGED,
    ),
    "bytes that an open write left": (
        WRITE + f"read n from w as t {EITHER}\nexpect n == m when accepted t",
        JUDGED,
    ),
    "a wire of bytes that an open read left": (
        f"read m from w {EITHER}\ntransmit k by send as t {EITHER}\nexpect t.wire == fill(0, 64) when accepted t",
        JUDGED,
    ),
    # Labels.
    "byte_len": (f"read n from w as r {EITHER}\nexpect r.byte_len == 64", shown("r.byte_len")),
    "as a number": (f"read n from w as r {EITHER}\nwrite m[0 +: 8] to w[0 +: 8], but rkey r.byte_len", None),
    "status": (f"write m to w as s {AT_COMPLETE}\nexpect s.status == success", shown("s.status")),
    "two phases": (f"{TWO}\nexpect c.status == wr_flush_err", shown("c.status")),
    "of its receive": (f"peer recv w as r\nsend m {EITHER}\nexpect r.byte_len == 64", shown("r.byte_len")),
    "count": (f"{PIPE}cancel 7 on q as c accepted or rejected at cancel\nexpect c.count == 0", shown("c.count")),
    # Cancel, poll, await.
    "cancelled": (f"{PIPE}cancel 2 on q accepted or rejected at cancel\nexpect v == unchanged", JUDGED),
    "polled": (
        f"{PIPE}poll q completes {{ rdma_write; rdma_write }} or completes {{ error; error }}\nexpect v == m",
        JUDGED,
    ),
    "left to poll": (
        f"{PIPE}write m[0 +: 8] to w[0 +: 8] on q {EITHER}\npoll q completes {{ rdma_write; rdma_write }}",
        LEFT,
    ),
    "not waited for": (
        f"post, nowait {{ write m to w, signaled }} {AT_COMPLETE}\npoll completes {{ rdma_write }}",
        LEFT,
    ),
    "an event": (
        f"{SIGNED}qp q {{ sig_pipelining }}\npeer memory x[512]\nwrite j to x on q {EITHER}\nawait sq_drained on q",
        "whether this event comes depends on an outcome that the case leaves open",
    ),
    "a receive waits": (
        f"recv n\nwrite m to w {EITHER}",
        "a receive still waits at the owner, and is flushed if this fails",
    ),
    # Checks.
    "an error": (f"{SIGNED}transmit j by send {EITHER}\ncheck j is bad_guard, block 0", ERROR),
    "an error of either": (f"{SIGNED}transmit j by send {EITHER}\ncheck j is [bad_guard, bad_reftag]", ERROR),
    "read, or not": (f"{SIGNED}{ASKED}\ncheck j is bad_guard", ERROR),
}

TAKEN = {
    "any": WRITE + "expect w == any",
    "recorded": WRITE + "record w = w\nrecord same = w == m\nrecord status = s.status\nexpect w == any",
    "one of": WRITE + "expect w in [m, unchanged]",
    "open there": f"write m[0 +: 8] to w[8 +: 8] {EITHER}\nexpect w == any(16) ++ m[16..]",
    "beside": f"write m[0 +: 8] to w[8 +: 8] {EITHER}\nexpect w[0 +: 8] == unchanged\nexpect w[16..] == unchanged",
    "nothing": (f"qp q {{ send_ops [memcpy] }}\nmemcpy m to n on q, but length 0 {AT_COMPLETE}\nexpect n == unchanged"),
    "written since": WRITE + "write m to w\nexpect w == m",
    "stored since": WRITE + "store w = fill(1, 64)\nread n from w\nexpect n == w",
    "what is there": WRITE + "let now = w\nread n from w\nexpect n == now\nexpect w == any",
    "wire": f"transmit k by send as t {EITHER}\nexpect t.wire in [m, unchanged]\ntransmit k by send\nexpect wire == m",
    "status": f"write m to w as s {EITHER}\nexpect s.status == success\nexpect s.errno == 0\nexpect w == any",
    "errno": f"write m to w as s {AT_COMPLETE}\nexpect s.errno == 0\nexpect w == any",
    "other labels": f"write m to w as s {EITHER}\nread n from v as r\nexpect r.byte_len == 64\nexpect w == any",
    "either error": f"{SIGNED}transmit j by send {EITHER}\nexpect wire == any\ncheck j is [ok, bad_guard]",
    "no error": (
        f"{SIGNED}transmit j by send {EITHER}\nexpect wire == any\ncheck j is ok\n"
        "transmit j by send\nexpect wire == any\ncheck j is bad_guard, block 0"
    ),
    "its own receive": f"peer recv w as r\nsend m {EITHER}\nrecord byte_len = r.byte_len\nexpect w == any",
    "receives at complete": f"recv n\nwrite m to w {AT_COMPLETE}\npeer send v\nexpect n == fill(0, 64)",
    "another qp": (
        f"{SIGNED}qp q {{ sig_pipelining }}\nwrite m to w {EITHER}\nexpect w == any\n"
        "transmit j by send on q\nexpect wire == counter(512)\nawait sq_drained on q"
    ),
    "polled before": (
        f"{PIPE}poll q completes {{ rdma_write, id 1; rdma_write, id 2 }}\nwrite m to w on q {EITHER}\n"
        "write m to v on q completes { rdma_write }\nexpect w == any\nexpect v == m"
    ),
    "cancelled before": (
        f"{PIPE}await sq_drained on q\ncancel 2 on q\ncancel 2 on q as c accepted or rejected at cancel\n"
        "poll q completes { rdma_write; rdma_write }\nexpect v == unchanged\nexpect w == m"
    ),
    "success either way": "write m to w, id 5 completes { rdma_write } or accepted\nexpect w == m",
    "never accepted": "write m to w, but rkey w.rkey ^ 0xff rejected at completion\nexpect w == unchanged",
    "created": (
        "mkey l, but create_flags 2 accepted or rejected at create\n"
        "configure l { layout list(m) }\ntransmit l by send\nexpect wire == m\nexpect l.max_entries >= 1"
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_depends_on_an_open_outcome_is_not_judged(name: str) -> None:
    text, message = REFUSED[name]
    found = errors(BASE + text)
    expected = shown("r.byte_len") if message is None else message
    assert found == [f"MKS0514 {expected}"]


@pytest.mark.parametrize("name", TAKEN)
def test_what_does_not_depend_on_it_is(name: str) -> None:
    assert rows(BASE + TAKEN[name])


def test_each_row_has_its_own_outcomes() -> None:
    text = f"for i in 1, 2\n{BASE}write m to w {EITHER} when i == 1\nif i == 2 {{ expect w == m }}\n"
    assert len(rows(text + "if i == 1 { expect w == any }")) == 2
    assert errors(text.replace("if i == 2", "if i == 1")) == [f"MKS0514 {JUDGED}"]


KEYS = """
mkey l
configure l { layout list(k[0 +: 64]) }
configure k { access local_write; layout list(n) }
    accepted or rejected at complete
"""


@pytest.mark.parametrize(
    ("text", "mends"),
    [
        ("transmit k by send", True),
        ("transmit l by send", True),
        ("receive fill(1, 64) into k by recv", False),
        ("recv k[0 +: 64]", False),
        ("write k[0 +: 64] to w", True),
    ],
)
def test_a_key_that_may_not_be_configured_is_not_used(text: str, mends: bool) -> None:
    (found,) = errors(BASE + KEYS + text)
    assert found.startswith("MKS0506 `k`")
    assert "is in an unknown state after the statement that may be refused at" in found
    again = errors(BASE + KEYS + "configure k { layout list(n) }\n" + text)
    assert bool(again) != mends, "the access it needs is not set yet"
    assert not errors(BASE + KEYS + "configure k { access local_write; layout list(n) }\n" + text)
