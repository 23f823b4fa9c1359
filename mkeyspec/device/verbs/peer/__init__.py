"""The peer's side in another process, on this host or on another one, behind a gateway of execnet."""
