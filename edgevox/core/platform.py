"""Operating-system calls that differ between platforms, memory limits, and re-exec.

Linux supports all of them. Windows has no user ids, no Unix sockets in Python and no inheritable descriptors:
functions that need those raise PlatformUnsupported. The checks use `sys.platform`, which type checkers follow.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import errno
import gc
import logging
import os
import platform
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO, Literal, NoReturn, TypeAlias

from edgevox.core.errors import PlatformUnsupported

if sys.platform != "win32":
    import fcntl
    import resource
    import termios
    import tty

Streams: TypeAlias = tuple[asyncio.StreamReader, asyncio.StreamWriter]
OnConnected: TypeAlias = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]

# Constants of <sys/un.h> and <sys/ucred.h> on macOS that Python does not define.
_SOL_LOCAL = 0
_LOCAL_PEERCRED = 1
_XUCRED = struct.Struct("IIh16I")
_UCRED = struct.Struct("3i")


def _unsupported(what: str) -> PlatformUnsupported:
    return PlatformUnsupported(
        f"{what}, which this system ({sys.platform}) does not support",
        hint="run EdgeVox on Linux; on a Windows machine that is WSL 2",
    )


# --- processor, memory, clock


def usable_cores() -> int:
    """The CPU cores available to this process; on systems other than Linux, all cores."""
    if sys.platform == "linux":
        cores = len(os.sched_getaffinity(0))
    else:
        cores = os.cpu_count() or 1
    return cores


def machine_cpu_s() -> float | None:
    """The CPU seconds used by all processes since boot; None if unknown."""
    busy_s: float | None = None
    if sys.platform == "linux":
        try:
            with Path("/proc/stat").open(encoding="ascii") as file:
                user, nice, system, _idle, _waiting, irq, softirq = map(int, file.readline().split()[1:8])
            busy_s = (user + nice + system + irq + softirq) / os.sysconf("SC_CLK_TCK")
        except (OSError, ValueError):
            busy_s = None
    return busy_s


@cache
def processor_name() -> str:
    """The model name of the processor, such as "Neoverse-N1"."""
    found = _model_name(Path("/proc/cpuinfo").read_text(encoding="utf-8")) if sys.platform == "linux" else ""
    if not found and (lscpu := shutil.which("lscpu")):  # Arm's /proc/cpuinfo has numbers only
        found = _model_name(subprocess.run([lscpu], capture_output=True, text=True, check=False).stdout)
    return found or platform.processor() or platform.machine()


def _model_name(text: str) -> str:
    for line in text.splitlines():
        key, _, value = line.partition(":")
        if key.strip().lower() == "model name":
            return value.strip()
    return ""


@dataclass(frozen=True, slots=True)
class ProcessUsage:
    """Resources used by this process since its start; reads are major page faults and blocks from disk."""

    cpu_s: float
    disk_reads: int


def process_usage() -> ProcessUsage:
    """The usage of all threads. Windows does not count reads."""
    if sys.platform != "win32":
        used = resource.getrusage(resource.RUSAGE_SELF)
        usage = ProcessUsage(used.ru_utime + used.ru_stime, used.ru_majflt + used.ru_inblock)
    else:
        usage = ProcessUsage(time.process_time(), 0)
    return usage


@dataclass(frozen=True, slots=True)
class ProcessActivity:
    """Processor time of another process, and whether one of its threads runs, or waits for a processor or a disk."""

    cpu_s: float
    is_active: bool


def process_activity(pid: int) -> ProcessActivity | None:
    """Return the activity of all threads, or None where it is unknown."""
    activity = None
    if sys.platform == "linux":
        ticks, is_active = 0, False
        for path in Path(f"/proc/{pid}/task").glob("*/stat"):
            try:
                state, *fields = path.read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
            except OSError:  # that thread has ended
                continue
            ticks += int(fields[10]) + int(fields[11])
            is_active = is_active or state in ("R", "D")
        activity = ProcessActivity(ticks / os.sysconf("SC_CLK_TCK"), is_active)
    return activity


def physical_memory_bytes() -> int:
    """The installed memory. Raises PlatformUnsupported if Windows does not report it."""
    if sys.platform != "win32":
        size = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    else:
        kib = ctypes.c_ulonglong()
        if not ctypes.windll.kernel32.GetPhysicallyInstalledSystemMemory(ctypes.byref(kib)):
            raise _unsupported("the size of the memory is read from the firmware")
        size = kib.value * 1024
    return size


def seconds_since_boot() -> float:
    """Includes suspend, and is never adjusted. Raises PlatformUnsupported."""
    if sys.platform == "linux":
        return time.clock_gettime(time.CLOCK_BOOTTIME)
    raise _unsupported("the time since boot is read from CLOCK_BOOTTIME")


# --- files


def anonymous_file(name: str) -> IO[bytes]:
    """A file without a path; in memory on Linux, elsewhere in the temporary folder."""
    # On a full disk, a process that maps a file and writes to its pages is killed.
    if sys.platform == "linux":
        file: IO[bytes] = os.fdopen(os.memfd_create(name), "w+b")
    else:
        file = tempfile.TemporaryFile()  # noqa: SIM115  (the caller closes it)
    return file


@contextlib.contextmanager
def file_of(parts: Iterable[memoryview], name: str) -> Iterator[str]:
    """A path from which a library can read these bytes inside the block; in memory on Linux."""
    if sys.platform == "linux":
        with anonymous_file(name) as file:
            file.writelines(parts)
            file.flush()
            yield f"/proc/self/fd/{file.fileno()}"
    else:
        with tempfile.TemporaryDirectory(prefix="edgevox-") as folder:
            path = Path(folder, name)
            with path.open("wb") as file:
                file.writelines(parts)
            yield str(path)


def open_no_follow(path: Path) -> int:
    """Open for reading, without following a symlink or blocking on a pipe. Raises OSError."""
    if sys.platform != "win32":
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
    else:
        if path.is_symlink():
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
        flags = os.O_RDONLY | os.O_BINARY
    return os.open(path, flags)


def lock_exclusively(file: IO[str]) -> None:
    """Lock the file until it is closed. Raises BlockingIOError if another process holds the lock."""
    if sys.platform != "win32":
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    else:
        raise _unsupported("the lock of the running assistant is taken with flock()")


def enlarge_pipe(descriptor: int, size_bytes: int) -> None:
    """Raise the capacity of a pipe, on Linux and within the user's limit."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, size_bytes)


