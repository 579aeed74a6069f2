from __future__ import annotations

import pytest

from edgevox.errors import ModelError
from edgevox.llm.templates import CHATML, ChatTemplate
from edgevox.types import Message, ToolCall

TALK = (Message("system", "Be short."), Message("user", "Hi"))


def test_chatml_ends_where_the_assistant_begins() -> None:
    assert ChatTemplate(CHATML).render(TALK) == (
        "<|im_start|>system\nBe short.<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"
    )


def test_a_template_without_a_system_role_gets_it_in_the_first_question() -> None:
    strict = (
        "{% for m in messages %}{% if m.role == 'system' %}{{ raise_exception('no system') }}{% endif %}"
        "{{ m.role }}: {{ m.content }}\n{% endfor %}"
    )
    assert ChatTemplate(strict).render(TALK) == "user: Be short.\n\nHi\n"


def test_a_template_that_refuses_the_conversation_is_reported_with_its_own_words() -> None:
    with pytest.raises(ModelError, match="only on Sundays"):
        ChatTemplate("{{ raise_exception('only on Sundays') }}").render(TALK)


def test_a_broken_template_is_reported() -> None:
    with pytest.raises(ModelError, match="cannot be read"):
        ChatTemplate("{% for %}")


def test_a_template_cannot_reach_out_of_its_sandbox() -> None:
    with pytest.raises(ModelError, match="unsafe"):
        ChatTemplate("{{ messages.__class__.__mro__ }}").render(TALK)


def test_json_is_written_as_models_were_trained_on_it() -> None:
    tools = ({"name": "a<b", "note": "é & ü"},)
    assert (
        ChatTemplate("{{ tools[0] | tojson }}").render(TALK, tools=tools)
        == '{"name": "a<b", "note": "é & ü"}'
    )


def test_tool_calls_reach_the_template_as_objects() -> None:
    call = ToolCall("abc123def", "set_light", '{"on": true}')
    messages = (*TALK, Message("assistant", "", (call,)), Message("tool", "done", tool_call_id="abc123def"))
    source = (
        "{% for m in messages %}{% if m.tool_calls %}{{ m.tool_calls[0].function.arguments.on }}"
        "{% elif m.role == 'tool' %} {{ m.tool_call_id }}{% endif %}{% endfor %}"
    )
    assert ChatTemplate(source).render(messages) == "True abc123def"


def test_the_thinking_switch_reaches_the_template() -> None:
    template = ChatTemplate("{{ 'think' if enable_thinking else 'speak' }}")
    assert template.render(TALK, thinking=True) == "think"
    assert template.render(TALK, thinking=False) == "speak"
