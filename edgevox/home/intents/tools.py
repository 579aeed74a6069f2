"""Binds the home tools to a home: resolving, refreshing and executing their calls.

Each call is answered in a sentence, so no second model call is needed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import TypeAlias

from edgevox.core.errors import StateError
from edgevox.core.types import JsonObject
from edgevox.home.alarms import alarm_handlers
from edgevox.home.alarms.alarms import Alarms
from edgevox.home.alarms.timers import Timers
from edgevox.home.entities import Home, HomeError
from edgevox.home.intents import handlers
from edgevox.home.intents.call_phrases import call_phrase
from edgevox.home.intents.catalogue import HomeTool, catalogue
from edgevox.home.intents.relative import STEP
from edgevox.home.intents.resolution import (
    ENTITY_IDS,
    EXCEPT,
    ResolvedIntent,
    in_question,
    refresh_intent,
    resolve_intent,
)
from edgevox.home.phrasing import sentence
from edgevox.home.resolve.target_resolver import has_targets
from edgevox.tools.tool import ConfirmLevel, Speech, Tool

Now: TypeAlias = Callable[[], datetime]
_Handler: TypeAlias = Callable[[Home, str, ResolvedIntent], Awaitable[str]]
_Answer: TypeAlias = Callable[[str, ResolvedIntent], Awaitable[Speech | str]]

# The result of `respond` without a message: only the model can write the answer.
ANSWER_YOURSELF = "Answer in one short sentence of your own."
_ANNOUNCEMENT = "broadcast"
# An announcement cannot be undone. By their names the policy would take the others for the alarm panel.
_CONFIRM: dict[str, ConfirmLevel] = {_ANNOUNCEMENT: "voice", "set_alarm": "never", "cancel_alarm": "never"}

# Slots that only hooks fill.
_HOOK_SLOTS: JsonObject = {
    EXCEPT: {"type": "string"},
    STEP: {"type": "number"},
    ENTITY_IDS: {"type": "array", "items": {"type": "string"}, "minItems": 1},
}

_HANDLERS: dict[str, _Handler] = {
    "turn_on": handlers.switch,
    "turn_off": handlers.switch,
    "get_state": handlers.get_state,
    "light_set": handlers.set_light,
    "climate_get_temperature": handlers.get_temperature,
    "set_volume": handlers.set_volume,
    "set_volume_relative": handlers.set_volume,
    "media_search_and_play": handlers.play,
    "get_weather": handlers.get_weather,
    **dict.fromkeys(handlers.VALUE_SETTINGS, handlers.set_value),
    **dict.fromkeys(handlers.PLAYER_CONTROLS, handlers.control_player),
    **dict.fromkeys(handlers.ROBOT_CONTROLS, handlers.run_robot),
    **dict.fromkeys(handlers.LIST_CHANGES, handlers.change_list),
}


def home_tools(home: Home, timers: Timers, alarms: Alarms, now: Now) -> tuple[Tool, ...]:
    """Every home tool, in the catalogue's order. `now` gives the local time."""

    async def answer(name: str, intent: ResolvedIntent) -> Speech | str:
        arguments = intent.arguments
        match name:
            case "respond":
                message = str(arguments.get("message") or "").strip()
                return Speech(message) if message else ANSWER_YOURSELF
            case "nevermind":
                return Speech("All right.")
            case "get_current_time":
                time = now()
                return Speech(f"It is {time.hour % 12 or 12}:{time:%M} {'am' if time.hour < 12 else 'pm'}.")
            case "get_current_date":
                date = now()
                return Speech(f"It is {date:%A}, {date:%B} {date.day}, {date.year}.")
            case "broadcast":
                await home.announce(str(arguments["message"]))
                return Speech("Announced.")
            case "set_alarm" | "set_reminder" | "cancel_alarm" | "alarm_status":
                return Speech(await asyncio.to_thread(alarm_handlers.run_alarm, alarms, name, arguments))
            case _ if name in _HANDLERS:
                return Speech(await _HANDLERS[name](home, name, intent))
            case _:
                return Speech(await asyncio.to_thread(alarm_handlers.run_timer, timers, name, arguments))

    return tuple(_bound(tool, home, answer) for tool in catalogue().values())


def _bound(tool: HomeTool, home: Home, answer: _Answer) -> Tool:
    name = tool.name

    def resolve(arguments: JsonObject) -> ResolvedIntent:
        if not has_targets(name):
            message = in_question(str(arguments.get("message", "")))
            question = f"Announce “{message}”?" if name == _ANNOUNCEMENT else ""
            return ResolvedIntent(arguments, question=question, summary=call_phrase(name, arguments))
        try:
            return resolve_intent(name, arguments, home.house())
        except (HomeError, StateError) as error:
            if tool.has_side_effects and isinstance(error, HomeError):
                raise  # the home cannot be reached
            return ResolvedIntent(arguments, answer=Speech(sentence(error.message), is_failure=True))

    async def execute(intent: ResolvedIntent) -> Speech | str:
        try:
            return await answer(name, intent)
        except (HomeError, StateError) as error:
            # Not an error for the model: it would guess, where the user should be asked.
            return Speech(sentence(error.message), is_failure=True)

    return Tool(
        name=name,
        description=tool.description,
        parameters=tool.parameters,
        hook_parameters=_HOOK_SLOTS if has_targets(name) else {},
        side_effects=tool.has_side_effects,
        confirm=_CONFIRM.get(name),
        examples=tool.examples,
        is_trained_on=True,
        resolve=resolve,
        refresh=(lambda intent: refresh_intent(name, intent, home.house())) if has_targets(name) else None,
        execute=execute,
    )
