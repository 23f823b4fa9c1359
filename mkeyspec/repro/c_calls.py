"""The recorded calls of a step, in C."""

from __future__ import annotations

from collections.abc import Sequence

from mkeyspec import plan
from mkeyspec.abi.constants import MkeyFlag
from mkeyspec.device.protocol import Send, Write
from mkeyspec.repro import c_objects, calls
from mkeyspec.repro.c_completions import came
from mkeyspec.repro.c_posts import post
from mkeyspec.repro.c_program import Program
from mkeyspec.repro.c_requests import sges
from mkeyspec.repro.numbers import flags, number
from mkeyspec.repro.trace import Taken

_CANCEL = "mlx5dv_qp_cancel_posted_send_wrs"
_RTS = ".qp_state = IBV_QPS_RTS, .cur_qp_state = IBV_QPS_SQD"


def carry_out(program: Program, given: Sequence[calls.Call], taken: Taken, line: int) -> None:
    """All of them, in order."""
    resets = {call.pair for call in given if isinstance(call, calls.Reconnect)}
    for call in given:
        match call:
            case calls.Came():
                came(program, call, taken, line, resets)
            case calls.Post(requests=(Send(dc=None) | Write(dc=None) as marker,)):
                message = "true" if isinstance(marker, Send) else "false"
                program.line(f"post_marker({line}, &{program.end(call)}, {program.wr_id(marker.wr_id)}, {message});")
            case calls.Post():  # a marker to a DCT
                post(program, call)
                program.line(f'result_is({line}, "ibv_wr_complete", result, true, (const int[]){{0}});')
            case calls.PostRecv(_, _, wr_id, into):
                end = program.end(call)
                program.line(f"post_recv({line}, &{end}, {program.wr_id(wr_id)}, {sges(into)}, {len(into)});")
            case _:
                _Step(program, taken, line).carry_out(call)


class _Step:
    """One step: its claim and its label are those of the call that it makes."""

    def __init__(self, program: Program, taken: Taken, line: int) -> None:
        self.program = program
        self.line = line
        self.step = taken.step
        self.claim: plan.Claim = getattr(taken.step, "claim", ())
        self.known: plan.Known | None = getattr(taken.step, "known", None)
        self.label: str | None = getattr(taken.step, "label", None)

    def carry_out(self, call: calls.Call) -> None:
        program, line, created = self.program, self.line, self._created
        match call:
            case calls.NewPd(name):
                program.objects.append(f"static struct ibv_pd *{name};")
                program.line(f"{name} = ibv_alloc_pd(device);")
            case calls.NewMemory():
                program.declared[call.name] = line
                c_objects.memory(program, call)
            case calls.NewMkey(name, side, create_flags, entries, pd, _):
                program.declared[name] = line
                program.objects += [f"static struct mlx5dv_mkey *{name};", f"static uint16_t {name}_entries;"]
                attr = f"{flags(create_flags, MkeyFlag)}, {number(entries)}, &{name}_entries"
                program.line(f"{name} = make_mkey({pd or f'pds[{side.upper()}]'}, {attr});")
                program.line(f"result = {name} ? 0 : errno;")
                created("mlx5dv_create_mkey")
            case calls.NewPair():
                c_objects.pair(program, call)
                program.line(f"result = make_pair(&{call.name});")
                if isinstance(self.step, plan.Qp):
                    created("mlx5dv_create_qp")
                else:
                    program.created(line, "mlx5dv_create_qp", (), None)
            case calls.NewDct(name, key):
                program.objects.append(f"static struct ibv_qp *{name};")
                program.line(f"{name} = make_dct({number(key)});")
            case calls.NewDek():
                c_objects.dek(program, call)
                created("mlx5dv_dek_create")
            case calls.NewLogin(name):
                c_objects.login(program, call)
                program.note(self.label)
                created("mlx5dv_crypto_login_create" if name else "mlx5dv_crypto_login", "create" if name else "login")
            case calls.OfDek() | calls.OfLogin() | calls.DestroyMkey():
                self._answer(call)
            case calls.Reconnect(pair):
                program.line(f"make_again({line}, &{pair}, {'true' if program.failed else 'false'});")
            case calls.SetTag(name, tag):
                for member in ("lkey", "rkey"):
                    program.line(f"{name}_{member}_{program.tags.get(name, 0)} = {name}->{member};")
                program.line(f"set_tag({name}, {number(tag)});")
                program.tags[name] = program.tags.get(name, 0) + 1
            case calls.AskMkey(name, refused):
                if not refused:
                    program.line("poll_all();")
                    program.line(f'no_signature_error({program.declared.get(name, line)}, "{name}", {name});')
            case calls.CancelWr():
                self._cancel(call)
            case calls.ResumeQp(pair):
                attr = f"&(struct ibv_qp_attr){{{_RTS}}}, IBV_QP_STATE | IBV_QP_CUR_STATE"
                program.line(f"result = ibv_modify_qp({pair}.owner.qp, {attr});")
                program.line(f'result_is({line}, "ibv_modify_qp", result, true, (const int[]){{0}});')
            case calls.Post() | calls.PostRecv() | calls.Came():
                raise AssertionError(call)

    def _created(self, call: str, phase: str = "create") -> None:
        self.program.created(self.line, call, self.claim, self.known, phase)

    def _answer(self, call: calls.OfDek | calls.OfLogin | calls.DestroyMkey) -> None:
        """A call that returns 0 or an errno."""
        program, name, step = self.program, call.name, self.step
        match call:
            case calls.OfDek(_, destroys=False):
                if isinstance(step, plan.Query):
                    c_objects.query(program, call.name, step, self.line)
                return
            case calls.OfLogin(_, destroys=False):
                if isinstance(step, plan.LoginState):
                    c_objects.login_state(program, name, step, self.line)
                return
            case calls.OfDek():
                text, phase = f"mlx5dv_dek_destroy({name})", "destroy"
            case calls.DestroyMkey():
                text, phase = f"mlx5dv_destroy_mkey({name})", "destroy"
            case calls.OfLogin(None):
                text, phase = "mlx5dv_crypto_logout(device)", "logout"
            case calls.OfLogin():
                text, phase = f"mlx5dv_crypto_login_destroy({name})", "destroy"
        program.line(f"result = {text};")
        program.note(self.label)
        program.line(f"{program.result(self.line, text.partition('(')[0], self.claim, self.known, phase)};")

    def _cancel(self, call: calls.CancelWr) -> None:
        """Its count is compared where no expectation of the case does."""
        program, variable, count = self.program, call.variable, int(call.count)
        program.objects.append(f"static uint64_t {variable};")
        program.line(f"result = {_CANCEL}({call.pair}.owner.mlx5, {program.wr_id(call.wr_id)});")
        program.note(self.label, "result < 0 ? -result : 0")
        went = program.result(self.line, _CANCEL, self.claim, self.known, "cancel", "(result < 0 ? result : 0)")
        program.line(f"if ({went})")
        program.line(f"\t{variable} = (uint64_t)result;")
        if self.label is None and count >= 0:
            program.line(f'expect({self.line}, {variable} == {count}, "{count} cancelled", {variable});')
