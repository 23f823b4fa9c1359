"""Reduces a failing row to a small case that fails in the same way.

row ──stand_alone──▶ a file of its own ──edits──▶ smaller texts ──judge──▶ those that still fail ──▶ the smallest
"""
