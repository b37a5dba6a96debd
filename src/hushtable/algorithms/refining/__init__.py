"""Lowering the loss of a valid partition: cells and their costs, the state of a search, and the changes it tries."""
