"""Grading that can be trusted: nbgrader's frame, split execution inside.

Student code may only produce data; verdicts are computed where student
code never runs. `python -m autograder --help` lists the commands.
"""


class Refusal(Exception):
    """A request that cannot be served; the text is all the user sees."""
