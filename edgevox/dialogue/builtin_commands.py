"""Built-in commands, matched without a model: stop, cancel, louder, quieter, repeat, help."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias, assert_never

from edgevox.core.languages import ENGLISH
from edgevox.dialogue.speech_output import Volume

BuiltinCommand: TypeAlias = Literal["stop", "cancel", "louder", "quieter", "repeat", "help"]

# Whole utterances only: "stop the music" and "louder in the kitchen" are for the home.
_PHRASES: Mapping[BuiltinCommand, tuple[str, ...]] = {
    "stop": (
        *(
            "stop",
            "stop it",
            "stop that",
            "stop talking",
            "stop speaking",
            "stop stop",
            "no stop",
            "okay stop",
        ),
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
        *(
            "can you repeat that",
            "could you repeat that",
            "can you say that again",
            "could you say that again",
        ),
    ),
    "help": ("help", "help me", "what can you do", "what can i say", "what can i ask", "what can i ask you"),
}
# In other languages only what nobody can take for something else; whoever says it wants silence now.
STOP_ELSEWHERE: tuple[str, ...] = (
    *("stopp", "halt", "hör auf", "aufhören", "sei still", "sei ruhig", "ruhe", "es reicht"),
    *("arrête", "arrête toi", "arrêtez", "tais toi", "taisez vous", "ça suffit"),
    *("para", "para ya", "detente", "basta", "basta ya", "cállate", "silencio"),
    *("fermo", "ferma", "fermati", "smettila", "zitto", "zitta", "silenzio"),
    *("hou op", "ophouden", "stil", "wees stil", "genoeg"),
)
_CANCEL_ELSEWHERE = (
    *("abbrechen", "brich ab", "annule", "annuler", "annulez", "cancela", "cancelar"),
    *("annulla", "annulleer", "annuleren"),
)
# These mean stop only while there is something to stop: else they are for the model.
_CANCEL_WHILE_BUSY = ("never mind", "nevermind", "forget it", "forget that", "forget about it", "leave it")
POLITE_ELSEWHERE = frozenset({"bitte", "jetzt", "alsjeblieft"})
_POLITE = frozenset({"please", "thanks", "now"}) | POLITE_ELSEWHERE
_WORDS: Mapping[str, BuiltinCommand] = {
    **{phrase: word for word, phrases in _PHRASES.items() for phrase in phrases},
    **dict.fromkeys(STOP_ELSEWHERE, "stop"),
    **dict.fromkeys(_CANCEL_ELSEWHERE, "cancel"),
}

_MOST_EXAMPLES = 3
_ALWAYS = "At any time you can say stop, louder, quieter, or repeat that."


def parse_builtin_command(text: str, *, is_busy: bool = False) -> BuiltinCommand | None:
    """The word that `text` is, and nothing else beside it; `is_busy` while a turn is under way."""
    meant = [word for word in plain_words(text) if word not in _POLITE]
    # Said, or written down by the recogniser, again and again: "Stop! Stop!"
    plain = meant[0] if len(set(meant)) == 1 else " ".join(meant)
    if is_busy and plain in _CANCEL_WHILE_BUSY:
        return "cancel"
    return _WORDS.get(plain)


def plain_words(text: str) -> list[str]:
    """The words of an utterance, without its marks: "I can't." is "i", "cant"."""
    # Recognisers write "I can't" with either apostrophe.
    return re.findall(r"[^\W_]+", text.casefold().replace("'", "").replace("’", ""))


class BuiltinCommands:
    """What the words do in one session: it knows how loud the voice is and what was said last.

    `examples` are things that can be said to this home.
    """

    def __init__(self, examples: Sequence[str] = ()) -> None:
        self.volume = Volume()
        self.last_reply = ""
        self.last_language = ENGLISH
        self._examples = tuple(examples[:_MOST_EXAMPLES])

    def language_of(self, word: BuiltinCommand) -> str:
        """What `act` says to it is in this language."""
        return self.last_language if word == "repeat" else ENGLISH

    def act(self, word: BuiltinCommand) -> str:
        """Do it, as far as it does not concern a turn; what is to be said then."""
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
