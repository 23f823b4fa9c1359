"""Files of a suite: what may be read, and how."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from mkeyspec.compiler.loader import Loaded, load, report_nothing_to_run
from mkeyspec.diagnostics import limits, render
from mkeyspec.diagnostics.diagnostic import Diagnostics
from mkeyspec.files.suite_root import find_root

CASE = "\ncase c\n    send m\n"


def write(directory: Path, **files: str) -> None:
    """`write(tmp_path, a="mks 1…")` makes a.mks; `sub__a` makes sub/a.mks."""
    for name, text in files.items():
        path = directory / (name.replace("__", "/") + ".mks")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def loaded(path: Path, root: Path | None = None) -> tuple[Loaded | None, list[str], str]:
    """What was loaded, the codes, and the text of all diagnostics."""
    diagnostics = Diagnostics()
    start = time.process_time()
    result = load(path, diagnostics, root)
    assert time.process_time() - start < 5  # processor seconds: what hangs, or grows with the square, takes more
    return result, [d.code for d in diagnostics], render.text(diagnostics)


def lets(result: Loaded | None) -> list[str]:
    assert result is not None
    return [let.name.text for let in result.library]


# Text ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("raw", "code", "place"),
    [
        (b"mks 1\n# gr\xfc\xdfe\n", "MKS0802", "a.mks:2:5"),
        ("mks 1\n".encode("utf-16"), "MKS0802", "a.mks:1:1"),
        (b"mks 1\ncase \0c\n", "MKS0803", "a.mks:2:6"),
        (b"mks 1\n\n\x1b[31m\n", "MKS0803", "a.mks:3:1"),
        (b"mks 1\rcase c\n", "MKS0803", "a.mks:1:6"),
        (b'mks 1\nsuite "a\fb"\n', "MKS0803", "a.mks:2:9"),
        ("mks 1\n# a\u202eb\n".encode(), "MKS0804", "a.mks:2:4"),
        ("mks 1\nlet a\u200bb = 1\n".encode(), "MKS0804", "a.mks:2:6"),
        ("mks 1\n\ufeff\n".encode(), "MKS0804", "a.mks:2:1"),
        (b"", "MKS0805", "a.mks"),
        (b" \n\n", "MKS0805", "a.mks"),
        (b"\xef\xbb\xbf", "MKS0805", "a.mks"),
        (b"mks 1\nsuite \"nothing\"\n", "MKS0806", "a.mks:1:1"),
        (b"# only a remark\n", "MKS0806", "a.mks:1:1"),
        (b"mks 1\n#" + b"x" * limits.FILE_BYTES.most, "MKS0701", "a.mks"),
    ],
    ids=lambda v: v if isinstance(v, str) else "",
)  # fmt: skip
def test_unclean_text(tmp_path: Path, raw: bytes, code: str, place: str) -> None:
    (tmp_path / "a.mks").write_bytes(raw)
    result, codes, text = loaded(tmp_path / "a.mks", tmp_path)
    assert result is None
    assert codes == [code]
    assert f"--> {place}\n" in text
    assert text.isprintable() or "\x1b" not in text
    assert "\u202e" not in text


def test_byte_order_mark_and_windows_line_ends_are_fine(tmp_path: Path) -> None:
    (tmp_path / "a.mks").write_bytes(("\ufeffmks 1" + CASE + "    let x =\n").replace("\n", "\r\n").encode())
    _, codes, text = loaded(tmp_path / "a.mks", tmp_path)
    assert codes == ["MKS0100"]
    assert "a.mks:4:12" in text


def test_a_binary_file_is_a_few_messages(tmp_path: Path) -> None:
    (tmp_path / "a.mks").write_bytes(bytes(range(32)) * 1000)
    _, codes, _ = loaded(tmp_path / "a.mks", tmp_path)
    assert set(codes) == {"MKS0803"}
    assert len(codes) <= 10


def test_what_is_not_a_file(tmp_path: Path) -> None:
    assert loaded(tmp_path / "missing.mks")[1] == ["MKS0801"]
    (tmp_path / "directory.mks").mkdir()
    assert loaded(tmp_path / "directory.mks")[1] == ["MKS0801"]
    os.mkfifo(tmp_path / "pipe.mks")
    assert loaded(tmp_path / "pipe.mks")[1] == ["MKS0801"]
    (tmp_path / "nowhere.mks").symlink_to("missing.mks")
    assert loaded(tmp_path / "nowhere.mks")[1] == ["MKS0801"]
    (tmp_path / "self.mks").symlink_to("self.mks")
    assert loaded(tmp_path / "self.mks")[1] == ["MKS0801"]


# Libraries -----------------------------------------------------------------------------------


def test_a_library_has_lets_and_no_case(tmp_path: Path) -> None:
    write(tmp_path, library="mks 1\nlet a = 1\n", case="mks 1\nlet a = 1\n" + CASE)
    library, codes, _ = loaded(tmp_path / "library.mks", tmp_path)
    assert codes == []
    assert library is not None
    assert not library.file.cases
    case, _, _ = loaded(tmp_path / "case.mks", tmp_path)
    assert case is not None
    assert case.file.cases
    diagnostics = Diagnostics()
    report_nothing_to_run(library.file.source, diagnostics)
    assert [d.code for d in diagnostics] == ["MKS0811"]


# use -----------------------------------------------------------------------------------------


def test_lets_come_in_order_and_once(tmp_path: Path) -> None:
    write(
        tmp_path,
        base="mks 1\nlet t = 1\n",
        left='mks 1\nuse "base.mks"\nlet l = t\n',
        sub__right='mks 1\nuse "../base.mks"\nlet r = t\n' + CASE,
        top='mks 1\nuse "left.mks"\nuse "sub/right.mks"\nlet own = l + r\n' + CASE,
    )
    result, codes, _ = loaded(tmp_path / "top.mks", tmp_path)
    assert codes == []
    assert lets(result) == ["t", "l", "r", "own"]
    assert result is not None
    assert [s.name for s in result.inputs] == ["top.mks", "left.mks", "base.mks", "sub/right.mks"]
    assert [c.name.text for c in result.file.cases] == ["c"]


def test_a_clash_is_reported_at_the_use(tmp_path: Path) -> None:
    write(
        tmp_path,
        one="mks 1\nlet t = 1\n",
        two="mks 1\nlet t = 2\n",
        both='mks 1\nuse "one.mks"\nuse "two.mks"\n' + CASE,
        own='mks 1\nuse "one.mks"\nlet t = 3\n' + CASE,
    )
    _, codes, text = loaded(tmp_path / "both.mks", tmp_path)
    assert codes == ["MKS0810"]
    assert "both.mks:3:5" in text
    assert "one.mks:2:5" in text
    assert "two.mks:2:5" in text
    _, codes, text = loaded(tmp_path / "own.mks", tmp_path)
    assert codes == ["MKS0810"]
    assert "own.mks:2:5" in text


@pytest.mark.parametrize("use", ["/etc/passwd.mks", "../../outside.mks", "../outside.mks", "link.mks", "sub/up.mks"])
def test_nothing_outside_the_root_is_read(tmp_path: Path, use: str) -> None:
    root = tmp_path / "root"
    write(tmp_path, outside="mks 1\nlet secret = 1\n", root__a=f'mks 1\nuse "{use}"\n' + CASE)
    (root / "link.mks").symlink_to(tmp_path / "outside.mks")
    (root / "sub").symlink_to(tmp_path, target_is_directory=True)
    write(tmp_path, up="mks 1\nlet secret = 1\n")
    result, codes, text = loaded(root / "a.mks", root)
    assert codes == ["MKS0808"]
    assert "secret" not in text
    assert result is not None
    assert len(result.inputs) == 1


def test_a_file_outside_of_a_given_root_is_refused(tmp_path: Path) -> None:
    write(tmp_path, a="mks 1\n" + CASE, root__b="mks 1\n" + CASE)
    assert loaded(tmp_path / "a.mks", tmp_path / "root")[1] == ["MKS0808"]


def test_a_link_inside_the_root_is_fine(tmp_path: Path) -> None:
    write(tmp_path, lib="mks 1\nlet a = 1\n", top='mks 1\nuse "link.mks"\nuse "lib.mks"\n' + CASE)
    (tmp_path / "link.mks").symlink_to("lib.mks")
    result, codes, _ = loaded(tmp_path / "top.mks", tmp_path)
    assert codes == []
    assert lets(result) == ["a"]


@pytest.mark.parametrize(
    ("use", "code"),
    [
        ("missing.mks", "MKS0807"),
        ("LIB.mks", "MKS0807"),
        ("lib", "MKS0812"),
        ("lib.py", "MKS0812"),
        ("", "MKS0812"),
        ("sub\\\\lib.mks", "MKS0812"),
        ("a.mks", "MKS0809"),
    ],
)
def test_uses_that_are_none(tmp_path: Path, use: str, code: str) -> None:
    write(tmp_path, lib="mks 1\nlet a = 1\n", a=f'mks 1\nuse "{use}"\n' + CASE)
    assert loaded(tmp_path / "a.mks", tmp_path)[1] == [code]


def test_a_circle_is_shown(tmp_path: Path) -> None:
    write(
        tmp_path,
        a='mks 1\nuse "b.mks"\n' + CASE,
        b='mks 1\nuse "c.mks"\nlet x = 1\n',
        c='mks 1\nuse "b.mks"\nlet y = 1\n',
    )
    _, codes, text = loaded(tmp_path / "a.mks", tmp_path)
    assert codes == ["MKS0809"]
    assert "b.mks -> c.mks -> b.mks" in text


def test_many_files_that_use_each_other_twice_are_read_once(tmp_path: Path) -> None:
    """A chain of diamonds has 2^30 ways through it."""
    write(tmp_path, l0="mks 1\nlet x0 = 1\n")
    for n in range(1, 21):
        write(
            tmp_path,
            **{
                f"a{n}": f'mks 1\nuse "l{n - 1}.mks"\nlet a{n} = 1\n',
                f"b{n}": f'mks 1\nuse "l{n - 1}.mks"\nlet b{n} = 1\n',
                f"l{n}": f'mks 1\nuse "a{n}.mks"\nuse "b{n}.mks"\nlet x{n} = 1\n',
            },
        )
    result, codes, _ = loaded(tmp_path / "l20.mks", tmp_path)
    assert codes == []
    assert len(lets(result)) == 61


def test_too_many_files(tmp_path: Path) -> None:
    for n in range(80):
        write(tmp_path, **{f"l{n}": f'mks 1\nuse "l{n + 1}.mks"\nlet x{n} = 1\n'})
    _, codes, _ = loaded(tmp_path / "l0.mks", tmp_path)
    assert codes == ["MKS0710"]


def test_errors_of_a_used_file_are_reported_in_it(tmp_path: Path) -> None:
    write(tmp_path, lib="mks 1\nlet a =\n", top='mks 1\nuse "lib.mks"\nuse "empty.mks"\n' + CASE, empty="")
    _, codes, text = loaded(tmp_path / "top.mks", tmp_path)
    assert sorted(codes) == ["MKS0100", "MKS0805"]
    assert "lib.mks:2:8" in text


# The root ------------------------------------------------------------------------------------


def test_the_root_is_the_nearest_directory_with_a_marker(tmp_path: Path) -> None:
    write(tmp_path, suite__deep__a="mks 1\n" + CASE)
    deep = tmp_path / "suite" / "deep"
    (tmp_path / "pyproject.toml").touch()
    assert find_root(deep / "a.mks") == tmp_path
    (tmp_path / "suite" / "mkeyspec.toml").touch()
    assert find_root(deep / "a.mks") == tmp_path / "suite"
    assert find_root(deep) == tmp_path / "suite"
    result, _, _ = loaded(deep / "a.mks")
    assert result is not None
    assert result.file.source.name == "deep/a.mks"
