"""The contract suite that every model, algorithm and engine passes."""
