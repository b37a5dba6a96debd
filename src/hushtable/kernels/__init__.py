"""Hot loops on plain arrays: each compiled by numba, with a slow NumPy twin."""
