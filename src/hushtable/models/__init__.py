"""Privacy models, one per file."""
