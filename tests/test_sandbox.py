"""The walls hold, and the self-test sees it when one is taken away."""

import os
import shutil
import signal
import subprocess
import sys

import pytest

from autograder import Refusal, nursery, sandbox, seccomp, selftest

AS_USER = """
set -e
home=$(mktemp -d)
mount --bind "$BASE" "$home"
mount -t tmpfs -o mode=755 none "$HIDDEN"
mkdir -p "$BASE"
mount --bind "$home" "$BASE"
exec setpriv --reuid 12345 --regid 12345 --clear-groups --inh-caps=-all \\
  "$PYTHON" -B -m autograder.selftest
"""


@pytest.mark.slow
@pytest.mark.parametrize("cold", [False, True])
def test_every_wall_holds(cold):
    assert broken_claims(cold) == []


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to become a user")
def test_every_wall_holds_for_a_normal_user():
    # root's home is closed to others, and Python may live in it: a private
    # mount namespace opens just that part of it
    environment = {
        **os.environ,
        "BASE": os.path.realpath(sys.base_prefix),
        "HIDDEN": "/root",
        "PYTHON": sys.executable,
    }
    done = subprocess.run(
        ["unshare", "-m", "bash", "-c", AS_USER],
        env=environment, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def without(words):
    """Return a wrapper that drops these words from bubblewrap's command."""
    build = sandbox.sandboxed_command

    def changed(program, helpers, fd, warm):
        command, fds = build(program, helpers, fd, warm)
        for i in range(len(command) - len(words), -1, -1):
            if command[i : i + len(words)] == words:
                del command[i : i + len(words)]
        return command, fds

    return changed


WALLS = {  # what is taken away, and the claim that must fall
    "has no network": ["--unshare-net"],
    "sees only its own processes": ["--unshare-pid"],
    "has an environment without secrets": ["--clearenv"],
}
NO_LIMIT = {
    "cannot take all memory": "RLIMIT_DATA",
    "cannot start processes without end": "RLIMIT_NPROC",
}


def broken_claims(cold=False):
    found = selftest.findings(cold)
    return [claim for claim, holds in found.items() if not holds]


@pytest.mark.slow
@pytest.mark.parametrize("claim", WALLS)
def test_a_wall_taken_away_is_noticed(claim, monkeypatch):
    monkeypatch.setattr(sandbox, "sandboxed_command", without(WALLS[claim]))
    monkeypatch.setenv("SECRET", "canary")
    start = subprocess.Popen

    def popen(command, **how):
        return start(command, **{**how, "env": dict(os.environ)})

    monkeypatch.setattr(subprocess, "Popen", popen)
    assert claim in broken_claims(cold=True)
    for folder in selftest.orphans():
        os.kill(int(folder.name), signal.SIGKILL)


@pytest.mark.slow
@pytest.mark.parametrize("claim", NO_LIMIT)
def test_a_limit_taken_away_is_noticed(claim, monkeypatch, tmp_path):
    weak = tmp_path / "autograder"
    shutil.copytree(sandbox.HERE, weak, ignore=only_python)
    text = (weak / "confine.py").read_text()
    line = next(t for t in text.splitlines() if NO_LIMIT[claim] in t)
    (weak / "confine.py").write_text(text.replace(line + "\n", ""))
    monkeypatch.setattr(sandbox, "HERE", weak)
    monkeypatch.setattr(sandbox, "MAX_MEMORY", 1 << 50)
    assert claim in broken_claims()


def only_python(folder, names):
    return [name for name in names if not name.endswith(".py")]


@pytest.mark.slow
def test_the_filter_taken_away_is_noticed(monkeypatch):
    monkeypatch.setattr(sandbox, "privileges", no_userns_lock)
    allow = seccomp.struct.pack("<HBBI", seccomp.RETURN, 0, 0, seccomp.ALLOW)
    monkeypatch.setattr(seccomp, "program", lambda: allow)
    assert "cannot make a new namespace" in broken_claims(cold=True)


def no_userns_lock(root, warm, build=sandbox.privileges):
    return [w for w in build(root, warm) if w != "--disable-userns"]


@pytest.mark.slow
def test_a_course_bound_into_the_sandbox_is_noticed(monkeypatch):
    build = sandbox.mounts
    root = selftest.ROOT
    leak = [*sandbox.parents(root), "--ro-bind", str(root), str(root)]

    def leaky(*args):
        words = build(*args)  # after /tmp, where a checkout may lie
        end = words.index("--remount-ro")
        return [*words[:end], *leak, *words[end:]]

    monkeypatch.setattr(sandbox, "mounts", leaky)
    claims = broken_claims()
    assert "does not see the course" in claims
    assert "cannot import the reference library" in claims
    with pytest.raises(Refusal, match="does not see the course"):
        selftest.require_sound()


def test_without_bubblewrap_untrusted_code_is_refused(monkeypatch):
    monkeypatch.setattr(sandbox, "installed", lambda: None)
    with pytest.raises(Refusal, match="apt-get install bubblewrap"):
        sandbox.require()
    sandbox.require(unsafe=True)


def test_a_sandbox_that_cannot_start_says_why(monkeypatch):
    monkeypatch.setattr(sandbox, "mounts", lambda *a: ["--no-such-option"])
    with pytest.raises(Refusal, match=r"did not start: .*no-such-option"):
        sandbox.start("student.py", sandbox.HELPERS)


@pytest.mark.slow
def test_memory_of_all_processes_together_is_bounded(monkeypatch):
    monkeypatch.setattr(sandbox, "MAX_MEMORY", 400 << 20)
    students = nursery.students()
    box = students.fresh()
    source = "import os, time\nos.fork(); os.fork()\nx = b'x' * (200 << 20)\n"
    with pytest.raises(sandbox.Gone, match="too much memory"):
        selftest.ask(box, op="run", source=source + "time.sleep(30)")
    students.close()


@pytest.mark.slow
def test_stopping_ends_every_process(tmp_path):
    students = nursery.students()
    box = students.fresh()
    source = "import subprocess\nsubprocess.Popen('exec sleep 987654', "
    selftest.ask(
        box, op="run", source=source + "shell=True, start_new_session=True)"
    )
    assert sandbox.memory_of(box.process.pid) > 0
    students.end()
    assert selftest.orphans() == []
    students.close()
    assert sandbox.memory_of(box.process.pid) == 0


def test_the_filter_has_a_table_for_this_machine():
    assert len(seccomp.program()) % 8 == 0
    assert seccomp.program()