# --- users


def never_block(descriptor: int) -> None:
    """Make writing to a full pipe fail instead of wait, where the system can."""
    if sys.platform != "win32":
        os.set_blocking(descriptor, False)


def user_id() -> int:
    """The user id of this process. Raises PlatformUnsupported."""
    if sys.platform != "win32":
        return os.getuid()
    raise _unsupported("the owner of a file or a socket is checked by user id")


def peer_uid(connection: socket.socket) -> int:
    """The user id at the other end of a Unix socket. Raises OSError if the kernel does not report it."""
    if sys.platform == "linux":
        found = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _UCRED.size)
        _pid, uid, _gid = _UCRED.unpack(found)
    else:
        found = connection.getsockopt(_SOL_LOCAL, _LOCAL_PEERCRED, _XUCRED.size)
        _version, uid, *_groups = _XUCRED.unpack(found)
    return int(uid)


def session_folder() -> Path | None:
    """The runtime folder of the login session, for sockets; None without a session."""
    name = os.environ.get("XDG_RUNTIME_DIR")
    if not name and sys.platform != "win32":
        # A shell outside the session, such as cron's, does not set the variable although the folder exists.
        name = f"/run/user/{os.getuid()}"
    return Path(name) if name and Path(name).is_dir() else None


# --- Unix sockets

_CONTROL_SOCKET = "the running assistant is reached over a Unix socket"
_ENGINE_SOCKET = "an engine runs in a process that inherits a Unix socket"


def unix_socket(kind: socket.SocketKind) -> socket.socket:
    """Raises PlatformUnsupported."""
    if sys.platform != "win32":
        return socket.socket(socket.AF_UNIX, kind)
    raise _unsupported(_CONTROL_SOCKET)


def inheritable_socket_pair() -> tuple[socket.socket, socket.socket]:
    """Two connected sockets, for `pass_fds`. Raises PlatformUnsupported."""
    if sys.platform != "win32":
        return socket.socketpair()
    raise _unsupported(_ENGINE_SOCKET)


async def open_unix_streams(connected: socket.socket) -> Streams:
    """The streams of a connected Unix socket. Raises PlatformUnsupported."""
    if sys.platform != "win32":
        return await asyncio.open_unix_connection(sock=connected)
    raise _unsupported(_ENGINE_SOCKET)


async def connect_unix(path: Path, *, limit_bytes: int) -> Streams:
    """Raises OSError if nothing listens there, and PlatformUnsupported."""
    if sys.platform != "win32":
        return await asyncio.open_unix_connection(path, limit=limit_bytes)
    raise _unsupported(_CONTROL_SOCKET)


async def serve_unix(
    on_connected: OnConnected, listening: socket.socket, *, limit_bytes: int
) -> asyncio.AbstractServer:
    """Call `on_connected` for every connection. Raises PlatformUnsupported."""
    if sys.platform != "win32":
        return await asyncio.start_unix_server(on_connected, sock=listening, limit=limit_bytes)
    raise _unsupported(_CONTROL_SOCKET)


