"""The recorded calls of a step."""

from __future__ import annotations

from collections.abc import Sequence

from mkeyspec import plan
from mkeyspec.device.protocol import Send, Write
from mkeyspec.repro import calls
from mkeyspec.repro.completions import came
from mkeyspec.repro.program import Program
from mkeyspec.repro.trace import Taken

_CANCEL = "mlx5dv_qp_cancel_posted_send_wrs"


def carry_out(program: Program, given: Sequence[calls.Call], taken: Taken, line: int) -> None:
    """All of them, in order."""
    language = program.language
    resets = {call.pair for call in given if isinstance(call, calls.Reconnect)}
    for call in given:
        match call:
            case calls.Came():
                came(program, call, taken, line, resets)
            case calls.Post(requests=(Send(dc=None) | Write(dc=None) as marker,)):
                end, message = language.place(program.end(call)), language.boolean(isinstance(marker, Send))
                program.do(language.call("post_marker", line, end, program.wr_id(marker.wr_id), message))
            case calls.Post():  # a marker to a DCT
                language.post(call, None)
                program.do(language.result_is(line, "ibv_wr_complete", "result", may_succeed=True, errnos=()))
            case calls.PostRecv():
                program.do(language.post_recv(line, program.end(call), call))
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
        language = program.language
        match call:
            case calls.NewPd():
                language.pd(call)
            case calls.NewMemory():
                program.declared[call.name] = line
                program.buffers.append(call.name)
                language.memory(call)
            case calls.NewMkey():
                program.declared[call.name] = line
                language.mkey(call)
                created("mlx5dv_create_mkey")
            case calls.NewPair():
                program.pairs[call.name] = call.attributes.type
                language.pair(call)
                if isinstance(self.step, plan.Qp):
                    created("mlx5dv_create_qp")
                else:
                    program.created(line, "mlx5dv_create_qp", (), None)
            case calls.NewDct():
                language.dct(call)
            case calls.NewDek():
                language.dek(call)
                created("mlx5dv_dek_create")
            case calls.NewLogin(name):
                language.login(call)
                program.note(self.label)
                created("mlx5dv_crypto_login_create" if name else "mlx5dv_crypto_login", "create" if name else "login")
            case calls.OfDek() | calls.OfLogin() | calls.DestroyMkey():
                self._answer(call)
            case calls.Reconnect(pair):
                failed = language.boolean(program.failed)
                program.do(language.call("make_again", line, language.place(pair), failed))
            case calls.SetTag(name, tag):
                self._keep_keys(name)
                language.set_tag(name, tag)
                program.tags[name] = program.tags.get(name, 0) + 1
            case calls.AskMkey(name, refused):
                if not refused:
                    program.do("poll_all()")
                    at = program.declared.get(name, line)
                    program.do(language.call("no_signature_error", at, language.string(name), name))
            case calls.CancelWr():
                self._cancel(call)
            case calls.ResumeQp(pair):
                language.resume(pair)
                program.do(language.result_is(line, "ibv_modify_qp", "result", may_succeed=True, errnos=()))
            case calls.Post() | calls.PostRecv() | calls.Came():
                raise AssertionError(call)

    def _created(self, call: str, phase: str = "create") -> None:
        self.program.created(self.line, call, self.claim, self.known, phase)

    def _went(self, call: str, phase: str, value: str = "result") -> str:
        return self.program.result(self.line, call, self.claim, self.known, phase, value)

    def _answer(self, call: calls.OfDek | calls.OfLogin | calls.DestroyMkey) -> None:
        """A call that returns 0 or an errno."""
        program, step, language = self.program, self.step, self.program.language
        match call:
            case calls.OfDek(_, destroys=False):
                if isinstance(step, plan.Query):
                    language.query(call.name, step)
                    program.note(self.label)
                    with program.when(self._went("mlx5dv_dek_query", "query")):
                        for text in language.queried(step):
                            program.do(text)
                return
            case calls.OfLogin(_, destroys=False):
                if isinstance(step, plan.LoginState):
                    holds = language.login_state(call.name, step)
                    program.note(self.label)
                    with program.when(self._went("the query of the login", "query"), short=True):
                        program.do(language.expect(self.line, holds, " or ".join(step.state), language.login_told))
                return
            case calls.OfDek():
                what, phase = "mlx5dv_dek_destroy", "destroy"
            case calls.DestroyMkey(name, refused):
                if not refused:
                    self._keep_keys(name)
                    program.gone.add(name)
                what, phase = "mlx5dv_destroy_mkey", "destroy"
            case calls.OfLogin(None):
                what, phase = "mlx5dv_crypto_logout", "logout"
            case calls.OfLogin():
                what, phase = "mlx5dv_crypto_login_destroy", "destroy"
        program.do(f"result = {language.destroyed(call)}")
        program.note(self.label)
        program.do(self._went(what, phase))

    def _keep_keys(self, name: str) -> None:
        """Keep the keys of an mkey, which it will not have any more."""
        program = self.program
        for member in ("lkey", "rkey"):
            kept = f"{name}_{member}_{program.tags.get(name, 0)}"
            program.do(f"{kept} = {name}{program.language.of}{member}")

    def _cancel(self, call: calls.CancelWr) -> None:
        """Its count is compared where no expectation of the case does."""
        program, variable, count = self.program, call.variable, int(call.count)
        language = program.language
        language.cancel(call, program.wr_id(call.wr_id))
        program.note(self.label, language.cancel_errno)
        with program.when(self._went(_CANCEL, "cancel", language.cancel_result), short=True):
            program.do(language.cancelled(variable))
        if self.label is None and count >= 0:
            program.do(language.expect(self.line, f"{variable} == {count}", f"{count} cancelled", variable))
