"""Chat templates: renders messages as the model was trained on them, and detects what a template supports.

The template comes from the GGUF file (untrusted Jinja, so it runs in a sandbox) or a preset, or is ChatML. Dialect and
capabilities are detected by rendering, since words in the source prove nothing.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import json
import re
import weakref
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from jinja2 import Template

from edgevox.core.errors import ModelError
from edgevox.core.types import JsonObject, Message, ToolCall
from edgevox.llm.prompt.sandbox import TEMPLATE_FAULTS, TemplateEnvironment, check_source, strftime_today
from edgevox.llm.tool_parsers.base import STYLES

CHATML = (
    "{% for message in messages %}"
    "<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n"
    "{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)

_HINT = "set chat_template in the preset, or choose another preset"


@dataclass(frozen=True, slots=True)
class Dialect:
    """The form in which a template expects messages.

    `system_role`: it writes a system message at the start; `late_system`: also later ones, in place. `text_arguments`:
    a call's arguments are JSON text, not an object. `null_content`: calls are written only if the content is none.
    `typed_content`: content is a list of parts. `listed_tools`: no tools means an empty list, not none.
    """

    system_role: bool = True
    late_system: bool = True
    text_arguments: bool = False
    null_content: bool = False
    typed_content: bool = False
    listed_tools: bool = False


class ChatTemplate:
    """A compiled template with its special tokens. Renders one conversation at a time.

    Raises ModelError for invalid Jinja.
    """

    def __init__(self, source: str, *, bos: str = "", eos: str = "") -> None:
        self.source = source
        self._environment = TemplateEnvironment()
        self._template = _compile(self._environment, source)
        self._special = {"bos_token": bos, "eos_token": eos}

    @functools.cached_property
    def dialect(self) -> Dialect:
        return _find_dialect(self)

    def render(
        self,
        messages: tuple[Message, ...],
        *,
        tools: tuple[JsonObject, ...] = (),
        thinking: bool = False,
        add_generation_prompt: bool = True,
    ) -> str:
        """Return the prompt up to the start of the assistant's reply. Raises ModelError.

        A system message without a place in the template becomes part of the next question. If the template requires
        alternating roles, messages are joined.
        """
        folded = _fold_system(messages, self.dialect)
        render = functools.partial(
            self.render_as, self.dialect, tools=tools, thinking=thinking, generate=add_generation_prompt
        )
        try:
            return render(folded)
        except ModelError:
            alternating = _alternate(folded)
            if alternating == folded:
                raise
        return render(alternating)

    def render_as(
        self,
        dialect: Dialect,
        messages: tuple[Message, ...],
        *,
        tools: tuple[JsonObject, ...] = (),
        thinking: bool = False,
        generate: bool = True,
    ) -> str:
        """Render in a given dialect, with the messages unchanged. Raises ModelError."""
        today = strftime_today("%d %b %Y")
        offered = [dict(tool) for tool in tools]
        self._environment.begin(len(messages) + len(tools))
        try:
            return self._template.render(
                messages=_template_messages(messages, dialect),
                tools=offered if offered or dialect.listed_tools else None,
                xml_tools=offered or None,  # SmolLM3
                functions=json.dumps(offered, ensure_ascii=False),  # Firefunction
                documents=None,
                add_generation_prompt=generate,
                enable_thinking=thinking,  # Qwen, GLM, SmolLM3…
                thinking=thinking,  # DeepSeek, Granite, Kimi
                date_string=today,  # Llama
                datetime=today,  # Firefunction
                **self._special,
            )
        except TEMPLATE_FAULTS as error:
            raise ModelError(f"the model's chat template rejected the conversation: {error}", hint=_HINT) from error


def _compile(environment: TemplateEnvironment, source: str) -> Template:
    try:
        check_source(source)
        return environment.from_string(source)
    except TEMPLATE_FAULTS as error:
        raise ModelError(f"invalid chat template: {error}", hint="set chat_template in the preset") from error


# --- messages in the template's form

_REASONING = re.compile(r"\s*(?:<think>(.*?)</think>|\[THINK\](.*?)\[/THINK\])\s*", re.DOTALL)


def _template_messages(messages: Iterable[Message], dialect: Dialect) -> list[dict[str, Any]]:
    rendered: list[dict[str, Any]] = []
    tool_names: dict[str | None, str] = {}
    for message in messages:
        fields: dict[str, Any] = {"role": message.role, "content": message.content}
        if message.role == "assistant" and (thought := _REASONING.match(message.content)):
            fields["reasoning_content"] = (thought.group(1) or thought.group(2) or "").strip()
            fields["content"] = message.content[thought.end() :]
        if message.tool_calls:
            tool_names |= {call.id: call.name for call in message.tool_calls}
            fields["tool_calls"] = [_template_call(call, dialect) for call in message.tool_calls]
        if message.role == "tool":
            fields["tool_call_id"] = message.tool_call_id
            fields["name"] = tool_names.get(message.tool_call_id, "")
        if message.tool_calls and dialect.null_content:
            fields["content"] = None  # text before the call is lost; the call matters more
        elif dialect.typed_content:
            fields["content"] = [{"type": "text", "text": fields["content"]}]
        rendered.append(fields)
    return rendered


def _template_call(call: ToolCall, dialect: Dialect) -> dict[str, Any]:
    arguments = call.arguments if dialect.text_arguments else _as_object(call.arguments)
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}}


def _as_object(arguments: str) -> dict[str, Any]:
    try:
        parsed = json.loads(arguments)
    except ValueError:
        return {}
    # The history also contains calls rejected for their arguments, with the error as their result.
    return parsed if isinstance(parsed, dict) else {}


def _fold_system(messages: tuple[Message, ...], dialect: Dialect) -> tuple[Message, ...]:
    """Move unsupported system messages in front of the next question."""
    folded: list[Message] = []
    waiting: list[str] = []
    for index, message in enumerate(messages):
        if message.role == "system" and not (dialect.late_system if index else dialect.system_role):
            waiting.append(message.content)
        elif message.role == "user" and waiting:
            folded.append(dataclasses.replace(message, content="\n\n".join([*waiting, message.content])))
            waiting = []
        else:
            folded.append(message)
    if waiting:
        folded.append(Message("user", "\n\n".join(waiting)))
    return tuple(folded)


def _alternate(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """Make user and assistant messages alternate, starting with the user; no text is lost."""
    turns: list[Message] = []
    for message in messages:
        last = turns[-1] if turns else None
        match last, message:
            case (Message("user"), Message("user")) | (Message("assistant", _, ()), Message("assistant")):
                said = "\n\n".join(filter(None, (last.content, message.content)))
                turns[-1] = dataclasses.replace(message, content=said)
            case Message("tool"), Message("user"):  # the answer was cancelled before it began
                turns += [Message("assistant", "…"), message]
            case ((None | Message("system")), Message("assistant")):
                turns += [Message("user", "(The assistant speaks first.)"), message]
            case _:
                turns.append(message)
    return tuple(turns)


# --- dialect detection

_SYSTEM = Message("system", "Zsystem")
_QUESTION = Message("user", "Zquestion")
_ANSWER = Message("assistant", "Zanswer")
_CALL = Message("assistant", "", (ToolCall("Zcallid01", "zfunction", '{"zkey": "zvalue"}'),))
_RESULT = Message("tool", "Zresult", tool_call_id="Zcallid01")
_TOOL: JsonObject = {
    "type": "function",
    "function": {
        "name": "zfunction",
        "description": "Zdescription",
        "parameters": {
            "type": "object",
            "properties": {"zkey": {"type": "string", "description": "Zparameter"}},
            "required": ["zkey"],
        },
    },
}


def shows(prompt: str, *words: str) -> bool:
    """Whether `words` occur in the prompt in that order."""
    position = 0
    for word in words:
        position = prompt.find(word, position)
        if position < 0:
            return False
        position += len(word)
    return True


def _find_dialect(template: ChatTemplate) -> Dialect:
    def renders(dialect: Dialect, messages: tuple[Message, ...], *words: str) -> bool:
        try:
            prompt = template.render_as(dialect, messages, tools=(_TOOL,) if _CALL in messages else ())
        except ModelError:
            return False
        # A Python dict, or JSON inside JSON, shows that arguments were passed in the wrong form.
        return shows(prompt, *words) and "'zkey':" not in prompt and '\\"zkey' not in prompt

    for listed, typed in itertools.product((False, True), (False, True)):
        dialect = Dialect(typed_content=typed, listed_tools=listed)
        if renders(dialect, (_QUESTION,), "Zquestion"):
            break
    else:
        return Dialect()
    late = (_QUESTION, _ANSWER, _SYSTEM, _QUESTION)
    dialect = dataclasses.replace(
        dialect,
        system_role=renders(dialect, (_SYSTEM, _QUESTION), "Zsystem", "Zquestion"),
        late_system=renders(dialect, late, "Zanswer", "Zsystem", "Zquestion"),
    )
    exchanges = (_QUESTION, _CALL, _RESULT), (_QUESTION, _CALL)
    for exchange, text, null in itertools.product(exchanges, (False, True), (False, True)):
        candidate = dataclasses.replace(dialect, text_arguments=text, null_content=null)
        if renders(candidate, exchange, "Zquestion", "zfunction", "zvalue"):
            return candidate
    return dialect


@dataclass(frozen=True, slots=True)
class TemplateCapabilities:
    """`opened_tags` are the reasoning tags at the end of the prompt, without and with thinking."""

    system_role: bool
    renders_tools: bool
    renders_tool_calls: bool
    renders_parallel_calls: bool
    renders_tool_results: bool
    takes_thinking: bool
    opened_tags: tuple[str, str]

    @property
    def round_trip(self) -> bool:
        """Whether the template renders calls and results in the model's own format."""
        return self.renders_tool_calls and self.renders_tool_results

    def opens_reasoning(self, thinking: bool) -> str:
        """Return the reasoning tag at the end of the template's prompt, or ""."""
        return self.opened_tags[thinking]


