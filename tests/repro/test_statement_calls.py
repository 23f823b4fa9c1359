"""The calls in C behind a statement, as a failure tells them."""

from __future__ import annotations

import pytest

from mkeyspec.device.profile.profile import Profile
from mkeyspec.plan import At, Case, Turn
from mkeyspec.repro import statement_calls
from mkeyspec.repro.statement_calls import calls_at
from tests.run.text import compiled

TEXT = """
case a
    verifies SIG-01
    memory m = counter(1024)
    peer memory w[1032]
    mkey k { block_signature }
    post {
        configure k { access remote_read; layout list(m); signature { wire crc32(ones) every 512 } }
        write [k[0 +: 516], k[516 +: 516]] to w, signaled
    }
    transmit k by peer_read
    repeat 2 as n {
        write k[0 +: 516] to w[n * 4 +: 516]
    }
    expect w[0 +: 4] == any
    mkey r
    configure r { access local_write; layout list(m) }
    receive counter(64) into r by recv
    recv m[0 +: 8]
    peer send w[0 +: 8]
    transmit r by send
"""
CONFIGURED = [
    "ibv->wr_flags = IBV_SEND_INLINE;",
    "mlx5dv_wr_mkey_configure(mlx5, k, 3, &(struct mlx5dv_mkey_conf_attr){.conf_flags = 0});",
    "mlx5dv_wr_set_mkey_access_flags(mlx5, IBV_ACCESS_REMOTE_READ);",
    "mlx5dv_wr_set_mkey_layout_list(mlx5, 1, (struct ibv_sge[]){{at(&m, 0), 1024, m.mr->lkey}});",
    "mlx5dv_wr_set_mkey_sig_block(mlx5, &(struct mlx5dv_sig_block_attr){",
    "    .wire = &(struct mlx5dv_sig_block_domain){",
    "        .sig_type = MLX5DV_SIG_TYPE_CRC,",
    "        .sig.crc = &(struct mlx5dv_sig_crc){.type = MLX5DV_SIG_CRC_TYPE_CRC32, .seed = 0xffffffff},",
    "        .block_size = MLX5DV_BLOCK_SIZE_512,",
    "    },",
    "    .check_mask = 0xf0,",
    "});",
]
WRITTEN = [
    "ibv->wr_flags = IBV_SEND_SIGNALED;",
    "ibv_wr_rdma_write(ibv, w.mr->rkey, at(&w, 0));",
    "ibv_wr_set_sge_list(ibv, 2, (struct ibv_sge[]){{0, 516, k->lkey}, {516, 516, k->lkey}});",
]


@pytest.fixture(scope="module")
def case() -> Case:
    return compiled(TEXT)[0]


def told(case: Case, line: int, column: int = 5, turn: int | None = None) -> list[str]:
    at = At(line, column, None if turn is None else Turn(turn, 2, 14, 5))
    return calls_at(case.rows[0], "a.mks::a", case.at, at, Profile())


def test_a_request_of_a_section(case: Case) -> None:
    assert told(case, 10, 9) == CONFIGURED
    assert told(case, 11, 9) == WRITTEN


def test_a_section(case: Case) -> None:
    assert told(case, 9) == [*CONFIGURED, *WRITTEN]


def test_a_short_form(case: Case) -> None:
    """The peer posts it; markers of the rig are not told."""
    assert told(case, 13) == [
        "ibv->wr_flags = IBV_SEND_SIGNALED;  /* at the peer */",
        "ibv_wr_rdma_read(ibv, k->rkey, 0);",
        "ibv_wr_set_sge(ibv, wire.mr->lkey, at(&wire, 0), 1032);",
    ]


def test_receives(case: Case) -> None:
    posted = "ibv_post_recv(qp, &(struct ibv_recv_wr){.sg_list = (struct ibv_sge[]){{%s}}, .num_sge = 1}, &bad);"
    assert told(case, 20) == [
        posted % "0, 64, r->lkey",
        "ibv->wr_flags = IBV_SEND_SIGNALED;  /* at the peer */",
        "ibv_wr_send(ibv);",
        "ibv_wr_set_sge(ibv, the_peer_s_data.mr->lkey, at(&the_peer_s_data, 0), 64);",
    ]
    assert told(case, 21) == [posted % "at(&m, 0), 8, m.mr->lkey"]


def test_the_receive_of_a_transmit_is_the_rig_s(case: Case) -> None:
    assert told(case, 23)[1] == "ibv_wr_send(ibv);"


def test_a_turn(case: Case) -> None:
    assert told(case, 15, 9, 2)[1] == "ibv_wr_rdma_write(ibv, w.mr->rkey, at(&w, 8));"


def test_a_statement_that_posts_nothing(case: Case) -> None:
    for line in (6, 17, 99):
        assert told(case, line) == []


def test_it_is_bounded(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statement_calls, "MOST", 4)
    assert told(case, 9) == [*CONFIGURED[:3], "… 12 lines more"]
    monkeypatch.setattr(statement_calls, "LARGEST", 2055)
    assert told(case, 9) == []


def test_what_the_model_cannot_carry_out(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(statement_calls, "Trace", fails)
    assert told(case, 9) == []
