"""The work of worker processes, one kind per file: plain functions over a project."""
