"""The numbers of the pages' names: ABI values of `verbs.h` and `mlx5dv.h`.

They are kept here, frozen, rather than read from pyverbs, because pyverbs lacks some of them in
every release and renames the modules of the others. A device that has pyverbs cross-checks them.
"""

from __future__ import annotations

from enum import IntEnum, IntFlag


class Access(IntFlag):
    """enum ibv_access_flags."""

    LOCAL_WRITE = 1
    REMOTE_WRITE = 1 << 1
    REMOTE_READ = 1 << 2
    REMOTE_ATOMIC = 1 << 3
    MW_BIND = 1 << 4
    ZERO_BASED = 1 << 5
    ON_DEMAND = 1 << 6
    HUGETLB = 1 << 7
    FLUSH_GLOBAL = 1 << 8
    FLUSH_PERSISTENT = 1 << 9
    RELAXED_ORDERING = 1 << 20


class SendFlag(IntFlag):
    """enum ibv_send_flags."""

    FENCE = 1
    SIGNALED = 1 << 1
    SOLICITED = 1 << 2
    INLINE = 1 << 3


class MkeyFlag(IntFlag):
    """enum mlx5dv_mkey_init_attr_flags."""

    INDIRECT = 1
    BLOCK_SIGNATURE = 1 << 1
    CRYPTO = 1 << 2
    UPDATE_TAG = 1 << 3
    REMOTE_INVALIDATE = 1 << 4


class ConfFlag(IntFlag):
    """enum mlx5dv_mkey_conf_flags."""

    RESET_SIG_ATTR = 1


class SigType(IntEnum):
    """enum mlx5dv_sig_type."""

    T10DIF = 0
    CRC = 1


class BgType(IntEnum):
    """enum mlx5dv_sig_t10dif_bg_type."""

    CRC = 0
    CSUM = 1


class T10difFlag(IntFlag):
    """enum mlx5dv_sig_t10dif_flags."""

    REF_REMAP = 1
    APP_ESCAPE = 1 << 1
    APP_REF_ESCAPE = 1 << 2


class CrcType(IntEnum):
    """enum mlx5dv_sig_crc_type."""

    CRC32 = 0
    CRC32C = 1
    CRC64_XP10 = 2


ONES_16, ONES_32, ONES_64 = 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF
"""Seeds of all ones, of a T10-DIF's guard and of the CRCs (mlx5dv_wr_set_mkey_sig_block(3))."""

ONES = {ONES_16: "ONES_16", ONES_32: "ONES_32", ONES_64: "ONES_64"}
"""Their names."""

BLOCK_BYTES = {0: 512, 1: 520, 2: 4048, 3: 4096, 4: 4160}
"""enum mlx5dv_block_size to bytes."""

BLOCK_ENUM = {size: value for value, size in BLOCK_BYTES.items()}
"""Bytes to enum mlx5dv_block_size."""


class SigMask(IntFlag):
    """enum mlx5dv_sig_mask."""

    T10DIF_GUARD = 0xC0
    T10DIF_APPTAG = 0x30
    T10DIF_REFTAG = 0x0F
    CRC32 = 0xF0
    CRC64_XP10 = 0xFF


class SigBlockFlag(IntFlag):
    """enum mlx5dv_sig_block_attr_flags."""

    COPY_MASK = 1


class MkeyError(IntEnum):
    """enum mlx5dv_mkey_err_type."""

    NO_ERR = 0
    BAD_GUARD = 1
    BAD_REFTAG = 2
    BAD_APPTAG = 3


class QpOps(IntFlag):
    """enum mlx5dv_qp_create_send_ops_flags."""

    MR_INTERLEAVED = 1
    MR_LIST = 1 << 1
    MKEY_CONFIGURE = 1 << 2
    RAW_WQE = 1 << 3
    MEMCPY = 1 << 4


class CryptoOrder(IntEnum):
    """enum mlx5dv_signature_crypto_order."""

    SIGNATURE_AFTER_CRYPTO_ON_TX = 0
    SIGNATURE_BEFORE_CRYPTO_ON_TX = 1


