"""The systemd unit of the user's session: its text, where it lies, and how it is started and removed."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from edgevox.errors import ConfigError, EdgevoxError
from edgevox.platform_support import user_id

UNIT = "edgevox.service"
_SYSTEMCTL_WITHIN_S = 120.0
# Loading the models of a large preset from a slow card takes its time.
_START_WITHIN_S = 300
_WATCHDOG_S = 30


def unit_text(command: Sequence[str], environment: Mapping[str, str]) -> str:
    """The unit; `environment` is what it needs beside a session's own variables."""
    settings = "".join(
        f"Environment={_quoted(f'{name}={value}')}\n" for name, value in sorted(environment.items())
    )
    return f"""\
# Written by `edgevox service install`; `edgevox service uninstall` removes it.
[Unit]
Description=EdgeVox voice assistant
Documentation=man:systemd.service(5)
After=sound.target pipewire-pulse.service pulseaudio.service
StartLimitIntervalSec=600
StartLimitBurst=10

[Service]
Type=notify
NotifyAccess=main
ExecStart={" ".join(map(_word, command))}
ExecReload=/bin/kill -HUP $MAINPID
{settings}TimeoutStartSec={_START_WITHIN_S}
WatchdogSec={_WATCHDOG_S}
Restart=on-failure
RestartSec=2
# Ended by a signal, as by `systemctl stop`.
SuccessExitStatus=130
# Four times the share of an ordinary program while the cores are busy.
CPUWeight=400
# An engine that takes too much memory is killed alone, and started again by the assistant.
OOMPolicy=continue
NoNewPrivileges=yes
UMask=0077

[Install]
WantedBy=default.target
"""


def unit_path() -> Path:
    """Where the unit lies."""
    config = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(config) / "systemd" / "user" / UNIT


def install(text: str, *, start: bool) -> None:
    """Write the unit, have it started with the session, and now as well. Raises ConfigError, EdgevoxError."""
    path = unit_path()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"{path} cannot be written: {error.strerror}", hint="check the folder") from error
    systemctl("daemon-reload")
    systemctl("enable", UNIT)
    if start:
        systemctl("restart", UNIT)


def uninstall() -> bool:
    """Stop it and remove the unit; False where there was none. Raises EdgevoxError."""
    path = unit_path()
    if not path.exists():
        return False
    systemctl("disable", "--now", UNIT)
    path.unlink()
    systemctl("daemon-reload")
    return True


def state(question: str) -> str:
    """What systemd says to `is-active` or `is-enabled`."""
    return _run("systemctl", "--user", question, UNIT).stdout.strip() or "unknown"


def lingers() -> bool | None:
    """Whether the user's services run without anybody being logged in; None where nobody can tell."""
    if shutil.which("loginctl") is None:
        return None
    answer = _run("loginctl", "show-user", str(user_id()), "--property=Linger", "--value")
    return answer.stdout.strip() == "yes" if answer.returncode == 0 else None


def systemctl(*words: str) -> None:
    """Raises EdgevoxError with what systemctl says."""
    done = _run("systemctl", "--user", *words)
    if done.returncode:
        raise EdgevoxError(
            f"systemctl --user {' '.join(words)} failed: {done.stderr.strip()}",
            hint="edgevox service logs, or journalctl --user -u edgevox, says more",
        )


def _run(*command: str) -> subprocess.CompletedProcess[str]:
    program = shutil.which(command[0])
    if program is None:
        raise ConfigError(
            f"{command[0]} is not installed: this system is not run by systemd",
            hint="start `edgevox service run` with what starts your other services",
        )
    try:
        return subprocess.run(
            [program, *command[1:]], capture_output=True, text=True, timeout=_SYSTEMCTL_WITHIN_S, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise EdgevoxError(f"{' '.join(command)} does not come back", hint="try it by hand") from error


def _quoted(text: str) -> str:
    """A text of a unit, in which systemd takes %, quotes and backslashes for its own."""
    for char, replacement in (("\\", "\\\\"), ('"', '\\"'), ("%", "%%")):
        text = text.replace(char, replacement)
    return f'"{text}"'


def _word(word: str) -> str:
    """A word of its command line, where variables are filled in as well."""
    return _quoted(word).replace("$", "$$")
