"""Grading that can be trusted: nbgrader's frame, split execution inside.

Student code may only produce data; verdicts are computed where student
code never runs. `python -m autograder --help` lists the commands.
"""


class Refusal(Exception):
    """A request that cannot be served; the text is all the user sees."""

    code = 2  # the command's exit code


class Stopped(Refusal):
    """A run that had to end early; what it did stays."""

    code = 1
