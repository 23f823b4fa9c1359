"""On the software NIC, as JSON: which rows of cases.mks fail each fault of pairs.toml, and which rows come to it.

`python -m tests.sabotage.conditional FOLDER`, where the modules are written.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from mkeyspec.device.profile.profile import Profile
from mkeyspec.device.select import open_choice, parse
from mkeyspec.device.soft import preload
from mkeyspec.device.verbs import names, opening
from mkeyspec.files import resource
from mkeyspec.run.departures import Expectations
from mkeyspec.run.rig import Rig
from mkeyspec.sabotage.campaign import campaign
from mkeyspec.sabotage.catalogue import of_device
from mkeyspec.sabotage.conditions import soft_reach
from mkeyspec.sabotage.conditions.parts import LEFT_OUT
from mkeyspec.sabotage.suite import load
from mkeyspec.store import Store
from tests.sabotage import conditional

NEVER = "size>=1000000000"


def rig(name: str) -> Rig:
    os.environ[preload.FAULT] = name
    device = open_choice(parse("soft"), Profile())
    expectations = Expectations.load(list(resource.directory("expectations").glob("*.toml")), device.info())
    return Rig(device, Profile(), expectations, deadline=1.0)


def main() -> None:
    os.environ.setdefault(preload.FAULT, "")
    preload.ensure(None, whole=True)
    opening.devices(names.load())
    items = load([conditional.CASES], Store(conditional.CASES.parent, Path(sys.argv[1])))
    place = {item.id.partition("::")[2]: number for number, item in enumerate(items)}
    pairs = conditional.pairs()
    rows = {fault: [place[kills], place[spares]] for fault, kills, spares in pairs.values()}
    everything = range(len(items))
    rows.update({f"{name}@{NEVER}": list(everything) for name in list(of_device("soft"))[::30] if name not in LEFT_OUT})
    reached = soft_reach.reach(items, {fault: conditional.fault(fault) for fault, _, _ in pairs.values()}, rig, 2)
    found = {
        one.fault: {
            "unopened": one.unopened,
            "kills": {items[row].id.partition("::")[2]: how for row, how in one.kills.items()},
        }
        for one in campaign(rows, items, rows.__getitem__, rig, 2, whole=True, deadline=30)
    }
    print(
        json.dumps(
            {
                "faults": found,
                "reached": {
                    fault: [items[row].id.partition("::")[2] for row in some] for fault, some in reached.rows.items()
                },
                "failing": reached.failing,
                "rows": [item.id.partition("::")[2] for item in items],
            }
        )
    )


if __name__ == "__main__":
    main()
