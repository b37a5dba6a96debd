"""Classifications that exist in the world: one per file, with its source and version."""
