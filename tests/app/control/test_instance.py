"""One assistant per user, for that user alone."""

from __future__ import annotations

import os
import socket
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from edgevox.app.control.protocol import SOCKET_NAME
from edgevox.app.control.server import single_instance
from edgevox.core.errors import AlreadyRunning, StateError

BOUND_S = 30.0


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "run"


def test_only_its_user_can_open_the_socket(folder: Path) -> None:
    with single_instance(folder):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert stat.S_IMODE((folder / SOCKET_NAME).stat().st_mode) == 0o600


def test_a_second_one_is_refused_with_the_process_of_the_first(folder: Path) -> None:
    with single_instance(folder):
        with pytest.raises(AlreadyRunning, match=f"process {os.getpid()}"), single_instance(folder):
            pass
        assert (folder / SOCKET_NAME).exists()


def test_the_next_one_may_start_when_the_first_has_ended(folder: Path) -> None:
    for _ in range(2):
        with single_instance(folder):
            pass
    assert not (folder / SOCKET_NAME).exists()


def test_what_a_killed_one_leaves_behind_is_taken_over(folder: Path) -> None:
    program = (
        "import sys, os, pathlib\n"
        "from edgevox.app.control.server import single_instance\n"
        "with single_instance(pathlib.Path(sys.argv[1])):\n"
        "    os.kill(os.getpid(), 9)\n"
    )
    subprocess.run([sys.executable, "-c", program, str(folder)], timeout=BOUND_S, check=False)
    assert (folder / SOCKET_NAME).exists()
    with single_instance(folder), socket.socket(socket.AF_UNIX) as client:
        client.connect(str(folder / SOCKET_NAME))


def test_a_folder_that_others_could_open_is_closed(folder: Path) -> None:
    folder.mkdir(mode=0o777)
    folder.chmod(0o777)
    with single_instance(folder):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_folder_of_somebody_else_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.mkdir()
    monkeypatch.setattr(os, "getuid", lambda: folder.stat().st_uid + 1)
    with pytest.raises(StateError, match="another user"), single_instance(folder):
        pass


def test_a_link_to_another_folder_is_refused(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    folder.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StateError), single_instance(folder):
        pass


def test_a_name_too_long_for_a_socket_is_said(tmp_path: Path) -> None:
    with pytest.raises(StateError) as caught, single_instance(tmp_path / ("long" * 40)):
        pass
    assert "EDGEVOX_RUNTIME_DIR" in caught.value.hint


@pytest.mark.skipif(os.getuid() != 0, reason="only root can be somebody else")
def test_another_user_does_not_get_to_the_socket(folder: Path) -> None:
    with single_instance(folder), socket.socket(socket.AF_UNIX) as client:
        os.seteuid(65534)
        try:
            with pytest.raises(PermissionError):
                client.connect(str(folder / SOCKET_NAME))
        finally:
            os.seteuid(0)
