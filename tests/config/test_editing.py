"""Editing single values in a hand-written settings file."""

from __future__ import annotations

import re
import stat
import threading
import tomllib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from edgevox.config import load_settings
from edgevox.config.editing import write_initial_config
from edgevox.config.toml_file import TomlFile, read_toml, update_config_file, with_values
from edgevox.core.errors import ConfigError
from edgevox.core.files import Folders
from edgevox.satellites.store import DeviceEntry, DeviceFile
from edgevox.server.http.tokens import add_token
from edgevox.tools.mcp.config import StdioServer, add_server


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", '[audio]\nspeaker = "HDMI"\n'),
        ("preset = 'x'\n", "preset = 'x'\n\n[audio]\nspeaker = \"HDMI\"\n"),
        ('[audio]\nspeaker = "USB"  # mine\n', '[audio]\nspeaker = "HDMI"\n'),
        ('[audio]\n#speaker = "USB"\n[llm]\n', '[audio]\nspeaker = "HDMI"\n[llm]\n'),
        (
            "[audio]\n# the speaker\n[llm]\nspeaker = 1\n",
            '[audio]\nspeaker = "HDMI"\n# the speaker\n[llm]\nspeaker = 1\n',
        ),
    ],
)
def test_a_value_is_replaced_in_place(before: str, after: str) -> None:
    assert with_values(before, "audio", {"speaker": "HDMI"}) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", ""),
        ('[audio]\n# mine\nspeaker = "USB"\nlead_in_ms = 5\n', "[audio]\n# mine\nlead_in_ms = 5\n"),
        ("[audio]\n#speaker = 1\n", "[audio]\n#speaker = 1\n"),
    ],
)
def test_none_removes_a_value_and_nothing_else(before: str, after: str) -> None:
    assert with_values(before, "audio", {"speaker": None}) == after


def test_a_nested_table_is_edited_and_the_outer_one_stays(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text("[tts]\nspeed = 1.2  # mine\n")
    update_config_file(path, "tts.voices", {"de": "thorsten"})
    update_config_file(path, "tts.voices", {"de": "eva", "fr": "siwis"})
    assert path.read_text() == '[tts]\nspeed = 1.2  # mine\n\n[tts.voices]\nfr = "siwis"\nde = "eva"\n'


def test_the_file_of_config_init_keeps_its_comments(folders: Folders) -> None:
    path = write_initial_config(folders)
    before = path.read_text().splitlines()
    update_config_file(path, "audio", {"microphone": 'the "good" one', "speaker": "HDMI"})
    changed = set(path.read_text().splitlines()) - set(before)
    assert changed == {'microphone = "the \\"good\\" one"', 'speaker = "HDMI"'}
    settings = load_settings(folders, environ={}).audio
    assert (settings.microphone, settings.speaker) == ('the "good" one', "HDMI")


@pytest.mark.parametrize(
    "awkward", ['audio.speaker = "x"\n', 'audio = { speaker = "x" }\n', 'text = """\n[audio]\n"""\n']
)
def test_a_file_that_an_edit_would_damage_is_unchanged(awkward: str, tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text(awkward)
    with pytest.raises(ConfigError, match="does not allow a safe edit") as caught:
        update_config_file(path, "audio", {"speaker": "HDMI"})
    assert 'speaker = "HDMI"' in caught.value.hint
    assert path.read_text() == awkward


def test_two_programs_that_change_the_file_at_once_both_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "config.toml"
    both_have_read = threading.Barrier(2)

    def read_slowly(path: Path) -> TomlFile | None:
        content = read_toml(path)
        with suppress(threading.BrokenBarrierError):
            both_have_read.wait(0.2)
        return content

    monkeypatch.setattr("edgevox.config.toml_file.read_toml", read_slowly)
    with ThreadPoolExecutor(2) as threads:
        louder = threads.submit(update_config_file, path, "tts", {"volume_db": 5.0})
        faster = threads.submit(update_config_file, path, "tts", {"speed": 1.5})
        louder.result()
        faster.result()
    assert tomllib.loads(path.read_text()) == {"tts": {"volume_db": 5.0, "speed": 1.5}}


def add_satellite(folders: Folders, name: str) -> None:
    DeviceFile(folders).add(name, DeviceEntry(uri="tcp://10.0.0.7:10700"))


def add_program(folders: Folders, name: str) -> None:
    add_token(folders.config / "tokens.toml", name, ("read",))


def add_mcp_server(folders: Folders, name: str) -> None:
    add_server(folders.config / "mcp.json", StdioServer(name, "true"))


@pytest.mark.parametrize("add", [add_satellite, add_program, add_mcp_server])
def test_what_programs_add_to_a_file_at_the_same_time_is_all_kept(
    add: Callable[[Folders, str], None], folders: Folders
) -> None:
    names = [f"name-{number}" for number in range(12)]
    with ThreadPoolExecutor(len(names)) as threads:
        for one in [threads.submit(add, folders, name) for name in names]:
            one.result()
    written = "".join(path.read_text() for path in folders.config.iterdir())
    assert [name for name in names if not re.search(rf"\b{name}\b", written)] == []


def test_a_symlink_is_kept_and_its_file_becomes_private(tmp_path: Path) -> None:
    target, link = tmp_path / "dotfiles.toml", tmp_path / "config" / "config.toml"
    target.write_text("[tts]\nspeed = 1.2\n")
    target.chmod(0o640)
    link.parent.mkdir()
    link.symlink_to(target)
    update_config_file(link, "audio", {"speaker": "HDMI"})
    assert link.is_symlink()
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert tomllib.loads(target.read_text()) == {"tts": {"speed": 1.2}, "audio": {"speaker": "HDMI"}}
