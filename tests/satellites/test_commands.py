"""`edgevox satellites` and the errors of `edgevox satellite`, as a user types them."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from edgevox.cli.main import main
from edgevox.server.home_player import address_for_players


@pytest.fixture(autouse=True)
def devices_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("EDGEVOX_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setenv("EDGEVOX_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("EDGEVOX_SERVER__PORT", "1")
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.delenv("EDGEVOX_TOKEN", raising=False)
    return tmp_path / "config" / "satellites.toml"


def test_a_device_is_added_listed_and_removed(devices_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = ["--room", "Bedroom", "--player", "media_player.bedroom"]
    assert main(["satellites", "add", "shelf", "--uri", "tcp://127.0.0.1:1", *place]) == 0
    assert 'player = "media_player.bedroom"' in devices_file.read_text()
    assert stat.S_IMODE(devices_file.stat().st_mode) == 0o600
    assert main(["satellites", "list", "--json"]) == 0
    [entry] = json.loads(capsys.readouterr().out)
    facts = {"name": "shelf", "room": "Bedroom", "kind": "wyoming", "is_connected": False}
    assert facts.items() <= entry.items()
    assert main(["satellites", "add", "loft", "--uri", "tcp://127.0.0.1:1", "--room", "Loft [/up]"]) == 0
    assert main(["satellites", "list"]) == 0
    assert "Loft [/up]" in capsys.readouterr().out, "it is no markup"
    assert main(["satellites", "add", "other", "--esphome", "voice.lan:port"]) == 2
    assert "port is no port" in capsys.readouterr().err
    assert main(["satellites", "add", "other", "--esphome", "voice.lan", "--player", "light.bedroom"]) == 2
    assert "no media player" in capsys.readouterr().err
    assert main(["satellites", "test", "shelf"]) != 0
    assert "cannot be reached" in capsys.readouterr().err
    assert main(["satellites", "remove", "shelf"]) == 0
    assert "shelf" not in devices_file.read_text()


@pytest.mark.parametrize(
    ("home_url", "server_host", "expected"),
    [
        ("http://127.0.0.1:8123", "127.0.0.1", "127.0.0.1"),
        ("http://localhost:8123", "192.0.2.20", "192.0.2.20"),  # players cannot fetch from their own 127.0.0.1
    ],
)
def test_a_player_gets_an_address_that_it_can_reach(home_url: str, server_host: str, expected: str) -> None:
    assert address_for_players(home_url, server_host) == expected


def test_the_network_is_asked_only_after_a_yes(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin.isatty", lambda: False)
    assert main(["satellites", "discover"]) == 2
    assert "--yes" in capsys.readouterr().err


def test_a_missing_token_a_wrong_address_and_a_missing_microphone_are_reported(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ["satellite", "--server", "house.lan"]
    assert main(words) == 2
    assert "needs a token" in capsys.readouterr().err
    assert main(["satellite", "--server", "ftp://house.lan", "--token", "some"]) == 2
    assert "no address of a server" in capsys.readouterr().err
    assert main([*words, "--token", "some", "--mic", "no such microphone"]) == 4
    assert "microphone" in capsys.readouterr().err
