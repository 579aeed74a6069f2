"""Tools in one line each: what the home model reads, letter by letter."""

from __future__ import annotations

from edgevox.core.types import JsonObject
from edgevox.home import catalogue
from edgevox.llm.prompt.tool_lines import tool_line, tools_text

BOOK: JsonObject = {
    "type": "function",
    "function": {
        "name": "book",
        "description": "Book a table",
        "parameters": {
            "type": "object",
            "properties": {
                "people": {"type": "integer", "description": "how many  come\nto eat"},
                "when": {"type": "string", "enum": ["noon", "evening"]},
                "dishes": {"type": "array", "items": {"type": "string"}},
                "outside": {"type": "boolean"},
                "note": {"type": ["string", "null"]},
                "anything": True,
            },
            "required": ["people"],
        },
        "examples": ["we are two\ntonight", "a table outside", "a third one"],
    },
}


def home_lines() -> dict[str, str]:
    tools = ((tool.name, tool.description, tool.parameters) for tool in catalogue().values())
    return {name: tool_line({"name": name, "description": what, "parameters": of}) for name, what, of in tools}


def test_a_tool_is_one_line() -> None:
    lines = home_lines()
    assert len(lines) == len(catalogue())
    assert lines["light_set"] == (
        "light_set(name?, area?, floor?, brightness?: 0..100, color?): Set brightness in percent or colour of lights"
    )
    assert "volume_step: up|down|-100..100" in lines["set_volume_relative"]
    assert "position: 0..100 (0 closed, 100 open)" in lines["set_position"]
    assert "minutes?: int" in lines["start_timer"]
    assert lines["nevermind"] == "nevermind(): Forget the request"


def test_a_plugin_tool_is_one_line_with_two_examples() -> None:
    assert tool_line(BOOK) == (
        "book(people: int (how many come to eat), when?: noon|evening, dishes?: list, outside?: bool, "
        'note?: null, anything?): Book a table. "we are two tonight", "a table outside"'
    )


def test_long_lists_of_choices_are_left_to_the_grammar() -> None:
    def line(choices: int) -> str:
        slot = {"type": "string", "enum": [f"c{number}" for number in range(choices)]}
        return tool_line({"name": "pick", "parameters": {"properties": {"one": slot}}})

    assert line(8) == "pick(one?: c0|c1|c2|c3|c4|c5|c6|c7):"
    assert line(9) == "pick(one?):"


def test_a_tool_that_says_nothing_of_itself_is_its_name() -> None:
    assert tool_line({"function": {"name": "ping"}}) == "ping():"


def test_a_prompt_lists_the_tools_in_their_order() -> None:
    assert tools_text([{"name": "b"}, {"name": "a"}]) == "Tools:\nb():\na():"
