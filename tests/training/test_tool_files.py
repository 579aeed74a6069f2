"""Data files of other tools: what they may hold, how tools are drawn, and that all shipped ones are sound."""

from __future__ import annotations

import random
import re
from pathlib import Path

import jsonschema
import pytest

from training.sampled_tools import ToolTemplate
from training.tool_files import ToolDataError, load_tools

BLOCK = """
# comments are skipped
values place: Luigi's | Sakura | Casa Verde

tool book_table | reserveTable
about Book a table | Reserve a place to eat
slot restaurant | venue text: @place
slot people | guests int 1..12
slot time? text (when to come): at noon | seven tonight
slot seating? enum: inside | terrace = outside
slot extras? list: a high chair | candles | a cake
slot quiet? bool
ask get us a table for {people} at {restaurant}
ask {restaurant} {time}, {people} of us
ask {people} people, {restaurant}, in the sun => seating="terrace"
ask we want to sit {seating} at {restaurant}, {people} of us
ask {restaurant} for {people} with {extras}
ask somewhere quiet in {restaurant}, just {people} => quiet=true, extras=["candles"]
gives {"booked": true} -> Your table is booked.
"""


@pytest.fixture
def book_table(tmp_path: Path) -> ToolTemplate:
    (tmp_path / "food.txt").write_text(BLOCK)
    (tool,) = load_tools(tmp_path)
    return tool


def test_a_draw_is_repeated_by_its_seed(book_table: ToolTemplate) -> None:
    def requests() -> list[tuple[str, object]]:
        rng = random.Random(7)
        return [book_table.draw(rng).request(rng) for _ in range(20)]

    assert requests() == requests()


def test_names_descriptions_and_slots_vary_between_draws(book_table: ToolTemplate) -> None:
    rng = random.Random(1)
    functions = [book_table.draw(rng).schema["function"] for _ in range(400)]
    orders = {tuple(function["parameters"]["properties"]) for function in functions}
    assert {function["name"] for function in functions} == {"book_table", "reserveTable"}
    assert {function["description"] for function in functions} == {"Book a table", "Reserve a place to eat"}
    assert {name for order in orders for name in order} >= {"people", "guests", "restaurant", "venue"}
    assert any("time" not in order for order in orders)
    assert all("people" in order or "guests" in order for order in orders)
    assert any(order.index("quiet") == 0 for order in orders if "quiet" in order)


def test_the_schema_tells_types_ranges_choices_and_descriptions(book_table: ToolTemplate) -> None:
    schemas = {slot.key: slot.schema() for slot in book_table.slots}
    assert schemas["people"] == {"type": "integer", "minimum": 1, "maximum": 12}
    assert schemas["time"] == {"type": "string", "description": "when to come"}
    assert schemas["seating"] == {"type": "string", "enum": ["inside", "terrace"]}
    assert schemas["extras"] == {"type": "array", "items": {"type": "string"}}
    assert schemas["quiet"] == {"type": "boolean"}


def test_arguments_come_in_the_order_of_the_schema(book_table: ToolTemplate) -> None:
    rng = random.Random(2)
    for _ in range(200):
        drawn = book_table.draw(rng)
        _, arguments = drawn.request(rng)
        order = list(drawn.schema["function"]["parameters"]["properties"])
        assert list(arguments) == [name for name in order if name in arguments]


def test_a_choice_is_said_its_own_way(book_table: ToolTemplate) -> None:
    rng = random.Random(3)
    requests = [book_table.draw(rng).request(rng) for _ in range(300)]
    outside = [arguments for text, arguments in requests if text.startswith("we want to sit outside")]
    assert outside
    assert all(arguments["seating"] == "terrace" for arguments in outside)
    noon = [arguments for text, arguments in requests if "at noon" in text]
    assert noon
    assert all(arguments["time"] == "noon" for arguments in noon)


def test_what_an_ask_implies_becomes_an_argument(book_table: ToolTemplate) -> None:
    rng = random.Random(4)
    requests = [book_table.draw(rng).request(rng) for _ in range(300)]
    quiet = [arguments for text, arguments in requests if text.startswith("somewhere quiet")]
    assert quiet
    assert all(arguments["quiet"] is True and arguments["extras"] == ["candles"] for arguments in quiet)


def test_numbers_are_said_in_digits_and_in_words(book_table: ToolTemplate) -> None:
    rng = random.Random(5)
    said = {book_table.draw(rng).request(rng)[0].rsplit(maxsplit=1)[-1] for _ in range(600)}
    assert {"7", "seven"} <= said


def test_one_is_not_said_before_a_plural(book_table: ToolTemplate) -> None:
    rng = random.Random(6)
    texts = [book_table.draw(rng).request(rng)[0] for _ in range(2000)]
    assert not [text for text in texts if text.startswith(("1 people", "one people"))]


def test_an_example_that_is_shown_is_not_asked_in_that_scene(book_table: ToolTemplate) -> None:
    rng = random.Random(8)
    shown = 0
    for _ in range(400):
        drawn = book_table.draw(rng)
        examples = drawn.schema["function"].get("examples", [])
        shown += bool(examples)
        assert len(drawn.asks) >= 3
        for example in examples:
            asked = [
                ask for ask in drawn.asks if ask.text.split("{", 1)[0] and example.startswith(ask.text.split("{", 1)[0])
            ]
            assert not asked
    assert 90 < shown < 190


