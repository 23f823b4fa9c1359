"""The examples: a vendor's repository, and a device of another package, as a vendor copies them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.plugin.project import ROOT, Done

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ACME = ROOT / "examples/acme"
DEVICE = ROOT / "examples/acme-device"
LIBRARY = ROOT / "examples/acme-library"
LAB = ROOT / "examples/lab"


def packaged() -> dict[str, Any]:
    return tomllib.loads((DEVICE / "pyproject.toml").read_text("utf-8"))


@pytest.fixture
def away(tmp_path: Path) -> Path:
    """Both, away from the checkout; the device as if it was installed, and `mkeyspec` on the path."""
    shutil.copytree(ACME, tmp_path / "acme", ignore=shutil.ignore_patterns("reports", "generated"))
    shutil.copytree(DEVICE / "acme_device", tmp_path / "site/acme_device")
    facts = tmp_path / "site/acme_device-1.0.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-device\nVersion: 1.0\n", "utf-8")
    entries = packaged()["project"]["entry-points"]["mkeyspec.devices"]
    lines = [f"{name} = {value}\n" for name, value in entries.items()]
    (facts / "entry_points.txt").write_text("[mkeyspec.devices]\n" + "".join(lines), "utf-8")
    program = tmp_path / "bin/mkeyspec"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m mkeyspec "$@"\n', "utf-8")
    program.chmod(0o755)
    return tmp_path


def run(away: Path, *command: str) -> Done:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "COV_"))}
    environment["PYTHONPATH"] = os.pathsep.join((str(ROOT), str(away / "site")))
    environment["PATH"] = f"{away / 'bin'}{os.pathsep}{environment['PATH']}"
    done = subprocess.run(
        command, cwd=away / "acme", env=environment, capture_output=True, text=True, check=False, timeout=300
    )
    return Done(done.returncode, done.stdout, done.stderr)


def test_what_a_vendors_ci_does(away: Path) -> None:
    done = run(away, "./ci.sh")
    assert done.code == 0, done.out + done.err
    assert "3 of 3 testable entries have their cases" in done.out
    assert "8 passed, 0 failed, 0 skipped on model" in done.out
    reports = away / "acme/reports"
    assert all((reports / name).is_file() for name in ("junit.xml", "report.html"))


def test_a_run_that_fails_fails_it_and_leaves_its_reports(away: Path) -> None:
    cases = away / "acme/cases/volume.mks"
    cases.write_text(
        cases.read_text("utf-8").replace("wire == on_the_wire(n, 1)", "wire == on_the_wire(n, 2)"), "utf-8"
    )
    done = run(away, "./ci.sh")
    assert done.code == 1, done.out + done.err
    assert "5 passed, 3 failed (3 MKS2101)" in done.out
    assert (away / "acme/reports/report.html").is_file()


def test_the_device_runs_the_suite_and_notes_its_calls(away: Path) -> None:
    done = run(away, "./ci.sh", "--device", "acme:calls.txt")
    assert done.code == 0, done.out + done.err
    assert "8 passed, 0 failed, 0 skipped on acme:calls.txt" in done.out
    calls = (away / "acme/calls.txt").read_text("utf-8").splitlines()
    assert {"memory owner 1024", "qp_pair rc", "release healthy"} & {*calls}
    assert any(re.fullmatch(r"post \d+ Configure( .*)?", call) for call in calls)


def test_the_device_passes_the_kit(away: Path) -> None:
    done = run(
        away, sys.executable, "-m", "pytest", "-q", "--pyargs", "mkeyspec.device.kit", "--device", "acme:calls.txt"
    )
    assert done.code == 0, done.out
    assert done.counts["passed"] > 80
    assert done.counts["skipped"] == 4, "crypto and logins, which it does not offer"


def test_a_file_that_cannot_be_written_is_one_line(away: Path) -> None:
    done = run(away, "mkeyspec", "run", "--device", "acme:no/such/calls.txt")
    assert done.code == 2
    assert "error[MKS0944]: acme can't write no/such/calls.txt: No such file or directory; name" in done.out + done.err


WORKFLOWS = ["Jenkinsfile", ".gitlab-ci.yml", ".github/workflows/mkeyspec.yml"]


def commands_of(name: str) -> list[str]:
    """What a CI runs in a shell."""
    text = (ACME / name).read_text("utf-8")
    if name == "Jenkinsfile":
        return re.findall(r"\bsh '([^']+)'", text)
    file = yaml.safe_load(text)
    jobs = file.get("jobs", file)
    job = jobs["mkeyspec"]
    return [step["run"] for step in job["steps"] if "run" in step] if "steps" in job else list(job["script"])


PIP = '#!/bin/sh\necho "pip $*" >>"{notes}"\n'
VENV = """#!/bin/sh
[ "$1 $2" = "-m venv" ] || exit 1
mkdir -p "$3/bin" && cp "{bin}/pip" "{bin}/mkeyspec" "$3/bin"
"""


@pytest.mark.parametrize("name", WORKFLOWS)
def test_the_commands_of_each_ci_run(away: Path, name: str) -> None:
    """With a pip that installs nothing: mkeyspec is here already."""
    programs = {"pip": PIP.format(notes=away / "notes"), "python3": VENV.format(bin=away / "bin")}
    for program, text in programs.items():
        (away / "bin" / program).write_text(text, "utf-8")
        (away / "bin" / program).chmod(0o755)
    for command in commands_of(name):
        done = run(away, "/bin/bash", "-e", "-c", command)
        assert done.code == 0, (command, done.out, done.err)
    assert re.fullmatch(r"pip install (--quiet )?mkeyspec\n", (away / "notes").read_text("utf-8"))
    assert (away / "acme/reports/junit.xml").is_file()


@pytest.mark.parametrize("name", WORKFLOWS)
def test_the_how_to_shows_the_files_as_they_are(name: str) -> None:
    page = (ROOT / "docs/howto/vendor_ci.md").read_text("utf-8")
    assert f"\n{(ACME / name).read_text('utf-8')}```\n" in page


@pytest.mark.parametrize("name", WORKFLOWS)
def test_each_ci_does_the_same(name: str) -> None:
    text = (ACME / name).read_text("utf-8")
    assert "./ci.sh" in text
    assert "mkeyspec run" not in text
    assert "reports/" in text


def test_what_the_vendors_readme_names_is_there() -> None:
    text = (ACME / "README.md").read_text("utf-8")
    named = {name for row in re.findall(r"^\| (`.*?) \|", text, re.MULTILINE) for name in re.findall(r"`([^`]+)`", row)}
    there = {str(path.relative_to(ACME)) for path in ACME.rglob("*") if path.is_file()}
    kept = {name for name in there if not name.startswith(("reports/", "generated/", ".pytest_cache/"))}
    assert named == kept - {"README.md", ".gitignore"}


# The library -----------------------------------------------------------------------------------


def test_a_library_that_pip_has_installed(tmp_path: Path) -> None:
    """The wheel has the `.mks` files; a suite elsewhere uses them. Where pip can't build it here, its wheel is made."""
    source, site, suite = tmp_path / "source", tmp_path / "site", tmp_path / "acme"
    shutil.copytree(LIBRARY, source)
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-index", "--no-build-isolation"]
    if find_spec("pip") is not None and find_spec("hatchling") is not None:
        subprocess.run([*pip, "--target", str(site), str(source)], check=True, timeout=300)
        assert (site / "acme_volumes-1.0.dist-info/RECORD").is_file()
    else:
        wheel = tomllib.loads((source / "pyproject.toml").read_text("utf-8"))["tool"]["hatch"]["build"]["targets"][
            "wheel"
        ]
        for package in wheel["packages"]:
            shutil.copytree(source / package, site / package)
    (suite / "cases").mkdir(parents=True)
    text = (ROOT / "docs/howto/write_a_library.md").read_text("utf-8")
    [used] = re.findall(r'^use "pkg:.*"$', text, re.M)
    [case] = re.findall(r"^case a_block_leaves_with_its_guard\n(?:    .*\n)+", text, re.M)
    (suite / "cases/a.mks").write_text(f'mks 1\nsuite "a volume"\n{used}\n\n{case}', "utf-8")
    done = run(tmp_path, sys.executable, "-m", "mkeyspec", "run", "cases")
    assert done.code == 0, done.out + done.err
    assert "3 passed" in done.out
    units = site / "acme_volumes/internal/units.mks"
    units.write_text(units.read_text("utf-8").replace("512", "4096"), "utf-8")
    again = run(tmp_path, sys.executable, "-m", "mkeyspec", "check", "cases")
    assert again.code == 0, again.out + again.err
    assert run(tmp_path, sys.executable, "-m", "mkeyspec", "fmt", "--check", str(site)).code == 0


