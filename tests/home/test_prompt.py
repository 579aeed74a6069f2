"""What models are told of a home: all of a small one, a part of a large one, and what a sentence names."""

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
from edgevox.home.backends.demo import FIRST_DAY
from edgevox.home.prompt import fixed_part, rare_words_first
from tests.home.houses import house, large_house, thing


def told(home: House, sentence: str = "", max_things: int = 60) -> str:
    return HomePrompt(lambda: home, max_things=max_things).for_utterance(sentence)


def added(home: House, sentence: str) -> list[str]:
    """The lines that a sentence adds to what is always told."""
    always, now = told(home), told(home, sentence)
    assert now.startswith(always)
    return now[len(always) :].splitlines()[1:]


# --- small homes: the model was trained on this


def test_a_small_home_is_told_as_it_always_was_whatever_is_said() -> None:
    for sentence in ("", "Turn on the desk lamp.", "What is on TV?"):
        text = told(FIRST_DAY, sentence)
        assert text == home_instructions(FIRST_DAY)
        assert hashlib.sha256(text.encode()).hexdigest()[:16] == "cada01886a35debd"


def test_as_many_things_as_are_allowed_are_all_told() -> None:
    things = len(FIRST_DAY.entities)
    assert told(FIRST_DAY, max_things=things) == home_instructions(FIRST_DAY)
    assert told(FIRST_DAY, max_things=things - 1) != home_instructions(FIRST_DAY)


def test_a_models_own_instructions_stand_before_those_of_the_home() -> None:
    text = HomePrompt(lambda: FIRST_DAY, before="Be kind.").for_utterance("")
    assert text == f"Be kind.\n{home_instructions(FIRST_DAY)}"


# --- homes that change


def test_a_thing_that_was_renamed_is_in_the_next_prompt() -> None:
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


def test_a_state_is_never_told_and_changes_nothing() -> None:
    before = large_house()
    after = replace(before, entities=tuple(replace(entity, state="glowing") for entity in before.entities))
    assert told(after, "turn off the attic fan") == told(before, "turn off the attic fan")
    assert "glowing" not in told(after, "turn off the attic fan")


def test_of_a_home_that_is_not_known_nothing_is_told() -> None:
    def unknown() -> House:
        raise HomeError("The home cannot be reached.")

    now = HomePrompt(unknown)
    assert now.for_utterance("turn on the desk lamp") == HOME_INSTRUCTIONS
    assert now.names() == now.all_names() == ()


# --- large homes: what is always told


def test_every_area_of_a_large_home_is_told_and_has_its_share() -> None:
    large = large_house()
    part = fixed_part(large, 60)
    assert len(part.entities) == 60
    assert Counter(entity.area for entity in part.entities) == {area.id: 3 for area in large.areas}


def test_an_area_in_which_things_only_measure_is_told_too() -> None:
    large = large_house()
    icehouse = Area("icehouse", "Icehouse")
    cold = Entity("sensor.ice", "Ice", "sensor", "-3", area="icehouse", device_class="temperature")
    large = replace(large, entities=(*large.entities, cold), areas=(*large.areas, icehouse))
    assert "Icehouse: sensor temperature Ice" in told(large).splitlines()


def test_what_people_speak_to_comes_before_what_measures() -> None:
    lamps = [thing(f"Lamp {number}", area="kitchen") for number in range(20)]
    meters = [thing(f"Meter {number}", "sensor", "kitchen") for number in range(200)]
    part = fixed_part(house(*meters, *lamps), 20)
    assert {entity.domain for entity in part.entities} == {"light"}


def test_an_area_is_told_of_by_things_of_every_kind() -> None:
    lamps = [thing(f"Lamp {number}", area="kitchen") for number in range(100)]
    part = fixed_part(house(*lamps, thing("Oven", "climate", "kitchen"), thing("Radio", "media_player")), 10)
    assert {entity.name for entity in part.entities} > {"Oven", "Radio"}


