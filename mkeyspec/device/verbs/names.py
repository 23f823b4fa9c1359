"""pyverbs, whichever release is installed: its modules, its classes, and the numbers of its names.

Releases differ in three ways only: up to 49 the enumerations are in `pyverbs.enums`, from 59 in
`pyverbs.libibverbs_enums`, in between in both; their members are names of the module, or of scoped classes, or both;
and some names are missing from every release. So no number is taken from pyverbs: the numbers of the ABI are here and
in `mkeyspec.abi.constants`. Those of pyverbs are compared with them once, when it is loaded.
"""

from __future__ import annotations

import enum
import errno
import importlib
import logging
import sys
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

from mkeyspec.abi import constants
from mkeyspec.device.protocol import Unavailable
from mkeyspec.device.verbs import pyverbs_location

VERBS_ENUMS = ("pyverbs.libibverbs_enums", "pyverbs.enums")
MLX5_ENUMS = ("pyverbs.providers.mlx5.mlx5_enums",)

CLASSES: Mapping[str, tuple[str, ...]] = {
    # mlx5dv first: loading it registers the driver, before anything lists devices.
    "pyverbs.providers.mlx5.mlx5dv": (
        "Mlx5Context", "Mlx5DVContextAttr", "Mlx5QP", "Mlx5DVQPInitAttr", "Mlx5DVDCInitAttr", "Mlx5DCIStreamInitAttr",
    ),
    "pyverbs.providers.mlx5.mlx5dv_mkey": (
        "Mlx5Mkey", "Mlx5MkeyConfAttr", "Mlx5MrInterleaved", "Mlx5SigCrc", "Mlx5SigT10Dif", "Mlx5SigBlockDomain",
        "Mlx5SigBlockAttr",
    ),
    "pyverbs.providers.mlx5.mlx5dv_crypto": ("Mlx5DEK", "Mlx5DEKInitAttr", "Mlx5CryptoAttr"),
    "pyverbs.device": ("get_device_list",),
    "pyverbs.pd": ("PD",),
    "pyverbs.mr": ("MR",),
    "pyverbs.cq": ("CQ",),
    "pyverbs.qp": ("QPCap", "QPInitAttrEx", "QPAttr", "DataBuffer"),
    "pyverbs.srq": ("SRQ", "SrqInitAttr", "SrqAttr"),
    "pyverbs.wr": ("SGE", "RecvWR", "SendWR"),
    "pyverbs.addr": ("AH", "AHAttr", "GID", "GlobalRoute"),
    "pyverbs.pyverbs_error": ("PyverbsError", "PyverbsRDMAError", "PyverbsUserError"),
}  # fmt: skip
"""What this project uses of pyverbs; all of it is in 39 and in the newest."""

MAYBE: Mapping[str, tuple[str, ...]] = {
    "pyverbs.providers.mlx5.mlx5dv_crypto": ("Mlx5CryptoLogin", "Mlx5CryptoExtLoginAttr"),
}
"""What it uses where it is there; None otherwise."""

# Numbers that are not a page's words, by the headers' names. -----------------------------------

QPT = {"rc": 2, "uc": 3, "ud": 4, "raw_packet": 8, "xrc_send": 9, "dci": 0xFF}
"""enum ibv_qp_type by the language's words; a DCI is IBV_QPT_DRIVER."""

RTS, SQD = 3, 4
QP_STATE, QP_CUR_STATE = 1 << 0, 1 << 1
INIT_ATTR_PD, INIT_ATTR_SEND_OPS = 1 << 0, 1 << 6

EX_WRITE, EX_WRITE_IMM, EX_SEND, EX_SEND_IMM = 1 << 0, 1 << 1, 1 << 2, 1 << 3
EX_READ, EX_CMP_SWP, EX_FETCH_ADD, EX_LOCAL_INV = 1 << 4, 1 << 5, 1 << 6, 1 << 7
EX_SEND_INV = 1 << 9

