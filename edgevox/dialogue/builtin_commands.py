"""Built-in commands, matched without a model: stop, cancel, louder, quieter, repeat, help."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias, assert_never

from edgevox.core.languages import ENGLISH, all_phrases
from edgevox.dialogue.speech_output import Volume

BuiltinCommand: TypeAlias = Literal["stop", "cancel", "louder", "quieter", "repeat", "help"]

# Whole utterances only: "stop the music" and "louder in the kitchen" are for the home.
_PHRASES: Mapping[BuiltinCommand, tuple[str, ...]] = {
    "stop": (
        *("stop", "stop it", "stop that", "stop talking", "stop speaking", "stop stop", "no stop", "okay stop"),
        *("quiet", "be quiet", "silence", "shut up", "hush", "enough", "thats enough", "that is enough"),
    ),
    "cancel": ("cancel", "cancel it", "cancel that", "abort", "abort that"),
    "louder": (
        *("louder", "speak louder", "talk louder", "be louder", "a bit louder", "a little louder"),
        *("speak a bit louder", "speak a little louder", "speak up", "volume up", "turn your volume up"),
        *("turn up your volume", "raise your volume"),
        *("i cant hear you", "i cannot hear you", "can you speak louder", "could you speak louder"),
        *("can you speak up", "could you speak up", "you are too quiet", "youre too quiet"),
    ),
    "quieter": (
        *("quieter", "softer", "speak quieter", "talk quieter", "be quieter", "a bit quieter"),
        *("a little quieter", "speak a bit quieter", "speak a little quieter", "speak more quietly"),
        *("speak softer", "speak softly", "not so loud", "volume down", "turn your volume down"),
        *("turn down your volume", "lower your volume"),
        *("can you speak quieter", "could you speak quieter", "you are too loud", "youre too loud"),
    ),
    "repeat": (
        *("repeat", "repeat that", "repeat it", "say that again", "say it again"),
        *("come again", "pardon", "what did you say", "what did you just say", "what was that"),
        *("can you repeat that", "could you repeat that", "can you say that again", "could you say that again"),
    ),
    "help": ("help", "help me", "what can you do", "what can i say", "what can i ask", "what can i ask you"),
}
STOP_ELSEWHERE = tuple(phrase for own in all_phrases().values() for phrase in own.stop)
_CANCEL_ELSEWHERE = tuple(phrase for own in all_phrases().values() for phrase in own.cancel)
# Commands only during a turn; otherwise they go to the model.
_CANCEL_WHILE_BUSY = ("never mind", "nevermind", "forget it", "forget that", "forget about it", "leave it")
POLITE_ELSEWHERE = frozenset(word for own in all_phrases().values() for word in own.command_polite)
_POLITE = frozenset({"please", "thanks", "now"}) | POLITE_ELSEWHERE
_WORDS: Mapping[str, BuiltinCommand] = {
    **{phrase: word for word, phrases in _PHRASES.items() for phrase in phrases},
    **dict.fromkeys(STOP_ELSEWHERE, "stop"),
    **dict.fromkeys(_CANCEL_ELSEWHERE, "cancel"),
}

_MOST_EXAMPLES = 3
_ALWAYS = "At any time you can say stop, louder, quieter, or repeat that."


def parse_builtin_command(text: str, *, is_busy: bool = False) -> BuiltinCommand | None:
    """Parse a whole utterance as a built-in command; `is_busy` while a turn runs."""
    meant = [word for word in plain_words(text) if word not in _POLITE]
    # Repeated by the speaker or by STT: "Stop! Stop!"
    plain = meant[0] if len(set(meant)) == 1 else " ".join(meant)
    if is_busy and plain in _CANCEL_WHILE_BUSY:
        return "cancel"
    return _WORDS.get(plain)


def plain_words(text: str) -> list[str]:
    """The words of an utterance without punctuation: "I can't." is "i", "cant"."""
    # STT writes either apostrophe.
    return re.findall(r"[^\W_]+", text.casefold().replace("'", "").replace("’", ""))


class BuiltinCommands:
    """Runs built-in commands in one session; holds the volume and the last reply.

    `examples` are commands for this home, for "help".
    """

    def __init__(self, examples: Sequence[str] = ()) -> None:
        self.volume = Volume()
        self.last_reply = ""
        self.last_language = ENGLISH
        self._examples = tuple(examples[:_MOST_EXAMPLES])

    def language_of(self, word: BuiltinCommand) -> str:
        """The language of the reply of `act`."""
        return self.last_language if word == "repeat" else ENGLISH

    def act(self, word: BuiltinCommand) -> str:
        """Run the command, except for cancelling a turn; returns the spoken reply."""
        match word:
            case "stop" | "cancel":
                return ""
            case "louder":
                return "Louder." if self.volume.raise_step() else "That is as loud as I can speak."
            case "quieter":
                return "Quieter." if self.volume.lower_step() else "That is as quiet as I can speak."
            case "repeat":
                return self.last_reply or "I have not said anything yet."
            case "help":
                return f"{_for_example(self._examples)} {_ALWAYS}"
            case _:
                assert_never(word)


def _for_example(examples: Sequence[str]) -> str:
    if not examples:
        return "Ask me something, or tell me what to do in your home."
    *first, last = (example.strip(" .?!") for example in examples)
    return f"You can say, for example: {', '.join(first)}{', or ' if first else ''}{last}."
