"""Words that the language does not have: their messages, and the most likely intended word.

`recover` reports a token that no rule accepts and returns its replacement, so that one misspelt word gives one
message and the rest of the line is read.
"""

from __future__ import annotations

import re

from mkeyspec.diagnostics.diagnostic import Diagnostics, Edit
from mkeyspec.diagnostics.source import Source, Span
from mkeyspec.syntax import signs
from mkeyspec.syntax.lexer import Token

_PREFIXES = (
    "MLX5DV_MKEY_INIT_ATTR_FLAGS_",
    "MLX5DV_MKEY_CONF_FLAG_",
    "MLX5DV_MKEY_SIG_BLOCK_",
    "MLX5DV_MKEY_",
    "MLX5DV_SIG_T10DIF_FLAG_",
    "MLX5DV_SIG_T10DIF_",
    "MLX5DV_SIG_CRC_TYPE_",
    "MLX5DV_SIG_TYPE_",
    "MLX5DV_SIG_MASK_",
    "MLX5DV_SIG_BLOCK_ATTR_FLAG_",
    "MLX5DV_SIGNATURE_CRYPTO_ORDER_",
    "MLX5DV_CRYPTO_",
    "MLX5DV_WC_",
    "MLX5DV_QP_EX_WITH_",
    "MLX5DV_",
    "IBV_ACCESS_",
    "IBV_SEND_",
    "IBV_EVENT_",
    "IBV_QPT_",
    "IBV_QP_",
    "IBV_WC_",
    "IBV_WR_",
    "IBV_",
)
"""Prefixes of the pages' identifiers, longer ones first."""

_BLOCK_SIZE = "MLX5DV_BLOCK_SIZE_"

_SIGNS = {
    "!": "`not` says the opposite; `!=` compares",
    "'": 'texts are in double quotes: "…"',
    "\N{LEFT DOUBLE QUOTATION MARK}": 'texts are in straight double quotes: "…"',
    "\N{RIGHT DOUBLE QUOTATION MARK}": 'texts are in straight double quotes: "…"',
    "\\": "a statement goes on by itself after a comma or an operator",
    "@": "positions are ranges in brackets: m[16 +: 512]",
    "?": "pick(condition, a, b) chooses between two values",
    "$": "names stand for themselves, without `$`",
    "`": 'texts are in double quotes: "…"',
}


def recover(source: Source, token: Token, before: list[Token], diagnostics: Diagnostics) -> Token | None:
    """Reports `token`; the token that should stand for it, or None to leave it out."""
    span = Span(source, token.start_pos, token.end_pos)
    if token.type == "BADNAME":
        return _name(token, span, before, diagnostics)
    if token.type == "BADINT":
        _number(token, span, diagnostics)
        return Token("INT", "0", token.start_pos, token.end_pos)
    if token.type == "BADSTRING":
        help = 'a text is closed on its line: "…"'
        diagnostics.error("MKS0112", 'this text has no closing `"` on its line', span, help=help)
        return Token("STRING", '""', token.start_pos, token.end_pos)
    if token.type == "BADQUOTE":
        kind = token.value[: token.value.index('"')]
        diagnostics.error("MKS0113", f'this `{kind}"…"` has no closing `"` on its line', span)
        return Token(kind.upper(), f'{kind}""', token.start_pos, token.end_pos)
    _sign(token, span, diagnostics)
    return None


def _name(token: Token, span: Span, before: list[Token], diagnostics: Diagnostics) -> Token:
    text = token.value
    if _wants_requirement(before):
        diagnostics.error(
            "MKS0116", f"`{text}` is not a requirement id", span, help="ids look like `CFG-07` or `X-DIFF-08`"
        )
        return Token("REQ", text, token.start_pos, token.end_pos)
    lower = _lower(text)
    if text.startswith(_BLOCK_SIZE):
        size = text.removeprefix(_BLOCK_SIZE).removesuffix("_BYTE")
        diagnostics.error("MKS0201", f"no `{text}`; a block size is a number of bytes: `{size}`", span)
        return Token("INT", size if size.isdecimal() and size.isascii() else "0", token.start_pos, token.end_pos)
    if text.startswith(("IBV_", "MLX5DV_", "MLX5_")):
        diagnostics.error(
            "MKS0201",
            f"no `{text}`: page names are written without prefix, in lower case",
            span,
            help=f"write `{lower}`",
        )
    elif not text.isascii() and all(letter.isascii() or signs.meant(letter) for letter in text):
        lower = "".join(letter if letter.isascii() else signs.meant(letter) or "" for letter in text).lower()
        strange = next(letter for letter in text if not letter.isascii())
        diagnostics.error(
            "MKS0103", f"a letter of `{text}` is not of a-z: {signs.shown(strange)}", span, help=f"write `{lower}`"
        )
    elif lower == text:
        diagnostics.error(
            "MKS0103", f"`{text}` is not a name", span, help="names are made of a-z, 0-9 and `_`, a letter first"
        )
    else:
        diagnostics.error("MKS0103", f"`{text}` is not a name: names are lower case", span, help=f"`{lower}`")
    return Token("NAME", lower, token.start_pos, token.end_pos)


def _wants_requirement(before: list[Token]) -> bool:
    """Whether the words before are `known`, `verifies`, or `verifies A-01,`."""
    if before and before[-1].type in ("KNOWN", "VERIFIES"):
        return True
    if not before or before[-1].type != "COMMA":
        return False
    return next((t.type == "VERIFIES" for t in reversed(before) if t.type not in ("COMMA", "REQ")), False)


def _lower(text: str) -> str:
    """`IBV_ACCESS_REMOTE_READ` -> `remote_read`, `remoteRead` -> `remote_read`."""
    for prefix in _PREFIXES:
        if text.startswith(prefix) and len(text) > len(prefix):
            return text.removeprefix(prefix).lower()
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", text).lower()


def _number(token: Token, span: Span, diagnostics: Diagnostics) -> None:
    text = token.value
    if re.fullmatch(r"[0-9_]+[kmg]", text):
        help = f"units are upper case: {text.upper()}"
    elif re.fullmatch(r"0[XB]\w*", text):
        help = f"the letter is lower case: {text[:2].lower()}{text[2:]}"
    elif text.lower().startswith("0x"):
        help = "hexadecimal digits must follow `0x`"
    elif text.lower().startswith("0b"):
        help = "zeros and ones must follow `0b`"
    else:
        help = "numbers look like 512, 0x1ff, 0b101, 1_000 or 4K"
    diagnostics.error("MKS0111", f"`{text}` is not a number", span, help=help)


def _sign(token: Token, span: Span, diagnostics: Diagnostics) -> None:
    character = token.value
    help = _SIGNS.get(character, "")
    fix: tuple[Edit, ...] = ()
    if not help:
        meant = signs.meant(character)
        help = "" if meant is None else "write a plain blank in its place" if meant == " " else f"write `{meant}`"
        fix = () if not meant else (Edit(span, meant),)
    what = "a blank" if signs.meant(character) == " " else "a sign"
    diagnostics.error("MKS0110", f"{signs.shown(character)} is not {what} of the language", span, help=help, fix=fix)
