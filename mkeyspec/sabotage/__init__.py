"""Sabotage: a device is given one fault at a time, and the suite must detect each."""
