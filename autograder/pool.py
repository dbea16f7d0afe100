"""Many notebooks, several processes, a progress bar."""

import contextlib
import multiprocessing
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool

from tqdm import tqdm

from autograder import preprocessors
from autograder.jobs import key_of
from autograder.worker import blank, failed, finish, grade_one, start_worker


def run_all(place, todo, jobs, how):
    """Grade in `jobs` processes, with a progress bar."""
    jobs = max(1, min(jobs, len(todo)))
    if jobs == 1:
        start_worker(place, how, alone=True)
        try:
            return [grade_one(task) for task in bar(todo, len(todo))]
        finally:
            preprocessors.session.checker.close()
    results = run_pool(place, todo, jobs, how)
    done = {(r["student"], r["assignment"], r["notebook"]) for r in results}
    for task in todo:  # a worker was killed: what it left, one at a time
        if key_of(*task) not in done:
            again = run_pool(place, [task], 1, how)
            results += again or [give_up(place, *task)]
    return results


def run_pool(place, todo, jobs, how):
    """Return the results that a pool of workers gave before it broke."""
    results = []
    with ProcessPoolExecutor(
        jobs,
        multiprocessing.get_context("fork"),
        start_worker,
        (place, how),
    ) as pool:
        futures = [pool.submit(grade_one, task) for task in todo]
        try:
            for future in bar(as_completed(futures), len(futures)):
                with contextlib.suppress(BrokenProcessPool):
                    results.append(future.result())
        except KeyboardInterrupt:  # leaving the pool waits for all its work
            for worker in multiprocessing.active_children():
                worker.kill()
            raise
    return results


def give_up(place, job, notebook):
    """Return and store the result of a notebook that ended its graders."""
    result = blank(place, job, notebook)
    reason = "the process that graded it was ended from outside, twice"
    result |= failed(place, job, notebook, reason)
    finish(place, result)
    return result


def bar(work, total):
    """Return the iterable with a progress bar on a terminal."""
    return tqdm(work, total=total, unit="notebook", disable=None)