DV_MASK_CREATE_FLAGS, DV_MASK_DC, DV_MASK_SEND_OPS, DV_MASK_STREAMS = 1, 2, 4, 8
DV_NO_SCATTER_TO_CQE, DV_SIG_PIPELINING = 1 << 3, 1 << 6
DV_DCT, DV_DCI = 1, 2
OPEN_DEVX = 1
WR_LOCAL_INV = 7
WC_WITH_IMM, WC_WITH_INV = 1 << 1, 1 << 3
DEK_CRYPTO_LOGIN = 1
MTU_1024 = 3

ABI: Mapping[str, int] = {
    "IBV_QPT_RC": 2, "IBV_QPT_UC": 3, "IBV_QPT_UD": 4, "IBV_QPT_RAW_PACKET": 8, "IBV_QPT_XRC_SEND": 9,
    "IBV_QPT_DRIVER": 0xFF, "IBV_QPS_RTS": RTS, "IBV_QPS_SQD": SQD, "IBV_QP_STATE": QP_STATE,
    "IBV_QP_CUR_STATE": QP_CUR_STATE, "IBV_QP_INIT_ATTR_PD": INIT_ATTR_PD,
    "IBV_QP_INIT_ATTR_SEND_OPS_FLAGS": INIT_ATTR_SEND_OPS, "IBV_QP_EX_WITH_RDMA_WRITE": EX_WRITE,
    "IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM": EX_WRITE_IMM, "IBV_QP_EX_WITH_SEND": EX_SEND,
    "IBV_QP_EX_WITH_SEND_WITH_IMM": EX_SEND_IMM, "IBV_QP_EX_WITH_RDMA_READ": EX_READ,
    "IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP": EX_CMP_SWP, "IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD": EX_FETCH_ADD,
    "IBV_QP_EX_WITH_LOCAL_INV": EX_LOCAL_INV, "IBV_QP_EX_WITH_SEND_WITH_INV": EX_SEND_INV,
    "IBV_WR_LOCAL_INV": WR_LOCAL_INV, "IBV_WC_WITH_IMM": WC_WITH_IMM, "IBV_WC_WITH_INV": WC_WITH_INV,
    "IBV_MTU_1024": MTU_1024,
    "MLX5DV_QP_INIT_ATTR_MASK_QP_CREATE_FLAGS": DV_MASK_CREATE_FLAGS, "MLX5DV_QP_INIT_ATTR_MASK_DC": DV_MASK_DC,
    "MLX5DV_QP_INIT_ATTR_MASK_SEND_OPS_FLAGS": DV_MASK_SEND_OPS,
    "MLX5DV_QP_INIT_ATTR_MASK_DCI_STREAMS": DV_MASK_STREAMS,
    "MLX5DV_QP_CREATE_DISABLE_SCATTER_TO_CQE": DV_NO_SCATTER_TO_CQE,
    "MLX5DV_QP_CREATE_SIG_PIPELINING": DV_SIG_PIPELINING, "MLX5DV_DCTYPE_DCT": DV_DCT, "MLX5DV_DCTYPE_DCI": DV_DCI,
    "MLX5DV_CONTEXT_FLAGS_DEVX": OPEN_DEVX, "MLX5DV_DEK_INIT_ATTR_CRYPTO_LOGIN": DEK_CRYPTO_LOGIN,
    "MLX5DV_WC_UMR": 135, "MLX5DV_WC_RAW_WQE": 136, "MLX5DV_WC_MEMCPY": 137,
}  # fmt: skip
"""Every number above, and those of the completions, by its name in verbs.h and mlx5dv.h."""

_PREFIXES: Mapping[type[enum.IntEnum] | type[enum.IntFlag], str] = {
    constants.Access: "IBV_ACCESS_",
    constants.SendFlag: "IBV_SEND_",
    constants.MkeyFlag: "MLX5DV_MKEY_INIT_ATTR_FLAGS_",
    constants.ConfFlag: "MLX5DV_MKEY_CONF_FLAG_",
    constants.SigType: "MLX5DV_SIG_TYPE_",
    constants.BgType: "MLX5DV_SIG_T10DIF_",
    constants.T10difFlag: "MLX5DV_SIG_T10DIF_FLAG_",
    constants.CrcType: "MLX5DV_SIG_CRC_TYPE_",
    constants.SigMask: "MLX5DV_SIG_MASK_",
    constants.SigBlockFlag: "MLX5DV_SIG_BLOCK_ATTR_FLAG_",
    constants.QpOps: "MLX5DV_QP_EX_WITH_",
    constants.CryptoOrder: "MLX5DV_SIGNATURE_CRYPTO_ORDER_",
}


