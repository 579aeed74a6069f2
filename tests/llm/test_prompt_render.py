from __future__ import annotations

import dataclasses
import functools
import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from edgevox.core.errors import ConfigError
from edgevox.core.types import ChatRequest, JsonObject, Message, ToolCall, ToolsAs
from edgevox.llm.presets import resolve_preset
from edgevox.llm.prompt.control_tokens import PromptPiece
from edgevox.llm.prompt.render import Prompt, fit_request, render_prompt, stable_prefix
from edgevox.llm.prompt.templates import CHATML, ChatTemplate, shows
from edgevox.llm.prompt.tool_lines import tools_text
from edgevox.llm.tool_parsers import DETECTORS, parse_reply
from tests.llm.template_families import (
    ASK,
    CALL,
    EXCHANGE,
    FAMILIES,
    GEMMA,
    LFM2,
    LLAMA32,
    MISTRAL,
    OTHER_CALL,
    OTHER_RESULT,
    QWEN25,
    RESULT,
    SMOLLM2,
    TOOLS,
    TWO_CALLS,
    tool,
)

CONTROL = ("<|im_start|>", "<|im_end|>", "<|eot_id|>", "<start_of_turn>", "[INST]", "[TOOL_CALLS]", "</s>", "<s>")
BOTH = Message("assistant", "", (CALL, OTHER_CALL))


@functools.cache
def compiled(source: str) -> ChatTemplate:
    return ChatTemplate(source, bos="<s>", eos="</s>")


def fit(
    source: str,
    messages: tuple[Message, ...] = TWO_CALLS,
    wire_format: str | None = "hermes",
    *,
    tools: tuple[JsonObject, ...] = TOOLS,
    tools_as: ToolsAs = "template",
) -> ChatRequest:
    request = ChatRequest(messages, tools=tools, wire_format=wire_format, tools_as=tools_as)
    return fit_request(request, compiled(source).capabilities)


def prompt(
    source: str,
    messages: tuple[Message, ...],
    *,
    tools: tuple[JsonObject, ...] = TOOLS,
    wire_format: str | None = "hermes",
    control_tokens: tuple[str, ...] = CONTROL,
) -> Prompt:
    request = ChatRequest(messages, tools=tools, wire_format=wire_format)
    return render_prompt(compiled(source), request, control_tokens)


# --- fitting


def test_a_template_that_can_write_everything_gets_everything() -> None:
    assert fit(QWEN25) == ChatRequest(TWO_CALLS, tools=TOOLS, wire_format="hermes")


def test_tools_that_cannot_be_written_stand_first_in_the_system_prompt() -> None:
    fitted = fit(SMOLLM2, ASK)
    system, question = fitted.messages
    assert fitted.tools == ()
    assert question == ASK[1]
    assert shows(system.content, "get_time: The time in a place.", "set_light: Switch a light.", "Be short.")
    assert '{"type":"object","properties":{"place":{"type":"string"}},"required":["place"]}' in system.content


def test_tools_get_a_system_prompt_where_there_is_none() -> None:
    system, question = fit(SMOLLM2, ASK[1:]).messages
    assert system.role == "system"
    assert question == ASK[1]


def test_without_tools_nothing_is_said_about_them() -> None:
    assert fit(SMOLLM2, ASK, tools=()).messages == ASK


@pytest.mark.parametrize("wire_format", sorted(DETECTORS.keys() - {"python_list"}))
def test_the_form_that_is_asked_for_is_the_form_that_is_read(wire_format: str) -> None:
    system = fit(SMOLLM2, ASK, wire_format).messages[0].content
    shown = system.split("in this form:\n")[1].split("\nYou are then told")[0]
    offered = (tool("tool_name", "Any.", argument={"type": "string"}),)
    (call,) = parse_reply(shown, preset_parsers=(wire_format,), tools=offered).calls
    assert (call.name, json.loads(call.arguments)) == ("tool_name", {"argument": "value"})


@pytest.mark.parametrize("wire_format", sorted(DETECTORS))
def test_past_calls_that_cannot_be_written_are_the_assistants_text(wire_format: str) -> None:
    said = fit(SMOLLM2, TWO_CALLS, wire_format).messages[2]
    assert said.role == "assistant"
    assert not said.tool_calls
    calls = parse_reply(said.content, preset_parsers=(wire_format,), tools=TOOLS).calls
    assert [(call.name, json.loads(call.arguments)) for call in calls] == [
        (call.name, json.loads(call.arguments)) for call in (CALL, OTHER_CALL)
    ]


def test_a_model_that_was_not_trained_on_lines_is_told_the_form_of_its_calls() -> None:
    system = fit(QWEN25, ASK, tools_as="lines").messages[0].content
    assert system.startswith(tools_text(TOOLS))
    assert "in this form:\n<tool_call>" in system


def test_tools_in_lines_stand_first_and_no_template_writes_them() -> None:
    fitted = fit(QWEN25, TWO_CALLS, "python_list", tools_as="lines")
    assert not fitted.tools
    assert fitted.messages[0].content == f"{tools_text(TOOLS)}\n\n{TWO_CALLS[0].content}"
    assert fitted.messages[2].content.startswith(f"[{CALL.name}(")
    assert {message.role for message in fitted.messages} == {"system", "user", "assistant"}


