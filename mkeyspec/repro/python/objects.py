"""Objects in Python: buffers, mkeys, QPs, DEKs, logins."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mkeyspec import plan
from mkeyspec.abi.constants import DEK_STATE, LOGIN_STATE, Access, MkeyFlag, QpOps
from mkeyspec.repro import calls
from mkeyspec.repro.python.numbers import flags, number
from mkeyspec.run.buffer import GUARD

if TYPE_CHECKING:
    from mkeyspec.repro.program import Program
    from mkeyspec.repro.python.language import Python

_TYPES = {
    "rc": "IBV_QPT_RC", "uc": "IBV_QPT_UC", "ud": "IBV_QPT_UD", "dci": "IBV_QPT_DRIVER", "xrc_send": "IBV_QPT_XRC_SEND",
    "raw_packet": "IBV_QPT_RAW_PACKET",
}  # fmt: skip


def memory(program: Program, language: Python, call: calls.NewMemory) -> None:
    """A registered buffer with its guards, and its first bytes."""
    pd, length = call.pd or f"pds[{call.side.upper()}]", call.length - 2 * GUARD
    more = f", {call.misaligned}" if call.misaligned else ""
    access = flags(call.access, Access)
    program.do(f"{call.name} = Buffer({language.string(call.called)}, {pd}, {length}, {access}{more})")
    if call.data is not None and call.data.length:
        program.do(language.put(call.name, "0", language.data(call.data), call.data.length))


def mkey(program: Program, call: calls.NewMkey) -> None:
    """mlx5dv_create_mkey."""
    pd = call.pd or f"pds[{call.side.upper()}]"
    program.do(f"{call.name}, result = attempt(Mlx5Mkey, {pd}, {flags(call.flags, MkeyFlag)}, {number(call.entries)})")


def pair(program: Program, call: calls.NewPair) -> None:
    """Two QPs; `created` looks at the result."""
    a = call.attributes
    cap = f"({a.max_send_wr}, {a.max_recv_wr}, {a.max_send_sge}, {a.max_recv_sge}, {a.max_inline_data})"
    program.line(f"{call.name} = Pair(")
    members = [f'"{call.name}", {_TYPES[a.type]}, {cap}']
    if a.send_ops:
        members.append(f"ops={flags(a.send_ops, QpOps)}")
    create = [] if a.scatter_to_cqe else ["MLX5DV_QP_CREATE_DISABLE_SCATTER_TO_CQE"]
    create += ["MLX5DV_QP_CREATE_SIG_PIPELINING"] if a.sig_pipelining else []
    if create:
        members.append(f"create_flags={' | '.join(create)}")
    if a.sq_sig_all:
        members.append("sq_sig_all=1")
    if a.streams:
        members.append(f"streams={a.streams}")
    if call.pd is not None:
        pds = [call.pd if side == call.pd_side else f"pds[{side.upper()}]" for side in ("owner", "peer")]
        members.append(f"in_pds=[{', '.join(pds)}]")
    for member in members:
        program.line(f"    {member},")
    program.line(")")
    if a.type == "dci":
        program.do("make_targets()")
    program.do(f"result = attempt(make_pair, {call.name})[1]")


def dek(program: Program, language: Python, call: calls.NewDek) -> None:
    """mlx5dv_dek_create."""
    attr, key = call.attr, call.key + (call.keytag or b"")
    size = len(call.key) // 64 if attr.key_size is None else attr.key_size
    keytag = attr.has_keytag or call.keytag is not None
    program.line("attr = Mlx5DEKInitAttr(")
    program.line(f"    {call.pd or 'pds[OWNER]'}, {number(size)}, {keytag}, {number(attr.key_purpose)},")
    opaque = language.table(attr.opaque[:8].ljust(8, b"\0"))
    program.line(f'    {opaque}, {language.table(key)}.ljust(128, b"\\0"), {number(attr.comp_mask)},')
    if call.login is not None:
        program.line(f"    crypto_login={call.login},")
    program.line(")")
    program.do(f"{call.name}, result = attempt(Mlx5DEK, device, attr)")


def queried(language: Python, step: plan.Query) -> list[str]:
    """What mlx5dv_dek_query must tell."""
    line = step.at.line
    states = [f"dek_told.state == MLX5DV_DEK_{one.upper()}" for one in step.state if one in DEK_STATE]
    found = [language.expect(line, " or ".join(states) or "False", " or ".join(step.state), "dek_told.state")]
    if step.opaque is not None:
        data = step.opaque.data
        if data.rstrip(b"\0") != data.partition(b"\0")[0]:
            raise language.lacks("the opaque bytes after the first 0: Mlx5DEKAttr.opaque ends there")
        shown = language.table(data.rstrip(b"\0"))
        found.append(language.expect(line, f"dek_told.opaque == {shown}", "the opaque bytes", "0"))
    return found


def login(program: Program, language: Python, call: calls.NewLogin) -> None:
    """mlx5dv_crypto_login, or a login object."""
    attr, table = call.attr, language.table(call.attr.credential)
    if attr.comp_mask:
        raise language.lacks("comp_mask of a login")
    ids = f"{number(attr.credential_id)}, {number(attr.import_kek_id)}"
    if call.name is None:
        program.do(f"attr = Mlx5CryptoLoginAttr({table}, {ids})")
        program.do("result = attempt(Mlx5Context.crypto_login, device, attr)[1]")
        return
    program.do(f"attr = Mlx5CryptoExtLoginAttr({table}, {len(attr.credential)}, {ids})")
    program.do(f"{call.name}, result = attempt(Mlx5CryptoLogin, device, attr)")


def login_states(step: plan.LoginState) -> str:
    """The condition that a session has one of the states of the step."""
    names = [f"MLX5DV_CRYPTO_LOGIN_{one.upper()}" for one in step.state if one in LOGIN_STATE]
    return " or ".join(f"login_told == {one}" for one in names) or "False"
