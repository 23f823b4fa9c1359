"""A lab: a file that names hosts, their devices and pairs of them, and runs of a suite on each of these."""
