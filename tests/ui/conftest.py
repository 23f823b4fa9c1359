"""The `.mks` files here are wrong on purpose: they are read by test_ui.py, not collected as cases."""

collect_ignore_glob = ["*/*.mks"]
