"""ABI values of verbs.h and mlx5dv.h."""
