"""The model device, in pure Python: its semantics are written from the man pages."""
