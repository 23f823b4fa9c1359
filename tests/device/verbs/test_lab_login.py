"""The file that says what to log in to a NIC with. No message about it quotes it."""

from __future__ import annotations

from pathlib import Path

import pytest

from mkeyspec.device.protocol import LabLogin, Unavailable
from mkeyspec.device.verbs import lab_login

CREDENTIAL, KEK = "a1" * 40, "b2" * 16
RIGHT = f'credential_id = 0x2b\ncredential = "{CREDENTIAL}"\nimport_kek_id = 7\nimport_kek = "{KEK}"\n'


def test_right(tmp_path: Path) -> None:
    path = tmp_path / "login.toml"
    for kek in (KEK, KEK * 2):
        path.write_text(RIGHT.replace(KEK, kek), encoding="utf-8")
        wanted = LabLogin(0x2B, bytes.fromhex(CREDENTIAL), 7, bytes.fromhex(kek))
        assert lab_login.of_environment({lab_login.VARIABLE: str(path)}) == wanted


def test_none() -> None:
    assert lab_login.of_environment({}) is None
    assert lab_login.of_environment({lab_login.VARIABLE: ""}) is None


WRONG = {
    RIGHT.replace("import_kek =", "kek ="): "lacks import_kek",
    "": "lacks credential_id, import_kek_id, credential, import_kek",
    RIGHT + "more = 1": "has a key that is none of credential_id, import_kek_id, credential, import_kek",
    RIGHT.replace("0x2b", "0x1000000"): "credential_id is not a number from 0 to 0xffffff",
    RIGHT.replace("0x2b", "true"): "credential_id is not a number",
    RIGHT.replace("= 7", "= -1"): "import_kek_id is not a number",
    RIGHT.replace(KEK, KEK + "b2"): "import_kek has 34 hexadecimal digits, not 32 or 64",
    RIGHT.replace(KEK, "b2" * 24): "import_kek has 48 hexadecimal digits, not 32 or 64",
    RIGHT.replace(CREDENTIAL, CREDENTIAL[2:]): "credential has 78 hexadecimal digits, not 80",
    RIGHT.replace(CREDENTIAL, "x" + CREDENTIAL[1:]): "credential is not 80 hexadecimal digits",
    RIGHT.replace(f'"{CREDENTIAL}"', "5"): "credential is not 80 hexadecimal digits",
    RIGHT.replace(f'"{KEK}"', f'"{KEK}'): "is not TOML (line 4, column",
    RIGHT + f'"{KEK}"': "is not TOML (end of document)",
}


@pytest.mark.parametrize("text", WRONG, ids=WRONG.values())
def test_wrong(text: str, tmp_path: Path) -> None:
    path = tmp_path / "login.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(Unavailable) as caught:
        lab_login.load(path)
    message = str(caught.value)
    assert message.startswith(f"error[MKS0946]: {path}, which MKEYSPEC_CRYPTO_LOGIN names, ")
    assert WRONG[text] in message
    assert "a1a1" not in message
    assert "b2b2" not in message
    assert "\n" not in message


def test_unreadable(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match=r"can't be read: No such file"):
        lab_login.load(tmp_path / "none.toml")
    (tmp_path / "latin.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(Unavailable, match="is not UTF-8"):
        lab_login.load(tmp_path / "latin.toml")
