"""Published tables and their verification."""
