"""Top-down partitioning."""
