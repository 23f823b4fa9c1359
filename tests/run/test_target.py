"""What a step reaches whose addresses, keys and lengths are set wrong."""

from __future__ import annotations

import pytest

from mkeyspec import plan
from mkeyspec.device.model.device import Model
from mkeyspec.device.profile.profile import Profile
from mkeyspec.run.departures import Expectations
from mkeyspec.run.rig import Rig
from mkeyspec.run.verdict import CaseFailed, CaseInfo
from tests.run.text import compiled, told

HEAD = """\
case a
    verifies LAY-01
    memory a[64]
    memory b[64]
    memory note[12]
    peer memory w[64]
    peer memory v[64]
    mkey k { update_tag }
    mkey j
    configure k { access local_write | remote_write | remote_read; layout list(a) }
    configure j { access local_write | remote_write | remote_read; layout list(b) }
    store note = be64(v.addr) ++ be32(v.rkey)
    let old = k.lkey
    qp q { send_ops [memcpy, configure] }
"""
REACHED = {
    "write a to w": "a[0 +: 64] w[0 +: 64]",
    "write a to w, but remote_addr v.addr, but rkey v.rkey": "a[0 +: 64] v[0 +: 64]",
    "write a[0 +: 8] to w[0 +: 8], but remote_addr w.addr + 4": "a[0 +: 8] w[4 +: 8]",
    "write a[0 +: 8] to w[0 +: 8], but length 4": "a[0 +: 4] w[0 +: 4]",
    "write a[0 +: 8] to w[0 +: 8], but addr b.addr + 1, but lkey b.lkey": "b[1 +: 8] w[0 +: 8]",
    "write a[0 +: 8] to w[0 +: 8], but addr 3, but lkey j.lkey": "j[3 +: 8] w[0 +: 8]",
    "write a[0 +: 8] to w[0 +: 8], but length 4096": "a[0 +: 4096] w[0 +: 4096]",
    "write a[0 +: 8] to w[0 +: 8], but remote_addr v.addr": "a[0 +: 8] w[0 +: 0]",
    "write [a[0 +: 8], b[0 +: 8]] to w[0 +: 16], but addr a.addr + 9": "a[9 +: 8] b[0 +: 8] w[0 +: 16]",
    "write a[0 +: 8] to w[0 +: 8], but remote_addr be64_at(note, 0), but rkey be32_at(note, 8)": "a[0 +: 8] v[0 +: 8]",
    "write a[0 +: 8] to w[0 +: 8] but addr v.addr but rkey v.rkey": "a[0 +: 8] v[0 +: 8]",
    "write a[0 +: 8] to w[0 +: 8], but lkey a.lkey ^ 0xff00, but remote_addr w.addr + 2": "w[2 +: 0]",
    "write a[0 +: 8] to w[0 +: 8], but rkey w.rkey ^ 0xff00, but addr a.addr + 2": "a[2 +: 8] [0 +: 8]",
    "read a[0 +: 8] from w[0 +: 8], but addr b.addr, but lkey b.lkey, but remote_addr v.addr, but rkey v.rkey":
        "b[0 +: 8] v[0 +: 8]",
    "fetch_add a[0 +: 8] from w[0 +: 8], add 1, but addr a.addr + 8": "a[8 +: 8] w[0 +: 8]",
    "fetch_add a[0 +: 8] from w[0 +: 8], add 1, but remote_addr v.addr, but rkey v.rkey": "a[0 +: 8] v[0 +: 8]",
    "memcpy a[0 +: 8] to b[0 +: 8] but addr b.addr + 8 on q": "a[0 +: 8] b[8 +: 8]",
    "memcpy a[0 +: 8] to b[0 +: 8] on q, but length 4": "a[0 +: 4] b[0 +: 4]",
    "recv a[0 +: 8] but addr b.addr but lkey b.lkey": "b[0 +: 8]",
    "recv a[0 +: 8] but lkey a.lkey ^ 0xff00": "",
    "recv [b[0 +: 4], a[0 +: 8] but lkey a.lkey ^ 0xff00, b[8 +: 8]]": "b[0 +: 4]",
    "transmit k[0 +: 8] by send, but addr 8": "k[8 +: 8]",
    "receive fill(1, 8) into k by recv, but addr b.addr + 8, but lkey b.lkey": "b[8 +: 8]",
    "receive fill(1, 8) into k by peer_write, but addr 8, but rkey j.rkey": "j[8 +: 8]",
    "receive fill(1, 8) into k by recv, but length 4": "k[0 +: 4]",
    "receive fill(1, 8) into k by recv, but tag 9": "k[0 +: 8]",
    "configure j { layout list(a[0 +: 8] but addr b.addr but lkey b.lkey, a) }": "b[0 +: 8] a[0 +: 64]",
    "configure j { layout list(a[0 +: 8] but lkey a.lkey ^ 0xff00, b) }": "[0 +: 8] b[0 +: 64]",
    "configure j { layout interleaved(2, a but addr b.addr + 4 but lkey b.lkey count 4 skip 8) }":
        "b[4 +: 4] b[16 +: 4]",
}  # fmt: skip


def aimed(lines: str) -> plan.Step:
    """The last step of a case, as far as it is carried out."""
    (case,) = compiled(HEAD + lines)
    (row,) = case.rows
    rig = Rig(Model(Profile()), Profile(), Expectations(), deadline=0.05)
    info = CaseInfo("a", "a.mks", case.verifies, row.needs, None, case.at, case.isolated)
    assert rig.begin(info) == []
    assert rig._executor is not None
    state = rig._executor.state
    try:
        for step in row.steps:
            rig.step(step)
    except CaseFailed:
        pass
    assert len(state.aimed) == len(row.steps)
    return state.aimed[-1]


def reached(step: plan.Step) -> str:
    """The parts that it reaches, in their order."""
    match step:
        case plan.Post(requests=(plan.Configure() as request,)):
            layout = request.layout_given()
            assert layout is not None
            found = layout.walk()
        case plan.Recv():
            found = [(part.name, *(part.bounds() or ())) for part in step.into]
        case _:
            found = [(end.part.name, end.part.start, min(end.part.length, end.length)) for end in step.ends()]  # type: ignore[type-var, misc]
    return " ".join(f"{name}[{start} +: {length}]" for name, start, length in found)


@pytest.mark.parametrize("statement", REACHED)
def test_what_a_statement_reaches(statement: str) -> None:
    assert reached(aimed(f"    {statement}\n")) == REACHED[statement]


@pytest.mark.parametrize("configures", [False, True])
def test_the_key_before_a_tag_until_it_is_configured(configures: bool) -> None:
    """mlx5dv_wr_mkey_configure(3): the request brings the new tag to the device."""
    lines = "    retag k to 9\n" + "    configure k { layout list(a) }\n" * configures
    step = aimed(lines + "    receive fill(1, 8) into j by recv, but lkey old\n")
    assert reached(step) == ("[0 +: 8]" if configures else "k[0 +: 8]")


def test_the_guard_of_another_buffer_is_no_data() -> None:
    """The statement is wrong, not the device."""
    lines = "    write a to w, but remote_addr v.addr + 4, but rkey v.rkey\n"
    assert told(HEAD + lines) == ["MKS2108:17"]
