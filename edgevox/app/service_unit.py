"""The user service: systemd unit, launchd agent (untested), sd_notify and its log file."""

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
from contextlib import asynccontextmanager
from logging.handlers import RotatingFileHandler
from pathlib import Path

from edgevox.core.errors import ConfigError, EdgevoxError
from edgevox.core.platform import unix_socket, user_id

UNIT = "edgevox.service"
_SYSTEMCTL_WITHIN_S = 120.0
# Loading the models of a large preset from a slow card takes its time.
_START_WITHIN_S = 300
_WATCHDOG_S = 30


def unit_text(command: Sequence[str], environment: Mapping[str, str]) -> str:
    """The unit; `environment` is what it needs beside a session's own variables."""
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


LABEL = "org.edgevox.assistant"


def agent_path(home: Path) -> Path:
    """Where the agent's file lies."""
    return home / "Library" / "LaunchAgents" / f"{LABEL}.plist"


def agent_text(command: Sequence[str], environment: Mapping[str, str], log_folder: Path) -> str:
    """The agent's file."""
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
    """Tells whoever started the service; where nobody asks, nothing is told."""

    def __init__(self, environ: Mapping[str, str] | None = None) -> None:
        environ = os.environ if environ is None else environ
        self._address = environ.get("NOTIFY_SOCKET", "")
        # The watch may be on another process, such as the shell that started this one.
        is_meant = environ.get("WATCHDOG_PID", str(os.getpid())) == str(os.getpid())
        self.watched_every_s = int(environ.get("WATCHDOG_USEC", "0")) / 1e6 if is_meant else 0.0
        """A service that is silent for longer is ended and started again; 0 where nobody watches."""

    def tell(self, **facts: str) -> None:
        """Send facts such as READY=1; a manager that is gone is no fault of the service."""
        if not self._address:
            return
        text = "\n".join(f"{name}={value}" for name, value in facts.items())
        # A name that begins with @ is in the abstract namespace.
        address = "\0" + self._address[1:] if self._address.startswith("@") else self._address
        with unix_socket(socket.SOCK_DGRAM) as client:
            client.setblocking(False)
            try:
                client.sendto(text.encode(), address)
            except OSError:
                return

    @asynccontextmanager
    async def watchdog_pings(self) -> AsyncIterator[None]:
        """Say twice per watch, from the event loop itself, that it still turns."""
        if not self.watched_every_s:
            yield
            return

        async def live() -> None:
            while True:
                self.tell(WATCHDOG="1")
                await asyncio.sleep(self.watched_every_s / 2)

        living = asyncio.create_task(live())
        try:
            yield
        finally:
            living.cancel()
            await asyncio.gather(living, return_exceptions=True)


LOG_FILE_NAME = "edgevox.log"
_MAX_BYTES = 1_000_000
_OLDER_FILES = 3
_FORMAT = "%(asctime)s %(levelname)-7s %(name)s: %(message)s"


class LogFile(RotatingFileHandler):
    """Appends to `edgevox.log` in the folder, and begins a new file at a megabyte; three older ones stay."""

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
                self._path.parent.mkdir(parents=True, exist_ok=True)
        except OSError:
            return  # the next line may find a folder again
        super().emit(record)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802  (logging's own name)
        """A line that cannot be written is lost; the assistant goes on."""


def log_to(folder: Path) -> LogFile:
    """Have everything that is logged from now on kept in the folder, and shown to who started the service."""
    file = LogFile(folder)
    shown = logging.StreamHandler(sys.stderr)
    shown.setFormatter(logging.Formatter("%(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=logging.INFO, handlers=[file, shown], force=True)
    return file


def tail(folder: Path, lines: int) -> list[str]:
    """The last lines of the log, over the rotated files where the newest holds too few."""
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
