"""The home tools, bound to a home: each call is answered in a sentence, so no second model call is needed."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from typing import Any, TypeAlias

from edgevox.errors import StateError
from edgevox.tools.home import acting, asking, lists
from edgevox.tools.home.agenda import alarming, timing
from edgevox.tools.home.agenda.alarms import Alarms
from edgevox.tools.home.agenda.timers import Timers
from edgevox.tools.home.catalogue import CATALOGUE
from edgevox.tools.home.choosing import has_targets, targets
from edgevox.tools.home.home import Home, HomeError
from edgevox.tools.home.home_tool import HomeTool
from edgevox.tools.home.house import Entity
from edgevox.tools.home.understanding import understood
from edgevox.tools.home.wording import listed, sentence, the
from edgevox.tools.tool import ConfirmLevel, Speech, Target, Tool
from edgevox.types import JsonObject

Now: TypeAlias = Callable[[], datetime]
_Handler: TypeAlias = Callable[[Home, str, Mapping[str, Any]], Awaitable[str]]

# Given to the model when it wants to answer and has not said what: only it can.
ANSWER_YOURSELF = "Answer in one short sentence of your own."
_NEVER_MIND = "All right."
# What other people hear cannot be taken back.
_SAID_TO_OTHERS = frozenset({"broadcast"})
# By their names they would be taken for the alarm of the house, which needs a yes.
_ALARM_CLOCK = frozenset({"set_alarm", "cancel_alarm"})

_HANDLERS: dict[str, _Handler] = {
    "turn_on": acting.switch,
    "turn_off": acting.switch,
    "get_state": asking.get_state,
    "light_set": acting.set_light,
    "set_position": acting.set_position,
    "climate_set_temperature": acting.set_temperature,
    "climate_get_temperature": asking.get_temperature,
    "fan_set_speed": acting.set_speed,
    "set_volume": acting.set_volume,
    "set_volume_relative": acting.step_volume,
    "media_pause": acting.control_player,
    "media_unpause": acting.control_player,
    "media_next": acting.control_player,
    "media_previous": acting.control_player,
    "media_search_and_play": acting.play,
    "media_player_mute": acting.control_player,
    "media_player_unmute": acting.control_player,
    "vacuum_start": acting.run_robot,
    "vacuum_return_to_base": acting.run_robot,
    "vacuum_clean_area": acting.run_robot,
    "lawn_mower_start_mowing": acting.run_robot,
    "lawn_mower_dock": acting.run_robot,
    "list_add_item": lists.change_list,
    "list_complete_item": lists.change_list,
    "list_remove_item": lists.change_list,
    "shopping_list_add_item": lists.change_list,
    "shopping_list_complete_item": lists.change_list,
    "get_weather": asking.get_weather,
}


def home_tools(home: Home, timers: Timers, alarms: Alarms, now: Now) -> tuple[Tool, ...]:
    """Every home tool, in the catalogue's order. `now` gives the local time."""
    return tuple(_bound(tool, home, timers, alarms, now) for tool in CATALOGUE)


def _bound(tool: HomeTool, home: Home, timers: Timers, alarms: Alarms, now: Now) -> Tool:
    async def run(**arguments: Any) -> Speech | str:  # noqa: ANN401 - the schema says what they are
        try:
            return await _answer(tool.name, arguments, home, timers, alarms, now)
        except (HomeError, StateError) as error:
            # Not an error for the model: it would guess, where the user should be asked.
            return Speech(sentence(error.message))

    return Tool(
        name=tool.name,
        description=tool.description,
        parameters=tool.parameters,
        run=run,
        side_effects=tool.has_side_effects,
        confirm=_confirm(tool.name),
        examples=tool.examples,
        has_known_words=True,
        targets=lambda arguments: _risked(tool.name, arguments, home),
        question=lambda arguments: confirmation_question(tool.name, arguments, home),
        understand=lambda arguments: understood(tool.name, arguments, home.house()),
    )


