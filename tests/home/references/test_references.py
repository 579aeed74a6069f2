"""Sentences that refer to earlier turns act on what these were about."""

from __future__ import annotations

import pytest

from edgevox.home.rules.speaker_room import SpeakerRoom
from tests.home.conftest import Bench
from tests.home.references.dialogue import Dialogue, turn_off, turn_on


@pytest.fixture
def talk(bench: Bench) -> Dialogue:
    return Dialogue(bench)


def lights_on(bench: Bench) -> set[str]:
    lights = (entity for entity in bench.home.house().entities if entity.domain == "light" and entity.state == "on")
    return {entity.name for entity in lights} - {"Living Room Light", "Hallway Light"}


async def test_one_of_the_same_kind_in_another_room_is_added(bench: Bench, talk: Dialogue) -> None:
    await talk.say("turn on the kitchen light", turn_on("kitchen light"))
    assert await talk.say("and the bedroom one too") == "The bedroom light is on."
    assert await talk.say("turn it off again") == "The bedroom light is off."
    assert lights_on(bench) == {"Kitchen Light"}


async def test_them_means_everything_that_was_added(bench: Bench, talk: Dialogue) -> None:
    await talk.say("turn on the kitchen light", turn_on("kitchen light"))
    await talk.say("the same in the bedroom")
    await talk.say("do that in the office as well")
    assert lights_on(bench) == {"Kitchen Light", "Bedroom Light", "Desk Lamp"}
    await talk.say("turn them off")
    assert lights_on(bench) == set()


async def test_a_value_is_set_on_what_was_mentioned(bench: Bench, talk: Dialogue) -> None:
    await talk.say("turn on the floor lamp", turn_on("floor lamp"))
    await talk.say("make it blue")
    await talk.say("set it to thirty percent")
    lamp = bench.entity("light.floor_lamp").attributes
    assert (lamp["color"], lamp["brightness"]) == ("blue", 30)


async def test_turning_it_off_never_unlocks_a_door(bench: Bench, talk: Dialogue) -> None:
    await talk.say("is the front door locked?", ("get_state", {"name": "front door", "state": "locked"}))
    await talk.say("turn it off", ("respond", {"message": "What?"}))
    assert (bench.state("lock.front_door"), talk.asked) == ("locked", [])


async def test_them_means_those_that_the_answer_named(bench: Bench, talk: Dialogue) -> None:
    await talk.say("which lights are on?", ("get_state", {"domain": "light", "state": "on"}))
    assert await talk.say("turn them off") == "The living room light and the hallway light are off."


async def test_a_pronoun_with_a_time_is_scheduled_as_a_name(bench: Bench, talk: Dialogue) -> None:
    await talk.say("turn on the kitchen light", turn_on("kitchen light"))
    await talk.say("turn it off in ten minutes")
    assert [timer.command for timer in bench.timers.all()] == ["turn the kitchen light off"]


async def test_a_command_for_later_names_what_it_is_about(bench: Bench, talk: Dialogue) -> None:
    await talk.say("turn on the kitchen light", turn_on("kitchen light"))
    await talk.say("half an hour should do", ("start_timer", {"minutes": 30, "conversation_command": "turn it off"}))
    assert [timer.command for timer in bench.timers.all()] == ["turn the kitchen light off"]


async def test_it_may_be_a_timer_and_is_left_to_the_model_then(talk: Dialogue) -> None:
    await talk.say("turn on the desk lamp", turn_on("desk lamp"))
    await talk.say("set a timer for ten minutes", ("start_timer", {"minutes": 10}))
    assert "cancelled" in await talk.say("turn it off", ("cancel_timer", {}))


async def test_more_repeats_a_relative_change(bench: Bench, talk: Dialogue) -> None:
    await talk.say("dim the desk lamp to 40", ("light_set", {"name": "desk lamp", "brightness": 40}))
    await talk.say("make it a bit brighter", ("light_set", {"name": "desk lamp", "brightness": 50}))
    assert await talk.say("more") == "The desk lamp is at 60 percent."


async def test_a_correction_reverses_the_wrong_effect(bench: Bench, talk: Dialogue) -> None:
    await talk.say("turn off the living room light", turn_off("living room light"))
    await talk.say("not that one, the hallway light")
    assert bench.entity("light.living_room").attributes["brightness"] == 80
    assert bench.state("light.hallway") == "off"


async def test_after_a_correction_the_right_thing_is_referred_to(bench: Bench, talk: Dialogue) -> None:
    await talk.say("turn on the kitchen light", turn_on("kitchen light"))
    await talk.say("no, the office")
    await talk.say("and the garage too")
    assert lights_on(bench) == {"Desk Lamp", "Garage Light"}
    await talk.say("undo")
    await talk.say("undo")
    assert lights_on(bench) == set()


async def test_a_corrected_value_replaces_the_wrong_one(bench: Bench, talk: Dialogue) -> None:
    await talk.say("make the desk lamp red", ("light_set", {"name": "desk lamp", "color": "red"}))
    assert await talk.say("no, blue") == "The desk lamp is blue."


