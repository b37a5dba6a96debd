"""What worker processes do, one kind of work per file: plain functions over a project."""
