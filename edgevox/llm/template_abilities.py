"""What a chat template can do, found out by rendering: words in its source prove nothing."""

from __future__ import annotations

import weakref
from dataclasses import dataclass

from edgevox.errors import ModelError
from edgevox.llm.templates import ChatTemplate, shows
from edgevox.llm.tool_parsers.reasoning import STYLES
from edgevox.types import JsonObject, Message, ToolCall


@dataclass(frozen=True, slots=True)
class TemplateAbilities:
    """`opened_tags` is what the prompt's end opens: without thinking, and with it."""

    system_role: bool
    renders_tools: bool
    renders_tool_calls: bool
    renders_parallel_calls: bool
    renders_tool_results: bool
    takes_thinking: bool
    opened_tags: tuple[str, str]

    @property
    def round_trip(self) -> bool:
        """Whether calls and their results can go back to the model as it was trained on them."""
        return self.renders_tool_calls and self.renders_tool_results

    def opens_reasoning(self, thinking: bool) -> str:
        """The tag with which the template has begun the reply already, "" when it has not."""
        return self.opened_tags[thinking]


def abilities(template: ChatTemplate) -> TemplateAbilities:
    """Found out once per template."""
    known = _KNOWN.get(template)
    if known is None:
        known = _KNOWN[template] = _find_out(template)
    return known


def opened_reasoning(prompt: str) -> str:
    """The reasoning tag that the prompt ends with, "" when there is none."""
    end = prompt[-_TAIL_CHARS:].rstrip()
    return next((tag for tag in _TAGS if end.endswith(tag)), "")


_KNOWN: weakref.WeakKeyDictionary[ChatTemplate, TemplateAbilities] = weakref.WeakKeyDictionary()
_TAGS = tuple(tag.rstrip() for style in STYLES for tag in style.begins)
_TAIL_CHARS = 100


def _tool(name: str, parameter: str) -> JsonObject:
    schema = {"type": "object", "properties": {parameter: {"type": "string", "description": "Some text."}}}
    return {
        "type": "function",
        "function": {"name": name, "description": f"It does {name}.", "parameters": schema},
    }


# Ids of nine letters and digits, as Mistral's templates demand.
_TOOLS = (_tool("zfirst", "zkeyone"), _tool("zsecond", "zkeytwo"))
_CALLS = (
    ToolCall("Zcallid01", "zfirst", '{"zkeyone": "zvalueone"}'),
    ToolCall("Zcallid02", "zsecond", '{"zkeytwo": "zvaluetwo"}'),
)
_RESULTS = (
    Message("tool", "Zresultone", tool_call_id="Zcallid01"),
    Message("tool", "Zresulttwo", tool_call_id="Zcallid02"),
)
_SYSTEM = Message("system", "Zsystem")
_QUESTION = Message("user", "Zquestion")
_LATER = (Message("assistant", "Zanswer"), Message("user", "Zlater"))


def _find_out(template: ChatTemplate) -> TemplateAbilities:
    def prompt(*messages: Message, tools: tuple[JsonObject, ...] = (), thinking: bool = False) -> str:
        try:
            return template.render(messages, tools=tools, thinking=thinking)
        except ModelError:
            return ""

    offered = prompt(_SYSTEM, _QUESTION, tools=_TOOLS)
    one = _SYSTEM, _QUESTION, Message("assistant", "", _CALLS[:1]), _RESULTS[0]
    two = _SYSTEM, _QUESTION, Message("assistant", "", _CALLS), *_RESULTS
    # At once, and one turn later: some templates forget what lies before the last question.
    after_one = [prompt(*one, tools=_TOOLS), prompt(*one, *_LATER, tools=_TOOLS)]
    after_two = prompt(*two, tools=_TOOLS)
    silent, thoughtful = prompt(_QUESTION), prompt(_QUESTION, thinking=True)
    return TemplateAbilities(
        system_role=template.dialect.system_role,
        renders_tools=all(
            shows(offered, word) for word in ("zfirst", "zkeyone", "zsecond", "zkeytwo", "Zquestion")
        ),
        renders_tool_calls=all(shows(after, "zvalueone") for after in after_one),
        renders_parallel_calls=shows(after_two, "zvalueone", "zvaluetwo"),
        renders_tool_results=all(shows(after, "Zquestion", "Zresultone") for after in after_one)
        and shows(after_one[1], "Zresultone", "Zanswer", "Zlater"),
        takes_thinking=silent != thoughtful,
        opened_tags=(opened_reasoning(silent), opened_reasoning(thoughtful)),
    )
