"""Packs the extension of VS Code: `python editors/vsix.py FILE.vsix`.

A .vsix is a zip file with a manifest. npm brings the packages that the extension runs with, at the versions and
checksums of package-lock.json; their scripts are not run. `vsce`, which packs for the marketplace, needs a newer Node
than Debian 12 has.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

ROOT = Path(__file__).resolve().parents[1]
EXTENSION = ROOT / "editors" / "vscode"
WHEN = (1980, 1, 1, 0, 0, 0)
"""Each file's time: two runs give the same bytes."""
MANIFEST = """<?xml version="1.0" encoding="utf-8"?>
<PackageManifest Version="2.0.0" xmlns="http://schemas.microsoft.com/developer/vsx-schema/2011">
  <Metadata>
    <Identity Language="en-US" Id={name} Version={version} Publisher={publisher} />
    <DisplayName>{displayName}</DisplayName>
    <Description xml:space="preserve">{description}</Description>
    <Categories>Programming Languages</Categories>
    <Properties>
      <Property Id="Microsoft.VisualStudio.Code.Engine" Value={engine} />
    </Properties>
    <License>extension/LICENSE.txt</License>
  </Metadata>
  <Installation>
    <InstallationTarget Id="Microsoft.VisualStudio.Code" />
  </Installation>
  <Dependencies />
  <Assets>
    <Asset Type="Microsoft.VisualStudio.Code.Manifest" Path="extension/package.json" Addressable="true" />
  </Assets>
</PackageManifest>
"""
TYPES = """<?xml version="1.0" encoding="utf-8"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
{lines}
</Types>
"""
KNOWN = {
    ".json": "application/json",
    ".js": "application/javascript",
    ".vsixmanifest": "text/xml",
    ".txt": "text/plain",
}


def manifest(package: dict[str, object]) -> str:
    """The manifest of package.json's facts."""
    engines = package["engines"]
    assert isinstance(engines, dict)
    attributes = {name: quoteattr(str(package[name])) for name in ("name", "version", "publisher")}
    texts = {name: escape(str(package[name])) for name in ("displayName", "description")}
    return MANIFEST.format(**attributes, **texts, engine=quoteattr(str(engines["vscode"])))


def pack(folder: Path, out: Path) -> None:
    """Writes `out` from an extension's folder, with the packages that are in its node_modules."""
    package = json.loads((folder / "package.json").read_text("utf-8"))
    paths = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    files = {f"extension/{path.relative_to(folder).as_posix()}": path for path in paths}
    files["extension/LICENSE.txt"] = ROOT / "LICENSE"
    texts = {"extension.vsixmanifest": manifest(package)}
    endings = sorted({Path(name).suffix for name in (*files, *texts)} - {""})
    kinds = {one: KNOWN.get(one, "application/octet-stream") for one in endings}
    lines = (f'  <Default Extension="{one}" ContentType="{kind}" />' for one, kind in kinds.items())
    texts["[Content_Types].xml"] = TYPES.format(lines="\n".join(lines))
    contents = {name: text.encode() for name, text in texts.items()}
    contents |= {name: path.read_bytes() for name, path in files.items()}
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in contents.items():
            archive.writestr(zipfile.ZipInfo(name, WHEN), content, zipfile.ZIP_DEFLATED)


def main(arguments: Sequence[str]) -> int:
    if len(arguments) != 1 or arguments[0].startswith("-"):
        print((__doc__ or "").strip(), file=sys.stderr)
        return 2
    npm = shutil.which("npm")
    if npm is None:
        print("there is no npm; on Debian and Ubuntu: apt-get install npm", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="mkeyspec-vsix-") as work:
        folder = Path(work) / "vscode"
        shutil.copytree(EXTENSION, folder, ignore=shutil.ignore_patterns("node_modules"))
        command = [npm, "ci", "--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund", "--no-bin-links"]
        done = subprocess.run(command, cwd=folder, check=False, stdout=sys.stderr)
        if done.returncode:
            return 1
        pack(folder, Path(arguments[0]))
    print(f"{arguments[0]}: {Path(arguments[0]).stat().st_size:,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