async def test_a_correction_after_an_unknown_name_only_does_the_right_thing(bench: Bench, talk: Dialogue) -> None:
    await talk.say("turn on the sauna", turn_on("sauna"))
    assert await talk.say("I meant the desk lamp") == "The desk lamp is on."


async def test_the_other_one_is_the_second_of_two(bench: Bench, talk: Dialogue) -> None:
    await talk.say("turn on the kitchen light", turn_on("kitchen light"))
    assert await talk.say("and the other one") == "The counter light is on."


@pytest.mark.parametrize(
    ("answer", "on"),
    [
        ("the second one", {"Bedside Lamp"}),
        ("the last one, please", {"Desk Lamp"}),
        ("the bedroom one", {"Bedside Lamp"}),
        ("um, the one on the desk", {"Desk Lamp"}),
        ("the floor lamp and the desk lamp", {"Floor Lamp", "Desk Lamp"}),
        ("all of them", {"Floor Lamp", "Bedside Lamp", "Desk Lamp"}),
        ("neither", set()),
    ],
)
async def test_the_answer_to_a_which_question_is_understood(
    bench: Bench, talk: Dialogue, answer: str, on: set[str]
) -> None:
    question = await talk.say("turn on the lamp", turn_on("lamp"))
    assert question == "Which one: the floor lamp, the bedside lamp or the desk lamp?"
    await talk.say(answer)
    assert lights_on(bench) == on


async def test_another_command_is_no_answer_to_a_which_question(bench: Bench, talk: Dialogue) -> None:
    await talk.say("turn on the lamp", turn_on("lamp"))
    await talk.say("turn on the kitchen light", turn_on("kitchen light"))
    assert lights_on(bench) == {"Kitchen Light"}


async def test_references_of_a_conversation_begun_elsewhere_are_read_from_its_messages(bench: Bench) -> None:
    first = Dialogue(bench)
    await first.say("turn on the kitchen light", turn_on("kitchen light"))
    second = Dialogue(bench)
    second.agent._conversation = first.agent._conversation  # as with a client that sends its history
    assert await second.say("turn it off") == "The kitchen light is off."


async def test_without_an_earlier_turn_a_reference_is_left_to_the_model(talk: Dialogue) -> None:
    await talk.say("turn it off", ("respond", {"message": "What should I turn off?"}))


async def test_toggling_depends_on_the_state(bench: Bench, talk: Dialogue) -> None:
    assert await talk.say("toggle the kitchen light") == "The kitchen light is on."
    assert await talk.say("toggle the kitchen light") == "The kitchen light is off."


async def test_lights_without_a_place_are_those_of_the_speakers_room(bench: Bench) -> None:
    talk = Dialogue(bench, SpeakerRoom("bedroom", bench.home.house))
    assert await talk.say("lights on", ("turn_on", {"domain": "light"})) == (
        "The bedroom light and the bedside lamp are on."
    )
    assert await talk.say("turn off all the lights", ("turn_off", {"domain": "light"})) == "10 lights are off."
    assert await talk.say("lights on in the office", ("turn_on", {"domain": "light"})) == "10 lights are on."


async def test_what_the_speakers_room_lacks_is_looked_for_elsewhere(bench: Bench) -> None:
    talk = Dialogue(bench, SpeakerRoom("office", bench.home.house))
    await talk.say("close the blinds", ("turn_off", {"domain": "cover", "device_class": "blind"}))
    assert bench.state("cover.living_room_blinds") == "closed"


async def test_colours_without_a_place_go_to_the_lights_that_have_them(bench: Bench, talk: Dialogue) -> None:
    reply = await talk.say("make the lights pink", ("light_set", {"color": "pink"}))
    assert reply == "The floor lamp, the bedside lamp and the desk lamp are pink."


async def test_a_bare_comparative_is_about_what_was_just_changed(bench: Bench, talk: Dialogue) -> None:
    await talk.say("turn on the floor lamp", turn_on("floor lamp"))
    await talk.say("a bit dimmer", ("light_set", {"name": "floor lamp", "brightness": 50}))
    assert bench.entity("light.floor_lamp").attributes["brightness"] == 90
    assert bench.entity("light.hallway").attributes["brightness"] == 100


async def test_more_goes_on_with_a_change_to_a_value(bench: Bench, talk: Dialogue) -> None:
    await talk.say("one degree cooler", ("climate_set_temperature", {"name": "thermostat", "temperature": 20}))
    assert await talk.say("one more") == "The thermostat is set to 19 degrees."
    assert await talk.say("too much") == "The thermostat is set to 19.5 degrees."


async def test_again_repeats_a_value_that_was_set(bench: Bench, talk: Dialogue) -> None:
    await talk.say("set the fan to 40 percent", ("fan_set_speed", {"name": "fan", "percentage": 40}))
    await talk.say("again")
    assert bench.entity("fan.bedroom").attributes["percentage"] == 40


