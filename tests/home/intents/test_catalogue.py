"""The tools as a model sees them: frozen, complete, small."""

from __future__ import annotations

import pytest
from jsonschema import Draft202012Validator

from edgevox.home.intents.catalogue import HOME_TOOLS_VERSION, HomeTool, catalogue, digest

NAMES = """
turn_on turn_off get_state light_set set_position climate_set_temperature climate_get_temperature
fan_set_speed set_volume set_volume_relative media_pause media_unpause media_next media_previous
media_search_and_play media_player_mute media_player_unmute start_timer increase_timer decrease_timer
cancel_timer cancel_all_timers pause_timer unpause_timer timer_status set_alarm set_reminder cancel_alarm
alarm_status vacuum_start vacuum_return_to_base vacuum_clean_area
lawn_mower_start_mowing lawn_mower_dock list_add_item list_complete_item list_remove_item
shopping_list_add_item shopping_list_complete_item get_weather get_current_time get_current_date broadcast
respond nevermind
"""
SLOTS = """
name area floor domain device_class state brightness color temperature position percentage volume_level
volume_step hours minutes seconds start_hours start_minutes start_seconds conversation_command item message
search_query media_class task time
"""
BY_NAME = catalogue()


def test_a_change_of_the_schemas_is_deliberate() -> None:
    # A model is trained on these. Who changes them raises the version, and trains it again.
    assert (HOME_TOOLS_VERSION, digest()) == (2, "cb4e906c0eb2c0bb")


def test_the_tools_are_home_assistants_intents_and_ours_for_alarms() -> None:
    assert [tool.name for tool in catalogue().values()] == NAMES.split()


def test_the_slots_are_home_assistants_and_all_are_used() -> None:
    used = {slot for tool in catalogue().values() for slot in tool.parameters["properties"]}
    assert used == set(SLOTS.split())


@pytest.mark.parametrize("tool", catalogue().values(), ids=lambda tool: tool.name)
def test_every_tool_has_a_short_description_and_examples(tool: HomeTool) -> None:
    assert 0 < len(tool.description) <= 60
    assert tool.examples
    assert not any(tool.name.replace("_", " ") == example for example in tool.examples)


@pytest.mark.parametrize("tool", catalogue().values(), ids=lambda tool: tool.name)
def test_every_schema_is_valid_and_its_required_slots_exist(tool: HomeTool) -> None:
    Draft202012Validator.check_schema(dict(tool.parameters))
    assert set(tool.parameters.get("required", ())) <= set(tool.parameters["properties"])


def test_only_the_tools_that_look_have_no_side_effects() -> None:
    assert {tool.name for tool in catalogue().values() if not tool.has_side_effects} == {
        "get_state", "climate_get_temperature", "timer_status", "alarm_status", "get_weather",
        "get_current_time", "get_current_date", "respond", "nevermind",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("turn_on", {"name": "x", "area": "y", "floor": "z", "domain": "light", "device_class": "blind"}),
        ("turn_on", {}),
        ("get_state", {"device_class": "temperature", "state": "anything"}),
        ("set_volume_relative", {"volume_step": "up"}),
        ("set_volume_relative", {"volume_step": -15}),
        ("climate_set_temperature", {"temperature": 19.5}),
        ("start_timer", {"hours": 1, "minutes": 30, "conversation_command": "lights off"}),
        ("respond", {}),
        ("media_search_and_play", {"search_query": "x", "media_class": "album"}),
    ],
)
def test_what_an_intent_holds_fits(name: str, arguments: dict[str, object]) -> None:
    assert Draft202012Validator(dict(BY_NAME[name].parameters)).is_valid(arguments)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("light_set", {"brightness": 101}),
        ("light_set", {"brightness": "50"}),
        ("set_position", {"name": "x"}),
        ("set_position", {"position": -1}),
        ("set_volume", {"volume_level": 0.5}),
        ("set_volume_relative", {"volume_step": "louder"}),
        ("set_volume_relative", {"volume_step": 101}),
        ("turn_on", {"domain": "lamp"}),
        ("start_timer", {"minutes": -5}),
        ("list_add_item", {"item": "x"}),
        ("vacuum_clean_area", {}),
        ("media_search_and_play", {"search_query": "x", "media_class": "sandwich"}),
    ],
)
def test_what_no_intent_holds_does_not_fit(name: str, arguments: dict[str, object]) -> None:
    assert not Draft202012Validator(dict(BY_NAME[name].parameters)).is_valid(arguments)
