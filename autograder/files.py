"""Files that are there in full or not at all, and a disk that is full."""

import errno
import os
import tempfile

FULL = (errno.ENOSPC, errno.EDQUOT)
ROOM = 1 << 20  # bytes that one notebook's files fit into
NO_ROOM = (
    "the disk is full; what was done stays, make space and run this again "
    "for the rest"
)


def write_whole(path, text):
    """Write a text file in one step, as far as readers can tell."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.part")
    try:
        with draft.open("wb") as file:
            file.write(text.encode("utf-8"))
            file.flush()
            os.fsync(file.fileno())  # only now do some disks say: full
        draft.replace(path)
    except OSError:
        draft.unlink(missing_ok=True)
        raise


def require_room(folder):
    """Raise the disk's own OSError if it takes no more."""
    with tempfile.TemporaryFile(dir=folder) as file:
        file.write(bytes(ROOM))
