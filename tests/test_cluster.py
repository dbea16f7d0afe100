"""Grading on a Dask cluster: the same results, and what it refuses."""

import os
import signal
import threading
import time

import distributed
import pytest
import small_course
from dask_cluster import DaskCluster
from small_course import submission

from autograder import Refusal, Stopped, cluster, grade
from autograder.__main__ import main


@pytest.fixture(scope="module")
def dask(tmp_path_factory):
    """A scheduler and two workers, processes of their own."""
    started = DaskCluster(tmp_path_factory.mktemp("dask"))
    started.wait()
    yield started
    started.stop()


@pytest.fixture(autouse=True)
def quiet_dask(recwarn):
    """Dask's own warnings, of sockets that a kill left, are not ours."""


def class_of(folder, size):
    return small_course.make(
        folder, **{f"s{i}": submission() for i in range(size)}
    )


def without_seconds(results):
    return [{**r, "seconds": 0} for r in results]


@pytest.mark.slow
def test_a_cluster_gives_what_the_pool_gives(dask, tmp_path):
    wrong = {"softmax": "def softmax(z):\n    return z"}
    results = []
    for scheduler in (None, dask.address):
        course = small_course.make(
            tmp_path / str(len(results)),
            ann=submission(), bob=submission(wrong), cat=b"{",
        )  # fmt: skip
        found = grade.grade(course, jobs=2, seed=7, scheduler=scheduler)
        results.append(without_seconds(found))
    assert results[0] == results[1]
    assert [r["score"] for r in results[1]] == [4, 0, 0]
    assert not (course.grades / "run.token").exists()


@pytest.mark.slow
def test_a_lost_worker_loses_nothing(dask, tmp_path):
    course = class_of(tmp_path, 4)

    def kill():
        while not list(course.grades.glob("results/*/*/*.json")):
            time.sleep(0.05)
        with distributed.Client(dask.address, set_as_default=False) as client:
            pid, *_ = client.run(os.getpid).values()
        os.kill(pid, signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    results = grade.grade(course, scheduler=dask.address)
    killer.join()
    assert [(r["status"], r["score"]) for r in results] == [("graded", 4)] * 4


@pytest.mark.slow
def test_a_notebook_that_ends_its_workers_fails_alone(
    dask, tmp_path, monkeypatch
):
    course = class_of(tmp_path, 3)
    honest, tries = cluster.submit, []

    def submit(client, run, task):
        if task[0].student != "s1":
            return honest(client, run, task)
        tries.append(task)
        return client.submit(os._exit, 1, pure=False)

    monkeypatch.setattr(cluster, "submit", submit)
    results = grade.grade(course, scheduler=dask.address)
    assert [r["status"] for r in results] == ["graded", "failed", "graded"]
    assert "ended from outside, twice" in results[1]["reason"]
    assert len(tries) == 2


@pytest.mark.slow
def test_a_lost_scheduler_ends_the_run_and_a_rerun_completes(
    tmp_path, capsys
):
    course = class_of(tmp_path, 4)
    dask = DaskCluster(tmp_path)
    dask.wait()
    results = course.grades / "results"

    def kill():
        while not list(results.glob("*/*/*.json")):
            time.sleep(0.05)
        dask.scheduler.kill()

    killer = threading.Thread(target=kill)
    killer.start()
    words = ["--classroom", str(course.classroom), "--source",
             str(course.source)]  # fmt: skip
    try:
        assert main(["grade", "--scheduler", dask.address, *words]) == 1
    finally:
        killer.join()
        dask.stop()
    err = capsys.readouterr().err
    assert err == f"autograder: {cluster.LOST}\n"
    kept = {p: p.read_text() for p in results.glob("*/*/*.json")}
    assert 0 < len(kept) < 4
    again = grade.grade(course, jobs=2)
    assert [r["score"] for r in again] == [4] * 4
    assert all(path.read_text() == text for path, text in kept.items())


@pytest.mark.slow
def test_a_worker_elsewhere_is_found_out(dask, tmp_path, monkeypatch):
    course = class_of(tmp_path, 1)
    seen = cluster.view

    def other(place):
        return {**seen(place), f"folder {place.source}": "another"}

    monkeypatch.setattr(cluster, "view", other)
    with pytest.raises(Refusal, match=r"does not see the same folder .*sour"):
        grade.grade(course, scheduler=dask.address)
    monkeypatch.setattr(cluster, "view", seen)
    elsewhere = tmp_path / "boot_id"
    elsewhere.write_text("another machine")
    monkeypatch.setattr(cluster, "BOOT", elsewhere)
    with pytest.raises(Refusal, match="a SQLite gradebook breaks"):
        grade.grade(course, scheduler=dask.address)
    assert not list(course.grades.glob("results/*/*/*.json"))


def inside(**options):
    """Return a cluster in this process."""
    return distributed.LocalCluster(
        processes=False, dashboard_address=None, **options
    )


@pytest.mark.slow
def test_a_worker_with_threads_is_refused(tmp_path):
    with inside(n_workers=1, threads_per_worker=2) as dask:
        with pytest.raises(Refusal, match="has 2 threads; start it with"):
            address = dask.scheduler_address
            grade.grade(class_of(tmp_path, 1), scheduler=address)


@pytest.mark.slow
def test_without_scheduler_or_worker_there_is_one_sentence(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(cluster, "PATIENCE_S", 1)
    course = class_of(tmp_path, 1)
    with pytest.raises(Refusal, match="no Dask scheduler answers at tcp"):
        grade.grade(course, scheduler="tcp://127.0.0.1:9")
    with inside(n_workers=0) as dask:
        address = dask.scheduler_address
        with pytest.raises(Refusal, match="the Dask cluster has no worker"):
            grade.grade(course, scheduler=address)
        monkeypatch.setattr(cluster, "prove", lambda *args: None)
        with pytest.raises(Stopped, match="the Dask cluster has no worker"):
            grade.grade(course, scheduler=address)


@pytest.mark.slow
def test_a_cluster_of_its_own(tmp_path):
    course = class_of(tmp_path, 2)
    results = grade.grade(course, jobs=1, scheduler=cluster.LOCAL)
    assert [r["score"] for r in results] == [4, 4]
