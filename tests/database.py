"""A throw-away PostgreSQL server, from Debian's package `postgresql`."""

import contextlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

BIN = max(Path("/usr/lib/postgresql").glob("*/bin"), default=None)
MISSING = "postgresql is not installed: apt-get install postgresql"


class Server:
    """A server in a folder of its own, reached through a socket file."""

    def __init__(self):
        # not in pytest's folders, which other users cannot enter
        self.home = Path(tempfile.mkdtemp(prefix="postgresql-"))
        if os.geteuid() == 0:  # PostgreSQL refuses to run as root
            shutil.chown(self.home, "nobody")
        words = "-U", "grader", "-A", "trust"
        self.do("initdb", "-D", self.home / "data", *words)
        self.start()

    def url(self, name="postgres"):
        """The address of a database, with a password that nobody needs."""
        return (
            f"postgresql+psycopg2://grader:canary-password@/{name}"
            f"?host={self.home}"
        )

    def create(self, name):
        """Create an empty database; return its address."""
        self.do("createdb", "-h", self.home, "-U", "grader", name)
        return self.url(name)

    def start(self):
        """Start it and wait until it answers."""
        words = f"-c listen_addresses= -c unix_socket_directories={self.home}"
        self.control("start", "-w", "-o", words, "-l", self.home / "log")

    def stop(self, mode="fast"):
        """Stop it; `immediate` is as hard as a power cut."""
        self.control("stop", "-m", mode)

    def remove(self):
        """Stop it if it runs, and delete it."""
        with contextlib.suppress(subprocess.CalledProcessError):
            self.stop("immediate")
        shutil.rmtree(self.home)

    def control(self, *words):
        """Run pg_ctl on its data."""
        self.do("pg_ctl", "-D", self.home / "data", *words)

    def do(self, program, *words):
        """Run one of PostgreSQL's programs as a user that it accepts."""
        user = ["setpriv", "--reuid=nobody", "--regid=nogroup",
                "--clear-groups"]
        subprocess.run(
            [*(user if os.geteuid() == 0 else []), BIN / program, *words],
            check=True, cwd="/", stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
