"""The entry point: picks the command, imports only what it needs, and turns errors into messages."""

from __future__ import annotations

import argparse
import importlib
import os
import signal
import sys
import tempfile
import threading
import traceback
from collections.abc import Sequence
from dataclasses import dataclass

from edgevox import __version__
from edgevox.errors import EdgevoxError

INTERRUPTED = 130
BROKEN_PIPE = 141


@dataclass(frozen=True, slots=True)
class Command:
    """A sub-command: the module in edgevox.cli that holds it, and one line for the overview."""

    module: str
    summary: str


COMMANDS = {
    "run": Command("run", "start the assistant"),
    "serve": Command("serve", "serve other programs, as OpenAI's and Anthropic's servers do"),
    "open": Command("open", "open its page in the browser, or on a phone"),
    "ask": Command("ask", "ask one question and print the answer"),
    "say": Command("say", "speak a text, or write it to a WAV file"),
    "status": Command("status", "show how the assistant that runs is"),
    "top": Command("top", "watch it: what it hears, does and says, and how long that takes"),
    "mute": Command("mute", "have the assistant that runs not listen"),
    "unmute": Command("unmute", "have it listen again"),
    "talk": Command("talk", "have it listen to what you say next, muted or not"),
    "stop": Command("stop", "have it be quiet: end its turn, and what rings"),
    "reload": Command("reload", "have it read the settings again"),
    "service": Command("service", "keep the assistant running: install, uninstall, status, logs"),
    "transcribe": Command("transcribe", "write down what is said in a sound file"),
    "demo": Command("demo", "a spoken question through the whole loop, and where its time went"),
    "home": Command("home", "show what is in the home, and how it is"),
    "tools": Command("tools", "list what the assistant can do, and do it without the model"),
    "mcp": Command("mcp", "list, add, try and remove MCP servers, or be one"),
    "plugins": Command("plugins", "list the plugins, or begin a new one"),
    "stats": Command("stats", "show which tools are chosen and how long they take"),
    "setup": Command("setup", "choose a microphone and a loudspeaker, and try both"),
    "devices": Command("devices", "list the microphones and loudspeakers"),
    "wake": Command("wake", "count how often a wake word is heard wrongly, or missed, in recordings"),
    "doctor": Command("doctor", "check every part and say how to fix what is wrong"),
    "last": Command("last", "show where the time of the last turn went"),
    "history": Command("history", "show what was said and done"),
    "forget": Command("forget", "delete what was said, in every place where it is kept"),
    "presets": Command("presets", "list the models that can be used, and what fits this machine"),
    "models": Command("models", "list, download, verify and remove models"),
    "config": Command("config", "show every setting and where it came from"),
    "eval": Command("eval", "score a model on suites of commands, by text or by speech"),
    "parse": Command("parse", "read tool calls out of raw model output"),
    "grammar": Command("grammar", "show the grammar that forces valid calls, or try a text on it"),
}


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
    parser = _overview()
    if not words or words[0].startswith("-"):
        parser.parse_args(words)
        parser.print_help()
        return 0
    name = words[0]
    if name not in COMMANDS:
        parser.parse_args(words)  # exits with the list of commands
    module = importlib.import_module(f"edgevox.cli.{COMMANDS[name].module}")
    # Not at the top: `edgevox --help` must not wait for what it imports.
    from edgevox.cli.context import Context

    _answer_ctrl_c()
    command_parser = argparse.ArgumentParser(prog=f"edgevox {name}", description=COMMANDS[name].summary)
    module.add_arguments(command_parser)
    args = command_parser.parse_args(words[1:])
    return int(module.run(args, Context(flags=_settings_of(args))))


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


def _overview() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="edgevox",
        description="A voice assistant that lives on your own machine.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="commands:\n" + "\n".join(f"  {name:<12} {c.summary}" for name, c in COMMANDS.items()),
    )
    parser.add_argument("--version", action="version", version=f"edgevox {__version__}")
    parser.add_argument("command", nargs="?", choices=COMMANDS, metavar="command", help="see below")
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
