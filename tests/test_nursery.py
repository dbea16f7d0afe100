"""A submission finds nothing of the one before it, in the warm sandbox.

Each trace is left by one child and looked for by the next. That the look
can find it is shown twice: in the child that left it, and where one wall
of the zygote is taken away.
"""

import json
import os
import shutil
import signal

import pytest

from autograder import nursery, sandbox, selftest

SHARED = """
import ctypes, os, socket, subprocess
libc = ctypes.CDLL(None)
"""
TRACES = {  # leave, look (an expression that is true once it is found)
    "file in home": (
        "open('/home/student/x', 'w').write('x')",
        "os.path.exists('/home/student/x')",
    ),
    "file in /tmp": (
        "open('/tmp/x', 'w').write('x')",
        "os.path.exists('/tmp/x')",
    ),
    "shared memory by name": (
        "open('/dev/shm/x', 'w').write('x')",
        "os.path.exists('/dev/shm/x')",
    ),
    "process": (
        "subprocess.Popen('exec sleep 987654', shell=True,"
        " start_new_session=True)",
        "any(b'987654' in open(f'/proc/{p}/cmdline', 'rb').read()"
        " for p in os.listdir('/proc') if p.isdigit())",
    ),
    "socket without a file": (
        "kept = socket.socket(socket.AF_UNIX)\n"
        "kept.bind('\\0mailbox')\nkept.listen()\n"
        "if os.fork() == 0:\n    os.setsid()\n    import time\n"
        "    time.sleep(60)",
        "socket.socket(socket.AF_UNIX).connect_ex('\\0mailbox') == 0",
    ),
    "module": (
        "import sympy\nsympy.secret = 1",
        "hasattr(__import__('sympy'), 'secret')",
    ),
    "builtin": (
        "import builtins\nbuiltins.secret = 1",
        "hasattr(__builtins__, 'secret')",
    ),
    "environment": (
        "os.environ['SECRET'] = 'x'",
        "'SECRET' in os.environ",
    ),
    "name in the notebook": ("secret = 1", "'secret' in globals()"),
    "IPython start-up file": (
        "import pathlib\nfolder = pathlib.Path.home() / '.ipython/"
        "profile_default/startup'\nfolder.mkdir(parents=True)\n"
        "(folder / 'x.py').write_text('secret = 1')",
        "os.path.exists(os.path.expanduser("
        "'~/.ipython/profile_default/startup/x.py'))",
    ),
    "cache of SymPy": (
        "import sympy.core.cache as cache\n"
        "cache.CACHE.append('secret')",
        "'secret' in __import__('sympy').core.cache.CACHE",
    ),
    "user": ("uid = os.getuid()", "'uid' in globals()"),
}


def run(box, source):
    """Run a cell in a child; fail if it raises."""
    reply = selftest.ask(box, op="run", source=SHARED + source)
    assert "error" not in reply, reply
    return reply


def leave(box):
    """Leave every trace that can be left."""
    for what, _ in TRACES.values():
        selftest.ask(box, op="run", source=SHARED + what)


def found(box):
    """Return the names of the traces that this child finds."""
    looks = {name: look for name, (_, look) in TRACES.items()}
    source = f"import json\nlooks = {looks!r}\nfound = []\n"
    source += "for name, look in looks.items():\n"
    source += "    if eval(look): found.append(name)\n"
    run(box, source)
    reply = selftest.ask(box, op="names", names=["found"])
    return json.loads(reply["value"]["found"])[1:]


@pytest.fixture(scope="module")
def students():
    """Yield a warm nursery."""
    warm = nursery.students()
    try:
        yield warm
    finally:
        warm.close()


@pytest.mark.slow
def test_the_next_submission_finds_nothing(students):
    first = students.fresh()
    leave(first)
    assert sorted(found(first)) == sorted(TRACES)
    assert found(students.fresh()) == []
    assert not students.cold


@pytest.mark.slow
def test_every_child_has_a_user_of_its_own(students):
    users = [
        run(students.fresh(), "print(os.getuid())")["printed"]
        for _ in range(3)
    ]
    if os.geteuid() == 0:
        assert len(set(users)) == 3
    assert "0\n" not in users


@pytest.mark.slow
def test_the_zygote_cannot_be_seen_or_reached(students):
    source = (
        "print(sorted(p for p in os.listdir('/proc') if p.isdigit()))\n"
        "print(sorted(os.listdir('/proc/self/fd'), key=int)[:3])\n"
        "kinds = [os.readlink(f'/proc/self/fd/{n}') for n in range(64)\n"
        "         if os.path.islink(f'/proc/self/fd/{n}')]\n"
        "print(sum(k.startswith('socket:') for k in kinds))"
    )
    printed = run(students.fresh(), source)["printed"].splitlines()
    assert printed == ["['1', '2']", "['0', '1', '2']", "1"]


