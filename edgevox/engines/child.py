"""The child process: receives an engine, loads it, and answers requests until the parent exits.

Started as `python -m edgevox.engines.child SOCKET_FD FLAGS_FD`. The engine runs on the main thread; a reader thread
receives requests, and ends the process at once when the parent is gone.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import queue
import signal
import socket
import sys
import threading
import traceback
from typing import cast

from edgevox.core.errors import EdgevoxError, EngineFailed
from edgevox.core.platform import release_free_memory
from edgevox.core.turn import CancelFlag
from edgevox.core.types import Engine
from edgevox.engines.ipc import (
    FLAG_BYTES,
    HEARTBEAT_OFFSET,
    LENGTH,
    SHARED_BYTES,
    Failed,
    Finished,
    Heartbeat,
    Load,
    ParentFrame,
    Ready,
    Reply,
    Run,
    decode,
    encode,
    flag_slot,
)


def main(socket_fd: int, flags_fd: int) -> None:
    # Ctrl-C reaches the whole process group; the parent decides when its children end.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    connection = socket.socket(fileno=socket_fd)
    flags = mmap.mmap(flags_fd, SHARED_BYTES)
    requests: queue.SimpleQueue[ParentFrame] = queue.SimpleQueue()
    threading.Thread(target=_read_frames, args=(connection, requests), daemon=True).start()

    first = requests.get()
    assert isinstance(first, Load)
    engine: Engine[object, object] = first.engine
    try:
        engine.load()
    except EdgevoxError as error:
        connection.sendall(encode(Failed(None, error)))
        return
    release_free_memory()
    heartbeat = Heartbeat(flags, HEARTBEAT_OFFSET)
    heartbeat.start()
    connection.sendall(encode(Ready()))
    while True:
        frame = requests.get()
        assert isinstance(frame, Run)
        heartbeat.is_working = True
        _answer(engine, frame, connection, flags)
        heartbeat.is_working = False


def _answer(engine: Engine[object, object], run: Run, connection: socket.socket, flags: mmap.mmap) -> None:
    flag = CancelFlag((ctypes.c_char * FLAG_BYTES).from_buffer(flags, flag_slot(run.request_id)))
    try:
        for value in engine.run(run.request, flag):
            connection.sendall(encode(Reply(run.request_id, value)))
    except EdgevoxError as error:
        connection.sendall(encode(Failed(run.request_id, error)))
    except Exception as error:  # noqa: BLE001  (the top level of this process: the parent must hear of it)
        traceback.print_exc()
        failure = EngineFailed(
            f"the engine could not answer: {type(error).__name__}: {error}",
            hint="try again; if it happens every time, `edgevox doctor` checks the model",
        )
        connection.sendall(encode(Failed(run.request_id, failure)))
    else:
        connection.sendall(encode(Finished(run.request_id)))


def _read_frames(connection: socket.socket, requests: queue.SimpleQueue[ParentFrame]) -> None:
    try:
        while True:
            (length,) = LENGTH.unpack(_read_exactly(connection, LENGTH.size))
            requests.put(cast("ParentFrame", decode(_read_exactly(connection, length))))
    except (EOFError, OSError):
        # An engine has nothing to save, and native code may be busy for seconds: do not wait for it.
        os._exit(0)


def _read_exactly(connection: socket.socket, count: int) -> bytes:
    data = bytearray()
    while len(data) < count:
        piece = connection.recv(count - len(data))
        if not piece:
            raise EOFError
        data += piece
    return bytes(data)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
