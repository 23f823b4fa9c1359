"""The files of editors have the compiler's words, and the Pygments lexer reads every text whole."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import zipfile
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from pygments.lexers import get_lexer_by_name, get_lexer_for_filename
from pygments.token import Comment, Error, Keyword, Name, Number, String

from editors import make, vsix
from mkeyspec.cli.entry import _parser as command_line
from mkeyspec.editors import words
from mkeyspec.editors.pygments_lexer import MksLexer
from mkeyspec.syntax.parser import reserved_words
from tests.plugin.project import CASES, Project

ROOT = Path(__file__).resolve().parents[2]


def test_the_files_are_fresh() -> None:
    assert make.main(["--check"]) == 0, "python editors/make.py"


def test_a_word_that_is_missing_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(make, "classes", lambda: {**words.classes(), "verb": frozenset({"transmit"})})
    assert make.main(["--check"]) == 1


def test_each_word_has_one_kind() -> None:
    kinds = list(words.classes().values())
    assert sum(map(len, kinds)) == len(frozenset().union(*kinds))
    assert reserved_words() <= words.keywords()
    for kind, word in (("keyword", "case"), ("keyword", "suite"), ("verb", "transmit"), ("field", "check_mask")):
        assert word in words.classes()[kind]
    for kind, word in (("function", "framed"), ("value", "remote_read"), ("field", "signaled"), ("verb", "configure")):
        assert word in words.classes()[kind]


def test_pygments_finds_it() -> None:
    assert isinstance(get_lexer_by_name("mks"), MksLexer)
    assert isinstance(get_lexer_for_filename("a.mks"), MksLexer)


def test_pygments_reads_every_text_whole() -> None:
    paths = (
        sorted((ROOT / "cases").rglob("*.mks"))[::5] + sorted((ROOT / "tests" / "ui" / "syntax").rglob("*.mks"))[::3]
    )
    for path in paths:
        text = path.read_bytes().decode("utf-8", "replace")
        assert "".join(part for _, _, part in MksLexer().get_tokens_unprocessed(text)) == text


KINDS = [
    ("case", Keyword), ("a_name", Name), ("verifies", Keyword), ("CRC-07", Name.Label), ("memory", Name.Builtin),
    ("512", Number), ("counter", Name.Function), ("remote_read", Name.Constant), ('"text"', String),
    ("# comment", Comment.Single), ("$", Error), ("mem", Name.Attribute),
]  # fmt: skip


@pytest.mark.parametrize(("word", "kind"), KINDS)
def test_kinds(word: str, kind: object) -> None:
    assert [k for _, k, part in MksLexer().get_tokens_unprocessed(f"{word}\n") if part == word] == [kind]


def test_the_extension_is_whole() -> None:
    """Each file that it names is there, and its pattern of problems is that of a failure."""
    folder = ROOT / "editors" / "vscode"
    package = json.loads((folder / "package.json").read_text("utf-8"))
    contributes = package["contributes"]
    named = [package["main"], contributes["languages"][0]["configuration"], contributes["grammars"][0]["path"]]
    assert [name for name in named if not (folder / name).is_file()] == []
    json.loads((folder / "language-configuration.json").read_text("utf-8"))
    pattern = contributes["problemMatchers"][0]["pattern"]
    line = "cases/examples/signature.mks:49:5: error[MKS2102]: 8 of 1032 bytes differ"
    found = re.match(pattern["regexp"], line)
    assert found is not None
    assert found[pattern["code"]] == "MKS2102"
    for one in make.textmate()["patterns"]:
        re.compile(one.get("match", one.get("begin", "")))


def manifest() -> Any:
    return json.loads((ROOT / "editors/vscode/package.json").read_text("utf-8"))["contributes"]


def test_errors_in_sources_are_matched() -> None:
    """Two lines, as `mkeyspec check` writes them: all that the diagnostics' own tests expect."""
    [matcher] = [one for one in manifest()["problemMatchers"] if one["name"] == "mkeyspec-source"]
    head, place = matcher["pattern"]
    count = 0
    for path in sorted((ROOT / "tests/ui").glob("*/*.out")):
        lines = path.read_text("utf-8").split("\n")
        for line, below in pairwise(lines):
            if not re.match(r"(error|warning)\[", line):
                continue
            what, where = re.match(head["regexp"], line), re.match(place["regexp"], below)
            if where is None:  # of the file as a whole
                assert re.fullmatch(r" *--> \S+", below), below
                continue
            assert what is not None
            assert (path.parent / where[place["file"]]).is_file()
            assert int(where[place["line"]]) > 0
            assert int(where[place["column"]]) > 0
            assert what[head["severity"]] in ("error", "warning")
            assert (ROOT / f"mkeyspec/explanations/{what[head['code']]}.md").is_file()
            count += 1
    assert count > 500


