from __future__ import annotations

import datetime as dt
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from edgevox.core.errors import ModelError
from edgevox.core.types import Message, ToolCall
from edgevox.llm.prompt.templates import CHATML, ChatTemplate, Dialect, TemplateCapabilities, opened_reasoning, shows
from tests.llm.template_families import (
    ASK,
    CALL,
    DEEPSEEK,
    EXCHANGE,
    FAMILIES,
    GEMMA,
    GRANITE,
    LLAMA32,
    MISTRAL,
    PARTS,
    QWEN3,
    QWEN25,
    SMOLLM2,
    TOOLS,
    TWO_CALLS,
)

TALK = (Message("system", "Be short."), Message("user", "Hi"))


def render(source: str, messages: tuple[Message, ...] = TALK) -> str:
    return ChatTemplate(source, bos="<s>", eos="</s>").render(messages)


# --- messages


def test_chatml_ends_where_the_assistant_begins() -> None:
    assert render(CHATML) == (
        "<|im_start|>system\nBe short.<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"
    )


def test_the_assistants_beginning_can_be_left_out() -> None:
    assert ChatTemplate(CHATML).render(TALK, add_generation_prompt=False).endswith("Hi<|im_end|>\n")


def test_a_template_without_a_system_role_gets_it_in_the_first_question() -> None:
    assert "<start_of_turn>user\nBe short.\n\nHi<end_of_turn>" in render(GEMMA)


def test_a_system_message_that_would_be_dropped_in_silence_goes_into_the_question() -> None:
    assert render("{% for m in messages if m.role != 'system' %}{{ m.content }}{% endfor %}") == ("Be short.\n\nHi")


def test_a_late_system_message_without_a_place_goes_into_the_next_question() -> None:
    conversation = (*TALK, Message("assistant", "Yes?"), Message("system", "Dusk."), Message("user", "On"))
    assert "[INST]Dusk.\n\nOn[/INST]" in render(MISTRAL, conversation)
    assert "<|im_start|>system\nDusk.<|im_end|>" in render(QWEN25, conversation)


def test_two_questions_in_a_row_are_joined_where_turns_must_alternate() -> None:
    assert render(MISTRAL, (*TALK, Message("user", "Hello?"))) == (
        "<s>[SYSTEM_PROMPT]Be short.[/SYSTEM_PROMPT][INST]Hi\n\nHello?[/INST]"
    )


def test_a_question_in_place_of_an_answer_is_possible_where_turns_must_alternate() -> None:
    prompt = render(MISTRAL, (*EXCHANGE, Message("user", "Never mind.")))
    assert shows(prompt, "[/TOOL_RESULTS]", "…</s>", "[INST]Never mind.[/INST]")


def test_the_assistant_may_speak_first_where_turns_must_alternate() -> None:
    prompt = render(MISTRAL, (TALK[0], Message("assistant", "The egg is done."), Message("user", "Thanks")))
    assert shows(prompt, "[INST]", "[/INST]The egg is done.</s>[INST]Thanks")


def test_ids_reach_the_template_verbatim() -> None:
    assert render(MISTRAL, EXCHANGE).count("abc123def") == 2


def test_tool_calls_reach_the_template_as_objects() -> None:
    assert '"parameters": {"place": "Rome"}' in render(LLAMA32, EXCHANGE)
    assert '"arguments": {"place": "Rome"}' in render(GRANITE, EXCHANGE)


def test_arguments_are_text_where_the_template_joins_them() -> None:
    prompt = render(DEEPSEEK, EXCHANGE)
    assert shows(prompt, "<｜call｜>get_time\n", '```json\n{"place": "Rome"}\n```', "<｜output｜>noon")


def test_arguments_are_text_where_an_object_would_be_written_as_python() -> None:
    source = "{% for m in messages %}{{ m.content }}{% for c in m.tool_calls or [] %}{{ c.function }}{% endfor %}"
    printed = source.replace("c.function", "c.function.name ~ c.function.arguments") + "{% endfor %}"
    assert 'get_time{"place": "Rome"}' in render(printed, EXCHANGE)


def test_arguments_that_are_no_json_do_not_stop_the_conversation() -> None:
    broken = Message("assistant", "", (ToolCall("abc123def", "get_time", '{"place": '),))
    result = Message("tool", "invalid_arguments", tool_call_id="abc123def")
    assert shows(render(QWEN25, (*ASK, broken, result)), "get_time", "invalid_arguments")


def test_a_result_carries_the_name_of_its_tool() -> None:
    source = "{% for m in messages %}{{ m.content }} {{ m.name }}{% endfor %}"
    assert render(source, EXCHANGE).endswith("noon get_time")


def test_content_is_given_in_parts_where_text_is_not_understood() -> None:
    assert render(PARTS) == "system:Be short.;user:Hi;"


def test_past_reasoning_is_kept_apart_from_what_was_said() -> None:
    said = Message("assistant", "<think>\nA greeting.\n</think>\n\nHello.")
    conversation = (*TALK, said, Message("user", "Bye"))
    assert "<|im_start|>assistant\n<think>A greeting.</think>Hello.<|im_end|>" in render(QWEN3, conversation)
    assert "<|im_start|>assistant\nHello.<|im_end|>" in render(QWEN25, conversation)


