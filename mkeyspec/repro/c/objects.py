"""Objects in C: buffers, QPs, DEKs, logins."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mkeyspec import plan
from mkeyspec.abi.constants import DEK_STATE, LOGIN_STATE, Access, MkeyFlag, QpOps
from mkeyspec.repro import calls
from mkeyspec.repro.c.numbers import flags, number
from mkeyspec.run.buffer import GUARD

if TYPE_CHECKING:
    from mkeyspec.repro.c.language import C
    from mkeyspec.repro.program import Program

_TYPES = {
    "rc": "IBV_QPT_RC", "uc": "IBV_QPT_UC", "ud": "IBV_QPT_UD", "dci": "IBV_QPT_DRIVER", "xrc_send": "IBV_QPT_XRC_SEND",
    "raw_packet": "IBV_QPT_RAW_PACKET",
}  # fmt: skip


def memory(program: Program, language: C, call: calls.NewMemory) -> None:
    """A registered buffer with its guards, and its first bytes."""
    length = call.length - 2 * GUARD
    members = [f'.name = "{call.called}"', f".side = {call.side.upper()}", f".length = {length}"]
    members.append(f".access = {flags(call.access, Access)}")
    if call.misaligned:
        members.append(f".misaligned = {call.misaligned}")
    if call.pd is not None:
        members.append(f".pd = &{call.pd}")
    text = f"static struct buffer {call.name} = {{{', '.join(members)}}};"
    language.objects.append(text)
    program.do(f"make_buffer(&{call.name})")
    if call.data is not None and call.data.length:
        program.do(language.put(call.name, "0", language.data(call.data), call.data.length))


def mkey(program: Program, language: C, call: calls.NewMkey) -> None:
    """mlx5dv_create_mkey."""
    name = call.name
    language.objects += [f"static struct mlx5dv_mkey *{name};", f"static uint16_t {name}_entries;"]
    attr = f"{flags(call.flags, MkeyFlag)}, {number(call.entries)}, &{name}_entries"
    program.do(f"{name} = make_mkey({call.pd or f'pds[{call.side.upper()}]'}, {attr})")
    program.do(f"result = {name} ? 0 : errno")


def pair(program: Program, language: C, call: calls.NewPair) -> None:
    """Two QPs; `created` looks at the result."""
    a = call.attributes
    cap = [f".max_send_wr = {a.max_send_wr}", f".max_recv_wr = {a.max_recv_wr}", f".max_send_sge = {a.max_send_sge}"]
    cap += [f".max_recv_sge = {a.max_recv_sge}", f".max_inline_data = {a.max_inline_data}"]
    members = [f'.name = "{call.name}"', f".type = {_TYPES[a.type]}", f".cap = {{{', '.join(cap)}}}"]
    if a.send_ops:
        members.append(f".ops = {flags(a.send_ops, QpOps)}")
    create = [] if a.scatter_to_cqe else ["MLX5DV_QP_CREATE_DISABLE_SCATTER_TO_CQE"]
    create += ["MLX5DV_QP_CREATE_SIG_PIPELINING"] if a.sig_pipelining else []
    if create:
        members.append(f".create_flags = {' | '.join(create)}")
    if a.sq_sig_all:
        members.append(".sq_sig_all = 1")
    if a.streams:
        members.append(f".streams = {a.streams}")
    if call.pd is not None:
        members += [f".pd = &{call.pd}", f".pd_side = {call.pd_side.upper()}"]
    language.objects.append(f"static struct pair {call.name} = {{")
    language.objects += [f"\t{member}," for member in members] + ["};"]
    if a.type == "dci":
        program.do("make_targets()")
    program.do(f"result = make_pair(&{call.name})")


def dek(program: Program, language: C, call: calls.NewDek) -> None:
    """mlx5dv_dek_create."""
    attr, key = call.attr, call.key + (call.keytag or b"")
    size = len(call.key) // 64 if attr.key_size is None else attr.key_size
    members = [f".key_size = {number(size)}", f".key_purpose = {number(attr.key_purpose)}"]
    members.append(f".has_keytag = {'true' if attr.has_keytag or call.keytag is not None else 'false'}")
    members.append(f".pd = {call.pd or 'pds[OWNER]'}")
    if attr.comp_mask:
        text = "MLX5DV_DEK_INIT_ATTR_CRYPTO_LOGIN" if attr.comp_mask == 1 else number(attr.comp_mask)
        members.append(f".comp_mask = {text}")
    if call.login is not None:
        members.append(f".crypto_login = {call.login}")
    language.objects.append(f"static struct mlx5dv_dek *{call.name};")
    opaque, text = language.tables.table(attr.opaque[:8].ljust(8, b"\0")), language.tables.table(key)
    program.do(
        f"{call.name} = make_dek((struct mlx5dv_dek_init_attr){{{', '.join(members)}}}, {opaque}, {text}, {len(key)})"
    )
    program.do(f"result = {call.name} ? 0 : errno")


def queried(language: C, step: plan.Query) -> list[str]:
    """What mlx5dv_dek_query must tell."""
    line = step.at.line
    states = " || ".join(f"dek_told.state == MLX5DV_DEK_{one.upper()}" for one in step.state if one in DEK_STATE)
    found = [language.expect(line, states or "false", " or ".join(step.state), "dek_told.state")]
    if step.opaque is not None:
        table = language.table(step.opaque.data)
        found.append(language.expect(line, f"!memcmp(dek_told.opaque, {table}, 8)", "the opaque bytes", "0"))
    return found


def login(program: Program, language: C, call: calls.NewLogin) -> None:
    """mlx5dv_crypto_login, or a login object."""
    attr, table = call.attr, language.tables.table(call.attr.credential)
    ids = f".credential_id = {number(attr.credential_id)}, .import_kek_id = {number(attr.import_kek_id)}"
    mask = f", .comp_mask = {number(attr.comp_mask)}" if attr.comp_mask else ""
    if call.name is None:
        program.do(f"result = log_in((struct mlx5dv_crypto_login_attr){{{ids}{mask}}}, {table})")
        return
    language.objects.append(f"static struct mlx5dv_crypto_login_obj *{call.name};")
    more = f".credential = {table}, .credential_len = {len(attr.credential)}"
    given = f"&(struct mlx5dv_crypto_login_attr_ex){{{ids}, {more}{mask}}}"
    program.do(f"{call.name} = mlx5dv_crypto_login_create(device, {given})")
    program.do(f"result = {call.name} ? 0 : errno")


def login_state(program: Program, name: str | None, step: plan.LoginState) -> str:
    """What the query of a login must tell."""
    program.do("login_told = (struct mlx5dv_crypto_login_query_attr){0}")
    if name is None:
        program.do("result = mlx5dv_crypto_login_query_state(device, &login_told.state)")
    else:
        program.do(f"result = mlx5dv_crypto_login_query({name}, &login_told)")
    names = [f"MLX5DV_CRYPTO_LOGIN_{one.upper()}" for one in step.state if one in LOGIN_STATE]
    return " || ".join(f"login_told.state == {one}" for one in names) or "false"
