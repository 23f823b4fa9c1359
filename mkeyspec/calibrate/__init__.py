"""Measures the points of a device profile on a device: what `mkeyspec calibrate` does.

`point` has the records: a point of the profile, its sides, how each choice shows. `probes` are these records. `bench`
drives the device for one side, `engine` runs the sides and decides, `worker` runs that in a process of its own, and
`profile_file` writes the result. The probes call the device by its protocol; no case and no rig takes part, so that a
profile that is wrong can't mislead its own measurement.
"""
