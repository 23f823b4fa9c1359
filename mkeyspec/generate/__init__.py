"""Whole cases, drawn at random from a seed: text in the language, with outcomes that the references predict."""
