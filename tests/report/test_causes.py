"""Rows that went wrong, by the near misses that explain most of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from mkeyspec.report.causes import causes_of
from mkeyspec.report.record import Case, Difference, NearMiss, Result
from mkeyspec.report.rows import results_of
from tests.report.results import ABOUT, FILE, failed, row, run_of

MASK = ["record.none", "field.kept", "field.kept_guard", "check.shifted"]
ESCAPE = ["escape.app_always", "record.none", "check.shifted"]

SETS: dict[str, tuple[list[list[str]], list[tuple[str, int]]]] = {
    "what holds for any signature comes last": (
        [MASK],
        [("looks like: check.shifted, or record.none, or field.kept, or 1 more: these rows can't tell them apart", 1)],
    ),
    "what explains both": ([MASK, ESCAPE], [("looks like: check.shifted, or record.none", 2)]),
    "a third row tells which": ([MASK, ESCAPE, ["crc.half", "check.shifted"]], [("looks like: check.shifted", 3)]),
    "of two that explain as many, that with fewer others": (
        [["a", "b", "c"], ["b", "a"], ["a"], ["b"]],
        [("looks like: a", 3), ("looks like: b", 1)],
    ),
    "two defects": (
        [MASK, ["crc.inversion"], ["crc.inversion", "crc.half"], ESCAPE, MASK],
        [("looks like: check.shifted, or record.none", 3), ("looks like: crc.inversion", 2)],
    ),
    "what the bytes are explains nothing": (
        [["bytes.zero"], ["bytes.zero", "a"]],
        [("MKS2101 N bytes differ", 1), ("looks like: a", 1)],
    ),
    "its sentence, where the stream has it": ([["ref.down"]], [("looks like: the reference tag is decremented", 1)]),
    "none": ([[], []], [("MKS2101 N bytes differ", 2)]),
}


@pytest.mark.parametrize("name", SETS)
def test_causes(tmp_path: Path, name: str) -> None:
    rows, expected = SETS[name]
    results = [failed(n + 1, "4 bytes differ", looks_like=names) for n, names in enumerate(rows)]
    about = (*ABOUT, NearMiss("ref.down", "the reference tag is decremented"))
    run = run_of(tmp_path / "r", row(99), *results, about=about)
    causes = causes_of((run, one) for one in results_of(run))
    found = [(cause.title.partition("; only with ")[0], len(cause.results)) for cause in causes]
    assert sorted(found) == sorted((f"CRC-02: {title}", count) for title, count in expected)
    assert [count for _, count in found] == sorted((count for _, count in expected), reverse=True)


NOT_THERE = "rejected at complete with EOPNOTSUPP"
OTHERWISE = f"was {NOT_THERE}, and should be rejected at complete with EINVAL"
REFUSED = "was rejected at complete with EOPNOTSUPP, and nothing claims it"
NO_KEY = "`dek d` was rejected at create with EINVAL, and nothing claims it"

STATEMENTS: dict[str, tuple[list[tuple[str, str, str]], list[tuple[str, int]]]] = {
    # Code, message and source of each row; the titles without their requirements.
    "work requests, by phase and errno": (
        [
            ("MKS2001", f"`configure k` {REFUSED}", "configure k, reset_signature { layout list(m) }"),
            ("MKS2003", f"`configure j` {OTHERWISE}", "configure j, reset_signature"),
            ("MKS2001", f"`post` {REFUSED}", "post {"),
        ],
        [(f"MKS2001, MKS2003 `configure`, `post` {NOT_THERE}; 2 of 3 statements have `reset_signature`", 3)],
    ),
    "what a statement makes, by its kind": (
        [
            ("MKS2001", NO_KEY, "dek d { key key; wrapped }  # no login"),
            ("MKS2001", NO_KEY.replace(" d", " t"), "dek t { key key; keytag counter(8); wrapped }"),
            ("MKS2001", NO_KEY.replace("dek d", "mkey k"), "mkey k { crypto }"),
        ],
        [("MKS2001 `dek` rejected at create with EINVAL; all statements have `key`, `wrapped`", 2),
         ("MKS2001 `mkey` rejected at create with EINVAL", 1)],
    ),
    "completions": (
        [("MKS2005", f"`{what}` completed with loc_prot_err, and should succeed", f"{what} by send")
         for what in ("transmit k", "transmit j", "receive k")],
        [("MKS2005 `transmit`, `receive` rejected at completion with loc_prot_err; all statements have `by`, `send`",
          3)],
    ),
    "a member of completions, one less in each": (
        [("MKS2005", f"the completion of `{what} k` has another byte_len: {got}, not {want}", f"{what} k by peer_read")
         for what, got, want in (("transmit", "63 (0x3f)", "64 (0x40)"), ("read", "8", "9"))],
        [(("MKS2005 the completion of `transmit`, `read` has another byte_len: 1 less than expected; "
           "all statements have `by`, `peer_read`"), 2)],
    ),
    "a member of completions, the same in each": (
        [("MKS2005", f"the completion of `{what}` has another opcode: send, not rdma_write{turn}", what)
         for what, turn in (("write a", ""), ("write b", " (in turn 2 of 3)"))],
        [("MKS2005 the completion of `write` has another opcode: send, not rdma_write", 2)],
    ),
    "a member of completions, whatever it is": (
        [("MKS2005", f"the completion of `send {name}` has another imm: {got}, not 7", f"send {name}")
         for name, got in (("a", "none"), ("b", "3"))],
        [("MKS2005 the completion of `send` has another imm", 2)],
    ),
    "lists that are too short": (
        [("MKS2005", f"`poll q` completed otherwise than listed: {came} completions came", "poll q completes")
         for came in ("1 of 2", "2 of 3")],
        [("MKS2005 `poll` completed otherwise than listed: 1 completion did not come", 2)],
    ),
    "lists that are too short by other numbers": (
        [("MKS2005", f"`poll q` completed otherwise than listed: {came} completions came", "poll q completes")
         for came in ("1 of 2", "1 of 3")],
        [("MKS2005 `poll` completed otherwise than listed: N of N completions came", 2)],
    ),
    "numbers that are the same in all rows": (
        [("MKS2105", "c.count is 1, not == 2", "expect c.count == 2")] * 2,
        [("MKS2105 c.count is 1, not == 2", 2)],
    ),
    "numbers that are not": (
        [("MKS2105", f"c.count is {n}, not == {n + 1}", f"expect c.count == {n + 1}") for n in (1, 2)],
        [("MKS2105 c.count is 1 less than expected", 2)],
    ),
    "numbers that differ by other numbers": (
        [("MKS2105", f"c.count is {n}, not == 7", "expect c.count == 7") for n in (1, 2)],
        [("MKS2105 c.count is N, not == N", 2)],
    ),
    "numbers that must differ": (
        [("MKS2105", f"c.count is {n}, not != {n}", "expect c.count != n") for n in (1, 2)],
        [("MKS2105 c.count is N, not != N", 2)],
    ),
    "another errno is another cause": (
        [("MKS2001", f"`configure k` {REFUSED.replace('EOPNOTSUPP', other)}", "configure k")
         for other in ("EIO", "EPERM")],
        [("MKS2001 `configure` rejected at complete with EIO", 1),
         ("MKS2001 `configure` rejected at complete with EPERM", 1)],
    ),
    "what did not come": (
        [("MKS2004", f"`write {number}` did not complete", f"write {number}") for number in ("a", "b")],
        [("MKS2004 `write` did not complete", 2)],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", STATEMENTS)
def test_statements_that_say_the_same(tmp_path: Path, name: str) -> None:
    """Of rows without a near miss, whatever the requirements of their cases."""
    rows, expected = STATEMENTS[name]
    about = [Case(f"{FILE}::c{n}", 3, "", [f"CRC-0{n + 1}"]) for n in range(len(rows))]
    results = []
    for n, (code, said, source) in enumerate(rows):
        text = (
            f"{FILE}:{n + 1}:5: error[{code}]: {said}\n      |\n  {n + 1} |     {source}\n      |     ^^^\n    got  x"
        )
        results.append(Result(f"{FILE}::c{n}", "failed", code=code, message=said, line=n + 1, text=text))
    run = run_of(tmp_path / "r", *results, about=(*ABOUT, *about))
    found = [(cause.title.partition(": ")[2], len(cause.results)) for cause in causes_of((run, one) for one in results)]
    assert found == expected


ONE = "1 row of these cases passed, and no one value tells them apart"
BESIDE: dict[str, tuple[list[str], list[str], list[str]]] = {
    # Rows that failed, rows that passed, lines.
    "a limit": (["n=2,m=1", "n=64,m=2"], ["n=0,m=1", "n=1,m=2"],
                ["these rows have n ≥ 2, and those that passed have n ≤ 1"]),
    "a limit from above": (["n=0x1", "n=2"], ["n=0x10"],
                           ["these rows have n ≤ 2, and those that passed have n ≥ 16"]),
    "values": (["op=send", "op=read"], ["op=write"],
               ["these rows have op=send, read, and those that passed have op=write"]),
    "values between others": (["n=2"], ["n=1", "n=3"],
                              ["these rows have n=2, and those that passed have n=1, 3"]),
    "many values": ([f"v=a{n}" for n in range(6)], ["v=b"],
                    ["these rows have v=a0, a1, a2, a3, or 2 more, and those that passed have v=b"]),
    "no one value": (["n=1,m=1", "n=2,m=2"], ["n=1,m=2"], [ONE]),
    "no row passed": (["n=1", "n=2"], [], ["no row of these cases passed"]),
    "one row": (["n=1"], [], []),
    "values in brackets": (["sig=crc32(ones),n=1"], ["sig=crc32(zeros),n=1"],
                           ["these rows have sig=crc32(ones), and those that passed have sig=crc32(zeros)"]),
}  # fmt: skip


@pytest.mark.parametrize("name", BESIDE)
def test_what_passed_beside(tmp_path: Path, name: str) -> None:
    bad, good, expected = BESIDE[name]
    wrong = [Result(f"{FILE}::c[{row}]", "failed", code="MKS2101", message="4 bytes differ") for row in bad]
    right = [Result(f"{FILE}::c[{row}]", "passed") for row in good]
    run = run_of(tmp_path / "r", *wrong, *right)
    (cause,) = causes_of((run, one) for one in results_of(run))
    assert list(cause.beside) == expected
    # What sets all its rows apart is in its title.
    only = cause.title.partition("; only with ")[2]
    common = [line.partition("these rows have ")[2].partition(", and those")[0] for line in expected]
    assert only in (common or [""])[0]
    assert bool(only) == (name in ("a limit", "a limit from above", "values", "values between others",
                                   "values in brackets"))  # fmt: skip


def test_what_passed_beside_in_several_cases(tmp_path: Path) -> None:
    """One value of all cases, or else of each."""

    def one(id: str, wrong: bool) -> Result:
        return Result(f"{FILE}::{id}", "failed" if wrong else "passed", looks_like=["a"] if wrong else [])

    results = [
        *(one(f"c[op=send,n={n}]", n > 1) for n in range(4)),
        *(one(f"d[n={n}]", n > 2) for n in range(2, 5)),
        *(one(f"e[z={n}]", False) for n in range(2, 5)),
    ]
    run = run_of(tmp_path / "r", *results)
    (cause,) = causes_of((run, one) for one in results_of(run))
    assert cause.beside == (
        "c: these rows have n ≥ 2, and those that passed have n ≤ 1",
        "d: these rows have n ≥ 3, and those that passed have n ≤ 2",
    )
    results.append(one("f", True))
    run = run_of(tmp_path / "s", *results)
    (cause,) = causes_of((run, one) for one in results_of(run) if one.id != f"{FILE}::d[n=2]")
    assert cause.beside == ("c: these rows have n ≥ 2, and those that passed have n ≤ 1",), "f has no n"
    results.pop()
    run = run_of(tmp_path / "t", *results)
    (cause,) = causes_of((run, one) for one in results_of(run) if one.id != f"{FILE}::d[n=2]")
    assert cause.beside == ("these rows have n ≥ 2, and those that passed have n ≤ 1",)


def test_rows_that_passed_speak_against_a_near_miss(tmp_path: Path) -> None:
    """The one that no row denies is likelier, though it explains fewer rows; one of a narrow defect stays the first."""
    wrong = [failed(n, looks_like=["a", "b"]) for n in range(2)] + [failed(2, looks_like=["a"])]

    def first(*passed: Result) -> tuple[str, ...]:
        run = run_of(tmp_path / "r", *wrong, *passed)
        (tmp_path / "r").unlink()
        return causes_of((run, one) for one in results_of(run))[0].looks_like

    assert first() == ("a",)
    assert first(row(7, against=["a"]), row(8, against=["a"]), row(9, against=["a"])) == ("b", "a")
    assert first(row(7, against=["a", "b"]), row(8, against=["a", "b"])) == ("a",)


def test_facts_about_the_bytes(tmp_path: Path) -> None:
    """That nothing was written comes first; others only where the best guess is in doubt."""

    def named(names: list[str], *against: str) -> tuple[str, ...]:
        rows = [failed(1, looks_like=names), row(2, against=list(against))]
        run = run_of(tmp_path / "r", *rows)
        (tmp_path / "r").unlink()
        return causes_of((run, one) for one in results_of(run))[0].looks_like

    assert named(["a", "bytes.unchanged"]) == ("bytes.unchanged", "a")
    assert named(["a", "bytes.too_many", "bytes.elsewhere"]) == ("a",)
    assert named(["a", "bytes.too_many", "bytes.elsewhere"], "a") == ("a", "bytes.too_many")
    assert named(["a", "b", "c", "bytes.too_many"], "a", "b", "c") == ("a", "b", "bytes.too_many")


def test_a_row_with_bytes_is_shown_first(tmp_path: Path) -> None:
    bytes_differ = Difference("wire[516]", 4, 1024, 512, "0a", "0b")
    run = run_of(tmp_path / "r", failed(1, looks_like=["a"]), failed(2, looks_like=["a"], difference=bytes_differ))
    (cause,) = causes_of((run, one) for one in results_of(run))
    assert [result.id[-5:] for result in cause.results] == ["[n=2]", "[n=1]"]


def test_the_simplest_row_is_shown_first(tmp_path: Path) -> None:
    """Of rows with bytes: fewest requests and entries, then fewest bytes, then the shortest id."""
    sizes = [(3, 1, 64), (1, 2, 512), (1, 1, 512), (1, 1, 64), (1, 1, 64)]
    rows = [
        failed(n if n != 3 else "300", looks_like=["a"], size={"requests": r, "entries": e, "bytes": b})
        for n, (r, e, b) in enumerate(sizes)
    ]
    run = run_of(tmp_path / "r", *rows)
    (cause,) = causes_of((run, one) for one in results_of(run))
    assert [result.id.partition("[n=")[2] for result in cause.results] == ["4]", "300]", "2]", "1]", "0]"]


def test_a_refusal_of_what_must_be_accepted_is_shown_before_another_refusal(tmp_path: Path) -> None:
    rows = [("MKS2003", OTHERWISE), ("MKS2001", REFUSED)]
    results = [
        Result(f"{FILE}::c[n={n}]", "failed", code=code, message=f"`configure k` {said}", size={"requests": n})
        for n, (code, said) in enumerate(rows)
    ]
    run = run_of(tmp_path / "r", *results)
    (cause,) = causes_of((run, one) for one in results)
    assert [result.code for result in cause.results] == ["MKS2001", "MKS2003"]


LEDGER = [
    Case(f"{FILE}::signed", 3, "", ["SIG-08", "CRC-02"]),
    Case(f"{FILE}::crc", 9, "", ["CRC-02"]),
    Case(f"{FILE}::all_good", 20, "", ["CRC-02"]),
    Case(f"{FILE}::other", 30, "", ["SIG-08"]),
]


def test_a_cause_tells_of_its_requirement(tmp_path: Path) -> None:
    """The one whose rows are most nearly those of the cause, how many of them fail, and where it holds."""
    results = [
        *(Result(f"{FILE}::signed[n={n}]", "failed", looks_like=["a"]) for n in range(2)),
        *(Result(f"{FILE}::crc[n={n}]", "failed" if n else "passed", looks_like=["a"] if n else []) for n in range(3)),
        *(Result(f"{FILE}::all_good[n={n}]", "passed") for n in range(2)),
        *(Result(f"{FILE}::other[n={n}]", "passed") for n in range(9)),
        *(Result(f"{FILE}::crc[m={n}]", "blocked", culprit="x") for n in range(5)),
    ]
    run = run_of(tmp_path / "r", *results, about=(*ABOUT, *LEDGER))
    cause, blocked = causes_of((run, one) for one in results_of(run))
    assert cause.title == "CRC-02: looks like: a"
    assert cause.about == (
        "CRC-02: CRC32 signature is the Fibre Channel CRC-32.",
        "4 of 7 rows that verify it fail so; all rows passed of all_good",
        "rows of signed (2 of 2), crc (2 of 3)",
    )
    assert blocked.title == "consequence: blocked, not run: the device is not healthy since x"
    assert not blocked.about


def test_what_was_written_outside_is_one_cause(tmp_path: Path) -> None:
    """Whatever the buffers are called, and whatever the cases verify; what else a byte may be is not joined."""
    said = [
        ("MKS2104", "the guard after `wire` was written (8 bytes)"),
        ("MKS2104", "the guard after `m` was written (1 byte) (in turn 2 of 3)"),
        ("MKS2104", "the guard before `m` was written (1 byte)"),
        ("MKS2202", "a signature error of `k` is left over: bad_guard"),
        ("MKS2202", "a signature error of `j` is left over: bad_guard"),
        ("MKS2101", "4 of 8 bytes differ"),
        ("MKS2101", "4 of 8 bytes differ"),
    ]
    about = [Case(f"{FILE}::c{n}", 3, "", [f"CRC-0{n + 1}"]) for n in range(len(said))]
    results = [Result(f"{FILE}::c{n}", "failed", code=code, message=message) for n, (code, message) in enumerate(said)]
    run = run_of(tmp_path / "r", *results, about=(*ABOUT, *about))
    found = [(cause.title.partition(": ")[2], len(cause.results)) for cause in causes_of((run, one) for one in results)]
    assert found == [
        ("MKS2104 the guard after a buffer was written (N bytes)", 2),
        ("MKS2202 a signature error of a key is left over: bad_guard", 2),
        ("MKS2104 the guard before a buffer was written (N bytes)", 1),
        ("MKS2101 N of N bytes differ", 1),
        ("MKS2101 N of N bytes differ", 1),
    ]


def test_rows_in_which_nothing_was_written_are_one_cause(tmp_path: Path) -> None:
    """Also those that nothing else explains, and those that other near misses explain."""
    names = [["bytes.unchanged"], ["bytes.unchanged", "a"], ["bytes.unchanged", "a"], ["bytes.unchanged", "b"], ["c"]]
    run = run_of(tmp_path / "r", *(failed(n, looks_like=one) for n, one in enumerate(names)))
    found = causes_of((run, one) for one in results_of(run))
    assert [(cause.looks_like, len(cause.results)) for cause in found] == [(("bytes.unchanged",), 4), (("c",), 1)]


def test_reverse_refusals_stand_side_by_side(tmp_path: Path) -> None:
    """What is accepted, and must be refused, stands after what is refused in this way, and must be accepted."""
    refused = "`dek d` was rejected at create with EINVAL, and nothing claims it"
    accepted = "`dek e` was accepted, and should be rejected at create with EINVAL (rule dek_login)"
    other = "`configure k` was rejected at complete with EINVAL, and nothing claims it"
    rows = [
        *(("MKS2001", refused) for _ in range(3)),
        *(("MKS2001", other) for _ in range(2)),
        ("MKS2002", accepted),
    ]
    results = [Result(f"{FILE}::c[n={n}]", "failed", code=code, message=said) for n, (code, said) in enumerate(rows)]
    run = run_of(tmp_path / "r", *results)
    found = causes_of((run, one) for one in results)
    assert [len(cause.results) for cause in found] == [3, 1, 2]
    assert found[1].about[-1] == "the reverse of the cause above: accepted, and must be refused"


def test_every_row_has_one_cause(tmp_path: Path) -> None:
    results = [failed(n, looks_like=[f"a{n % 7}", f"b{n % 3}", "bytes.zero"]) for n in range(1, 43)]
    run = run_of(tmp_path / "r", *results)
    causes = causes_of((run, one) for one in results_of(run))
    ids = [result.id for cause in causes for result in cause.results]
    assert sorted(ids) == sorted(result.id for result in results)
    for cause in causes:
        assert all(set(cause.looks_like) <= set(result.looks_like) for result in cause.results)


def test_rows_that_are_blocked_come_after_what_has_blocked_them(tmp_path: Path) -> None:
    culprit = failed(1, "the device is not healthy")
    blocked = [
        Result(f"{FILE}::d[n={n}]", "blocked", code="MKS2008", message=f"since {culprit.id}", culprit=culprit.id)
        for n in range(9)
    ]
    others = [replace(failed(n, "5 bytes differ"), id=f"{FILE}::e[n={n}]") for n in range(3)]
    run = run_of(tmp_path / "r", culprit, *blocked, *others)
    found = causes_of((run, result) for result in results_of(run))
    assert [len(cause.results) for cause in found] == [3, 1, 9]
    assert found[1].results[0].id == culprit.id
