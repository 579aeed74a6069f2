"""The assistant that stays, spoken to over its socket."""

from __future__ import annotations

import asyncio
import resource
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from edgevox.control.client import request
from edgevox.control.protocol import Ask, Mute, Reload, Request, Say, Status, Stop, Talk, Unmute
from edgevox.control.sound import sound_of
from edgevox.errors import ConfigError, EngineFailed, OtherSettings
from edgevox.events import (
    EngineChanged,
    EngineState,
    ReplyDelta,
    SoundChanged,
    SpeechStarted,
    TranscriptReady,
    TurnEnded,
)
from edgevox.folders import Folders
from edgevox.types import JsonObject
from tests.resident.scripted import ScriptedTrade, living


@pytest.fixture
def trade(folders: Folders) -> ScriptedTrade:
    return ScriptedTrade(folders, ["Paris is the capital.", "Rome."])


async def done(trade: ScriptedTrade, wanted: Request) -> JsonObject:
    async with request(trade.folders.runtime, wanted) as asking:
        return await asking.done()


async def test_status_says_how_everything_is(trade: ScriptedTrade) -> None:
    async with living(trade) as resident:
        assert resident.session is not None
        publish = resident.session.daemon.bus.publish
        publish(EngineChanged(engine="llama", state="ready"))
        publish(SoundChanged(device="microphone", is_there=False, detail="unplugged"))
        status = await done(trade, Status())
        assert (status["state"], status["is_muted"], status["attention"]) == ("listening", False, "awake")
        assert status["engines"]["llama"]["state"] == "ready"
        assert status["devices"]["microphone"] == {"is_there": False, "name": "", "detail": "unplugged"}
        assert (status["last_turn"], status["trouble"]) == (None, None)


async def test_a_restarted_engine_is_counted(trade: ScriptedTrade) -> None:
    async with living(trade) as resident:
        assert resident.session is not None
        states: tuple[EngineState, ...] = ("restarting", "starting", "ready")
        for state in states:
            resident.session.daemon.bus.publish(EngineChanged(engine="piper", state=state, detail="died"))
        status = await done(trade, Status())
    assert (status["engines"]["piper"]["state"], status["engines"]["piper"]["restarts"]) == ("ready", 1)


async def test_ask_is_answered_word_by_word_by_the_model_that_is_loaded(trade: ScriptedTrade) -> None:
    async with living(trade):
        async with request(trade.folders.runtime, Ask(text="What is the capital of France?")) as asking:
            notes = [note async for note in asking.notes()]
        status = await done(trade, Status())
    assert "".join(note["text"] for note in notes[:-1]) == notes[-1]["reply"] == "Paris is the capital."
    assert notes[-1]["finish_reason"] == "stop"
    assert (status["turns"], status["last_turn"]["outcome"]) == (1, "answered")


async def test_an_ask_that_fails_fails_as_it_would_at_home(folders: Folders) -> None:
    trade = ScriptedTrade(folders, [EngineFailed("llama died", hint="it is being restarted"), "Rome."])
    async with living(trade):
        with pytest.raises(EngineFailed, match="llama died"):
            await done(trade, Ask(text="Capital of France?"))
        assert (await done(trade, Ask(text="And of Italy?")))["reply"] == "Rome."


async def test_an_ask_with_other_settings_is_refused(trade: ScriptedTrade) -> None:
    async with living(trade) as resident:
        temperature = resident.settings.llm.temperature
        with pytest.raises(OtherSettings, match=r"another llm\.temperature"):
            await done(trade, Ask(text="Hello", overrides={"llm.temperature": temperature + 1}))
        answer = await done(trade, Ask(text="Hello", overrides={"llm.temperature": temperature}))
    assert answer["reply"]


async def test_say_speaks_on_its_loudspeaker(trade: ScriptedTrade) -> None:
    async with living(trade):
        await done(trade, Say(text="Dinner is ready. Come down."))
    assert sum(sound.duration_s for sound in trade.room.played) > 0.1


async def test_say_sends_the_sound_where_it_is_wanted(trade: ScriptedTrade) -> None:
    async with (
        living(trade),
        request(trade.folders.runtime, Say(text="Dinner is ready.", where="here")) as asking,
    ):
        sounds = [sound_of(note) async for note in asking.notes() if note["kind"] == "sound"]
    assert sum(sound.duration_s for sound in sounds) == pytest.approx(0.16, abs=0.05)
    assert not trade.room.played


async def test_mute_lasts_until_unmute(trade: ScriptedTrade) -> None:
    async with living(trade):
        await done(trade, Mute())
        assert trade.room.is_muted
        assert (await done(trade, Status()))["attention"] == "muted"
        await done(trade, Unmute())
        assert not trade.room.is_muted


