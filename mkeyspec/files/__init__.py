"""Paths of files: those of a project, and the package's own data."""
