"""Backup, restore and removal of settings and state, and state files of other versions."""

from __future__ import annotations

import json
import stat
import time
import zipfile
from contextlib import closing
from pathlib import Path

import pytest
from pydantic import BaseModel

from edgevox.agents import memory_file
from edgevox.agents.memory import ConversationStore
from edgevox.agents.memory_file import MemoryFile
from edgevox.app.backup import restore_backup, write_backup
from edgevox.cli.main import main
from edgevox.config import MemorySettings, load_settings, loader
from edgevox.core.errors import ConfigError, StateError
from edgevox.core.files import Folders, user_folders
from edgevox.core.state_file import StateFile
from edgevox.core.types import Message
from edgevox.home.alarms.timers import TIMERS_FILE, Timers


def folders_in(root: Path) -> Folders:
    return Folders(root / "config", root / "state", root / "models", root / "run")


def use(folders: Folders, words: str) -> None:
    """Leave a setting, a token, a timer and a turn."""
    folders.config.mkdir(parents=True, exist_ok=True)
    folders.config_file.write_text("[tts]\nspeed = 1.5\n")
    (folders.config / "home-assistant.token").write_text(words)
    Timers(time.time, folders.state / TIMERS_FILE).start(300, name=words)
    with ConversationStore.open(folders.state, MemorySettings()) as store:
        store.conversation("one").keep((Message("user", words), Message("assistant", "Yes.")), turn_id="one")


def words_of(folders: Folders) -> tuple[list[str], list[str]]:
    with closing(MemoryFile.open(folders.state)) as file:
        said = [turn.messages[0].content for turn in file.turns()]
    return [timer.name for timer in Timers(time.time, folders.state / TIMERS_FILE).all()], said


def test_a_restored_backup_brings_back_settings_and_state_and_keeps_what_was_there(tmp_path: Path) -> None:
    old, new, file = folders_in(tmp_path / "old"), folders_in(tmp_path / "new"), tmp_path / "home.zip"
    use(old, "tea")
    write_backup(old, file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    use(new, "eggs")
    _, aside = restore_backup(new, file)
    assert words_of(new) == (["tea"], ["tea"])
    assert load_settings(new, environ={}).tts.speed == 1.5
    assert stat.S_IMODE((new.config / "home-assistant.token").stat().st_mode) == 0o600
    assert aside is not None
    assert (aside / "config" / "home-assistant.token").read_text() == "eggs"
    assert words_of(Folders(new.config, aside / "state", new.models, new.runtime)) == (["eggs"], ["eggs"])


def rewritten(file: Path, name: str, change: dict[str, str] | bytes) -> Path:
    """The backup with another index entry, or another content of a file."""
    other = file.with_name(f"other-{file.name}")
    with zipfile.ZipFile(file) as source, zipfile.ZipFile(other, "w") as target:
        for entry in source.namelist():
            content = source.read(entry)
            if entry == name:
                content = change if isinstance(change, bytes) else json.dumps(json.loads(content) | change).encode()
            target.writestr(entry, content)
    return other


def test_a_damaged_or_newer_backup_changes_nothing(tmp_path: Path) -> None:
    folders, file = folders_in(tmp_path), tmp_path / "home.zip"
    use(folders, "tea")
    write_backup(folders, file)
    cut = tmp_path / "cut.zip"
    cut.write_bytes(file.read_bytes()[:-40])
    encrypted, content = tmp_path / "encrypted.zip", bytearray(file.read_bytes())
    for header, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(header) + flags] |= 1
    encrypted.write_bytes(content)
    cases = {
        cut: "damaged",
        encrypted: "damaged",
        rewritten(file, "backup.json", {"edgevox": "99.0.0"}): "made by EdgeVox 99.0.0",
        tmp_path / "missing.zip": "cannot be read",
    }
    for backup, reason in cases.items():
        with pytest.raises(ConfigError, match=reason):
            restore_backup(folders, backup)
    for name in ("config/config.toml", "state/timers.json"):
        with pytest.raises(ConfigError, match="damaged"):
            restore_backup(folders, rewritten(file, name, b"{}"))
    assert words_of(folders) == (["tea"], ["tea"])
    assert not list(folders.state.glob("before-restore-*"))


def test_a_backup_cannot_write_outside_the_folders(tmp_path: Path) -> None:
    folders, file = folders_in(tmp_path / "home"), tmp_path / "evil.zip"
    digest = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"  # of nothing
    for name in ("state/../../evil", "/evil", "models/x", "state"):
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr("backup.json", json.dumps({"files": {name: digest}}))
            archive.writestr(name, b"")
        with pytest.raises(ConfigError, match="damaged"):
            restore_backup(folders, file)
    assert list(tmp_path.iterdir()) == [file]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Folders:
    """A user whose folders are where they are by default."""
    for name in ("CONFIG", "STATE", "CACHE"):
        monkeypatch.delenv(f"EDGEVOX_{name}_DIR", raising=False)
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name.lower()))
    for name in ("EDGEVOX_MODELS_DIR", "EDGEVOX_RUNTIME_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "run"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return user_folders()


def test_uninstall_lists_first_and_removes_with_a_yes(home: Folders, capsys: pytest.CaptureFixture[str]) -> None:
    use(home, "tea")
    assert main(["uninstall"]) == 0
    listed = capsys.readouterr().out
    assert str(home.config) in listed
    assert "uninstall --yes" in listed
    assert home.config_file.exists()
    assert main(["uninstall", "--yes"]) == 0
    assert not home.config.exists()
    assert not home.state.exists()


def test_uninstall_leaves_a_folder_that_the_user_chose(
    home: Folders, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("EDGEVOX_STATE_DIR", str(tmp_path))
    use(home, "tea")
    assert main(["uninstall", "--yes"]) == 0
    assert "delete it yourself" in capsys.readouterr().out
    assert (tmp_path / "state").exists()
    assert not home.config.exists()


class _Second(BaseModel):
    version: int = 2
    names: list[str] = []


def test_a_state_file_of_an_earlier_version_is_migrated_and_of_a_newer_one_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "names.json"
    path.write_text('{"name": "Ada"}')
    file = StateFile(path, _Second, [lambda content: {"names": [content["name"]]}])
    assert file.read() == _Second(names=["Ada"])
    path.write_text('{"version": 3, "people": []}')
    with pytest.raises(StateError, match="newer version"):
        file.read()
    assert json.loads(path.read_text()) == {"version": 3, "people": []}


def test_a_memory_of_an_earlier_version_is_migrated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use(folders_in(tmp_path), "tea")
    monkeypatch.setattr(memory_file, "_MIGRATIONS", ("UPDATE turns SET source = 'migrated';",))
    for _ in range(2):
        with closing(MemoryFile.open(tmp_path / "state")) as file:
            assert [turn.source for turn in file.turns()] == ["migrated"]


def test_a_setting_may_have_its_former_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loader, "RENAMED", {"tts.tempo": "tts.speed"})
    folders = folders_in(tmp_path)
    folders.config.mkdir()
    folders.config_file.write_text("[tts]\ntempo = 1.5\n")
    assert load_settings(folders, environ={}).tts.speed == 1.5
    assert load_settings(folders, environ={"EDGEVOX_TTS__TEMPO": "1.2"}).tts.speed == 1.2
