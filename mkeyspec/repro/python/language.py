"""What Python says: calls of pyverbs, which raise where C returns an errno, and bytes by value."""

from __future__ import annotations

import errno
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from mkeyspec import plan
from mkeyspec.repro import calls, claims
from mkeyspec.repro.language import Language, Member, Piece, Statuses, Wanted
from mkeyspec.repro.python import numbers, objects
from mkeyspec.repro.python.frame import needs_of, query_of, untold, whole
from mkeyspec.repro.python.requests import Section, sges
from mkeyspec.repro.python.tables import Tables
from mkeyspec.repro.trace import Unsayable
from mkeyspec.value.bytestring import ByteString
from mkeyspec.value.live import ENCODINGS, LiveBytes, LiveContent, LiveString, pieces_of

if TYPE_CHECKING:
    from mkeyspec.repro.program import Program

_KINDS = {
    "ok": "MLX5DV_MKEY_NO_ERR",
    "bad_guard": "MLX5DV_MKEY_SIG_BLOCK_BAD_GUARD",
    "bad_reftag": "MLX5DV_MKEY_SIG_BLOCK_BAD_REFTAG",
    "bad_apptag": "MLX5DV_MKEY_SIG_BLOCK_BAD_APPTAG",
}
_START = (
    "device, events_fd = open_device(sys.argv[1] if len(sys.argv) > 1 else None)",
    "port_number, port_attr, port_route = open_port()",
    "pds = [PD(device), PD(device)]  # of the owner, and of the peer",
)
_ASKED = {"device_attr": "device.query_device()", "dv_attr": "device.query_mlx5_device()"}
_FIRST = ((r"errno_of_\w+|cancelled_\d+", "0"), (r"accepted_\d+", "False"), (r"wc_\d+|taken_\d+", "None"))
"""Variables that a branch may set, and what they are before."""


class Lacking(Unsayable):
    """What pyverbs lacks, and libmlx5 has."""


