"""Kinds of async events, by what they tell of."""

from __future__ import annotations

PORT_EVENTS = frozenset({
    "port_active", "port_err", "lid_change", "pkey_change", "sm_change", "client_reregister", "gid_change",
})  # fmt: skip
"""Events of the port that are not caused by a case."""

DEVICE_EVENTS = frozenset({"device_fatal", "cq_err", "srq_err"})
"""Events that no end of a QP explains."""

QP_ERROR_EVENTS = frozenset({"qp_fatal", "qp_req_err", "qp_access_err", "qp_last_wqe_reached"})
"""Events of one QP that tell of an error."""
