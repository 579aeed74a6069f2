"""Handlers of the timer, alarm and reminder intents: find the one that is meant, change it, word the answer."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import date, time
from typing import Any

from edgevox.core.languages import counted, duration, listed, plural
from edgevox.core.turn import LOCAL, Caller
from edgevox.core.types import JsonObject
from edgevox.core.words import NUMBER_WORDS, ORDINAL_WORDS, Words, normalized_words
from edgevox.home.alarms.alarms import Alarm, Alarms, Kind, person_of
from edgevox.home.alarms.time_expression import TimeExpression, When
from edgevox.home.alarms.time_parser import InvalidTime, parse_time
from edgevox.home.alarms.time_phrasing import clock_time, day_phrase, days_phrase, moment_phrase, repeat_phrase
from edgevox.home.alarms.time_tokens import WEEKDAY_NUMBERS
from edgevox.home.alarms.timers import Timer, Timers, remote
from edgevox.home.entities import HomeError
from edgevox.home.phrasing import brief, sentence
from edgevox.home.resolve.fuzzy import find_by_words
from edgevox.home.resolve.target_resolver import ClarificationNeeded

NOTHING_SET = "No alarm is set."
TIMER_ID = "id"
"""The slot with the id of the timer or alarm that is meant. No model is trained on it: TimerRules fills it."""
RUNS = "runs"
"""The slot of set_reminder that makes the task a command to run. No model is trained on it: CommandClauses fills it."""

CHANGE_SLOTS: JsonObject = {
    TIMER_ID: {"type": "string"},
    "days": {"type": "array", "items": {"type": "integer", "minimum": 0, "maximum": 6}},
    "is_on": {"type": "boolean"},
}
"""The slots of set_alarm that change one that is set: its id, its weekdays (0 is Monday), and whether it rings; `name`
is its new label then.

