"""Carries out a case on a device and checks the results.

rig              begin, step…, finish; one a worker
executor         one case: each step carried out, each outcome ruled on
outstanding      waits for the requests that a step depends on
case_state       what the case has built up: objects by name, live values
declarations     memories, mkeys, QPs and the rest under the case's names
buffer           guards, canaries, and the ledger of what each byte should be
request          work requests of the plan as the pages' structs
endpoint         QP pairs: what was posted, what is owed, what came
section          posting, waiting, and judging completions
transfer         the short forms `transmit` and `receive`
wait             deadlines
outcomes         claims, and known departures
departures       who departs where: expectations/*.toml
extent           which bytes a refused or departed step may write
observe          what is there now
expectations     expectations
mkey_check       mlx5dv_mkey_check
teardown_checks  nothing may be left over
difference       two byte strings, and the fields they differ in
diagnosis        a failed case as text
source_text      the statement that a failure quotes, and the values of its names
size             how large a row is
verdict          what became of a case
health_check     is the device still healthy?
marks            what generated modules annotate their functions with
"""
