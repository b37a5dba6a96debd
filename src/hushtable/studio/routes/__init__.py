"""The calls of the REST API, one kind per file."""
