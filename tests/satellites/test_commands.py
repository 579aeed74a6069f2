"""`edgevox satellites` and the errors of `edgevox satellite`, as commands."""

from __future__ import annotations

import json
import stat
from pathlib import Path

from tests.cli.command import edgevox, environment


def test_a_device_is_added_listed_and_removed(tmp_path: Path) -> None:
    env = environment(tmp_path, EDGEVOX_SERVER__PORT="1")
    added = edgevox("satellites", "add", "shelf", "--uri", "tcp://127.0.0.1:1", "--room", "Bedroom", env=env)
    assert added.returncode == 0, added.stderr
    assert stat.S_IMODE((tmp_path / "config" / "satellites.toml").stat().st_mode) == 0o600
    listed = edgevox("satellites", "list", "--json", env=env)
    [entry] = json.loads(listed.stdout)
    assert (entry["name"], entry["room"], entry["kind"], entry["is_connected"]) == (
        "shelf",
        "Bedroom",
        "wyoming",
        False,
    )
    wrong = edgevox("satellites", "add", "other", "--esphome", "voice.lan:port", env=env)
    assert (wrong.returncode, "port is no port" in wrong.stderr) == (2, True)
    tried = edgevox("satellites", "test", "shelf", env=env)
    assert tried.returncode != 0
    assert "cannot be reached" in tried.stderr
    assert edgevox("satellites", "remove", "shelf", env=env).returncode == 0
    assert json.loads(edgevox("satellites", "list", "--json", env=env).stdout) == []


def test_the_network_is_asked_only_after_a_yes(tmp_path: Path) -> None:
    refused = edgevox("satellites", "discover", env=environment(tmp_path))
    assert refused.returncode == 2
    assert "--yes" in refused.stderr


def test_a_missing_token_a_wrong_address_and_a_missing_microphone_are_said(tmp_path: Path) -> None:
    env = environment(tmp_path)
    without_token = edgevox("satellite", "--server", "house.lan", env=env)
    assert (without_token.returncode, "needs a token" in without_token.stderr) == (2, True)
    wrong_address = edgevox("satellite", "--server", "ftp://house.lan", "--token", "some", env=env)
    assert (wrong_address.returncode, "no address of a server" in wrong_address.stderr) == (2, True)
    without_microphone = edgevox(
        "satellite", "--server", "house.lan", "--token", "some", "--mic", "no such microphone", env=env
    )
    assert without_microphone.returncode == 4
    assert "microphone" in without_microphone.stderr
