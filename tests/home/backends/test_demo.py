"""The demo home: persistence, limits, and a corrupt file."""

from __future__ import annotations

import asyncio
import json
import threading
import tomllib
from importlib.resources import files
from pathlib import Path

import pytest

from edgevox.core.errors import StateError
from edgevox.home import Action, DemoHome, Entity, HomeError, Verb
from edgevox.home.backends.demo import HOME_FILE, demo_data, first_day


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / HOME_FILE


def thing(home: DemoHome, entity_id: str) -> Entity:
    entity = home.house().entity(entity_id)
    assert entity is not None
    return entity


async def do(home: DemoHome, verb: Verb, *entity_ids: str, **values: object) -> tuple[Entity, ...]:
    return await home.apply(Action(verb, tuple(thing(home, entity_id) for entity_id in entity_ids), values))


def test_the_house_is_consistent() -> None:
    assert len(first_day().areas) == 7
    assert len(first_day().floors) == 2
    ids = [entity.id for entity in first_day().entities]
    assert len(ids) == len(set(ids))
    for entity in first_day().entities:
        assert entity.id.startswith(f"{entity.domain}.")
        assert entity.area is None or first_day().area(entity.area) is not None
        assert entity.floor is None or entity.floor in {floor.id for floor in first_day().floors}
    scenes, lists = demo_data()["scenes"], demo_data()["lists"]
    assert scenes.keys() | lists.keys() <= set(ids)
    assert {entity_id for scene in scenes.values() for entity_id in scene} <= set(ids)


@pytest.mark.parametrize("language", ["de", "fr", "es", "it", "nl", "pt"])
def test_everything_has_a_name_in_the_language_of_the_home_and_keeps_its_english_one(language: str) -> None:
    theirs, english = first_day((language,)), first_day()
    for one, other in zip((*theirs.places, *theirs.entities), (*english.places, *english.entities), strict=True):
        assert one.id == other.id
        labels = {label.casefold() for label in (one.name, *one.aliases)}
        assert {label.casefold() for label in (other.name, *other.aliases)} <= labels
    ours = {one.id for one in (*english.places, *english.entities)}
    with (files("edgevox.home.backends") / "demo_names.toml").open("rb") as file:
        assert tomllib.load(file)[language].keys() == ours


def test_in_a_home_of_two_languages_the_second_names_are_aliases() -> None:
    light = first_day(("en", "de")).entity("light.kitchen")
    assert light is not None
    assert (light.name, light.aliases) == ("Kitchen Light", ("Küchenlicht", "Küchenlampe"))


def test_reading_writes_nothing(path: Path) -> None:
    assert DemoHome(path).house().areas == first_day().areas
    assert not path.parent.exists()


async def test_changes_are_visible_to_the_next_command(path: Path) -> None:
    await do(DemoHome(path), "turn_on", "light.kitchen")
    await do(DemoHome(path), "add_item", "todo.shopping_list", item="eggs")
    home = DemoHome(path)
    assert thing(home, "light.kitchen").state == "on"
    assert thing(home, "todo.shopping_list").state == "3"
    assert [file.name for file in path.parent.iterdir() if not file.name.startswith(".")] == [HOME_FILE]


async def test_a_home_without_a_file_is_not_persistent() -> None:
    await do(DemoHome(), "turn_on", "light.kitchen")
    assert thing(DemoHome(), "light.kitchen").state == "off"


