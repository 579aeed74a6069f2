"""Systems that lack a call get its equivalent, or an error that says what to do.

The checks are made when a call is made, so that Linux can take the other systems' branches.
"""

from __future__ import annotations

import ast
import asyncio
import importlib.util
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from edgevox.cli.context import run_until_done
from edgevox.cli.main import main
from edgevox.core import platform as support
from edgevox.core.errors import PlatformUnsupported
from edgevox.engines.supervisor import EngineProcess

PACKAGE = Path(support.__file__).parents[1]
POSIX_MODULES = {"fcntl", "grp", "pty", "pwd", "resource", "syslog", "termios", "tty"}


@pytest.fixture
def on_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")


@pytest.fixture
def on_mac(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")


def test_only_one_module_imports_what_windows_does_not_have() -> None:
    """mypy knows these modules on every platform: their import, not their use, is what fails on Windows."""
    importers = set()
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.Import(names=names) if POSIX_MODULES & {alias.name for alias in names}:
                    importers.add(path.relative_to(PACKAGE).as_posix())
                case ast.ImportFrom(module=module) if module in POSIX_MODULES:
                    importers.add(path.relative_to(PACKAGE).as_posix())
    assert importers == {"core/platform.py"}


@pytest.mark.usefixtures("on_windows")
def test_that_module_can_be_imported_without_them(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = importlib.util.spec_from_file_location("platform_support_copy", support.__file__)
    assert spec is not None
    assert spec.loader is not None
    copy = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, copy)
    for name in POSIX_MODULES:
        monkeypatch.setitem(sys.modules, name, None)  # no such module
    spec.loader.exec_module(copy)
    assert copy.process_usage().cpu_s > 0


@pytest.mark.usefixtures("on_windows")
def test_a_missing_call_raises_an_error_with_a_hint(tmp_path: Path) -> None:
    ours, theirs = socket.socketpair()
    idle = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    with (tmp_path / "lock").open("w") as lock, ours, theirs, idle:
        calls: list[Callable[[], object]] = [
            support.user_id,
            support.seconds_since_boot,
            support.inheritable_socket_pair,
            lambda: support.unix_socket(socket.SOCK_STREAM),
            lambda: support.has_hung_up(ours),
            lambda: support.lock_exclusively(lock),
            lambda: support.unbuffered_keys(0).__enter__(),
            lambda: support.suspended(idle).__enter__(),
        ]
        for call in calls:
            with pytest.raises(PlatformUnsupported, match=r"\(win32\) does not support") as caught:
                call()
            assert "WSL 2" in caught.value.hint


@pytest.mark.usefixtures("on_windows")
async def test_an_engine_without_inherited_sockets_is_refused_before_it_starts() -> None:
    with pytest.raises(PlatformUnsupported, match="an engine runs in a process"):
        await EngineProcess.spawn("llm", object())


@pytest.mark.usefixtures("on_windows")
def test_a_command_for_the_running_assistant_ends_with_a_hint(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["status"]) == PlatformUnsupported.exit_code
    told = " ".join(capsys.readouterr().err.split())
    assert "reached over a Unix socket" in told
    assert "WSL 2" in told


@pytest.mark.usefixtures("on_windows")
def test_a_command_runs_where_the_event_loop_takes_no_signals(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_words: object) -> None:
        raise NotImplementedError  # as the event loops of Windows do

    monkeypatch.setattr(asyncio.SelectorEventLoop, "add_signal_handler", refuse)

    async def answer() -> int:
        return 42

    assert run_until_done(answer()) == 42


def test_threads_are_planned_for_the_cores_that_the_process_may_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 64)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: {3, 5})
    assert support.usable_cores() == 2


@pytest.mark.usefixtures("on_mac")
def test_without_affinity_the_cores_of_the_machine_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: 6)
    assert support.usable_cores() == 6
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert support.usable_cores() == 1


@pytest.mark.parametrize("platform", ["linux", "darwin"])
def test_bytes_have_a_path_only_inside_the_block(platform: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    with support.file_of([memoryview(b"two "), memoryview(b"parts")], "voice-part") as name:
        assert Path(name).read_bytes() == b"two parts"
        assert name.startswith("/proc/self/fd/") == (platform == "linux")
    assert not Path(name).exists()


@pytest.mark.parametrize("platform", ["linux", "win32"])
def test_a_link_is_not_opened(platform: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "secret").write_text("not for the index")
    (tmp_path / "link.txt").symlink_to("secret")
    monkeypatch.setattr(sys, "platform", platform)
    with pytest.raises(OSError, match="symbolic links"):
        support.open_no_follow(tmp_path / "link.txt")


def test_cpu_time_is_measured_without_getrusage(monkeypatch: pytest.MonkeyPatch) -> None:
    before = support.process_usage()
    monkeypatch.setattr(sys, "platform", "win32")
    after = support.process_usage()
    # The same clock, so that an engine's heartbeat sees the same work.
    assert before.cpu_s <= after.cpu_s < before.cpu_s + 1.0


def test_the_peer_of_a_socket_is_the_user_of_its_process() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        assert support.peer_uid(ours) == support.user_id()


@pytest.mark.usefixtures("on_windows")
def test_a_system_without_sessions_has_no_session_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    monkeypatch.delattr(os, "getuid")
    assert support.session_folder() is None
