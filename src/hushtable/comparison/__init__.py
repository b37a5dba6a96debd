"""Comparison of several algorithms, models and parameters on one table: how much each protects, and its cost."""
