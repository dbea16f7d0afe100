"""Many notebooks, several processes, a progress bar."""

import contextlib
import fcntl
import itertools
import multiprocessing
from concurrent.futures import (
    FIRST_COMPLETED,
    Future,
    ProcessPoolExecutor,
    wait,
)
from concurrent.futures.process import BrokenProcessPool

from tqdm import tqdm

from autograder import files, preprocessors
from autograder.jobs import FAILED, finished, key_of
from autograder.worker import blank, failed, finish, grade_one, start_worker


def run_all(place, todo, jobs, how, force=False):
    """Grade in `jobs` processes, with a progress bar on a terminal."""
    jobs, results, left = max(1, min(jobs, len(todo))), [], list(todo)
    options = how, force
    with bar(None, len(todo)) as progress:
        if jobs == 1:
            start_worker(place, how, alone=True)
            with contextlib.closing(preprocessors.session.checker):
                for task in left:
                    results.append(grade_in_turn(task, force))
                    progress.update()
            return results
        while left:
            done, suspects = run_pool(place, left, jobs, options, progress)
            for task in suspects:  # a worker was killed: by which of these?
                again, _ = run_pool(place, [task], 1, options, progress)
                done += again or [give_up(place, *task)]
            results += done
            names = {names_of(result) for result in done}
            left = [task for task in left if key_of(*task) not in names]
    return results


def run_pool(place, todo, jobs, options, progress):
    """Return the results, and what was being graded when the pool broke."""
    how, force = options
    results, suspects, running, waiting = [], [], {}, iter(todo)
    with ProcessPoolExecutor(
        jobs,
        multiprocessing.get_context("fork"),
        start_worker,
        (place, how),
    ) as pool:
        try:
            while not suspects:
                for task in itertools.islice(waiting, jobs - len(running)):
                    running[send(pool, task, force)] = task
                if not running:
                    break
                for future in wait(running, None, FIRST_COMPLETED).done:
                    task = running.pop(future)
                    try:
                        results.append(future.result())
                        progress.update()
                    except BrokenProcessPool:
                        suspects.append(task)
        except KeyboardInterrupt:  # leaving the pool waits for all its work
            for worker in multiprocessing.active_children():
                worker.kill()
            raise
    return results, suspects


def send(pool, task, force):
    """Return the future of a notebook; that of a broken pool has failed."""
    try:
        return pool.submit(grade_in_turn, task, force)
    except BrokenProcessPool as problem:  # a worker was killed while idle
        future = Future()
        future.set_exception(problem)
        return future


def grade_in_turn(task, force=False):
    """Grade one notebook while nobody else does, unless it is done by now.

    Another run, or a worker that was thought lost, may still be at it.
    """
    job, notebook = task
    place = preprocessors.session.course
    path = place.result_file(*key_of(*task)).with_suffix(".lock")
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        old = None if force else finished(place, job, notebook)
        result = old or grade_one(task)
    if result["status"] == FAILED:
        files.require_room(place.classroom)
    return result


def give_up(place, job, notebook):
    """Return and store the result of a notebook that ended its graders."""
    result = blank(place, job, notebook)
    reason = "the process that graded it was ended from outside, twice"
    result |= failed(place, job, notebook, reason)
    finish(place, result)
    return result


def names_of(result):
    """Return the names that identify the result, as key_of does."""
    return result["student"], result["assignment"], result["notebook"]


def bar(work, total):
    """Return the iterable with a progress bar on a terminal."""
    return tqdm(work, total=total, unit="notebook", disable=None)
