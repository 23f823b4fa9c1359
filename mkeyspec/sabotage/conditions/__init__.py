"""Faults under conditions: base faults of the catalogue that act where a fact holds (docs/design/conditions.md)."""
