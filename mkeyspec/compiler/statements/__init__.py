"""Statements: their shapes, and their lowering to the steps of a plan."""
