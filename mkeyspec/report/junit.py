"""JUnit XML of streams of results, by the package junit-xml.

What both Jenkins' junit-10.xsd (jenkinsci/xunit-plugin) and Surefire's surefire-test-report.xsd (apache/maven-surefire)
allow: the document is valid by the first, and each `testsuite` in it is also a document by the second. junit-xml writes
some attributes that neither knows, and leaves others out; `_Suite` changes that. Neither schema has properties of a
test case, so they are lines `[[PROPERTY|name=value]]` of its `system-out`, a form that several readers know;
`case_properties` makes elements of them, as pytest does.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from xml.etree import ElementTree

import junit_xml

from mkeyspec.report.provenance import provenance_of
from mkeyspec.report.reader import Run, case_of, file_of
from mkeyspec.report.record import Case, Result
from mkeyspec.report.rows import parameters_of, results_of

_FAILURES = frozenset({"failed", "unseen"})
_SKIPPED = frozenset({"known", "skipped"})
_NOT_XML = re.compile("[^\t\n -\x7e\x85\xa0-\ud7ff\ue000-\ufdcf\ufdf0-\ufffd\U00010000-\U0010ffff]")


def junit_of(runs: Sequence[Run], *, case_properties: bool = False) -> bytes:
    """The document, in UTF-8, of one run or of several that are shown as one."""
    suites = [suite.build_xml_doc() for suite in suites_of(runs, case_properties=case_properties)]
    root = ElementTree.Element("testsuites", {"name": "mkeyspec"})
    for name in ("tests", "failures", "errors"):
        root.set(name, str(sum(int(suite.get(name, "0")) for suite in suites)))
    root.set("time", _time(sum(float(suite.get("time", "0")) for suite in suites)))
    root.extend(suites)
    return _document(root)


def surefire_of(runs: Sequence[Run]) -> Iterator[tuple[str, bytes]]:
    """One document per suite, with its file's name: `TEST-….xml`."""
    used: Counter[str] = Counter()
    for suite in suites_of(runs):
        stem = re.sub(r"[^\w.-]+", "_", suite.name, flags=re.ASCII).strip("_.")[-150:] or "suite"
        used[stem] += 1
        again = "" if used[stem] == 1 else f"-{used[stem]}"
        yield f"TEST-{stem}{again}.xml", _document(suite.build_xml_doc())


def suites_of(runs: Sequence[Run], *, case_properties: bool = False) -> list[_Suite]:
    """One per run and `.mks` file."""
    found: list[_Suite] = []
    for run in runs:
        cases: dict[str, list[_Case]] = {}
        for result in results_of(run):
            cases.setdefault(file_of(result.id) or "session", []).append(_case_of(run, result))
        for file, its in sorted(cases.items()):
            found.append(_Suite(_printable(_on(run, file)), its, dict(_about(run, file)), case_properties))
    if not found and runs:
        found.append(_Suite("session", [], dict(_about(runs[0], "")), case_properties))
    return found


class _Case(junit_xml.TestCase):  # type: ignore[misc]  # junit-xml has no types
    properties: Sequence[tuple[str, str]] = ()


class _Suite(junit_xml.TestSuite):  # type: ignore[misc]
    """junit-xml's suite, in the form of both schemas."""

    def __init__(self, name: str, cases: Sequence[_Case], properties: dict[str, str], case_properties: bool) -> None:
        super().__init__(name, list(cases), properties=properties)
        self._elements = case_properties

    def build_xml_doc(self, encoding: str | None = None) -> ElementTree.Element:
        suite: ElementTree.Element = super().build_xml_doc(encoding)
        del suite.attrib["disabled"]  # neither schema has it
        suite.set("time", _time(float(suite.get("time", "0"))))
        for case, element in zip(self.test_cases, suite.iter("testcase"), strict=True):
            element.set("time", _time(case.elapsed_sec or 0.0))  # junit-xml leaves out a time of 0
            for skipped in element.iter("skipped"):
                del skipped.attrib["type"]  # always `skipped`; Surefire's has none
            if self._elements and case.properties:
                properties = ElementTree.Element("properties")
                for name, value in case.properties:
                    ElementTree.SubElement(properties, "property", {"name": name, "value": value})
                element.insert(0, properties)
        return suite


