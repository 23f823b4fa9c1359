"""The plan: what a checked case asks of a device, step by step, with every value typed.

`compiler` lowers a case to a plan, `emit` writes it down as Python (the `repr` of these classes is
the text of a generated module), `run` carries it out. A plan knows neither the language's tree
nor a device. Numbers are the pages' own (flags, masks, enum values). Where a number may depend on
the device it is an `Int`: an int, or a `Live` value that the rig reads when it gets there.

Every public name of these modules is a name of the package, so that a new class needs no line here.
"""

from mkeyspec.plan.case import *  # noqa: F403
from mkeyspec.plan.claim import *  # noqa: F403
from mkeyspec.plan.dek import *  # noqa: F403
from mkeyspec.plan.location import *  # noqa: F403
from mkeyspec.plan.login import *  # noqa: F403
from mkeyspec.plan.observation import *  # noqa: F403
from mkeyspec.plan.request import *  # noqa: F403
from mkeyspec.plan.setter import *  # noqa: F403
from mkeyspec.plan.step import *  # noqa: F403
from mkeyspec.plan.use import *  # noqa: F403
