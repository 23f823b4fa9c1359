"""`completes in any order { … }`: each entry has its completion, whenever it comes."""

from __future__ import annotations

import pytest

from mkeyspec import plan
from mkeyspec.run.verdict import CaseFailed
from tests.compiler.statements.lower_text import errors, steps
from tests.run.fixtures import failures, rig, run

THREE = """
    memory m = counter(64)
    peer memory w[64]
    post, nowait {{
        write m[0 +: 8] to w, signaled, id 1
        write m[8 +: 8] to w[8 +: 8], signaled, id 2
        read m[32 +: 8] from w[16 +: 8], signaled, id 3
    }}
    poll completes {list}
    expect w[0 +: 16] == m[0 +: 16]
    expect m[32 +: 8] == any
"""


@pytest.mark.parametrize(
    "entries",
    [
        "rdma_write, id 1; rdma_write, id 2; rdma_read, id 3",
        "rdma_read, id 3; rdma_write, id 2; rdma_write, id 1",
        "rdma_write; rdma_read, id 3; rdma_write, id 1",  # the first could take what the last alone can have
        "rdma_write; rdma_write; rdma_read, byte_len 8",
    ],
)
def test_the_order_is_not_compared(entries: str) -> None:
    assert run(rig()[0], *steps(THREE.format(list=f"in any order {{ {entries} }}"))).status == "pass"


def test_without_the_words_it_is() -> None:
    found = steps(THREE.format(list="{ rdma_read, id 3; rdma_write, id 2; rdma_write, id 1 }"))
    assert [one.code for one in failures(rig()[0], *found)] == ["MKS2005"]


@pytest.mark.parametrize(
    ("entries", "detail"),
    [
        ("rdma_write, id 2; rdma_write, id 2; rdma_read, id 3", ("expected", "completion 1: id 2")),
        ("rdma_write; rdma_write; rdma_write", ("expected", "completion 3: opcode rdma_write")),
        ("rdma_read, id 3; rdma_write, id 1", ("got", "completion 3: completion rdma_read (send queue, id 3)")),
        ("rdma_read, byte_len 9; rdma_write; rdma_write", ("expected", "completion 3: byte_len 9")),
    ],
)
def test_what_came_must_be_on_the_list(entries: str, detail: tuple[str, str]) -> None:
    found = failures(rig()[0], *steps(THREE.format(list=f"in any order {{ {entries} }}")))
    assert [one.code for one in found] == ["MKS2005"]
    assert detail in found[0].details


def test_a_completion_that_is_missing_fails() -> None:
    entries = "rdma_write, id 1; rdma_write, id 2; rdma_read, id 3; rdma_write, id 4"
    with pytest.raises(CaseFailed):
        run(rig()[0], *steps(THREE.format(list=f"in any order {{ {entries} }}")))


def test_the_plan_has_it() -> None:
    (poll,) = [step for step in steps(THREE.format(list="in any order { rdma_write }")) if isinstance(step, plan.Poll)]
    assert poll.claim == (plan.Completes((plan.Entry("rdma_write"),), True),)
    assert repr(poll.claim[0]).endswith("any_order=True)")


def test_other_words_are_refused() -> None:
    (found,) = errors(THREE.format(list="in some order { rdma_write }"))
    assert found == "MKS0115 a list of completions is `in any order`, not `in some order`"