async def test_talk_listens_once_although_it_is_muted(trade: ScriptedTrade) -> None:
    async with living(trade) as resident:
        await done(trade, Mute())
        assert resident.session is not None
        publish = resident.session.daemon.bus.publish
        async with request(trade.folders.runtime, Talk()) as talking:
            notes = []
            async for note in talking.notes():
                notes.append(note)
                if note["kind"] == "listening":
                    assert not trade.room.is_muted
                    publish(SpeechStarted())
                    publish(TranscriptReady(turn_id="t", text="hello", language="en"))
                    publish(ReplyDelta(turn_id="t", text="Hi."))
                    publish(TurnEnded(turn_id="t", outcome="answered", reply="Hi."))
        assert [note["kind"] for note in notes] == ["listening", "heard", "delta", "done"]
        assert trade.room.is_muted


async def test_talk_to_which_nobody_says_anything_ends(
    trade: ScriptedTrade, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("edgevox.resident.requests._SPEAKS_WITHIN_S", 0.05)
    async with living(trade):
        assert (await done(trade, Talk()))["outcome"] == "dropped"


async def test_stop_says_whether_there_was_anything_to_stop(trade: ScriptedTrade) -> None:
    async with living(trade):
        assert (await done(trade, Stop()))["stopped"] is False


# --- settings


def write(folders: Folders, text: str) -> None:
    folders.config.mkdir(parents=True, exist_ok=True)
    folders.config_file.write_text(text, encoding="utf-8")


async def test_reload_without_a_change_changes_nothing(trade: ScriptedTrade) -> None:
    async with living(trade) as resident:
        session = resident.session
        assert (await done(trade, Reload()))["changed"] == []
        assert resident.session is session


async def test_reload_lives_by_the_new_settings_and_stays_muted(trade: ScriptedTrade) -> None:
    async with living(trade) as resident:
        await done(trade, Mute())
        await done(trade, Ask(text="Hello?"))
        write(trade.folders, "[tts]\nspeed = 1.5\n")
        assert (await done(trade, Reload()))["changed"] == ["tts.speed"]
        assert resident.settings.tts.speed == 1.5
        status = await done(trade, Status())
        assert (status["state"], status["attention"]) == ("listening", "muted")
        assert status["last_turn"]["heard"] == "Hello?"
        assert (await done(trade, Ask(text="Still there?")))["reply"]


async def test_settings_that_are_wrong_are_refused_and_the_old_ones_hold(trade: ScriptedTrade) -> None:
    async with living(trade) as resident:
        session = resident.session
        write(trade.folders, "[tts]\nspeed = 99\n")
        with pytest.raises(ConfigError, match=r"tts\.speed"):
            await done(trade, Reload())
        assert resident.session is session


async def test_settings_with_which_it_does_not_start_are_given_up(trade: ScriptedTrade) -> None:
    async with living(trade) as resident:
        write(trade.folders, "[tts]\nspeed = 1.5\n")
        trade.refusal = EngineFailed("llama does not load", hint="it is too large")
        with pytest.raises(EngineFailed, match="does not load"):
            await done(trade, Reload())
        async with asyncio.timeout(10):
            while resident.session is None:  # noqa: ASYNC110  (nothing tells)
                await asyncio.sleep(0.01)
        assert resident.settings.tts.speed == 1.0
        assert (await done(trade, Ask(text="Still there?")))["reply"]


# --- no disk


@contextmanager
def full_disk() -> Iterator[None]:
    """No file can grow any more, in this whole process."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.fixture
def elsewhere(trade: ScriptedTrade, tmp_path: Path) -> ScriptedTrade:
    """The same with a runtime folder that is not inside the state folder."""
    folders = trade.folders
    trade.folders = Folders(folders.config, folders.state, folders.models, tmp_path / "run")
    return trade


async def assert_answers_and_complains(trade: ScriptedTrade) -> None:
    assert (await done(trade, Ask(text="Capital of France?")))["reply"] == "Paris is the capital."
    trouble = (await done(trade, Status()))["trouble"]
    assert "EDGEVOX_STATE_DIR" in trouble["hint"]


async def test_without_a_state_folder_it_answers_and_says_what_is_wrong(elsewhere: ScriptedTrade) -> None:
    elsewhere.folders.state.write_text("a file where the folder should be")
    async with living(elsewhere):
        await assert_answers_and_complains(elsewhere)


async def test_a_state_folder_that_is_deleted_is_made_again(elsewhere: ScriptedTrade) -> None:
    async with living(elsewhere):
        shutil.rmtree(elsewhere.folders.state)
        assert (await done(elsewhere, Ask(text="Capital of France?")))["reply"]
        assert (await done(elsewhere, Status()))["trouble"] is None
    assert (elsewhere.folders.state / "turns.jsonl").exists()


async def test_on_a_full_disk_it_answers_and_says_what_is_wrong(
    elsewhere: ScriptedTrade,
) -> None:
    async with living(elsewhere):
        with full_disk():
            await assert_answers_and_complains(elsewhere)
