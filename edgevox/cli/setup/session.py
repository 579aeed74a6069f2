"""One run of the guided setup: its settings, what it has saved, its problems, and the built-in sentences it speaks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

from rich.text import Text

from edgevox.audio.io.devices import Direction, choose_device
from edgevox.cli.context import Context
from edgevox.cli.setup.machine import Machine
from edgevox.cli.ui.messages import Messages
from edgevox.cli.ui.questions import Questions
from edgevox.config.editing import save_answers
from edgevox.config.sections import AUTO
from edgevox.config.settings import Settings
from edgevox.config.toml_file import Value
from edgevox.core.errors import EdgevoxError
from edgevox.core.languages import ENGLISH, all_phrases
from edgevox.core.types import Audio
from edgevox.models import ModelEntry, open_store, size_text
from edgevox.tts.engines import choose_tts
from edgevox.tts.voices import sample_text, save_voice

Sentence: TypeAlias = Literal["sound_check", "ready"]


class SetupSession:
    """What the steps share. `proposed` devices replace the present ones as defaults."""

    def __init__(
        self, context: Context, questions: Questions, machine: Machine, proposed: Mapping[Direction, str] | None = None
    ) -> None:
        self.context = context
        self.questions = questions
        self.machine = machine
        self.proposed = proposed or {}
        self.recording: Audio | None = None
        """What the microphone recorded, to be played to the person."""
        self.is_service_new = False
        self.exit_code = 0
        """That of the gravest problem; 0 without any."""
        self.changed: list[str] = []
        self._speak_its_language()

    @property
    def settings(self) -> Settings:
        return self.context.settings

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages that are spoken, the first one most; English where any is detected."""
        stt = self.settings.stt
        return (stt.languages or (ENGLISH,)) if stt.language == AUTO else (stt.language,)

    @property
    def language(self) -> str:
        """The language of the setup, and of its spoken sentences."""
        return self.languages[0]

    def text(self, text: str, **values: object) -> str:
        """A sentence of the setup in its language, with its values filled in."""
        return self.questions.messages(text, **values)

    # --- settings

    def save(self, answers: Mapping[str, Value | None]) -> None:
        """Save the answers that differ from the settings; None removes one. Raises ConfigError."""
        self.changed += save_answers(self.settings, self.context.folders, answers)
        self.reload_settings()

    def save_voice(self, voice: ModelEntry) -> None:
        """Let the voice speak its language. Raises ConfigError."""
        folders = self.context.folders
        self.changed.append(save_voice(self.settings, folders, open_store(folders).manifest, voice))
        self.reload_settings()

    def reload_settings(self) -> None:
        self.context = self.context.with_flags({})
        self._speak_its_language()

    def _speak_its_language(self) -> None:
        self.questions.messages = Messages(self.language)

    def changes(self) -> str:
        """What was saved, in words."""
        if not self.changed:
            return self.text("nothing was changed")
        names = ", ".join(dict.fromkeys(self.changed))
        return self.text("saved {names} in {file}", names=names, file=self.context.folders.config_file)

    # --- output

    def note(self, *lines: str, style: str = "") -> None:
        self.context.note(*lines, style=style)

    def print_result(self, text: str, *, is_good: bool) -> None:
        """Print the result of a test."""
        mark, style = ("✓", "green") if is_good else ("✗", "red")
        self.context.out.print(Text.assemble((f"{mark} ", style), text), soft_wrap=True)

    def report(self, error: EdgevoxError) -> None:
        """Print a problem that does not end the setup."""
        self.context.report_error(error)
        self.fail(error.exit_code)

    def fail(self, exit_code: int) -> None:
        self.exit_code = max(self.exit_code, exit_code)

    # --- speech

    def may_download(self, missing: Sequence[ModelEntry]) -> bool:
        size = size_text(sum(entry.size_bytes for entry in missing))
        names = ", ".join(entry.id for entry in missing)
        question = self.text("Download {size} now? ({names})", size=size, names=names)
        return self.questions.confirm(question, default=True)

    def sentence(self, which: Sentence) -> Sequence[Audio]:
        """The sounds of a built-in sentence; none if it cannot be spoken, which is reported."""
        try:
            missing = self.machine.missing_models(self.context, ["tts"])
            if missing and not self.may_download(missing):
                return []
            spoken = choose_tts(self.settings.tts, open_store(self.context.folders).manifest).voices
            language = self.language if self.language in spoken else next(iter(spoken))
            phrases = all_phrases().get(language)
            text = phrases.ready if phrases and which == "ready" else sample_text(language)
            self.note(self.text("  it says: {sentence}", sentence=text))
            return self.machine.speech(self.context, text, language)
        except EdgevoxError as error:
            self.report(error)
            return []

    def play(self, sounds: Sequence[Audio]) -> None:
        """Play on the loudspeaker of the settings. Raises DeviceUnavailable."""
        device = choose_device(self.machine.devices(), self.settings.audio.speaker, "output")
        self.machine.play(self.context, device, sounds)
