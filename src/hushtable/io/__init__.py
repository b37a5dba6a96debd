"""Reading and writing tables: the border to files and DataFrame libraries."""
