"""The hooks for small models, with scripted replies and plain functions as tools."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edgevox.core.hooks import Again, Answer, Deny, Hooks, ModelReply, Run, ToolOutcome
from edgevox.core.types import ChatRequest, FinishReason, JsonObject, ToolCall
from edgevox.llm.hooks_slm import default_slm_hooks, speakable_chars
from edgevox.llm.hooks_slm.replies import without_loop
from edgevox.llm.hooks_slm.result_text import NO_ANSWER, as_sentence, outcome_sentence, value_words
from edgevox.llm.hooks_slm.tool_calls import reads_by_name

POSITION = {"type": "integer", "minimum": 0, "maximum": 100}
SCHEMAS: dict[str, dict[str, Any]] = {
    "get_state": {"properties": {"name": {"type": "string"}}},
    "turn_on": {"properties": {"name": {"type": "string"}}, "required": ["name"]},
    "media_next": {},
    "set_position": {
        "properties": {
            "name": {"type": "string"},
            "domain": {"type": "string", "enum": ["cover", "valve"]},
            "position": POSITION,
        },
        "required": ["position"],
    },
}
TOOLS: tuple[JsonObject, ...] = tuple(
    {"type": "function", "function": {"name": name, "description": name, "parameters": schema}}
    for name, schema in SCHEMAS.items()
)
ON = '{"state": "on", "brightness": 50}'
REFUSED = ToolOutcome("invalid_arguments: position must be at most 100, not 200", True, "bad_request")


def says(text: str, finish_reason: FinishReason = "stop") -> ModelReply:
    return ModelReply(text, (), (), finish_reason)


def calls(*made: tuple[str, str], text: str = "") -> ModelReply:
    return ModelReply(text, tuple(ToolCall("", *call) for call in made), (), "tool_calls")


def done(_call: ToolCall) -> ToolOutcome:
    return ToolOutcome("done")


def result(text: str) -> Callable[[ToolCall], ToolOutcome]:
    return lambda _call: ToolOutcome(text)


@dataclass
class Played:
    """A turn's outcome: the sentence, the messages to the model, and the calls that were made."""

    reply: str
    told: list[str] = field(default_factory=list)
    made: list[str] = field(default_factory=list)
    unused: int = 0


async def play(
    text: str, replies: Sequence[ModelReply], tool: Callable[[ToolCall], ToolOutcome] = done, hooks: Hooks | None = None
) -> Played:
    """One turn as an agent would run it with the default hooks."""
    hooks = hooks or Hooks(default_slm_hooks())
    run = Run("test", "turn-1", text)
    played = Played("")
    script = list(replies)
    while script:
        await hooks.before_llm(run, ChatRequest((), tools=TOOLS))
        reply = script.pop(0)
        match await hooks.after_llm(run, reply):
            case Answer(sentence):
                played.reply = sentence
                break
            case Again(hint):
                played.told.append(hint)
                continue
        if not reply.calls:
            played.reply = reply.text
            break
        for number, written in enumerate(reply.calls):
            call = ToolCall(f"call-{run.hop}-{number}", written.name, written.arguments)
            run.calls.append(call)
            match await hooks.before_tool(run, call):
                case Deny(reason):
                    outcome = ToolOutcome(reason, is_error=True, code="tool_denied")
                case allowed:
                    played.made.append(allowed.name)
                    outcome = tool(allowed)
            match await hooks.after_tool(run, call, outcome):
                case Answer(sentence):
                    played.reply = sentence
                    return played
                case ToolOutcome() as outcome:
                    run.outcomes.append(outcome)
                    played.told.append(outcome.content)
        run.hop += 1
    played.unused = len(script)
    return played


GET = ("get_state", '{"name": "lamp"}')
ON_LAMP = ("turn_on", '{"name": "lamp"}')


# --- repeated call


async def test_a_repeated_call_is_not_made_and_the_model_reads_the_result_again() -> None:
    played = await play("is it on?", [calls(GET), calls(GET), says("It is on.")], result(ON))
    assert played.made == ["get_state"]
    assert ON in played.told[1]
    assert played.reply == "It is on."


async def test_the_second_repetition_ends_the_turn_with_the_result_in_words() -> None:
    played = await play("is it on?", [calls(GET), calls(GET), calls(GET), says("never asked")], result(ON))
    assert played.made == ["get_state"]
    assert played.reply == "State on, brightness 50."
    assert played.unused == 1