class Python(Language):
    """Python 3.9 and later, over pyverbs of rdma-core 39 and later."""

    name, indent, depth, end, of = "Python", "    ", 0, "", "."
    either, both = " or ", " and "
    closing, other = "", "else:"
    pause = "time.sleep(0.005)"
    cancel_errno, cancel_result = "max(-result, 0)", "min(result, 0)"
    login_told = "login_told"

    def __init__(self, program: Program) -> None:
        self._program = program
        self.tables = Tables()
        self.snapshots: dict[str, str] = {}
        self._lives = 0
        for name in plan.lacked(program.subject.row.needs):
            if untold(name):
                raise Lacking(program.subject.case.at, f"a getter for the signature capabilities: {name}")

    def lacks(self, what: str) -> Lacking:
        """The refusal of the statement that is being written."""
        return Lacking(self._program.at, what)

    # Lines -----------------------------------------------------------------------------------

    def comment(self, text: str) -> str:
        return f"# {text}"

    def opening(self, condition: str, *, short: bool) -> str:
        return f"if {condition}:" if condition else ":"

    # Expressions -----------------------------------------------------------------------------

    def boolean(self, value: bool) -> str:
        return str(value)

    def negated(self, condition: str) -> str:
        return f"not {condition}"

    def place(self, name: str) -> str:
        return name

    def string(self, text: str) -> str:
        return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'

    def number(self, value: int) -> str:
        return numbers.number(value)

    def device_number(self, name: str) -> str:
        return numbers.device_number(name)

    def query_of(self, name: str) -> str:
        return query_of(name)

    def opcode(self, name: str) -> str:
        return numbers.opcode(name)

    def status(self, name: str) -> str:
        return f"IBV_WC_{name.upper()}"

    def errno(self, number: int) -> str:
        return self.errno_named(errno.errorcode[number]) if number in errno.errorcode else str(number)

    def errno_named(self, name: str) -> str:
        return f"errno.{name}"

    def event(self, name: str) -> str:
        return f"IBV_EVENT_{name.upper()}"

    def result_is(self, line: int, call: str, value: str, *, may_succeed: bool, errnos: Sequence[int]) -> str:
        errors = ", ".join("-1" if one == claims.ANY else self.errno(one) for one in errnos)
        more = f", [{errors}]" if errnos else ""
        return f'result_is({line}, "{call}", {value}, {may_succeed}{more})'

    def completes(self, line: int, queue: str, members: Sequence[Member]) -> str:
        texts = [f"{value}" if name == "id" else f"{name}={_value(value)}" for name, value in members]
        return f"completes({line}, {queue}, {', '.join(texts)})"

    def took(self, number: int) -> str:
        return f"wc_{number} = last_wc"

    def expect(self, line: int, condition: str, what: str, got: str) -> str:
        return f"expect({line}, {condition}, {self.string(what)}, {got})"

    def compared(self, got: str, operator: str, expected: str) -> str:
        return f"{got} {operator} {expected}"

    # Bytes -----------------------------------------------------------------------------------

    def data(self, value: ByteString) -> str:
        return self.tables.data(value)

    def table(self, data: bytes) -> str:
        return self.tables.table(data)

    def live(self, data: LiveString) -> tuple[str, list[str]]:
        self._lives += 1
        name = f"live_{self._lives}"
        return name, [f"{name} = {self.joined(data)}"]

    def joined(self, data: ByteString | LiveString) -> str:
        """Bytes of which some are of the device, as an expression."""
        pieces = () if isinstance(data, ByteString) else pieces_of(data)
        return " + ".join(self._part(piece) for piece in pieces) or 'b""'

    def _part(self, piece: ByteString | LiveBytes | LiveContent) -> str:
        match piece:
            case LiveBytes(encoding, value):
                value = self._program.trace.state.evaluate(value)
                return f'encoded({self.number(value)}, {ENCODINGS[encoding]}, "{numbers.order(encoding)}")'
            case LiveContent(name, length, start):
                return f"{self.snapshots[name]}[{start} : {start + length}]"
            case _:
                return self.tables.data(piece)

    def snapshot(self, name: str, pieces: Sequence[Piece]) -> list[str]:
        to = self.snapshots[name] = f"taken_{len(self.snapshots) + 1}"
        return [f"{to} = {' + '.join(f'{one.name}.got({one.start}, {one.length})' for one in pieces)}"]

    def put(self, name: str, start: str, data: str, length: int) -> str:
        return f"{name}.put({start}, {data})"

    def check(self, line: int, one: Piece, wanted: Wanted) -> str:
        if not wanted.data:
            return f"check_kept({line}, {one.name}, {one.start}, {one.length})"
        return f"check({line}, {one.name}, {one.start}, {_of(wanted, one)})"

    def holds(self, one: Piece, wanted: Wanted) -> str:
        if not wanted.data:
            return f"is_kept({one.name}, {one.start}, {one.length})"
        return f"is_there({one.name}, {one.start}, {_of(wanted, one)})"

    # Objects and their calls ------------------------------------------------------------------

    def pd(self, call: calls.NewPd) -> None:
        self._program.do(f"{call.name} = PD(device)")

    def memory(self, call: calls.NewMemory) -> None:
        objects.memory(self._program, self, call)

    def mkey(self, call: calls.NewMkey) -> None:
        objects.mkey(self._program, call)

    def pair(self, call: calls.NewPair) -> None:
        objects.pair(self._program, call)

    def dct(self, call: calls.NewDct) -> None:
        self._program.do(f"{call.name} = make_dct({self.number(call.key)})")

    def dek(self, call: calls.NewDek) -> None:
        objects.dek(self._program, self, call)

    def login(self, call: calls.NewLogin) -> None:
        objects.login(self._program, self, call)

    def query(self, name: str, step: plan.Query) -> None:
        self._program.do(f"dek_told, result = attempt({name}.query)")

    def queried(self, step: plan.Query) -> list[str]:
        return objects.queried(self, step)

    def login_state(self, name: str | None, step: plan.LoginState) -> str:
        if name is not None:
            raise self.lacks("the state that mlx5dv_crypto_login_query tells: Mlx5CryptoLogin.query drops it")
        self._program.do("login_told, result = attempt(Mlx5Context.query_login_state, device)")
        return objects.login_states(step)

    def destroyed(self, call: calls.OfDek | calls.OfLogin | calls.DestroyMkey) -> str:
        if call.name is None:
            return "attempt(Mlx5Context.crypto_logout, device)[1]"
        return f"attempt({call.name}.close)[1]"

    def set_tag(self, name: str, tag: int) -> None:
        raise self.lacks("a way to set the tag of an mkey: lkey and rkey of Mlx5Mkey are read only")

    def cancel(self, call: calls.CancelWr, wr_id: str) -> None:
        self._program.do(f"result = cancel({call.pair}.owner.qp, {wr_id})")

    def cancelled(self, variable: str) -> str:
        return f"{variable} = result"

    def resume(self, pair: str) -> None:
        self._program.do("attr = QPAttr(qp_state=IBV_QPS_RTS, cur_qp_state=IBV_QPS_SQD)")
        self._program.do(f"result = attempt({pair}.owner.qp.modify, attr, IBV_QP_STATE | IBV_QP_CUR_STATE)[1]")

    def ask(self, name: str) -> None:
        self._program.do(f"told, result = attempt({name}.mkey_check)")

    def record(self, kind: str, members: Sequence[tuple[str, int]]) -> str:
        texts = [f"type={_KINDS[kind]}", *(f"{name}={self.number(value)}" for name, value in members)]
        return ", ".join(texts)

    def is_record(self, record: str) -> str:
        return f"is_record(told, {record})"

    def check_record(self, line: int, name: str, records: Sequence[str]) -> str:
        return f'check_record({line}, "{name}", told, {", ".join(f"dict({one})" for one in records)})'

    # Work ------------------------------------------------------------------------------------

    def post(self, call: calls.Post, step: plan.Post | None) -> None:
        given = () if step is None else step.requests
        raw = [self.joined(one.wqe) if _is_live(one) else "" for one in given if isinstance(one, plan.RawWqe)]
        for text in Section(self._program, self, call, raw).lines():
            self._program.line(text)

    def post_recv(self, line: int, end: str, call: calls.PostRecv) -> str:
        return f"post_recv({line}, {end}, {self._program.wr_id(call.wr_id)}, {sges(call.sges)})"

    # The whole -------------------------------------------------------------------------------

    def departed(self, line: int, known: str) -> str:
        return f'print(f"KNOWN {{CASE_FILE}}:{line}: {known}")'

    def finish(self) -> Iterator[str]:
        yield 'stop(PASSED, "FAILED" if failures else "PASSED")'

    def whole(self, program: Program, cut: str) -> str:
        body, needs = _filled(program.lines()), needs_of(program.subject.row.needs)
        text = "\n".join([*body, *needs])
        asked = [f"{name} = {how}" for name, how in _ASKED.items() if re.search(rf"\b{name}\b", text)]
        return whole(program.subject, cut, [*_START, *asked, *needs, *self.tables.declared, *_first(body), *body])


