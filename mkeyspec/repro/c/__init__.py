"""A row as a C program over libibverbs and libmlx5 alone."""
