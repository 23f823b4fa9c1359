"""What a wheel must contain: `python wheel.py FILE`."""

import sys
import zipfile

WANTED = {
    "the software NIC": "mkeyspec/_data/softnic/libmkeyspec_softnic.so",
    "its sources": "mkeyspec/_data/softnic/engine/execute.c",
    "the shipped cases": "mkeyspec/_data/cases/signature/crc.mks",
    "the profile of the shipped cases": "mkeyspec/_data/cases/quick.toml",
    "the documentation": "mkeyspec/_data/docs/howto/editor.md",
    "the grammar": "mkeyspec/_data/grammar/mks.lark",
    "the templates": "mkeyspec/emit/templates/",
    "the requirements": "mkeyspec/_data/requirements/mlx5dv_wr_mkey_configure.toml",
    "the expectations": "mkeyspec/_data/expectations/rdma-core.toml",
    "the explanations": "mkeyspec/explanations/MKS2101.md",
    "the personalities": "mkeyspec/personalities/",
    "the sabotage catalogue": "mkeyspec/sabotage/catalogue.toml",
    "the conformance kit of devices": "mkeyspec/device/kit/test_work.py",
    "the mark that it is typed": "mkeyspec/py.typed",
}

names = zipfile.ZipFile(sys.argv[1]).namelist()
missing = [what for what, path in WANTED.items() if not any(name.startswith(path) for name in names)]
foreign = [
    name for name in names if name.endswith((".o", ".pyc")) or name.startswith(("tests/", "cases/", "examples/"))
]
print(f"{sys.argv[1].rsplit('/', 1)[-1]}: {len(names)} files")
for what in missing:
    print(f"missing: {what}, {WANTED[what]}")
for name in foreign:
    print(f"should not be there: {name}")
sys.exit(bool(missing or foreign))
