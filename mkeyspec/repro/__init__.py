"""Reproducers: a row as a program of its own, in C over libibverbs and libmlx5, or in Python over pyverbs.

A row is carried out on the model by the rig (`trace`). Every call that the rig makes is recorded (`recorder`, `calls`),
with the numbers that a device gives as expressions (`symbol`). A writer prints the recorded calls, and what the case
says of each (`writer`), in a language (`language`, `c`, `python`). What a program expects is the case's; of the model
it has the order of the calls alone.
"""
