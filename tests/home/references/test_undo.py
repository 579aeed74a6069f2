"""The last turn's effects are reversed, and what cannot be reversed is said."""

from __future__ import annotations

from datetime import timedelta

import pytest

from edgevox.home.references.effects import EffectLog, TurnEffects
from tests.home.conftest import Bench
from tests.home.references.dialogue import Call, Dialogue, turn_off, turn_on


@pytest.fixture
def talk(bench: Bench) -> Dialogue:
    return Dialogue(bench)


@pytest.mark.parametrize(
    "call",
    [
        ("turn_off", {"domain": "light"}),
        ("turn_on", {"name": "garage door"}),
        ("turn_off", {"name": "front door", "domain": "lock"}),
        ("set_position", {"name": "living room blinds", "position": 30}),
        ("climate_set_temperature", {"temperature": 25}),
        ("fan_set_speed", {"name": "ceiling fan", "percentage": 70}),
        ("set_volume", {"name": "tv", "volume_level": 80}),
        ("media_pause", {"name": "tv"}),
        ("media_player_mute", {"name": "tv"}),
        ("vacuum_start", {}),
    ],
    ids=lambda call: call[0],
)
async def test_undo_restores_the_states_before(bench: Bench, talk: Dialogue, call: Call) -> None:
    before = {entity.id: entity for entity in bench.home.house().entities}
    await talk.say("do it", call)
    changed = {entity.id for entity in bench.home.house().entities if entity != before[entity.id]}
    assert changed
    await talk.say("undo that")
    assert {entity.id: entity for entity in bench.home.house().entities} == before


async def test_each_undo_goes_one_turn_further_back(bench: Bench, talk: Dialogue) -> None:
    await talk.say("turn on the desk lamp", turn_on("desk lamp"))
    await talk.say("turn on the garage light", turn_on("garage light"))
    assert await talk.say("undo") == "The garage light is off."
    assert await talk.say("undo that") == "The desk lamp is off."
    assert await talk.say("undo") == "There is nothing to undo."


async def test_a_scene_is_undone_with_everything_that_it_set(bench: Bench, talk: Dialogue) -> None:
    await talk.say("movie night", turn_on("movie night"))
    reply = await talk.say("put everything back the way it was")
    assert bench.entity("light.living_room").attributes["brightness"] == 80
    assert (bench.state("light.floor_lamp"), bench.state("cover.living_room_blinds")) == ("off", "open")
    assert "does not go back to what it played" in reply


async def test_unlocking_by_undo_is_confirmed_like_any_unlocking(bench: Bench) -> None:
    await bench.confirmed("turn_off", name="front door", domain="lock")
    talk = Dialogue(bench, agrees=False)
    await talk.say("lock the front door", ("turn_on", {"name": "front door", "domain": "lock"}))
    await talk.say("undo that")
    assert (bench.state("lock.front_door"), talk.asked) == ("locked", ["Unlock the front door?"])


async def test_list_items_timers_and_alarms_are_undone(bench: Bench, talk: Dialogue) -> None:
    await talk.say(
        "three things",
        ("shopping_list_add_item", {"item": "eggs"}),
        ("start_timer", {"minutes": 10}),
        ("set_alarm", {"time": "7 am"}),
    )
    await talk.say("put it back as it was")
    assert "eggs" not in [item.text for item in await bench.home.items("todo.shopping_list")]
    assert not bench.timers.all()
    assert not bench.alarms.all()


async def test_a_cancelled_timer_is_started_with_the_time_it_had_left(bench: Bench, talk: Dialogue) -> None:
    bench.timers.start(600, name="pasta")
    bench.clock.now_s += 60
    await talk.say("cancel the timer", ("cancel_timer", {}))
    await talk.say("undo")
    assert [(timer.name, timer.length_s) for timer in bench.timers.all()] == [("pasta", 540)]


async def test_a_cancelled_command_for_later_is_set_again_as_a_command(bench: Bench, talk: Dialogue) -> None:
    at = (bench.alarms.now() + timedelta(hours=2)).replace(tzinfo=None, second=0, microsecond=0)
    bench.alarms.set("schedule", at, label="turn on the desk lamp")
    await talk.say("cancel that command", ("cancel_alarm", {"name": "desk lamp schedule"}))
    assert not bench.alarms.all()
    await talk.say("undo")
    assert [(one.kind, one.label, one.at) for one in bench.alarms.all()] == [("schedule", "turn on the desk lamp", at)]


async def test_undo_keeps_timers_that_another_client_started(bench: Bench, talk: Dialogue) -> None:
    await talk.say("turn on the desk lamp", turn_on("desk lamp"))
    bench.timers.start(600)
    await talk.say("undo")
    assert len(bench.timers.all()) == 1


async def test_what_cannot_be_undone_is_said(bench: Bench, talk: Dialogue) -> None:
    await talk.say("tell everybody", ("broadcast", {"message": "lunch"}), turn_on("desk lamp"))
    assert await talk.say("undo that") == "The desk lamp is off. What was announced cannot be taken back."


async def test_an_item_that_was_ticked_off_is_put_back(bench: Bench, talk: Dialogue) -> None:
    await talk.say("tick off milk", ("shopping_list_complete_item", {"item": "milk"}))
    assert await talk.say("undo that") == "Milk is back on the shopping list."
    assert bench.state("todo.shopping_list") == "2"


async def test_questions_about_the_past_are_answered_with_failures(talk: Dialogue) -> None:
    await talk.say("turn on the desk lamp and the sauna", turn_on("desk lamp"), turn_on("sauna"))
    assert await talk.say("what did I just ask you to do?") == "You said: “turn on the desk lamp and the sauna”."
    done = await talk.say("what was the last thing you did?")
    assert done == "I turned on the desk lamp. One thing did not work: I know nothing called sauna."
    await talk.say("add eggs", ("shopping_list_add_item", {"item": "eggs"}))
    today = await talk.say("what have you done today?")
    assert today == "I turned on the desk lamp and added eggs to the shopping list. 1 request did not work."


async def test_deleting_turns_from_the_memory_deletes_what_was_done(bench: Bench) -> None:
    times = [0]
    log = EffectLog(bench.clock, lambda: times[0])
    log.add("kitchen", TurnEffects(bench.clock()))
    assert log.turns("kitchen", within_s=60)
    times[0] += 1
    assert not log.turns("kitchen", within_s=60)
    assert not log.all_turns()


async def test_questions_about_the_past_have_an_answer_when_nothing_was_done(talk: Dialogue) -> None:
    assert await talk.say("what did you just do") == "I have not done anything yet."
    assert (await talk.say("what have you done today")).startswith("I have done nothing yet today")


async def test_a_switched_off_light_comes_back_with_its_brightness(bench: Bench, talk: Dialogue) -> None:
    await talk.say("turn off the living room light", turn_off("living room light"))
    assert await talk.say("never mind, put it back") == "The living room light is at 80 percent."
