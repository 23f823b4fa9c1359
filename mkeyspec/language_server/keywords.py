"""What the words of the structure mean: reserved words, and those that begin lines of a head.

A row is (form, meaning). Which words there are is settled by the grammar and by the tables of statements: a test
compares them.
"""

from __future__ import annotations

KEYWORDS: dict[str, tuple[str, str]] = {
    "mks": ("mks 1", "the edition of the language; the first line of each file"),
    "suite": ('suite "title"', "the title of the file"),
    "use": ('use "common.mks"', "takes the `let`s of another file"),
    "setup": (
        "setup signed_key { … }",
        "lines that several cases begin with; in a case, `setup signed_key` stands for them",
    ),
    "case": ("case some_name", "a test; it goes to the next `case` or the end of the file"),
    "verifies": (
        "verifies CFG-07, LST-01",
        "the requirements that a case is for; `mkeyspec explain CFG-07` prints one",
    ),
    "needs": (
        "needs memcpy, device.max_wr_memcpy_length >= 1M",
        "what the device must offer; else the case is skipped",
    ),
    "allow": ("allow MKS0602", "hides a warning in a case, or before the cases in the whole file"),
    "isolated": ("isolated", "a case that shares no QP with other cases"),
    "covering": ("covering 2", "keeps as many rows as each pair of values of two `for`s needs; 3: each triple"),
    "tags": ("tags slow, regression", "words of the author; `--tag slow` runs the cases that have one"),
    "level": ("level recommended", "mandatory, recommended or optional: whether a failure of the case fails the run"),
    "let": ("let n = 512, or let f(x) = x + 1", "names a value, or a function"),
    "for": (
        "for n in 1, 2, or for n in 0..4",
        "a parameter of the case: each of its values makes a row, which is a test",
    ),
    "where": ("where n != 2 and op == send", "leaves out the rows for which it does not hold"),
    "if": ("if n == 2 { … } else { … }", "lines for some rows; decided before the case runs"),
    "else": (
        "if n == 2 { … } else { … }, or else if",
        "the lines of the rows for which the condition of `if` does not hold",
    ),
    "expect": ("expect wire == counter(512)", "compares what the device says, on the left, with what must be there"),
    "peer": ("peer send m, or peer memory w[64]", "the statement is carried out at the other end of the QP"),
    "accepted": (
        "accepted or rejected at complete",
        ("the pages leave open whether the statement succeeds; or, after `when`, the label of a statement that did"),
    ),
    "rejected": (
        "rejected at complete with EINVAL when n == 1",
        (
            "a claim: the statement must be refused at this phase; the reason may be left out where one rule "
            "alone is broken"
        ),
    ),
    "completes": (
        "completes { rdma_write, id 5 }, or completes in any order { … }",
        "a claim: exactly these completions",
    ),
    "known": (
        "known X-DIFF-08 rejected at complete with EINVAL",
        "how a driver is known to depart from the page that the case states",
    ),
    "when": (
        "rejected at complete when n == 1, or expect w == m when accepted t",
        "limits a claim to some rows, or an `expect` or `check` to one outcome of a labelled statement",
    ),
    "every": (
        "crc32(ones) every 512",
        "a domain: a signature, and the bytes of a block (512, 520, 4048, 4096 or 4160)",
    ),
    "but": (
        "crc32(ones) every 512 but block_size 5",
        (
            "sets one member of the struct to a number, whatever the pages allow; after a comma, of a "
            "statement: configure k, but comp_mask 1 { … }"
        ),
    ),
    "and": ("where n > 1 and op == send", "both hold; binds tighter than `or`"),
    "or": (
        "where n > 1 or op == send; accepted or rejected at complete",
        "one of them holds; between outcomes of a claim: one of them comes",
    ),
    "not": ("where not long; needs not memcpy; n not in [1, 2]", "the contrary; of a need: the device must lack it"),
    "in": (
        "for n in 1, 2; n in [1, 2]; expect wire in [a, b]",
        "the values of a `for`; or whether a value is one of a list or within a range",
    ),
    "by": ("transmit k by send", "the operation that moves the data"),
    "into": ("receive counter(64) into k by recv", "where the bytes go"),
    "to": ("write m to w", "the destination, at the other end"),
    "from": ("read m from w", "the source, at the other end; the parts of mr_list and mr_interleaved"),
    "on": ("transmit k by send on q", "the QP of the statement; without it the default one"),
    "as": ("transmit k by send as t", "names the statement, so that `t.wire` and `t.status` can be read"),
    "is": ("check k is bad_guard, block 2", "the answer that is expected"),
}

INSIDE: dict[str, tuple[str, str]] = {
    "at": (
        "rejected at complete",
        ("the phase of a refusal: create, complete, completion, mkey_check, cancel, destroy, query, login or logout"),
    ),
    "with": ("rejected at completion with local_protection", "an errno, a completion status or a class of them"),
    "count": ("interleaved(2, a count 512 skip 4)", "the bytes that are taken of a part"),
    "skip": ("interleaved(2, a count 512 skip 4)", "the bytes between two turns of a part"),
    "create": ("rejected at create", "the phase: the call that creates the object fails"),
    "complete": ("rejected at complete", "the phase: ibv_wr_complete fails, and no request of the section is posted"),
    "completion": ("rejected at completion", "the phase: a completion with an error comes"),
    "mkey_check": (
        "rejected at mkey_check",
        "the phase: mlx5dv_mkey_check fails; a signature error that it reports is `check k is bad_guard`",
    ),
}
"""Words that have a meaning in their place alone, and no table of their own."""


def about_keyword(word: str) -> tuple[str, str] | None:
    """The form and the meaning of a word of the structure; None of any other word."""
    return KEYWORDS.get(word) or INSIDE.get(word)
