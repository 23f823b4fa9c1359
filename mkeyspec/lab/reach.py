"""How a host is reached: here, by ssh, or by any other specification of execnet."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import get_close_matches

LOCAL = "local"
_WAYS = ("popen", "ssh", "socket", "vagrant_ssh")
_SETTINGS = ("python", "chdir", "nice", "ssh_config", "execmodel", "dont_write_bytecode")
_ENVIRONMENT = re.compile(r"env:[A-Za-z_]\w*\Z")
_VALUED = frozenset({"ssh", "socket", "vagrant_ssh", "python", "chdir", "nice", "ssh_config", "execmodel"})


class WrongReach(ValueError):
    """`str()` is one line with the fix."""


@dataclass(frozen=True, slots=True)
class Reach:
    """`spec`: of execnet, whole: `ssh=root@alpha//python=/opt/mkeyspec/bin/python`."""

    text: str
    spec: str

    @property
    def parts(self) -> dict[str, str]:
        """By their keys; those without a value are ""."""
        pairs = (part.partition("=") for part in self.spec.split("//"))
        return {key: value for key, _, value in pairs}

    @property
    def is_local(self) -> bool:
        return "popen" in self.parts

    @staticmethod
    def of(text: str, python: str) -> Reach:
        """Raises WrongReach. `python`: the interpreter there; "": of a local host this one, else `python3`."""
        parts = ["popen" if part == LOCAL else part for part in text.split("//")]
        keys = [part.partition("=")[0] for part in parts]
        for part, key in zip(parts, keys, strict=True):
            if key not in (*_WAYS, *_SETTINGS) and not _ENVIRONMENT.match(key):
                near = get_close_matches(key, [LOCAL, *_WAYS, *_SETTINGS], n=1)
                advice = f"did you mean {near[0]}?" if near else "write local, ssh=HOST or another one of execnet"
                raise WrongReach(f"`reach` has no {key!r}: {advice}")
            if key in _VALUED and not part.partition("=")[2].strip():
                raise WrongReach(f"`reach` says {key} without a value: write {key}=VALUE")
            if key == "ssh" and part.partition("=")[2].strip().startswith("-") and " " not in part.strip():
                raise WrongReach("`reach` says ssh= without a host")
        ways = [key for key in keys if key in _WAYS]
        if len(ways) != 1:
            raise WrongReach(f"`reach` is one way to the host, and here are {len(ways)}: write local or ssh=HOST")
        double = next((key for key in keys if keys.count(key) > 1), None)
        if double is not None:
            raise WrongReach(f"`reach` has {double} twice")
        if python and "python" in keys:
            raise WrongReach("`reach` has python=, and there is a key `python`; leave one out")
        if not python and "python" not in keys and ways[0] in ("ssh", "vagrant_ssh"):
            python = "python3"  # execnet's own default, `python`, is not on every machine
        if python:
            if "//" in python:
                raise WrongReach("`python` has //, which separates the parts of a specification of execnet")
            parts.append(f"python={python}")
        return Reach(text, "//".join(parts))


def way_to(owner: Reach, peer: Reach, *, same: bool) -> tuple[str, ...] | None:
    """How a host reaches another one, in the parts of `--peer`; None if that can't be said.

    A host that is reached by ssh from here is reached so from the other one too; one that is here is reached from here
    alone, as another process.
    """
    if same or (owner.is_local and peer.is_local):
        return ("popen",)
    ssh = peer.parts.get("ssh")
    if ssh is None:
        return None
    python, config = peer.parts.get("python"), peer.parts.get("ssh_config")
    return (f"ssh={ssh}", *([f"python={python}"] if python else []), *([f"ssh_config={config}"] if config else []))
