"""`mkeyspec lsp` where it can't run."""

from __future__ import annotations

import pytest

from mkeyspec.cli import lsp, main


def test_without_pygls(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(lsp, "find_spec", lambda name: None)
    assert main(["lsp"]) == 2
    assert "error[MKS0956]: the language server needs pygls: pip install 'mkeyspec[lsp]'" in capsys.readouterr().err
