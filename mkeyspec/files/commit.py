"""The commit of a project."""

from __future__ import annotations

import subprocess
from pathlib import Path

_SECONDS = 5.0


def commit_of(root: Path) -> tuple[str, bool]:
    """The commit of the project, and whether tracked files differ from it; "" without git."""

    def git(*words: str) -> str:
        # As the user sees the project: no lock is taken, so that this can't disturb another git.
        done = subprocess.run(
            ["git", "--no-optional-locks", *words],
            cwd=root,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_SECONDS,
            check=True,
            stdin=subprocess.DEVNULL,
        )
        return done.stdout.strip()

    try:
        commit = git("rev-parse", "--verify", "--quiet", "HEAD")
        return commit, bool(git("status", "--porcelain", "--untracked-files=no"))
    except (OSError, subprocess.SubprocessError):
        return "", False
