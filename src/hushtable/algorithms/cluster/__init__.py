"""Clustering records into groups."""
