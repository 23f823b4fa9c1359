"""Diagnostics: source text, findings in it, their codes, and how they are shown."""
