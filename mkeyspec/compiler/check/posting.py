"""Rules of where a request is posted: the QP's existence, type, operations, SGEs; and an atomic's address."""

from __future__ import annotations

from mkeyspec import plan
from mkeyspec.compiler.check.context import Context, count, place
from mkeyspec.diagnostics.diagnostic import Note
from mkeyspec.value.live import Int, is_known

DATAGRAM = 4096
"""The largest path MTU of IBTA's specification: a message of a UD QP is one packet."""


def check_posted(
    context: Context, request: plan.Wr | plan.Transmit | plan.Receive, *, data: bool = False, operation: int = 0
) -> None:
    qp = context.qp
    if not qp.created and qp.at is not None:
        context.broken(
            "not_created", f"the QP of {place(qp.at)} does not exist: its creation is claimed to be rejected", request
        )
    if operation and not qp.send_ops & operation:
        context.broken(
            "qp_operation_missing",
            "the QP was created without this operation",
            request,
            notes=() if qp.at is None else (Note(f"the QP is declared at {place(qp.at)}"),),
            help="add it to the QP's send_ops" if qp.at is not None else "a QP that has it: qp q { send_ops [ … ] }",
        )
    options = request.options
    if options.dct is not None and qp.type != "dci":
        context.broken(
            "dct_on_other_qp",
            f"only a DCI addresses a DCT, and this QP is of type {qp.type}",
            request,
            "dct",
            help=f"on a QP of type dci: qp {context.qp_name} {{ type dci }}",
        )
    if data and qp.type == "dci" and options.dct is None:
        context.broken("dc_address", "a request on a DCI QP needs the DCT it goes to", request, help="…, dct t")
    if options.stream is not None and data:
        _check_stream(context, request, options.stream)
    if options.solicited and not request.takes_receive():
        context.broken(
            "solicited_message",
            "a solicited event is for a message that takes a receive, and this one takes none",
            request,
            "solicited",
            help="leave `solicited` out, or add `imm` to a write",
        )


def _check_stream(context: Context, request: plan.Wr | plan.Transmit | plan.Receive, stream: int) -> None:
    """A DCI that was created with streams has those (mlx5dv_wr_post(3), mlx5dv_wr_set_dc_addr_stream). Their number is
    asked for as a logarithm, so a QP may have more than the case says."""
    qp = context.qp
    if qp.type != "dci" or not qp.streams:
        message = "a stream is named, and the QP was created without streams"
    elif stream >= qp.streams:
        message = f"stream {stream}, and the QP was created with {count(qp.streams, 'stream')}: 0 to {qp.streams - 1}"
    else:
        return
    refused = qp.type == "dci" and qp.streams and stream >= 1 << (qp.streams - 1).bit_length()
    context.broken(
        "dc_stream",
        message,
        request,
        "stream",
        notes=() if qp.at is None else (Note(f"the QP is declared at {place(qp.at)}"),),
        help=f"qp {context.qp_name} {{ type dci; streams {1 << stream.bit_length()} }}",
        reason="local_protection",
        phases=None if refused else (),
    )


def check_type(context: Context, request: plan.Wr | plan.Step, operation: str, length: Int = 0) -> None:
    """Whether QPs of the type have such a request at all, and a datagram can be so long."""
    kind = context.qp.type
    has = plan.QP_REQUESTS.get(kind)
    if has is None:
        return
    if not has:
        context.broken(
            "qp_type_operation",
            f"no data goes over this QP: {kind} has no other end that could take it",
            request,
            help="of such a QP only the creation, and `raw`, can be tried",
        )
    elif operation not in has:
        context.broken(
            "qp_type_operation",
            f"a QP of type {kind} has no `{operation}`",
            request,
            help="it has " + ", ".join(f"`{name}`" for name in sorted(has)),
        )
    elif kind == "ud" and is_known(length) and length > DATAGRAM:
        context.broken(
            "qp_type_operation",
            f"{count(length, 'byte')} are more than a datagram can have",
            request,
            help=f"{DATAGRAM} is the largest path MTU",
        )


def check_sges(context: Context, request: plan.Wr | plan.Step, pieces: int, most: int, member: str) -> None:
    """A driver may create a QP with more SGEs than requested, so neither success nor a refusal can be claimed."""
    if pieces > most:
        context.broken(
            "too_many_sges",
            f"{count(pieces, 'SGE')}, and the QP was made for {most}",
            request,
            notes=() if context.qp.at is None else (Note(f"the QP is declared at {place(context.qp.at)}"),),
            help=f"a QP of the case's own: qp {context.qp_name} {{ {member} {pieces} }}",
        )
