"""Generated microdata and loaders of reference data sets."""
