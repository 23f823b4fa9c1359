"""Where files are: those of a project, and the package's own data."""
