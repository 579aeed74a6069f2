"""The home's system prompt: all of a small home, a part of a large one, and mentioned entities."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import replace

from edgevox.home import (
    HOME_INSTRUCTIONS,
    Area,
    DemoHome,
    Entity,
    Floor,
    HomeError,
    HomePrompt,
    House,
    home_instructions,
    home_names,
)
from edgevox.home.backends.demo import first_day
from edgevox.home.prompt import fixed_part, rare_words_first
from tests.home.houses import house, large_house, thing


def told(home: House, sentence: str = "", max_things: int = 60) -> str:
    return HomePrompt(lambda: home, max_things=max_things).for_utterance(sentence)


def added(home: House, sentence: str) -> list[str]:
    """The lines that a sentence adds to the fixed part of the prompt."""
    always, now = told(home), told(home, sentence)
    assert now.startswith(always)
    return now[len(always) :].splitlines()[1:]


# --- small homes: the model was trained on this


def test_the_prompt_of_a_small_home_is_independent_of_the_utterance() -> None:
    for sentence in ("", "Turn on the desk lamp.", "What is on TV?"):
        text = told(first_day(), sentence)
        assert text == home_instructions(first_day())
        assert hashlib.sha256(text.encode()).hexdigest()[:16] == "cada01886a35debd"


def test_a_home_within_the_limit_is_listed_completely() -> None:
    things = len(first_day().entities)
    assert told(first_day(), max_things=things) == home_instructions(first_day())
    assert told(first_day(), max_things=things - 1) != home_instructions(first_day())


def test_the_models_instructions_precede_those_of_the_home() -> None:
    text = HomePrompt(first_day, before="Be kind.").for_utterance("")
    assert text == f"Be kind.\n{home_instructions(first_day())}"


# --- homes that change


def test_a_renamed_entity_is_in_the_next_prompt() -> None:
    homes = [house(thing("Desk Lamp"))]
    now = HomePrompt(lambda: homes[-1])
    assert "Desk Lamp" in now.for_utterance("")
    homes.append(house(thing("Moon Lamp")))
    assert "Moon Lamp" in now.for_utterance("")
    assert "Desk Lamp" not in now.for_utterance("")
    assert set(now.names()) == set(home_names(homes[-1]))


def test_a_new_area_is_in_the_next_prompt() -> None:
    homes = [large_house()]
    now = HomePrompt(lambda: homes[-1])
    now.for_utterance("")
    boathouse = Area("boathouse", "Boathouse")
    lamp = Entity("light.boat", "Boat Lamp", "light", "off", area="boathouse")
    homes.append(replace(homes[0], entities=(*homes[0].entities, lamp), areas=(*homes[0].areas, boathouse)))
    assert "Boathouse: light Boat Lamp" in now.for_utterance("").splitlines()


def test_states_are_not_in_the_prompt() -> None:
    before = large_house()
    after = replace(before, entities=tuple(replace(entity, state="glowing") for entity in before.entities))
    assert told(after, "turn off the attic fan") == told(before, "turn off the attic fan")
    assert "glowing" not in told(after, "turn off the attic fan")


def test_an_unknown_home_is_not_in_the_prompt() -> None:
    def unknown() -> House:
        raise HomeError("The home cannot be reached.")

    now = HomePrompt(unknown)
    assert now.for_utterance("turn on the desk lamp") == HOME_INSTRUCTIONS
    assert now.names() == now.all_names() == ()


# --- large homes: what is always in the prompt


def test_every_area_of_a_large_home_is_listed_with_its_share() -> None:
    large = large_house()
    part = fixed_part(large, 60)
    assert len(part.entities) == 60
    assert Counter(entity.area for entity in part.entities) == {area.id: 3 for area in large.areas}


def test_an_area_with_sensors_only_is_listed_too() -> None:
    large = large_house()
    icehouse = Area("icehouse", "Icehouse")
    cold = Entity("sensor.ice", "Ice", "sensor", "-3", area="icehouse", device_class="temperature")
    large = replace(large, entities=(*large.entities, cold), areas=(*large.areas, icehouse))
    assert "Icehouse: sensor temperature Ice" in told(large).splitlines()


def test_controllable_entities_come_before_sensors() -> None:
    lamps = [thing(f"Lamp {number}", area="kitchen") for number in range(20)]
    meters = [thing(f"Meter {number}", "sensor", "kitchen") for number in range(200)]
    part = fixed_part(house(*meters, *lamps), 20)
    assert {entity.domain for entity in part.entities} == {"light"}


def test_an_area_is_listed_with_entities_of_every_kind() -> None:
    lamps = [thing(f"Lamp {number}", area="kitchen") for number in range(100)]
    part = fixed_part(house(*lamps, thing("Oven", "climate", "kitchen"), thing("Radio", "media_player")), 10)
    assert {entity.name for entity in part.entities} > {"Oven", "Radio"}


def test_an_entity_with_an_alias_comes_before_others_of_its_kind() -> None:
    lamps = [thing(f"Lamp {number}", "light", "kitchen") for number in range(100)]
    part = fixed_part(house(*lamps, thing("Zeppelin", "light", "kitchen", "Dad's lamp")), 10)
    assert "Zeppelin" in {entity.name for entity in part.entities}


def test_the_prompt_is_independent_of_the_order_of_entities() -> None:
    large = large_house()
    other = replace(large, entities=large.entities[::-1], areas=large.areas[::-1])
    assert told(other) == told(large)
    assert HomePrompt(lambda: other).names() == HomePrompt(lambda: large).names()


def test_the_prompt_is_bounded_however_long_the_names_are() -> None:
    name = "Extraordinarily Long Designation of a Rather Ordinary Thing"
    aliases = tuple(f"{name} Also Known As {number}" for number in range(30))
    floors = tuple(Floor(f"f{number}", f"Floor {number} {name}", aliases) for number in range(5))
    areas = tuple(Area(f"a{number}", f"Area {number} {name}", aliases, f"f{number % 5}") for number in range(100))
    things = tuple(
        Entity(f"light.{number}", f"{number} {name}", "light", "off", aliases, f"a{number % 100}")
        for number in range(500)
    )
    longest = House(things, areas, floors)
    # 100 characters for each of 60 things, and half as much again where an estimate was too low.
    assert len(told(longest, f"turn on {things[499].name}")) < 9000
    assert len(told(House(things[:40], areas, floors))) < 9000  # few things, but more than they may take


# --- large homes: what a sentence names


def test_a_mentioned_entity_is_appended_in_a_line_of_its_area() -> None:
    large = large_house()
    assert "Cellar Speaker" not in told(large)
    assert added(large, "Turn up the cellar speaker.") == ["Cellar: media_player Cellar Speaker"]


def test_entities_in_the_fixed_part_are_not_repeated() -> None:
    assert "Attic Ceiling Light" in told(large_house())
    assert added(large_house(), "Turn on the attic ceiling light.") == []


def test_several_mentioned_entities_are_appended_together() -> None:
    lines = added(large_house(), "Mute the attic speaker and start the cellar fan.")
    assert lines == ["Attic: media_player Attic Speaker", "Cellar: fan Cellar Fan"]


def test_generic_words_mention_no_entity() -> None:
    for sentence in (
        "Turn off all the lights.",
        "Turn on the lights in the cellar.",
        "Set a timer for two minutes.",
        "What is the temperature?",
        "Is the door locked?",
        "Play some jazz in the library.",
        "Good morning.",
    ):
        assert added(large_house(), sentence) == [], sentence


def test_a_part_of_a_name_matches_if_no_full_name_does() -> None:
    large = large_house()
    pump = Entity("sensor.pump", "Heat Pump Outflow Temperature", "sensor", "30", area="cellar")
    large = replace(large, entities=(*large.entities, pump))
    assert added(large, "How warm is the heat pump outflow?") == ["Cellar: sensor Heat Pump Outflow Temperature"]


def test_a_misheard_name_still_matches() -> None:
    assert added(large_house(), "Turn up the cellar speeker.") == ["Cellar: media_player Cellar Speaker"]


def test_the_number_of_mentioned_entities_is_limited() -> None:
    colours = ("red", "green", "blue", "white", "black", "brown", "violet", "orange", "pink")
    names = [f"{colour} lamp" for colour in colours]
    many = house(*(thing(name, area="kitchen") for name in names), *(thing(f"A {n}") for n in range(20)))
    sentence = f"turn on {' and '.join(names)}"
    text = HomePrompt(lambda: many, max_things=10).for_utterance(sentence)
    assert text.splitlines()[-1].count(",") <= 7


# --- names for the recogniser


def test_all_names_of_a_small_home_bias_the_recogniser() -> None:
    home = DemoHome()
    assert set(HomePrompt(home.house).names()) == set(home_names(home.house()))


def test_unusual_names_bias_the_recogniser_first() -> None:
    names = HomePrompt(lambda: house(thing("Attic Light"), thing("Sonos"))).names()
    assert names.index("Sonos") < names.index("Attic Light")


def test_names_of_a_large_home_with_unknown_words_come_first() -> None:
    large = large_house()
    sonos = Entity("media_player.x", "Sonos", "media_player", "off", area="attic")
    names = HomePrompt(lambda: replace(large, entities=(sonos, *large.entities[:190]))).names()
    assert "Sonos" in names[:10]
    assert len(names) < 100


def test_all_names_of_a_large_home_are_used_for_correction() -> None:
    large = large_house()
    assert HomePrompt(lambda: large).all_names() == home_names(large)


def test_each_unusual_word_moves_only_one_name_forward() -> None:
    names = ("Kitchen Light", "Sonos Kitchen", "Sonos Bedroom", "Hue Strip")
    assert rare_words_first(names) == ("Sonos Kitchen", "Hue Strip", "Kitchen Light", "Sonos Bedroom")
