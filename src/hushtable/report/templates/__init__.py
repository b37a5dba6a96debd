"""Templates: whose questions a report answers first, one per file."""
