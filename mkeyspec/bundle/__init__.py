"""Bundles: what was observed of a device in a run, kept in one file, and judged again without the device.

`recorder.py` keeps the calls that the rig makes and what they gave; `part.py` and `merge.py` write them; `reader.py`
reads and checks a file; `replay.py` is a device that answers from one.
"""
