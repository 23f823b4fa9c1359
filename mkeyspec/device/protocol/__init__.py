"""What a device is to the rig: objects, work requests, completions; typed values in, typed values out.

A device is the fixture of one worker: two endpoints, `owner` (holds the mkey under test) and
`peer`, joined by connected QP pairs. Three devices speak this protocol: the model, the software
NIC and a real NIC under pyverbs. Every number is the page's own (struct members, enum values),
so that a wrong one can be passed on purpose.
"""

from mkeyspec.device.protocol.answers import (
    AsyncEvent,
    Capabilities,
    Completion,
    Info,
    NoSuchCall,
    Refused,
    SignatureError,
    Unavailable,
    Unsupported,
)
from mkeyspec.device.protocol.device import Device
from mkeyspec.device.protocol.objects import Dek, Memory, Mkey, Pd, Qp, QpAttributes, QpPair, Side
from mkeyspec.device.protocol.requests import (
    Configure,
    CryptoAttr,
    DcAddress,
    FetchAdd,
    Interleaved,
    LocalInv,
    Memcpy,
    MrInterleaved,
    MrList,
    RawWqe,
    Read,
    Send,
    SetAccess,
    SetCrypto,
    SetInterleaved,
    SetList,
    SetSignature,
    Setter,
    Sge,
    SigBlockAttr,
    SigBlockDomain,
    SigCrc,
    SigT10dif,
    StraySetter,
    WorkRequest,
    Write,
)

__all__ = [
    "AsyncEvent", "Capabilities", "Completion", "Configure", "CryptoAttr", "DcAddress", "Dek", "Device",
    "FetchAdd", "Info", "Interleaved", "LocalInv", "Memcpy", "Memory", "Mkey", "MrInterleaved", "MrList",
    "NoSuchCall", "Pd", "Qp", "QpAttributes", "QpPair", "RawWqe", "Read", "Refused", "Send", "SetAccess", "SetCrypto",
    "SetInterleaved", "SetList", "SetSignature", "Setter", "Sge", "Side", "SigBlockAttr", "SigBlockDomain",
    "SigCrc", "SigT10dif", "SignatureError", "StraySetter", "Unavailable", "Unsupported", "WorkRequest",
    "Write",
]  # fmt: skip
