"""Syntax: from the text of a `.mks` file to its syntax tree."""