async def test_the_order_of_arguments_nulls_and_the_spelling_of_numbers_do_not_make_another_call() -> None:
    first = ("set_position", '{"position": 50, "name": "blind"}')
    second = ("set_position", '{ "name":"blind", "position":50.0, "domain": null }')
    played = await play("half", [calls(first), calls(second), says("Done.")])
    assert played.made == ["set_position"]


async def test_the_same_tool_with_other_arguments_is_another_call() -> None:
    other = ("get_state", '{"name": "fan"}')
    played = await play("both?", [calls(GET), calls(other), says("Both are on.")])
    assert played.made == ["get_state", "get_state"]
    assert played.reply == "Both are on."


async def test_looking_again_after_a_change_is_allowed() -> None:
    played = await play("lamp on", [calls(GET), calls(ON_LAMP), calls(GET), says("Now it is on.")])
    assert played.made == ["get_state", "turn_on", "get_state"]
    assert played.reply == "Now it is on."


async def test_looking_again_after_a_refused_change_is_a_repetition() -> None:
    def tool(call: ToolCall) -> ToolOutcome:
        return ToolOutcome(ON) if call.name == "get_state" else REFUSED

    too_far = ("set_position", '{"position": 200}')
    played = await play("open", [calls(GET), calls(too_far), calls(GET), says("No.")], tool)
    assert played.made == ["get_state", "set_position"]


async def test_looking_and_acting_in_turn_without_end_is_stopped() -> None:
    played = await play("lamp on", [calls(GET), calls(ON_LAMP)] * 5, result(ON))
    assert played.made == ["get_state", "turn_on", "get_state"]
    assert played.reply == "State on, brightness 50."


async def test_a_call_written_twice_in_one_reply_is_made_once() -> None:
    played = await play("next", [calls(("media_next", "{}"), ("media_next", "{}")), says("Skipped.")])
    assert played.made == ["media_next"]
    assert played.reply == "Skipped."


async def test_a_call_whose_twin_is_still_running_is_not_made_and_leaves_its_result_alone() -> None:
    hooks = Hooks(default_slm_hooks())
    run = Run("test", "turn-1", "is it on?")
    first, twin = ToolCall("a", *GET), ToolCall("b", *GET)
    assert await hooks.before_tool(run, first) == first
    denied = await hooks.before_tool(run, twin)
    assert isinstance(denied, Deny)
    await hooks.after_tool(run, first, ToolOutcome(ON))
    await hooks.after_tool(run, twin, ToolOutcome(denied.reason, is_error=True, code="tool_denied"))
    assert await hooks.after_llm(run, calls(GET)) == Answer("State on, brightness 50.")


@pytest.mark.parametrize(("text", "times"), [("skip two songs", 2), ("Next, twice.", 2), ("next song 3 times", 3)])
async def test_a_requested_repetition_is_executed_several_times(text: str, times: int) -> None:
    played = await play(text, [calls(*[("media_next", "{}")] * 5), says("Skipped.")])
    assert played.made == ["media_next"] * times


async def test_a_new_call_beside_repeated_ones_is_still_made() -> None:
    played = await play("on", [calls(GET), calls(GET), calls(GET, ON_LAMP), says("It is on now.")])
    assert played.made == ["get_state", "turn_on"]
    assert played.reply == "It is on now."


async def test_a_call_that_failed_before_is_answered_with_an_apology() -> None:
    def silent(_call: ToolCall) -> ToolOutcome:
        return ToolOutcome("the lamp did not answer", is_error=True, code="tool_error")

    played = await play("lamp on", [calls(ON_LAMP)] * 3, silent)
    assert played.made == ["turn_on"]
    assert "failed: the lamp did not answer" in played.told[1]
    assert played.reply == "Sorry, that did not work: the lamp did not answer."


async def test_a_call_that_another_hook_denied_does_not_count_as_made() -> None:
    played = await play("on", [calls(("turn_on", "{}")), calls(ON_LAMP), says("It is on.")])
    assert played.made == ["turn_on"]


async def test_hooks_are_shared_by_turns_and_remember_nothing_between_them() -> None:
    hooks = Hooks(default_slm_hooks())
    for _ in range(3):
        played = await play("is it on?", [calls(GET), says("It is on.")], result(ON), hooks)
        assert played.made == ["get_state"]
        assert (await play("?", [says(""), says("Yes.")], hooks=hooks)).reply == "Yes."
        assert (await play("?", [says(ON), says("Yes.")], hooks=hooks)).reply == "Yes."