def test_words_before_a_call_are_kept() -> None:
    spoken = (*ASK, Message("assistant", "One moment.", (CALL,)), RESULT)
    assert fit(SMOLLM2, spoken).messages[2].content.startswith("One moment.\n<tool_call>")


def test_results_that_cannot_be_written_come_back_as_one_message_of_the_user() -> None:
    last = fit(SMOLLM2).messages[-1]
    assert last == Message(
        "user",
        '(The tools have run: get_time gave "noon"; set_light gave {"done": true}. '
        "Now answer my last request in one sentence.)",
    )


def test_a_result_of_an_earlier_turn_keeps_its_words() -> None:
    later = (*EXCHANGE, Message("assistant", "Noon."), Message("user", "Thanks"))
    assert fit(SMOLLM2, later).messages[: len(EXCHANGE)] == fit(SMOLLM2, EXCHANGE).messages


def test_results_of_a_model_that_writes_its_calls_as_text_stay_tool_messages() -> None:
    fitted = fit(LFM2, EXCHANGE, "lfm2")
    assert fitted.tools == TOOLS
    assert fitted.messages[2].content.startswith("<|tool_call_start|>")
    assert fitted.messages[3] == RESULT


def test_calls_are_taken_apart_where_only_one_at_a_time_can_be_written() -> None:
    assert fit(LLAMA32, (*ASK, dataclasses.replace(BOTH, content="So."), RESULT, OTHER_RESULT)).messages == (
        *ASK,
        Message("assistant", "So.", (CALL,)),
        RESULT,
        Message("assistant", "", (OTHER_CALL,)),
        OTHER_RESULT,
    )


def test_a_call_without_its_result_is_kept() -> None:
    assert fit(LLAMA32, (*ASK, BOTH, OTHER_RESULT)).messages[2:4] == (
        Message("assistant", "", (CALL,)),
        Message("assistant", "", (OTHER_CALL,)),
    )


def test_the_generic_form_is_taught_in_words_whatever_the_template_can_do() -> None:
    fitted = fit(QWEN25, EXCHANGE, "generic_xml")
    assert fitted.tools == ()
    assert "<name>tool_name</name>" in fitted.messages[0].content
    assert shows(fitted.messages[2].content, "<name>get_time</name>", "<arguments>")
    assert fitted.messages[3].role == "user"


def test_tools_that_a_template_stumbles_over_are_said_in_words() -> None:
    needs_parameters = (
        "{% for t in tools or [] %}{% set f = t.function %}"
        "{{ f.name + f.parameters.properties.keys() | join }}{% endfor %}"
        "{% for m in messages %}{{ m.content }}{% endfor %}"
    )
    bare: JsonObject = {"type": "function", "function": {"name": "nod", "description": "Nod."}}
    assert prompt(needs_parameters, ASK).text.startswith("get_timeplace")
    assert shows(prompt(needs_parameters, ASK, tools=(bare,)).text, "- nod: Nod. Arguments: {}", "Rome")


def test_an_unknown_wire_format_is_reported() -> None:
    with pytest.raises(ConfigError, match="unknown wire format morse"):
        fit(QWEN25, wire_format="morse")


def test_the_generic_preset_teaches_the_generic_form() -> None:
    preset = resolve_preset("generic")
    text = prompt(preset.chat_template or CHATML, ASK, wire_format=preset.tool_call_parsers[0]).text
    assert shows(text, "<|im_start|>system", "get_time", "<name>tool_name</name>", "Be short.", "Rome?")


@pytest.mark.parametrize("source", FAMILIES.values(), ids=FAMILIES)
@pytest.mark.parametrize("wire_format", ["hermes", "generic_xml", None])
def test_every_family_gets_the_whole_conversation(source: str, wire_format: str | None) -> None:
    later = (*TWO_CALLS, Message("user", "And in Oslo?"))
    text = prompt(source, later, wire_format=wire_format).text
    assert "Be short." in text
    assert shows(text, "in Rome?", "get_time", "Rome", "noon", "Oslo?")
    assert shows(text, "set_light", "hall", "done")


# --- control tokens


def test_a_control_token_in_a_question_stays_text() -> None:
    asked = (ASK[0], Message("user", "What is <|im_end|> for?"))
    start, token, rest = prompt(QWEN25, asked, tools=()).pieces
    assert start.special
    assert start.text.endswith("user\nWhat is ")
    assert token == PromptPiece("<|im_end|>", special=False)
    assert rest == PromptPiece(" for?<|im_end|>\n<|im_start|>assistant\n", special=True)


def test_a_conversation_without_control_tokens_is_one_piece() -> None:
    assert [piece.special for piece in prompt(QWEN25, EXCHANGE).pieces] == [True]


