"""Sabotage: a device is given one defect at a time, and the suite has to notice each."""
