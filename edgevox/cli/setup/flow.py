"""Runs the steps of the guided setup in order, and ends it with a spoken sentence.

Each step saves its answer at once, so that Ctrl-C keeps all answers before it. Present values are the defaults.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from rich.text import Text

from edgevox.cli.command import INTERRUPTED
from edgevox.cli.setup.session import SetupSession
from edgevox.cli.setup.sound_steps import set_loudspeaker, set_microphone, set_voice
from edgevox.cli.setup.steps import download_models, set_home, set_language, set_model, set_service, set_wake_word
from edgevox.cli.ui.questions import StepSkipped
from edgevox.core.errors import ConfigError, EdgevoxError

Step = Callable[[SetupSession], None]
STEPS: Mapping[str, tuple[str, Step]] = {
    "language": ("Language", set_language),
    "microphone": ("Microphone", set_microphone),
    "loudspeaker": ("Loudspeaker", set_loudspeaker),
    "voice": ("Voice", set_voice),
    "wake": ("Wake word", set_wake_word),
    "home": ("Home", set_home),
    "model": ("Language model", set_model),
    "download": ("Download", download_models),
    "service": ("Start by itself", set_service),
}
"""Each step with its title, in order. A step raises EdgevoxError, and StepSkipped where the person skips it."""


def run_setup(session: SetupSession, steps: Sequence[str]) -> int:
    """Take these steps, all of them for none, and return the exit code.

    Raises ConfigError for an unknown step and for an invalid settings file.
    """
    if unknown := [step for step in steps if step not in STEPS]:
        raise ConfigError(f"there is no step {unknown[0]}", hint=f"the steps are {', '.join(STEPS)}")
    steps = steps or tuple(STEPS)
    _ = session.settings  # an invalid file is reported before the first question
    if not session.questions.is_unattended:
        session.note(
            session.text("Enter keeps the value in parentheses, s skips a step."),
            session.text("Each answer is saved at once: Ctrl-C ends the setup and keeps the answers so far."),
        )
    try:
        for number, name in enumerate(steps, 1):
            title, step = STEPS[name]
            heading = session.text(
                "{title} ({number} of {count})", title=session.text(title), number=number, count=len(steps)
            )
            session.context.err.print(Text(f"\n{heading}", "bold"))
            _take(session, step)
        _finish(session, is_whole=len(steps) == len(STEPS))
    except (KeyboardInterrupt, EOFError):
        session.note("", session.text("setup ended; {changes}", changes=session.changes()))
        return INTERRUPTED
    return session.exit_code


def _take(session: SetupSession, step: Step) -> None:
    try:
        step(session)
    except StepSkipped:
        session.note(session.text("  skipped"))
    except EdgevoxError as error:
        session.report(error)


def _finish(session: SetupSession, *, is_whole: bool) -> None:
    """Make a running assistant use the settings, speak the last sentence and start a new service."""
    session.note("", session.changes())
    is_running = False
    try:
        is_running = bool(session.changed) and session.machine.reload(session.context)
        if is_running:
            session.note(session.text("the running assistant uses the new settings"))
        if is_whole and (sounds := session.sentence("ready")):
            session.play(sounds)
        if session.is_service_new:
            session.machine.start_service()
            session.note(session.text("the service runs: edgevox status"))
    except StepSkipped:
        pass
    except EdgevoxError as error:
        session.report(error)
    if session.exit_code:
        session.note(session.text("there were problems, see above; edgevox doctor checks every part"), style="yellow")
    elif is_whole and not is_running and not session.is_service_new:
        session.note(session.text("edgevox run starts the assistant"))
