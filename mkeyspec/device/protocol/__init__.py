"""The interface between the rig and a device: objects, work requests, completions, all as typed values.

A device is the fixture of one worker: two endpoints, `owner` (holds the mkey under test) and
`peer`, joined by connected QP pairs. Three devices implement it: the model, the software
NIC and a real NIC under pyverbs. Every number is the page's own (struct members, enum values),
so a wrong one can be passed on purpose.
"""

from mkeyspec.device.protocol.answers import *  # noqa: F403
from mkeyspec.device.protocol.device import *  # noqa: F403
from mkeyspec.device.protocol.login import *  # noqa: F403
from mkeyspec.device.protocol.objects import *  # noqa: F403
from mkeyspec.device.protocol.path import ANY_PATH as ANY_PATH
from mkeyspec.device.protocol.path import PathChoice as PathChoice
from mkeyspec.device.protocol.requests import *  # noqa: F403
