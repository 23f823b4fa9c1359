"""What C says: conditions, calls, structs, and bytes by pointer."""

from __future__ import annotations

import errno
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from mkeyspec import plan
from mkeyspec.repro import calls, claims
from mkeyspec.repro.c import numbers, objects, posts
from mkeyspec.repro.c.frame import needs_of, query_of, whole
from mkeyspec.repro.c.requests import Requests, sges
from mkeyspec.repro.c.tables import Tables
from mkeyspec.repro.language import Language, Member, Piece, Statuses, Wanted
from mkeyspec.value.bytestring import ByteString
from mkeyspec.value.live import ENCODINGS, LiveBytes, LiveContent, LiveString, pieces_of

if TYPE_CHECKING:
    from mkeyspec.repro.program import Program

_CANCEL = "mlx5dv_qp_cancel_posted_send_wrs"
_RTS = ".qp_state = IBV_QPS_RTS, .cur_qp_state = IBV_QPS_SQD"
_KINDS = {
    "ok": "MLX5DV_MKEY_NO_ERR",
    "bad_guard": "MLX5DV_MKEY_SIG_BLOCK_BAD_GUARD",
    "bad_reftag": "MLX5DV_MKEY_SIG_BLOCK_BAD_REFTAG",
    "bad_apptag": "MLX5DV_MKEY_SIG_BLOCK_BAD_APPTAG",
}
_SET = (
    (r"wc_\d+", "struct ibv_wc "),
    (r"errno_of_\w+", "int "),
    (r"accepted_\d+", "bool "),
    (r"\w+_[lr]key_\d+", "uint32_t "),
    ("ibv", "struct ibv_qp_ex *"),
    ("mlx5", "struct mlx5dv_qp_ex *"),
    ("result", "int "),
    ("told", "struct mlx5dv_mkey_err "),
    ("dek_told", "struct mlx5dv_dek_attr "),
    ("login_told", "struct mlx5dv_crypto_login_query_attr "),
)
"""Variables of a program, and their types: each is declared where a line sets it, and set where a line reads it."""


