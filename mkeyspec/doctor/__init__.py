"""`mkeyspec doctor`: what this machine has, what it lacks, and what to install."""
