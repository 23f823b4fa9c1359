"""Requests that change an mkey: configure, mr_list, mr_interleaved, invalidate; and a setter outside of all."""

from __future__ import annotations

from mkeyspec import plan
from mkeyspec.compiler.check import configure as rules
from mkeyspec.compiler.check import mkey_state
from mkeyspec.compiler.check.access import check_invalidated_tag, check_key_side
from mkeyspec.compiler.check.context import Context
from mkeyspec.compiler.check.posting import check_posted, check_type
from mkeyspec.compiler.check.state import AbstractState
from mkeyspec.compiler.eval.coercion import as_word, wrong
from mkeyspec.compiler.eval.evaluate import evaluate
from mkeyspec.compiler.eval.int_width import fitting
from mkeyspec.compiler.eval.scope import Scope
from mkeyspec.compiler.statements.request_parts import configured_mkey, flag, missing
from mkeyspec.compiler.statements.row_state import RowState
from mkeyspec.compiler.statements.sentence import Sentence
from mkeyspec.compiler.statements.setters import CONFIGURE, access_flags, called_setters, layout_of, setter
from mkeyspec.compiler.statements.shape import ACCESS, CONFIGURE_PAGE, MKEY, POST_PAGE, Slot, request_shape
from mkeyspec.compiler.statements.statement import Request
from mkeyspec.value.layout import Interleaved, List
from mkeyspec.value.live import Int

# configure ------------------------------------------------------------------------------------


def _configure(row: RowState, sentence: Sentence, scope: Scope, opts: plan.Options) -> plan.Configure:
    mkey = configured_mkey(row, sentence, scope)
    setters = called_setters(row, sentence, scope)
    if all(modifier.name.text != "num_setters" for modifier in sentence.but):
        fitting(len(setters), "num_setters", sentence.span)
    reset = flag(sentence, scope, "reset_signature")
    for one in setters:
        layout = one.layout_given()
        if layout is not None:
            row.want_entries(mkey.name, layout)
    return plan.Configure(sentence.at, mkey.name, setters, reset, opts)


def _check_configure(context: Context, request: plan.Configure) -> None:
    if _check_posted(context, request):
        rules.check_configure(context, request)


def _check_posted(context: Context, request: plan.Configure | plan.MrList | plan.MrInterleaved) -> bool:
    """Where a configuration is posted; False if there is no such mkey at this end."""
    check_posted(context, request, operation=request.operation)
    return mkey_state.check_exists(context, request, request.mkey) and not check_key_side(
        context, request, request.mkey, context.peer
    )


CONFIGURE_RECORD = Request(
    request=plan.Configure,
    shapes=(
        request_shape(
            "configure",
            "configure k { access remote_read; layout list(m) }",
            MKEY,
            {},
            CONFIGURE_PAGE,
            {"reset_signature": None, "calls": Slot("a list of setters")},
            ("num_setters", "conf_flags", "comp_mask", "inline"),
            CONFIGURE,
        ),
    ),
    lower=_configure,
    check=_check_configure,
    effect=AbstractState.configure,
)

# A setter outside of a configuration ------------------------------------------------------------


def _stray(row: RowState, sentence: Sentence, scope: Scope, opts: plan.Options) -> plan.StraySetter:
    return plan.StraySetter(sentence.at, setter(row, sentence, scope))


STRAY_SETTER_RECORD = Request(
    request=plan.StraySetter,
    shapes=tuple(CONFIGURE.shapes.values()),
    lower=_stray,
    check=rules.check_stray,
    effect=None,
)

# mr_list, mr_interleaved ------------------------------------------------------------------------