async def test_say_that_again_repeats_the_reply(talk: Dialogue) -> None:
    reply = await talk.say("turn on the floor lamp", turn_on("floor lamp"))
    assert await talk.say("say that again") == reply


async def test_the_length_of_a_timer_is_corrected(bench: Bench, talk: Dialogue) -> None:
    await talk.say("set a timer for fifteen minutes", ("start_timer", {"minutes": 15}))
    await talk.say("no, fifty minutes")
    assert [timer.length_s for timer in bench.timers.all()] == [3000]


async def test_the_time_of_an_alarm_is_corrected_on_its_day(bench: Bench, talk: Dialogue) -> None:
    await talk.say("alarm for seven tomorrow", ("set_alarm", {"time": "seven tomorrow"}))
    (before,) = bench.alarms.all()
    await talk.say("make that half past")
    (after,) = bench.alarms.all()
    assert after.rings_s(bench.alarms.zone) - before.rings_s(bench.alarms.zone) == 1800


async def test_an_item_of_a_list_is_corrected(bench: Bench, talk: Dialogue) -> None:
    await talk.say("add butter to the shopping list", ("shopping_list_add_item", {"item": "butter"}))
    await talk.say("i mean peanut butter")
    items = [item.text for item in await bench.home.items("todo.shopping_list")]
    assert ("butter" in items, "peanut butter" in items) == (False, True)


async def test_the_wrong_one_is_put_back_for_the_other_one(bench: Bench, talk: Dialogue) -> None:
    await talk.say("bedroom light on", turn_on("bedroom light"))
    await talk.say("not that, the other one")
    assert lights_on(bench) == {"Bedside Lamp"}
    await talk.say("wrong lamp, the desk one")
    assert lights_on(bench) == {"Desk Lamp"}


async def test_what_shall_not_be_done_is_not_done(bench: Bench, talk: Dialogue) -> None:
    await talk.say("desk lamp on", turn_on("desk lamp"))
    assert await talk.say("don't turn it off again") == "All right."
    assert lights_on(bench) == {"Desk Lamp"}


async def test_keep_it_on_puts_back_what_was_turned_off(bench: Bench, talk: Dialogue) -> None:
    await talk.say("turn on the desk lamp", turn_on("desk lamp"))
    assert await talk.say("leave it on") == "All right, the desk lamp stays on."
    await talk.say("turn off the desk lamp", turn_off("desk lamp"))
    await talk.say("wait, no, keep it on")
    assert lights_on(bench) == {"Desk Lamp"}


async def test_the_last_action_of_one_kind_is_answered(talk: Dialogue) -> None:
    await talk.say("turn off the tv", turn_off("tv"))
    await talk.say("add oat milk to the shopping list", ("shopping_list_add_item", {"item": "oat milk"}))
    assert await talk.say("which one did you turn off?") == "I turned off the TV."
    assert "oat milk" in await talk.say("what did i put on it?")


async def test_a_pronoun_beside_known_words_is_read_in_any_order(bench: Bench, talk: Dialogue) -> None:
    await talk.say("turn on the floor lamp", turn_on("floor lamp"))
    await talk.say("too harsh, ease it down to a quarter")
    assert bench.entity("light.floor_lamp").attributes["brightness"] == 25
    await talk.say("double that")
    assert bench.entity("light.floor_lamp").attributes["brightness"] == 50
    assert await talk.say("you can kill it now") == "The floor lamp is off."


async def test_another_clause_gives_only_the_reason(bench: Bench, talk: Dialogue) -> None:
    await talk.say("is the front door locked?", ("get_state", {"name": "front door", "state": "locked"}))
    await talk.say("unlock it, the guests are here")
    assert bench.state("lock.front_door") == "unlocked"


async def test_a_pronoun_means_what_its_own_sentence_names(bench: Bench, talk: Dialogue) -> None:
    await talk.say("turn on the floor lamp", turn_on("floor lamp"))
    await talk.say("the hallway light is still burning, turn it off", turn_off("hallway light"))
    assert lights_on(bench) == {"Floor Lamp"}


async def test_as_before_reverses_the_last_turn(bench: Bench, talk: Dialogue) -> None:
    await talk.say("turn on the floor lamp", turn_on("floor lamp"))
    await talk.say("hmm, back how it was please")
    assert lights_on(bench) == set()


async def test_a_new_item_is_taken_off_its_list_again(bench: Bench, talk: Dialogue) -> None:
    await talk.say("add butter to the shopping list", ("shopping_list_add_item", {"item": "butter"}))
    await talk.say("take the butter off again, there is some")
    assert [item.text for item in await bench.home.items("todo.shopping_list")] == ["milk", "bread"]


async def test_a_step_of_what_a_pronoun_means_reaches_the_model_with_its_name(talk: Dialogue) -> None:
    await talk.say("open the blinds halfway", ("set_position", {"name": "blinds", "position": 50}))
    await talk.say("they can go a little higher", ("set_position", {"name": "living room blinds", "position": 60}))
    assert "living room blinds" in talk.read
