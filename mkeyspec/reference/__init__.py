"""Reference arithmetic: signatures, framing, layouts, AES-XTS, AES key wrap. Pure functions over whole buffers.

Written from the man pages and the published vectors; knows no device, no language and no plan. What is
a choice (polynomial, seed, order, inversion…) is a value that is passed, so that a near miss can be
computed as easily as the truth.
"""
