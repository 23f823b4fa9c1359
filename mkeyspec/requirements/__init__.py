"""The requirements of the man pages: the ledger, what the cases cover of it, what a newer page changed."""