def has_hung_up(connection: socket.socket) -> bool:
    """Whether the other end has closed both directions. Raises PlatformUnsupported."""
    if sys.platform != "win32":
        poll = select.poll()
        poll.register(connection.fileno(), select.POLLIN)
        return any(found & (select.POLLHUP | select.POLLERR) for _fd, found in poll.poll(0))
    raise _unsupported(_CONTROL_SOCKET)


# --- signals and the terminal


def kill_child(process: asyncio.subprocess.Process) -> None:
    """Kill a child, unless its end is known already.

    Before Python 3.13, `process.kill()` takes the exit status of a child that has just ended away from asyncio
    (gh-87744), which then logs "Unknown child process pid" and reports 255.
    """
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            if sys.platform != "win32":
                os.kill(process.pid, signal.SIGKILL)
            else:
                process.kill()


def on_signal(name: Literal["SIGTERM", "SIGHUP"], action: Callable[[], object]) -> None:
    """Call `action` in the running event loop on this signal. Windows sends neither signal."""
    if sys.platform != "win32":
        asyncio.get_running_loop().add_signal_handler(signal.Signals[name], action)


def signal_group(pid: int, name: Literal["SIGTERM", "SIGKILL"]) -> None:
    """Signal the process group led by `pid`, if it exists; on Windows, end that process only."""
    if sys.platform != "win32":
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.Signals[name])
    else:
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGTERM)  # TerminateProcess


@contextlib.contextmanager
def suspended(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """Suspend the process inside the block. Raises PlatformUnsupported."""
    if sys.platform != "win32":
        process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            process.send_signal(signal.SIGCONT)
    else:
        raise _unsupported("a process is stopped with SIGSTOP")


@contextlib.contextmanager
def unbuffered_keys(terminal: int) -> Iterator[None]:
    """Read single keys instead of lines inside the block. Raises PlatformUnsupported."""
    if sys.platform != "win32":
        before = termios.tcgetattr(terminal)
        tty.setcbreak(terminal)
        try:
            yield
        finally:
            termios.tcsetattr(terminal, termios.TCSADRAIN, before)
    else:
        raise _unsupported("single keys are read with termios")


_CGROUP_LIMIT = Path("/sys/fs/cgroup/memory.max")


def total_memory_bytes(cgroup_limit: Path = _CGROUP_LIMIT) -> int:
    """The installed memory, or the limit of the container if that is lower."""
    installed = physical_memory_bytes()
    try:
        limit = cgroup_limit.read_text(encoding="ascii").strip()
    except OSError:  # no container, or not Linux
        return installed
    return min(installed, int(limit)) if limit.isdecimal() else installed


def release_free_memory() -> None:
    """Collect garbage, then return freed memory that glibc still holds: 80 MB after a model was read."""
    gc.collect()
    trim_heap()


def trim_heap() -> None:
    """Return freed memory that glibc still holds; takes about 3 ms.

    glibc raises its limits to the largest block ever freed. From then on, blocks of up to 32 MB are cut from the heap,
    and one small object behind them keeps them from the system.
    """
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # musl has none
        if trim is not None:
            trim(0)


# From <malloc.h>.
_M_ARENA_MAX = -8


def limit_malloc_arenas() -> None:
    """Let the threads to come share two heaps: glibc gives a dozen threads one each, and all of them have holes."""
    if sys.platform == "linux":
        mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # musl has none
        if mallopt is not None:
            mallopt(_M_ARENA_MAX, 2)


def freeze_gc() -> None:
    """Exclude all current objects from garbage collection.

    Python runs a full collection only once new objects exceed a quarter of the old ones. Beside 300,000
    objects of libraries, the garbage of a thousand turns stays below that, and the process grows.
    """
    gc.collect()
    gc.freeze()
    gc.collect()  # sets the threshold of the next full collection to the (empty) rest


def anonymous_bytes(pid: int) -> int:
    """The memory of a process that no file backs (RssAnon); 0 if it has ended, or without /proc."""
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return 0
    fields = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)
    return int(fields.get("RssAnon", "0 kB").split()[0]) * 1024


log = logging.getLogger(__name__)


def reexec() -> NoReturn:
    """Replace this process by a new run of the same command, with the same pid.

    All threads end, even those that hang; open files are closed and the instance lock is released. Child
    processes must have ended before.
    """
    log.warning("restarting")
    sys.stdout.flush()
    sys.stderr.flush()
    os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])  # noqa: S606  (this very command)
