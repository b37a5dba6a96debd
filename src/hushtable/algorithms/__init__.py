"""Anonymization algorithms, one per file."""
