"""Writes the pages of the reference that are tables: verbs, functions, diagnostics, limits, requirements, profile.

They are made from the tables the compiler itself reads, so that they can't say anything else.

    python docs/make_tables.py            writes what differs
    python docs/make_tables.py --check    writes nothing; exit code 1 if anything differs
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import fields
from pathlib import Path

from mkeyspec.abi.constants import ALWAYS_OFFERED
from mkeyspec.compiler.eval.access import BUT_MEMBERS, LIVE_MEMBERS
from mkeyspec.compiler.eval.builtins import DOCS, WORDS
from mkeyspec.compiler.eval.builtins import KINDS as WORD_KINDS
from mkeyspec.compiler.eval.describe import KIND_NAMES
from mkeyspec.compiler.eval.functions.bytes import BYTE_FUNCTIONS
from mkeyspec.compiler.eval.functions.lists import LIST_FUNCTIONS
from mkeyspec.compiler.eval.functions.signatures import SIGNATURE_FUNCTIONS
from mkeyspec.compiler.eval.functions.table import KINDS
from mkeyspec.compiler.eval.values import Function, Parameter, Word
from mkeyspec.compiler.statements.registry import CASE, PLACES
from mkeyspec.compiler.statements.shape import Shape, Slot
from mkeyspec.compiler.statements.work_requests import SHAPES
from mkeyspec.device.profile.profile import OFFERS, Profile
from mkeyspec.diagnostics import limits as limit
from mkeyspec.diagnostics.codes import CODES
from mkeyspec.requirements.ledger import departures, requirements

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

HERE = Path(__file__).resolve().parent
PROGRAMS = HERE.parent / "tests" / "witnesses" / "programs.toml"
WRITTEN = "<!-- Written by docs/make_tables.py; `make_tables.py --check` is one of the tests. -->"

VERBS = """
Everything that is done is one statement: `[peer] VERB what PREPOSITION what … = value, modifier … { lines } claim
known`. This page says what each verb takes. `known` is [a known departure](language.md#known-departures), `but`
[sets a member wrong on purpose](language.md#wrong-on-purpose).
"""
REQUESTS = """
One alone is a section of its own: signaled, and waited for. Inside `post { }` and `abort { }` they take neither `peer`,
`on`, `as` nor a claim: those belong to the section. A setter may be there too, misplaced on purpose.
"""
PURE = """
All are pure: the same arguments give the same value, on every machine. A parameter with `=` may be left out; one that
ends in `=` is given by name; `…` takes any number of arguments. Those of other functions may be given by name as well.
A buffer is taken for its bytes where bytes are wanted. `any(n)` is a [pattern](language.md#expecting).
"""
MEMBERS = """
Of values: `d.block` and `d.signature` of a domain; `r.start`, `r.length` and `r.end` of a range; `.length` of
everything that has one. Live members are read when the case runs:
"""
LIVE = """
`device.NAME` is any number that the device reports; `t.wire` is what the `transmit` labelled `t` put on the wire.
"""
CODES_ARE = """
Every diagnostic has a code, and every code a page with what it means, an example, the fix and the clause of the man
page. `mkeyspec explain CODE` prints it. Codes below MKS2000 are the compiler's and the command line's; those from
MKS2000 on are failures of a case that ran.
"""
PROGRAMS_ARE = """
Programs of Debian 12 that were not written for this project. `make test` runs each under
[the software NIC](softnic.md), unchanged; it must end well and say what [the table](../tests/witnesses/programs.toml)
awaits. They show the plumbing of two processes, not signatures: none of them configures an mkey.
"""
PROGRAMS_RUN = """
```sh
mkeyspec softnic exec --fabric one -- SERVER &
mkeyspec softnic exec --fabric one -- CLIENT
```
"""
PROGRAMS_LACK = """
These were tried and do not run:

| program | lacks |
| --- | --- |
| `ib_send_bw -c UC -R` | nothing: perftest itself has no UC over rdma_cm |
| `mckey`, `udaddy` by multicast | multicast |
| `udpong` with a server on the wildcard address | name the address on both sides: `-b 127.0.0.1` |
| Open MPI's `openib` BTL | refuses the device at its start; UCX and libfabric take its place |
| `ibv_xsrq_pingpong` | XRC |
| `tgtd` (tgt), `iscsi-inq iser://…` (libiscsi-bin) | one port for an id on 0.0.0.0 and one on ::; here an id holds it |
| `dpdk-testpmd --no-huge` (dpdk-dev) | a listing of /sys/bus/pci/devices with the device; raw packet QPs |
| `mstflint`, `mstconfig`, `mstlink` (mstflint) | the configuration space of a PCI function |
| librpma | Debian has the library but no program: its fio is built without that engine |
| libfabric's fabtests | not in Debian's archive |
| `ibstat`, `ibping`, `opensm` and what else uses umad | MADs |
"""
LIMITS = """
So that a mistake (a wrong exponent, a loop that multiplies) is one clear message within a second. Breaking one is an
error with the code beside it.
"""
LEDGER = """
What the man pages promise and demand, one statement an id: what `verifies` may name. `mkeyspec explain ID` prints a
statement whole; the files are in [`requirements/`](../requirements/).
"""
DEPARTURES = """
What `known` may name: X-DIFF, where driver and page differ, and X-BUG, suspected defects. X-OPEN and X-LIM are points
that the pages leave open; the [device profile](model.md#the-profile) has a member for those that show.
"""

FAMILIES = {
    "MKS01": "Syntax",
    "MKS02": "Names, and the parts of statements",
    "MKS03": "Types, values, lengths",
    "MKS04": "What the pages forbid",
    "MKS05": "Claims and states",
    "MKS06": "Warnings",
    "MKS07": "Limits",
    "MKS08": "Files and their text",
    "MKS09": "Command line, devices, directories",
    "MKS20": "A step failed",
    "MKS21": "An expectation failed",
    "MKS22": "Something is left over",
    "MKS23": "Known departures",
}


def page(title: str, *paragraphs: str) -> str:
    return "\n\n".join([f"# {title}", WRITTEN, *(text for text in paragraphs if text)]) + "\n"


def flow(text: str) -> str:
    """A paragraph on one line."""
    return " ".join(text.split())


def code(text: str) -> str:
    return f"`{text}`"


def listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Cells may hold `|`."""
    lines = [head, ["---"] * len(head), *([cell.replace("|", "\\|") for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(row)} |" for row in lines)


# Verbs ---------------------------------------------------------------------------------------


def slot(name: str, part: Slot | None) -> str:
    if part is None:
        return f"`{name}`"
    return f"`{name}` {part.what}" if part.required else f"`{name}` {part.what}, if wanted"


def parts(verb: Shape) -> list[str]:
    """What a verb takes, a line each."""
    found = []
    if verb.operand is not None:
        found.append(verb.operand.what + ("" if verb.operand.required else ", if wanted"))
    found += [slot(name, part) for name, part in verb.phrases.items()]
    if verb.value is not None:
        found.append(slot("=", verb.value))
    if verb.lines is not None:
        found.append(f"lines of {verb.lines.name}" + ("" if verb.lines_required else ", if wanted"))
    return found


def verb_text(verb: Shape) -> str:
    lines = [f"### `{verb.name}`", "", f"`{verb.example}`", ""]
    rows = []
    if taken := parts(verb):
        rows.append(("takes", "; ".join(taken)))
    if verb.modifiers:
        rows.append(("modifiers", "; ".join(slot(name, part) for name, part in verb.modifiers.items())))
    if verb.but:
        rows.append(("`but`", listed(verb.but)))
    claims = [f"rejected at {phase}" for phase in verb.phases] + ["completes"] * verb.completes
    if claims:
        rows.append(("claims", listed(claims)))
    if verb.known or verb.peer:
        rows.append(("may have", listed(["peer"] * verb.peer + ["known"] * verb.known)))
    if verb.page:
        rows.append(("page", verb.page))
    return "\n".join([*lines, *(f"- {name}: {text}" for name, text in rows)])


def line_table(verbs: Iterable[Shape]) -> str:
    rows = []
    for verb in verbs:
        what = "; ".join(parts(verb) + [slot(name, part) for name, part in verb.modifiers.items()])
        rows.append((code(verb.name), code(verb.example), what, listed(verb.but), verb.page))
    columns = [i for i, name in enumerate(("line", "example", "takes", "`but`", "page")) if any(row[i] for row in rows)]
    head = [("line", "example", "takes", "`but`", "page")[i] for i in columns]
    return table(head, [[row[i] for i in columns] for row in rows])


def verbs() -> str:
    statements = [verb for verb in CASE.shapes.values() if verb not in SHAPES]
    text = [
        flow(VERBS),
        "## Statements of a case",
        *map(verb_text, statements),
        "## Work requests",
        flow(REQUESTS),
        *map(verb_text, SHAPES),
    ]
    for place in PLACES.values():
        if place.word not in ("case", "section"):
            text += [f"## Lines of {place.name}", line_table(place.shapes.values())]
    return page("Verbs", *text)


# Functions and words -------------------------------------------------------------------------


def function_table(functions: Iterable[Function]) -> str:
    rows = [(code(str(one)), one.doc, "; ".join(map(parameter, one.parameters))) for one in functions]
    return table(("function", "what it gives", "what it takes"), rows)


def parameter(one: Parameter) -> str:
    return f"`{one.name}`: {KINDS[one.kind][0]}"


def word_list(names: Sequence[str]) -> str:
    """Words and their numbers; those that need a word of explanation in a table."""
    if any(number(name) for name in names):
        return table(("word", "number"), [(code(name), number(name)) for name in names])
    explained = [name for name in names if DOCS[name][1]]
    plain = listed(name for name in names if name not in explained)
    rows = table(("word", "meaning"), [(code(name), DOCS[name][1]) for name in explained]) if explained else ""
    return "\n\n".join(part for part in (plain, rows) if part)


def labels() -> list[tuple[str, tuple[str, ...]]]:
    """What labels show, by the verbs that show the same."""
    found: dict[tuple[str, ...], list[str]] = {}
    for verb in CASE.shapes.values():
        if verb.shows:
            found.setdefault(verb.shows, []).append(f"`{verb.name}`")
    return [(f"label of {', '.join(verbs)}", shows) for shows, verbs in found.items()]


def functions() -> str:
    text = [
        flow(PURE),
        "## Bytes",
        function_table(BYTE_FUNCTIONS),
        "## Signatures and domains",
        function_table(SIGNATURE_FUNCTIONS),
        "## Layouts, lists, choices",
        function_table(LIST_FUNCTIONS),
        "## Members",
        flow(MEMBERS),
        table(
            ("of", "live members"),
            [(name, listed(members)) for name, members in (*LIVE_MEMBERS.items(), *labels())],
        ),
        flow(LIVE),
        "What `but` may set wrong of a value:",
        table(("of", "members"), [(name, listed(members)) for name, members in BUT_MEMBERS.items()]),
        "# Words",
        "The identifiers of the pages, without prefix and in lower case. A name of one's own hides a word.",
    ]
    for kind, about in WORD_KINDS.items():
        names = [name for name, (of, _) in DOCS.items() if of == kind]
        heading = KIND_NAMES.get(kind, about).removeprefix("a ").removeprefix("an ")
        text += [
            f"## {heading[0].upper()}{heading[1:]}",
            "" if heading == about else f"{sentence(about)}.",
            word_list(names),
        ]
    return page("Functions and words", *text)


def sentence(text: str) -> str:
    return text[0].upper() + text[1:]


def number(name: str) -> str:
    word = WORDS[name]
    return f"{word.value:#x}" if isinstance(word, Word) and word.value is not None else ""


# Diagnostics, limits, requirements, profile ----------------------------------------------------


def diagnostics() -> str:
    text = [flow(CODES_ARE)]
    for family, title in FAMILIES.items():
        codes = {name: about for name, about in CODES.items() if name.startswith(family)}
        rows = [(f"[{name}](../mkeyspec/explanations/{name}.md)", about) for name, about in codes.items()]
        if rows:
            text += [f"## {family}xx: {title[0].lower() + title[1:]}", table(("code", "says"), rows)]
    return page("Diagnostics", *text)


def limits() -> str:
    rows = [(f"{one.most:,} {one.unit}", f"[{one.code}](../mkeyspec/explanations/{one.code}.md)") for one in limit.ALL]
    return page(
        "Limits",
        flow(LIMITS),
        table(("at most", "code"), rows),
    )


def ledger() -> str:
    text = [
        flow(LEDGER),
    ]
    pages: dict[str, list[tuple[str, str, str]]] = {}
    for one in requirements().values():
        pages.setdefault(one.page, []).append((one.id, one.title, one.level))
    for name, rows in pages.items():
        text += [f"## {name}", table(("id", "about", "level"), rows)]
    text += [
        "## Departures and open points",
        flow(DEPARTURES),
        table(("id", "says"), [(one.id, one.statement) for one in departures().values()]),
    ]
    return page("Requirements", *text)


BEGIN, END = "<!-- profile: written by docs/make_tables.py -->", "<!-- profile ends -->"


def profile_table() -> str:
    rows = []
    for item in fields(Profile):
        value = item.default
        shown = ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
        if isinstance(value, bool):
            shown = "true" if value else "false"
        choices = ", ".join(f"`{choice}`" for choice in item.metadata.get("choices", ()))
        if len(item.metadata.get("choices", ())) > 10:
            choices = "a status of an error"
        kind = {bool: "`true`, `false`", int: "a number", str: "text", tuple: "a list"}[type(value)]
        if item.name == "errno":
            kind = "a table"
        rows.append((code(item.name), code(shown) if shown else "empty", choices or kind, item.metadata["about"]))
    return table(("member", "default", "may be", "what it is"), rows) + (
        f"\n\nWhat `without` may name: {listed(sorted(OFFERS - ALWAYS_OFFERED))}. "
        f"Each device offers {listed(sorted(ALWAYS_OFFERED))}."
    )


def programs() -> str:
    """What tests/witnesses runs, as a table."""
    rows = []
    for program in tomllib.loads(PROGRAMS.read_text(encoding="utf-8"))["program"]:
        environment = "".join(f"{name}={value} " for name, value in program.get("environment", {}).items())
        commands = [program[name] for name in ("server", "client") if name in program]
        shown = "<br>".join(code(environment + command) for command in commands)
        rows.append((program["name"], program["package"], shown, "<br>".join(map(code, program.get("variants", ())))))
    head = ("program", "Debian package", "command: of the server, of the client", "`{variant}`")
    return page(
        "Programs that run unmodified",
        flow(PROGRAMS_ARE),
        PROGRAMS_RUN.strip(),
        table(head, rows),
        PROGRAMS_LACK.strip(),
    )


def model(before: str) -> str:
    """model.md with its table made again; the text around it is written by hand."""
    head, _, rest = before.partition(BEGIN)
    _, _, tail = rest.partition(END)
    return f"{head}{BEGIN}\n\n{profile_table()}\n\n{END}{tail}"


def pages() -> dict[Path, str]:
    """Every page that this script writes, by its place."""
    about_model = HERE / "model.md"
    return {
        HERE / "verbs.md": verbs(),
        HERE / "functions.md": functions(),
        HERE / "diagnostics.md": diagnostics(),
        HERE / "limits.md": limits(),
        HERE / "requirements.md": ledger(),
        HERE / "programs.md": programs(),
        about_model: model(about_model.read_text(encoding="utf-8")),
    }


def stale() -> dict[Path, str]:
    """Those that differ from what is on disk."""
    return {
        path: text for path, text in pages().items() if not path.exists() or path.read_text(encoding="utf-8") != text
    }


def main(arguments: Sequence[str]) -> int:
    if any(argument != "--check" for argument in arguments):
        print((__doc__ or "").strip(), file=sys.stderr)
        return 2
    differing = stale()
    for path, text in differing.items():
        if arguments:
            print(f"{path.name} is out of date: python docs/make_tables.py", file=sys.stderr)
        else:
            path.write_text(text, encoding="utf-8")
            print(path.name)
    return 1 if arguments and differing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
