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
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from edgevox.core.errors import ModelError
from edgevox.core.types import JsonObject, Message, ToolCall
from edgevox.llm.prompt.sandbox import TEMPLATE_FAULTS, TemplateEnvironment, strftime_today
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
        try:
            self._template = self._environment.compile_template(source)
        except TEMPLATE_FAULTS as error:
            raise ModelError(f"invalid chat template: {error}", hint="set chat_template in the preset") from error
        self._special = {"bos_token": bos, "eos_token": eos}

    @functools.cached_property
    def dialect(self) -> Dialect:
        return _find_dialect(self)

    @functools.cached_property
    def capabilities(self) -> TemplateCapabilities:
        return _find_capabilities(self)

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
    # The history also contains calls rejected for their arguments, with the error as their result.
    arguments = call.arguments if dialect.text_arguments else parse_object(call.arguments) or {}
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}}


def parse_object(text: str) -> dict[str, Any] | None:
    """Return the JSON object in `text`, or None if it is anything else."""
    try:
        content = json.loads(text)
    except ValueError:
        return None
    return content if isinstance(content, dict) else None


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
                joined = "\n\n".join(filter(None, (last.content, message.content)))
                turns[-1] = dataclasses.replace(message, content=joined)
            case Message("tool"), Message("user"):  # the answer was cancelled before it began
                turns += [Message("assistant", "…"), message]
            case ((None | Message("system")), Message("assistant")):
                turns += [Message("user", "(The assistant speaks first.)"), message]
            case _:
                turns.append(message)
    return tuple(turns)


# --- detection


def opened_reasoning(prompt: str) -> str:
    """Return the reasoning tag at the end of the prompt, or ""."""
    end = prompt[-_TAIL_CHARS:].rstrip()
    return next((tag for tag in REASONING_TAGS if end.endswith(tag)), "")


def shows(prompt: str, *words: str) -> bool:
    """Whether `words` occur in the prompt in that order."""
    position = 0
    for word in words:
        position = prompt.find(word, position)
        if position < 0:
            return False
        position += len(word)
    return True


# The tags around reasoning: start to end.
REASONING_TAGS = {begin.rstrip(): style.ends[0] for style in STYLES for begin in style.begins}
_TAIL_CHARS = 100


def _tool(name: str, parameter: str) -> JsonObject:
    schema = {"type": "object", "properties": {parameter: {"type": "string", "description": "Some text."}}}
    return {"type": "function", "function": {"name": name, "description": f"It does {name}.", "parameters": schema}}


_SYSTEM = Message("system", "Zsystem")
_QUESTION = Message("user", "Zquestion")
_ANSWER = Message("assistant", "Zanswer")
_TOOLS = (_tool("zfirst", "zkeyone"), _tool("zsecond", "zkeytwo"))
# Ids of nine letters and digits, as Mistral's templates demand.
_CALLS = (
    ToolCall("Zcallid01", "zfirst", '{"zkeyone": "zvalueone"}'),
    ToolCall("Zcallid02", "zsecond", '{"zkeytwo": "zvaluetwo"}'),
)
_ONE_CALL = Message("assistant", "", _CALLS[:1])
_RESULTS = (
    Message("tool", "Zresultone", tool_call_id="Zcallid01"),
    Message("tool", "Zresulttwo", tool_call_id="Zcallid02"),
)


def _find_dialect(template: ChatTemplate) -> Dialect:
    def renders(dialect: Dialect, messages: tuple[Message, ...], *words: str) -> bool:
        try:
            prompt = template.render_as(dialect, messages, tools=_TOOLS[:1] if _ONE_CALL in messages else ())
        except ModelError:
            return False
        # A Python dict, or JSON inside JSON, shows that arguments were passed in the wrong form.
        return shows(prompt, *words) and "'zkeyone':" not in prompt and '\\"zkeyone' not in prompt

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
    exchanges = (_QUESTION, _ONE_CALL, _RESULTS[0]), (_QUESTION, _ONE_CALL)
    for exchange, text, null in itertools.product(exchanges, (False, True), (False, True)):
        candidate = dataclasses.replace(dialect, text_arguments=text, null_content=null)
        if renders(candidate, exchange, "Zquestion", "zfirst", "zvalueone"):
            return candidate
    return dialect


@dataclass(frozen=True, slots=True)
class TemplateCapabilities:
    """What a template renders in the model's own format; by default everything."""

    renders_tools: bool = True
    renders_tool_calls: bool = True
    renders_parallel_calls: bool = True
    renders_tool_results: bool = True
    takes_thinking: bool = True


def _find_capabilities(template: ChatTemplate) -> TemplateCapabilities:
    def prompt(*messages: Message, tools: tuple[JsonObject, ...] = _TOOLS, thinking: bool = False) -> str:
        try:
            return template.render(messages, tools=tools, thinking=thinking)
        except ModelError:
            return ""

    offered = prompt(_SYSTEM, _QUESTION)
    one = _SYSTEM, _QUESTION, _ONE_CALL, _RESULTS[0]
    # Directly, and one turn later: some templates drop what comes before the last question.
    after_one = [prompt(*one), prompt(*one, _ANSWER, Message("user", "Zlater"))]
    after_two = prompt(_SYSTEM, _QUESTION, Message("assistant", "", _CALLS), *_RESULTS)
    return TemplateCapabilities(
        renders_tools=all(shows(offered, word) for word in ("zfirst", "zkeyone", "zsecond", "zkeytwo", "Zquestion")),
        renders_tool_calls=all(shows(after, "zvalueone") for after in after_one),
        renders_parallel_calls=shows(after_two, "zvalueone", "zvaluetwo"),
        renders_tool_results=all(shows(after, "Zquestion", "Zresultone") for after in after_one)
        and shows(after_one[1], "Zresultone", "Zanswer", "Zlater"),
        takes_thinking=prompt(_QUESTION, tools=()) != prompt(_QUESTION, tools=(), thinking=True),
    )
