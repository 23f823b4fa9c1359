"""The lives of keys: the events of a row are those of its plan, and what can follow what."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mkeyspec import cli
from mkeyspec.project.source import compile_source
from mkeyspec.requirements import life
from mkeyspec.requirements.life import LifeCoverage, can_follow, events, pairs, transitions

HEAD = "mks 1\n\ncase small\n    verifies MKY-02\n    memory m = random(64, seed=1)\n"


def test_every_event_is_well_formed() -> None:
    for name, event in events().items():
        assert event.what
        assert event.not_after <= {*events(), "*"}, name
        assert bool(event.why) == bool(event.not_after), f"{name}: what it can't follow has its reason"


@pytest.mark.parametrize(
    ("first", "second", "can"),
    [
        ("create", "configure_all", True),
        ("create", "create", False),
        ("create", "sent", False),  # nothing is configured
        ("configure_all", "sent", True),
        ("local_inv", "sent", False),
        ("local_inv", "refused_use", True),
        ("abort", "refused_use", False),  # the state is unknown
        ("configure_signature", "atomic", False),  # X-OPEN-15
        ("told_error", "told_error", False),  # it was told
        ("destroy", "configure_all", False),
        ("retag", "read_remotely", False),  # the device has the old tag until the key is configured
    ],
)
def test_what_can_follow(first: str, second: str, can: bool) -> None:
    assert can_follow(first, second) is can
    assert ((first, second) in transitions()) is can


def test_a_key_without_a_layout_is_not_used() -> None:
    assert ("create", "configured", "used_locally") in pairs()
    assert ("create", "configured_in_part", "used_locally") not in pairs()
    assert ("told_ok", "told_error", "destroy") not in pairs()


def lives(tmp_path: Path, text: str) -> list[list[set[str]]]:
    """The lives in the one row of a case with these lines."""
    path = tmp_path / "small.mks"
    path.write_text(HEAD + "".join(f"    {line}\n" for line in text.splitlines()), "utf-8")
    compiled = compile_source(path, tmp_path)
    assert compiled.suite is not None, compiled.diagnostics.errors
    return [[set(names) for names in one] for one in life.lives(compiled.suite.cases[0].rows[0])]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("mkey k", []),
        ("mkey k\nconfigure k { access 0; layout list(m) }", [{"configure_all"}]),
        ("mkey k\nconfigure k, reset_signature { layout list(m) }", [{"reset", "configure_layout"}]),
        ("mkey k\nconfigure k\nmr_list k from [m], access 0", [{"configure_none"}, {"mr_list"}]),
        (
            (
                "mkey k { block_signature }\nconfigure k { signature { mem crc32(ones) every 512 } }\n"
                "configure k { access 0; signature { mem crc32(zeros) every 512 } }\n"
                "configure k { signature { wire t10dif() every 512 } }"
            ),
            [{"configure_signature"}, {"configure_access", "same_type"}, {"other_type", "other_domains"}],
        ),
        (
            (
                "mkey k\nconfigure k { access remote_read; layout list(m) }\ntransmit k by peer_read\n"
                "expect wire == m\ninvalidate k by post_send\ntransmit k[0 +: 8] by send\n"
                "    rejected at completion with local_protection"
            ),
            [{"configure_all"}, {"read_remotely"}, {"local_inv"}, {"refused_use"}],
        ),
        (
            "mkey k\nabort { configure k { access 0 } }\nconfigure k { access 0; access 0 }\n    rejected at complete",
            [{"abort"}, {"refused"}],
        ),
        ("mkey k { update_tag }\nretag k to 7\nconfigure k { access 0 }", [{"retag"}, {"configure_access"}]),
    ],
)
def test_events_of_a_plan(tmp_path: Path, text: str, expected: list[set[str]]) -> None:
    (found,) = lives(tmp_path, text)
    assert found == [{"create"}, *expected, {"destroy"}]


def test_a_bad_block_is_the_use_before_its_report(tmp_path: Path) -> None:
    (found,) = lives(
        tmp_path,
        "memory s = flip(framed(random(512, seed=1), crc32(ones) every 512), 512)\nmkey k { block_signature }\n"
        "configure k { access remote_read; layout list(s); signature { mem crc32(ones) every 512 } }\n"
        "transmit k by send\nexpect wire == random(512, seed=1)\ncheck k is bad_guard, block 0\ncheck k is ok",
    )
    assert found[2:] == [{"sent", "bad_block"}, {"told_error"}, {"told_ok"}, {"destroy"}]


def test_an_error_of_a_neighbour_is_an_event_of_each_key(tmp_path: Path) -> None:
    near, top = lives(
        tmp_path,
        "mkey near\nmkey top\nconfigure near { access remote_read; layout list(m) }\n"
        "configure top { access remote_read; layout list(near) }\n"
        "transmit top[0 +: 65] by peer_read\n    rejected at completion with remote_access\n"
        "expect wire[0 +: 64] == any",
    )
    assert near == [{"create"}, {"configure_all"}, {"entry"}, {"qp_error"}, {"destroy"}]
    assert top == [{"create"}, {"configure_all"}, {"refused_use"}, {"destroy"}]


def test_coverage_counts_transitions_and_pairs(tmp_path: Path) -> None:
    path = tmp_path / "small.mks"
    path.write_text(HEAD + "    mkey k\n    configure k { access 0; layout list(m) }\n    invalidate k\n", "utf-8")
    suite = compile_source(path, tmp_path).suite
    assert suite is not None
    found = LifeCoverage()
    found.add(suite.cases[0].rows[0])
    assert set(transitions()) - set(found.missing()) == {
        ("create", "configure_all"),
        ("configure_all", "local_inv"),
        ("local_inv", "destroy"),
    }
    assert set(pairs()) - set(found.missing_pairs()) == {
        ("create", "configured", "invalidated"),
        ("configured", "invalidated", "destroy"),
    }


def test_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mkeyspec.toml").write_text("", "utf-8")
    (tmp_path / "cases").mkdir()
    (tmp_path / "cases" / "small.mks").write_text(HEAD + "    mkey k\n    configure k { access 0 }\n", "utf-8")
    monkeypatch.chdir(tmp_path)
    assert cli.main(["requirements", "coverage", "--life"]) == 1
    lines = capfd.readouterr().out.splitlines()
    assert "create and then: configure_all," in lines[0]
    assert lines[-1].startswith(f"mkeyspec: 2 of {len(transitions())} (0.2%) transitions and 1 of {len(pairs())} ")
    assert lines[-1].endswith("of a key's life are in 1 rows")
    assert cli.main(["requirements", "coverage", "--life", "--format", "json"]) == 1
    found = json.loads(capfd.readouterr().out)
    assert found["transitions"] == len(transitions())
    assert ["create", "configure_access"] not in found["missing_transitions"]
    assert ["create", "configure_all"] in found["missing_transitions"]


def test_a_key_of_another_turn_is_another_key(tmp_path: Path) -> None:
    text = """repeat 2 as i {
    mkey k { block_signature }
    configure k { access local_write; layout list(m) }
    if i == 2 { transmit k by send; expect wire == m }
    destroy k
}"""
    first, second = lives(tmp_path, text)
    configured = [{"create"}, {"configure_all"}]
    assert first == [*configured, {"destroy"}]
    assert second == [*configured, {"sent"}, {"destroy"}]