class C(Language):
    """C11 over libibverbs and libmlx5."""

    name, indent, depth, end, of = "C", "\t", 1, ";", "->"
    login_told = "login_told.state"
    either, both = " || ", " && "
    closing, other = "}", "} else {"
    pause = "usleep(5000)"
    cancel_errno, cancel_result = "result < 0 ? -result : 0", "(result < 0 ? result : 0)"

    def __init__(self, program: Program) -> None:
        self._program = program
        self.tables = Tables()
        self.requests = Requests(program.trace.recorder, self.tables, program.wr_id)
        self.objects: list[str] = []
        """Declarations of what the case declares."""
        self.arrays: list[str] = []
        self.snapshots: dict[str, str] = {}
        self._lives = 0

    # Lines -----------------------------------------------------------------------------------

    def comment(self, text: str) -> str:
        return f"/* {text.replace('*/', '* /')} */"

    def opening(self, condition: str, *, short: bool) -> str:
        head = f"if ({condition})" if condition else ""
        return head if short else f"{head} {{"

    # Expressions -----------------------------------------------------------------------------

    def boolean(self, value: bool) -> str:
        return "true" if value else "false"

    def negated(self, condition: str) -> str:
        return f"!{condition}"

    def place(self, name: str) -> str:
        return f"&{name}"

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
        return errno.errorcode.get(number, str(number)) if number != claims.ANY else "-1"

    def errno_named(self, name: str) -> str:
        return name

    def event(self, name: str) -> str:
        return f"IBV_EVENT_{name.upper()}"

    def result_is(self, line: int, call: str, value: str, *, may_succeed: bool, errnos: Sequence[int]) -> str:
        errors = ", ".join([*map(self.errno, errnos), "0"])
        return f'result_is({line}, "{call}", {value}, {self.boolean(may_succeed)}, (const int[]){{{errors}}})'

    def completes(self, line: int, queue: str, members: Sequence[Member]) -> str:
        texts = ", ".join(text for name, value in members for text in self._member(name, value))
        return f"completes({line}, &{queue}, (struct wanted){{{texts}}})"

    def _member(self, name: str, value: object) -> Iterator[str]:
        match value:
            case bool():
                yield f".{name} = {self.boolean(value)}"
            case Statuses(names, any_error):
                yield f".{name} = {'ANY_ERROR' if any_error else ' | '.join(f'STATUS({one.upper()})' for one in names)}"
            case list():
                yield f".{name}s = {len(value)}"
                yield f".{name} = {{{', '.join(value)}}}"
            case _:
                if name == "imm":
                    yield ".has_imm = true"
                yield f".{name} = {value}"

    def took(self, number: int) -> str:
        return f"wc_{number} = last_wc"

    def expect(self, line: int, condition: str, what: str, got: str) -> str:
        cast = got if re.fullmatch(r"0|\w+_\d+|\w+\.state", got) else f"(uint64_t)({got})"
        return f"expect({line}, {condition}, {self.string(what)}, {cast})"

    def compared(self, got: str, operator: str, expected: str) -> str:
        return f"{numbers.operand(got, operator, expected)} {operator} {numbers.operand(expected, operator, got)}"

    # Bytes -----------------------------------------------------------------------------------

    def data(self, value: ByteString) -> str:
        return self.tables.pointer(value)

    def table(self, data: bytes) -> str:
        return self.tables.table(data)

    def live(self, data: LiveString) -> tuple[str, list[str]]:
        self._lives += 1
        name, lines, at = f"live_{self._lives}", list[str](), 0
        self.arrays.append(f"static uint8_t {name}[{max(1, data.length)}];")
        for piece in pieces_of(data):
            to = f"{name} + {at}" if at else name
            lines.append(self.part(to, piece))
            at += piece.length
        return name, lines

    def part(self, to: str, piece: ByteString | LiveBytes | LiveContent) -> str:
        """The statement that sets a piece of a string."""
        match piece:
            case LiveBytes(encoding, value):
                big = self.boolean(encoding.startswith("be"))
                value = self._program.trace.state.evaluate(value)
                return f"set_number({to}, {ENCODINGS[encoding]}, {big}, {self.number(value)})"
            case LiveContent(name, length, start):
                return f"memcpy({to}, {self.snapshots[name]} + {start}, {length})"
            case _:
                return f"memcpy({to}, {self.tables.pointer(piece)}, {piece.length})"

    def snapshot(self, name: str, pieces: Sequence[Piece]) -> list[str]:
        to = self.snapshots[name] = f"taken_{len(self.snapshots) + 1}"
        self.arrays.append(f"static uint8_t {to}[{max(1, sum(one.length for one in pieces))}];")
        return [f"memcpy({to} + {one.at}, {one.name}.bytes + {one.start}, {one.length})" for one in pieces]

    def put(self, name: str, start: str, data: str, length: int) -> str:
        return f"put(&{name}, {start}, {data}, {length})"

    def check(self, line: int, one: Piece, wanted: Wanted) -> str:
        if not wanted.data:
            return f"check_kept({line}, &{one.name}, {one.start}, {one.length})"
        return f"check({line}, &{one.name}, {one.start}, {_of(wanted, one)}, {one.length})"

    def holds(self, one: Piece, wanted: Wanted) -> str:
        if not wanted.data:
            return f"is_kept(&{one.name}, {one.start}, {one.length})"
        return f"is_there(&{one.name}, {one.start}, {_of(wanted, one)}, {one.length})"

    # Objects and their calls ------------------------------------------------------------------

    def pd(self, call: calls.NewPd) -> None:
        self.objects.append(f"static struct ibv_pd *{call.name};")
        self._program.do(f"{call.name} = ibv_alloc_pd(device)")

    def memory(self, call: calls.NewMemory) -> None:
        objects.memory(self._program, self, call)

    def mkey(self, call: calls.NewMkey) -> None:
        objects.mkey(self._program, self, call)

    def pair(self, call: calls.NewPair) -> None:
        objects.pair(self._program, self, call)

    def dct(self, call: calls.NewDct) -> None:
        self.objects.append(f"static struct ibv_qp *{call.name};")
        self._program.do(f"{call.name} = make_dct({self.number(call.key)})")

    def dek(self, call: calls.NewDek) -> None:
        objects.dek(self._program, self, call)

    def login(self, call: calls.NewLogin) -> None:
        objects.login(self._program, self, call)

    def query(self, name: str, step: plan.Query) -> None:
        self._program.do("dek_told = (struct mlx5dv_dek_attr){0}")
        self._program.do(f"result = mlx5dv_dek_query({name}, &dek_told)")

    def queried(self, step: plan.Query) -> list[str]:
        return objects.queried(self, step)

    def login_state(self, name: str | None, step: plan.LoginState) -> str:
        return objects.login_state(self._program, name, step)

    def destroyed(self, call: calls.OfDek | calls.OfLogin | calls.DestroyMkey) -> str:
        match call:
            case calls.OfDek(name):
                return f"mlx5dv_dek_destroy({name})"
            case calls.DestroyMkey(name):
                return f"mlx5dv_destroy_mkey({name})"
            case calls.OfLogin(None):
                return "mlx5dv_crypto_logout(device)"
            case calls.OfLogin(name):
                return f"mlx5dv_crypto_login_destroy({name})"

    def set_tag(self, name: str, tag: int) -> None:
        self._program.do(f"set_tag({name}, {self.number(tag)})")

    def cancel(self, call: calls.CancelWr, wr_id: str) -> None:
        self.objects.append(f"static uint64_t {call.variable};")
        self._program.do(f"result = {_CANCEL}({call.pair}.owner.mlx5, {wr_id})")

    def cancelled(self, variable: str) -> str:
        return f"{variable} = (uint64_t)result"

    def resume(self, pair: str) -> None:
        attr = f"&(struct ibv_qp_attr){{{_RTS}}}, IBV_QP_STATE | IBV_QP_CUR_STATE"
        self._program.do(f"result = ibv_modify_qp({pair}.owner.qp, {attr})")

    def ask(self, name: str) -> None:
        self._program.do("told = (struct mlx5dv_mkey_err){0}")
        self._program.do(f"result = mlx5dv_mkey_check({name}, &told)")

    def record(self, kind: str, members: Sequence[tuple[str, int]]) -> str:
        texts = [f".type = {_KINDS[kind]}"]
        for name, value in members:
            texts += [f".has_{name} = true", f".{name} = {self.number(value)}"]
        return "{" + ", ".join(texts) + "}"

    def is_record(self, record: str) -> str:
        return f"is_record(&told, &(struct record){record})"

    def check_record(self, line: int, name: str, records: Sequence[str]) -> str:
        given = f"(struct record[]){{{', '.join(records)}}}, {len(records)}"
        return f'check_record({line}, "{name}", &told, {given})'

    # Work ------------------------------------------------------------------------------------

    def post(self, call: calls.Post, step: plan.Post | None) -> None:
        posts.post(self._program, self, call, step)

    def post_recv(self, line: int, end: str, call: calls.PostRecv) -> str:
        into = call.sges
        return f"post_recv({line}, &{end}, {self._program.wr_id(call.wr_id)}, {sges(into)}, {len(into)})"

    # The whole -------------------------------------------------------------------------------

    def departed(self, line: int, known: str) -> str:
        return f'printf("KNOWN %s:%d: %s\\n", CASE_FILE, {line}, {self.string(known)})'

    def finish(self) -> Iterator[str]:
        yield 'printf("%s\\n", failures ? "FAILED" : "PASSED")'
        yield "return failures ? FAILED : PASSED"

    def whole(self, program: Program, cut: str) -> str:
        body = program.lines()
        start = ["open_device(argc > 1 ? argv[1] : NULL);"]
        needs = needs_of(program.subject.row.needs)
        if any("dv_attr" in line for line in (*body, *needs)):
            start.append("query_mlx5();")
        lines = [*(f"\t{line}" for line in (*start, *needs, *self.tables.filled)), *body]
        declared = [*self.tables.declared, *self.objects, *self.arrays, *_set(body)]
        used = set(re.findall(r"\w+", "\n".join(lines)))
        declared = [one for one in declared if not _is_idle(one, used)]
        return whole(program.subject, cut, declared, lines, program.pairs)


def _of(wanted: Wanted, one: Piece) -> str:
    """The bytes and the mask of a piece, as arguments."""
    return f"{_plus(wanted.data, one.at)}, {_plus(wanted.mask, one.at) if wanted.mask else 'NULL'}"


def _plus(pointer: str, offset: int) -> str:
    return f"{pointer} + {offset}" if offset else pointer


def _set(body: Sequence[str]) -> list[str]:
    """The variables that some line sets, declared."""
    names = sorted(set(re.findall(r"(?<![\w.>])\w+", "\n".join(body))))
    return [f"static {type_}{name};" for kind, type_ in _SET for name in names if re.fullmatch(kind, name)]


def _is_idle(declared: str, words: set[str]) -> bool:
    """Whether it declares a variable that nothing uses."""
    found = re.match(r"static (?:const )?(?:struct )?\w+ \*?(\w+)", declared)
    return found is not None and declared.endswith(";") and found[1] not in words
