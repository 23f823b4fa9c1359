"""Objects in C: buffers, QPs, DEKs, logins."""

from __future__ import annotations

from mkeyspec import plan
from mkeyspec.abi.constants import DEK_STATE, LOGIN_STATE, Access, QpOps
from mkeyspec.repro import calls
from mkeyspec.repro.c_program import Program
from mkeyspec.repro.numbers import flags, number
from mkeyspec.run.buffer import GUARD

_TYPES = {
    "rc": "IBV_QPT_RC", "uc": "IBV_QPT_UC", "ud": "IBV_QPT_UD", "dci": "IBV_QPT_DRIVER", "xrc_send": "IBV_QPT_XRC_SEND",
    "raw_packet": "IBV_QPT_RAW_PACKET",
}  # fmt: skip


def memory(program: Program, call: calls.NewMemory) -> None:
    """A registered buffer with its guards, and its first bytes."""
    length = call.length - 2 * GUARD
    members = [f'.name = "{call.called}"', f".side = {call.side.upper()}", f".length = {length}"]
    members.append(f".access = {flags(call.access, Access)}")
    if call.misaligned:
        members.append(f".misaligned = {call.misaligned}")
    if call.pd is not None:
        members.append(f".pd = &{call.pd}")
    text = f"static struct buffer {call.name} = {{{', '.join(members)}}};"
    program.objects.append(text)
    program.buffers.append(call.name)
    program.line(f"make_buffer(&{call.name});")
    if call.data is not None and call.data.length:
        program.line(f"put(&{call.name}, 0, {program.tables.pointer(call.data)}, {call.data.length});")


def pair(program: Program, call: calls.NewPair) -> None:
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
    program.objects.append(f"static struct pair {call.name} = {{")
    program.objects += [f"\t{member}," for member in members] + ["};"]
    program.pairs[call.name] = a.type
    if a.type == "dci":
        program.line("make_targets();")


def dek(program: Program, call: calls.NewDek) -> None:
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
    program.objects.append(f"static struct mlx5dv_dek *{call.name};")
    opaque, text = program.tables.table(attr.opaque[:8].ljust(8, b"\0")), program.tables.table(key)
    program.line(
        f"{call.name} = make_dek((struct mlx5dv_dek_init_attr){{{', '.join(members)}}}, {opaque}, {text}, {len(key)});"
    )
    program.line(f"result = {call.name} ? 0 : errno;")


def query(program: Program, name: str, step: plan.Query, line: int) -> None:
    """mlx5dv_dek_query, and what it must tell."""
    program.line("dek_told = (struct mlx5dv_dek_attr){0};")
    program.line(f"result = mlx5dv_dek_query({name}, &dek_told);")
    program.note(step.label)
    program.line(f"if ({program.result(line, 'mlx5dv_dek_query', step.claim, step.known, 'query')}) {{")
    states = " || ".join(f"dek_told.state == MLX5DV_DEK_{one.upper()}" for one in step.state if one in DEK_STATE)
    program.line(f'\texpect({line}, {states or "false"}, "{" or ".join(step.state)}", dek_told.state);')
    if step.opaque is not None:
        table = program.tables.table(step.opaque.data)
        program.line(f'\texpect({line}, !memcmp(dek_told.opaque, {table}, 8), "the opaque bytes", 0);')
    program.line("}")


def login(program: Program, call: calls.NewLogin) -> None:
    """mlx5dv_crypto_login, or a login object."""
    attr, table = call.attr, program.tables.table(call.attr.credential)
    ids = f".credential_id = {number(attr.credential_id)}, .import_kek_id = {number(attr.import_kek_id)}"
    mask = f", .comp_mask = {number(attr.comp_mask)}" if attr.comp_mask else ""
    if call.name is None:
        program.line(f"result = log_in((struct mlx5dv_crypto_login_attr){{{ids}{mask}}}, {table});")
        return
    program.objects.append(f"static struct mlx5dv_crypto_login_obj *{call.name};")
    more = f".credential = {table}, .credential_len = {len(attr.credential)}"
    given = f"&(struct mlx5dv_crypto_login_attr_ex){{{ids}, {more}{mask}}}"
    program.line(f"{call.name} = mlx5dv_crypto_login_create(device, {given});")
    program.line(f"result = {call.name} ? 0 : errno;")


def login_state(program: Program, name: str | None, step: plan.LoginState, line: int) -> None:
    """What the query of a login must tell."""
    program.line("login_told = (struct mlx5dv_crypto_login_query_attr){0};")
    if name is None:
        program.line("result = mlx5dv_crypto_login_query_state(device, &login_told.state);")
    else:
        program.line(f"result = mlx5dv_crypto_login_query({name}, &login_told);")
    program.note(step.label)
    program.line(f"if ({program.result(line, 'the query of the login', step.claim, step.known, 'query')})")
    names = [f"MLX5DV_CRYPTO_LOGIN_{one.upper()}" for one in step.state if one in LOGIN_STATE]
    states = " || ".join(f"login_told.state == {one}" for one in names)
    program.line(f'\texpect({line}, {states or "false"}, "{" or ".join(step.state)}", login_told.state);')
