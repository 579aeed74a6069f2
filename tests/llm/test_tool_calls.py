"""Models without tool training, constrained to call tools: a small real one, and its first layers alone."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import jsonschema
import pytest

from edgevox.core.turn import CancelFlag
from edgevox.core.types import (
    Busy,
    ChatDelta,
    ChatDone,
    ChatReply,
    ChatRequest,
    JsonObject,
    Message,
    NamedTool,
    Sampling,
    ToolChoice,
)
from edgevox.llm.engine import LlamaEngine
from edgevox.llm.tool_parsers import DETECTORS, parse_reply

pytestmark = pytest.mark.engine

HOT = Sampling(temperature=1.0, top_p=1.0, top_k=0, min_p=0.0, max_tokens=200)


def tool(name: str, properties: Mapping[str, Any], *required: str) -> JsonObject:
    return {
        "type": "function",
        "function": {
            "name": name,
            "description": f"It does {name}.",
            "parameters": {
                "type": "object",
                "properties": dict(properties),
                "required": list(required),
                "additionalProperties": False,
            },
        },
    }


TOOLS = (
    tool(
        "set_light",
        {"room": {"enum": ["hall", "kitchen"]}, "level": {"type": "integer", "minimum": 0, "maximum": 100}},
        "room",
        "level",
    ),
    tool("get_time", {}),
    tool("send", {"to": {"type": "string", "maxLength": 20}, "urgent": {"type": "boolean"}}, "to"),
)
QUESTION = (Message("system", "You help in a house."), Message("user", "Set the light in the kitchen to forty."))


@pytest.fixture(scope="module")
def guided(shallow_path: Path) -> LlamaEngine:
    engine = LlamaEngine(shallow_path, context_tokens=2048, threads=1, constraint_engine="llguidance")
    engine.load()
    return engine


@pytest.fixture(scope="module")
def native(shallow_path: Path) -> LlamaEngine:
    engine = LlamaEngine(shallow_path, context_tokens=2048, threads=1, constraint_engine="llama.cpp")
    engine.load()
    return engine


@pytest.fixture(params=["llguidance", "llama.cpp"])
def engine(request: pytest.FixtureRequest, guided: LlamaEngine, native: LlamaEngine) -> LlamaEngine:
    return guided if request.param == "llguidance" else native


@pytest.fixture(scope="module")
def thinker(shallow_path: Path) -> LlamaEngine:
    """A model whose template has a switch for reasoning."""
    template = (
        "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}"
        "{% if not enable_thinking %}(no thoughts){% endif %}assistant: "
    )
    engine = LlamaEngine(shallow_path, context_tokens=2048, threads=1, chat_template=template)
    engine.load()
    return engine


def ask(
    engine: LlamaEngine,
    *,
    choice: ToolChoice = "required",
    wire_format: str | None = "hermes",
    sampling: Sampling = HOT,
    parallel: bool = False,
    thinking: bool = False,
    schema: JsonObject | None = None,
) -> tuple[str, ChatDone]:
    request = ChatRequest(
        QUESTION,
        tools=() if schema else TOOLS,
        sampling=sampling,
        tool_choice=choice,
        wire_format=wire_format,
        parallel_calls=parallel,
        thinking=thinking,
        json_schema=schema,
    )
    replies: list[ChatReply | Busy] = list(engine.run(request, CancelFlag()))
    done = replies[-1]
    assert isinstance(done, ChatDone)
    return "".join(reply.text for reply in replies if isinstance(reply, ChatDelta)), done


def valid_calls(text: str, wire_format: str) -> list[str]:
    """The names of the calls in a reply that must be nothing but calls of offered tools."""
    reply = parse_reply(text, preset_parsers=(wire_format,), tools=[dict(tool) for tool in TOOLS])
    assert reply.calls, text
    assert not reply.rejected
    assert not reply.text.strip()
    for call in reply.calls:
        assert call.error is None
        (schema,) = (t["function"]["parameters"] for t in TOOLS if t["function"]["name"] == call.name)
        jsonschema.validate(json.loads(call.arguments), schema)
    return [call.name for call in reply.calls]


@pytest.mark.parametrize("constraint_engine", ["llguidance", "llama.cpp"])
def test_a_whole_model_makes_the_required_call(
    smollm2_copy_path: Path, constraint_engine: Literal["llguidance", "llama.cpp"]
) -> None:
    whole = LlamaEngine(smollm2_copy_path, context_tokens=512, threads=1, constraint_engine=constraint_engine)
    whole.load()
    assert len(valid_calls(ask(whole)[0], "hermes")) == 1


def test_a_required_call_is_always_valid(engine: LlamaEngine) -> None:
    for _ in range(3):
        text, done = ask(engine)
        assert len(valid_calls(text, "hermes")) == 1
        assert done.finish_reason == "stop"


FORCIBLE = [name for name, detector in DETECTORS.items() if detector.wrapper is not None]


@pytest.mark.parametrize("wire_format", FORCIBLE)
def test_every_format_can_be_forced(guided: LlamaEngine, wire_format: str) -> None:
    text, _ = ask(guided, wire_format=wire_format)
    assert len(valid_calls(text, wire_format)) == 1


def test_the_named_tool_is_called(engine: LlamaEngine) -> None:
    for name in ("get_time", "send"):
        text, _ = ask(engine, choice=NamedTool(name))
        assert valid_calls(text, "hermes") == [name]


def test_several_calls_may_be_made_at_once(engine: LlamaEngine) -> None:
    text, done = ask(engine, parallel=True)
    if done.finish_reason == "stop":
        assert valid_calls(text, "hermes")


def test_a_reply_can_be_constrained_to_any_schema(engine: LlamaEngine) -> None:
    schema = {
        "type": "object",
        "properties": {"city": {"type": "string", "maxLength": 20}, "size": {"enum": [1, 2, 3]}},
        "required": ["city", "size"],
        "additionalProperties": False,
    }
    for _ in range(2):
        text, _ = ask(engine, schema=schema)
        jsonschema.validate(json.loads(text), schema)


def test_left_to_itself_the_model_may_just_talk(engine: LlamaEngine) -> None:
    text, _ = ask(engine, choice="auto", sampling=Sampling(temperature=0.0, max_tokens=40))
    assert text.strip()


def test_with_none_no_call_begins(engine: LlamaEngine) -> None:
    for _ in range(3):
        text, _ = ask(engine, choice="none", sampling=Sampling(temperature=1.0, max_tokens=24))
        assert "<tool_call>" not in text


def test_reasoning_comes_before_a_required_call(thinker: LlamaEngine) -> None:
    text, done = ask(thinker, thinking=True)
    assert text.startswith("<think>")
    thoughts, _, call = text.partition("</think>")
    assert "<tool_call>" not in thoughts
    assert len(valid_calls(call, "hermes")) == 1
    assert done.finish_reason == "stop"


def test_a_model_that_does_not_think_is_not_made_to(engine: LlamaEngine) -> None:
    text, _ = ask(engine, thinking=True)
    assert "<think>" not in text
    assert len(valid_calls(text, "hermes")) == 1


@pytest.mark.parametrize("share", [0.2, 0.5, 0.9])
@pytest.mark.parametrize("choice", ["required", "auto"])
def test_an_interrupted_call_is_continued(engine: LlamaEngine, choice: ToolChoice, share: float) -> None:
    call = '<tool_call>\n{"name": "set_light", "arguments": {"room": "hall", "level": 40}}\n</tool_call>'
    begun = call[: int(len(call) * share)]
    request = ChatRequest(
        QUESTION, tools=TOOLS, tool_choice=choice, wire_format="hermes", sampling=HOT, reply_prefix=begun
    )
    written = begun + "".join(reply.text for reply in engine.run(request, CancelFlag()) if isinstance(reply, ChatDelta))
    (item,) = parse_reply(written, preset_parsers=("hermes",), tools=[dict(one) for one in TOOLS]).calls
    assert item.error is None


def test_an_interrupted_text_is_continued(engine: LlamaEngine) -> None:
    cold = Sampling(temperature=0.0, max_tokens=40)
    first = ChatRequest(QUESTION, sampling=cold)

    def text(request: ChatRequest) -> str:
        return "".join(reply.text for reply in engine.run(request, CancelFlag()) if isinstance(reply, ChatDelta))

    whole = text(first)
    begun = whole[: len(whole) // 2].rsplit(" ", 1)[0]
    continued = ChatRequest(QUESTION, sampling=cold, reply_prefix=begun)
    assert text(continued)
    done = [reply for reply in engine.run(continued, CancelFlag()) if isinstance(reply, ChatDone)]
    assert done[0].generated_tokens <= cold.max_tokens
    assert not text(continued).startswith(whole[:20]), "it does not begin again"
