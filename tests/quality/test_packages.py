"""The parts of the package are folders; tests have the same ones."""

from __future__ import annotations

from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2] / "mkeyspec"


def test_three_modules_are_loose() -> None:
    assert sorted(file.stem for file in PACKAGE.glob("*.py")) == ["__init__", "__main__", "runtime", "store"]


def test_tests_have_the_folders_of_the_package() -> None:
    """`plan` is tested by the compiler that makes it, `abi` by the devices, `files` by its users."""
    tests = PACKAGE.parent / "tests"
    packages = {file.parent.name for file in PACKAGE.glob("*/__init__.py")}
    assert packages - {folder.name for folder in tests.iterdir()} == {"plan", "abi", "files"}
