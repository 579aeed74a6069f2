"""Forks the `edgevox` command from a process that has imported it already.

A command spends more than a second on importing. The copy is a process of its own, with its own environment,
signals and exit; only what the interpreter reads when it starts is the server's.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import pkgutil
import select
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NoReturn

import edgevox.cli.commands

_MOST_REQUEST_BYTES = 100_000
# A pipe holds so much without a reader.
_MOST_STDIN_BYTES = 60_000
# Read once, when the interpreter or the C library starts.
_READ_AT_START = ("PYTHON", "LANG", "LC_", "LD_")


class ForkServer:
    """Starts commands; its process ends with the one that made it."""

    def __init__(self) -> None:
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._environ = dict(os.environ)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.cli.fork_server", str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                # As for a command whose output is read: Python does not write line by line.
                stdout=subprocess.PIPE,
            )

    def can_run(self, env: Mapping[str, str]) -> bool:
        """Whether a copy of the server is what a new process with this environment would be."""
        return _read_at_start(env) == _read_at_start(self._environ)

    def run(
        self, words: Sequence[str], env: Mapping[str, str], stdin: str, bound_s: float
    ) -> subprocess.CompletedProcess[str]:
        """Run one command as subprocess.run does. Raises TimeoutExpired when it is not done in time."""
        given = stdin.encode()
        assert len(given) <= _MOST_STDIN_BYTES
        request = json.dumps({"words": list(words), "env": dict(env), "cwd": str(Path.cwd())}).encode()
        read_end, write_end = os.pipe()
        ended, end = os.pipe()
        with (
            tempfile.TemporaryFile() as out,
            tempfile.TemporaryFile() as err,
            os.fdopen(write_end, "wb") as put,
            os.fdopen(ended, "rb") as reply,
        ):
            socket.send_fds(self._socket, [request], [read_end, out.fileno(), err.fileno(), end])
            os.close(read_end)
            os.close(end)
            put.write(given)
            put.close()
            pid = int(reply.readline())
            if not select.select([reply], [], [], bound_s)[0]:
                os.kill(pid, signal.SIGKILL)
                raise subprocess.TimeoutExpired(list(words), bound_s)
            exit_code = int(reply.readline())
            out.seek(0)
            err.seek(0)
            return subprocess.CompletedProcess(list(words), exit_code, out.read().decode(), err.read().decode())


def _read_at_start(env: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in env.items() if name.startswith(_READ_AT_START)}


def _serve(requests: socket.socket) -> None:
    for module in pkgutil.iter_modules(edgevox.cli.commands.__path__):
        importlib.import_module(f"edgevox.cli.commands.{module.name}")
    # What was imported is shared by all copies, so the garbage collector need not scan it again.
    gc.freeze()
    # Not waited for: the processes that wait for the commands.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while (received := socket.recv_fds(requests, _MOST_REQUEST_BYTES, 4))[0]:
        if os.fork() == 0:
            requests.close()
            _run_and_reply(json.loads(received[0]), received[1])
        for descriptor in received[1]:
            os.close(descriptor)


def _run_and_reply(request: dict[str, object], descriptors: Sequence[int]) -> NoReturn:
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    *standard, reply = descriptors
    pid = os.fork()
    if pid == 0:
        os.close(reply)
        _become(request, standard)
    os.write(reply, f"{pid}\n".encode())
    for descriptor in standard:
        os.close(descriptor)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    os.write(reply, f"{code}\n".encode())
    os._exit(0)


def _become(request: dict[str, object], standard: Sequence[int]) -> NoReturn:
    for target, descriptor in enumerate(standard):
        os.dup2(descriptor, target)
        os.close(descriptor)
    words, env, cwd = request["words"], request["env"], request["cwd"]
    assert isinstance(words, list)
    assert isinstance(env, dict)
    assert isinstance(cwd, str)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(env)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    program = importlib.import_module("edgevox.__main__")
    sys.argv = [str(program.__file__), *words]
    sys.exit(program.main())


if __name__ == "__main__":
    _serve(socket.socket(fileno=int(sys.argv[1])))
