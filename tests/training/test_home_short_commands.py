"""Bare forms, whole floors, drawn curtains, reasons around an order: what each of them means."""

from __future__ import annotations

import random
from collections.abc import Callable

from edgevox.home.entities import Area, Entity, House
from training.home.commands import chores, media, several, short_commands, switching
from training.home.houses import KnownHome
from training.home.lexicon.vocabulary import BARE_FLOORS
from training.home.phrasing import with_reason_after, with_reason_before
from training.home.speaker import Request, Speaker

_HOUSE = House(
    (
        Entity("light.a", "Reef", "light", "", (), "a0"),
        Entity("media_player.a", "Comet", "media_player", "", (), "a0"),
        Entity("climate.a", "Ember", "climate", "", (), "a0"),
        Entity("fan.a", "Gust", "fan", "", (), "a0"),
    ),
    (Area("a0", "Study"),),
    (),
)


def _drawn(builder: Callable[[Speaker], Request], house: House | None, count: int = 300) -> list[Request]:
    return [builder(Speaker(random.Random(seed), KnownHome(house))) for seed in range(count)]


def test_what_a_thing_is_listed_as_decides_the_tool() -> None:
    tools = {str(made.calls[0].arguments["name"]): made.calls[0].tool for made in _drawn(short_commands.level, _HOUSE)}
    assert tools["reef"] == "light_set"
    assert tools["comet"] == "set_volume"
    assert tools["ember"] == "climate_set_temperature"
    assert tools["gust"] == "fan_set_speed"


def test_without_a_list_a_basement_is_no_floor() -> None:
    for made in _drawn(chores.vacuum_floor, None):
        floor = str(made.calls[0].arguments["floor"])
        assert floor in BARE_FLOORS or "floor" in floor or "level" in floor


def test_drawn_curtains_are_closed() -> None:
    drawn = [made for made in _drawn(switching.close_cover, None, 2000) if made.text.startswith("draw the")]
    assert drawn
    assert {made.calls[0].tool for made in drawn} == {"turn_off"}


def test_a_query_has_no_article() -> None:
    for made in _drawn(media.search, None, 600):
        assert not str(made.calls[0].arguments["search_query"]).lower().startswith("the ")


def test_a_list_without_verbs_has_a_call_for_each_of_its_parts() -> None:
    assert all(len(made.calls) >= 2 for made in _drawn(several.telegrams, _HOUSE))


def test_a_reason_leaves_the_order_as_it_was() -> None:
    rng = random.Random(3)
    said = {around("dim the lamp", rng) for around in (with_reason_after, with_reason_before) for _ in range(500)}
    assert len(said) > 700
    assert all("dim the lamp" in text and "{" not in text for text in said)
