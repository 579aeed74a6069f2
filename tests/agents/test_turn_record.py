from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edgevox.agents.conversation import (
    INTERRUPTED,
    NO_RESULT,
    complete_turn,
    mark_truncated,
    messages_as_json,
    messages_from_json,
)
from edgevox.core.types import Message, ToolCall

ASKED = Message("user", "Lights and music, please.")
LIGHT, MUSIC = ToolCall("a", "turn_on", '{"name": "lamp"}'), ToolCall("b", "media_unpause", "{}")
CALLED = Message("assistant", "One moment.", (LIGHT, MUSIC))
LIT, PLAYED = Message("tool", "on", tool_call_id="a"), Message("tool", "playing", tool_call_id="b")
SAID = Message("assistant", "Both are on.")
WHOLE = (ASKED, CALLED, LIT, PLAYED, SAID)

messages = st.builds(
    Message,
    st.sampled_from(["assistant", "tool"]),
    st.text(max_size=5),
    st.lists(st.builds(ToolCall, st.sampled_from("abc"), st.just("t"), st.just("{}")), max_size=3).map(tuple),
    st.sampled_from([None, "a", "b", "c"]),
).map(lambda m: m if m.role == "assistant" else Message("tool", m.content, tool_call_id=m.tool_call_id))


def test_a_whole_turn_stays_as_it_is() -> None:
    assert complete_turn(WHOLE) == WHOLE


@pytest.mark.parametrize("results", [*permutations((LIT, PLAYED))])
def test_results_stand_in_the_order_of_their_calls(results: tuple[Message, ...]) -> None:
    assert complete_turn((ASKED, CALLED, *results, SAID)) == WHOLE


def test_an_interrupted_call_gets_a_placeholder_result() -> None:
    missing = Message("tool", NO_RESULT, tool_call_id="b")
    assert complete_turn((ASKED, CALLED, LIT)) == (ASKED, CALLED, LIT, missing, Message("assistant", INTERRUPTED))


def test_a_result_without_a_call_is_removed() -> None:
    stranger = Message("tool", "Unlocked.", tool_call_id="z")
    assert complete_turn((ASKED, stranger, CALLED, LIT, stranger, PLAYED, LIT, SAID)) == WHOLE


@pytest.mark.parametrize("turn", [(), (SAID,), (ASKED, SAID, ASKED), (ASKED, Message("system", "x"), SAID)])
def test_messages_that_are_not_one_turn_are_rejected(turn: tuple[Message, ...]) -> None:
    with pytest.raises(ValueError, match="a turn"):
        complete_turn(turn)


@given(st.lists(messages, max_size=8))
def test_every_call_of_a_truncated_turn_has_a_result(cut: list[Message]) -> None:
    mended = complete_turn((ASKED, *cut))
    expected: list[str | None] = []
    for message in mended:
        if message.role == "tool":
            assert message.tool_call_id == expected.pop(0)
        else:
            assert not expected
            expected = [call.id for call in message.tool_calls]
    assert mended[-1].role == "assistant"
    assert not expected
    assert complete_turn(mended) == mended


@given(st.lists(messages, max_size=8).map(tuple))
def test_messages_come_back_from_json_as_they_were(turn: tuple[Message, ...]) -> None:
    assert messages_from_json(messages_as_json(turn)) == turn


@pytest.mark.parametrize("text", ["", "null", "[1]", '[{"role": "user"}]', '["x"]', '[{"tool_calls": [3]}]', "{}x"])
def test_other_json_is_refused(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  (json's own message, or ours)
        messages_from_json(text)


@pytest.mark.parametrize(
    ("heard", "kept"),
    [
        ("It is", "It is…"),
        ("It is five,", "It is five…"),
        ("It is five. And", "It is five. And…"),
        ("It is five.", "It is five. …"),
        ("", "…"),
    ],
)
def test_an_interrupted_reply_is_marked(heard: str, kept: str) -> None:
    assert mark_truncated(heard) == kept