def template_capabilities(template: ChatTemplate) -> TemplateCapabilities:
    """Detect the capabilities, once per template."""
    known = _KNOWN.get(template)
    if known is None:
        known = _KNOWN[template] = _detect(template)
    return known


def opened_reasoning(prompt: str) -> str:
    """Return the reasoning tag at the end of the prompt, or ""."""
    end = prompt[-_TAIL_CHARS:].rstrip()
    return next((tag for tag in _TAGS if end.endswith(tag)), "")


_KNOWN: weakref.WeakKeyDictionary[ChatTemplate, TemplateCapabilities] = weakref.WeakKeyDictionary()
_TAGS = tuple(tag.rstrip() for style in STYLES for tag in style.begins)
_TAIL_CHARS = 100


def _tool(name: str, parameter: str) -> JsonObject:
    schema = {"type": "object", "properties": {parameter: {"type": "string", "description": "Some text."}}}
    return {"type": "function", "function": {"name": name, "description": f"It does {name}.", "parameters": schema}}


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
_LATER = (Message("assistant", "Zanswer"), Message("user", "Zlater"))


def _detect(template: ChatTemplate) -> TemplateCapabilities:
    def prompt(*messages: Message, tools: tuple[JsonObject, ...] = (), thinking: bool = False) -> str:
        try:
            return template.render(messages, tools=tools, thinking=thinking)
        except ModelError:
            return ""

    offered = prompt(_SYSTEM, _QUESTION, tools=_TOOLS)
    one = _SYSTEM, _QUESTION, Message("assistant", "", _CALLS[:1]), _RESULTS[0]
    two = _SYSTEM, _QUESTION, Message("assistant", "", _CALLS), *_RESULTS
    # Directly, and one turn later: some templates drop what comes before the last question.
    after_one = [prompt(*one, tools=_TOOLS), prompt(*one, *_LATER, tools=_TOOLS)]
    after_two = prompt(*two, tools=_TOOLS)
    silent, thoughtful = prompt(_QUESTION), prompt(_QUESTION, thinking=True)
    return TemplateCapabilities(
        system_role=template.dialect.system_role,
        renders_tools=all(shows(offered, word) for word in ("zfirst", "zkeyone", "zsecond", "zkeytwo", "Zquestion")),
        renders_tool_calls=all(shows(after, "zvalueone") for after in after_one),
        renders_parallel_calls=shows(after_two, "zvalueone", "zvaluetwo"),
        renders_tool_results=all(shows(after, "Zquestion", "Zresultone") for after in after_one)
        and shows(after_one[1], "Zresultone", "Zanswer", "Zlater"),
        takes_thinking=silent != thoughtful,
        opened_tags=(opened_reasoning(silent), opened_reasoning(thoughtful)),
    )
