"""Pure typed values that a plan is made of: byte strings, signatures, layouts, ranges, live scalars.

Every class is a frozen, slotted dataclass whose `repr` is the shortest positional constructor expression,
so that a generated module is nothing but these reprs. Constructing a value computes no bytes.
"""
