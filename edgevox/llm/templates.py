"""Chat templates: a conversation becomes the prompt that the model was trained on.

The template is the GGUF's own (Jinja, from a stranger: it runs in a sandbox), or a preset's, or ChatML.
"""

from __future__ import annotations

import datetime as dt
import json
from typing import Any, NoReturn

from jinja2 import Template, TemplateError
from jinja2.ext import loopcontrols
from jinja2.sandbox import ImmutableSandboxedEnvironment

from edgevox.errors import ModelError
from edgevox.types import JsonObject, Message

CHATML = (
    "{% for message in messages %}"
    "<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n"
    "{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


class ChatTemplate:
    """One compiled template with the special tokens it may name. Raises ModelError when it is not Jinja."""

    def __init__(self, source: str, *, bos: str = "", eos: str = "") -> None:
        self._template = _compile(source)
        self._special = {"bos_token": bos, "eos_token": eos}

    def render(
        self, messages: tuple[Message, ...], *, tools: tuple[JsonObject, ...] = (), thinking: bool = False
    ) -> str:
        """The prompt, up to where the assistant begins to speak. Raises ModelError."""
        try:
            return self._render(messages, tools, thinking)
        except TemplateError as first:
            folded = _fold_system(messages)
            if folded == messages:
                raise ModelError(
                    f"the model's chat template refused the conversation: {first}",
                    hint="set chat_template in the preset, or choose another preset",
                ) from first
        # Some families (Gemma 2, old Mistral) have no system role: there it belongs to the first question.
        try:
            return self._render(folded, tools, thinking)
        except TemplateError as second:
            raise ModelError(
                f"the model's chat template refused the conversation: {second}",
                hint="set chat_template in the preset, or choose another preset",
            ) from second

    def _render(self, messages: tuple[Message, ...], tools: tuple[JsonObject, ...], thinking: bool) -> str:
        return self._template.render(
            messages=[_as_template_message(message) for message in messages],
            tools=[dict(tool) for tool in tools] or None,
            add_generation_prompt=True,
            enable_thinking=thinking,
            **self._special,
        )


def _compile(source: str) -> Template:
    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols]
    )
    environment.filters["tojson"] = _to_json
    environment.globals["raise_exception"] = _raise_exception
    environment.globals["strftime_now"] = _strftime_now
    try:
        return environment.from_string(source)
    except TemplateError as error:
        raise ModelError(
            f"the chat template cannot be read: {error}", hint="set chat_template in the preset"
        ) from error


def _to_json(value: object, indent: int | None = None, **_options: object) -> str:
    # Jinja's own filter escapes <, > and & for HTML; models were trained on plain JSON.
    return json.dumps(value, ensure_ascii=False, indent=indent)


def _raise_exception(message: str) -> NoReturn:
    raise TemplateError(message)


def _strftime_now(pattern: str) -> str:
    return dt.datetime.now().astimezone().strftime(pattern)


def _as_template_message(message: Message) -> dict[str, Any]:
    rendered: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.tool_calls:
        rendered["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": json.loads(call.arguments)},
            }
            for call in message.tool_calls
        ]
    if message.tool_call_id is not None:
        rendered["tool_call_id"] = message.tool_call_id
    return rendered


def _fold_system(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """The conversation with its system message put in front of the first question."""
    match messages:
        case (Message(role="system") as system, Message(role="user") as question, *rest):
            return (Message("user", f"{system.content}\n\n{question.content}"), *rest)
        case _:
            return messages
