"""Carrying out a case on a device, and judging it.

    rig          begin, step…, finish; one a worker
    course       one case: each step carried out, each outcome ruled on
    bench        what the case has built up: objects by name, live values
    declare      memories, mkeys, QPs and the rest under the case's names
    buffer       guards, canaries, and the ledger of what each byte should be
    request      work requests of the plan as the pages' structs
    endpoint     QP pairs: what was posted, what is owed, what came
    section      posting, waiting, and judging completions
    transfer     the short forms `transmit` and `receive`
    wait         deadlines
    claim        claims, and known departures
    expectation  who departs where: expectations/*.toml
    extent       which bytes a refused or departed step may write
    observe      what is there now
    judge        expectations
    check        mlx5dv_mkey_check
    closing      nothing may be left over
    difference   two byte strings, and the fields they differ in
    diagnosis    a failed case as text
    verdict      what became of a case
    probe        is the device still healthy?
    mark         what generated modules annotate their functions with
"""
