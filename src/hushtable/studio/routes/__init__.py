"""The endpoints of the REST API, one kind per file."""
