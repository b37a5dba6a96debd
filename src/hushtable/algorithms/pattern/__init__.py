"""Algorithms that publish the common part of a group and blank the rest."""
