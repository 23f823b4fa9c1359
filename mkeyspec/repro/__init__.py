"""Reproducers: a row of a case as a program of its own, over libibverbs and libmlx5 alone.

A row is carried out on the model by the rig (`trace`). Every call that the rig makes is recorded (`recorder`, `calls`),
with the numbers that a device gives as expressions (`symbol`). A writer prints the recorded calls, and what the case
says of each (`c_writer`). What a program expects is the case's; of the model it has the order of the calls alone.
"""
