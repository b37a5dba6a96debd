"""Several algorithms, models and parameters on one table: what protects how much, and what it costs."""
