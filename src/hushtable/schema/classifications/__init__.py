"""Standard classifications: one per file, with its source and version."""
