"""The lock that says whether any process of the embedded server is left.

The server's processes inherit its descriptor, and ``flock(2)`` holds until the last copy of that is closed: by exit,
``kill -9`` or a crash. A zombie holds nothing, and process ids, which are used again, play no part.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from checkpoints.data_folder import disk_error


def take(path: Path) -> int | None:
    """Lock the file without waiting; None while another process holds it."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # The folder may have been deleted and made again since it was opened.
            if os.path.samestat(os.fstat(descriptor), path.stat()):
                return descriptor
        except (BlockingIOError, FileNotFoundError):
            pass
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)
    except OSError as problem:
        raise disk_error(problem, path) from problem
    return None


def is_free(path: Path) -> bool:
    """Whether no process of the server is left."""
    if not path.exists():
        return True
    descriptor = take(path)
    if descriptor is not None:
        os.close(descriptor)
    return descriptor is not None
