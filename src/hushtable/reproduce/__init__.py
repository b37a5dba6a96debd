"""The experiments of the papers, one file per paper: what was published beside what we get."""