@pytest.mark.parametrize(
    ("name", "is_read"),
    [
        ("get_state", True),
        ("climate_get_temperature", True),
        ("timer_status", True),
        ("list_corpora", True),
        ("getWeather", True),
        ("turn_on", False),
        ("list_add_item", False),
        ("media_search_and_play", False),
        ("set_state", False),
        ("broadcast", False),
        ("thermostat", False),
    ],
)
def test_a_read_only_tool_is_recognised_by_its_name(name: str, is_read: bool) -> None:
    assert reads_by_name(name) is is_read


async def test_the_host_can_say_which_tools_only_read() -> None:
    hooks = Hooks(default_slm_hooks(lambda name: name == "media_next"))
    again = ("media_next", "{}")
    played = await play("next", [calls(again), calls(GET), calls(again), says("There.")], hooks=hooks)
    assert played.made == ["media_next", "get_state", "media_next"]


# --- echoed payload


async def test_data_read_aloud_is_asked_for_in_a_sentence() -> None:
    played = await play("is it on?", [calls(GET), says(ON), says("It is on, at half.")], result(ON))
    assert played.reply == "It is on, at half."
    assert len(played.told) == 2


@pytest.mark.parametrize(
    ("payload", "spoken"),
    [
        (ON, "State on, brightness 50."),
        (f"```json\n{ON}\n```", "State on, brightness 50."),
        (f"The lamp says {ON}.", "The lamp says state on, brightness 50."),
        ("{'state': 'on', 'is_dimmed': True}", "State on, is dimmed yes."),
        ('{"result": {"name": "Hall lamp", "state": "on"}}', "Hall lamp, state on."),
        ('["milk", "eggs"]', "Milk, eggs."),
        ('[{"name": "milk"}, {"name": "eggs"}]', "Milk, eggs."),
        ('{"answer": "It is noon."}', "It is noon."),
        ('{"success": true}', "Done."),
        ('{"state": "on", "bright', "State on."),
        ('{"temperatureOutside": 21.5, "id": "x-1", "note": null}', "Temperature outside 21.5."),
    ],
)
async def test_data_read_aloud_twice_is_put_in_plain_words(payload: str, spoken: str) -> None:
    played = await play("is it on?", [says(payload), says(payload)])
    assert played.reply == spoken


@pytest.mark.parametrize(
    "nonsense",
    [
        '{"type": "object", "properties": {"name": {"type": "string"}}}',
        '[{"type": "function", "function": {"name": "get_state", "parameters": {}}}]',
        '{"name": "get_state", "arguments": {"name": "lamp"}}',
        "invalid_arguments: name must be given",
        "(system: tool results follow)",
        "(The tools have run: get_state gave on. Now answer my last request in one sentence.)",
        "The tools have run: get_state gave on.",
        "<tool_response>on</tool_response>",
    ],
)
async def test_a_schema_a_call_or_a_code_read_aloud_gives_way_to_the_last_result(nonsense: str) -> None:
    played = await play("is it on?", [calls(GET), says(nonsense), says(nonsense)], result('"it is on"'))
    assert played.reply == "It is on."


@pytest.mark.parametrize(
    ("text", "reply"),
    [
        ("give me an example of JSON", f"Sure: {ON}"),
        ("write some code", 'd = {"a": 1}'),
        ('what does {"a": 1} mean?', 'In {"a": 1} the key is a.'),
        ("what is a dict?", 'Something like dict["key"], or so.'),
        ("when?", "At noon [1], or so {they say}."),
        ("who said it?", 'He said "on" and left.'),
        ("what is the range?", "It is [0, 100]."),
        ("what is a set?", "Curly brackets: {1, 2, 3}."),
        ("ratio?", "The ratio is 3:1."),
        ("what went wrong?", "The server said bad_request, so something was missing."),
        ("hello", "(System sounds are off.) Hello!"),
    ],
)
async def test_brackets_quotes_and_json_that_was_asked_for_are_left_alone(text: str, reply: str) -> None:
    assert await play(text, [says(reply)]) == Played(reply)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=20,
)


@given(json_values)
def test_no_bracket_is_ever_spoken(value: Any) -> None:
    sentence = as_sentence(value_words(value))
    assert not set(sentence) & set("{}[]`\n")
    assert len(sentence) <= 250


