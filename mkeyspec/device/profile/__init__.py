"""Implementation-defined points of the man pages: the parameters of a device, its errnos, its error records."""
