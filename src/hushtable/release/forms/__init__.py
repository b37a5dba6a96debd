"""Published forms, one per file: how the records of a class become cells, and what a cell reveals."""
