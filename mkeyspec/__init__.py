"""mkeyspec: a language for mlx5 memory keys and the exact bytes they must make, and what runs it."""

__version__ = "0.1.0"
