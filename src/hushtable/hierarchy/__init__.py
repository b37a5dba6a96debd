"""Generalisation hierarchies: recipes and their coded form."""
