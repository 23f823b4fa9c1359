"""Claims are proved: a `verifies` is supported by a fault of that entry which the case reports by what it says."""
