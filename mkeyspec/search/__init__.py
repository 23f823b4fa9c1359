"""Searches for a case on which the references, the model and a device do not agree.

operations ──generate/──▶ a case ──three──▶ who stands alone ──hypothesis, then shrink/──▶ a small case
"""