REFUSED = {  # calls of the kernel, and what they are asked for
    "mount": "b'tmpfs', b'/home', b'tmpfs', 0, None",
    "setns": "os.open('/proc/1/ns/mnt', os.O_RDONLY), 0",
    "unshare": "0x10000000",  # a namespace of users
    "chroot": "b'/tmp'",
    "shmget": "4711, 4096, 0o1666",  # these three outlive a process
    "msgget": "4711, 0o1666",
    "semget": "4711, 1, 0o1666",
}


@pytest.mark.slow
@pytest.mark.parametrize("call", REFUSED)
def test_no_child_changes_its_walls_or_leaves_what_outlives_it(students, call):
    arguments = REFUSED[call]
    source = f"try:\n    refused = libc.{call}({arguments})\n"
    source += "except OSError:\n    refused = -1\nprint(refused)"
    assert run(students.fresh(), source)["printed"] == "-1\n"


@pytest.mark.slow
def test_ending_leaves_no_process(students):
    run(students.fresh(), TRACES["process"][0])
    students.end()
    assert selftest.orphans() == []


@pytest.mark.slow
def test_what_a_notebook_imports_is_there_at_once(students):
    loaded = "import sys\nprint({} in sys.modules)"
    plt = loaded.format("'matplotlib.pyplot'")
    assert run(students.fresh(), plt)["printed"] == "False\n"
    cells = ["import numpy", "from matplotlib import pyplot as plt"]
    extras = nursery.extras_of(cells)
    assert run(students.fresh(extras), plt)["printed"] == "True\n"
    source = "import matplotlib.pyplot as plt\nplt.plot([1, 2])\n"
    run(students.fresh(extras), source + "plt.savefig('x.png')")
    assert nursery.extras_of(["important", "torches = 1"]) == 0
    assert nursery.extras_of(["import torch.nn as nn"]) == 1


@pytest.mark.slow
def test_without_folders_of_its_own_files_are_found(monkeypatch, tmp_path):
    old = 'mount("tmpfs", folder, "tmpfs", NO_SUID | NO_DEVICES, options)'
    weak = weakened(tmp_path, "lockdown.py", old, "pass")
    monkeypatch.setattr(sandbox, "HERE", weak)
    one_user(weak)
    students = nursery.students()
    try:
        leave(students.fresh())
        files = {"file in home", "file in /tmp", "shared memory by name"}
        assert files <= set(found(students.fresh()))
    finally:
        students.close()


def weakened(folder, name, old, new):
    """Return a copy of the grader's files with one of them changed."""
    weak = folder / "autograder"
    shutil.copytree(sandbox.HERE, weak, ignore=only_python)
    text = (weak / name).read_text()
    assert text.count(old) == 1
    (weak / name).write_text(text.replace(old, new))
    return weak


def only_python(folder, names):
    return [name for name in names if not name.endswith(".py")]


def one_user(weak):
    """Give all children the same user: another wall between them."""
    path = weak / "zygote.py"
    text = path.read_text()
    drawn = "random.SystemRandom().getrandbits(24)"
    assert drawn in text
    path.write_text(text.replace(drawn, "1"))


@pytest.mark.slow
def test_without_a_namespace_of_processes_they_go_on(monkeypatch, tmp_path):
    old = "ctypes.c_ulong(NEW_PIDS | signal.SIGCHLD)"
    weak = weakened(tmp_path, "lockdown.py", old,
                    "ctypes.c_ulong(signal.SIGCHLD)")
    text = (weak / "lockdown.py").read_text()
    text = text.replace('    mount("proc", "/proc", "proc", hard, None)\n', "")
    (weak / "lockdown.py").write_text(text)
    monkeypatch.setattr(sandbox, "HERE", weak)
    one_user(weak)
    students = nursery.students()
    try:
        leave(students.fresh())
        assert "process" in found(students.fresh())
    finally:
        students.close()
    for folder in selftest.orphans():
        os.kill(int(folder.name), signal.SIGKILL)


@pytest.mark.slow
def test_where_walls_cannot_be_built_each_gets_its_own_sandbox(
    monkeypatch, tmp_path
):
    old = "    must(libc.unshare("
    weak = weakened(tmp_path, "lockdown.py", old,
                    "    raise OSError(1, 'not here')\n" + old)
    monkeypatch.setattr(sandbox, "HERE", weak)
    students = nursery.students()
    try:
        first = students.fresh()
        assert students.cold and not students.zygote.warm
        zygote = students.zygote.process.pid
        leave(first)
        assert found(students.fresh()) == []
        assert students.zygote.process.pid != zygote
    finally:
        students.close()
    assert [c for c, holds in selftest.findings().items() if not holds] == []
