"""The files of editors have the compiler's words, and the Pygments lexer reads every text whole."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import zipfile
from pathlib import Path
from xml.etree import ElementTree

import pytest
from pygments.lexers import get_lexer_by_name, get_lexer_for_filename
from pygments.token import Comment, Error, Keyword, Name, Number, String

from editors import make, vsix
from mkeyspec.editors import words
from mkeyspec.editors.pygments_lexer import MksLexer
from mkeyspec.syntax.parser import reserved_words

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