def test_a_template_that_refuses_the_conversation_is_reported_with_its_own_words() -> None:
    with pytest.raises(ModelError, match="only on Sundays"):
        render("{{ raise_exception('only on Sundays') }}")


def test_a_template_that_stumbles_is_reported() -> None:
    with pytest.raises(ModelError, match="rejected the conversation"):
        render("{{ messages[7].content + 1 }}")


# --- the language of templates


def test_json_is_written_as_models_were_trained_on_it() -> None:
    tools = ({"name": "a<b", "note": "é & ü"},)
    template = ChatTemplate("{{ tools[0] | tojson if tools else messages[0].content }}")
    assert template.render(TALK, tools=tools) == '{"name": "a<b", "note": "é & ü"}'


@pytest.mark.parametrize(
    ("options", "written"),
    [
        ("indent=2", '{\n  "b": "é",\n  "a": 1\n}'),
        ("ensure_ascii=True", '{"b": "\\u00e9", "a": 1}'),
        ("separators=(',', ':')", '{"b":"é","a":1}'),
        ("sort_keys=True", '{"a": 1, "b": "é"}'),
    ],
)
def test_json_takes_the_options_of_hugging_face(options: str, written: str) -> None:
    assert render(f"{{{{ {{'b': 'é', 'a': 1}} | tojson({options}) }}}}") == written


def test_loops_can_be_left_and_namespaces_kept() -> None:
    source = (
        "{% set ns = namespace(n=0) %}{% for i in range(9) %}{% if i == 1 %}{% continue %}{% endif %}"
        "{% if i == 4 %}{% break %}{% endif %}{% set ns.n = ns.n + i %}{% endfor %}{{ ns.n }}"
    )
    assert render(source) == "5"


def test_texts_can_be_formatted() -> None:
    source = "{{ '**%s** %d' % ('a', 2024) }} {{ '{{\"n\": {:02d}}} 2024 {}'.format(7, 'b') }}"
    assert render(source) == '**a** 2024 {"n": 07} 2024 b'


def test_blocks_take_no_lines_of_their_own() -> None:
    assert render("  {% if true %}\nyes\n  {% endif %}\nno\n") == "yes\nno"


def test_what_marks_generated_text_for_training_is_passed_over() -> None:
    assert render("{% generation %}{{ messages[1].content }}{% endgeneration %}!") == "Hi!"


def test_documents_and_the_date_are_there() -> None:
    today = dt.datetime.now().astimezone()
    assert render("{{ documents is none }} {{ date_string }}") == f"True {today:%d %b %Y}"


def test_the_time_of_day_is_left_out_so_that_the_prompt_stays_the_same() -> None:
    assert render("{{ strftime_now('%H:%M:%S') }}") == "00:00:00"


# --- a template from a stranger


def test_a_broken_template_is_reported() -> None:
    with pytest.raises(ModelError, match="invalid chat template"):
        ChatTemplate("{% for %}")


def test_a_template_cannot_reach_out_of_its_sandbox() -> None:
    with pytest.raises(ModelError, match="unsafe"):
        render("{{ messages.__class__.__mro__ }}")


@contextmanager
def limited_memory(limit_bytes: int) -> Iterator[None]:
    tracemalloc.start()
    try:
        yield
    finally:
        _now, peak_bytes = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak_bytes < limit_bytes


def repeated(statement: str, start: str) -> str:
    return f"{{% set ns = namespace(x={start}) %}}{{% for i in range(99) %}}{statement}{{% endfor %}}"


NESTED = repeated("{% set ns.x = [ns.x, ns.x] %}", "['aa']")
GREEDY = {
    "repeats": "{{ 'a' * 1000000000 }}",
    "repeats a list": "{{ [1] * 1000000000 }}",
    "adds": repeated("{% set ns.x = ns.x + ns.x %}", "'a'"),
    "joins": repeated("{% set ns.x = ns.x ~ ns.x %}", "'a'"),
    "writes to itself": repeated("{% set ns.x %}{{ ns.x }}{{ ns.x }}{% endset %}", "'a'"),
    "prints what holds itself": NESTED + "{{ ns.x }}",
    "prints it as JSON": NESTED + "{{ ns.x | tojson }}",
    "prints the values of a dictionary": "{% set ns = namespace(x={}) %}{% for i in range(99) %}"
    "{% set ns.x = dict(a=ns.x, b=ns.x) %}{% endfor %}{{ ns.x.values() }}",
    "compares": NESTED + NESTED.replace("ns", "other") + "{{ ns.x == other.x }}",
    "pads with a pattern": "{{ '%999999999d' % 1 }}",
    "pads with a format": "{{ '{:999999999}'.format(1) }}",
    "pads with a computed format": "{{ '{:{}}'.format(1, 999999999) }}",
    "pads": "{{ 'a'.ljust(1000000000) }}",
    "replaces": "{% set x = 'a' * 1000000 %}{{ x.replace('a', x) }}",
    "replaces with a filter": "{% set x = 'a' * 1000000 %}{{ x | replace('a', x) }}",
    "joins a list": "{{ range(100000) | join('b' * 1000) }}",
    "joins a list with a method": "{{ ('b' * 1000).join('a' * 100000) }}",
    "indents": "{{ ('a\\n' * 100000) | indent(100000) }}",
    "keeps lists": "{% set ns = namespace(x=[]) %}{% for i in range(100000) %}"
    "{% set ns.x = ns.x + [range(100000) | list] %}{% endfor %}",
    "writes": "{% for i in range(100000) %}" + "x" * 1000 + "{% endfor %}",
    "counts far": "{{ range(1000000000) | length }}",
    "computes": repeated("{% set ns.x = ns.x * ns.x %}", "9"),
    "raises to a power": "{{ 9 ** 999999999 }}",
    "calls itself": "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
}


