"""Which alarms are ringing, and the commands to stop or snooze them."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from edgevox.core.events import DueAlarm, RingStarted
from edgevox.core.files import packaged_toml
from edgevox.core.languages import ENGLISH, length_in, say
from edgevox.core.turn import CancelFlag
from edgevox.core.words import NUMBER_WORDS
from edgevox.dialogue.builtin_commands import command_phrases, plain_words, polite_words


@dataclass(frozen=True, slots=True)
class AlarmCommand:
    """A command to a ringing alarm: stop, or ring again in `minutes` (None for the default)."""

    word: Literal["stop", "snooze"]
    minutes: int | None = None

    def reply(self, language: str = ENGLISH) -> str:
        """The spoken reply; "" for none."""
        if not self.minutes:
            return ""
        return say("snoozed", language, length=length_in(self.minutes * 60, language))


# Of 1 to 19 and the tens to 60; their sum is the number: "twenty-five".
_NUMBERS = {word: number for number, word in enumerate(NUMBER_WORDS[:61]) if number and "-" not in word}
_NUMBERS |= {"a": 1, "an": 1}
_FIXED_MINUTES = {"half an hour": 30, "half hour": 30, "quarter of an hour": 15, "quarter hour": 15}
_AMOUNT = re.compile(rf"((?:\b(?:\d{{1,2}}|{'|'.join(_NUMBERS)})\b ?)+)(?:more |another )?(minute|hour)s?\b")
_LONGEST_MINUTES = 60


@cache
def _phrases(name: str) -> frozenset[str]:
    return frozenset(packaged_toml("dialogue/alarm_state.toml")[name])


def parse_alarm_command(text: str, things: Iterable[str], language: str = ENGLISH) -> AlarmCommand | None:
    """Parse a whole utterance as a command to a ringing alarm, which has one of the names `things`.

    English is understood beside `language`.
    """
    agreeing = _phrases("agreeing")
    polite = (polite_words() - agreeing) | {"hey"}
    words = [word for word in plain_words(text) if word not in polite]
    meant = [word for word in words if word not in agreeing] or words[:1]
    # Repeated by the speaker or by STT: "Stop! Stop!"
    plain = meant[0] if len(set(meant)) == 1 else " ".join(meant)
    objects = ("it", "that", *(f"{which}{thing}" for thing in things for which in ("", "the ", "my ", "this ")))
    if plain in _phrases("stop") | command_phrases("stop") or _is_done_to(plain, _phrases("stop_verbs"), objects):
        return AlarmCommand("stop")
    snooze_verbs = _phrases("snooze_verbs")
    if plain in _phrases("snooze") | snooze_verbs or _is_done_to(plain, snooze_verbs, objects):
        return AlarmCommand("snooze")
    for thing in objects:
        plain = re.sub(rf"^(snooze|postpone) {re.escape(thing)}\b", r"\1", plain)
    minutes = _minutes(plain)
    if minutes is None and language != ENGLISH:
        minutes = _minutes_in(plain, language)
    return AlarmCommand("snooze", minutes) if minutes is not None and 1 <= minutes <= _LONGEST_MINUTES else None


def _is_done_to(plain: str, verbs: Iterable[str], objects: Iterable[str]) -> bool:
    """Matches "stop the alarm", "turn off the alarm" and "turn the alarm off"."""
    for verb in verbs:
        first, _, behind = verb.partition(" ")
        for thing in objects:
            if plain in (f"{verb} {thing}", f"{first} {thing} {behind}".rstrip()):
                return True
    return False


def _minutes(plain: str) -> int | None:
    """The duration in minutes, if the text holds nothing else."""
    for words, fixed in _FIXED_MINUTES.items():
        if re.search(rf"\b{words}\b", plain):
            rest = re.sub(rf"\b(?:a )?{words}\b", " ", plain, count=1)
            return fixed if _phrases("around_duration").issuperset(rest.split()) else None
    found = _AMOUNT.search(plain)
    if found is None:
        return None
    rest = f"{plain[: found.start()]} {plain[found.end() :]}"
    if not _phrases("around_duration").issuperset(rest.split()):
        return None
    number = sum(int(word) if word.isdigit() else _NUMBERS[word] for word in found[1].split())
    return number * 60 if found[2] == "hour" else number


def _minutes_in(plain: str, language: str) -> int | None:
    """The same in another language: "noch fünf minuten"."""
    words: Mapping[str, Any] = packaged_toml("dialogue/alarm_state.toml")["minutes"].get(language, {})
    if not words:
        return None
    for phrase, fixed in words["fixed"].items():
        if re.search(rf"\b{phrase}\b", plain):
            rest = re.sub(rf"\b{phrase}\b", " ", plain, count=1)
            return int(fixed) if set(words["around"]).issuperset(rest.split()) else None
    found = re.fullmatch(rf"(?P<before>.*?)(?P<unit>\b(?:{'|'.join(words['units'])})\b)(?P<after>.*)", plain)
    if found is None:
        return None
    around, amount = set(words["around"]), found["before"].split()
    while amount and amount[0] in around:
        amount.pop(0)
    while amount and amount[-1] in around:
        amount.pop()
    said = "".join(amount)
    number = int(said) if said.isdigit() else _numbers_in(language).get(said)
    return number if around.issuperset(found["after"].split()) else None


@cache
def _numbers_in(language: str) -> Mapping[str, int]:
    """The words for 1 to 60 without spaces: "fünfundzwanzig", "vingtcinq"."""
    from unicode_rbnf import RbnfEngine

    engine = RbnfEngine.for_language(language)
    return {
        "".join(plain_words(words.replace("\u00ad", ""))): number
        for number in range(1, _LONGEST_MINUTES + 1)
        for words in engine.format_number(number).text_by_ruleset.values()
    }


class AlarmState:
    """The ringing alarms. `snooze_minutes` is the default duration of a snooze."""

    def __init__(self, *, snooze_minutes: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.command: AlarmCommand | None = None
        """The command to the ringing alarms."""
        self.is_ignored = False
        """Whether the user said something else while it rang."""
        self.cut = CancelFlag()
        """Stops the current sound."""
        self.announced: dict[str, RingStarted] = {}
        """The rings that began and have not ended, for clients that connect meanwhile."""
        self._snooze_minutes = snooze_minutes
        self._clock = clock
        self._ringing: tuple[DueAlarm, ...] = ()
        self._sounded_s = -math.inf

    @property
    def is_ringing(self) -> bool:
        """Whether an alarm rings and was not stopped."""
        return bool(self._ringing) and self.command is None

    def ring(self, dues: Sequence[DueAlarm]) -> None:
        """Note that these alarms start to sound now."""
        if not self._ringing:
            self.cut = CancelFlag()
        self._ringing = tuple(dues)
        self._sounded_s = self._clock()

    def clear(self) -> None:
        """Forget the ringing alarms and the command to them."""
        self._ringing = ()
        self.command = None
        self.is_ignored = False

    def has_rung_since(self, moment_s: float) -> bool:
        """Whether an alarm rings and has sounded after that moment."""
        return self.is_ringing and self._sounded_s > moment_s

    def take_command(self, text: str, language: str = ENGLISH) -> AlarmCommand | None:
        """Run `text` as a command to the ringing alarms; None if it is not one."""
        command = parse_alarm_command(text, self._names(), language) if self.is_ringing else None
        if command is not None:
            if command.word == "snooze":
                command = AlarmCommand("snooze", command.minutes or self._snooze_minutes)
            self.command = command
            self.cut.set()
        return command

    def _names(self) -> set[str]:
        """The names of the ringing alarms: "timer", "pasta timer"."""
        return {
            *(due.kind for due in self._ringing),
            *(" ".join((*plain_words(due.label), due.kind)) for due in self._ringing),
            *(" ".join(plain_words(due.called)) for due in self._ringing if due.kind == "timer"),
        }
