"""The entry point: picks the command, imports only what it needs, and turns errors into messages."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
import threading
import traceback
from collections.abc import Mapping, Sequence

from edgevox import __version__
from edgevox.cli.command import INTERRUPTED, CommandEntry, find_commands
from edgevox.core.errors import EdgevoxError

BROKEN_PIPE = 141


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; nothing but SystemExit leaves here."""
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        return _run(words)
    except EdgevoxError as error:
        _report(error)
        return error.exit_code
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # The reader (`| head`) has gone; keep Python from complaining when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except Exception as error:  # noqa: BLE001  (the top level: a traceback is for a file, not for a user)
        _report(EdgevoxError(f"{type(error).__name__}: {error}", hint=_keep_traceback()))
        return EdgevoxError.exit_code


def _run(words: list[str]) -> int:
    commands = find_commands()
    parser = _overview(commands)
    if not words or words[0].startswith("-"):
        parser.parse_args(words)
        parser.print_help()
        return 0
    name = words[0]
    if name not in commands:
        parser.parse_args(words)  # exits with the list of commands
    command = commands[name].load()
    # Not at the top: `edgevox --help` must not wait for what it imports.
    from edgevox.cli.context import Context

    _answer_ctrl_c()
    command_parser = argparse.ArgumentParser(prog=f"edgevox {name}", description=command.summary)
    command.add_arguments(command_parser)
    args = command_parser.parse_args(words[1:])
    return command.run(args, Context(flags=_settings_of(args)))


def _answer_ctrl_c() -> None:
    """From here on a command ends in its own way; until now the signal ended the process (`__main__`).

    Not sooner: there are libraries that catch whatever is raised while they are imported.
    """
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _settings_of(args: argparse.Namespace) -> dict[str, object]:
    """The options that name a setting: their destination is its dotted name."""
    given = {key: value for key, value in vars(args).items() if value is not None}
    return {key: value for key, value in given.items() if "." in key or key == "preset"}


def _overview(commands: Mapping[str, CommandEntry]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="edgevox",
        description="A voice assistant that lives on your own machine.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="commands:\n" + "\n".join(f"  {name:<12} {c.summary}" for name, c in commands.items()),
    )
    parser.add_argument("--version", action="version", version=f"edgevox {__version__}")
    parser.add_argument("command", nargs="?", choices=commands, metavar="command", help="see below")
    return parser


def _keep_traceback() -> str:
    """Put the traceback where a developer finds it, and say where that is."""
    try:
        handle, name = tempfile.mkstemp(prefix="edgevox-", suffix=".traceback", text=True)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            traceback.print_exc(file=file)
    except OSError:
        return "this is a fault in EdgeVox: please report it"
    return f"this is a fault in EdgeVox: please report it, with {name}"


def _report(error: EdgevoxError) -> None:
    sys.stderr.write(f"edgevox: {error.message}\n")
    if error.hint:
        sys.stderr.write(f"  → {error.hint}\n")
