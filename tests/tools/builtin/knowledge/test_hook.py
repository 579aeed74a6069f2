"""Knowledge questions never reach the model, unless another tool is for them; other sentences always do."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from edgevox.agents import AgentResult, LLMAgent
from edgevox.home import DemoHome
from edgevox.home.prompt_text import home_names
from edgevox.testing import ScriptedModel
from edgevox.tools import Tool, ToolExecutor, ToolRegistry, tool
from edgevox.tools.builtin.documents import corpus_tools
from edgevox.tools.builtin.knowledge import KnowledgeQuestions, knowledge_tools, read_question
from edgevox.tools.builtin.knowledge.facts import I_DO_NOT_KNOW, home_words_of, unknown_answer

NOW = datetime(2026, 11, 17, 21, 14, tzinfo=ZoneInfo("Europe/London"))
EVAL = Path(__file__).parents[4] / "tests" / "eval"
FROM_MODEL = "From the model."


async def ask(text: str, *, others: Sequence[Tool] = (), built_in: Sequence[Tool] = ()) -> AgentResult:
    registry = ToolRegistry((*knowledge_tools(lambda: NOW), *built_in))
    for other in others:
        registry.add(other, owner="a plugin")
    home_names = ("Kitchen Light", "Wardrobe")
    return await LLMAgent(
        "test",
        tools=ToolExecutor(registry),
        hooks=(KnowledgeQuestions(registry, lambda: NOW, lambda: home_names),),
        model=ScriptedModel([FROM_MODEL]),
        parsers=("hermes",),
    ).run(text)


async def test_a_question_is_answered_without_the_model() -> None:
    result = await ask("What is 15 times 12?")
    assert result.reply == "15 times 12 is 180."
    assert [call.name for call in result.calls] == ["calculate"]


async def test_a_follow_up_continues_the_last_answer() -> None:
    registry = ToolRegistry(knowledge_tools(lambda: NOW))
    hooks = (KnowledgeQuestions(registry, lambda: NOW),)
    agent = LLMAgent(
        "test", tools=ToolExecutor(registry), hooks=hooks, model=ScriptedModel([FROM_MODEL]), parsers=("hermes",)
    )
    asked = ("what time is it in London", "and in Paris?", "what is 15 times 12", "plus 20", "and the kitchen light")
    assert [(await agent.run(text)).reply for text in asked] == [
        "In London it is 9:14 in the evening.",
        "In Paris it is 10:14 at night.",
        "15 times 12 is 180.",
        "That is 200.",
        FROM_MODEL,
    ]


async def test_another_sentence_reaches_the_model() -> None:
    assert (await ask("turn on the kitchen light")).reply == FROM_MODEL


async def test_a_plugin_for_the_same_subject_keeps_its_priority() -> None:
    @tool
    def sums(text: str) -> str:
        """A calculator for long expressions."""
        return text

    assert (await ask("What is 15 times 12?", others=[sums])).reply == FROM_MODEL
    assert (await ask("flip a coin", others=[sums])).reply != FROM_MODEL


async def test_a_plugins_tool_of_the_same_name_replaces_the_built_in_one_until_it_stops() -> None:
    @tool
    def calculate(text: str) -> str:
        """Anything."""
        return text

    registry = ToolRegistry(knowledge_tools(lambda: NOW))
    registry.add(calculate, owner="a plugin")
    assert registry.get("calculate") is calculate
    registry.remove_owner("a plugin")
    assert registry.get("calculate").called_by_rule
    assert (await ask("What is 15 times 12?", others=[calculate])).reply == FROM_MODEL


async def test_a_fact_that_nothing_here_knows_is_not_invented() -> None:
    for text in ("how tall is mount everest", "Who is the president of France?", "what is the capital of Peru"):
        assert (await ask(text)).reply == I_DO_NOT_KNOW


async def test_a_question_about_the_home_is_left_to_the_model() -> None:
    for text in ("how tall is the wardrobe", "who is home", "how warm is it", "how old are you", "who is it"):
        assert (await ask(text)).reply == FROM_MODEL


async def test_other_tools_may_know_a_fact() -> None:
    @tool
    def lookup(text: str) -> str:
        """Search an encyclopedia."""
        return text

    assert (await ask("how tall is mount everest", others=[lookup])).reply == FROM_MODEL


async def test_the_users_documents_are_asked_for_a_fact_first_and_named(tmp_path: Path) -> None:
    (tmp_path / "papers").mkdir()
    (tmp_path / "papers" / "mountains.txt").write_text("Mount Everest is 8,849 metres tall.", encoding="utf-8")
    built_in = corpus_tools(tmp_path / "papers", tmp_path / "index.sqlite3")
    known = await ask("how tall is Mount Everest?", built_in=built_in)
    assert known.reply == "mountains.txt says: Mount Everest is 8,849 metres tall."
    assert (await ask("how tall is the Eiffel Tower?", built_in=built_in)).reply == I_DO_NOT_KNOW


async def test_the_time_in_an_unknown_place_is_not_the_local_time() -> None:
    assert (await ask("what time is it in Smallville")).reply == "I do not know a place called Smallville."
    assert (await ask("what time is it in the kitchen")).reply == FROM_MODEL


def test_no_command_of_the_home_is_caught() -> None:
    for suite in ("home", "home_b", "unseen_tools"):
        words = home_words_of(names_of(suite))
        for text in sentences(suite):
            assert read_question(text, NOW) is None, text
            assert unknown_answer(text, words) == "", text
    for text in sentences("talk"):
        assert read_question(text, NOW) is None, text


def test_dictation_and_requests_to_explain_are_not_taken_for_facts() -> None:
    for text in (
        "remind me about the gym class",
        "add who wrote hamlet to my list",
        "explain further",
        "what does that mean",
        "tell me about yourself",
        "where is everyone",
        "where is Anna",
        "who is at work",
        "who is out right now",
        "how hot is the terrarium",
        "how many people are at the gym",
        "how many pumps are still faulty",
        "how long was the nap",
    ):
        assert unknown_answer(text) == "", text


def test_no_question_with_a_name_of_the_home_is_taken_for_a_fact() -> None:
    names = home_names(DemoHome().house())
    words = home_words_of(names)
    for name in names:
        assert unknown_answer(f"how tall is the {name}", words) == ""
        assert unknown_answer(f"who built the {name}", words) == ""


def names_of(suite: str) -> list[str]:
    """The names in the homes that a suite defines."""
    first = json.loads((EVAL / f"{suite}.jsonl").read_text(encoding="utf-8").splitlines()[0])
    homes = first["suite"].get("homes", {}).values()
    return [thing["name"] for home in homes for kind in ("areas", "entities") for thing in home.get(kind, ())]


def sentences(suite: str) -> list[str]:
    lines = (EVAL / f"{suite}.jsonl").read_text(encoding="utf-8").splitlines()
    found = [str(row["utterance"]) for row in map(json.loads, lines) if "utterance" in row]
    assert found
    return found


@pytest.mark.parametrize("bad", ["x" * 5000, "what is " + "(" * 150, "9" * 190, "", "?!"])
def test_odd_input_is_read_quickly_or_not_at_all(bad: str) -> None:
    reading = read_question(bad, NOW)
    assert reading is None or reading.tool == "calculate"


@pytest.mark.parametrize(
    ("text", "tool", "arguments"),
    [
        ("add up 3, 4 and 5", "calculate", {"expression": "sum of 3, 4 and 5"}),
        ("we have 6 bags of 12 apples how many apples is that", "calculate", {"expression": "6 times 12"}),
        ("if a ticket costs 50 and it goes up ten percent what is it then", "calculate",
         {"expression": "50 plus ten percent"}),
        ("what percentage is 5 out of 20", "calculate", {"expression": "5 as a percentage of 20"}),
        ("how many are four dozen", "calculate", {"expression": "four times 12"}),
        ("30 degrees celsius is how much in fahrenheit", "convert_units",
         {"amount": "30 degrees celsius", "to": "fahrenheit"}),
        ("180 c in f", "convert_units", {"amount": "180 degrees c", "to": "degree Fahrenheit"}),
        ("my aunt lives in lima what time is it there", "time_in_place", {"place": "lima"}),
        ("how late is it in tokyo", "time_in_place", {"place": "tokyo"}),
        ("how long is it until christmas, in weeks", "time_between", {"end": "christmas", "unit": "weeks"}),
        ("how many days are left in the year", "time_between", {"end": "december 31", "unit": "days"}),
        ("rhythm, how is that spelt", "spell_word", {"word": "rhythm"}),
        ("how many e's are in cheese", "spell_word", {"word": "cheese", "ask": "count", "letter": "e"}),
        ("flip a coin and tell me what it shows", "flip_coin", {}),
    ],
)  # fmt: skip
def test_a_question_in_other_words_is_read(text: str, tool: str, arguments: dict[str, str]) -> None:
    reading = read_question(text, NOW)
    assert reading is not None
    assert (reading.tool, reading.arguments) == (tool, arguments)


@pytest.mark.parametrize(
    "text", ["what height is the eiffel tower", "what's the speed of light", "how much did i spend on books last month"]
)
def test_a_fact_that_nothing_here_knows_is_declined(text: str) -> None:
    assert unknown_answer(text) == I_DO_NOT_KNOW


@pytest.mark.parametrize(
    "text", ["how much did we spend on electricity", "add milk, eggs and 4 apples", "add up my day"]
)
def test_a_question_of_the_home_or_a_list_is_not_taken(text: str) -> None:
    assert read_question(text, NOW) is None
    assert not unknown_answer(text)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("could you divide 900 by 8 for me", "900 divided by 8 is 112.5."),
        ("four of us sharing 132 pounds, how much each", "132 pounds divided by 4 is 33 pounds."),
        ("what's left of 300 after 20 percent off", "300 minus 20 percent is 240."),
        ("if 3 pens cost 12 dollars what does one cost", "12 dollars divided by 3 times 1 is 4 dollars."),
        ("how many 7s in 63", "63 divided by 7 is 9."),
        ("my suitcase is 23 kilos, how many pounds is that", "23 kilograms is about 50.71 pounds."),
        ("how many letters has banana got", "Banana has 6 letters."),
    ],
)
async def test_the_numbers_and_the_words_for_operations_are_enough_in_any_order(text: str, answer: str) -> None:
    assert (await ask(text)).reply == answer


@pytest.mark.parametrize("text", ["is it late in Tokyo now", "my aunt lives in Tokyo, what's the clock say there"])
async def test_a_known_place_and_a_word_for_the_time_are_enough(text: str) -> None:
    assert (await ask(text)).calls[0].name == "time_in_place"


@pytest.mark.parametrize("text", ["Christmas is how many days away", "how long have we got until Christmas"])
async def test_a_day_and_a_word_for_counting_are_enough(text: str) -> None:
    assert "Christmas" in (await ask(text)).reply


async def test_a_sum_that_cannot_be_computed_is_declined() -> None:
    assert (await ask("what is 12 divided by blue times 7 minus the wardrobe")).reply == "I cannot work that out."


@pytest.mark.parametrize(
    ("text", "said", "reply"),
    [
        ("how many spoons did we buy for 16 guests", "That's one hundred.", "I cannot work that out."),
        ("what's the wardrobe worth", "It is worth 300 dollars.", I_DO_NOT_KNOW),
        ("how many of the 16 guests came", "All 16 came.", "All 16 came."),
    ],
)
async def test_a_figure_of_the_model_that_nobody_gave_is_not_spoken(text: str, said: str, reply: str) -> None:
    registry = ToolRegistry(knowledge_tools(lambda: NOW))
    hooks = (KnowledgeQuestions(registry, lambda: NOW, lambda: ("Wardrobe",)),)
    model = ScriptedModel([said])
    agent = LLMAgent("test", tools=ToolExecutor(registry), hooks=hooks, model=model, parsers=("hermes",))
    assert (await agent.run(text)).reply == reply
