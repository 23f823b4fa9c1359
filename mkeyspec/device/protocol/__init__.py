"""What a device is to the rig: objects, work requests, completions; typed values in, typed values out.

A device is the fixture of one worker: two endpoints, `owner` (holds the mkey under test) and
`peer`, joined by connected QP pairs. Three devices speak this protocol: the model, the software
NIC and a real NIC under pyverbs. Every number is the page's own (struct members, enum values),
so that a wrong one can be passed on purpose.
"""

from mkeyspec.device.protocol.answers import *  # noqa: F403
from mkeyspec.device.protocol.device import *  # noqa: F403
from mkeyspec.device.protocol.objects import *  # noqa: F403
from mkeyspec.device.protocol.requests import *  # noqa: F403
