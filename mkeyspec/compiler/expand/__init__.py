"""Expansion: from a case to its rows, one for each combination of its `for` values."""
