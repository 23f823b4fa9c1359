"""A row as a Python program over pyverbs alone."""
