"""A table drawn from what a release publishes: rows that are nobody's, in the original's columns and types."""
