"""Gathering of the data of a report from a release, one kind of evidence per file."""
