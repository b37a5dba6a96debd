"""Re-publication: groups that keep what earlier releases have committed to."""
