"""Reads a whole request in another language than English into calls, without the model.

A sentence is matched with templates. If none fits, it may be several commands ("… und …"), one for later ("in zehn
Minuten"), or have a name that is slightly misspelt. Nothing is guessed beyond that.
"""

from __future__ import annotations

import itertools
import json
import math
import re
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from edgevox.core.types import ToolCall
from edgevox.home.alarms.alarm_handlers import RUNS
from edgevox.home.grammar import tool_call
from edgevox.home.intents.catalogue import known_tools
from edgevox.home.resolve.fuzzy import edit_distance
from edgevox.home.rules.languages.bag_of_words import read_words
from edgevox.home.rules.languages.clock_times import timed_reminder, timed_requests, without_polite_words
from edgevox.home.rules.languages.intents import call_of
from edgevox.home.rules.languages.templates import Match, Names, best_match, fold, own_file

_MAX_PARTS = 4
_MAX_NAME_WORDS = 4
_TALK = {"HassNevermind": "nevermind", "HassRespond": "greeting"}
_UNITS = ("hours", "minutes", "seconds")
_TAKE_ANY_WORDS = frozenset({"media_search_and_play", "broadcast", "list_add_item", "set_reminder"})
# A text that no template fits takes about 50 ms to read on two slow cores; this is part of the time to the answer.
_MOST_HYPOTHESES, _CHOOSE_WITHIN_S = 8, 0.4
# Noise seldom reads as a request with the names of the home: see ADR 38.
_REQUEST_RATIO = 12.0
# A template may take the hour for a value: "abbassa la tenda alle 20" is no position.
_AT_ONCE = frozenset(
    {
        "turn_on",
        "turn_off",
        "light_set",
        "set_position",
        "climate_set_temperature",
        "fan_set_speed",
        "set_volume",
        "media_search_and_play",
    }
)


@dataclass(frozen=True, slots=True)
class Reading:
    """What a request asks for: calls, talk that needs only a phrase, or the same request in English.

    `is_here` if it is about the speaker's room.
    """

    calls: tuple[ToolCall, ...] = ()
    phrase: str = ""
    is_here: bool = False
    english: str = ""


def read(text: str, language: str, names: Names, tools: Collection[str]) -> Reading | None:
    """The reading of a request, with tools among these; None if it is not understood."""
    reader = _Reader(language, names, tools)
    plain = reader.rewritten(" ".join(text.replace("\u2019", "'").split()).strip(" .!?,;¿¡"))
    if (reading := reader.read(plain)) is None and (parted := reader.without_compounds(plain)) != plain:
        return reader.read(parted)
    return reading


def likeliest_request(texts: Sequence[str], language: str, names: Names, tools: Collection[str]) -> tuple[str, float]:
    """Of the hypotheses of one utterance, the most probable first, the first that is a request with these names.

    Requests with words of the speaker's own ("play …", "put … on the list") come last, because almost any text is one.
    The first hypothesis if none is understood. With it, the ratio by which being a request makes it likelier.
    """
    free, began_s = "", math.inf
    for text in texts[:_MOST_HYPOTHESES]:
        if time.monotonic() - began_s > _CHOOSE_WITHIN_S:
            break
        reading = read(text, language, names, tools)
        if reading is not None and not any(call.name in _TAKE_ANY_WORDS for call in reading.calls):
            return text, _REQUEST_RATIO
        if reading is not None and not free:
            free = text
        began_s = min(began_s, time.monotonic())  # the first reading may have parsed the templates
    return free or texts[0], 1.0


