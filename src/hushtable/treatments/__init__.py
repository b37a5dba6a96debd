"""Column treatments: values that are changed before records are grouped, one treatment per file."""