def expected() -> dict[str, int]:
    """Every number that this project relies on, by the headers' name."""
    found = dict(ABI)
    for members, prefix in _PREFIXES.items():
        # __members__, since iterating over flags leaves out those of several bits.
        found.update({prefix + name: int(member) for name, member in members.__members__.items()})
    found.update({f"MLX5DV_BLOCK_SIZE_{size}": value for value, size in constants.BLOCK_BYTES.items()})
    found.update({f"IBV_WC_{name.upper()}": value for value, name in enumerate(constants.WC_STATUS)})
    return found


def flat(modules: tuple[str, ...]) -> dict[str, int]:
    """The names of whichever of these modules there are, whether they are in the module or in scoped classes."""
    found: dict[str, int] = {}
    for name in modules:
        try:
            module = importlib.import_module(name)
        except ImportError:
            continue
        for key, value in vars(module).items():
            if isinstance(value, type) and issubclass(value, enum.Enum):
                found.update({member: int(item.value) for member, item in value.__members__.items()})
            elif isinstance(value, int) and not isinstance(value, bool):
                found.setdefault(key, int(value))
    return found


def disagreements(told: Mapping[str, int]) -> list[str]:
    """Names for which pyverbs has another number; missing names are ignored."""
    return [
        f"{name} is {told[name]:#x}, not {value:#x}"
        for name, value in sorted(expected().items())
        if name in told and told[name] != value
    ]


def generation() -> str:
    """Which kind of enumerations this pyverbs has: its release is not written anywhere before 65."""
    version = getattr(sys.modules.get("pyverbs"), "__version__", None)
    if version is not None:
        return str(version)
    new, old = (_importable(name) for name in VERBS_ENUMS)
    return "50 to 58" if new and old else "59 or later" if new else "49 or earlier"


def _importable(name: str) -> bool:
    try:
        importlib.import_module(name)
    except ImportError:
        return False
    return True


def errno_of(error: Any) -> int:
    """The errno of a pyverbs error with the sign that the call gave it; EIO if it has none (-1 in pyverbs)."""
    number = getattr(error, "error_code", None)
    return number if isinstance(number, int) and number not in (0, -1) else errno.EIO


def load() -> Any:
    """The classes of CLASSES as one namespace. Raises Unavailable (MKS0913, MKS0914, MKS0918) with the fix."""
    # Importing pyverbs configures the root logger (logging.basicConfig at INFO), which is not its business here.
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    try:
        pyverbs_location.adopt()
        found = _classes()
        told = {**flat(VERBS_ENUMS), **flat(MLX5_ENUMS)}
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)
    wrong = disagreements(told)
    if wrong:
        more = f" and {len(wrong) - 1} more" if len(wrong) > 1 else ""
        raise Unavailable("MKS0918", f"this pyverbs numbers the headers' names otherwise: {wrong[0]}{more}")
    return found


def _classes() -> Any:
    found = SimpleNamespace()
    try:
        for module, names in CLASSES.items():
            loaded = importlib.import_module(module)
            for name in names:
                setattr(found, name, getattr(loaded, name))
            for name in MAYBE.get(module, ()):
                setattr(found, name, getattr(loaded, name, None))
    except ModuleNotFoundError as error:
        missing = error.name or "pyverbs"
        if missing == "pyverbs":
            text = "there is no pyverbs in this Python"
        else:
            text = f"this pyverbs was built for another Python: there is no module {missing}"
        raise Unavailable("MKS0913", f"{text}; `mkeyspec doctor` says how to get it") from None
    except (ImportError, AttributeError) as error:
        text = f"pyverbs and the libraries that it found don't fit together: {str(error).splitlines()[0]}"
        raise Unavailable("MKS0914", f"{text}; `mkeyspec doctor` says which are there") from None
    return found
