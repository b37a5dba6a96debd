"""Risk measures: how exposed people are, before and after. One measure per file."""
