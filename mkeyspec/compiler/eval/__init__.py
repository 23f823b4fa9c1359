"""Evaluation: what an expression means, and the values that only the compiler has."""
