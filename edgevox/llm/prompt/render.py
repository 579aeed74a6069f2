"""Renders a conversation into a prompt, adapted to what the chat template supports.

Tools that a template cannot render go into the system prompt, and results that it cannot render become a user message.
Control tokens in messages, tools and results stay plain text.
"""

from __future__ import annotations

import itertools
import json
import os
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from edgevox.core.errors import ConfigError, ModelError
from edgevox.core.types import ChatRequest, JsonObject, Message, ToolCall, ToolsAs
from edgevox.llm.prompt.control_tokens import ControlTokenMask, PromptPiece
from edgevox.llm.prompt.templates import ChatTemplate, TemplateCapabilities
from edgevox.llm.prompt.tool_lines import tools_text
from edgevox.llm.tool_parsers import DETECTORS, BaseFormatDetector
from edgevox.llm.tool_parsers.detectors.python_formats import PythonListDetector

GENERIC_FORMAT = "generic_xml"
"""The call format for models that were not trained on one."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt in ordered pieces; only special ones are searched for control tokens."""

    pieces: tuple[PromptPiece, ...]

    @property
    def text(self) -> str:
        return "".join(piece.text for piece in self.pieces)


def render_prompt(template: ChatTemplate, request: ChatRequest, control_tokens: tuple[str, ...] = ()) -> Prompt:
    """Render the prompt for the next reply. Raises ModelError if the template rejects the conversation."""
    mask = ControlTokenMask(control_tokens, request.messages, request.tools, template.source)
    # Mask first: text added from here on (an example of a call) may contain control tokens on purpose.
    masked = replace(request, messages=mask.messages, tools=mask.tools)
    fitted = fit_request(masked, template.capabilities)
    try:
        rendered = template.render(fitted.messages, tools=fitted.tools, thinking=request.thinking)
    except ModelError:
        if not fitted.tools:
            raise
        # Some templates fail on a schema, for example on a parameter without a description.
        fitted = fit_request(masked, replace(template.capabilities, renders_tools=False))
        rendered = template.render(fitted.messages, thinking=request.thinking)
    return Prompt(mask.pieces(rendered))


def stable_prefix(template: ChatTemplate, request: ChatRequest) -> str:
    """Return the part of the prompt that no question changes: the first system message and the tools."""
    system = tuple(message for message in request.messages[:1] if message.role == "system")
    prompts = [
        render_prompt(template, replace(request, messages=(*system, Message("user", question)))).text
        for question in ("a", "b")
    ]
    return os.path.commonprefix(prompts)  # noqa: RUF071 - character by character


def fit_request(request: ChatRequest, capabilities: TemplateCapabilities) -> ChatRequest:
    """Rewrite as plain text what the template does not support. Raises ConfigError for an unknown wire format.

    The tools that remain are for the template. Calls are written in the request's wire format. No template knows the
    generic format, so with it, and with tools in lines, everything is plain text.
    """
    messages, tools = request.messages, request.tools
    detector = _detector(request.wire_format or GENERIC_FORMAT)
    own_form = request.wire_format != GENERIC_FORMAT and request.tools_as == "template"
    # ChatML writes any role, but without its tools or calls a template's `tool` messages mean nothing.
    knows_tools = capabilities.renders_tools or capabilities.renders_tool_calls
    own_results = own_form and capabilities.renders_tool_results and knows_tools
    own_calls = own_results and capabilities.renders_tool_calls
    if tools and not (own_form and capabilities.renders_tools):
        messages = _with_system(_about_tools(tools, detector, request.tools_as), messages)
        tools = ()
    if own_calls and not capabilities.renders_parallel_calls:
        messages = tuple(_one_call_at_a_time(messages))
    if not own_results:
        messages = tuple(_results_in_words(messages))  # before the calls: they know the tools' names
    if not own_calls:
        messages = tuple(_calls_in_words(messages, detector))
    return replace(request, messages=messages, tools=tools)


def _detector(wire_format: str) -> BaseFormatDetector:
    try:
        return DETECTORS[wire_format]()
    except KeyError:
        raise ConfigError(
            f"unknown wire format {wire_format}", hint=f"the formats are {', '.join(sorted(DETECTORS))}"
        ) from None


# --- tools

_EXAMPLE = ToolCall("000000000", "tool_name", '{"argument": "value"}')


def _with_system(about_tools: str, messages: tuple[Message, ...]) -> tuple[Message, ...]:
    # The tools go first: the end of a system prompt may change, and everything after a change is evaluated again.
    match messages:
        case (Message("system", content), *rest):
            return (Message("system", f"{about_tools}\n\n{content}"), *rest)
        case _:
            return (Message("system", about_tools), *messages)


def _about_tools(tools: Sequence[JsonObject], detector: BaseFormatDetector, tools_as: ToolsAs) -> str:
    if isinstance(detector, PythonListDetector):
        return tools_text(tools)  # models with this format were trained on exactly these words
    listed = (tools_text(tools),) if tools_as == "lines" else ("You have these tools:", *map(_about_tool, tools))
    return "\n".join(
        (
            *listed,
            "To use a tool, write the call and nothing else, in this form:",
            detector.render((_EXAMPLE,)),
            "You are then told its result. Where no tool helps, answer in plain words.",
        )
    )


def _about_tool(tool: JsonObject) -> str:
    function = tool.get("function", tool)
    schema = json.dumps(function.get("parameters") or {}, ensure_ascii=False, separators=(",", ":"))
    description = " ".join(str(function.get("description") or "").split())
    return f"- {function['name']}: {description} Arguments: {schema}"


# --- calls and results


def _one_call_at_a_time(messages: Sequence[Message]) -> Iterator[Message]:
    """Put each call into a message of its own, followed by its result."""
    rest = deque(messages)
    while rest:
        message = rest.popleft()
        if len(message.tool_calls) < 2:
            yield message
            continue
        results: dict[str | None, Message] = {}
        while rest and rest[0].role == "tool":
            result = rest.popleft()
            results[result.tool_call_id] = result
        for index, call in enumerate(message.tool_calls):
            yield Message("assistant", "" if index else message.content, (call,))
            if call.id in results:
                yield results[call.id]


def _results_in_words(messages: Sequence[Message]) -> Iterator[Message]:
    """Join the results of one round into a user message."""
    names: dict[str | None, str] = {}
    for is_round, group in itertools.groupby(messages, lambda message: message.role == "tool"):
        if is_round:
            given = "; ".join(
                f"{names.get(result.tool_call_id, 'the tool')} gave {_quoted(result.content)}" for result in group
            )
            # The same words in every position: evaluated text must not change a turn later.
            yield Message("user", f"(The tools have run: {given}. Now answer my last request in one sentence.)")
            continue
        for message in group:
            names |= {call.id: call.name for call in message.tool_calls}
            yield message


def _calls_in_words(messages: Sequence[Message], detector: BaseFormatDetector) -> Iterator[Message]:
    for message in messages:
        if message.tool_calls:
            written = detector.render(message.tool_calls)
            yield Message("assistant", f"{message.content}\n{written}" if message.content else written)
        else:
            yield message


def _quoted(result: str) -> str:
    """Return JSON unchanged and other text as a JSON string, so that its end is visible."""
    try:
        json.loads(result)
    except ValueError:
        return json.dumps(result, ensure_ascii=False)
    return result
