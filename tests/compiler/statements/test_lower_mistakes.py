"""Sentences that say what their verb can't take, and steps that can't be: code and message."""

from __future__ import annotations

import pytest

from tests.compiler.statements.lower_text import errors, the_error

BASE = """
memory m = counter(512)
peer memory w[512]
mkey k
configure k { access remote_write; layout list(m) }
"""


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("transmitt k by send", "MKS0210 there is no verb `transmitt`"),
        ("write m to w, signalled", "MKS0211 `write` has no modifier `signalled`"),
        ("mkey j { block_signatur }", "MKS0212 `mkey { }` has no line `block_signatur`"),
        (
            "configure k { signature { memory crc32(ones) every 512 } }",
            "MKS0215 `memory` belongs in a case, not in `signature { }`",
        ),
        ("transmit k", "MKS0213 `transmit` lacks `by` (send, send_imm, write, write_imm, peer_read)"),
        ("store m", "MKS0213 `store` lacks `=` (bytes)"),
        ("post", "MKS0213 `post` lacks its lines in braces"),
        ("write m to w, id", "MKS0213 `id` lacks a number"),
        ("peer recv w\nsend_imm m", "MKS0213 `send_imm` lacks `imm`"),
        ("mr_list k from [m]", "MKS0213 `mr_list` lacks `access`"),
        ("memory z", "MKS0213 how large is `z`?"),
        ("write m into w", "MKS0214 `write` takes no `into`"),
        ("access 0", "MKS0215 the setter `access` belongs into a configuration"),
        ("entries 4", "MKS0215 `entries` belongs in `mkey { }`, not in a case"),
        ("post { transmit k by send }", "MKS0215 `transmit` belongs in a case, not in a section"),
        ("post m { access 0 }", "MKS0216 `post` takes no operand"),
        ("transmit k by send { access 0 }", "MKS0216 `transmit` takes no braces"),
        ("write m to w, fence 1", "MKS0302 `fence` takes yes or no, not an int"),
        ("write m to w = m", "MKS0216 `write` takes no `=`"),
        ("write m to w, fence, fence", "MKS0217 `fence` is given twice"),
        ("write m to w to w", "MKS0217 `to` is given twice"),
        ("mkey j { entries 4; entries 5 }", "MKS0217 `entries` is given twice"),
        ("configure k, but num_seters 3 { access 0 }", "MKS0218 `configure` has no member `num_seters` to set wrong"),
        ("peer transmit k by send", "MKS0219 `transmit` has no `peer`"),
        ("memory z[4] = fill(0, 5)", "MKS0314 `z` has 4 bytes, and 5 are put into it"),
        ("store m[0 +: 4] = fill(0, 5)", "MKS0314 5 bytes stored into 4"),
        ("memory z[0]", "MKS0315 a memory of 0 bytes cannot be registered"),
        ("memory z[4], misaligned 64", "MKS0315 `misaligned` counts bytes past a boundary of 64, 64 does not"),
        ("write m[0 +: 4] to w[0 +: 5]", "MKS0313 4 bytes on this end, 5 on the other"),
        ("fetch_add m[0 +: 4] from w, add 1", "MKS0313 fetch and add works on 8 bytes, not 4"),
        ("compare_swap m from w[0 +: 16], compare 1, swap 2", "MKS0313 compare and swap works on 8 bytes, not 16"),
        ("compare_swap m from w, swap 2", "MKS0213 `compare_swap` lacks `compare`"),
        ("compare_swap m from w, compare 2", "MKS0213 `compare_swap` lacks `swap`"),
        (
            "compare_swap m from w, compare 1 << 64, swap 2",
            f"MKS0317 `compare` has 64 bits, and {1 << 64:#x} does not fit",
        ),
        ("receive counter(8) into k[0 +: 9] by recv", "MKS0313 8 bytes received into 9"),
        ("expect m < fill(0, 512)", "MKS0316 bytes are compared by == and !=, not by <"),
        ("expect m == 5", "MKS0316 bytes are compared with a number"),
        ("expect k.max_entries == fill(0, 4)", "MKS0316 a number is compared with bytes"),
        ("transmit k by send\nexpect wire == unchanged", "MKS0316 every wire is new: it can't be unchanged"),
        ("expect wire == m", "MKS0321 there is no wire here: no `transmit` before this goes through"),
        (
            "transmit k by send rejected at complete with EINVAL\nexpect wire == m",
            "MKS0321 there is no wire here: no `transmit` before this goes through",
        ),
        ("write m to w as l\nexpect l.wire == m", "MKS0321 `l` has no wire: only a `transmit` has"),
        (
            (
                "receive fill(1, 512) into k by peer_write accepted or rejected at completion\nexpect m == any\n"
                "expect w == m"
            ),
            "MKS0320 nothing says what `m[0..512]` holds",
        ),
        (
            (
                "receive fill(1, 512) into k by peer_write\nexpect m == fill(1, 512) known X-DIFF-08 any\n"
                "transmit k by send\nexpect wire == m"
            ),
            "MKS0320 nothing says what `m[0..512]` holds",
        ),
        (
            "write m to w accepted or rejected at completion\nexpect w in [m, unchanged]\nexpect m == w",
            "MKS0320 nothing says what `w[0..512]` holds",
        ),
        (
            (
                "transmit k by send as t accepted or rejected at completion\nexpect wire == any\n"
                "transmit k by send\nexpect wire == t.wire"
            ),
            "MKS0320 nothing says what `wire[0..512]` holds",
        ),
        ("expect 4 == 4", "MKS0322 nothing is observed here: this is an int"),
        ("record x = counter(4)", "MKS0322 nothing is observed here: this is bytes"),
        ("mkey j\nexpect j == m", "MKS0323 `j` has no layout here, so it has no bytes"),
        ("expect k[510 +: 4] == fill(0, 4)", "MKS0305 `k` has 512 bytes by its layout, this part ends at 514"),
        ("transmit k by send rejected at create", "MKS0510 `transmit` can't be rejected at create"),
        ("post { write m to w rejected at completion }", "MKS0510 a claim is about the whole section"),
        ("send m", "MKS0511 nothing is posted to receive this"),
        ("peer recv w\nsend m\nsend m", "MKS0511 nothing is posted to receive this"),
        ("peer recv w\nqp q\nsend m on q", "MKS0511 nothing is posted to receive this"),
        ("recv m\nsend m", "MKS0511 nothing is posted to receive this"),
        ("peer recv w\ntransmit k by send", "MKS0512 a receive of yours still waits at the peer, and would take this"),
        ("transmit k by recv", "MKS0302 `recv` is not a way to transmit"),
        ("transmit m by send", "MKS0302 `transmit` takes an mkey or a part of one, not the memory `m`"),
        ("transmit k but rkeys 1 by send", "MKS0205 a key or a part of a buffer has no `rkeys` to set wrong"),
        (
            "configure k, calls [access] { layout list(m) }",
            "MKS0213 `calls` names `access`, and the block gives no arguments for it",
        ),
        (
            "transmit k by send known X-DIFF-08\nexpect wire == m",
            "MKS0515 `known X-DIFF-08` says nothing of what comes instead",
        ),
        (
            "transmit k by send\nexpect wire == m known X-DIFF-08",
            "MKS0515 `known X-DIFF-08` says nothing of what comes instead",
        ),
        ("transmit k by send known X-DIFF-98 accepted", "MKS0221 the ledger has no departure `X-DIFF-98`"),
    ],
)
def test_mistakes(text: str, found: str) -> None:
    assert errors(BASE + text) == [found]


