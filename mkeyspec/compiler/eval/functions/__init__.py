"""The functions of the language: one table, a module for each family."""
