"""Templates: the questions that a report answers, one reader per file."""