@given(st.dictionaries(st.text("abc_ ", max_size=10), json_values, min_size=1, max_size=4))
async def test_an_object_that_is_read_aloud_twice_is_never_spoken(value: Any) -> None:
    written = says(json.dumps(value))
    played = await play("is it on?", [written, written])
    assert any(char.isalnum() for char in played.reply)
    assert not set(played.reply) & set("{}[]`")


@pytest.mark.parametrize(
    ("so_far", "spoken"),
    [
        ("It is on.", "It is on."),
        ("", ""),
        ("{", ""),
        ('Here: {"sta', "Here: "),
        ("Here: ```json\n{", "Here: "),
        ("Wait [", "Wait "),
        ("Wait [laughs] no", "Wait [laughs] no"),
        ("The `on` button", "The `on` button"),
    ],
)
def test_a_reply_is_spoken_up_to_where_data_may_begin(so_far: str, spoken: str) -> None:
    assert so_far[: speakable_chars(so_far)] == spoken


# --- arguments


async def test_refused_arguments_come_back_with_the_schema_in_one_sentence_once() -> None:
    too_far = [calls(("set_position", json.dumps({"position": 200 + n}))) for n in range(2)]
    played = await play("open", [*too_far, says("Sorry.")], lambda _call: REFUSED)
    assert played.told == [
        f"{REFUSED.content}. set_position needs position (a whole number from 0 to 100) and can take"
        " name (text) and domain (one of cover, valve).",
        REFUSED.content,
    ]


async def test_other_results_are_left_as_they_are() -> None:
    failed = ToolOutcome("the blind is stuck", is_error=True, code="tool_error")
    played = await play("open", [calls(("set_position", '{"position": 1}')), says("Hm.")], lambda _c: failed)
    assert played.told == ["the blind is stuck"]
    spoofed = "invalid_arguments: a page that says so"
    played = await play("read", [calls(GET), says("It says so.")], result(spoofed))
    assert played.told == [spoofed]


@pytest.mark.parametrize("arguments", ["", "{}", "null", '{"name": null}'])
async def test_a_call_without_the_arguments_it_needs_is_not_made(arguments: str) -> None:
    played = await play("open", [calls(("turn_on", arguments)), says("Which one?")])
    assert played.made == []
    assert played.told == ["turn_on needs name (text): call it with that, or ask the user for it."]
    assert played.reply == "Which one?"


async def test_the_second_call_without_arguments_asks_the_person() -> None:
    played = await play("open", [calls(("set_position", "{}"))] * 3)
    assert played.reply == "For that I need to know the position."
    assert played.unused == 1


async def test_a_tool_that_needs_nothing_is_called_with_nothing() -> None:
    played = await play("next", [calls(("media_next", "{}")), calls(("get_state", "{}")), says("Done.")])
    assert played.made == ["media_next", "get_state"]


async def test_a_tool_that_was_not_offered_is_left_to_the_executor() -> None:
    unknown = ToolOutcome("unknown_tool: there is no tool called fly", is_error=True, code="bad_request")
    played = await play("fly", [calls(("fly", "{}")), says("I cannot.")], lambda _call: unknown)
    assert played.told == [unknown.content]


# --- empty and looping replies


@pytest.mark.parametrize("nothing", ["", " \n", "...", "```\n```", "{}"])
async def test_an_empty_reply_is_asked_for_once_more(nothing: str) -> None:
    played = await play("hello", [says(nothing), says("Hello!")])
    assert played.reply == "Hello!"
    assert len(played.told) == 1


async def test_after_two_empty_replies_the_last_result_is_the_answer() -> None:
    assert (await play("hello", [says(""), says("")])).reply == NO_ANSWER
    played = await play("time?", [calls(GET), says(""), says("")], result('"noon"'))
    assert played.reply == "Noon."


async def test_a_turn_that_was_cancelled_or_meant_a_call_is_left_to_the_agent() -> None:
    assert (await play("hello", [says("", "cancelled"), says("unused")])).unused == 1
    malformed = ModelReply("", (), ("the arguments are not JSON",), "stop")
    assert (await play("hello", [malformed, says("unused")])).told == []


