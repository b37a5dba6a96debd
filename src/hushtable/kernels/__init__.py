"""Hot loops on plain arrays: numba beside a slow NumPy twin."""
