"""The `.mks` files here are read by test_versions.py, not collected as cases."""

collect_ignore_glob = ["edition-*/*/*.mks"]