def test_a_slot_that_is_left_out_is_not_asked_for(tmp_path: Path) -> None:
    (tmp_path / "food.txt").write_text(BLOCK)
    (tool,) = load_tools(tmp_path)
    rng = random.Random(9)
    for _ in range(1000):
        drawn = tool.draw(rng)
        keys = {slot.key for _, slot in drawn.slots}
        assert all(ask.keys <= keys for ask in drawn.asks)


def test_a_headline_has_what_is_required_in_any_order(tmp_path: Path) -> None:
    brief = "brief new booking / table: {restaurant} | {people} people | {time}\n"
    (tmp_path / "food.txt").write_text(BLOCK.rstrip() + "\n" + brief)
    (tool,) = load_tools(tmp_path)
    rng = random.Random(10)
    headlines = []
    for _ in range(1500):
        drawn = tool.draw(rng)
        text, arguments = drawn.request(rng)
        if text.startswith(("new booking", "table")):
            headlines.append(text)
            keys = {slot.key: name for name, slot in drawn.slots}
            assert {keys["restaurant"], keys["people"]} <= arguments.keys()
            assert str(arguments[keys["restaurant"]]) in text
            assert ("time" in arguments) == ("noon" in text or "seven tonight" in text)
    assert 120 < len(headlines) < 400
    assert any(re.search(r"people.* Luigi's", text) for text in headlines)
    assert any(re.search(r"Luigi's.* people", text) for text in headlines)


@pytest.mark.parametrize(
    ("line", "instead", "complaint"),
    [
        ("ask {restaurant} {time}, {people} of us", "ask {restaurant} for {count}", r"no slot 'count'"),
        ("ask {restaurant} {time}, {people} of us", "ask {restaurant} {time}", r"people not said"),
        ("slot people | guests int 1..12", "slot people int", r"nothing to draw from: give a range"),
        ("slot seating? enum: inside | terrace = outside", "slot seating? enumm: a", r"not a slot: write"),
        ('=> seating="terrace"', '=> seating="roof"', r"seating='roof' fits no slot"),
        ("about Book a table | Reserve a place to eat", "about Book a table |", r"an empty choice"),
        ('gives {"booked": true} -> Your', 'gives {"booked": yes} -> Your', r"is not JSON"),
        ("slot quiet? bool", "slot people? bool", r"two slots of one name"),
        ("text: @place", "text: @city", r"no list @city: write `values city"),
        ("tool book_table", "tool book.table", r"'book.table' cannot be called"),
        ("ask somewhere", "asks somewhere", r"begin it with one of tool, about"),
    ],
)
def test_an_error_names_the_file_the_line_and_what_to_do(
    tmp_path: Path, line: str, instead: str, complaint: str
) -> None:
    assert line in BLOCK
    (tmp_path / "food.txt").write_text(BLOCK.replace(line, instead))
    with pytest.raises(ToolDataError, match=rf"food\.txt:\d+: .*{complaint}"):
        load_tools(tmp_path)


def test_tools_that_do_the_same_do_not_go_together(tmp_path: Path) -> None:
    block = "tool {names}\nabout Wait\nask wait\n{more}\n"
    for file, names, more in (
        ("a", "wait | pause", ""),
        ("b", "pause", ""),
        ("c", "hold", "same wait"),
        ("d", "go", ""),
    ):
        (tmp_path / f"{file}.txt").write_text(block.format(names=names, more=more))
    wait, pause, hold, go = load_tools(tmp_path)
    assert not wait.goes_with(pause)
    assert not wait.goes_with(hold)
    assert not hold.goes_with(wait)
    assert hold.goes_with(pause)
    assert go.goes_with(wait)


def test_a_folder_without_files_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ToolDataError, match="no data files"):
        load_tools(tmp_path)


# --- what is shipped


@pytest.fixture(scope="module")
def shipped() -> list[ToolTemplate]:
    return load_tools()


def test_every_shipped_tool_has_eight_asks_and_an_answer(shipped: list[ToolTemplate]) -> None:
    assert [tool.where for tool in shipped if len(tool.asks) < 8 or not tool.results] == []


def test_arguments_of_shipped_tools_fit_their_schemas(shipped: list[ToolTemplate]) -> None:
    rng = random.Random(11)
    for tool in shipped:
        for _ in range(3):
            drawn = tool.draw(rng)
            parameters = drawn.schema["function"]["parameters"]
            validator = jsonschema.Draft202012Validator(parameters)
            for _ in range(8):
                text, arguments = drawn.request(rng)
                assert "{" not in text, tool.where
                assert validator.is_valid(arguments), (tool.where, text, arguments)


def test_every_shipped_ask_covers_the_required_slots(shipped: list[ToolTemplate]) -> None:
    for tool in shipped:
        required = {slot.key for slot in tool.slots if slot.required}
        assert all(required <= ask.keys for ask in tool.asks), tool.where
