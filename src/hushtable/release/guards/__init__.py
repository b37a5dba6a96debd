"""Guards: one countermeasure against an attack on the algorithm itself per file."""
