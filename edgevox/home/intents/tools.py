"""Binds the home tools to a home: resolving, refreshing and executing their calls.

Each call is answered in a sentence, so no second model call is needed.
"""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import TypeAlias

from edgevox.core.errors import StateError
from edgevox.core.turn import LOCAL
from edgevox.core.types import JsonObject
from edgevox.home.alarms import alarm_handlers
from edgevox.home.alarms.alarms import Alarms
from edgevox.home.alarms.scheduled_commands import WATCH, ScheduledCommands, run_alarm, set_watch, watch_request
from edgevox.home.alarms.timers import Timers
from edgevox.home.alarms.watches import Watches
from edgevox.home.calendar import answers as calendar_answers
from edgevox.home.entities import Home, HomeError
from edgevox.home.intents import handlers, list_handlers, weather_handlers
from edgevox.home.intents.call_phrases import call_phrase
from edgevox.home.intents.catalogue import HomeTool, catalogue, known_tools, rule_catalogue
from edgevox.home.intents.history_handlers import answer_history
from edgevox.home.intents.list_handlers import DUE, REOPEN
from edgevox.home.intents.quantities import STEP
from edgevox.home.intents.replies import Replies, speaks_other_language
from edgevox.home.intents.resolution import ENTITY_IDS, ResolvedIntent, in_question, refresh_intent, resolve_intent
from edgevox.home.phrasing import sentence
from edgevox.home.resolve.target_resolver import EXCEPT, ClarificationNeeded, TargetNotFound, has_targets
from edgevox.tools.executor import current_call
from edgevox.tools.tool import ConfirmLevel, Speech, Tool

Now: TypeAlias = Callable[[], datetime]
_Handler: TypeAlias = Callable[[Home, str, ResolvedIntent], Awaitable[str]]
_Answer: TypeAlias = Callable[[str, ResolvedIntent], Awaitable[Speech | str]]

# The result of `respond` without a message: only the model can write the answer.
ANSWER_YOURSELF = "Answer in one short sentence of your own."
_ANNOUNCEMENT = "broadcast"
# An announcement or a cleared list cannot be undone. By their names the policy would take others for the alarm panel,
# whose own tool is judged by its targets.
_CONFIRM: dict[str, ConfirmLevel] = {
    _ANNOUNCEMENT: "voice",
    "set_alarm": "never",
    "cancel_alarm": "never",
    "list_clear": "voice",
    "alarm_set_mode": "never",
}

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
    **dict.fromkeys(handlers.VALUE_SETTINGS, handlers.set_value),
    **dict.fromkeys(handlers.PLAYER_CONTROLS, handlers.control_player),
    **dict.fromkeys(handlers.ROBOT_CONTROLS, handlers.run_robot),
    **dict.fromkeys(list_handlers.LIST_CHANGES, list_handlers.change_list),
    "stop_moving": handlers.stop,
    "list_get_items": list_handlers.get_items,
    "list_clear": list_handlers.clear_list,
    "list_create": list_handlers.create_list,
    "media_get_playing": handlers.get_playing,
    "climate_set_mode": handlers.set_mode,
    "select_option": handlers.select_option,
    "light_set_temperature": handlers.set_light_temperature,
    "alarm_set_mode": handlers.set_alarm_mode,
}


def home_tools(
    home: Home, timers: Timers, alarms: Alarms, now: Now, watches: Watches | None = None
) -> tuple[Tool, ...]:
    """Every home tool, in the catalogues' order. `now` gives the local time."""
    watches = watches or Watches(timers.now_s)
    scheduled = ScheduledCommands(timers, alarms, watches)

    async def answer(name: str, intent: ResolvedIntent) -> Speech | str:
        arguments = intent.arguments
        call = current_call()
        caller = call.caller if call else LOCAL
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
            case "set_reminder" if WATCH in arguments:
                house = home.house()
                agreed = intent.agreed if call and call.is_confirmed else ""
                return Speech(
                    await asyncio.to_thread(set_watch, watches, arguments, house, agreed=agreed, caller=caller)
                )
            case "set_alarm" | "set_reminder" | "cancel_alarm" | "alarm_status":
                return Speech(await asyncio.to_thread(run_alarm, alarms, scheduled, name, arguments, caller))
            case "get_weather" if intent.entities:
                return Speech(await weather_handlers.now_and_today(home, intent.entities[0], now()))
            case "get_forecast":
                return Speech(await weather_handlers.answer_forecast(home, intent.entities[0], arguments, now()))
            case "get_history":
                return Speech(await answer_history(home, intent, now()))
            case "calendar_get_events":
                return Speech(await calendar_answers.get_events(home.calendars(), arguments, now()))
            case "calendar_create_event":
                return Speech(await calendar_answers.create_event(home.calendars(), arguments, now()))
            case _ if name in _HANDLERS:
                return Speech(await _HANDLERS[name](home, name, intent))
            case _:
                return Speech(await asyncio.to_thread(alarm_handlers.run_timer, timers, name, arguments, caller))

    def replies() -> Replies | None:
        language = speaks_other_language()
        return Replies(language, home, timers, alarms) if language else None

    return tuple(_bound(tool, home, answer, replies) for tool in known_tools().values())