@dataclass(frozen=True, slots=True)
class _Reader:
    language: str
    names: Names
    tools: Collection[str]

    def rewritten(self, text: str) -> str:
        """The text with other forms of address and of verbs in those that the templates have."""
        for pattern, replacement in own_file(self.language).get("rewrites", ()):
            text = re.sub(pattern, replacement, text, flags=re.IGNORECASE)
        return " ".join(text.split())

    def without_compounds(self, text: str) -> str:
        """ "Küchenlicht" is the light in the kitchen, where nothing has that name."""
        grammar = own_file(self.language)
        if "compound_nouns" not in grammar:
            return text
        areas = "|".join(re.escape(label) for label in sorted(self.names.areas, key=len, reverse=True))
        compound = rf"\b({areas})(?:{grammar['compound_links']})?-?({grammar['compound_nouns']})\b"
        return re.sub(compound, grammar["compound_parted"], text, flags=re.IGNORECASE) if areas else text

    def read(self, text: str, parts: int = _MAX_PARTS) -> Reading | None:
        if reading := self._reminder(text) or self._one(text) or self._later(text) or self._at_a_time(text):
            return reading
        for first, second in self._halves(text):
            if parts > 1 and (one := self.read(first, parts - 1)) and (two := self.read(second, parts - 1)):
                return self._joined(one, two)
        if shared := self._shared(text):
            return shared
        return next((reading for other in self._with_known_names(text) if (reading := self._one(other))), None)

    def _one(self, text: str) -> Reading | None:
        match = best_match(text, self.language, self.names) or read_words(text, self.language, self.names)
        if match is None:
            return None
        if phrase := _TALK.get(match.intent):
            return Reading(phrase=phrase)
        if match.english:
            return Reading(is_here=match.is_here, english=match.english)
        call = self._call(match)
        if call is None or (call.name in _AT_ONCE and self._has_time_or_alarm(text)):
            return None
        return Reading((call,), is_here=match.is_here)

    def _has_time_or_alarm(self, text: str) -> bool:
        """Whether a request has a clock time, or is for an alarm: "pon la alarma" plays no music."""
        own = own_file(self.language)
        return any(re.search(pattern, text, re.IGNORECASE) for pattern in (own["clock_phrase"], own["alarm_phrase"]))

    def _call(self, match: Match) -> ToolCall | None:
        call = call_of(match)
        if call is None or call.name not in self.tools:
            return None
        command = json.loads(call.arguments).get("conversation_command")
        # A command for later must be understood now.
        return call if command is None or self._one(command) else None

    @staticmethod
    def _joined(one: Reading, two: Reading) -> Reading | None:
        if not (one.calls and two.calls):
            return None
        return Reading((*one.calls, *two.calls), is_here=one.is_here and two.is_here)

    # --- a command for later

    def _later(self, text: str) -> Reading | None:
        """ "Mach das Licht in zehn Minuten aus": the command without the duration, as a timer."""
        grammar = own_file(self.language)
        for found in re.finditer(grammar["duration_phrase"], text, re.IGNORECASE):
            length = best_match(found[0], self.language, self.names)
            if length is None or length.intent != "EdgeVoxDuration":
                continue
            command = " ".join(f"{text[: found.start()]} {text[found.end() :]}".split()).strip(" ,")
            if command and (reading := self._one(command)) and reading.calls and "start_timer" in self.tools:
                lengths = {unit: round(float(length.slots[unit])) for unit in _UNITS if unit in length.slots}
                return Reading((tool_call("start_timer", **lengths, conversation_command=command),))
        return None

    # --- a command, an alarm or a reminder at a time of day

    def _reminder(self, text: str) -> Reading | None:
        """ "Weck mich jeden Werktag um sieben", "Erinnere mich um acht an den Müll"."""
        alarm = own_file(self.language)["times"]["alarm"]
        for one in timed_requests(text, self.language, is_alarm=True) if "set_alarm" in self.tools else ():
            if re.fullmatch(alarm, without_polite_words(one.rest, self.language), re.IGNORECASE):
                return Reading((tool_call("set_alarm", time=one.time),))
        if "set_reminder" in self.tools and (reminder := timed_reminder(text, self.language)):
            return Reading((tool_call("set_reminder", task=reminder.rest, time=reminder.time),))
        return None

    def _at_a_time(self, text: str) -> Reading | None:
        """ "Schalte das Licht jeden Abend um zehn aus": the command without the time, as a schedule."""
        for one in timed_requests(text, self.language):
            reading = self._one(one.rest) or self._shared(one.rest)
            if reading and reading.calls and "set_reminder" in self.tools and all(map(_acts, reading.calls)):
                return Reading((tool_call("set_reminder", task=one.rest, time=one.time, **{RUNS: True}),))
        return None

    # --- several commands

    def _halves(self, text: str) -> Iterator[tuple[str, str]]:
        for found in re.finditer(own_file(self.language)["and_phrase"], text, re.IGNORECASE):
            first, second = text[: found.start()].strip(" ,"), text[found.end() :].strip(" ,")
            if first and second:
                yield first, second

    def _shared(self, text: str) -> Reading | None:
        """ "Schalte A und B ein": the same command for both."""
        for first, second in self._halves(text):
            before, after = first.split(), second.split()
            ends = range(1, min(_MAX_NAME_WORDS, len(after)) + 1)
            ones = [self._one(" ".join((*before, *after[length:]))) for length in ends]
            if not any(ones):
                continue
            starts = range(1, min(_MAX_NAME_WORDS, len(before)) + 1)
            others = [self._one(" ".join((*before[:-length], *after))) for length in starts]
            for one, two in itertools.product(filter(None, ones), filter(None, others)):
                if _differ_in_target(one, two):
                    return self._joined(one, two)
        return None

    # --- misspelt names

    def _with_known_names(self, text: str) -> Iterator[str]:
        """The text with a part that resembles a name replaced by it, the most similar first."""
        words = text.split()
        found: list[tuple[int, int, str]] = []
        for start, length in itertools.product(range(len(words)), range(1, _MAX_NAME_WORDS + 1)):
            part = words[start : start + length]
            said = _key(" ".join(part))
            if len(part) < length or len(said) < 5:
                continue
            for label in self.names.labels:
                name = _key(label)
                allowed = 2 if len(name) >= 8 else 1
                if abs(len(name) - len(said)) <= allowed and (distance := edit_distance(said, name)) <= allowed:
                    replaced = " ".join((*words[:start], label, *words[start + length :]))
                    if replaced.casefold() != text.casefold():
                        found.append((distance, len(found), replaced))
        least = min((distance for distance, _, _ in found), default=0)
        yield from (replaced for distance, _, replaced in sorted(found) if distance == least)


def _acts(call: ToolCall) -> bool:
    """Whether a call acts on something in the home at once."""
    tool = known_tools()[call.name]
    return tool.has_side_effects and tool.target_domains is not None


def _key(text: str) -> str:
    return re.sub(r"[\W_]+", "", fold(text).casefold())


def _differ_in_target(one: Reading, two: Reading) -> bool:
    """Whether two readings are the same command for different things."""
    if len(one.calls) != 1 or len(two.calls) != 1 or one.calls[0].name != two.calls[0].name:
        return False
    first, second = (_rest(json.loads(reading.calls[0].arguments)) for reading in (one, two))
    return first == second and one.calls[0].arguments != two.calls[0].arguments


def _rest(arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {slot: value for slot, value in arguments.items() if slot not in ("name", "area", "floor", "item", "domain")}
