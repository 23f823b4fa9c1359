"""The compiler: from a syntax tree to a plan. `compile.py` lists the passes."""
