"""Tables drawn from a release: rows that belong to nobody, in the original's columns and types."""
