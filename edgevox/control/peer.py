"""Who is at the other end of a Unix socket, as the kernel knows it."""

from __future__ import annotations

import socket
import struct
import sys

# <sys/un.h> and <sys/ucred.h> of macOS, which Python does not name.
_SOL_LOCAL = 0
_LOCAL_PEERCRED = 1
_XUCRED = struct.Struct("IIh16I")


def peer_uid(connection: socket.socket) -> int:
    """The user at the other end. Raises OSError where the kernel does not say."""
    if sys.platform == "linux":
        credentials = struct.Struct("3i")
        found = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, credentials.size)
        _pid, uid, _gid = credentials.unpack(found)
    else:
        found = connection.getsockopt(_SOL_LOCAL, _LOCAL_PEERCRED, _XUCRED.size)
        _version, uid, *_groups = _XUCRED.unpack(found)
    return int(uid)
