"""The same grading on a Dask cluster: one here, or one on several machines.

Workers share the classroom and the source folder with us. Each proves it
before its first notebook, and that its sandbox holds.
"""

import contextlib
import hashlib
import logging
import secrets
import time
from concurrent.futures import CancelledError
from dataclasses import dataclass, field
from pathlib import Path

import distributed
from distributed.comm import CommClosedError
from distributed.scheduler import KilledWorker

from autograder import (
    Refusal,
    Stopped,
    files,
    gradebook,
    preprocessors,
    sandbox,
    selftest,
)
from autograder.course import Course
from autograder.pool import bar, give_up, grade_in_turn
from autograder.worker import start_worker

LOCAL = "local"
PATIENCE_S = 30.0  # for a scheduler, and for a worker when there is none
POLL_S = 2.0
HERE = Path(__file__).parent
BOOT = Path("/proc/sys/kernel/random/boot_id")  # the same on one machine
LOST = (
    "the Dask scheduler was lost; what was graded stays, run `grade` again "
    "for the rest"
)
NO_WORKER = (
    "the Dask cluster has no worker; start one in the course's folder with "
    "`.venv/bin/python -m dask worker ADDRESS --nthreads 1`, then run "
    "`grade` again"
)
started = []  # the token of the run that this process is set up for


@dataclass(frozen=True)
class Run:
    """What a worker is told of a run: folders and options, no more."""

    place: Course
    how: dict
    force: bool
    token: str
    view: dict = field(default_factory=dict)  # of the folders, as we see them
    machine: str = ""  # ours


def run_all(place, todo, jobs, how, force, address):
    """Grade on the cluster; return one result for each notebook."""
    with connected(address, jobs) as client, announced(place) as token:
        run = Run(place, how, force, token, view(place), BOOT.read_text())
        try:
            prove(client, run)
            return graded(client, run, todo)
        except (CancelledError, CommClosedError):
            raise Stopped(LOST) from None


@contextlib.contextmanager
def connected(address, jobs):
    """Yield a client of the cluster; a local one lives as long."""
    for name in ("distributed", "distributed.client"):  # we say it ourselves
        logging.getLogger(name).setLevel(logging.CRITICAL)
    with contextlib.ExitStack() as stack:
        if address == LOCAL:
            address = stack.enter_context(
                distributed.LocalCluster(
                    n_workers=jobs,
                    threads_per_worker=1,
                    dashboard_address=None,
                )
            )
        try:
            client = distributed.Client(address, timeout=PATIENCE_S)
        except (OSError, ValueError) as error:
            raise Refusal(
                f"no Dask scheduler answers at {address}: {error}; start one "
                "with `dask scheduler`, or say --scheduler local"
            ) from None
        yield stack.enter_context(client)


@contextlib.contextmanager
def announced(place):
    """Write a token into the classroom, which every worker must see."""
    path, token = place.grades / "run.token", secrets.token_hex(8)
    files.write_whole(path, token)
    try:
        yield token
    finally:
        path.unlink(missing_ok=True)


def view(place):
    """Return what this process sees of what all workers must share."""
    token = place.grades / "run.token"
    return {
        f"classroom {place.classroom}": token.read_text()
        if token.exists()
        else "",
        f"folder {place.source}": digest_of(place.source, "*/*.ipynb"),
        "version of the autograder": digest_of(HERE, "*.py"),
    }


def digest_of(folder, pattern):
    """Return a hash over the names and contents of files."""
    state = hashlib.sha256()
    for path in sorted(folder.glob(pattern)):
        state.update(path.name.encode() + b"|" + path.read_bytes() + b"|")
    return state.hexdigest()


# --- in a worker ------------------------------------------------------------


def get_ready(run):
    """Set this process up for the run; Refusal if it must not grade."""
    if started == [run.token]:
        return
    worker = distributed.get_worker()
    name = f"the Dask worker {worker.address}"
    if worker.state.nthreads != 1:
        raise Refusal(
            f"{name} has {worker.state.nthreads} threads; start it with "
            "--nthreads 1, and several of them with --nworkers"
        )
    seen = view(run.place)
    for what, ours in run.view.items():
        if seen[what] != ours:
            raise Refusal(
                f"{name} does not see the same {what}; share the folders "
                "under the same paths and start it in the course's folder"
            )
    one_machine = BOOT.read_text() == run.machine
    if gradebook.file_of(run.place) and not one_machine:
        raise Refusal(
            f"{name} is another machine, and a SQLite gradebook breaks when "
            "machines share it; name a PostgreSQL one in course.toml"
        )
    with gradebook.opened(run.place):
        pass
    if not run.how.get("unsafe"):
        sandbox.require()
        selftest.require_sound()
    preprocessors.session.checker.close()
    start_worker(run.place, run.how, alone=True)
    started[:] = [run.token]


def grade_there(run, task):
    """Grade one notebook in a worker, which may have joined just now."""
    get_ready(run)
    return grade_in_turn(task, run.force)


# --- on our side ------------------------------------------------------------


def prove(client, run):
    """Let each worker get ready, after what it still does for others."""
    try:
        client.wait_for_workers(1, timeout=PATIENCE_S)
    except TimeoutError:
        raise Refusal(NO_WORKER) from None
    # a notebook that ends its worker is not sent round the whole cluster
    client.run_on_scheduler(blame_at_once)
    futures = {
        client.submit(get_ready, run, workers=[worker], pure=False): worker
        for worker in client.nthreads()
    }
    for future in ended(client, futures):
        try:
            future.result()
        except (Refusal, CancelledError):
            raise
        except Exception as error:
            raise Refusal(
                f"the Dask worker {futures[future]} cannot run the grader: "
                f"{error}; start it in the course's folder, with the "
                "course's environment"
            ) from None


def blame_at_once(dask_scheduler):
    """Let a task fail when its worker is lost; we try it again ourselves."""
    dask_scheduler.allowed_failures = 0


def graded(client, run, todo):
    """Return one result for each notebook."""
    results, suspects = [], []
    with bar(None, len(todo)) as progress:
        futures = {submit(client, run, task): task for task in todo}
        for future in ended(client, futures):
            try:
                results.append(future.result())
                progress.update()
            except KilledWorker:
                suspects.append(futures[future])
        for task in suspects:  # a worker was lost: by which of these?
            (future,) = ended(client, {submit(client, run, task): task})
            try:
                results.append(future.result())
            except KilledWorker:
                results.append(give_up(run.place, *task))
            progress.update()
    return results


def submit(client, run, task):
    """Send one notebook to the cluster."""
    return client.submit(grade_there, run, task, pure=False)


def ended(client, futures):
    """Yield the futures as they end; Stopped if no worker is left."""
    left, last = set(futures), time.monotonic()
    while left:
        try:
            done, left = distributed.wait(left, POLL_S, "FIRST_COMPLETED")
        except TimeoutError:
            done = ()
        yield from done
        if done or client.nthreads():
            last = time.monotonic()
        elif time.monotonic() - last > PATIENCE_S:
            raise Stopped(NO_WORKER)
