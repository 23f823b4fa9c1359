"""QPs of other services, and which operations each has."""

from __future__ import annotations

from mkeyspec.generate.case import Case

UC = {"tx": ("send", "send_imm", "write", "write_imm"), "rx": ("recv", "peer_write", "peer_write_imm")}
DCI = {"tx": ("send", "send_imm", "write", "write_imm"), "rx": ("read",)}
"""ibv_wr_post(3): UC has no READ; a DCI receives nothing, and a peer has no requests on it."""


def service(case: Case, ways: list[str], tx: bool) -> tuple[list[str], str, str]:
    """Ways, what follows them, and modifiers: mostly of the default QP, now and then of a QP of another service."""
    rng = case.rng
    kind = rng.choices(("default", "uc", "dci", "rc"), (8, 1, 1, 1))[0]
    side = "tx" if tx else "rx"
    has = {"uc": UC[side], "dci": DCI[side]}.get(kind, tuple(ways))
    if kind == "default" or not set(ways) & set(has):
        return ways, "", ""
    case.script.draws(f"service: {kind}", "CFG-19" if kind == "rc" else "WRP-33" if kind == "dci" else "WRP-05")
    if kind == "rc":
        return ways, f" on {case.one('other', 'qp {}')}", ""
    if kind == "uc":
        qp = case.one("by_uc", "qp {} {{ type uc; send_ops [] }}")
        return [way for way in ways if way in has], f" on {qp}", ""
    qp = case.one("by_dci", "qp {} {{ type dci; send_ops [] }}")
    target = case.one("target", "dct {} {{ key 0x1122334455667788 }}")
    return [way for way in ways if way in has], f" on {qp}", f", dct {target}"
