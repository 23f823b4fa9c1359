"""How the names are declared that a statement takes: the help for a name that is not."""

from __future__ import annotations

A_VALUE = "let NAME = …"
A_FUNCTION = "let NAME(x) = …; the functions of the language are in docs/functions.md"
_MKEY, _OF_PEER, _OF_OWNER = "mkey NAME", "peer memory NAME[512]", "memory NAME[512]"
OBSERVED = "memory NAME[512], or `as NAME` after a statement to label it"
DECLARED_BY = {
    **dict.fromkeys([(verb, "") for verb in ("configure", "transmit", "check", "retag", "destroy", "mr_list")], _MKEY),
    ("mr_interleaved", ""): _MKEY,
    ("receive", "into"): _MKEY,
    **dict.fromkeys([("write", "to"), ("read", "from"), ("fetch_add", "from"), ("compare_swap", "from")], _OF_PEER),
    **dict.fromkeys([(verb, "") for verb in ("send", "write", "recv", "store", "memcpy")], _OF_OWNER),
    ("memcpy", "to"): _OF_OWNER,
    **dict.fromkeys([("mem", ""), ("wire", "")], "let NAME = crc32(ones) every 512"),
    ("dek", ""): "dek NAME { key random(32, seed=1) }",
    ("layout", ""): _OF_OWNER,
    ("access", ""): "let NAME = local_write | remote_read",
    ("", "pd"): "pd NAME",
    ("pd", ""): "pd NAME",
    ("", "dct"): "dct NAME { key 1 }",
    **dict.fromkeys(
        [(verb, "on") for verb in ("transmit", "receive", "configure", "send", "write", "read", "recv", "post")],
        "qp NAME",
    ),
}
"""How a name is declared that a verb takes (""), that follows a preposition, or that a modifier takes."""
