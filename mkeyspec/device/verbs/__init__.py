"""The verbs device: a real NIC, or the software NIC, under pyverbs, libibverbs and libmlx5."""