def _hook_parameters(name: str) -> JsonObject:
    if name.endswith("_timer") or name == "cancel_alarm":
        return {alarm_handlers.TIMER_ID: {"type": "string"}}
    if name == "set_alarm":
        return alarm_handlers.CHANGE_SLOTS
    if name == "set_reminder":
        return {alarm_handlers.RUNS: {"type": "boolean"}, WATCH: {"type": "object"}}
    if name in ("turn_on", "turn_off"):
        return {**_HOOK_SLOTS, "code": {"type": "string"}}
    if name == "list_add_item":
        return {**_HOOK_SLOTS, DUE: {"type": "string"}}
    if name.endswith("_complete_item"):
        return {**_HOOK_SLOTS, REOPEN: {"type": "boolean"}}
    return _HOOK_SLOTS if has_targets(name) else {}


def _resolve_watch(arguments: JsonObject, home: Home) -> ResolvedIntent:
    """The targets and the question of the command that a watch runs: it is asked about when the watch is set up."""
    watch = watch_request(arguments)
    call = watch.call
    if watch.kind != "run" or not has_targets(str(call.get("name"))):
        return ResolvedIntent(arguments)
    acts = resolve_intent(call["name"], call.get("arguments", {}), home.house())
    question = f"When {watch.condition.phrase}, {acts.question[:1].lower()}{acts.question[1:]}"
    return ResolvedIntent(arguments, acts.targets, question, agreed=acts.question)


def _in_language(name: str, intent: ResolvedIntent, replies: Replies | None) -> ResolvedIntent:
    """The resolution with its words in the language of the reply."""
    if replies is None:
        return intent
    intent = dataclasses.replace(intent, summary=replies.headline(name, intent) or intent.summary)
    if intent.answer is None:
        question = replies.question(name, intent) if intent.question else ""
        return dataclasses.replace(intent, question=question, question_language=replies.language)
    error = ClarificationNeeded.between(intent.choices, replies.home.house()) if intent.choices else TargetNotFound("")
    said = replies.failed(name, intent, intent.arguments, error)
    return dataclasses.replace(intent, answer=Speech(said, is_failure=True, language=replies.language))


def _bound(tool: HomeTool, home: Home, answer: _Answer, replies: Callable[[], Replies | None]) -> Tool:
    name = tool.name

    def resolve(arguments: JsonObject) -> ResolvedIntent:
        return _in_language(name, resolve_call(arguments), replies())

    def resolve_call(arguments: JsonObject) -> ResolvedIntent:
        if WATCH in arguments:
            return _resolve_watch(arguments, home)
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
        other = replies()
        try:
            said = await answer(name, intent)
        except (HomeError, StateError) as error:
            # Not an error for the model: it would guess, where the user should be asked.
            if other is None:
                return Speech(sentence(error.message), is_failure=True)
            return Speech(other.failed(name, intent, intent.arguments, error), is_failure=True, language=other.language)
        if other is None or name == "respond":
            return said
        return Speech(await other.done(name, intent), language=other.language)

    return Tool(
        name=name,
        description=tool.description,
        parameters=tool.parameters,
        hook_parameters=_hook_parameters(name),
        side_effects=tool.has_side_effects,
        confirm=_CONFIRM.get(name),
        examples=tool.examples,
        is_trained_on=name in catalogue(),
        called_by_rule=name in rule_catalogue(),
        resolve=resolve,
        refresh=(lambda intent: refresh_intent(name, intent, home.house())) if has_targets(name) else None,
        execute=execute,
    )
