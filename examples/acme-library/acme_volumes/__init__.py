"""A library of mkeyspec. It has no code: its `.mks` files are read, and this file makes the folder a package."""