TASKS = """
const made = require("module")._load;
class Task { constructor(definition, scope, name, source, execution, matchers) {
  Object.assign(this, { definition, scope, name, source, execution, matchers }); } }
class ProcessExecution { constructor(process, args) { Object.assign(this, { process, args }); } }
class LanguageClient { constructor(id, name, server) { this.server = server; } start() { return this.server; } }
let provider;
const vscode = { Task, ProcessExecution, TaskScope: { Workspace: 2 },
  tasks: { registerTaskProvider: (type, one) => { provider = one; return type; } },
  workspace: { getConfiguration: () => ({ get: (name, otherwise) => "/venv/bin/mkeyspec" }) } };
require("module")._load = (name, ...rest) =>
  name === "vscode" ? vscode : name.startsWith("vscode-languageclient") ? { LanguageClient } : made(name, ...rest);
const context = { subscriptions: [] };
const server = require(process.argv[1]).activate(context);
const own = { definition: { type: "mkeyspec", command: "run", args: ["a.mks"] }, scope: 1 };
const answer = { server, types: context.subscriptions, offered: provider.provideTasks(),
  resolved: provider.resolveTask(own), nothing: provider.resolveTask({ definition: { type: "mkeyspec" } }) || null };
process.stdout.write(JSON.stringify(answer));
"""
"""The extension with the calls of VS Code that it makes, and what it answers."""


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not there")
def test_the_tasks_that_are_offered() -> None:
    extension = ROOT / "editors/vscode/extension.js"
    done = subprocess.run(
        ["node", "-e", TASKS, str(extension)], capture_output=True, text=True, check=True, timeout=60, cwd="/"
    )
    found = json.loads(done.stdout)
    contributes = manifest()
    [definition] = contributes["taskDefinitions"]
    assert found["types"] == [definition["type"]]
    assert found["server"] == {"command": "/venv/bin/mkeyspec", "args": ["lsp"]}
    names = {f"${one['name']}" for one in contributes["problemMatchers"]}
    for one in [*found["offered"], found["resolved"]]:
        assert {*one["definition"]} == {"type", *definition["properties"]}
        assert one["execution"]["process"] == "/venv/bin/mkeyspec"
        assert one["execution"]["args"] == [one["definition"]["command"], *one["definition"]["args"]]
        assert {*one["matchers"]} == names
        command_line().parse_args(one["execution"]["args"])  # it exits at a word that is none
    assert [one["name"] for one in found["offered"]] == [
        "check", "compile", "fmt", "run --device model", "run --device soft"
    ]  # fmt: skip
    assert found["resolved"]["scope"] == 1
    assert found["nothing"] is None


def samples() -> list[Any]:
    text = (ROOT / "docs/howto/editor.md").read_text("utf-8")
    return [json.loads(one) for one in re.findall(r"```json\n(.*?)```", text, re.S)]


def test_the_sample_of_a_task() -> None:
    [task] = next(one["tasks"] for one in samples() if "tasks" in one)
    contributes = manifest()
    [definition] = contributes["taskDefinitions"]
    assert task["type"] == definition["type"]
    assert {*task} - {"type", "label", "problemMatcher"} == {*definition["properties"]}
    assert task["problemMatcher"] == [f"${one['name']}" for one in contributes["problemMatchers"]]
    command_line().parse_args([task["command"], *task["args"]])


def test_the_settings_of_the_test_explorer(tmp_path: Path) -> None:
    """The Python extension cuts the id of a row at `.py`; one that has none ends its search for tests."""
    settings = next(one for one in samples() if "python.testing.pytestArgs" in one)
    assert settings["python.testing.pytestEnabled"] is True
    project = Project(tmp_path)
    project.put("cases/a.mks", CASES)
    assert project.mkeyspec("compile").code == 0
    done = project.pytest("--collect-only", "-q", *settings["python.testing.pytestArgs"])
    rows = [line for line in done.out.splitlines() if "::" in line]
    assert len(rows) == 7
    assert all(row.startswith("generated/cases/test_a.py::test_") for row in rows)


