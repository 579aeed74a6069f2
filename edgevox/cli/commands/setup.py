"""`edgevox setup`: one guided conversation for language, sound, voice, wake word, home, model and service.

Each step saves its answer at once, so that Ctrl-C keeps all answers before it. Present values are the defaults.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from rich.text import Text

from edgevox.audio.io.devices import Direction
from edgevox.cli.command import INTERRUPTED, Command, argument
from edgevox.cli.context import Context
from edgevox.cli.setup.machine import LocalMachine
from edgevox.cli.setup.session import SetupSession
from edgevox.cli.setup.steps import STEPS, Step
from edgevox.cli.ui.questions import Questions, StepSkipped
from edgevox.core.errors import ConfigError, EdgevoxError


@Command(
    "setup",
    "Set up everything in one guided conversation",
    argument("steps", nargs="*", metavar="STEP", help=f"only these: {', '.join(STEPS)}"),
    argument("--mic", metavar="NAME", help="propose this microphone"),
    argument("--speaker", metavar="NAME", help="propose this loudspeaker"),
    argument("--yes", "--save", action="store_true", help="ask nothing: take every default, test and save"),
)
def setup(args: argparse.Namespace, context: Context) -> int:
    if unknown := [step for step in args.steps if step not in STEPS]:
        raise ConfigError(f"there is no step {unknown[0]}", hint=f"the steps are {', '.join(STEPS)}")
    if not args.yes and not sys.stdin.isatty():
        raise ConfigError(
            "edgevox setup asks questions: run it in a terminal",
            hint="for scripts: edgevox config set NAME VALUE, or edgevox setup --yes, which takes all defaults",
        )
    proposed: dict[Direction, str] = {}
    proposed |= {"input": args.mic} if args.mic else {}
    proposed |= {"output": args.speaker} if args.speaker else {}
    questions = Questions(context.err, is_unattended=args.yes)
    return run_setup(SetupSession(context, questions, LocalMachine(), proposed), args.steps or tuple(STEPS))


def run_setup(session: SetupSession, steps: Sequence[str]) -> int:
    """Take the steps and return the exit code. Raises ConfigError if the settings file is invalid."""
    _ = session.settings  # an invalid file is reported before the first question
    if not session.questions.is_unattended:
        session.note(
            "Enter keeps the value in brackets, s skips a step.",
            "Each answer is saved at once: Ctrl-C ends the setup and keeps the answers so far.",
        )
    try:
        for number, name in enumerate(steps, 1):
            title, step = STEPS[name]
            session.context.err.print(Text(f"\n{title} ({number} of {len(steps)})", "bold"))
            _take(session, step)
        _finish(session, is_whole=len(steps) == len(STEPS))
    except (KeyboardInterrupt, EOFError):
        session.note("", f"setup ended; {session.changes()}")
        return INTERRUPTED
    return session.exit_code


def _take(session: SetupSession, step: Step) -> None:
    try:
        step(session)
    except StepSkipped:
        session.note("  skipped")
    except EdgevoxError as error:
        session.report(error)


def _finish(session: SetupSession, *, is_whole: bool) -> None:
    """Make a running assistant use the settings, speak the last sentence and start a new service."""
    session.note("", session.changes())
    is_running = False
    try:
        is_running = bool(session.changed) and session.machine.reload(session.context)
        if is_running:
            session.note("the running assistant uses the new settings")
        if is_whole and (sounds := session.sentence("ready")):
            session.play(sounds)
        if session.is_service_new:
            session.machine.start_service()
            session.note("the service runs: edgevox status")
    except StepSkipped:
        pass
    except EdgevoxError as error:
        session.report(error)
    if session.exit_code:
        session.note("there were problems, see above; edgevox doctor checks every part", style="yellow")
    elif is_whole and not is_running and not session.is_service_new:
        session.note("edgevox run starts the assistant")
