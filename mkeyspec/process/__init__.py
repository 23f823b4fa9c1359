"""The process: Python's garbage collector, and children that end with their parent."""
