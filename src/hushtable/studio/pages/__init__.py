"""One page per step."""
