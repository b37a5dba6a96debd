"""A Model Context Protocol server: what an assistant may ask of hushtable, and the only kind of reply it gets."""