def _registration(row: RowState, sentence: Sentence, scope: Scope) -> tuple[str, List | Interleaved, Int]:
    """The mkey, layout and access of `mr_list` and `mr_interleaved`."""
    verb = sentence.verb.name
    mkey = configured_mkey(row, sentence, scope)
    expr = sentence.phrases["from"]
    layout = layout_of(expr, scope, f"`{verb}`")
    if layout.strided != (verb == "mr_interleaved"):
        help = "mr_interleaved" if layout.strided else "mr_list"
        wrong(layout, scope, expr.span, f"`{verb}`", "the other kind of layout", help=f"{help} {mkey.name} from …")
    access = sentence.modifiers.get("access")
    if access is None or access.value is None:
        raise missing(sentence, "access")
    row.want_entries(mkey.name, layout)
    return mkey.name, layout, access_flags(access.value, scope)


def _mr_list(row: RowState, sentence: Sentence, scope: Scope, opts: plan.Options) -> plan.MrList:
    return plan.MrList(sentence.at, *_registration(row, sentence, scope), opts)


def _mr_interleaved(row: RowState, sentence: Sentence, scope: Scope, opts: plan.Options) -> plan.MrInterleaved:
    return plan.MrInterleaved(sentence.at, *_registration(row, sentence, scope), opts)


def _check_registration(context: Context, request: plan.MrList | plan.MrInterleaved) -> None:
    if _check_posted(context, request):
        rules.check_registration(context, request)


def _registered(state: AbstractState, request: plan.MrList | plan.MrInterleaved) -> None:
    setters = (plan.SetAccess(request.access), plan.SetLayout(request.layout))
    state.configure(plan.Configure(request.at, request.mkey, setters))


MR_LIST_RECORD = Request(
    request=plan.MrList,
    shapes=(
        request_shape(
            "mr_list",
            "mr_list k from [a, b], access local_write",
            MKEY,
            {"from": Slot("a list of parts")},
            POST_PAGE,
            {"access": ACCESS},
            ("access_flags", "inline"),
        ),
    ),
    lower=_mr_list,
    check=_check_registration,
    effect=_registered,
)
MR_INTERLEAVED_RECORD = Request(
    request=plan.MrInterleaved,
    shapes=(
        request_shape(
            "mr_interleaved",
            "mr_interleaved k from interleaved(2, a count 512 skip 4), access local_write",
            MKEY,
            {"from": Slot("an interleaved layout")},
            POST_PAGE,
            {"access": ACCESS},
            ("access_flags", "repeat_count", "inline"),
        ),
    ),
    lower=_mr_interleaved,
    check=_check_registration,
    effect=_registered,
)

# invalidate -------------------------------------------------------------------------------------


def _invalidate(row: RowState, sentence: Sentence, scope: Scope, opts: plan.Options) -> plan.Invalidate:
    mkey = configured_mkey(row, sentence, scope)
    by = "wr_post"
    if "by" in sentence.phrases:
        expr = sentence.phrases["by"]
        by = as_word(evaluate(expr, scope), scope, expr.span, ("builder",), "`by`").name
    return plan.Invalidate(sentence.at, mkey.name, by, opts)


def _check_invalidate(context: Context, request: plan.Invalidate) -> None:
    check_posted(context, request)
    check_type(context, request, request.name())
    if request.by == "post_send" and plan.is_post(context.step) and context.step.abort:
        context.broken(
            "aborted_post_send",
            "ibv_post_send posts at once: no abort takes it back",
            request,
            help=f"invalidate {request.mkey}",
        )
    if not mkey_state.check_exists(context, request, request.mkey):
        return
    key = context.mkey(request.mkey)
    if not check_key_side(context, request, request.mkey, context.peer) and key is not None:
        check_invalidated_tag(context, request, key, request.mkey)


def _after_invalidate(state: AbstractState, request: plan.Invalidate) -> None:
    state.invalidate(request.mkey, request.at)


INVALIDATE_RECORD = Request(
    request=plan.Invalidate,
    shapes=(
        request_shape(
            "invalidate",
            "invalidate k by post_send",
            MKEY,
            {"by": Slot("post_send or wr_post", required=False)},
            CONFIGURE_PAGE,
            None,
            ("rkey",),
        ),
    ),
    lower=_invalidate,
    check=_check_invalidate,
    effect=_after_invalidate,
)
