"""What the man pages leave to the implementation: the parameters of a device, its errnos, its error records."""
