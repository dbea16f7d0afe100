"""The derivations, as functions that return SymPy objects."""
