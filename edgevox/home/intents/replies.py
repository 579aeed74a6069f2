"""What the home tools say in other languages than English: from the call and the home, never from the English sentence.

The sentences are those of edgevox/core/phrases; numbers, lists, times and dates come from babel. Names stay as they are
in the home, without an article: only the people who gave them know their gender.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from edgevox.core.errors import EdgevoxError
from edgevox.core.languages import ENGLISH, all_phrases, capitalized, length_in, reply_language, say, time_in
from edgevox.core.types import JsonObject
from edgevox.home.alarms.alarms import Alarm, Alarms
from edgevox.home.alarms.timers import Timers
from edgevox.home.entities import Entities, Entity, Home
from edgevox.home.intents.resolution import ResolvedIntent
from edgevox.home.phrasing import brief, is_in_state, knows_state, state_phrase
from edgevox.home.resolve.target_resolver import ClarificationNeeded, TargetNotFound

_MAX_NAMED = 4
_VERBS = {
    "cover": "cover", "valve": "cover", "lock": "lock", "scene": "scene", "script": "scene", "button": "scene",
    "input_button": "scene", "vacuum": "vacuum", "lawn_mower": "vacuum", "alarm_control_panel": "alarm",
}  # fmt: skip
_KINDS = frozenset({"light", "cover", "switch"})
# The arguments that are words of the person.
_TEXT_SLOTS = ("item", "task", "time", "message", "search_query", "conversation_command")
_DONE = {
    "stop_moving": "turn_off_vacuum", "vacuum_start": "turn_on_vacuum", "vacuum_return_to_base": "dock",
    "lawn_mower_start_mowing": "turn_on_vacuum", "lawn_mower_dock": "dock", "vacuum_pause": "pause",
    "lawn_mower_pause": "pause", "list_clear": "list_clear", "broadcast": "announced", "nevermind": "nevermind",
    "cancel_timer": "timer_cancelled", "cancel_all_timers": "timers_cancelled", "pause_timer": "timer_paused",
    "unpause_timer": "timer_resumed", "cancel_alarm": "alarm_cancelled",
}  # fmt: skip
_REPEATS = {(0, 1, 2, 3, 4, 5, 6): "every_day", (0, 1, 2, 3, 4): "every_weekday", (5, 6): "every_weekend"}
_BINARY = {
    "door": ("open", "closed"), "window": ("open", "closed"), "garage_door": ("open", "closed"),
    "opening": ("open", "closed"), "lock": ("unlocked", "locked"), "battery": ("low", "normal"),
    "presence": ("home", "not_home"), "connectivity": ("connected", "disconnected"),
    "plug": ("connected", "disconnected"),
}  # fmt: skip
_DETECTS = frozenset(
    {"motion", "occupancy", "smoke", "gas", "carbon_monoxide", "moisture", "sound", "vibration", "problem", "tamper"}
)


def speaks_other_language() -> str:
    """The language of the answer if it is another than English, and one that the catalogue has; "" otherwise."""
    language = reply_language()
    return language if language != ENGLISH and language in all_phrases() else ""


def state_phrase_in(entity: Entity, language: str) -> str:
    """The state as a page shows it: "aus", "spielt · the news", "21,5 °C"; in English for an unknown language."""
    phrase = state_phrase(entity)
    if language == ENGLISH or language not in all_phrases():
        return phrase
    if entity.domain == "sensor":
        return _localized(phrase, language)
    word = _state_word(entity, language)
    title = brief(str(entity.attributes.get("media_title") or ""))
    return f"{word} · {title}" if title and entity.state in ("playing", "paused") else word


def _localized(phrase: str, language: str) -> str:
    """A figure with its unit, as it is written in the language: "21,5 °C"; other words as they are."""
    from babel.numbers import format_decimal

    figure, space, unit = phrase.partition(" ")
    try:
        return str(format_decimal(float(figure), locale=language)) + space + unit
    except ValueError:
        return all_phrases()[language].said.get(f"is_{phrase}", phrase)


def _state_word(entity: Entity, language: str) -> str:
    state = entity.state
    if entity.domain == "binary_sensor" and state in ("on", "off"):
        kind = entity.device_class or ""
        detects = ("detected", "clear") if kind in _DETECTS else ("on", "off")
        state = _BINARY.get(kind, detects)[state == "off"]
    key = "is_armed" if state.startswith("armed") else f"is_{state}"
    key = f"weather_{state}" if entity.domain == "weather" else key
    return all_phrases()[language].said.get(key, state.replace("_", " "))


@dataclass(frozen=True, slots=True)
class Replies:
    """The sentences of one language about one home."""

    language: str
    home: Home
    timers: Timers
    alarms: Alarms

    async def done(self, tool: str, intent: ResolvedIntent) -> str:
        """What a call has done, or the answer to its question."""
        arguments, entities = intent.arguments, self._current(intent.entities)
        match tool:
            case "turn_on" | "turn_off":
                return self._switched(tool, entities)
            case "get_state":
                return await self._state(entities, arguments.get("state"))
            case "climate_get_temperature":
                return self._temperature(entities)
            case "get_weather" | "get_forecast":
                return self._weather(entities)
            case "set_volume" | "set_volume_relative":
                level = entities[0].attributes.get("volume_level", 0) if entities else 0
                return self._say("set_volume", names=self._names(entities), value=self._percent(level))
            case "media_search_and_play":
                value = brief(str(arguments["search_query"]))
                return self._say(tool, names=self._names(entities), value=value)
            case _ if tool.startswith("media_") and tool in all_phrases()[self.language].said:
                return self._say(tool)
            case "vacuum_clean_area" | "vacuum_start" if intent.area:
                return self._say("clean_area", names=self._names(entities), area=intent.area.name)
            case "get_current_time" | "get_current_date":
                return self._clock(tool)
            case _ if tool.endswith("_item"):
                key = tool.removeprefix("shopping_").removesuffix("_item")
                return self._say(key, item=brief(str(arguments["item"])), list=self._names(entities))
            case "list_get_items":
                return await self._items(entities)
            case "start_timer" | "increase_timer" | "decrease_timer" | "timer_status":
                return self._timer(tool, arguments)
            case "set_alarm" if "is_on" in arguments:
                return self._say("done")
            case "set_alarm" | "set_reminder":
                return self._alarm(tool)
            case "alarm_status":
                items = [self._described(alarm) for alarm in self.alarms.all()]
                return self._say("alarms", items=self._list(items)) if items else self._say("no_alarms")
            case _ if tool in _DONE:
                return self._say(_DONE[tool], names=self._names(entities), list=self._names(entities))
            case _ if entities and (value := self._value(arguments)):
                return self._say("set_value", names=self._names(entities), value=value)
            case _:
                return self._say("done")

    def failed(self, tool: str, intent: ResolvedIntent | None, arguments: JsonObject, error: EdgevoxError) -> str:
        """Why nothing was done."""
        if isinstance(error, ClarificationNeeded):
            return self.which(error.choices)
        if isinstance(error, TargetNotFound) and arguments.get("name"):
            return self._say("unknown_name", name=brief(str(arguments["name"])))
        if isinstance(error, TargetNotFound):
            return self._say("nothing_playing" if tool.startswith("media_") else "not_found")
        entities = intent.entities if intent else ()
        if entities and all(entity.state == "unavailable" for entity in entities):
            return self._say("unavailable", names=self._names(entities))
        if "timer" in tool:
            return self._say("no_timer")
        return self._say("no_alarms") if "alarm" in tool and not entities else self._say("failed")

    def which(self, choices: Entities) -> str:
        """The question between entities, or an open one."""
        if not choices:
            return self._say("unclear")
        areas = {entity.area for entity in choices}
        names = [self._with_area(entity) if len(areas) > 1 else entity.name for entity in choices[:_MAX_NAMED]]
        return self._say("which", names=self._list(dict.fromkeys(names), "or"))

    def question(self, tool: str, intent: ResolvedIntent) -> str:
        """The question before a call that needs a yes."""
        if tool == "broadcast":
            return self._say("ask_announce", message=brief(str(intent.arguments.get("message", ""))))
        opens = "turn_on" if tool == "set_position" else tool
        kinds = {_VERBS.get(entity.domain, "") for entity in intent.entities}
        keys = [f"ask_{opens}_{kind}" if kind else f"ask_{opens}" for kind in kinds]
        key = keys[0] if len(keys) == 1 and keys[0] in all_phrases()[self.language].said else "ask_do"
        return self._say(key, names=self._names(intent.entities))

    def headline(self, tool: str, intent: ResolvedIntent) -> str:
        """What a call does, for a screen: "Küchenlicht · einschalten"; "" if the language has no words for it."""
        said, arguments = all_phrases()[self.language].said, intent.arguments
        kinds = {_VERBS.get(entity.domain, "") for entity in intent.entities}
        kind = "id" if arguments.get("id") else kinds.pop() if len(kinds) == 1 else ""
        act = said.get(f"act_{tool}_{kind}") or said.get(f"act_{tool}", "")
        names = self._names(intent.entities) or brief(str(arguments.get("name") or ""))
        texts = [brief(str(arguments[slot])) for slot in _TEXT_SLOTS if arguments.get(slot)]
        value = self._value(arguments) or self._given_length(arguments)
        parts = (names, *texts, act, value) if intent.entities else (act, names, *texts, value)
        return capitalized(" · ".join(filter(None, parts))) if act or (names and value) else ""

    def _given_length(self, arguments: JsonObject) -> str:
        units = {"hours": 3600, "minutes": 60, "seconds": 1}
        seconds = sum(int(arguments.get(unit) or 0) * length for unit, length in units.items())
        return self._length(seconds) if seconds else ""

    # --- parts

    def _say(self, key: str, **values: object) -> str:
        return capitalized(say(key, self.language, **values))

    def _current(self, entities: Entities) -> Entities:
        house = self.home.house()
        return tuple(house.entity(entity.id) or entity for entity in entities)

    def _switched(self, tool: str, entities: Entities) -> str:
        by_verb: dict[str, list[Entity]] = {}
        for entity in entities:
            if entity.state != "unavailable":
                by_verb.setdefault(_VERBS.get(entity.domain, ""), []).append(entity)
        said = all_phrases()[self.language].said
        sentences = []
        for verb, alike in by_verb.items():
            key = f"{tool}_{verb}" if f"{tool}_{verb}" in said else tool
            sentences.append(self._say(key, names=self._names(alike)))
        return " ".join(sentences) or self._say("done")

    def _names(self, entities: Sequence[Entity]) -> str:
        if len(entities) <= _MAX_NAMED:
            return self._list(dict.fromkeys(entity.name for entity in entities))
        kinds = {entity.domain for entity in entities}
        kind = kinds.pop() if len(kinds) == 1 else ""
        noun = say(f"kind_{kind}" if kind in _KINDS else "kind_other", self.language)
        return f"{len(entities)} {noun}"

    def _list(self, items: Iterable[str], style: Literal["standard", "or"] = "standard") -> str:
        from babel.lists import format_list

        return str(format_list([*items], style=style, locale=self.language))

    def _with_area(self, entity: Entity) -> str:
        area = self.home.house().area(entity.area)
        return f"{entity.name} ({area.name})" if area else entity.name

    def _number(self, value: float) -> str:
        from babel.numbers import format_decimal

        return str(format_decimal(round(value, 1), locale=self.language))

    def _percent(self, value: float) -> str:
        return say("percent", self.language, value=self._number(value))

    def _degrees(self, value: float) -> str:
        return say("degrees", self.language, value=self._number(value))

    def _value(self, arguments: JsonObject) -> str:
        """The value that a call sets."""
        values = []
        if colour := arguments.get("color"):
            values.append(self._colour(str(colour)))
        percentages = (arguments.get(slot) for slot in ("brightness", "position", "percentage", "humidity"))
        values += [self._percent(value) for value in percentages if isinstance(value, int | float)]
        if isinstance(degrees := arguments.get("temperature"), int | float):
            values.append(self._degrees(degrees))
        if kelvin := arguments.get("kelvin"):
            values.append(f"{kelvin} Kelvin")
        values += [str(arguments[slot]) for slot in ("mode", "option", "value") if arguments.get(slot)]
        return self._list(values) if values else ""

    def _colour(self, name: str) -> str:
        return all_phrases()[self.language].said.get(f"colour_{name.replace(' ', '_')}", name)

    async def _state(self, entities: Entities, asked: Any) -> str:  # noqa: ANN401 - a value of a call
        if asked:
            entities = tuple(entity for entity in entities if knows_state(entity, asked)) or entities
        if len(entities) == 1 and entities[0].domain == "todo" and not asked:
            return await self._items(entities)
        if asked and len(entities) == 1:
            key = "state_yes" if is_in_state(entities[0], asked) else "state_no"
            return self._say(key, name=entities[0].name, state=self._state_word(entities[0]))
        if not asked:
            return " ".join(
                self._say("state", name=entity.name, state=self._state_word(entity)) for entity in entities[:_MAX_NAMED]
            )
        matching = [entity for entity in entities if is_in_state(entity, asked)]
        if not matching:
            return self._say("state_none", count=len(entities))
        if len(matching) == len(entities):
            return self._say("state_all", count=len(entities))
        names = self._list([entity.name for entity in matching[: 2 * _MAX_NAMED]])
        return self._say("state_some", part=len(matching), count=len(entities), names=names)

    def _state_word(self, entity: Entity) -> str:
        try:
            value = float(entity.state)
        except ValueError:
            return _state_word(entity, self.language)
        unit = str(entity.attributes.get("unit") or "")
        if unit in ("°C", "°F"):
            return self._degrees(value)
        return self._percent(value) if unit == "%" else f"{self._number(value)} {unit}".strip()

    def _temperature(self, entities: Entities) -> str:
        readings = []
        for entity in entities[:_MAX_NAMED]:
            value = entity.attributes.get("current_temperature") if entity.domain == "climate" else entity.state
            try:
                readings.append((entity, self._degrees(float(str(value)))))
            except ValueError:
                continue
        if not readings:
            return self._say("not_found")
        if len(readings) == 1:
            return self._say("temperature", value=readings[0][1])
        return " ".join(self._say("state", name=self._with_area(one), state=value) for one, value in readings)

    def _weather(self, entities: Entities) -> str:
        if not entities:
            return self._say("not_found")
        weather = entities[0]
        condition = all_phrases()[self.language].said.get(f"weather_{weather.state}", weather.state)
        temperature = weather.attributes.get("temperature")
        if temperature is None:
            return f"{condition}."
        return self._say("weather", condition=condition, temperature=self._degrees(temperature))

    def _clock(self, tool: str) -> str:
        from babel.dates import format_date

        now = self.alarms.now()
        if tool == "get_current_time":
            return self._say("time", time=self._time(now))
        return self._say("date", date=format_date(now, "full", locale=self.language))

    def _time(self, at: datetime) -> str:
        return time_in(at, self.language)

    async def _items(self, lists: Entities) -> str:
        sentences = []
        for one in lists:
            items = [item.text for item in await self.home.items(one.id) if not item.is_done]
            key = "list_items" if items else "list_empty"
            sentences.append(self._say(key, list=one.name, items=self._list(items) if items else ""))
        return " ".join(sentences)

    def _length(self, seconds: float) -> str:
        return length_in(seconds, self.language)

    def _timer(self, tool: str, arguments: JsonObject) -> str:
        started = self.timers.in_order_of_start()
        if not started:
            return self._say("no_timer")
        if tool == "timer_status":
            return " ".join(
                self._say(
                    "timer_left",
                    name=timer.name or timer.command or say("timer", self.language),
                    length=self._length(self.timers.remaining_s(timer)),
                )
                for timer in started[:_MAX_NAMED]
            )
        latest = started[-1]
        length = self._length(self.timers.remaining_s(latest) if tool != "start_timer" else latest.length_s)
        if tool != "start_timer":
            return self._say("timer_changed", length=length)
        if latest.command:
            return self._say("command_scheduled", length=length, command=latest.command)
        key = "timer_started_named" if latest.name else "timer_started"
        return self._say(key, length=length, name=latest.name)

    def _alarm(self, tool: str) -> str:
        latest = self.alarms.latest()
        if not latest:
            return self._say("done")
        alarm = latest[-1]
        if alarm.kind == "schedule":
            return self._say("command_at", time=self._moment(alarm), command=alarm.label)
        key = "alarm_set" if tool == "set_alarm" else "reminder_set"
        return self._say(key, time=self._moment(alarm), task=alarm.label)

    def _described(self, alarm: Alarm) -> str:
        return f"{alarm.label} {self._moment(alarm)}".strip()

    def _moment(self, alarm: Alarm) -> str:
        from babel.dates import format_skeleton

        at = datetime.fromtimestamp(self.alarms.rings_s(alarm), self.alarms.now().tzinfo)
        if alarm.repeat:
            return f"{self._repeat(alarm.repeat)}, {self._time(at)}"
        day = "" if at.date() == self.alarms.now().date() else f"{format_skeleton('MMMEd', at, locale=self.language)}, "
        return f"{day}{self._time(at)}"

    def _repeat(self, days: Sequence[int]) -> str:
        from babel.dates import get_day_names

        if key := _REPEATS.get(tuple(sorted(days))):
            return say(key, self.language)
        names = get_day_names("wide", locale=self.language)
        return say("every", self.language, days=self._list([names[day] for day in sorted(days)]))
