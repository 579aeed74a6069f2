"""The child process: receives an engine, loads it, and answers requests until the parent exits.

Started as `python -m edgevox.engines.child SOCKET_FD FLAGS_FD`. The engine runs on the main thread; a reader thread
receives requests, and ends the process at once when the parent is gone.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import queue
import signal
import socket
import sys
import threading

from edgevox.core.errors import EdgevoxError
from edgevox.core.platform import release_free_memory, trim_heap
from edgevox.core.types import Engine
from edgevox.engines import ipc
from edgevox.engines.base import answer
from edgevox.engines.ipc import LENGTH, LOAD, End, Heartbeat, Reply, Request, encode

# Longer than the pause between two sentences of a reply.
_IDLE_S = 2.0


def main(socket_fd: int, flags_fd: int) -> None:
    # Ctrl-C reaches the whole process group; the parent decides when its children end.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    connection = socket.socket(fileno=socket_fd)
    memory = mmap.mmap(flags_fd, ipc.SHARED_BYTES)
    requests: queue.SimpleQueue[Request] = queue.SimpleQueue()
    threading.Thread(target=_read_requests, args=(connection, requests), daemon=True).start()

    engine: Engine[object, object] = requests.get().content
    try:
        engine.load()
    except EdgevoxError as error:
        connection.sendall(encode(Reply(LOAD, error)))
        return
    release_free_memory()
    heartbeat = Heartbeat(memory)
    heartbeat.start()
    connection.sendall(encode(Reply(LOAD, End())))
    while True:
        request = _next_request(requests)
        heartbeat.is_working = True
        for value in answer(engine, request.content, ipc.cancel_flag(memory, request.id)):
            connection.sendall(encode(Reply(request.id, value)))
        heartbeat.is_working = False


def _next_request(requests: queue.SimpleQueue[Request]) -> Request:
    """Wait for the next request, without the memory that only the last ones needed."""
    try:
        return requests.get(timeout=_IDLE_S)
    except queue.Empty:
        trim_heap()
        return requests.get()


def _read_requests(connection: socket.socket, requests: queue.SimpleQueue[Request]) -> None:
    with connection.makefile("rb") as frames, contextlib.suppress(OSError):
        while len(head := frames.read(LENGTH.size)) == LENGTH.size:
            (length,) = LENGTH.unpack(head)
            if len(body := frames.read(length)) < length:
                break
            requests.put(ipc.decode(body))
    # An engine has nothing to save, and native code may be busy for seconds: do not wait for it.
    os._exit(0)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
