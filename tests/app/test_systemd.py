"""The unit, read by systemd itself where it is installed."""

from __future__ import annotations

import plistlib
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from edgevox.app import service_unit
from edgevox.core.errors import ConfigError, EdgevoxError

COMMAND = [sys.executable, "-m", "edgevox", "service", "run"]
BOUND_S = 60.0


@pytest.fixture
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A systemctl that records its arguments, and fails at `restart` where a file `broken` is."""
    bin_folder = tmp_path / "bin"
    bin_folder.mkdir()
    calls = tmp_path / "calls"
    calls.write_text("")
    program = bin_folder / "systemctl"
    program.write_text(
        f'#!/bin/sh\necho "$@" >> {calls}\n'
        f'if [ "$2" = restart ] && [ -e {tmp_path}/broken ]; then echo "no such sound" >&2; exit 1; fi\n'
    )
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{bin_folder}:/usr/bin:/bin")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return calls


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")
def test_systemd_finds_nothing_wrong_with_the_unit(tmp_path: Path) -> None:
    unit = tmp_path / service_unit.UNIT
    unit.write_text(service_unit.unit_text(COMMAND, {"EDGEVOX_STATE_DIR": '/a "b" 100% $HOME'}))
    checked = subprocess.run(
        ["systemd-analyze", "--user", "verify", str(unit)],
        env={"XDG_RUNTIME_DIR": str(tmp_path), "HOME": str(tmp_path), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=BOUND_S,
        check=False,
    )
    ours = [line for line in checked.stderr.splitlines() if service_unit.UNIT in line]
    assert ours == []


def test_the_unit_has_readiness_and_a_watchdog() -> None:
    text = service_unit.unit_text(COMMAND, {})
    for line in ("Type=notify", "WatchdogSec=30", "Restart=on-failure", "WantedBy=default.target"):
        assert line in text.splitlines()


def test_what_systemd_takes_for_its_own_is_escaped() -> None:
    text = service_unit.unit_text(["/opt/my edgevox$/python"], {"A": 'x%y$z"'})
    assert 'ExecStart="/opt/my edgevox$$/python"' in text
    assert 'Environment="A=x%%y$z\\""' in text


def test_install_writes_the_unit_and_starts_it(calls: Path) -> None:
    service_unit.install("[Unit]\n", start=True)
    assert service_unit.unit_path().read_text() == "[Unit]\n"
    assert calls.read_text().splitlines() == [
        "--user daemon-reload",
        "--user enable edgevox.service",
        "--user restart edgevox.service",
    ]


def test_uninstall_stops_it_and_removes_the_unit(calls: Path) -> None:
    service_unit.install("[Unit]\n", start=False)
    assert service_unit.uninstall()
    assert not service_unit.unit_path().exists()
    assert "--user disable --now edgevox.service" in calls.read_text()
    assert not service_unit.uninstall()


def test_what_systemctl_complains_of_is_told(calls: Path) -> None:
    (calls.parent / "broken").touch()
    with pytest.raises(EdgevoxError, match="no such sound"):
        service_unit.install("[Unit]\n", start=True)


def test_a_shell_without_a_login_session_gets_a_hint_that_helps(calls: Path) -> None:
    (calls.parent / "bin" / "systemctl").write_text(
        "#!/bin/sh\necho 'Failed to connect to bus: No medium' >&2; exit 1\n"
    )
    with pytest.raises(ConfigError) as caught:
        service_unit.systemctl("show-environment")
    assert "loginctl enable-linger" in caught.value.hint


def test_a_machine_without_systemd_is_named(calls: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(calls.parent))
    with pytest.raises(ConfigError, match="does not use systemd"):
        service_unit.install("[Unit]\n", start=False)


def test_the_agent_of_macos_is_a_property_list(tmp_path: Path) -> None:
    agent = plistlib.loads(service_unit.agent_text(COMMAND, {"A": "b"}, tmp_path).encode())
    assert (agent["ProgramArguments"], agent["RunAtLoad"]) == (COMMAND, True)
