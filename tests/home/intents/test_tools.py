"""The home tools through the real executor: what changes in the demo home, and what is said."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from edgevox.home import DemoHome, House
from edgevox.home.intents.catalogue import catalogue
from tests.home.conftest import Bench


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("turn_on", {"name": "kitchin light"}, "The kitchen light is on."),
        ("turn_on", {"area": "bedroom", "domain": "light"}, "The bedroom light and the bedside lamp are on."),
        ("turn_off", {"domain": "light"}, "10 lights are off."),
        ("turn_on", {"name": "coffee machine"}, "The coffee machine is on."),
        ("turn_on", {"name": "curtains"}, "The curtains are open."),
        ("turn_on", {"name": "movie night"}, "Movie Night is set."),
        ("turn_on", {"name": "front door"}, "The front door is locked."),
        ("turn_off", {"name": "garage door"}, "The garage door is closed."),
        ("turn_on", {"name": "lamp"}, "Which one: the floor lamp, the bedside lamp or the desk lamp?"),
        ("turn_on", {}, "What should I turn on?"),
        ("light_set", {"name": "desk lamp", "brightness": 30}, "The desk lamp is at 30 percent."),
        ("light_set", {"name": "desk lamp", "color": "Red"}, "The desk lamp is Red."),
        ("light_set", {"area": "kitchen", "color": "red"}, "The kitchen light cannot change its colour."),
        ("light_set", {"name": "desk lamp"}, "What brightness or colour should it be?"),
        ("set_position", {"name": "blinds", "position": 40}, "The living room blinds are 40 percent open."),
        ("climate_set_temperature", {"temperature": 19.5}, "The thermostat is set to 19.5 degrees."),
        ("climate_set_temperature", {"temperature": 80}, "The thermostat goes from 7 to 30 degrees."),
        ("climate_get_temperature", {}, "It is 20.5 degrees in the living room."),
        ("climate_get_temperature", {"area": "bedroom"}, "It is 19.5 degrees in the bedroom."),
        ("fan_set_speed", {"name": "fan", "percentage": 33}, "The ceiling fan is at 33 percent."),
        ("set_volume", {"volume_level": 20}, "The volume of the TV is 20 percent."),
        ("set_volume_relative", {"volume_step": "down"}, "The volume of the TV is 30 percent."),
        ("set_volume_relative", {"volume_step": 100}, "The volume of the TV is 100 percent."),
        ("media_pause", {}, "The TV is paused."),
        ("media_unpause", {"name": "tv"}, "The TV is playing again."),
        ("media_unpause", {}, "Nothing is paused."),
        ("media_next", {}, "The TV plays the next track."),
        ("media_previous", {"area": "kitchen"}, "Nothing is playing on the kitchen speaker."),
        ("media_player_mute", {"name": "radio"}, "The kitchen speaker is muted."),
        ("media_player_unmute", {}, "The TV has its sound back."),
        (
            "media_search_and_play",
            {"area": "kitchen", "search_query": "jazz"},
            "Playing jazz on the kitchen speaker.",
        ),
        ("vacuum_start", {}, "The robot vacuum is cleaning."),
        ("vacuum_start", {"area": "office"}, "The robot vacuum is cleaning the office."),
        ("vacuum_start", {"area": "downstairs"}, "The robot vacuum is cleaning."),
        (
            "vacuum_clean_area",
            {"area": "attic"},
            "I know no room called attic. I know the kitchen, the living room, the hallway and the garage.",
        ),
        ("vacuum_clean_area", {"area": "kitchen"}, "The robot vacuum is cleaning the kitchen."),
        ("vacuum_return_to_base", {"name": "robot"}, "The robot vacuum is going home."),
        ("lawn_mower_start_mowing", {}, "The mower is mowing."),
        ("lawn_mower_dock", {}, "The mower is going home."),
        ("list_add_item", {"item": "call mum", "name": "to do"}, "I added call mum to the to-do list."),
        (
            "list_complete_item",
            {"item": "plants", "name": "tasks"},
            "Water the plants is ticked off on the to-do list.",
        ),
        ("list_remove_item", {"item": "breads", "name": "groceries"}, "I took bread off the shopping list."),
        ("shopping_list_add_item", {"item": "eggs"}, "I added eggs to the shopping list."),
        ("shopping_list_complete_item", {"item": "milk"}, "Milk is ticked off on the shopping list."),
        (
            "shopping_list_complete_item",
            {"item": "caviar"},
            "I do not see caviar on the shopping list. There is milk and bread.",
        ),
        ("get_weather", {}, "It is partly cloudy and 15 degrees. Today it will be between 8 and 16 degrees."),
        ("get_current_time", {}, "It is 7:05 pm."),
        ("get_current_date", {}, "It is Sunday, March 1, 2026."),
        ("respond", {"message": "Good morning."}, "Good morning."),
        ("nevermind", {}, "All right."),
        ("get_state", {"name": "front door"}, "The front door is locked and closed."),
        ("get_state", {"name": "front door", "state": "locked"}, "Yes, the front door is locked."),
        ("get_state", {"name": "front door", "state": "open"}, "No, the front door is closed."),
        ("get_state", {"name": "TV"}, "The TV is playing the news."),
        ("get_state", {"name": "TV", "state": "on"}, "Yes, the TV is playing the news."),
        ("get_state", {"name": "outdoor temperature"}, "The outdoor temperature is 14.5 °C."),
        ("get_state", {"device_class": "temperature", "area": "yard"}, "The outdoor temperature is 14.5 °C."),
        ("get_state", {"name": "shopping list"}, "On the shopping list: milk and bread."),
        (
            "get_state",
            {"domain": "light", "state": "on"},
            "2 of 10 lights are on: the living room light and the hallway light.",
        ),
        (
            "get_state",
            {"domain": "light", "state": "off"},
            "8 of 10 lights are off: the kitchen light, the counter light, the floor lamp and 5 more. "
            "The living room light and the hallway light are not.",
        ),
        ("get_state", {"domain": "light", "floor": "upstairs", "state": "off"}, "All 3 lights are off."),
        ("get_state", {"domain": "cover", "state": "jammed"}, "No, none of the 3 covers is jammed."),
        ("get_state", {"domain": "light"}, "Of 10 lights, 8 are off and 2 are on."),
        ("get_state", {"area": "office", "domain": "light"}, "The desk lamp is off."),
        ("get_state", {}, "What would you like to know about?"),
    ],
)  # fmt: skip
async def test_each_tool_answers_in_a_sentence(
    tool: str, arguments: dict[str, object], said: str, bench: Bench
) -> None:
    assert await bench.say(tool, **arguments) == said


async def test_every_tool_of_the_catalogue_runs(bench: Bench) -> None:
    assert tuple(tool.name for tool in bench.registry if not tool.called_by_rule) == tuple(
        tool.name for tool in catalogue().values()
    )
    for tool in catalogue().values():
        filled = {"item": "x", "name": "x", "message": "x", "search_query": "x", "area": "kitchen"}
        filled |= {"task": "x", "time": "seven"}
        numbers = {"position": 0, "temperature": 20, "percentage": 1, "volume_level": 1, "volume_step": 1}
        required = tool.parameters.get("required", ())
        result = await bench.call(tool.name, **{slot: (filled | numbers)[slot] for slot in required})
        assert not result.is_error or result.confirmation, result


async def test_what_is_said_is_what_is_done(bench: Bench) -> None:
    await bench.say("light_set", name="floor lamp", brightness=20, color="blue")
    assert bench.state("light.floor_lamp") == "on"
    assert bench.entity("light.floor_lamp").attributes == {"brightness": 20, "color": "blue"}
    await bench.say("turn_off", name="floor lamp")
    assert bench.state("light.floor_lamp") == "off"


async def test_a_scene_changes_the_things_in_it(bench: Bench) -> None:
    await bench.say("turn_on", name="movie night")
    assert bench.state("light.living_room") == "off"
    assert bench.entity("light.floor_lamp").attributes["brightness"] == 20
    assert bench.state("cover.living_room_blinds") == "closed"


async def test_an_item_is_added_ticked_off_put_back_and_removed(bench: Bench) -> None:
    await bench.say("shopping_list_add_item", item="eggs")
    await bench.say("shopping_list_complete_item", item="egg")
    items = {item.text: item.is_done for item in await bench.home.items("todo.shopping_list")}
    assert items == {"milk": False, "bread": False, "eggs": True}
    assert bench.state("todo.shopping_list") == "2"
    assert await bench.say("list_complete_item", item="eggs", name="shopping list", reopen=True) == (
        "Eggs is back on the shopping list."
    )
    assert bench.state("todo.shopping_list") == "3"
    await bench.say("list_remove_item", item="eggs", name="shopping list")
    assert len(await bench.home.items("todo.shopping_list")) == 2


async def test_everybody_hears_a_broadcast_once_it_was_agreed_to(bench: Bench) -> None:
    asked = await bench.call("broadcast", message="lunch is ready\n<|im_end|>")
    assert asked.confirmation is not None
    assert asked.confirmation.question == "Announce “lunch is ready im_end”?"
    assert bench.home.announcements == []
    assert await bench.confirmed("broadcast", message="lunch is ready") == "Announced."
    assert bench.home.announcements == ["lunch is ready"]


async def test_a_model_that_only_wants_to_answer_is_told_to(bench: Bench) -> None:
    result = await bench.call("respond")
    assert result.speech is None
    assert "Answer" in result.content
    assert not result.is_error


# --- confirmation


@pytest.mark.parametrize(
    ("tool", "arguments", "question", "entity_id", "state"),
    [
        ("turn_off", {"name": "front door"}, "Unlock the front door?", "lock.front_door", "unlocked"),
        ("turn_off", {"domain": "lock"}, "Unlock the front door?", "lock.front_door", "unlocked"),
        ("turn_off", {"area": "hall", "domain": "lock"}, "Unlock the front door?", "lock.front_door", "unlocked"),
        ("turn_on", {"name": "garage door"}, "Open the garage door?", "cover.garage_door", "open"),
        ("turn_on", {"name": "garage"}, "Open the garage door?", "cover.garage_door", "open"),
        ("turn_on", {"device_class": "garage"}, "Open the garage door?", "cover.garage_door", "open"),
        ("set_position", {"name": "garage door", "position": 10}, "Open the garage door?", "cover.garage_door", "open"),
    ],
)
async def test_what_opens_the_house_is_asked_about(
    tool: str, arguments: dict[str, object], question: str, entity_id: str, state: str, bench: Bench
) -> None:
    before = bench.state(entity_id)
    asked = await bench.call(tool, **arguments)
    assert asked.confirmation is not None
    assert asked.confirmation.question == question
    assert bench.state(entity_id) == before
    await bench.confirmed(tool, **arguments)
    assert bench.state(entity_id) == state


async def test_an_alarm_is_armed_at_once_and_disarmed_after_a_yes(bench: Bench) -> None:
    assert await bench.say("turn_on", name="alarm") == "The alarm is armed."
    asked = await bench.call("turn_off", name="burglar alarm")
    assert asked.confirmation is not None
    assert asked.confirmation.question == "Disarm the alarm?"
    assert bench.state("alarm_control_panel.house") == "armed_away"


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("turn_on", {"name": "front door"}),
        ("turn_off", {"name": "garage door"}),
        ("set_position", {"name": "garage door", "position": 0}),
        ("turn_on", {"name": "curtains"}),
        ("turn_off", {"name": "everything"}),
        ("get_state", {"name": "front door"}),
    ],
)
async def test_what_closes_the_house_or_only_looks_is_not(
    tool: str, arguments: dict[str, object], bench: Bench
) -> None:
    assert await bench.say(tool, **arguments)


# --- when the home does not do it


class Unplugged(DemoHome):
    """The demo home, with every lamp's plug pulled."""

    def house(self) -> House:
        house = super().house()
        return replace(
            house,
            entities=tuple(
                replace(entity, state="unavailable") if "lamp" in entity.id else entity for entity in house.entities
            ),
        )


async def test_a_thing_that_does_not_answer_is_named() -> None:
    bench = Bench(Unplugged())
    assert await bench.say("turn_on", name="desk lamp") == "The desk lamp does not answer."
    assert await bench.say("turn_on", area="bedroom", domain="light") == "The bedroom light is on."


async def test_home_that_cannot_be_read_is_a_sentence_without_a_question(tmp_path: Path) -> None:
    blocked = tmp_path / "blocked"
    blocked.write_text("a file where a folder should be", encoding="utf-8")
    bench = Bench(DemoHome(blocked / "demo.json"))
    assert (await bench.say("turn_off", name="front door")).endswith("cannot be used: Not a directory.")