def _value(value: object) -> str:
    match value:
        case Statuses(_, True):
            return "ANY_ERROR"
        case Statuses(names):
            return f"[{', '.join(f'IBV_WC_{one.upper()}' for one in names)}]"
        case list():
            return f"[{', '.join(value)}]"
        case _:
            return str(value)


def _is_live(request: plan.RawWqe) -> bool:
    return any(not isinstance(piece, ByteString) for piece in pieces_of(request.wqe))


def _of(wanted: Wanted, one: Piece) -> str:
    """The bytes and the mask of a piece, as arguments."""
    texts = [wanted.data, wanted.mask] if wanted.mask else [wanted.data]
    if one.length != wanted.length:
        texts = [f"({text})[{one.at} : {one.at + one.length}]" for text in texts]
    return ", ".join(texts)


def _first(body: Sequence[str]) -> list[str]:
    """The variables that are set in a branch, before it."""
    names = sorted({found[1] for line in body if (found := re.match(r" +(\w+) = ", line))})
    return [f"{name} = {value}" for kind, value in _FIRST for name in names if re.fullmatch(kind, name)]


def _filled(body: Sequence[str]) -> list[str]:
    """The lines; a branch without any has one that does nothing."""
    found: list[str] = []
    for line, after in zip(body, [*body[1:], ""], strict=True):
        found.append(line)
        depth = len(line) - len(line.lstrip())
        if line.endswith(":") and not line.lstrip().startswith("#") and len(after) - len(after.lstrip()) <= depth:
            found.append(" " * (depth + 4) + "pass")
    return found
