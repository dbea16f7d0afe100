"""The same transformer in PyTorch, safe in mixed precision."""