def test_a_thing_with_an_alias_is_told_before_its_like() -> None:
    lamps = [thing(f"Lamp {number}", "light", "kitchen") for number in range(100)]
    part = fixed_part(house(*lamps, thing("Zeppelin", "light", "kitchen", "Dad's lamp")), 10)
    assert "Zeppelin" in {entity.name for entity in part.entities}


def test_the_order_of_a_large_home_changes_nothing() -> None:
    large = large_house()
    other = replace(large, entities=large.entities[::-1], areas=large.areas[::-1])
    assert told(other) == told(large)
    assert HomePrompt(lambda: other).names() == HomePrompt(lambda: large).names()


def test_a_prompt_has_bounds_however_long_the_names_are() -> None:
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


def test_a_named_thing_is_told_in_a_line_of_its_area_behind_all_the_rest() -> None:
    large = large_house()
    assert "Cellar Speaker" not in told(large)
    assert added(large, "Turn up the cellar speaker.") == ["Cellar: media_player Cellar Speaker"]


def test_what_is_told_anyway_is_not_told_twice() -> None:
    assert "Attic Ceiling Light" in told(large_house())
    assert added(large_house(), "Turn on the attic ceiling light.") == []


def test_several_named_things_are_told_together() -> None:
    lines = added(large_house(), "Mute the attic speaker and start the cellar fan.")
    assert lines == ["Attic: media_player Attic Speaker", "Cellar: fan Cellar Fan"]


def test_words_for_many_things_name_none() -> None:
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


def test_a_part_of_a_name_will_do_where_nothing_is_named_in_whole() -> None:
    large = large_house()
    pump = Entity("sensor.pump", "Heat Pump Outflow Temperature", "sensor", "30", area="cellar")
    large = replace(large, entities=(*large.entities, pump))
    assert added(large, "How warm is the heat pump outflow?") == ["Cellar: sensor Heat Pump Outflow Temperature"]


def test_a_misheard_name_is_still_a_name() -> None:
    assert added(large_house(), "Turn up the cellar speeker.") == ["Cellar: media_player Cellar Speaker"]


def test_a_sentence_names_only_a_few_things() -> None:
    colours = ("red", "green", "blue", "white", "black", "brown", "violet", "orange", "pink")
    names = [f"{colour} lamp" for colour in colours]
    many = house(*(thing(name, area="kitchen") for name in names), *(thing(f"A {n}") for n in range(20)))
    sentence = f"turn on {' and '.join(names)}"
    text = HomePrompt(lambda: many, max_things=10).for_utterance(sentence)
    assert text.splitlines()[-1].count(",") <= 7


# --- names for the recogniser


def test_a_small_home_primes_with_all_its_names() -> None:
    home = DemoHome()
    assert set(HomePrompt(home.house).names()) == set(home_names(home.house()))


def test_a_small_home_primes_with_unusual_names_first() -> None:
    names = HomePrompt(lambda: house(thing("Attic Light"), thing("Sonos"))).names()
    assert names.index("Sonos") < names.index("Attic Light")


def test_a_large_home_primes_with_what_a_recogniser_does_not_know() -> None:
    large = large_house()
    sonos = Entity("media_player.x", "Sonos", "media_player", "off", area="attic")
    names = HomePrompt(lambda: replace(large, entities=(sonos, *large.entities[:190]))).names()
    assert "Sonos" in names[:10]
    assert len(names) < 100


def test_what_was_misheard_is_looked_for_among_all_names_of_a_large_home() -> None:
    large = large_house()
    assert HomePrompt(lambda: large).all_names() == home_names(large)


def test_each_unusual_word_is_told_early_once() -> None:
    names = ("Kitchen Light", "Sonos Kitchen", "Sonos Bedroom", "Hue Strip")
    assert rare_words_first(names) == ("Sonos Kitchen", "Hue Strip", "Kitchen Light", "Sonos Bedroom")
