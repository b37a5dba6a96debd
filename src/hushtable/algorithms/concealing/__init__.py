"""Algorithms that conceal every record among others without making classes."""
