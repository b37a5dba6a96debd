"""Algorithms that break the link between people and sensitive values instead of generalizing."""