MR_ACCESS = Access.LOCAL_WRITE | Access.REMOTE_WRITE | Access.REMOTE_READ | Access.REMOTE_ATOMIC
"""What a registered buffer grants unless the case says otherwise, so that the mkey's own rights decide."""

WC_STATUS = (
    "success", "loc_len_err", "loc_qp_op_err", "loc_eec_op_err", "loc_prot_err", "wr_flush_err", "mw_bind_err",
    "bad_resp_err", "loc_access_err", "rem_inv_req_err", "rem_access_err", "rem_op_err", "retry_exc_err",
    "rnr_retry_exc_err", "loc_rdd_viol_err", "rem_inv_rd_req_err", "rem_abort_err", "inv_eecn_err",
    "inv_eec_state_err", "fatal_err", "resp_timeout_err", "general_err", "tm_err", "tm_rndv_incomplete",
)  # fmt: skip
"""enum ibv_wc_status by value, names without IBV_WC_, lower case."""

WC_OPCODE = {
    0: "send", 1: "rdma_write", 2: "rdma_read", 3: "comp_swap", 4: "fetch_add", 5: "bind_mw", 6: "local_inv",
    128: "recv", 129: "recv_rdma_with_imm", 135: "driver1", 136: "driver2", 137: "driver3",
}  # fmt: skip
"""enum ibv_wc_opcode, names without IBV_WC_, lower case. driver1 is MLX5DV_WC_UMR, driver2 RAW_WQE, driver3 MEMCPY."""

CAPABILITIES = frozenset({
    "qp.rc", "qp.uc", "qp.ud", "qp.xrc_send", "qp.raw_packet", "qp.dci", "qp.dci_streams", "block_signature",
    "update_tag", "remote_invalidate", "mr_list", "mr_interleaved", "mkey_configure", "atomic", "memcpy", "raw_wqe",
    "pipelining", "dek_query", "crypto", "crypto.plaintext", "crypto.wrapped", "crypto.login", "signature.t10dif",
    "signature.crc32", "signature.crc32c", "signature.crc64_xp10", "signature.csum", "block.512", "block.520",
    "block.4048", "block.4096", "block.4160", "transfer.ud", "transfer.xrc_send", "transfer.raw_packet",
    "raw_wqe.compare_swap", "raw_wqe.set_psv", "raw_wqe.umr", "raw_wqe.mmo",
    "access.remote_atomic", "crypto.multi_block", "large_mkey",
})  # fmt: skip
"""What a device may offer, by the names that `needs` takes. `transfer.TYPE`: QPs of the type move data (`qp.TYPE`: they
can be created); `raw_wqe.NAME`: such a WQE that a caller has made is carried out (`raw_wqe`: those of the others).
`access.remote_atomic`: a configuration may give an mkey that right. `crypto.multi_block`: an mkey with encryption may
have more than one data unit. `large_mkey`: an mkey may have more than MANY_ENTRIES."""

MANY_ENTRIES = 1024
"""Of an mkey; what each device creates."""

ALWAYS_OFFERED = frozenset({"qp.rc", "mkey_configure", "mr_list", "mr_interleaved"})
"""Those of them that each device offers. The default pair is an RC pair that can be told to configure mkeys."""

RAW_OPCODES = {0x11: "compare_swap", 0x20: "set_psv", 0x25: "umr", 0x2F: "mmo"}
"""Opcodes of a WQE (mlx5 PRM, "Send WQE construction") whose `raw_wqe.NAME` is a capability of its own."""

RAW_ATOMICS = (0x11, 0x12)
"""Those of ATOMIC_CS and ATOMIC_FA."""

DEVICE_NUMBERS = (
    "max_wr_memcpy_length",
    "max_log_num_concurent",
    "max_log_num_errored",
    "crypto_engines",
    "log_max_num_deks",
    "max_qp_wr",
    "max_sge",
    "active_mtu",
    "max_msg_sz",
)
"""Numbers that a device may tell of itself, as `device.NAME`: members of struct mlx5dv_context, as its page says, of
struct ibv_device_attr and of struct ibv_port_attr (ibv_query_device(3), ibv_query_port(3); `active_mtu` in bytes)."""