No model is trained on them: the web page fills them."""

_MAX_CHARS = 200
# Words that do not distinguish one timer or alarm from another.
_KINDS = frozenset({"timer", "alarm", "reminder", "schedule"})


def checked_label(said: object) -> str:
    """The label to store. Raises HomeError if it is too long: a part could neither be run nor forgotten."""
    text = " ".join(str(said or "").split())
    if len(text) > _MAX_CHARS:
        raise HomeError("That is too long for me to remember.")
    return text


def label_words(name: str | None) -> Words:
    """The distinctive words of a name."""
    return tuple(word for word in normalized_words(name or "") if word not in _KINDS)


_MAX_NAMED_TIMERS = 4
# Ordinals as normalized_words() writes them.
_PLACES = {str(number): number - 1 for number in range(1, 10)} | {"last": -1, "latest": -1}


def run_timer(timers: Timers, tool: str, arguments: Mapping[str, Any], caller: Caller = LOCAL) -> str:
    """Raises HomeError and StateError."""
    match tool:
        case "start_timer":
            return _start_timer(timers, arguments, caller)
        case "cancel_all_timers":
            running = _matching_timers(timers, {})
            timers.cancel(*running)
            return f"{counted(len(running), 'timer')} cancelled."
        case "timer_status":
            return _timer_status(timers, arguments)
        case "cancel_timer":
            timer = _only(timers, tool, arguments)
            timers.cancel(timer)
            if timer.command:
                return sentence(f"cancelled: {brief(timer.command)}")
            return sentence(f"the {timer.called} is cancelled")
        case "pause_timer":
            timer = timers.pause(_only(timers, tool, arguments))
            return sentence(f"the {timer.called} is paused with {_left(timers, timer)} left")
        case "unpause_timer":
            timer = timers.resume(_only(timers, tool, arguments))
            return sentence(f"the {timer.called} goes on, with {_left(timers, timer)} left")
        case "increase_timer" | "decrease_timer":
            seconds = _seconds(arguments)
            if not seconds:
                raise ClarificationNeeded("By how much?")
            change = seconds if tool == "increase_timer" else -seconds
            timer = timers.extend(_only(timers, tool, arguments), change)
            return sentence(f"the {timer.called} has {_left(timers, timer)} left")
        case _:
            raise AssertionError(tool)


def _start_timer(timers: Timers, arguments: Mapping[str, Any], caller: Caller) -> str:
    if arguments.get(TIMER_ID):
        timer = _only(timers, "start_timer", {TIMER_ID: arguments[TIMER_ID]})
        renamed = timers.rename(timer, checked_label(arguments.get("name")))
        return sentence(f"it is the {renamed.called} now")
    seconds = _seconds(arguments)
    if not seconds:
        raise ClarificationNeeded("For how long?")
    name, command = (checked_label(arguments.get(slot)) for slot in ("name", "conversation_command"))
    timer = timers.start(seconds, name=name, command=command, caller=caller)
    if command:
        return sentence(f"in {duration(seconds)} I will {brief(command)}")
    return sentence(f"the {timer.called} is set" + (f" for {duration(seconds)}" if name else ""))


def _timer_status(timers: Timers, arguments: Mapping[str, Any]) -> str:
    found = _matching_timers(timers, arguments)
    names = _names(timers, found)
    parts = [_status_of(timers, timer, names[timer.id]) for timer in found[:_MAX_NAMED_TIMERS]]
    more = f", and there are {len(found) - _MAX_NAMED_TIMERS} more" if len(found) > _MAX_NAMED_TIMERS else ""
    return sentence(listed(parts, "and") + more)


def _status_of(timers: Timers, timer: Timer, name: str) -> str:
    if timer.command and not timer.is_paused and not timer.is_due(timers.now_s()):
        return f"in {_left(timers, timer)} I will {brief(timer.command)}"
    return f"{name} {_state(timers, timer)}"


def _state(timers: Timers, timer: Timer) -> str:
    if timer.is_due(timers.now_s()):
        return "is done"
    return f"{'is paused with' if timer.is_paused else 'has'} {_left(timers, timer)} left"


# --- selection


def _only(timers: Timers, tool: str, arguments: Mapping[str, Any]) -> Timer:
    """The one timer that is meant. Raises HomeError, and ClarificationNeeded with a question."""
    found = _matching_timers(timers, arguments)
    now_s = timers.now_s()
    match tool:
        case "unpause_timer":
            fitting = tuple(timer for timer in found if timer.is_paused)
            if not fitting:
                raise HomeError("No timer is paused.")
        case "pause_timer":
            fitting = tuple(timer for timer in found if not timer.is_paused and not timer.is_due(now_s))
            if not fitting:
                state = "paused" if found[0].is_paused else "done"
                raise HomeError(sentence(f"the {found[0].called} is {state} already"))
        case _:  # a ringing timer is the one that is meant
            fitting = tuple(timer for timer in found if timer.is_due(now_s)) or found
    if len(fitting) > 1:
        names = _names(timers, fitting)
        raise ClarificationNeeded(f"Which one: {listed(list(names.values())[:_MAX_NAMED_TIMERS], 'or')}?")
    return fitting[0]


def _matching_timers(timers: Timers, arguments: Mapping[str, Any]) -> tuple[Timer, ...]:
    """The timers that are meant, at least one. An area counts as part of the name. Raises HomeError."""
    running = timers.all()
    if not running:
        raise HomeError("No timer is running.")
    found = running
    if timer_id := arguments.get(TIMER_ID):
        found = tuple(timer for timer in found if timer.id == timer_id)
    if length_s := _seconds(arguments, "start_"):
        found = tuple(timer for timer in found if timer.length_s == length_s)
    for said in (arguments.get("name"), arguments.get("area")):
        if wanted := label_words(said):
            found = _called_so(timers, wanted, found)
    if not found:
        names = list(_names(timers, running).values())
        raise HomeError(sentence(f"there is no such timer, only {listed(names[:_MAX_NAMED_TIMERS], 'and')}"))
    return found


def _called_so(timers: Timers, wanted: Words, found: tuple[Timer, ...]) -> tuple[Timer, ...]:
    """Match by name ("pasta"), by length ("10 minutes"), or by order of start ("the second")."""
    named = find_by_words(wanted, found, lambda timer: label_words(timer.name))
    if not named and len(wanted) > 1:  # "the first" is not the 1 minute timer
        named = find_by_words(wanted, found, lambda timer: label_words(duration(timer.length_s)))
    place = _PLACES.get(wanted[0])
    if named or place is None:
        return named
    rest = tuple(word for word in wanted[1:] if word != "1")  # "the second one"
    among = find_by_words(rest, found, lambda timer: label_words(timer.name)) if rest else found
    in_order = [timer for timer in timers.in_order_of_start() if timer in among]
    return tuple(in_order[place:][:1])


def _names(timers: Timers, found: tuple[Timer, ...]) -> dict[str, str]:
    """The spoken name of each: "the pasta timer"; for equal names "the first 10 minute timer"."""
    names = {}
    for timer in found:
        alike = [other.id for other in timers.in_order_of_start() if other.called == timer.called]
        place = f"{ORDINAL_WORDS[alike.index(timer.id)]} " if 1 < len(alike) <= len(ORDINAL_WORDS) else ""
        names[timer.id] = f"the {place}{timer.called}"
    return names


def _seconds(arguments: Mapping[str, Any], prefix: str = "") -> int:
    return sum(
        int(arguments.get(prefix + slot) or 0) * seconds
        for slot, seconds in (("hours", 3600), ("minutes", 60), ("seconds", 1))
    )


def length_slots(seconds: float, prefix: str = "") -> dict[str, int]:
    """The slots of a duration; the inverse of `_seconds`."""
    minutes, left = divmod(round(seconds), 60)
    parts = {"hours": minutes // 60, "minutes": minutes % 60, "seconds": left}
    return {f"{prefix}{unit}": count for unit, count in parts.items() if count}


def _left(timers: Timers, timer: Timer) -> str:
    return duration(timers.remaining_s(timer))


_MAX_NAMED_ALARMS = 3
_MAX_COUNT_IN_WORDS = 10
_SAME_MOMENT_S = 120
_QUESTIONS: dict[Kind, str] = {
    "alarm": "For what time?",
    "reminder": "When shall I remind you?",
    "schedule": "At what time?",
}
_KIND_WORDS = re.compile(r"\b(alarm|reminder|schedule)s?\b", re.IGNORECASE)
_ALL = frozenset({"all", "every", "everything", "both"})


def run_alarm(alarms: Alarms, tool: str, arguments: Mapping[str, Any], caller: Caller = LOCAL) -> str:
    """Raises HomeError and StateError."""
    match tool:
        case "set_alarm" if arguments.get(TIMER_ID):
            return _change_alarm(alarms, arguments)
        case "set_alarm":
            return _set_alarm(alarms, "alarm", *_days_of_name(alarms, arguments), caller)
        case "set_reminder":
            task = checked_label(arguments.get("task"))
            if not task:
                raise ClarificationNeeded("Of what shall I remind you?")
            kind: Kind = "schedule" if arguments.get(RUNS) else "reminder"
            return _set_alarm(alarms, kind, arguments.get("time"), task, caller)
        case "cancel_alarm":
            return _cancel_alarm(alarms, arguments)
        case "alarm_status":
            return _alarm_status(alarms, arguments, caller)
        case _:
            raise AssertionError(tool)


def time_phrase(alarm: Alarm, alarms: Alarms) -> str:
    """The spoken time: "half past six tomorrow morning", "nine in the morning every weekend"."""
    now, meant = alarms.now(), alarm.meant(alarms.zone)
    if alarm.sun is not None:
        return f"{alarm.sun.phrase} {days_phrase(alarm.repeat)}".rstrip()
    phrase = repeat_phrase(meant, alarm.repeat) if alarm.repeat else moment_phrase(meant, now)
    if alarm.snoozed_until_s is not None:
        phrase += f", put off until {clock_time(alarm.rings(alarms.zone))}"
    return phrase


def at_phrase(alarm: Alarm, alarms: Alarms) -> str:
    """The same with its preposition: "at sunset every day", "30 minutes before sunset every day"."""
    phrase = time_phrase(alarm, alarms)
    return phrase if alarm.sun and alarm.sun.offset_minutes else f"at {phrase}"


# --- setting


def _set_alarm(alarms: Alarms, kind: Kind, said: object, label: str, caller: Caller) -> str:
    when = _when(alarms, kind, str(said or ""))
    alarm = _same(alarms, kind, when, label, caller)
    if alarm is None and when.in_s is not None:
        alarm = alarms.set_in(kind, when.in_s, label=label, caller=caller)
    elif alarm is None:
        sun = when.sun if when.repeat else None
        alarm = alarms.set(kind, when.wall, label=label, repeat=when.repeat, sun=sun, caller=caller)
    if kind != "alarm":
        at = f"in {duration(when.in_s)}" if when.in_s else at_phrase(alarm, alarms)
        if kind == "schedule":
            return sentence(f"{at} I will {brief(label)}")
        return sentence(f"I will remind you {at}: {brief(label)}")
    at = f"rings in {duration(when.in_s)}" if when.in_s else f"is set for {time_phrase(alarm, alarms)}"
    return sentence(f"the {_called(alarm)} {at}")


def _change_alarm(alarms: Alarms, arguments: Mapping[str, Any]) -> str:
    """Change the time (24 hours, "" keeps it), the label, the days, or whether it rings. Raises HomeError."""
    alarm = next((one for one in alarms.with_those_off() if one.id == arguments[TIMER_ID]), None)
    if alarm is None:
        raise HomeError("That is not set any more.")
    try:
        at = time.fromisoformat(said) if (said := str(arguments.get("time") or "")) else None
    except ValueError:
        raise ClarificationNeeded(_QUESTIONS[alarm.kind]) from None
    label = checked_label(arguments.get("name", alarm.label))
    if alarm.kind == "schedule" and label != alarm.label:  # it has the rights of the one who set it up
        raise HomeError("Cancel this command, and say the other one.")
    if alarm.kind == "reminder" and not label:
        raise ClarificationNeeded("Of what shall I remind you?")
    repeat = tuple(sorted(set(arguments.get("days", alarm.repeat))))
    changed = alarms.change(alarm, at=at, label=label, repeat=repeat, is_on=arguments.get("is_on", alarm.is_on))
    if not changed.is_on:
        return sentence(f"the {_called(changed)} is off")
    return sentence(f"the {_called(changed)} is set for {time_phrase(changed, alarms)}")


def _days_of_name(alarms: Alarms, arguments: Mapping[str, Any]) -> tuple[str, str]:
    """The time and the name of an alarm; a name that says the days it repeats on belongs to its time."""
    said, name = str(arguments.get("time") or ""), checked_label(arguments.get("name"))
    days = _KIND_WORDS.sub(" ", name).strip()
    for when in (f"every {days} {said}", f"{days} {said}") if days and said else ():
        with suppress(HomeError):  # a name
            expression = parse_time(when, alarms.now())
            is_one_day = days.casefold() in WEEKDAY_NUMBERS
            if parse_time(said, alarms.now()).has_days:
                break
            if expression.minutes and (expression.dates if is_one_day else expression.repeat):
                return when, ""
    return said, name


def _when(alarms: Alarms, kind: Kind, said: str) -> When:
    question, said = _QUESTIONS[kind], _KIND_WORDS.sub(" ", said)
    if not said.strip():
        raise ClarificationNeeded(question)
    now = alarms.now()
    try:
        when = parse_time(said, now).when(now, kind, alarms.sun_times)
    except InvalidTime as error:
        raise ClarificationNeeded(f"{error.message} {question}") from error
    if kind != "reminder" and not when.has_time:
        raise ClarificationNeeded("At what time?")
    return when


def _same(alarms: Alarms, kind: Kind, when: When, label: str, caller: Caller) -> Alarm | None:
    """An equal alarm that is already set: people repeat a request when they are not sure.

    A schedule is equal only if it runs with the same scopes.
    """
    owner = remote(caller) if kind == "schedule" else None, person_of(kind, caller)
    wanted = kind, label, when.repeat, when.at.timestamp(), *owner
    same = (
        one
        for one in alarms.all()
        if (one.kind, one.label, one.repeat, alarms.rings_s(one), one.caller, one.person) == wanted
    )
    return next(same, None) if when.in_s is None else None


# --- cancelling


def _cancel_alarm(alarms: Alarms, arguments: Mapping[str, Any]) -> str:
    there = _rung(alarms)
    if not there:
        raise HomeError(NOTHING_SET)
    asked = _AlarmQuery(alarms, arguments)
    if asked.is_open and (ringing := [alarm for alarm in there if alarms.is_due(alarm)]):
        for alarm in ringing:
            alarms.done(alarm.id)
        return _gone(ringing, alarms, "off")
    found = asked.found(there)
    if not asked.kinds and not asked.name:  # "cancel my alarm" does not mean a reminder if there is an alarm
        found = tuple(alarm for alarm in found if alarm.kind == "alarm") or found
    if not found:
        raise HomeError(f"{asked.nothing_found} The next is {_item(there[0], alarms)}.")
    if len(found) > 1 and not asked.means_all:
        raise ClarificationNeeded(f"Which one: {_items(found, alarms, 'or')}?")
    once = [alarm for alarm in found if not (alarm.repeat and asked.said.dates)]
    said = [_gone(once, alarms, "cancelled")] if once else []
    alarms.cancel(*once)
    for alarm in found:
        if alarm not in once:  # only the named day of a repeating alarm
            day = min(asked.days_of(alarm))
            off = f"is off {day_phrase(day, alarms.now())}"
            said.append(sentence(f"the {_called(alarm)} for {time_phrase(alarm, alarms)} {off}"))
            alarms.skip(alarm, day)
    return " ".join(said)


# --- queries


def _alarm_status(alarms: Alarms, arguments: Mapping[str, Any], caller: Caller) -> str:
    asks = person_of("reminder", caller)
    # A person hears of no other person's reminders; a voice that is not known hears of all.
    there = tuple(alarm for alarm in _rung(alarms) if not asks or alarm.person in ("", asks))
    if not there:
        return NOTHING_SET
    asked = _AlarmQuery(alarms, arguments)
    if found := asked.found(there):
        return _announced(found, alarms)
    return f"{asked.nothing_found} The next is {_item(there[0], alarms)}."


def _rung(alarms: Alarms) -> tuple[Alarm, ...]:
    """Those that ring: alarms and reminders. Schedules are answered for in edgevox.home.alarms.scheduled_commands."""
    return tuple(alarm for alarm in alarms.all() if alarm.kind != "schedule")


def names_schedules(arguments: Mapping[str, Any]) -> bool:
    """Whether a call is about scheduled commands."""
    said = " ".join(str(arguments.get(slot) or "") for slot in ("time", "name"))
    return any(kind.casefold() == "schedule" for kind in _KIND_WORDS.findall(said))


def means_all(name: str) -> bool:
    return not _ALL.isdisjoint(normalized_words(name))


class _AlarmQuery:
    """The filter in a request. Raises InvalidTime."""

    def __init__(self, alarms: Alarms, arguments: Mapping[str, Any]) -> None:
        time, name = (str(arguments.get(slot) or "") for slot in ("time", "name"))
        self._zone, self._now = alarms.zone, alarms.now()
        self.kinds = frozenset(kind.casefold() for kind in _KIND_WORDS.findall(f"{time} {name}"))
        time_words, own_words = normalized_words(_KIND_WORDS.sub(" ", time)), label_words(name)
        self.name = tuple(word for word in own_words if word not in _ALL)
        is_all = own_words != self.name or bool(set(time_words) & _ALL and set(time_words) <= _ALL)
        self.said = parse_time(_KIND_WORDS.sub(" ", time), self._now) if set(time_words) - _ALL else TimeExpression()
        self.means_all = is_all or bool(self.said.dates and not self.said.minutes)
        self.is_open = not (self.kinds or self.name or is_all) and self.said == TimeExpression()

    @property
    def nothing_found(self) -> str:
        return "Nothing of that name is set." if self.name else "Nothing is set for then."

    def found(self, there: Sequence[Alarm]) -> tuple[Alarm, ...]:
        found = tuple(alarm for alarm in there if self._fits(alarm) and (not self.kinds or alarm.kind in self.kinds))
        return find_by_words(self.name, found, lambda alarm: label_words(alarm.label)) if self.name else found

    def _fits(self, alarm: Alarm) -> bool:
        said, meant = self.said, alarm.meant(self._zone)
        if said.in_s is not None:
            return abs(meant.timestamp() - self._now.timestamp() - said.in_s) <= _SAME_MOMENT_S
        if said.repeat and alarm.repeat != said.repeat:
            return False
        return said.shows(meant) and (not said.dates or bool(self.days_of(alarm)))

    def days_of(self, alarm: Alarm) -> tuple[date, ...]:
        """The named days on which it rings."""
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
    return f"{brief(alarm.label)} {at_phrase(alarm, alarms)}" if alarm.label else phrase


def _gone(found: Sequence[Alarm], alarms: Alarms, state: str) -> str:
    """The new state: "The alarm for seven tomorrow morning is cancelled." """
    if len(found) > 1:
        kinds = {alarm.kind for alarm in found}
        nouns = plural(kinds.pop()) if len(kinds) == 1 else "alarms and reminders"
        return sentence(f"{_number(len(found))} {nouns} are {state}")
    (alarm,) = found
    if alarm.kind == "reminder":
        return sentence(f"the reminder is {state}: {_item(alarm, alarms)}")
    return sentence(f"the {_called(alarm)} for {time_phrase(alarm, alarms)} is {state}")


def _announced(found: Sequence[Alarm], alarms: Alarms) -> str:
    """ "There are two alarms: … and …. There is one reminder: …" """
    sentences = []
    for kind in ("alarm", "reminder"):
        of_kind = [alarm for alarm in found if alarm.kind == kind]
        if of_kind:
            there = "there is one" if len(of_kind) == 1 else f"there are {_number(len(of_kind))}"
            noun = kind if len(of_kind) == 1 else plural(kind)
            sentences.append(sentence(f"{there} {noun}: {_items(of_kind, alarms, 'and')}"))
    return " ".join(sentences)


def _items(found: Sequence[Alarm], alarms: Alarms, last: str) -> str:
    items = [_item(alarm, alarms) for alarm in found[:_MAX_NAMED_ALARMS]]
    if len(found) > _MAX_NAMED_ALARMS:
        items.append(f"{_number(len(found) - _MAX_NAMED_ALARMS)} more")
    return listed(items, last)


def _number(count: int) -> str:
    return NUMBER_WORDS[count] if count <= _MAX_COUNT_IN_WORDS else str(count)
