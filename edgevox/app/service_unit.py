"""The user service: systemd unit, launchd agent (untested), sd_notify and the log file."""

from __future__ import annotations

import asyncio
import logging
import os
import plistlib
import shutil
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path

from edgevox.core.errors import ConfigError, EdgevoxError
from edgevox.core.files import open_private, private_folder
from edgevox.core.platform import unix_socket, user_id
from edgevox.core.turn import background_task

UNIT = "edgevox.service"
_SYSTEMCTL_WITHIN_S = 120.0
# Loading a large model from a slow SD card takes minutes.
_START_WITHIN_S = 300
_WATCHDOG_S = 30


def unit_text(command: Sequence[str], environment: Mapping[str, str]) -> str:
    """Return the systemd unit; `environment` is added to the session's variables."""
    settings = "".join(f"Environment={_quoted(f'{name}={value}')}\n" for name, value in sorted(environment.items()))
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
    config = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(config) / "systemd" / "user" / UNIT


def install(text: str, *, start: bool) -> None:
    """Write and enable the unit, and start it if wanted. Raises ConfigError and EdgevoxError."""
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
    """Stop the service and remove the unit; False if not installed. Raises EdgevoxError."""
    path = unit_path()
    if not path.exists():
        return False
    systemctl("disable", "--now", UNIT)
    path.unlink()
    systemctl("daemon-reload")
    return True


def state(question: str) -> str:
    """Return the output of systemctl `is-active` or `is-enabled`."""
    return _run("systemctl", "--user", question, UNIT).stdout.strip() or "unknown"


def lingers() -> bool | None:
    """Return whether user services run without a login session; None if unknown."""
    if shutil.which("loginctl") is None:
        return None
    answer = _run("loginctl", "show-user", str(user_id()), "--property=Linger", "--value")
    return answer.stdout.strip() == "yes" if answer.returncode == 0 else None


def enable_linger() -> None:
    """Let the user's services start with the machine. Raises EdgevoxError."""
    done = _run("loginctl", "enable-linger")
    if done.returncode:
        raise EdgevoxError(
            f"loginctl enable-linger failed: {done.stderr.strip()}", hint="try it as root: loginctl enable-linger USER"
        )


def systemctl(*words: str) -> None:
    """Run systemctl --user. Raises EdgevoxError with its message."""
    done = _run("systemctl", "--user", *words)
    if done.returncode:
        message = f"systemctl --user {' '.join(words)} failed: {done.stderr.strip()}"
        if "connect to bus" in done.stderr:
            user = user_id()
            raise ConfigError(
                f"{message}; this shell does not belong to a login session",
                hint=f"loginctl enable-linger, then export XDG_RUNTIME_DIR=/run/user/{user} and try again; "
                "without systemd, start `edgevox service run`",
            )
        raise EdgevoxError(message, hint="see edgevox service logs, or journalctl --user -u edgevox")