def test_layouts_that_are_no_whole_number_of_frames() -> None:
    body = """
    memory m = counter(1000)
    mkey k { block_signature }
    configure k { layout list(m); signature { mem crc32(ones) every 512 } }
    transmit k by send
    """
    found = the_error(body)
    assert found.code == "MKS0312"
    assert found.message == (
        "how much is all of `k`? Its layout's 1000 bytes are not a whole number of 516, "
        "which is one block of crc32(ones) every 512 in memory"
    )


def test_requirement_ids() -> None:
    found = the_error(BASE, "verifies LAY-05, SIG-70")
    assert (found.code, found.message, found.help) == (
        "MKS0220",
        "the ledger has no requirement `SIG-70`",
        "did you mean `SIG-07`?",
    )


def test_an_mkey_in_an_unknown_state_is_said_to_be_in_one() -> None:
    found = the_error(BASE + "abort { configure k { access 0 } }\ntransmit k by send")
    assert found.code == "MKS0506"


def test_an_mkey_that_was_never_configured() -> None:
    found = the_error("mkey k\ntransmit k by send")
    assert found.code == "MKS0401"


def test_several_mistakes_are_found_at_once() -> None:
    body = BASE + "write m to w, signalled\nconfigure k { acces 0 }\nmemory z"
    assert [text[:7] for text in errors(body)] == ["MKS0211", "MKS0212"]