ALWAYS_TOLD = ("max_wr_memcpy_length", "max_qp_wr", "max_sge", "active_mtu", "max_msg_sz")
"""Those of them that each device tells: 0 is a device without."""

QP_EVENTS = frozenset({
    "qp_fatal", "qp_req_err", "qp_access_err", "comm_est", "sq_drained", "path_mig", "path_mig_err",
    "qp_last_wqe_reached",
})  # fmt: skip
"""Async events that name a QP (ibv_get_async_event(3)); names of IBV_EVENT_*, lower case."""

MTUS = (256, 512, 1024, 2048, 4096)
"""Bytes of the MTUs of enum ibv_mtu, whose values begin with 1."""

STATUS_CLASS = {
    "local_protection": ("loc_prot_err", "loc_access_err", "loc_qp_op_err", "loc_len_err"),
    "remote_access": ("rem_access_err", "rem_op_err", "rem_inv_req_err"),
}
"""Words for a claim's reason where the pages fix the class of an error, not its status (X-OPEN-18)."""

DEK_STATE = ("state_ready", "state_error")
"""enum mlx5dv_dek_state by value, names without MLX5DV_DEK_, lower case."""

LOGIN_STATE = ("state_valid", "state_no_login", "state_invalid")
"""enum mlx5dv_crypto_login_state by value, names without MLX5DV_CRYPTO_LOGIN_, lower case."""

MEMBER_BITS = {
    "id": 64, "imm": 32, "add": 64, "tag": 8, "to": 8, "remote_addr": 64, "invalidate_rkey": 32,  # ibv_wr_post(3)
    "stream": 16, "key": 64, "dctn": 32, "dc_key": 64,  # mlx5dv_wr_post(3)
    "addr": 64, "length": 32, "lkey": 32, "rkey": 32,  # struct ibv_sge, ibv_wr_rdma_write(3)
    "access": 32, "access_flags": 32, "repeat": 32, "repeat_count": 32, "count": 32, "skip": 32, "num_setters": 8,
    "bytes_count": 32, "bytes_skip": 32, "conf_flags": 32, "comp_mask": 64,  # mlx5dv_wr_mkey_configure(3)
    "entries": 16, "max_entries": 16, "create_flags": 32,  # mlx5dv_create_mkey(3)
    "flags": 32, "sig_type": 31, "block_size": 31, "type": 31, "bg_type": 31, "bg": 16, "app_tag": 16, "ref_tag": 32,
    "check_mask": 8, "copy_mask": 8, "seed": 64,  # mlx5dv_wr_set_mkey_sig_block(3)
    "data_unit": 31, "data_unit_size": 31, "crypto_standard": 31, "signature_crypto_order": 31,
    "tweak": 128, "encrypt_on_tx": 1,  # mlx5dv_wr_set_mkey_crypto(3)
    "key_size": 31, "key_purpose": 31,  # mlx5dv_dek_create(3)
    "credential_id": 32, "import_kek_id": 32,  # mlx5dv_crypto_login(3)
    "max_send_wr": 32, "max_recv_wr": 32, "max_send_sge": 32, "max_recv_sge": 32, "max_inline_data": 32,
    "streams": 32, "send_ops_flags": 64,  # struct ibv_qp_cap, mlx5dv_create_qp(3)
    "t10dif.flags": 16, "memcpy.length": 64,  # struct mlx5dv_sig_t10dif; mlx5dv_wr_post(3), size_t
}  # fmt: skip
"""How many bits the numbers have that end in a member of a struct or an argument of a call, by its name in a case, with
the kind of record before it where two have a member of that name. Of an enum, those that int and unsigned int both
have: which of them it is, the compiler chooses."""


def member_bits(name: str, of: str = "") -> int:
    """The width of a member, `of` a kind of record; 64 where nothing is known of it."""
    return MEMBER_BITS.get(f"{of}.{name}") or MEMBER_BITS.get(name, 64)
