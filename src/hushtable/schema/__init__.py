"""Roles and kinds of columns, inference with reasons, and validation."""
