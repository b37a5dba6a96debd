"""A Model Context Protocol server: what an assistant may ask hushtable, and what the replies may contain."""
