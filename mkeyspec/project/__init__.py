"""A project: the values of its `mkeyspec.toml`, checked; its sources, each compiled by itself."""
