"""Reading and writing tables: the border to files and DataFrame libraries.

The internal table is a ``pyarrow.Table``. ``files`` dispatches by the ending of a file's name, ``frames`` converts
DataFrames, ``text`` says how a value looks as text.
"""
