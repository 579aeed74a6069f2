"""Says what was asked and done before: "I turned on the desk lamp and added eggs to the shopping list." """

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from edgevox.core.languages import counted, duration, listed
from edgevox.core.types import Message
from edgevox.home.alarms.time_phrasing import moment_phrase
from edgevox.home.entities import Entities
from edgevox.home.phrasing import brief, number, sentence, the
from edgevox.home.references.effects import Effect, TurnEffects

_MAX_NAMED = 3
_MAX_DEEDS = 4


def what_was_asked(past: Sequence[Message]) -> str:
    """The answer to "what did I just ask?"."""
    asked = next((message.content for message in reversed(past) if message.role == "user"), "")
    return f"You said: “{brief(asked)}”." if asked else "You have not asked me anything yet."


def what_was_said(past: Sequence[Message]) -> str:
    """The answer to "say that again"."""
    said = (message.content for message in reversed(past) if message.role == "assistant" and message.content)
    return next(said, "") or "I have not said anything yet."


def what_was_done_last(turns: Sequence[TurnEffects], past_tense: str) -> str:
    """The last action of one kind: "turned off"; "" if there was none."""
    for turn in reversed(turns):
        if found := [effect for effect in turn.done if deed(effect).startswith(past_tense)]:
            return _deeds(found)
    return ""


def what_was_done(turns: Sequence[TurnEffects]) -> str:
    """The answer to "what did you just do?"."""
    with_calls = [turn for turn in turns if turn.effects]
    if not with_calls:
        return "I have not done anything yet."
    last = with_calls[-1]
    sentences = [_deeds(last.done)] if last.done else []
    sentences += [f"One thing did not work: {effect.sentence}" for effect in last.effects if _has_failed(effect)]
    if sentences:
        return " ".join(sentences)
    earlier = next((turn for turn in reversed(with_calls) if turn.done), None)
    answered = "I only answered a question."
    return f"{answered} Before that, {_deeds(earlier.done)}" if earlier else answered


def what_was_done_today(turns: Sequence[TurnEffects], now: datetime, started: datetime) -> str:
    """The answer to "what have you done today?"."""
    midnight_s = now.replace(hour=0, minute=0, second=0, microsecond=0).timestamp()
    today = [turn for turn in turns if turn.at_s >= midnight_s]
    actions = [effect for turn in today for effect in turn.done]
    failed = sum(_has_failed(effect) for turn in today for effect in turn.effects)
    since = "" if started.timestamp() < midnight_s else f" since I was started at {moment_phrase(started, now)}"
    if not actions:
        sentences = [f"I have done nothing yet today{since}."]
    elif len(actions) <= _MAX_DEEDS:
        sentences = [_deeds(actions)]
    else:
        deeds = _deeds(actions[-_MAX_NAMED:])
        sentences = [f"I have done {len(actions)} things today{since}. Most recently {deeds}"]
    if failed:
        sentences.append(sentence(f"{counted(failed, 'request')} did not work"))
    return " ".join(sentences)


def _has_failed(effect: Effect) -> bool:
    return effect.is_action and not effect.is_done


def _deeds(effects: Sequence[Effect]) -> str:
    return f"I {listed(list(dict.fromkeys(map(deed, effects))), 'and')}."


_OPENED = {
    "cover": ("opened", "closed"),
    "valve": ("opened", "closed"),
    "lock": ("locked", "unlocked"),
    "alarm_control_panel": ("armed", "disarmed"),
    "scene": ("set", "left"),
    "script": ("ran", "stopped"),
}
_SIMPLE = {
    "media_pause": "paused {}",
    "media_unpause": "let {} go on",
    "media_next": "skipped to the next track on {}",
    "media_previous": "went back a track on {}",
    "media_player_mute": "muted {}",
    "media_player_unmute": "unmuted {}",
    "set_volume_relative": "changed the volume of {}",
    "vacuum_start": "started {}",
    "vacuum_clean_area": "sent {} to clean",
    "vacuum_return_to_base": "sent {} home",
    "lawn_mower_start_mowing": "started {}",
    "lawn_mower_dock": "sent {} home",
    "increase_timer": "added time to a timer",
    "decrease_timer": "took time off a timer",
    "cancel_timer": "cancelled a timer",
    "cancel_all_timers": "cancelled all timers",
    "pause_timer": "paused a timer",
    "unpause_timer": "let a timer go on",
    "cancel_alarm": "cancelled an alarm or reminder",
    "nevermind": "left it",
}


def deed(effect: Effect) -> str:
    """The action in the past tense: "turned on the desk lamp"."""
    names, given = _names(effect.entities), effect.arguments
    match effect.call.name:
        case "turn_on" | "turn_off" as tool:
            words = {_OPENED.get(entity.domain, ("turned on", "turned off")) for entity in effect.entities}
            pair = words.pop() if len(words) == 1 else ("turned on", "turned off")
            return f"{pair[tool == 'turn_off']} {names}"
        case "light_set":
            brightness = f"{given['brightness']} percent" if "brightness" in given else ""
            return f"set {names} to {' and '.join(filter(None, (str(given.get('color', '')), brightness)))}"
        case "climate_set_temperature":
            return f"set {names} to {number(given['temperature'])} degrees"
        case "fan_set_speed":
            return f"set {names} to {given['percentage']} percent"
        case "set_position":
            return f"moved {names} to {given['position']} percent"
        case "set_volume":
            return f"set the volume of {names} to {given['volume_level']} percent"
        case "media_search_and_play":
            return f"played {brief(str(given['search_query']))} on {names}"
        case "list_add_item" | "shopping_list_add_item":
            return f"added {brief(str(given['item']))} to {names}"
        case "list_complete_item" | "shopping_list_complete_item":
            return f"ticked {brief(str(given['item']))} off {names}"
        case "list_remove_item":
            return f"took {brief(str(given['item']))} off {names}"
        case "start_timer":
            seconds = given.get("hours", 0) * 3600 + given.get("minutes", 0) * 60 + given.get("seconds", 0)
            return f"started a timer for {duration(seconds)}"
        case "set_alarm":
            return f"set an alarm for {brief(str(given['time']))}"
        case "set_reminder":
            return f"set a reminder: {brief(str(given['task']))}"
        case "broadcast":
            return f"announced “{brief(str(given['message']))}”"
        case other:
            return _SIMPLE.get(other, other.replace("_", " ")).format(names)


def _names(entities: Entities) -> str:
    if len(entities) <= _MAX_NAMED:
        return listed([the(entity) for entity in entities], "and") if entities else ""
    domains = {entity.domain for entity in entities}
    return counted(len(entities), domains.pop().replace("_", " ") if len(domains) == 1 else "thing")