def test_results_tools_and_arguments_stay_text() -> None:
    bad = "<|im_end|>"
    hostile = (
        Message("system", f"1{bad}"),
        Message("user", f"2{bad}"),
        Message("assistant", f"3{bad}", (ToolCall("abc123def", "get_time", f'{{"place": "4{bad}"}}'),)),
        Message("tool", f"5{bad}", tool_call_id="abc123def"),
    )
    tools = (tool("get_time", f"6{bad}", **{f"7{bad}": {"enum": [f"8{bad}"]}}),)
    kept = prompt(QWEN25, hostile, tools=tools).pieces
    assert [piece.text for piece in kept if not piece.special] == [bad] * 9  # 7 stands there twice: required
    assert "".join(piece.text for piece in kept if piece.special).count(bad) == 4  # the template's own


def test_an_escape_in_the_arguments_hides_nothing() -> None:
    hidden = ToolCall("abc123def", "get_time", '{"place": "\\u003c|im_end|>"}')
    kept = prompt(QWEN25, (*ASK, Message("assistant", "", (hidden,)), RESULT)).pieces
    assert PromptPiece("<|im_end|>", special=False) in kept


def test_the_assistants_call_markers_are_not_content() -> None:
    """Mistral's marker is a control token: written by us, it must be one."""
    text = prompt(GEMMA, EXCHANGE, wire_format="mistral").pieces
    assert [piece.special for piece in text] == [True]
    assert "[TOOL_CALLS]" in text[0].text


def test_a_private_character_of_the_user_is_left_alone() -> None:
    said = f"{chr(0xF0000)}{chr(0xF0001)} \\udb80\\udc02 <|im_end|>"
    made = prompt(QWEN25, (ASK[0], Message("user", said)))
    assert said in made.text
    assert [piece.text for piece in made.pieces if not piece.special] == ["<|im_end|>"]


def test_json_in_ascii_hides_nothing() -> None:
    source = "{% for m in messages %}{{ m.content | tojson(ensure_ascii=True) }}{% endfor %}"
    made = prompt(source, (Message("user", "é<|im_end|>"),), tools=())
    assert [piece.text for piece in made.pieces] == ['"\\u00e9', "<|im_end|>", '"']


def test_two_contents_do_not_make_a_control_token_together() -> None:
    source = "{% for m in messages %}{{ m.content | trim }}{% endfor %}"
    said = (Message("user", "a<|im_ "), Message("assistant", "end|>b"))
    assert prompt(source, said, tools=()).pieces == (
        PromptPiece("a", special=True),
        PromptPiece("<|im_end|>", special=False),
        PromptPiece("b", special=True),
    )


PARTS = st.sampled_from(
    [*CONTROL, "<|im_", "end|>", "<", "|>", "[", "INST]", "a", " ", "\n", '"', "\\", chr(0xF0000), chr(0x10FFFD)]
)
TEXTS = st.lists(PARTS, max_size=8).map("".join)


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(sorted(FAMILIES)), TEXTS, TEXTS, TEXTS, TEXTS, TEXTS)
@example("qwen2.5", "<", "<|im_end|>", "<<|im_end|>", "<|im_<|im_end|>", "<s>")
def test_no_content_becomes_a_control_token(
    family: str, system: str, question: str, place: str, result: str, description: str
) -> None:
    def conversation(*texts: str) -> tuple[tuple[Message, ...], tuple[JsonObject, ...]]:
        call = ToolCall("abc123def", "get_time", json.dumps({"place": texts[2]}, ensure_ascii=False))
        return (
            Message("system", texts[0]),
            Message("user", texts[1]),
            Message("assistant", "", (call,)),
            Message("tool", texts[3], tool_call_id="abc123def"),
        ), (tool("get_time", texts[4], place={"type": "string"}),)

    messages, tools = conversation(system, question, place, result, description)
    made = prompt(FAMILIES[family], messages, tools=tools)
    assert made.text == prompt(FAMILIES[family], messages, tools=tools, control_tokens=()).text
    harmless, harmless_tools = conversation("x", "x", "x", "x", "x")
    own = prompt(FAMILIES[family], harmless, tools=harmless_tools)
    for token in CONTROL:
        special = sum(piece.text.count(token) for piece in made.pieces if piece.special)
        assert special == own.text.count(token)


# --- the stable start


def prefix(source: str, messages: tuple[Message, ...] = ASK, wire_format: str = "hermes") -> str:
    return stable_prefix(compiled(source), ChatRequest(messages, tools=TOOLS, wire_format=wire_format))


@pytest.mark.parametrize("source", FAMILIES.values(), ids=FAMILIES)
def test_the_stable_start_holds_the_system_prompt_and_the_tools(source: str) -> None:
    start = prefix(source)
    assert "Be short." in start
    assert shows(start, "get_time", "set_light")
    assert "Rome" not in start
    assert prompt(source, ASK).text.startswith(start)


def test_the_stable_start_is_the_same_in_every_turn() -> None:
    late = (*EXCHANGE, Message("system", "It is dusk."), Message("user", "On"))
    assert prefix(SMOLLM2, late) == prefix(SMOLLM2, ASK)
    assert prompt(SMOLLM2, late).text.startswith(prefix(SMOLLM2))


def test_tools_of_a_strict_template_are_in_its_stable_start() -> None:
    assert prefix(MISTRAL).endswith("[/AVAILABLE_TOOLS][INST]")
