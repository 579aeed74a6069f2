"""The tools for alarms and reminders: for when, which one is meant, and what to say of it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from edgevox.tools.home.agenda.alarms import Alarm, Alarms, Kind
from edgevox.tools.home.agenda.nicknames import called_so, kept_text, name_words
from edgevox.tools.home.agenda.said_time import SaidTime, When
from edgevox.tools.home.agenda.spoken_time import NotATime, read_time
from edgevox.tools.home.agenda.time_wording import clock_time, day_phrase, moment_phrase, repeat_phrase
from edgevox.tools.home.home import HomeError
from edgevox.tools.home.matching import Unclear
from edgevox.tools.home.names import words
from edgevox.tools.home.wording import brief, duration, listed, plural, sentence

_MOST_NAMED = 3
_SAME_MOMENT_S = 120
_QUESTIONS: dict[Kind, str] = {"alarm": "For what time?", "reminder": "When shall I remind you?"}
_NOTHING_SET = "No alarm is set."
_KIND_WORDS = re.compile(r"\b(alarm|reminder)s?\b", re.IGNORECASE)
_ALL = frozenset({"all", "every", "everything", "both"})
_COUNTS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def run_alarm(alarms: Alarms, tool: str, arguments: Mapping[str, Any]) -> str:
    """Raises HomeError and StateError."""
    match tool:
        case "set_alarm":
            return _set(alarms, "alarm", arguments.get("time"), kept_text(arguments.get("name")))
        case "set_reminder":
            task = kept_text(arguments.get("task"))
            if not task:
                raise Unclear("Of what shall I remind you?")
            return _set(alarms, "reminder", arguments.get("time"), task)
        case "cancel_alarm":
            return _cancel(alarms, arguments)
        case "alarm_status":
            return _status(alarms, arguments)
        case _:
            raise AssertionError(tool)


def time_phrase(alarm: Alarm, alarms: Alarms) -> str:
    """When it rings: "half past six tomorrow morning", "nine in the morning every weekend"."""
    now, meant = alarms.now(), alarm.meant(alarms.zone)
    phrase = repeat_phrase(meant, alarm.repeat) if alarm.repeat else moment_phrase(meant, now)
    if alarm.snoozed_until_s is not None:
        phrase += f", put off until {clock_time(alarm.rings(alarms.zone))}"
    return phrase


# --- setting


def _set(alarms: Alarms, kind: Kind, said: object, label: str) -> str:
    when = _when(alarms, kind, str(said or ""))
    alarm = _same(alarms, kind, when, label)
    if alarm is None and when.in_s is not None:
        alarm = alarms.set_in(kind, when.in_s, label=label)
    elif alarm is None:
        alarm = alarms.set(kind, when.wall, label=label, repeat=when.repeat)
    if kind == "reminder":
        at = f"in {duration(when.in_s)}" if when.in_s else f"at {time_phrase(alarm, alarms)}"
        return sentence(f"I will remind you {at}: {brief(label)}")
    at = f"rings in {duration(when.in_s)}" if when.in_s else f"is set for {time_phrase(alarm, alarms)}"
    return sentence(f"the {_called(alarm)} {at}")


def _when(alarms: Alarms, kind: Kind, said: str) -> When:
    question, said = _QUESTIONS[kind], _KIND_WORDS.sub(" ", said)
    if not said.strip():
        raise Unclear(question)
    now = alarms.now()
    try:
        when = read_time(said, now).when(now, kind)
    except NotATime as error:
        raise Unclear(f"{error.message} {question}") from error
    if kind == "alarm" and not when.has_time:
        raise Unclear("At what time?")
    return when


def _same(alarms: Alarms, kind: Kind, when: When, label: str) -> Alarm | None:
    """One that was set before for the same: people ask twice when they are not sure."""
    for alarm in alarms.all():
        is_same = (alarm.kind, alarm.label, alarm.repeat) == (kind, label, when.repeat)
        if is_same and when.in_s is None and alarms.rings_s(alarm) == when.at.timestamp():
            return alarm
    return None


# --- cancelling


def _cancel(alarms: Alarms, arguments: Mapping[str, Any]) -> str:
    there = alarms.all()
    if not there:
        raise HomeError(_NOTHING_SET)
    asked = _Asked(alarms, arguments)
    if asked.is_open and (ringing := [alarm for alarm in there if alarms.is_due(alarm)]):
        for alarm in ringing:
            alarms.done(alarm.id)
        return _gone(ringing, alarms, "off")
    found = asked.found(there)
    if not asked.kinds and not asked.name:  # "cancel my alarm" means no reminder, where there is an alarm
        found = tuple(alarm for alarm in found if alarm.kind == "alarm") or found
    if not found:
        raise HomeError(f"{asked.nothing_found} The next is {_item(there[0], alarms)}.")
    if len(found) > 1 and not asked.means_all:
        raise Unclear(f"Which one: {_items(found, alarms, 'or')}?")
    once = [alarm for alarm in found if not (alarm.repeat and asked.said.dates)]
    said = [_gone(once, alarms, "cancelled")] if once else []
    alarms.cancel(*once)
    again = [alarm for alarm in found if alarm not in once]
    return " ".join((*said, *(_skip(alarms, alarm, min(asked.days_of(alarm))) for alarm in again)))


def _skip(alarms: Alarms, alarm: Alarm, day: date) -> str:
    """Of one that repeats, only the day goes that was named."""
    off = f"is off {day_phrase(day, alarms.now())}"
    told = sentence(f"the {_called(alarm)} for {time_phrase(alarm, alarms)} {off}")
    alarms.skip(alarm, day)
    return told


# --- asking


def _status(alarms: Alarms, arguments: Mapping[str, Any]) -> str:
    there = alarms.all()
    if not there:
        return _NOTHING_SET
    asked = _Asked(alarms, arguments)
    if found := asked.found(there):
        return _told(found, alarms)
    return f"{asked.nothing_found} The next is {_item(there[0], alarms)}."


class _Asked:
    """Which ones were asked for. Raises NotATime."""

    def __init__(self, alarms: Alarms, arguments: Mapping[str, Any]) -> None:
        time, name = (str(arguments.get(slot) or "") for slot in ("time", "name"))
        self._zone, self._now = alarms.zone, alarms.now()
        self.kinds = frozenset(kind.casefold() for kind in _KIND_WORDS.findall(f"{time} {name}"))
        time_words, own_words = words(_KIND_WORDS.sub(" ", time)), name_words(name)
        self.name = tuple(word for word in own_words if word not in _ALL)
        is_all = own_words != self.name or bool(set(time_words) & _ALL and set(time_words) <= _ALL)
        self.said = read_time(_KIND_WORDS.sub(" ", time), self._now) if set(time_words) - _ALL else SaidTime()
        self.means_all = is_all or bool(self.said.dates and not self.said.minutes)
        self.is_open = not (self.kinds or self.name or is_all) and self.said == SaidTime()

    @property
    def nothing_found(self) -> str:
        return "Nothing of that name is set." if self.name else "Nothing is set for then."

    def found(self, there: Sequence[Alarm]) -> tuple[Alarm, ...]:
        found = tuple(
            alarm for alarm in there if self._fits(alarm) and (not self.kinds or alarm.kind in self.kinds)
        )
        return called_so(self.name, found, lambda alarm: alarm.label) if self.name else found

    def _fits(self, alarm: Alarm) -> bool:
        said, meant = self.said, alarm.meant(self._zone)
        if said.in_s is not None:
            return abs(meant.timestamp() - self._now.timestamp() - said.in_s) <= _SAME_MOMENT_S
        if said.repeat and alarm.repeat != said.repeat:
            return False
        return said.shows(meant) and (not said.dates or bool(self.days_of(alarm)))

    def days_of(self, alarm: Alarm) -> tuple[date, ...]:
        """The days that were named, as far as it rings on them."""
        at = alarm.meant(self._zone).time()
        return tuple(day for day in self.said.dates_at(at) if alarm.rings_on(day, self._zone))


# --- wording


def _called(alarm: Alarm) -> str:
    """ "alarm", "airport alarm", "reminder"."""
    name = alarm.label.casefold().removesuffix("alarm").strip()
    return f"{brief(name)} alarm" if name and alarm.kind == "alarm" else alarm.kind


def _item(alarm: Alarm, alarms: Alarms) -> str:
    """ "half past six tomorrow morning", "call mum at six this evening"."""
    phrase = time_phrase(alarm, alarms)
    return f"{brief(alarm.label)} at {phrase}" if alarm.label else phrase


def _gone(found: Sequence[Alarm], alarms: Alarms, state: str) -> str:
    """What has become of them: "The alarm for seven tomorrow morning is cancelled." """
    if len(found) > 1:
        kinds = {alarm.kind for alarm in found}
        nouns = plural(kinds.pop()) if len(kinds) == 1 else "alarms and reminders"
        return sentence(f"{_number(len(found))} {nouns} are {state}")
    (alarm,) = found
    if alarm.kind == "reminder":
        return sentence(f"the reminder is {state}: {_item(alarm, alarms)}")
    return sentence(f"the {_called(alarm)} for {time_phrase(alarm, alarms)} is {state}")


def _told(found: Sequence[Alarm], alarms: Alarms) -> str:
    """ "There are two alarms: … and …. There is one reminder: …" """
    sentences = []
    for kind in _QUESTIONS:
        of_kind = [alarm for alarm in found if alarm.kind == kind]
        if of_kind:
            there = "there is one" if len(of_kind) == 1 else f"there are {_number(len(of_kind))}"
            noun = kind if len(of_kind) == 1 else plural(kind)
            sentences.append(sentence(f"{there} {noun}: {_items(of_kind, alarms, 'and')}"))
    return " ".join(sentences)


def _items(found: Sequence[Alarm], alarms: Alarms, last: str) -> str:
    items = [_item(alarm, alarms) for alarm in found[:_MOST_NAMED]]
    if len(found) > _MOST_NAMED:
        items.append(f"{_number(len(found) - _MOST_NAMED)} more")
    return listed(items, last)


def _number(count: int) -> str:
    return _COUNTS[count] if count < len(_COUNTS) else str(count)
