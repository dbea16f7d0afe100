"""The transformer in NumPy, forward and hand-written backward."""
