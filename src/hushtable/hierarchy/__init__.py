"""Generalization hierarchies: recipes and their coded form."""