def test_a_lab_by_a_scheduler(away: Path) -> None:
    """Two tasks of the array are both parts of one device; what they leave is merged."""
    shutil.copytree(LAB, away / "lab", ignore=shutil.ignore_patterns("reports", "generated"))
    lab = away / "lab/lab.toml"
    lab.write_text(lab.read_text("utf-8").replace("soft:cx7", "model"), "utf-8")
    slurm = away / "lab/slurm.sh"
    slurm.write_text(slurm.read_text("utf-8").replace("soft:cx7", "model"), "utf-8")
    for task in (0, 1):
        done = run(away, "env", f"SLURM_ARRAY_TASK_ID={task}", "../lab/slurm.sh")
        assert done.code == 0, done.out + done.err
    done = run(away, "../lab/merge.sh")
    assert re.search(r"^A  alpha/model +6$", done.out, re.MULTILINE), done.out
    assert (away / "lab/reports/lab.html").is_file()


def test_the_files_of_a_labs_schedulers_name_its_devices() -> None:
    devices = {
        f"{one['host']}/{one['device']}" for one in tomllib.loads((LAB / "lab.toml").read_text("utf-8"))["device"]
    }
    gitlab = yaml.safe_load((LAB / ".gitlab-ci.yml").read_text("utf-8"))
    github = yaml.safe_load((LAB / ".github/workflows/lab.yml").read_text("utf-8"))
    slurm = re.search(r"^devices=\((.*)\)$", (LAB / "slurm.sh").read_text("utf-8"), re.MULTILINE)
    assert slurm is not None
    assert set(slurm[1].split()) == devices
    assert set(gitlab["device"]["parallel"]["matrix"][0]["DEVICE"]) == devices
    assert set(github["jobs"]["device"]["strategy"]["matrix"]["device"]) == devices