def _case_of(run: Run, result: Result) -> _Case:
    file, _, name = result.id.partition("::")
    properties = [(_printable(key), _printable(value)) for key, value in _properties(run, result) if value]
    lines = [f"[[PROPERTY|{key}={value}]]".replace("\n", " ") for key, value in properties]
    made = _Case(
        _printable(name or file or "session"),
        class_name(file, run.begin.unit),
        result.seconds,
        stdout="\n".join(lines) or None,
    )
    made.properties = properties
    said = _printable(" ".join(filter(None, (result.code, result.message))) or result.verdict)
    text = _printable(result.text) or said
    if result.verdict in _FAILURES:
        made.add_failure_info(said, text, result.code or "failure")
    elif result.verdict in _SKIPPED:
        made.add_skipped_info(f"known: {said}" if result.verdict == "known" else said, text if result.text else None)
    elif result.verdict != "passed":
        made.add_error_info(said, text, result.code or "error")
    return made


def _on(run: Run, file: str) -> str:
    """The name of a suite: of a lab, each device has its own."""
    return f"{file} on {run.begin.unit}" if run.begin.unit else file


def class_name(file: str, unit: str = "") -> str:
    """`cases.signature.crc` of `cases/signature/crc.mks`: Jenkins takes what is before the last dot for a package.
    `unit`: of a lab, the device or pair, which is the first part: `alpha_mlx5_0.cases.signature.crc`."""
    stem = file.removesuffix(".mks").removesuffix(".py")
    parts = [part.replace(".", "_") for part in stem.split("/") if part not in ("", ".", "..")]
    if unit:
        parts.insert(0, re.sub(r"[^\w-]+", "_", unit))
    return _printable(".".join(parts) or "session")


def _properties(run: Run, result: Result) -> Iterator[tuple[str, str]]:
    """Of one row: name and value; values may be empty."""
    case = run.cases.get(case_of(result.id), Case(""))
    yield "case", result.id
    yield "verdict", result.verdict
    yield "unit", run.begin.unit
    yield "title", case.title
    yield "line", str(case.line or "")
    yield "requirements", " ".join(case.requirements)
    yield "needs", ", ".join([*case.needs, *result.needs])
    for name, value in parameters_of(result.id):
        yield f"row:{name}", value
    for name, value in result.records.items():
        yield f"record:{name}", value
    yield "known", " ".join(result.known)
    yield "waiver", result.waiver
    yield "not_run", result.not_run
    yield "quiet", "; ".join(result.quiet)
    yield "consequence", ", ".join(result.consequences)
    yield "culprit", result.culprit
    yield "lost", result.code if result.verdict == "lost" else ""
    if result.id in run.earlier:
        yield "earlier", " ".join(one.verdict for one in run.earlier[result.id])
    yield "worker", result.worker


def _about(run: Run, file: str) -> Iterator[tuple[str, str]]:
    suite = run.suites.get(file)
    if suite is not None:
        yield "suite", _printable(suite.title)
        yield "suite_sha256", suite.sha256
    for name, value in provenance_of(run):
        if value:
            yield _printable(name), _printable(value)


def _printable(text: str) -> str:
    """What XML has no characters for is written as `\\x00`."""
    return _NOT_XML.sub(lambda found: found[0].encode("unicode_escape", "surrogatepass").decode(), text)


def _time(seconds: float) -> str:
    """In the form of Surefire's schema: at most three digits after the point, no exponent."""
    return f"{seconds:.3f}"


def _document(root: ElementTree.Element) -> bytes:
    ElementTree.indent(root, " ")
    found: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return found + b"\n"
