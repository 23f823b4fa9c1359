"""Evaluation of expressions, and the values of the compiler."""
