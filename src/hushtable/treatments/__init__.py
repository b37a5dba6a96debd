"""Column treatments, which change values before records are grouped; one treatment per file."""
