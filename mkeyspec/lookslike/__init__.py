"""Looks like: near misses of an expectation, computed by the references, that give exactly the bytes that were got.

A near miss is a `Hypothesis`: one sentence, and one rule of the computation that is another one. It is written from
the man pages and the references, and knows no device. `bytes_look_like` and `record_looks_like` are asked when an
expectation has failed, and at no other time.
"""
