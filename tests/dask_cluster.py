"""A Dask cluster of processes of its own, started as an instructor does."""

import json
import os
import subprocess
import sys
import time

from autograder.course import ROOT


class DaskCluster:
    """A scheduler and workers; each worker has a nanny that restarts it."""

    def __init__(self, folder, workers=2, threads=1):
        self.file = folder / "scheduler.json"
        self.processes = []
        self.scheduler = self.start(
            "scheduler", "--port", "0", "--no-dashboard",
            "--scheduler-file", self.file,
        )  # fmt: skip
        self.workers = [self.start_worker(threads) for _ in range(workers)]

    @property
    def address(self):
        """The scheduler's address."""
        return json.loads(self.file.read_text())["address"]

    def start_worker(self, threads=1):
        """Start one worker; it waits for the scheduler."""
        return self.start(
            "worker", "--scheduler-file", self.file, "--no-dashboard",
            "--nthreads", str(threads), "--local-directory", self.file.parent,
        )  # fmt: skip

    def start(self, *words):
        """Start one of Dask's programs in the course's folder."""
        process = subprocess.Popen(
            [sys.executable, "-m", "dask", *words], cwd=ROOT,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )  # fmt: skip
        self.processes.append(process)
        return process

    def wait(self, seconds=60):
        """Wait until the scheduler has written where it is."""
        deadline = time.monotonic() + seconds
        while not self.file.exists():
            if time.monotonic() > deadline:
                raise TimeoutError("the Dask scheduler did not start")
            time.sleep(0.1)

    def stop(self):
        """End every process; a worker ends when it has lost its nanny."""
        for process in reversed(self.processes):
            process.kill()
            process.wait()
