"""The rows of the cases in other surroundings, drawn from a seed.

A sentence of a page holds whatever was done before, beside it, or in which order. So a row may be carried out with more
around it than its text says: other mkeys, earlier configurations of its keys, requests beside its own in a section,
other flags, another operation of the same direction. What the row expects is the same.

`varied.vary` makes the steps; `rig.VariedRig` collects those of a row and carries them out.
"""
