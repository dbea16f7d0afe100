"""The peer of `bench`: nbgrader as it ships, in one process.

Runs alone and imports nothing of ours, so that nothing of ours helps it.
`python bench_plain.py FOLDER ASSIGNMENT STUDENT…` prints JSON.
"""

import json
import logging
import os
import sys
import time
import warnings

from nbgrader.apps import NbGraderAPI
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config


def main(folder, assignment, students):
    """Grade the students one after another; return seconds and scores."""
    config = Config()
    config.CourseDirectory.root = folder
    config.CourseDirectory.db_url = f"sqlite:///{folder}/gradebook.db"
    course = CourseDirectory(config=config)
    api = NbGraderAPI(course, config=config)
    api.log.setLevel(logging.CRITICAL)
    done = api.generate_assignment(assignment, force=True)
    if not done["success"]:
        raise SystemExit(done["error"] or done["log"])
    began = time.perf_counter()
    for student in students:
        api.autograde(assignment, student, force=True)
    seconds = time.perf_counter() - began
    scores = {
        row["student"]: row["score"] for row in api.get_submissions(assignment)
    }
    return {"seconds": seconds, "scores": [scores[s] for s in students]}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    bin_folder = os.path.dirname(sys.executable)  # nbgrader calls `alembic`
    os.environ["PATH"] = os.pathsep.join([bin_folder, os.environ["PATH"]])
    print(json.dumps(main(sys.argv[1], sys.argv[2], sys.argv[3:])))
