"""Reading and writing tables: the interface to files and DataFrame libraries.

The internal table is a ``pyarrow.Table``. ``files`` dispatches by file suffix, ``frames`` converts DataFrames, and
``text`` defines the text form of values.
"""