@pytest.mark.skipif(shutil.which("vim") is None, reason="vim is not there")
def test_vim_colours(tmp_path: Path) -> None:
    """Vim itself says what each word is."""
    path = tmp_path / "a.mks"
    path.write_text("case first\n    transmit k by send  # note\n    let x = framed(m)\n", "utf-8")
    asked = [
        (1, 1, "mksKeyword"),
        (2, 5, "mksVerb"),
        (2, 17, "mksKeyword"),
        (2, 26, "mksComment"),
        (3, 13, "mksFunction"),
    ]
    names = [f"synIDattr(synID({line}, {column}, 1), 'name')" for line, column, _ in asked]
    commands = [
        f"set runtimepath^={ROOT / 'editors' / 'vim'}", "filetype on", "syntax on", f"edit {path}",
        f"call writefile([{', '.join(names)}], '{tmp_path / 'out'}')", "qa!",
    ]  # fmt: skip
    script = tmp_path / "script.vim"
    script.write_text("\n".join(commands) + "\n", "utf-8")
    subprocess.run(["vim", "-u", "NONE", "-N", "-es", "-S", str(script)], timeout=60, check=False)
    assert (tmp_path / "out").read_text("utf-8").split() == [name for _, _, name in asked]


@pytest.mark.skipif(shutil.which("emacs") is None, reason="emacs is not there")
def test_emacs_colours(tmp_path: Path) -> None:
    """Emacs itself says what each word is, and how far a line is indented. The file compiles without a warning."""
    mode = tmp_path / "mkeyspec-mode.el"
    shutil.copyfile(ROOT / "editors/emacs/mkeyspec-mode.el", mode)
    path = tmp_path / "a.mks"
    path.write_text(
        "mks 1\ncase first\n  transmit k by send  # note\nlet x = framed(m)\nconfigure k {\nlayout list(m)\n}\n",
        "utf-8",
    )
    script = """
(setq byte-compile-error-on-warn t)
(unless (byte-compile-file "MODE") (kill-emacs 3))
(load "MODEc")
(find-file "FILE")
(unless (eq major-mode 'mkeyspec-mode) (kill-emacs 4))
(font-lock-ensure)
(dolist (word '("case" "first" "transmit" "note" "framed"))
  (goto-char (point-min))
  (search-forward word)
  (princ (format "%s %s\n" word (get-text-property (1- (point)) 'face))))
(indent-region (point-min) (point-max))
(princ (buffer-string))
"""
    script = script.replace("MODE", str(mode)).replace("FILE", str(path))
    (tmp_path / "script.el").write_text(script, "utf-8")
    done = subprocess.run(
        ["emacs", "-Q", "--batch", "-l", str(tmp_path / "script.el")],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout == (
        "case font-lock-keyword-face\n"
        "first font-lock-type-face\n"
        "transmit font-lock-builtin-face\n"
        "note font-lock-comment-face\n"
        "framed font-lock-function-name-face\n"
        "mks 1\ncase first\n    transmit k by send  # note\n    let x = framed(m)\n    configure k {\n"
        "        layout list(m)\n    }\n"
    )


def test_the_extension_is_packed(tmp_path: Path) -> None:
    """With what npm would have brought; the same files give the same bytes."""
    folder = tmp_path / "vscode"
    shutil.copytree(ROOT / "editors/vscode", folder, ignore=shutil.ignore_patterns("node_modules"))
    module = folder / "node_modules/vscode-languageclient/node.js"
    module.parent.mkdir(parents=True)
    module.write_text("", "utf-8")
    for name in ("a.vsix", "b.vsix"):
        vsix.pack(folder, tmp_path / name)
    assert (tmp_path / "a.vsix").read_bytes() == (tmp_path / "b.vsix").read_bytes()
    archive = zipfile.ZipFile(tmp_path / "a.vsix")
    names = {*archive.namelist()}
    package = json.loads(archive.read("extension/package.json"))
    assert {"extension.vsixmanifest", "[Content_Types].xml", "extension/LICENSE.txt"} <= names
    assert f"extension/{package['main'].removeprefix('./')}" in names
    assert "extension/node_modules/vscode-languageclient/node.js" in names
    space = {"": "http://schemas.microsoft.com/developer/vsx-schema/2011"}
    manifest = ElementTree.fromstring(archive.read("extension.vsixmanifest"))
    identity = manifest.find("Metadata/Identity", space)
    assert identity is not None
    assert [identity.get(name) for name in ("Publisher", "Id", "Version")] == [
        "mkeyspec",
        "mkeyspec",
        package["version"],
    ]
    kinds = {one.get("Extension") for one in ElementTree.fromstring(archive.read("[Content_Types].xml"))}
    assert {Path(name).suffix for name in names - {"[Content_Types].xml"}} - {""} <= kinds


def test_the_lock_is_of_what_the_extension_needs() -> None:
    folder = ROOT / "editors/vscode"
    wanted = json.loads((folder / "package.json").read_text("utf-8"))["dependencies"]
    lock = json.loads((folder / "package-lock.json").read_text("utf-8"))["packages"]
    assert lock[""]["dependencies"] == wanted
    assert [name for name, one in lock.items() if name and "integrity" not in one] == []
