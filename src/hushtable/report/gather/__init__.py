"""From a release to the data of its report, one kind of evidence per file."""
