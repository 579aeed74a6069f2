"""Which alarms are ringing, and the commands to stop or snooze them."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, assert_never

from edgevox.core.events import DueAlarm
from edgevox.core.languages import duration
from edgevox.core.turn import CancelFlag
from edgevox.dialogue.builtin_commands import POLITE_ELSEWHERE, STOP_ELSEWHERE, plain_words


@dataclass(frozen=True, slots=True)
class StopAlarm:
    """It is to be silent."""


@dataclass(frozen=True, slots=True)
class SnoozeAlarm:
    """It is to ring again later; `minutes` is None where that was left open."""

    minutes: int | None


AlarmCommand: TypeAlias = StopAlarm | SnoozeAlarm

_STOP = frozenset(
    (
        *("stop", "quiet", "be quiet", "silence", "shut up", "hush", "enough", "thats enough"),
        *("that is enough", "stop ringing", "dismiss", "off", "no more", "cancel", "never mind", "nevermind"),
        *("im up", "i am up", "im awake", "i am awake", "im getting up", "i am getting up", "i heard you"),
        *("im coming", "i am coming", "got it", "i got it", "understood", "will do", "done", "fine"),
        *("okay", "ok", "alright", "all right", "thanks", "thank you", "thank you very much", "cheers"),
        *STOP_ELSEWHERE,
    )
)
_STOPPING = ("stop", "cancel", "dismiss", "silence", "end", "turn off", "switch off", "shut off")
_SNOOZE = frozenset(("later", "let me sleep", "a few more minutes", "a bit later", "remind me later"))
_SNOOZING = ("snooze", "postpone")
# Words without a meaning of their own around a length of time: "just give me five more minutes".
_AROUND_A_TIME = frozenset(
    (
        *("snooze", "postpone", "for", "by", "in", "again", "more", "another", "longer", "just", "only"),
        *("give", "me", "i", "need", "let", "sleep", "wait", "remind", "wake", "up"),
    )
)
_POLITE = frozenset(("please", "now", "hey")) | POLITE_ELSEWHERE
# They mean stop when nothing else is said, and little beside something else: "okay, five more minutes".
_AGREEING = frozenset(("okay", "ok", "thanks"))

_UP_TO_TEN = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_TEENS = (
    "eleven",
    "twelve",
    *(f"{stem}teen" for stem in ("thir", "four", "fif", "six", "seven", "eigh", "nine")),
)
_NUMBERS = {
    **{word: number for number, word in enumerate((*_UP_TO_TEN, *_TEENS), start=1)},
    **dict(zip(("twenty", "thirty", "forty", "fifty", "sixty"), range(20, 70, 10), strict=True)),
    **dict.fromkeys(("a", "an"), 1),
}
_FIXED_MINUTES = {"half an hour": 30, "half hour": 30, "quarter of an hour": 15, "quarter hour": 15}
_AMOUNT = re.compile(rf"((?:\b(?:\d{{1,2}}|{'|'.join(_NUMBERS)})\b ?)+)(?:more |another )?(minute|hour)s?\b")
_LONGEST_MINUTES = 60


def parse_alarm_command(text: str, things: Iterable[str]) -> AlarmCommand | None:
    """What `text` says to what rings, if that is all it says. What rings is called one of `things`."""
    words = [word for word in plain_words(text) if word not in _POLITE]
    meant = [word for word in words if word not in _AGREEING] or words[:1]
    # Said, or written down by the recogniser, again and again: "Stop! Stop!"
    plain = meant[0] if len(set(meant)) == 1 else " ".join(meant)
    objects = (
        "it",
        "that",
        *(f"{which}{thing}" for thing in things for which in ("", "the ", "my ", "this ")),
    )
    if plain in _STOP or _is_done_to(plain, _STOPPING, objects):
        return StopAlarm()
    if plain in _SNOOZE or plain in _SNOOZING or _is_done_to(plain, _SNOOZING, objects):
        return SnoozeAlarm(None)
    for thing in objects:
        plain = re.sub(rf"^(snooze|postpone) {re.escape(thing)}\b", r"\1", plain)
    minutes = _minutes(plain)
    return SnoozeAlarm(minutes) if minutes is not None and 1 <= minutes <= _LONGEST_MINUTES else None


def _is_done_to(plain: str, verbs: Iterable[str], objects: Iterable[str]) -> bool:
    """Whether it is "stop the alarm", "turn off the alarm" or "turn the alarm off"."""
    for verb in verbs:
        first, _, behind = verb.partition(" ")
        for thing in objects:
            if plain in (f"{verb} {thing}", f"{first} {thing} {behind}".rstrip()):
                return True
    return False


def _minutes(plain: str) -> int | None:
    """The length of time that is said, when nothing of a meaning is said beside it."""
    for words, fixed in _FIXED_MINUTES.items():
        if re.search(rf"\b{words}\b", plain):
            rest = re.sub(rf"\b(?:a )?{words}\b", " ", plain, count=1)
            return fixed if _AROUND_A_TIME.issuperset(rest.split()) else None
    found = _AMOUNT.search(plain)
    if found is None or not _AROUND_A_TIME.issuperset(f"{plain[: found.start()]} {plain[found.end() :]}".split()):
        return None
    number = sum(int(word) if word.isdigit() else _NUMBERS[word] for word in found[1].split())
    return number * 60 if found[2] == "hour" else number


AlarmReplyKind: TypeAlias = Literal["stop", "snooze"]


@dataclass(frozen=True, slots=True)
class AlarmReply:
    """What was said to the bell, as it was understood, and what is to be said to that, if anything."""

    word: AlarmReplyKind
    said: str = ""


class AlarmState:
    """`snooze_minutes` is for whoever does not say how long."""

    def __init__(self, *, snooze_minutes: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.word: StopAlarm | SnoozeAlarm | None = None
        """What was said to what rings."""
        self.is_ignored = False
        """Whether somebody who heard it spoke of something else."""
        self.cut = CancelFlag()
        """Ends the sound that is heard now."""
        self._snooze_minutes = snooze_minutes
        self._clock = clock
        self._ringing: tuple[DueAlarm, ...] = ()
        self._sounded_s = -math.inf

    @property
    def is_ringing(self) -> bool:
        """Whether something rings that nobody has stopped."""
        return bool(self._ringing) and self.word is None

    def ring(self, dues: Sequence[DueAlarm]) -> None:
        """These ring, and begin to sound now; from none to some it is a new ring."""
        if not self._ringing:
            self.cut = CancelFlag()
        self._ringing = tuple(dues)
        self._sounded_s = self._clock()

    def clear(self) -> None:
        """Nothing rings any more, and what was said to it is forgotten."""
        self._ringing = ()
        self.word = None
        self.is_ignored = False

    def has_rung_since(self, moment_s: float) -> bool:
        """Whether it rings, and was heard after that moment: what is said then is said to it."""
        return self.is_ringing and self._sounded_s > moment_s

    def reply_to_command(self, text: str) -> AlarmReply | None:
        """Do what `text` says, if it is said to what rings; None if it is not."""
        if not self.is_ringing:
            return None
        match parse_alarm_command(text, self._names()):
            case StopAlarm() as stop:
                self.word = stop
                alarm_reply = AlarmReply("stop")
            case SnoozeAlarm(minutes):
                minutes = minutes or self._snooze_minutes
                self.word = SnoozeAlarm(minutes)
                alarm_reply = AlarmReply("snooze", f"Snoozed for {duration(minutes * 60)}.")
            case None:
                return None
            case unknown:
                assert_never(unknown)
        self.cut.set()
        return alarm_reply

    def _names(self) -> set[str]:
        """What each thing that rings is called: "timer", "pasta timer"."""
        return {
            *(due.kind for due in self._ringing),
            *(" ".join((*plain_words(due.label), due.kind)) for due in self._ringing),
            *(" ".join(plain_words(due.called)) for due in self._ringing if due.kind == "timer"),
        }
