"""`edgevox home` as a user types it."""

from __future__ import annotations

import asyncio
import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from edgevox.cli.commands.home import house_table
from edgevox.cli.main import main
from edgevox.home import Action, Area, DemoHome, Entity, House, Timers, Verb
from edgevox.home.backends.demo import HOME_FILE


@pytest.fixture(autouse=True)
def state_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("COLUMNS", "100")
    return tmp_path / "state"


def do(folder: Path, verb: Verb, entity_id: str, **values: object) -> None:
    home = DemoHome(folder / HOME_FILE)
    entity = home.house().entity(entity_id)
    assert entity is not None
    asyncio.run(home.apply(Action(verb, (entity,), values)))


def line_of(name: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["home", "list"]) == 0
    return next(line for line in capsys.readouterr().out.splitlines() if name in line)


def test_the_list_shows_every_room_and_writes_nothing(state_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["home", "list"]) == 0
    shown = capsys.readouterr().out
    for part in ("Kitchen", "Thermostat", "set to 21.0°, 20.5° now", "Shopping List: milk, bread", "demo home"):
        assert part in shown
    assert not state_folder.exists()


def test_the_list_shows_what_was_done(state_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert " off " in line_of("Desk Lamp", capsys)
    do(state_folder, "set_light", "light.desk_lamp", brightness=30, color="red")
    assert " on, 30 %, red " in line_of("Desk Lamp", capsys)


def test_timers_are_in_the_list(state_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    timers = Timers(lambda: 4_000_000_000.0, state_folder / "timers.json")
    timers.pause(timers.start(90, name="tea"))
    assert line_of("tea", capsys) == "timer tea: paused, 1 minute and 30 seconds left"


def test_the_list_as_json(state_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    do(state_folder, "add_item", "todo.shopping_list", item="eggs")
    assert main(["home", "list", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert len(facts["areas"]) == 7
    by_id = {entity["id"]: entity for entity in facts["entities"]}
    assert by_id["light.hallway"]["state"] == "on"
    assert by_id["light.hallway"]["attributes"]["brightness"] == 100
    assert facts["lists"]["Shopping List"][-1] == {"text": "eggs", "is_done": False}
    assert facts["timers"] == []


def test_a_broken_file_is_said_and_does_not_stop_the_list(
    state_folder: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    state_folder.mkdir()
    (state_folder / HOME_FILE).write_text("{", encoding="utf-8")
    assert main(["home", "list"]) == 0
    assert "Kitchen Light" in capsys.readouterr().out
    assert f"{HOME_FILE}.damaged-" in caplog.text


def test_the_table_fits_a_narrow_terminal_and_keeps_unplaced_entities_apart() -> None:
    lamp = Entity("light.a", "A lamp with a long name", "light", "on", ("Bright One", "Other"), "den")
    plug = Entity("switch.b", "Plug of nobody in particular", "switch", "unavailable", device_class="outlet")
    out = Console(width=80, file=io.StringIO())
    out.print(house_table(House((plug, lamp), (Area("den", "Den"),))))
    assert isinstance(out.file, io.StringIO)
    lines = out.file.getvalue().splitlines()
    assert max(map(len, lines)) <= 80
    assert next(line for line in lines if "Plug" in line).startswith("(no area)")
    assert any("on, 100 %" in line for line in lines)
    assert any("not answering" in line for line in lines)