@pytest.mark.parametrize("source", GREEDY.values(), ids=GREEDY)
def test_a_greedy_template_is_stopped_before_it_takes_memory(source: str) -> None:
    template = ChatTemplate(source)
    with pytest.raises(ModelError), limited_memory(300_000_000):
        template.render_as(Dialect(), TALK)


@pytest.mark.parametrize(
    "source",
    [
        "{% for a in range(99999) %}{% for b in range(99999) %}{% set c = a %}{% endfor %}{% endfor %}",
        "{% macro f(n) %}{{ f(n - 1) if n }}{{ f(n - 1) if n }}{% endmacro %}{{ f(99) }}",
    ],
    ids=["loops", "recursion"],
)
def test_a_template_that_never_ends_is_stopped(source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("edgevox.llm.prompt.sandbox._CPU_S", 0.05)
    with pytest.raises(ModelError, match="takes more than"):
        render(source)


def test_a_template_of_a_megabyte_is_refused() -> None:
    with pytest.raises(ModelError, match="longer than"):
        ChatTemplate("x" * 1_000_000)


def test_a_long_conversation_is_within_the_bounds() -> None:
    turns = (Message("user", "word " * 1000), Message("assistant", "word " * 1000)) * 100
    assert len(render(QWEN25, (*turns, Message("user", "Hi")))) > 1_000_000


# --- abilities


def can(source: str) -> TemplateCapabilities:
    return ChatTemplate(source, bos="<s>", eos="</s>").capabilities


@pytest.mark.parametrize(
    ("family", "tools", "calls", "parallel", "results"),
    [
        ("smollm2", False, False, False, True),
        ("qwen2.5", True, True, True, True),
        ("qwen3", True, True, True, True),
        ("llama3.2", True, True, False, True),
        ("mistral", True, True, True, True),
        ("gemma", False, False, False, False),
        ("granite", True, True, True, True),
        ("deepseek", False, True, True, True),
        ("lfm2", True, False, False, True),
    ],
)
def test_what_a_template_can_write_is_found_by_rendering(
    family: str, tools: bool, calls: bool, parallel: bool, results: bool
) -> None:
    found = can(FAMILIES[family])
    assert found.renders_tools == tools
    assert found.renders_tool_calls == calls
    assert found.renders_parallel_calls == parallel
    assert found.renders_tool_results == results


def test_naming_tools_in_the_source_is_not_enough() -> None:
    mentions = "{% if false %}{{ tools }}{{ tool_calls }}{% endif %}" + CHATML
    assert not can(mentions).renders_tools


def test_a_template_without_a_system_role_is_noticed() -> None:
    assert not ChatTemplate(GEMMA).dialect.system_role
    assert ChatTemplate(MISTRAL).dialect.system_role


def test_thinking_switches_are_found_whatever_they_are_called() -> None:
    assert can(QWEN3).takes_thinking
    assert can(GRANITE).takes_thinking
    assert not can(SMOLLM2).takes_thinking


def test_an_open_reasoning_block_is_found() -> None:
    assert opened_reasoning(ChatTemplate(QWEN3).render(TALK, thinking=True)) == "<think>"
    assert opened_reasoning(render(QWEN3)) == ""
    assert opened_reasoning(render(DEEPSEEK)) == "<think>"
    assert opened_reasoning("[/INST][THINK]") == "[THINK]"


def test_abilities_are_found_out_once() -> None:
    template = ChatTemplate(QWEN25)
    assert template.capabilities is template.capabilities


@pytest.mark.parametrize("source", FAMILIES.values(), ids=FAMILIES)
def test_every_family_renders_a_plain_conversation(source: str) -> None:
    prompt = render(source)
    assert shows(prompt, "Be short.", "Hi")


def test_two_calls_reach_a_template_that_writes_both() -> None:
    assert shows(render(QWEN25, TWO_CALLS), "get_time", "set_light", "noon", '{"done": true}')


def test_tools_reach_the_template() -> None:
    prompt = ChatTemplate(QWEN25).render(ASK, tools=TOOLS)
    assert shows(prompt, "<tools>", CALL.name, "set_light", "</tools>", "Rome")
