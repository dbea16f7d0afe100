"""The autograder: release, collect and grade with nbgrader."""
