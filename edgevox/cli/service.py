"""`edgevox service`: the assistant as a service of the user's session, with systemd (or launchd)."""

from __future__ import annotations

import argparse
import os
import sys
import time
from dataclasses import replace
from pathlib import Path

from edgevox.cli.context import Context
from edgevox.cli.loop import run_until_done
from edgevox.cli.running import do
from edgevox.cli.session import open_daemon
from edgevox.cli.status import print_status
from edgevox.cli.stay import engines, in_log, stay
from edgevox.control.protocol import Status
from edgevox.errors import NotRunning
from edgevox.platform_support import user_id
from edgevox.service import launchd, systemd
from edgevox.service.log_file import FILE_NAME, log_to, tail

_FOLDERS = ("EDGEVOX_CONFIG_DIR", "EDGEVOX_STATE_DIR", "EDGEVOX_MODELS_DIR", "EDGEVOX_RUNTIME_DIR")
_POLL_S = 0.5
_LINGER = (
    "  it runs while you are logged in; to have it run from the start of the machine on:\n"
    "  → loginctl enable-linger"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    install = actions.add_parser("install", help="start it now, and with every login")
    install.add_argument("--no-start", action="store_true", help="not now")
    install.add_argument("--print", action="store_true", help="only show what would be installed")
    actions.add_parser("uninstall", help="stop it and remove it; settings, models and memory stay")
    actions.add_parser("status", help="whether it is installed and runs, and how it is")
    logs = actions.add_parser("logs", help="the service's log")
    logs.add_argument("-n", "--lines", type=int, default=50, metavar="N", help="so many lines (50)")
    logs.add_argument("-f", "--follow", action="store_true", help="go on with what is added")
    actions.add_parser("run", help="what the service does; for other service managers")


def run(args: argparse.Namespace, context: Context) -> int:
    match args.action:
        case "install":
            return _install(args, context)
        case "uninstall":
            return _uninstall(context)
        case "status":
            return _status(context)
        case "logs":
            return _logs(args, context)
        case _:
            return _run(context)


def _run(context: Context) -> int:
    log_to(context.folders.state)
    # In a room where nobody started it, it listens once it is called; unless somebody has decided otherwise.
    if context.settings.sources["wake.mode"].layer == "default":
        context = replace(context, flags={**context.flags, "wake.mode": "word"})
    return stay(context, in_log)


def _install(args: argparse.Namespace, context: Context) -> int:
    command = [sys.executable, "-m", "edgevox", "service", "run"]
    environment = {name: os.environ[name] for name in _FOLDERS if name in os.environ}
    is_mac = sys.platform == "darwin"
    if is_mac:
        text = launchd.agent_text(command, environment, context.folders.state)
    else:
        text = systemd.unit_text(command, environment)
    if args.print:
        context.write(text)
        return 0
    open_daemon(context, engines(context.settings))  # its models are downloaded now, and not at its start
    if is_mac:
        path = launchd.agent_path(Path.home())
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        context.err.print(f"wrote {path}, which nobody has tried on a Mac yet", soft_wrap=True)
        context.err.print(f"  → launchctl bootstrap gui/{user_id()} {path}", soft_wrap=True)
        return 0
    systemd.install(text, start=not args.no_start)
    context.err.print(f"installed as {systemd.unit_path()}", soft_wrap=True)
    if not args.no_start:
        context.err.print("it runs, and listens once it is called: edgevox status", soft_wrap=True)
    if systemd.lingers() is False:
        context.err.print(_LINGER, soft_wrap=True)
    return 0


def _uninstall(context: Context) -> int:
    is_mac = sys.platform == "darwin"
    if is_mac:
        path = launchd.agent_path(Path.home())
        context.err.print(f"  → launchctl bootout gui/{user_id()}/{launchd.LABEL}", soft_wrap=True)
        path.unlink(missing_ok=True)
        return 0
    if not systemd.uninstall():
        context.err.print("it was not installed")
        return 0
    folders = context.folders
    context.err.print("stopped and removed; these stay:")
    for folder in (folders.config, folders.state, folders.models):
        context.err.print(f"  {folder}", markup=False, soft_wrap=True)
    return 0


def _status(context: Context) -> int:
    if sys.platform != "darwin":
        is_installed = systemd.unit_path().exists()
        how = f"{systemd.state('is-enabled')}, {systemd.state('is-active')}" if is_installed else "no"
        context.out.print(f"[bold]{'installed':<12}[/]{how}")
    try:
        status = run_until_done(do(context, Status()))
    except NotRunning as error:
        context.complain(error)
        return error.exit_code
    print_status(context, status)
    return 0


def _logs(args: argparse.Namespace, context: Context) -> int:
    folder = context.folders.state
    lines = tail(folder, args.lines)
    for line in lines:
        context.write(line)
    if not lines:
        context.err.print(f"there is no log yet in {folder / FILE_NAME}", soft_wrap=True)
    if args.follow:
        _follow(folder / FILE_NAME, context)
    return 0


def _follow(path: Path, context: Context) -> None:
    """Go on until Ctrl-C, also over a file that is begun anew."""
    position = path.stat().st_size if path.exists() else 0
    while True:
        time.sleep(_POLL_S)
        size = path.stat().st_size if path.exists() else 0
        if size < position:
            position = 0
        if size > position:
            with path.open(encoding="utf-8", errors="replace") as file:
                file.seek(position)
                context.write(file.read().rstrip("\n"))
                position = file.tell()
