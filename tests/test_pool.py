"""The processes that grade: one at a time on a notebook, broken pools."""

import fcntl
import json
import multiprocessing
import os
import threading
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool

import pytest
import small_course
from small_course import submission

from autograder import jobs, pool, preprocessors


@pytest.fixture
def task(tmp_path, monkeypatch):
    """One notebook to grade, in a session of this process."""
    place = small_course.make(tmp_path, ann=submission())
    monkeypatch.setattr(preprocessors.session, "course", place)
    (job,) = jobs.find_jobs(place)
    return job, "beginner"


def test_two_runs_do_not_grade_a_notebook_at_once(task, monkeypatch):
    place = preprocessors.session.course
    graded, answers = [], []
    monkeypatch.setattr(
        pool, "grade_one", lambda task: graded.append(task) or {"status": ""}
    )
    path = place.result_file("ann", "tiny", "beginner")
    path.parent.mkdir(parents=True)
    with path.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # as another run does
        waiting = threading.Thread(
            target=lambda: answers.append(pool.grade_in_turn(task))
        )
        waiting.start()
        waiting.join(0.3)
        assert waiting.is_alive()
        result = {"status": "graded", "digest": jobs.digest(place, *task)}
        path.write_text(json.dumps(result))
    waiting.join()
    assert answers == [result]
    assert graded == []  # the other run has done it
    pool.grade_in_turn(task, force=True)
    assert graded == [task]


def test_a_pool_that_broke_while_idle_raises_nothing(task):
    fork = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(1, fork) as broken:
        with pytest.raises(BrokenProcessPool):
            broken.submit(os._exit, 1).result()
        future = pool.send(broken, task, False)
    assert isinstance(future.exception(), BrokenProcessPool)
