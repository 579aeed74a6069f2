"""A model that always does the plain act is stopped by any word that limits the command, and by no other word."""

from __future__ import annotations

import pytest

from edgevox.home.clauses.direction import wrong_direction
from edgevox.home.clauses.unread import unread_limit
from edgevox.home.grammar import tool_call
from tests.home.conftest import Bench
from tests.home.rules.test_rules import Talk
from tests.home.talk import written

COMMANDS: tuple[tuple[str, str, dict[str, object], str], ...] = (
    ("turn off the hallway light", "turn_off", {"name": "hallway light"}, "light.hallway"),
    ("start the vacuum", "vacuum_start", {}, "vacuum.robot"),
    ("pause the tv", "media_pause", {"name": "tv"}, "media_player.tv"),
    ("set the thermostat to 25", "climate_set_temperature", {"temperature": 25}, "climate.thermostat"),
)
AFTER = (
    "unless it is raining", "until the film ends", "as long as nobody is there", "while i am away", "during dinner",
    "once the show is over", "whenever the bell rings", "before the guests come", "should it rain", "upon my return",
    "given that nobody is there", "not yet", "but not now", "or rather don't", "under no circumstances", "next week",
    "for the rest of the week", "some other time", "no sooner than ten", "around ten", "from eight to ten", "later",
)  # fmt: skip
BEFORE = (
    "don't", "do not ever", "there's no need to", "nobody should", "make sure you don't", "do the opposite of",
    "it is too early to", "stop trying to", "it's not time to", "better not", "how do i", "did you", "should i",
    "as long as nobody is there", "while i am away", "not yet but",
)  # fmt: skip
LIMITED = [
    (text, tool, arguments, entity_id)
    for command, tool, arguments, entity_id in COMMANDS
    for text in (*(f"{command} {after}" for after in AFTER), *(f"{before} {command}" for before in BEFORE))
]


async def acts(text: str, tool: str, arguments: dict[str, object], entity_id: str) -> bool:
    """Whether a model that makes this call for a text changes the entity."""
    bench = Bench()
    before = bench.entity(entity_id)
    await Talk(bench, written(tool, arguments), "Done.").run(text)
    return bench.entity(entity_id) != before


async def test_no_limited_command_is_carried_out_as_if_it_were_plain() -> None:
    assert [case[0] for case in LIMITED if await acts(*case)] == []


@pytest.mark.parametrize(
    ("text", "tool", "arguments", "entity_id"),
    [
        ("the kitchen light", "turn_on", {"name": "kitchen light"}, "light.kitchen"),
        ("the tv in the living room please", "turn_off", {"name": "tv"}, "media_player.tv"),
        ("the robot", "vacuum_start", {}, "vacuum.robot"),
        ("a bit nippy today", "media_search_and_play", {"search_query": "a bit nippy"}, "media_player.tv"),
        ("he came home late", "vacuum_start", {}, "vacuum.robot"),
        ("the fan on my laptop is so loud", "turn_on", {"domain": "fan"}, "fan.bedroom"),
    ],
)
async def test_a_thing_that_is_only_named_is_left_alone(
    text: str, tool: str, arguments: dict[str, object], entity_id: str
) -> None:
    assert not await acts(text, tool, arguments, entity_id)


async def test_the_name_of_a_scene_is_a_command() -> None:
    assert await acts("movie night", "turn_on", {"name": "movie night"}, "scene.movie_night")


@pytest.mark.parametrize("tool", ["turn_on", "get_state"])
async def test_no_call_is_made_for_what_this_home_does_not_have(tool: str) -> None:
    result = await Talk(Bench(), written(tool, {"name": "kettle"}), "Done.").run("the kettle on")
    assert [one.code for one in result.results] == ["tool_denied"]
    assert result.reply == "I know nothing called kettle."


@pytest.mark.parametrize(
    "text",
    [
        "turn off the hallway light if you don't mind",
        "if it isn't too much trouble turn off the hallway light",
        "why don't you turn off the hallway light",
        "i can't sleep, turn off the hallway light",
        "turn off the hallway light, we're leaving for a week",
        "my programme starts at eight so please turn off the hallway light",
        "no more light in the hallway, off please",
        "turn off the hallway light, not the one in the kitchen",
        "turn off the hallway light but don't lock the door",
        "turn off the hallway light once more",
    ],
)
async def test_words_that_only_look_like_limits_do_not_stop_a_command(text: str) -> None:
    assert await acts(text, "turn_off", {"name": "hallway light"}, "light.hallway")


async def test_what_a_call_does_not_touch_need_not_be_excluded(bench: Bench) -> None:
    house = bench.home.house()
    blinds, curtains = bench.entity("cover.living_room_blinds"), bench.entity("cover.bedroom_curtains")
    text = "open the blinds rather than the curtains"
    assert not unread_limit(text, house, tool_call("turn_on", name="blinds"), (blinds,))
    assert unread_limit(text, house, tool_call("turn_on", domain="cover"), (blinds, curtains))


async def test_a_request_in_another_language_needs_no_english_word() -> None:
    assert await acts("putz bitte das Wohnzimmer", "vacuum_start", {}, "vacuum.robot")


def test_free_text_may_contain_any_words(bench: Bench) -> None:
    house = bench.home.house()
    title = tool_call("media_search_and_play", search_query="don't stop believing")
    assert not unread_limit("play don't stop believing", house, title)
    assert unread_limit("play jazz until ten thirty", house, tool_call("media_search_and_play", search_query="jazz"))
    assert unread_limit("don't add milk to the list", house, tool_call("list_add_item", item="milk", name="list"))


@pytest.mark.parametrize(
    ("text", "tool", "arguments", "is_wrong"),
    [
        ("hallway light off", "turn_on", {}, True),
        ("hallway light on", "turn_on", {}, False),
        ("ouch, so bright in the hallway", "turn_on", {}, True),
        ("it is pitch dark in the hallway", "turn_off", {}, True),
        ("dim the hallway light by ten percent", "light_set", {"brightness": 10}, True),
        ("make the hallway light brighter", "light_set", {"brightness": 20}, True),
        ("turn the hallway light down", "light_set", {"brightness": 20}, False),
    ],
)
def test_a_call_in_the_other_direction_is_noticed(
    bench: Bench, text: str, tool: str, arguments: dict[str, object], is_wrong: bool
) -> None:
    call = tool_call(tool, name="hallway light", **arguments)
    assert wrong_direction(text, call, (bench.entity("light.hallway"),)) is is_wrong


def test_a_share_of_several_things_is_not_all_of_them(bench: Bench) -> None:
    lights = tuple(entity for entity in bench.home.house().entities if entity.domain == "light")
    call = tool_call("turn_off", domain="light")
    for text, limit in (("turn half of the lights off", "half of the lights off"), ("turn all of the lights off", "")):
        assert unread_limit(text, bench.home.house(), call, lights) == limit