@pytest.mark.parametrize(
    ("looping", "once"),
    [
        ("It is on. It is on. It is on. It is on.", "It is on."),
        ("Sure! I will do that. I will do that. I will do that. I wi", "Sure! I will do that."),
        ("The lamp is on and the lamp is on and the lamp is on and the lamp is", "The lamp is on."),
        ("Is it on? The lamp is it on? The lamp is it on? The lamp is it on?", "Is it on? The lamp is it on?"),
        ("Hi. Here I am. You? Here I am. You? Here I am. You? Goodbye.", "Hi. Here I am. You? Goodbye."),
        ("Good" + " very" * 40, "Good very."),
        ("Here:\n" + "".join(f"{n}. The White House\n" for n in range(1, 20)), "Here:\n1. The White House."),
        ("Well: " + "ha" * 60, "Well: ha"),
        ("Right." + " ab ab" * 20, "Right. ab."),
        ("Nun. " + "好的" * 30, "Nun. 好的"),
    ],
)
async def test_a_looping_reply_says_it_once(looping: str, once: str) -> None:
    assert (await play("hello", [says(looping, "length")])).reply == once


async def test_a_reply_that_comes_back_to_its_sentences_until_the_limit_is_cut() -> None:
    text = " ".join(f"I can help with {thing}. What would you like me to do?" for thing in ("a", "b", "c"))
    assert (await play("hi", [says(text)])).reply == text
    cut = (await play("hi", [says(text, "length")])).reply
    assert cut == "I can help with a. What would you like me to do? I can help with b."


REFRAIN = """Row, row, row your boat,
Gently down the stream,
Merrily, merrily, merrily, merrily,
Life is but a dream."""


@pytest.mark.parametrize(
    "reply",
    [
        "No no no, that is not it.",
        "Ha ha ha ha! Good one.",
        "Let it be, let it be, let it be, let it be.",
        "Hip hip hooray! Hip hip hooray! Hip hip hooray!",
        "Yes. Yes. Yes.",
        REFRAIN,
        f"{REFRAIN}\n\nThe oars go in.\n\n{REFRAIN}\n\nThe oars come out.\n\n{REFRAIN}",
        "Monday 20 degrees, Tuesday 20 degrees, Wednesday 20 degrees, Thursday 20 degrees.",
        "Lamp 1 is on. Lamp 2 is on. Lamp 3 is on. Lamp 4 is on.",
        "Here is the list:\n1. Milk\n2. Milk\n3. Eggs\n4. Bread",
        "A septillion is 1,000,000,000,000,000,000,000,000.",
        f"It is written 1{'0' * 60}.",
        "Call 0800 00 00 00 00.",
        "It was very, very, very cold.",
    ],
)
async def test_refrains_emphasis_and_long_numbers_are_not_loops(reply: str) -> None:
    assert await play("tell me", [says(reply)]) == Played(reply)


@pytest.mark.parametrize("text", ["say I am happy three times", "sing something", "repeat after me"])
async def test_a_requested_repetition_is_spoken(text: str) -> None:
    reply = "I am happy. " * 3
    assert (await play(text, [says(reply)])).reply == reply


@given(st.text(alphabet="ab .\n", max_size=300), st.booleans())
def test_a_text_without_its_loops_is_shorter_and_has_none(text: str, is_cut: bool) -> None:
    once = without_loop(text, is_cut=is_cut)
    if once is not None:
        assert len(once) < len(text)
        assert once.strip()
        assert without_loop(once, is_cut=is_cut) is None


def test_a_long_reply_is_searched_quickly() -> None:
    words = " ".join(str(number) for number in range(20_000))
    started_s = time.perf_counter()
    assert without_loop(words, is_cut=True) is None
    assert time.perf_counter() - started_s < 10  # minutes if each word were compared with each


@pytest.mark.parametrize(
    ("outcome", "sentence"),
    [
        (ToolOutcome("done"), "Done."),
        (ToolOutcome('"noon"'), "Noon."),
        (ToolOutcome('"a page" (cut: the beginning of 9,000 characters)'), "A page."),
        (ToolOutcome("[]"), "None."),
        (ToolOutcome("21"), "21."),
        (ToolOutcome('{"a": 1, "b": [2, 3… (cut at 15 characters)'), "A 1."),
        (ToolOutcome("timeout: …", True, "timeout"), "Sorry, that took too long. It may still happen."),
        (ToolOutcome("internal_error: KeyError", True, "internal_error"), "Sorry, that did not work."),
        (ToolOutcome("not done: the user said no", True, "tool_denied"), "That was not done."),
    ],
)
def test_a_result_becomes_a_sentence(outcome: ToolOutcome, sentence: str) -> None:
    assert outcome_sentence(outcome) == sentence
