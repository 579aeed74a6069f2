"""The tools for timers: which one is meant, and what to say of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from edgevox.tools.home.agenda.nicknames import called_so, kept_text, name_words
from edgevox.tools.home.agenda.timers import Timer, Timers
from edgevox.tools.home.home import HomeError
from edgevox.tools.home.matching import Unclear
from edgevox.tools.home.names import Words
from edgevox.tools.home.wording import brief, counted, duration, listed, sentence

_MOST_NAMED = 4
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth")
# As words() writes them.
_PLACES = {str(number): number - 1 for number in range(1, 10)} | {"last": -1, "latest": -1}


def run_timer(timers: Timers, tool: str, arguments: Mapping[str, Any]) -> str:
    """Raises HomeError and StateError."""
    match tool:
        case "start_timer":
            return _start(timers, arguments)
        case "cancel_all_timers":
            return _cancel_all(timers)
        case "timer_status":
            return _status(timers, arguments)
        case "cancel_timer":
            timer = _only(timers, tool, arguments)
            timers.cancel(timer)
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
                raise Unclear("By how much?")
            change = seconds if tool == "increase_timer" else -seconds
            timer = timers.extend(_only(timers, tool, arguments), change)
            return sentence(f"the {timer.called} has {_left(timers, timer)} left")
        case _:
            raise AssertionError(tool)


def _start(timers: Timers, arguments: Mapping[str, Any]) -> str:
    seconds = _seconds(arguments)
    if not seconds:
        raise Unclear("For how long?")
    name, command = (kept_text(arguments.get(slot)) for slot in ("name", "conversation_command"))
    timer = timers.start(seconds, name=name, command=command)
    if command:
        return sentence(f"in {duration(seconds)} I will {brief(command)}")
    return sentence(f"the {timer.called} is set" + (f" for {duration(seconds)}" if name else ""))


def _cancel_all(timers: Timers) -> str:
    running = timers.all()
    if not running:
        raise HomeError("No timer is running.")
    timers.cancel(*running)
    return f"{counted(len(running), 'timer')} cancelled."


def _status(timers: Timers, arguments: Mapping[str, Any]) -> str:
    found = _matching(timers, arguments)
    names = _names(timers, found)
    parts = [f"{names[timer.id]} {_state(timers, timer)}" for timer in found[:_MOST_NAMED]]
    more = f", and there are {len(found) - _MOST_NAMED} more" if len(found) > _MOST_NAMED else ""
    return sentence(listed(parts, "and") + more)


def _state(timers: Timers, timer: Timer) -> str:
    if timer.is_due(timers.now_s()):
        return "is done"
    return f"{'is paused with' if timer.is_paused else 'has'} {_left(timers, timer)} left"


# --- which one


def _only(timers: Timers, tool: str, arguments: Mapping[str, Any]) -> Timer:
    """The one that is meant. Raises HomeError, and Unclear with a question."""
    found = _matching(timers, arguments)
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
        case _:  # what rings is what one speaks of
            fitting = tuple(timer for timer in found if timer.is_due(now_s)) or found
    if len(fitting) > 1:
        names = _names(timers, fitting)
        raise Unclear(f"Which one: {listed(list(names.values())[:_MOST_NAMED], 'or')}?")
    return fitting[0]


def _matching(timers: Timers, arguments: Mapping[str, Any]) -> tuple[Timer, ...]:
    """The timers that are meant, at least one. An area is taken for a part of the name. Raises HomeError."""
    running = timers.all()
    if not running:
        raise HomeError("No timer is running.")
    found = running
    if length_s := _seconds(arguments, "start_"):
        found = tuple(timer for timer in found if timer.length_s == length_s)
    for said in (arguments.get("name"), arguments.get("area")):
        if wanted := name_words(said):
            found = _called_so(timers, wanted, found)
    if not found:
        names = list(_names(timers, running).values())
        raise HomeError(sentence(f"there is no such timer, only {listed(names[:_MOST_NAMED], 'and')}"))
    return found


def _called_so(timers: Timers, wanted: Words, found: tuple[Timer, ...]) -> tuple[Timer, ...]:
    """By name ("pasta"), by length ("10 minutes"), by the order of their start ("the second")."""
    named = called_so(wanted, found, lambda timer: timer.name)
    if not named and len(wanted) > 1:  # "the first" is not the 1 minute timer
        named = called_so(wanted, found, lambda timer: duration(timer.length_s))
    place = _PLACES.get(wanted[0])
    if named or place is None:
        return named
    rest = tuple(word for word in wanted[1:] if word != "1")  # "the second one"
    among = called_so(rest, found, lambda timer: timer.name) if rest else found
    in_order = [timer for timer in timers.in_order_of_start() if timer in among]
    return tuple(in_order[place:][:1])


def _names(timers: Timers, found: tuple[Timer, ...]) -> dict[str, str]:
    """How to speak of each: "the pasta timer", and where two are called alike "the first 10 minute timer"."""
    names = {}
    for timer in found:
        alike = [other.id for other in timers.in_order_of_start() if other.called == timer.called]
        place = f"{_ORDINALS[alike.index(timer.id)]} " if 1 < len(alike) <= len(_ORDINALS) else ""
        names[timer.id] = f"the {place}{timer.called}"
    return names


def _seconds(arguments: Mapping[str, Any], prefix: str = "") -> int:
    return sum(
        int(arguments.get(prefix + slot) or 0) * seconds
        for slot, seconds in (("hours", 3600), ("minutes", 60), ("seconds", 1))
    )


def _left(timers: Timers, timer: Timer) -> str:
    return duration(timers.remaining_s(timer))
