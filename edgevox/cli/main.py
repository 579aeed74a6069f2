"""Entry point: dispatches to a command, imports only what that command needs, and prints errors."""

from __future__ import annotations

import argparse
import difflib
import io
import os
import signal
import sys
import tempfile
import threading
import traceback
from collections.abc import Mapping, Sequence

from edgevox import __version__
from edgevox.cli.command import INTERRUPTED, CommandEntry, find_commands
from edgevox.core.errors import CRASH_FILE, ConfigError, EdgevoxError

BROKEN_PIPE = 141

# Order of `edgevox --help`; a command that is not listed here appears under "other".
_GROUPS: Mapping[str, tuple[str, ...]] = {
    "start": ("setup", "run", "demo", "service", "serve", "satellite", "open", "tokens", "doctor"),
    "control the running assistant": ("status", "top", "talk", "stop", "mute", "unmute", "reload"),
    "single requests": ("ask", "say", "transcribe"),
    "configure": (
        "config",
        "presets",
        "models",
        "devices",
        "satellites",
        "home",
        "people",
        "tools",
        "plugins",
        "mcp",
        "completion",
    ),
    "past turns": ("history", "last", "stats", "forget"),
    "keep and remove": ("backup", "restore", "uninstall"),
    "evaluate and debug": ("eval", "wake", "parse", "grammar"),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; SystemExit is the only exception that leaves."""
    words = list(sys.argv[1:] if argv is None else argv)
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal may not know every character
    try:
        return _run(words)
    except EdgevoxError as error:
        _report(error)
        return error.exit_code
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # The reader (`| head`) closed the pipe; avoid a second error when Python flushes stdout at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except Exception as error:  # noqa: BLE001  (top level: users get a message, the traceback goes to a file)
        _report(EdgevoxError(f"{type(error).__name__}: {error}", hint=_save_traceback()))
        return EdgevoxError.exit_code


def _run(words: list[str]) -> int:
    commands = find_commands()
    if words[:1] == ["help"]:
        words = [*words[1:2], "--help"]
    if not words or words[0] in ("-h", "--help", "--version"):
        parser = _overview(commands)
        parser.parse_args(words)
        parser.print_help()
        return 0
    name = words[0]
    if name not in commands:
        raise _unknown_command(words, commands)
    if name == "run" and sys.stderr.isatty():
        sys.stderr.write("starting …\n")  # importing the engines' code takes seconds
    command = commands[name].load()
    # Imported here to keep `edgevox --help` fast.
    from edgevox.cli.context import Context
    from edgevox.core.files import make_private

    _raise_on_ctrl_c()
    command_parser = argparse.ArgumentParser(prog=f"edgevox {name}", description=command.summary)
    command.add_to(command_parser)
    args = command_parser.parse_args(words[1:])
    context = Context(flags=_settings_of(args))
    make_private(context.folders)
    exit_code: int | None = args.run(args, context)
    return exit_code or 0


def _unknown_command(words: Sequence[str], commands: Mapping[str, CommandEntry]) -> ConfigError:
    if words[0].startswith("-"):
        name = next((word for word in words if word in commands), "COMMAND")
        return ConfigError(f"{words[0]} is an option of a command", hint=f"write edgevox {name} {words[0]} …")
    near = difflib.get_close_matches(words[0], commands, n=1)
    hint = f"did you mean edgevox {near[0]}?" if near else "edgevox --help lists the commands"
    return ConfigError(f"there is no command {words[0]}", hint=hint)


def _raise_on_ctrl_c() -> None:
    """Make SIGINT raise KeyboardInterrupt; until now it ended the process (`__main__`).

    Not set earlier, because some libraries catch every exception raised while they are imported.
    """
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _settings_of(args: argparse.Namespace) -> dict[str, object]:
    """Return the options whose destination is the dotted name of a setting."""
    given = {key: value for key, value in vars(args).items() if value is not None}
    return {key: value for key, value in given.items() if "." in key or key == "preset"}


def _overview(commands: Mapping[str, CommandEntry]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="edgevox",
        description="A voice assistant that runs on your own machine.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog=_command_list(commands),
    )
    parser.add_argument("--version", action="version", version=f"edgevox {__version__}")
    parser.add_argument("command", nargs="?", choices=commands, metavar="COMMAND", help="one of the commands below")
    return parser


def _command_list(commands: Mapping[str, CommandEntry]) -> str:
    grouped = {name for names in _GROUPS.values() for name in names}
    groups = {**_GROUPS, "other": tuple(name for name in commands if name not in grouped)}
    blocks = [
        "\n".join((f"{title}:", *(f"  {name:<12} {commands[name].summary}" for name in names)))
        for title, names in groups.items()
        if names
    ]
    return "\n\n".join((*blocks, "`edgevox COMMAND --help` explains a command."))


def _save_traceback() -> str:
    """Write the traceback to a temporary file and return a hint that names it."""
    try:
        handle, name = tempfile.mkstemp(prefix=CRASH_FILE[0], suffix=CRASH_FILE[1], text=True)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            traceback.print_exc(file=file)
    except OSError:
        return "this is a bug in EdgeVox: please report it"
    return f"this is a bug in EdgeVox: please report it and attach {name}"


def _report(error: EdgevoxError) -> None:
    sys.stderr.write(f"edgevox: {error.message}\n")
    if error.hint:
        sys.stderr.write(f"  → {error.hint}\n")
