"""The faults of the model device, a module for each group."""
