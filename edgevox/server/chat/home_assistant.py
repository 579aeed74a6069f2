"""Home Assistant's tools in the words that a model for the home was trained on.

Home Assistant's conversation integrations send their intents as tools (`HassTurnOn`), and an overview of the
exposed entities in the system prompt. The home model knows the same intents and slots under its own names
(home/intents/catalogue.py) and another form of the overview: for it both are translated, and its calls back. It was
not trained to speak about results, so a success is confirmed without it.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from edgevox.core.types import JsonObject, Message, NamedTool, ToolCall
from edgevox.home.entities import Area, Entity, House
from edgevox.home.intents.catalogue import HomeTool, catalogue
from edgevox.home.prompt_text import HOME_INSTRUCTIONS, home_instructions
from edgevox.server.chat.input import ChatInput

# Its tools that are no intents, and the home tools that ask for the same. They have no slots.
_QUESTIONS = {
    "GetLiveContext": ("get_state", "climate_get_temperature", "get_weather"),
    "GetDateTime": ("get_current_time", "get_current_date"),
}
# Home tools for the shopping list, and those for any list, which newer versions have instead.
_SHOPPING = {"shopping_list_add_item": "list_add_item", "shopping_list_complete_item": "list_complete_item"}
_ACTION_DONE = re.compile(r'"response_type": ?"action_done"')
_FAILED = re.compile(r'"failed": ?\[ ?\{')
_INTENT = re.compile(r"(?:assist__)?Hass([A-Z]\w*)")
_ENTRY = re.compile(
    r"^- names: (?P<names>.+)\n  domain: (?P<domain>\w+)(?:\n  (?!areas:).+)*(?:\n  areas: (?P<areas>.+))?",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class HomeAssistantTools:
    """The translation of one request; `theirs` are the caller's tools by the names of the home tools."""

    theirs: Mapping[str, JsonObject]
    shopping_list: str

    @classmethod
    def of(cls, question: ChatInput) -> HomeAssistantTools | None:
        """Return the translation, None if no tool of the request is an intent of Home Assistant."""
        tools = question.tools or ()
        if not any(_INTENT.fullmatch(tool["function"]["name"]) for tool in tools):
            return None
        theirs = {name: tool for tool in tools for name in _home_names(tool["function"]["name"])}
        lists = [entity.name for entity in _entities(question.instructions) if entity.domain == "todo"]
        shopping = next((name for name in lists if "shopping" in name.casefold()), "")
        if shopping:
            theirs = {ours: theirs[general] for ours, general in _SHOPPING.items() if general in theirs} | theirs
        return cls(theirs, shopping)

    def translated(self, question: ChatInput) -> ChatInput:
        """Return the request with the home's tools, names and prompt."""
        names = {tool["function"]["name"]: _home_names(tool["function"]["name"])[0] for tool in self.theirs.values()}
        choice = question.tool_choice
        if isinstance(choice, NamedTool):
            choice = NamedTool(names.get(choice.name, choice.name))
        known, rest = catalogue(), [tool for tool in question.tools or () if tool not in self.theirs.values()]
        # In the order in which the model has always read them.
        tools = [self._tool(known[name]) for name in known if name in self.theirs]
        messages = tuple(self._message(message, names) for message in question.messages)
        if messages[0].role == "system":
            messages = (Message("system", _system_prompt(messages[0].content)), *messages[1:])
        return replace(question, tools=(*tools, *rest), tool_choice=choice, messages=messages)

    def has_acted(self, question: ChatInput) -> bool:
        """Return whether the request ends with results of intents that all succeeded: there is nothing left to say."""
        results = list(itertools.takewhile(lambda message: message.role == "tool", reversed(question.messages)))
        return bool(results) and all(_is_done(message.content) for message in results)

    def call(self, call: ToolCall) -> ToolCall:
        """Return a call of the model as the caller expects it."""
        if (theirs := self.theirs.get(call.name)) is None:
            return call
        slots = theirs["function"]["parameters"].get("properties", {})
        wanted = json.loads(call.arguments)
        if call.name in _SHOPPING and call.name not in _home_names(theirs["function"]["name"]):
            wanted["name"] = self.shopping_list
        given = {
            slot: [value] if slots[slot].get("type") == "array" and not isinstance(value, list) else value
            for slot, value in wanted.items()
            if slot in slots
        }
        return replace(call, name=theirs["function"]["name"], arguments=json.dumps(given, ensure_ascii=False))

    def _tool(self, ours: HomeTool) -> JsonObject:
        theirs = self.theirs[ours.name]["function"]
        parameters = dict(ours.parameters)
        if theirs["name"] not in _QUESTIONS:
            slots = theirs["parameters"].get("properties", {})
            parameters["properties"] = {slot: of for slot, of in parameters["properties"].items() if slot in slots}
        function = {"name": ours.name, "description": ours.description, "parameters": parameters}
        return {"type": "function", "function": {**function, "examples": list(ours.examples)}}

    def _message(self, message: Message, names: Mapping[str, str]) -> Message:
        calls = (replace(call, name=names.get(call.name, call.name)) for call in message.tool_calls)
        return replace(message, tool_calls=tuple(calls))


def _is_done(result: str) -> bool:
    return bool(_ACTION_DONE.search(result)) and not _FAILED.search(result)


def _home_names(theirs: str) -> tuple[str, ...]:
    """Return the home tools that a tool of theirs stands for."""
    intent = _INTENT.fullmatch(theirs)
    if intent is None:
        return _QUESTIONS.get(theirs, ())
    ours = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", intent[1]).lower()
    return (ours,) if ours in catalogue() else ()


def _system_prompt(theirs: str) -> str:
    """Return the prompt of the home in their overview; their instructions are for larger models."""
    entities = tuple(_entities(theirs))
    if not entities:
        return HOME_INSTRUCTIONS
    areas = {entity.area for entity in entities} - {None}
    return home_instructions(House(entities, tuple(Area(name, name) for name in areas if name)))


def _entities(overview: str) -> Iterator[Entity]:
    for number, entry in enumerate(_ENTRY.finditer(overview)):
        name, *aliases = _listed(entry["names"])
        area = next(iter(_listed(entry["areas"] or "")), None)
        yield Entity(f"{entry['domain']}.{number}", name, entry["domain"], "unknown", tuple(aliases), area)


def _listed(text: str) -> list[str]:
    return [one for part in text.strip().strip("'\"").split(",") if (one := part.strip())]