def _run(*command: str) -> subprocess.CompletedProcess[str]:
    program = shutil.which(command[0])
    if program is None:
        raise ConfigError(
            f"{command[0]} is not installed: this system does not use systemd",
            hint="run `edgevox service run` from your service manager",
        )
    try:
        return subprocess.run(
            [program, *command[1:]], capture_output=True, text=True, timeout=_SYSTEMCTL_WITHIN_S, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise EdgevoxError(f"{' '.join(command)} timed out", hint="run it by hand") from error


def _quoted(text: str) -> str:
    """Quote a value for a unit file: escape %, quotes and backslashes."""
    for char, replacement in (("\\", "\\\\"), ('"', '\\"'), ("%", "%%")):
        text = text.replace(char, replacement)
    return f'"{text}"'


def _word(word: str) -> str:
    """Quote a word of the command line, where $ must be escaped too."""
    return _quoted(word).replace("$", "$$")


LABEL = "org.edgevox.assistant"


def agent_path(home: Path) -> Path:
    return home / "Library" / "LaunchAgents" / f"{LABEL}.plist"


def agent_text(command: Sequence[str], environment: Mapping[str, str], log_folder: Path) -> str:
    content = {
        "Label": LABEL,
        "ProgramArguments": list(command),
        "EnvironmentVariables": dict(environment),
        "RunAtLoad": True,
        "KeepAlive": {"SuccessfulExit": False},
        "ThrottleInterval": 10,
        "ProcessType": "Interactive",
        "StandardErrorPath": str(log_folder / "launchd.log"),
    }
    return plistlib.dumps(content).decode()


class SystemdNotifier:
    """Sends sd_notify messages; does nothing without NOTIFY_SOCKET."""

    def __init__(self, environ: Mapping[str, str] | None = None) -> None:
        environ = os.environ if environ is None else environ
        self._address = environ.get("NOTIFY_SOCKET", "")
        # The watchdog may be for another process, such as the parent shell.
        is_meant = environ.get("WATCHDOG_PID", str(os.getpid())) == str(os.getpid())
        self.watched_every_s = int(environ.get("WATCHDOG_USEC", "0")) / 1e6 if is_meant else 0.0
        """Watchdog period of systemd; 0 without a watchdog."""

    def notify(self, **facts: str) -> None:
        """Send facts such as READY=1; a manager that is gone is no fault of the service."""
        if not self._address:
            return
        text = "\n".join(f"{name}={value}" for name, value in facts.items())
        # A name that begins with @ is in the abstract namespace.
        address = "\0" + self._address[1:] if self._address.startswith("@") else self._address
        with unix_socket(socket.SOCK_DGRAM) as client:
            client.setblocking(False)
            with suppress(OSError):
                client.sendto(text.encode(), address)

    @asynccontextmanager
    async def watchdog_pings(self) -> AsyncIterator[None]:
        """Ping the watchdog from the event loop, twice per period."""
        if not self.watched_every_s:
            yield
            return

        async def ping() -> None:
            while True:
                self.notify(WATCHDOG="1")
                await asyncio.sleep(self.watched_every_s / 2)

        async with background_task(ping()):
            yield


LOG_FILE_NAME = "edgevox.log"
_MAX_BYTES = 1_000_000
_OLDER_FILES = 3
_FORMAT = "%(asctime)s %(levelname)-7s %(name)s: %(message)s"


class LogFile(RotatingFileHandler):
    """Appends to `edgevox.log`; rotates at 1 MB and keeps three old files."""

    def __init__(self, folder: Path, *, max_bytes: int = _MAX_BYTES) -> None:
        self._path = folder / LOG_FILE_NAME
        super().__init__(self._path, maxBytes=max_bytes, backupCount=_OLDER_FILES, encoding="utf-8", delay=True)
        self.setFormatter(logging.Formatter(_FORMAT))

    def emit(self, record: logging.LogRecord) -> None:
        try:
            if not self._path.exists():
                if self.stream is not None:
                    self.stream.close()
                    self.stream = None
                private_folder(self._path.parent)
        except OSError:
            return  # the folder may be back for the next line
        super().emit(record)

    def _open(self) -> TextIOWrapper:
        descriptor = open_private(self.baseFilename, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        return TextIOWrapper(os.fdopen(descriptor, "ab"), encoding="utf-8", line_buffering=True)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802  (name defined by logging)
        """Ignore write errors: the line is lost, the assistant keeps running."""


def log_to(folder: Path) -> LogFile:
    """Send all log records to a file in the folder and to standard error."""
    file = LogFile(folder)
    shown = logging.StreamHandler(sys.stderr)
    shown.setFormatter(logging.Formatter("%(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=logging.INFO, handlers=[file, shown], force=True)
    return file


def tail(folder: Path, lines: int) -> list[str]:
    """Return the last lines of the log, from rotated files too if needed."""
    found: list[str] = []
    names = (LOG_FILE_NAME, *(f"{LOG_FILE_NAME}.{number}" for number in range(1, _OLDER_FILES + 1)))
    for name in names:
        if len(found) >= lines:
            break
        try:
            text = (folder / name).read_text(encoding="utf-8", errors="replace")
        except FileNotFoundError:
            break
        found = text.splitlines() + found
    return found[-lines:]