async def _answer(
    name: str, arguments: Mapping[str, Any], home: Home, timers: Timers, alarms: Alarms, now: Now
) -> Speech | str:
    match name:
        case "respond":
            message = str(arguments.get("message") or "").strip()
            return Speech(message) if message else ANSWER_YOURSELF
        case "nevermind":
            return Speech(_NEVER_MIND)
        case "get_current_time":
            return Speech(asking.current_time(now()))
        case "get_current_date":
            return Speech(asking.current_date(now()))
        case "broadcast":
            await home.announce(str(arguments["message"]))
            return Speech("Announced.")
        case "set_alarm" | "set_reminder" | "cancel_alarm" | "alarm_status":
            return Speech(await asyncio.to_thread(alarming.run_alarm, alarms, name, arguments))
        case _ if name in _HANDLERS:
            return Speech(await _HANDLERS[name](home, name, arguments))
        case _:
            return Speech(await asyncio.to_thread(timing.run_timer, timers, name, arguments))


# --- before a call runs


def _confirm(tool: str) -> ConfirmLevel | None:
    if tool in _SAID_TO_OTHERS:
        return "voice"
    return "never" if tool in _ALARM_CLOCK else None


def _risked(tool: str, arguments: JsonObject, home: Home) -> tuple[Target, ...]:
    """What the rule for confirmation should know; locking a door and closing a garage risk nothing.

    Raises HomeError when it cannot be done, and StateError when nothing is known: the rule then asks.
    """
    if not has_targets(tool):
        return ()
    return tuple(
        Target(entity.domain, entity.device_class or "", entity.name)
        for entity in targets(tool, arguments, home.house())
        if not _is_the_safe_way(tool, arguments, entity)
    )


def _is_the_safe_way(tool: str, arguments: JsonObject, entity: Entity) -> bool:
    match tool, entity.domain:
        case "turn_on", "lock" | "alarm_control_panel":
            return True
        case "turn_off", "cover" | "valve":
            return True
        case "set_position", "cover" | "valve":
            return bool(arguments.get("position", 100) <= (entity.attributes.get("position") or 0))
        case _:
            return False


_ASKED = {
    ("turn_off", "lock"): "Unlock",
    ("turn_off", "alarm_control_panel"): "Disarm",
    ("turn_on", "cover"): "Open",
    ("set_position", "cover"): "Open",
    ("turn_on", "valve"): "Open",
    ("set_position", "valve"): "Open",
    ("turn_on", "lock"): "Lock",
    ("turn_on", "alarm_control_panel"): "Arm",
    ("turn_off", "cover"): "Close",
    ("turn_off", "valve"): "Close",
}


_NOT_IN_A_NAME = re.compile(r"[^\w' -]")
_MOST_NAME_CHARS = 50


def confirmation_question(tool: str, arguments: JsonObject, home: Home) -> str:
    """The question before a call that needs a yes: "Unlock the front door?" """
    if tool in _SAID_TO_OTHERS:
        return f"Announce “{_in_a_question(str(arguments.get('message', '')))}”?"
    try:
        found = targets(tool, arguments, home.house())
    except (HomeError, StateError):
        found = ()
    verbs = {_ASKED.get((tool, entity.domain), "") for entity in found}
    words = tool.replace("_", " ").capitalize()
    verb = verbs.pop() or words if len(verbs) == 1 else words
    return f"{verb} {listed([_asked(entity) for entity in found], 'and')}?" if found else f"{words}?"


def _asked(entity: Entity) -> str:
    """The thing as a question names it. A name that is itself a sentence would be heard as ours."""
    return _in_a_question(the(entity))


def _in_a_question(text: str) -> str:
    plain = " ".join(_NOT_IN_A_NAME.sub(" ", text).split())
    return plain[:_MOST_NAME_CHARS].rstrip()
