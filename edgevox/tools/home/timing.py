"""The tools for timers: which one is meant, and what to say of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from edgevox.tools.home.home import HomeError
from edgevox.tools.home.matching import Unclear
from edgevox.tools.home.names import are_same, words
from edgevox.tools.home.timers import Timer, Timers
from edgevox.tools.home.wording import brief, counted, duration, listed, sentence

_MOST_NAMED = 4
_MAX_COMMAND_CHARS = 200


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
            timer = _only(timers, arguments)
            timers.cancel(timer)
            return sentence(f"the {timer.called} is cancelled")
        case "pause_timer":
            timer = timers.pause(_only(timers, arguments))
            return sentence(f"the {timer.called} is paused with {_left(timers, timer)} left")
        case "unpause_timer":
            timer = timers.resume(_only(timers, arguments))
            return sentence(f"the {timer.called} goes on, with {_left(timers, timer)} left")
        case "increase_timer" | "decrease_timer":
            seconds = _seconds(arguments)
            if not seconds:
                raise Unclear("By how much?")
            change = seconds if tool == "increase_timer" else -seconds
            timer = timers.extend(_only(timers, arguments), change)
            return sentence(f"the {timer.called} has {_left(timers, timer)} left")
        case _:
            raise AssertionError(tool)


def _start(timers: Timers, arguments: Mapping[str, Any]) -> str:
    seconds = _seconds(arguments)
    if not seconds:
        raise Unclear("For how long?")
    name = brief(str(arguments.get("name") or ""))
    command = " ".join(str(arguments.get("conversation_command") or "").split())[:_MAX_COMMAND_CHARS]
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
    parts = [
        f"the {timer.called} {'is paused with' if timer.is_paused else 'has'} {_left(timers, timer)} left"
        for timer in found[:_MOST_NAMED]
    ]
    more = f", and there are {len(found) - _MOST_NAMED} more" if len(found) > _MOST_NAMED else ""
    return sentence(listed(parts, "and") + more)


def _only(timers: Timers, arguments: Mapping[str, Any]) -> Timer:
    found = _matching(timers, arguments)
    if len(found) > 1:
        names = [f"the {timer.called}" for timer in found[:_MOST_NAMED]]
        raise Unclear(f"Which one: {listed(names, 'or')}?")
    return found[0]


def _matching(timers: Timers, arguments: Mapping[str, Any]) -> tuple[Timer, ...]:
    """The timers that are meant, at least one. An area is taken for a part of the name. Raises HomeError."""
    running = timers.all()
    if not running:
        raise HomeError("No timer is running.")
    found = running
    if length_s := _seconds(arguments, "start_"):
        found = tuple(timer for timer in found if timer.length_s == length_s)
    for said in (arguments.get("name"), arguments.get("area")):
        if wanted := tuple(word for word in words(said or "") if word != "timer"):
            found = _called_so(wanted, found)
    if not found:
        names = [f"the {timer.called}" for timer in running[:_MOST_NAMED]]
        raise HomeError(sentence(f"there is no such timer, only {listed(names, 'and')}"))
    return found


def _called_so(wanted: tuple[str, ...], timers: tuple[Timer, ...]) -> tuple[Timer, ...]:
    same = tuple(timer for timer in timers if are_same(wanted, _name_words(timer)))
    return same or tuple(timer for timer in timers if set(wanted) <= set(_name_words(timer)))


def _name_words(timer: Timer) -> tuple[str, ...]:
    return tuple(word for word in words(timer.name) if word != "timer")


def _seconds(arguments: Mapping[str, Any], prefix: str = "") -> int:
    return sum(
        int(arguments.get(prefix + slot) or 0) * seconds
        for slot, seconds in (("hours", 3600), ("minutes", 60), ("seconds", 1))
    )


def _left(timers: Timers, timer: Timer) -> str:
    return duration(timers.remaining_s(timer))
