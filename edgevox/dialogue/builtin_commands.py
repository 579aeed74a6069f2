"""Built-in commands, matched without a model: stop, cancel, repeat, help, and those for the voice."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from typing import Literal, TypeAlias, assert_never, get_args

from edgevox.core.languages import ENGLISH, all_phrases, say
from edgevox.dialogue.speech_output import Pitch, SpeakingRate, Volume

BuiltinCommand: TypeAlias = Literal[
    "stop", "cancel", "louder", "quieter", "faster", "slower", "higher", "lower", "repeat", "help"
]

# Commands only during a turn; otherwise they go to the model.
_CANCEL_WHILE_BUSY = ("never mind", "nevermind", "forget it", "forget that", "forget about it", "leave it")
_MOST_EXAMPLES = 3
# As STT writes hums and laughter: "mm-hmm", "uh-huh", "hahaha", "ooh".
_HUM = re.compile(r"m*h*m+|h+m+|u+h+|h+u+h+|a+h+|o+h+|(?:h[ae])+h?|e+h+")
VOLUME, SPEED, PITCH = "tts.volume_db", "tts.speed", "tts.pitch_semitones"
_ALWAYS = "At any time you can say stop, louder, quieter, or repeat that."


@cache
def polite_words() -> frozenset[str]:
    """Words that do not change a command, in any language."""
    return frozenset(word for own in all_phrases().values() for word in own.command_polite)


def command_phrases(command: BuiltinCommand) -> frozenset[str]:
    """The phrases of a command, in any language.

    Whole utterances: "stop the music" and "louder in the kitchen" are for the home.
    """
    return frozenset(phrase for own in all_phrases().values() for phrase in own.commands.get(command, ()))


@cache
def _commands() -> Mapping[str, BuiltinCommand]:
    commands: tuple[BuiltinCommand, ...] = get_args(BuiltinCommand)
    return {phrase: command for command in commands for phrase in command_phrases(command)}


def parse_builtin_command(text: str, *, is_busy: bool = False) -> BuiltinCommand | None:
    """Parse a whole utterance as a built-in command; `is_busy` while a turn runs."""
    meant = [word for word in plain_words(text) if word not in polite_words()]
    # Repeated by the speaker or by STT: "Stop! Stop!"
    plain = meant[0] if len(set(meant)) == 1 else " ".join(meant)
    if is_busy and plain in _CANCEL_WHILE_BUSY:
        return "cancel"
    return _commands().get(plain)


@cache
def _backchannels() -> frozenset[str]:
    return frozenset(word for own in all_phrases().values() for phrase in own.backchannels for word in phrase.split())


@cache
def _interruptions() -> frozenset[str]:
    return frozenset(word for own in all_phrases().values() for word in (*own.interruptions, *own.no))


def is_backchannel(text: str) -> bool:
    """Whether a short utterance only tells that somebody listens: "mhm", "yeah, right", in any language.

    So does a single word that asks for nothing: STT hears "Mom" and "one" in hums.
    """
    words = plain_words(text)
    if len(words) == 1 and words[0] not in _interruptions():
        return True
    return all(word in _backchannels() or _HUM.fullmatch(word) for word in words)


def command_language(text: str, spoken: str = "") -> str:
    """The language of a built-in command: the spoken one, if it has that phrase, or another that has it."""
    meant = " ".join(word for word in plain_words(text) if word not in polite_words())
    having = [code for code, own in all_phrases().items() if any(meant in phrases for phrases in own.commands.values())]
    return spoken if spoken in having else next(iter(sorted(having, key=lambda code: code != ENGLISH)), ENGLISH)


def plain_words(text: str) -> list[str]:
    """The words of an utterance without punctuation: "I can't." is "i", "cant"."""
    # STT writes either apostrophe.
    return re.findall(r"[^\W_]+", text.casefold().replace("'", "").replace("’", ""))


class BuiltinCommands:
    """Runs built-in commands in one session; holds volume, speed and pitch of the voice, and the last reply.

    `examples` are commands for this home, for "help"; `volume_db`, `speed` and `pitch_semitones` are those of the
    start, and `with_pitch` the languages whose voice has a pitch. `keep` gets the name of the setting and its new value
    when a command has changed one; it must not block.
    """

    def __init__(
        self,
        examples: Sequence[str] = (),
        volume_db: float = 0.0,
        speed: float = 1.0,
        keep: Callable[[str, float], None] = lambda _name, _value: None,
        *,
        pitch_semitones: float = 0.0,
        with_pitch: Collection[str] = (),
    ) -> None:
        self.volume = Volume(volume_db)
        self.rate = SpeakingRate(speed)
        self.pitch = Pitch(pitch_semitones)
        self._with_pitch = with_pitch
        self._keep = keep
        self.last_reply = ""
        self.last_language = ENGLISH
        self._examples = tuple(examples[:_MOST_EXAMPLES])

    def language_of(self, word: BuiltinCommand, language: str = ENGLISH) -> str:
        """The language of the reply of `act` to a command in `language`."""
        return self.last_language if word == "repeat" and self.last_reply else language

    def act(self, word: BuiltinCommand, language: str = ENGLISH) -> str:
        """Run the command, except for cancelling a turn; returns the spoken reply, in `language`."""
        match word:
            case "stop" | "cancel":
                return ""
            case "louder":
                return say("louder" if self._change_volume(1) else "loudest", language)
            case "quieter":
                return say("quieter" if self._change_volume(-1) else "quietest", language)
            case "faster":
                return say("faster" if self._change_speed(1) else "fastest", language)
            case "slower":
                return say("slower" if self._change_speed(-1) else "slowest", language)
            case "higher" | "lower" if language not in self._with_pitch:
                return say("one_pitch", language)
            case "higher":
                return say("higher" if self._change_pitch(1) else "highest", language)
            case "lower":
                return say("lower" if self._change_pitch(-1) else "lowest", language)
            case "repeat":
                return self.last_reply or say("nothing_said", language)
            case "help" if language != ENGLISH:
                return say("help", language)
            case "help":
                return f"{_for_example(self._examples)} {_ALWAYS}"
            case _:
                assert_never(word)

    def _change_volume(self, by: Literal[-1, 1]) -> bool:
        if is_changed := self.volume.step(by):
            self._keep(VOLUME, self.volume.gain_db)
        return is_changed

    def _change_speed(self, by: Literal[-1, 1]) -> bool:
        if is_changed := self.rate.step(by):
            self._keep(SPEED, self.rate.speed)
        return is_changed

    def _change_pitch(self, by: Literal[-1, 1]) -> bool:
        if is_changed := self.pitch.step(by):
            self._keep(PITCH, self.pitch.semitones)
        return is_changed


def _for_example(examples: Sequence[str]) -> str:
    if not examples:
        return "Ask me something, or tell me what to do in your home."
    *first, last = (example.strip(" .?!") for example in examples)
    return f"You can say, for example: {', '.join(first)}{', or ' if first else ''}{last}."
