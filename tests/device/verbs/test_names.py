"""Every generation of pyverbs, and those that can't be used."""

from __future__ import annotations

import logging
import sys
import types

import pytest

from mkeyspec.device.protocol import Unavailable
from mkeyspec.device.verbs import names
from tests.device.verbs.fake import Fake, modules

OLD, NEW, MLX5 = "pyverbs.enums", "pyverbs.libibverbs_enums", "pyverbs.providers.mlx5.mlx5_enums"
NEVER = {"MLX5DV_MKEY_CONF_FLAG_RESET_SIG_ATTR", "MLX5DV_MKEY_INIT_ATTR_FLAGS_UPDATE_TAG"}
"""No pyverbs up to today has these."""


def names_of(start: str) -> dict[str, int]:
    return {name: value for name, value in names.expected().items() if name.startswith(start)} | {"IBV_X": 1}


VERBS, DV = names_of("IBV_"), {name: value for name, value in names_of("MLX5DV_").items() if name not in NEVER}


@pytest.mark.parametrize(
    ("present", "scoped", "generation"),
    [
        ({OLD: VERBS, MLX5: DV}, False, "49 or earlier"),
        ({OLD: VERBS, NEW: VERBS, MLX5: DV}, False, "50 to 58"),
        ({OLD: VERBS, NEW: VERBS, MLX5: DV}, True, "50 to 58"),
        ({NEW: VERBS, MLX5: DV}, True, "59 or later"),
    ],
)
def test_every_generation_loads(
    monkeypatch: pytest.MonkeyPatch, present: dict[str, dict[str, int]], scoped: bool, generation: str
) -> None:
    fake = Fake()
    modules(monkeypatch, fake, present, scoped=scoped)
    assert names.load().Mlx5QP is fake.namespace.Mlx5QP
    assert names.generation() == generation
    told = {**names.flat(names.VERBS_ENUMS), **names.flat(names.MLX5_ENUMS)}
    assert {name: told[name] for name in VERBS} == VERBS
    assert {name: told[name] for name in DV} == DV


def test_a_version_is_believed_where_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    modules(monkeypatch, Fake(), {NEW: VERBS}, scoped=True)
    sys.modules["pyverbs"].__version__ = "65.0"  # type: ignore[attr-defined]
    assert names.generation() == "65.0"


def test_a_name_that_is_missing_says_nothing_and_another_number_does(monkeypatch: pytest.MonkeyPatch) -> None:
    assert names.disagreements({}) == []
    modules(monkeypatch, Fake(), {OLD: {**VERBS, "IBV_SEND_INLINE": 16}}, scoped=False)
    with pytest.raises(Unavailable, match=r"MKS0918.*IBV_SEND_INLINE is 0x10, not 0x8"):
        names.load()


@pytest.mark.parametrize("missing", ["pyverbs", "pyverbs.device"])
def test_no_pyverbs(monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    modules(monkeypatch, Fake(), {OLD: VERBS}, scoped=False)

    def importing(name: str) -> types.ModuleType:
        if name.startswith(missing):
            raise ModuleNotFoundError(f"No module named {missing!r}", name=missing)
        return sys.modules[name]

    monkeypatch.setattr("importlib.import_module", importing)
    with pytest.raises(Unavailable, match="MKS0913") as told:
        names.load()
    assert ("another Python" in str(told.value)) == (missing != "pyverbs")


@pytest.mark.parametrize(
    "error", [ImportError("libibverbs.so.1: version `IBVERBS_PRIVATE_59' not found"), AttributeError("Mlx5DEK")]
)
def test_libraries_that_do_not_fit(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    modules(monkeypatch, Fake(), {OLD: VERBS}, scoped=False)

    def importing(name: str) -> types.ModuleType:
        raise error

    monkeypatch.setattr("importlib.import_module", importing)
    with pytest.raises(Unavailable, match=rf"MKS0914.*{error.args[0][:8]}"):
        names.load()


def test_pyverbs_leaves_the_root_logger_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Importing it runs logging.basicConfig."""
    modules(monkeypatch, Fake(), {OLD: VERBS}, scoped=False)
    root = logging.getLogger()
    before = (list(root.handlers), root.level)

    def importing(name: str) -> types.ModuleType:
        root.setLevel(logging.INFO)
        root.addHandler(logging.NullHandler())
        if name not in sys.modules:
            raise ImportError(name)
        return sys.modules[name]

    monkeypatch.setattr("importlib.import_module", importing)
    names.load()
    assert (list(root.handlers), root.level) == before


def test_the_numbers_are_those_of_the_headers() -> None:
    """A few that are easy to get wrong, from verbs.h and mlx5dv.h."""
    expected = names.expected()
    assert expected["IBV_QP_EX_WITH_SEND_WITH_INV"] == 512
    assert expected["MLX5DV_QP_CREATE_SIG_PIPELINING"] == 64
    assert expected["IBV_WC_WR_FLUSH_ERR"] == 5
    assert expected["MLX5DV_SIG_MASK_T10DIF_REFTAG"] == 0x0F
