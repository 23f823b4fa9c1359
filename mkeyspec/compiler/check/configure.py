"""Rules of the builder: mlx5dv_wr_mkey_configure(3), its counts, flags and generic setters; mr_list, mr_interleaved."""

from __future__ import annotations

from typing_extensions import assert_never

from mkeyspec import plan
from mkeyspec.abi.constants import Access, ConfFlag
from mkeyspec.compiler.check import crypto, layout, signature
from mkeyspec.compiler.check.context import Context, count
from mkeyspec.compiler.check.state import overridden
from mkeyspec.diagnostics.diagnostic import Note
from mkeyspec.value.live import Int, is_known

_ACCESS_BITS = 0
for _flag in Access:
    _ACCESS_BITS |= int(_flag)

_WORDS = tuple(setter.word for setter in (plan.SetAccess, plan.SetLayout, plan.SetSignature, plan.SetCrypto))


def check_configure(context: Context, request: plan.Configure) -> None:
    """All rules of mlx5dv_wr_mkey_configure and of the setters called after it."""
    but = request.options.but
    _inline(context, request, but)
    _attributes(context, request)
    _counts(context, request)
    _repeats(context, request)
    for setter in request.setters:
        if isinstance(setter, plan.SetAccess):
            value, by_but = overridden(setter.but, "access_flags", setter.flags)
            _access(context, setter, "", setter.flags if value is None else value, by_but, request)
    layout.check_layouts(context, request)
    key = context.mkey(request.mkey)
    if key is None:
        return
    for setter in request.setters:
        match setter:
            case plan.SetSignature():
                signature.check_signature(context, request, setter, key)
            case plan.SetCrypto():
                crypto.check_crypto(context, request, setter, key)
            case plan.SetAccess() | plan.SetLayout():
                pass  # done above, whatever the name means
            case _:
                assert_never(setter)
    crypto.check_order(context, request, key)


def check_registration(context: Context, request: plan.MrList | plan.MrInterleaved) -> None:
    """mlx5dv_wr_mr_list and mlx5dv_wr_mr_interleaved: access and one layout (WRP-12..15)."""
    but = request.options.but
    _inline(context, request, but)
    access, by_but = overridden(but, "access_flags", request.access)
    place = "access_flags" if by_but else "access"
    _access(context, request, place, request.access if access is None else access, by_but, request)
    layout.check_one(context, request, request, "layout", request.layout, request.mkey, blocks=0)


def check_stray(context: Context, request: plan.StraySetter) -> None:
    """A setter without an open configuration: no builder before it, or its last announced setter was called
    (SIG-25)."""
    kind = request.setter.word
    context.broken(
        "setter_outside",
        f"`{kind}` is outside a configuration",
        request,
        notes=(Note("the last operation posted must be mlx5dv_wr_mkey_configure or one of its setters, still open"),),
        help=f"move it into the braces of a `configure`: {{ {kind} … }}",
    )


def _inline(context: Context, request: plan.Configure | plan.MrList | plan.MrInterleaved, but: plan.Overrides) -> None:
    inline, by_but = overridden(but, "inline", 1)
    if inline == 0:
        context.broken("inline_missing", "IBV_SEND_INLINE is left out of wr_flags", request, "inline", by_but=by_but)


def _attributes(context: Context, request: plan.Configure) -> None:
    but = request.options.but
    flags, by_but = overridden(but, "conf_flags", int(ConfFlag.RESET_SIG_ATTR) if request.reset_signature else 0)
    excess = None if flags is None else flags & ~int(ConfFlag.RESET_SIG_ATTR)
    if excess is None or excess:
        message = (
            "conf_flags is read from the device"
            if excess is None
            else (f"conf_flags {flags:#x}: {excess:#x} is none of the page's flags")
        )
        context.broken("conf_flags", message, request, "conf_flags", by_but=by_but, definite=excess is not None)
    comp_mask, by_but = overridden(but, "comp_mask", 0)
    if comp_mask != 0:
        context.broken(
            "conf_comp_mask",
            "comp_mask is reserved and must be 0",
            request,
            "comp_mask",
            by_but=by_but,
            definite=comp_mask is not None,
        )


def _counts(context: Context, request: plan.Configure) -> None:
    called = len(request.setters)
    announced, by_but = overridden(request.options.but, "num_setters", called)
    if announced is None or announced == called:
        return
    if announced > called:
        # Setters that come too late, outside of the configuration, are one fault, their place (SIG-25), not two.
        strays = sum(isinstance(one, plan.StraySetter) for one in context.step.posted())
        if announced > called + strays:
            message = f"num_setters {announced}, and {count(called, 'setter')} called"
            context.broken("too_few_setters", message, request, "num_setters", by_but=by_but)
    else:
        message = f"num_setters {announced}, and {count(called, 'setter')} called"
        context.broken("too_many_setters", message, request, "num_setters", by_but=by_but)


def _repeats(context: Context, request: plan.Configure) -> None:
    """Each setter once (CFG-07); of the layout setters, one in all (LAY-03)."""
    if len(request.setters) < 2:
        return
    for kind in _WORDS:
        calls = [setter for setter in request.setters if setter.word == kind]
        if len(calls) < 2:
            continue
        first = Note("the first call", context.origin.get(calls[0], "", request))
        if kind == plan.SetLayout.word:
            context.broken(
                "two_layouts",
                "at most one layout setter may follow the builder",
                calls[1],
                fallback=request,
                notes=(first,),
            )
        else:
            context.broken(
                "setter_called_twice",
                f"`{kind}` is called {count(len(calls), 'time')} in one configuration",
                calls[1],
                fallback=request,
                notes=(first,),
            )


def _access(context: Context, thing: object, member: str, flags: Int, by_but: bool, request: plan.Wr) -> None:
    """0 or an OR of enum ibv_access_flags (ACC-05).

    Devices may differ in which members of the enum they take (X-DIFF-01).
    """
    if not is_known(flags):
        context.broken(
            "access_bits",
            "access is read from the device",
            thing,
            member,
            fallback=request,
            by_but=by_but,
            definite=False,
        )
    elif flags & ~_ACCESS_BITS:
        message = f"access {flags:#x}: {flags & ~_ACCESS_BITS:#x} is none of enum ibv_access_flags"
        context.broken("access_bits", message, thing, member, fallback=request, by_but=by_but)