@pytest.mark.parametrize("broken", ["", "{", "[]", '{"things": 3}', "\x00\x00"])
def test_a_corrupt_file_is_renamed_and_the_home_reset(
    broken: str, path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path.parent.mkdir()
    path.write_text(broken, encoding="utf-8")
    home = DemoHome(path)
    assert thing(home, "light.hallway").state == "on"
    assert "kept as" in caplog.text
    (kept,) = path.parent.glob(f"{HOME_FILE}.damaged-*")
    assert kept.read_text(encoding="utf-8") == broken
    asyncio.run(do(home, "turn_off", "light.hallway"))
    assert json.loads(path.read_text(encoding="utf-8"))["things"].keys() == {"light.hallway"}


def test_an_entity_of_another_version_is_ignored(path: Path) -> None:
    path.parent.mkdir()
    path.write_text('{"version": 1, "things": {"light.gone": {"state": "on"}}}', encoding="utf-8")
    assert DemoHome(path).house().entity("light.gone") is None


async def test_concurrent_commands_lose_nothing(path: Path) -> None:
    def add(item: str) -> None:
        home = DemoHome(path)
        home._apply(Action("add_item", (thing(home, "todo.tasks"),), {"item": item}))

    threads = [threading.Thread(target=add, args=(str(number),)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=30)
    items = {item.text for item in await DemoHome(path).items("todo.tasks")}
    assert {str(number) for number in range(8)} < items


async def test_an_unwritable_folder_raises_an_error_with_a_hint(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    nowhere = DemoHome(tmp_path / "file" / HOME_FILE)
    with pytest.raises(StateError) as error:
        await nowhere.apply(Action("turn_on", first_day().entities[:1]))
    assert "EDGEVOX_STATE_DIR" in error.value.hint


# --- effects


@pytest.mark.parametrize(
    ("verb", "entity_id", "values", "state", "attributes"),
    [
        ("turn_on", "light.kitchen", {}, "on", {"brightness": 100}),
        ("turn_off", "light.hallway", {}, "off", {"brightness": 0}),
        ("set_light", "light.desk_lamp", {"brightness": 40}, "on", {"brightness": 40}),
        ("set_light", "light.desk_lamp", {"brightness": 0}, "off", {"brightness": 0}),
        ("set_light", "light.desk_lamp", {"color": "Warm White"}, "on", {"color": "warm white"}),
        ("turn_on", "cover.garage_door", {}, "open", {"position": 100}),
        ("set_position", "cover.garage_door", {"position": 1}, "open", {"position": 1}),
        ("set_position", "cover.living_room_blinds", {"position": 0}, "closed", {"position": 0}),
        ("turn_off", "lock.front_door", {}, "unlocked", {}),
        ("turn_on", "alarm_control_panel.house", {}, "armed_away", {}),
        ("set_temperature", "climate.thermostat", {"temperature": 30}, "heat", {"temperature": 30.0}),
        ("turn_off", "climate.thermostat", {}, "off", {}),
        ("turn_on", "fan.bedroom", {}, "on", {"percentage": 50}),
        ("set_speed", "fan.bedroom", {"percentage": 0}, "off", {"percentage": 0}),
        ("turn_on", "media_player.tv", {}, "playing", {}),
        ("turn_off", "media_player.tv", {}, "off", {}),
        ("next", "media_player.tv", {}, "playing", {"track": 2}),
        ("previous", "media_player.tv", {}, "playing", {"track": 1}),
        ("mute", "media_player.tv", {}, "playing", {"is_volume_muted": True}),
        ("play", "media_player.kitchen", {"search_query": "jazz"}, "playing", {"media_title": "jazz"}),
        ("start", "vacuum.robot", {}, "cleaning", {}),
        ("clean_area", "vacuum.robot", {"area": "office"}, "cleaning", {"cleaning": "office"}),
        ("start", "lawn_mower.garden", {}, "mowing", {}),
        ("dock", "lawn_mower.garden", {}, "docked", {}),
    ],
)
async def test_an_action_has_its_effect(
    verb: Verb, entity_id: str, values: dict[str, object], state: str, attributes: dict[str, object]
) -> None:
    home = DemoHome()
    (done,) = await do(home, verb, entity_id, **values)
    assert done == thing(home, entity_id)
    assert done.state == state
    assert attributes.items() <= done.attributes.items()


@pytest.mark.parametrize(
    ("verb", "entity_id", "values"),
    [
        ("set_temperature", "climate.thermostat", {"temperature": 30.5}),
        ("set_temperature", "climate.thermostat", {"temperature": -3}),
        ("set_light", "light.kitchen", {"color": "red"}),
        ("set_light", "light.desk_lamp", {"color": "heffalump"}),
        ("pause", "media_player.kitchen", {}),
        ("unpause", "media_player.kitchen", {}),
    ],
)
async def test_an_unsupported_action_changes_nothing(verb: Verb, entity_id: str, values: dict[str, object]) -> None:
    home = DemoHome()
    before = home.house()
    with pytest.raises(HomeError):
        await do(home, verb, entity_id, **values)
    assert home.house() == before


async def test_targets_that_support_the_action_perform_it() -> None:
    home = DemoHome()
    done = await do(home, "set_light", "light.living_room", "light.floor_lamp", color="green")
    assert [entity.id for entity in done] == ["light.floor_lamp"]
    assert thing(home, "light.living_room") == first_day().entity("light.living_room")
