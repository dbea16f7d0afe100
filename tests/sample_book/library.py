"""A library of one class."""


class Box:
    """Hold one function."""

    @staticmethod
    def double(x):
        """Return twice x."""
        return 2 * x
