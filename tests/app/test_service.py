"""The assistant that stays, spoken to over its socket."""

from __future__ import annotations

import asyncio
import json
import resource
import shutil
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from pathlib import Path
from typing import cast

import pytest

from edgevox.agents.memory_file import MemoryFile
from edgevox.app.control.client import request
from edgevox.app.control.protocol import Ask, Request, Say, SimpleRequest, audio_from_note
from edgevox.app.service import AssistantService, ServiceSession
from edgevox.core.errors import ConfigError, EngineFailed, OtherSettings
from edgevox.core.events import (
    EngineChanged,
    EngineState,
    ReplyDelta,
    SoundChanged,
    SpeechStarted,
    TranscriptReady,
    TurnEnded,
)
from edgevox.core.files import Folders
from edgevox.core.turn import background_task
from edgevox.core.types import JsonObject, Message
from edgevox.testing import ToneSynthesizer
from edgevox.tts.normalize import normalize_text
from tests.app.harness import BOUND_S, ScriptedSessionFactory, running_service


@pytest.fixture
def factory(folders: Folders) -> ScriptedSessionFactory:
    return ScriptedSessionFactory(folders, ["Paris is the capital.", "Rome."])


async def done(factory: ScriptedSessionFactory, wanted: Request) -> JsonObject:
    async with request(factory.folders.runtime, wanted) as asking:
        return await asking.done()


async def until(factory: ScriptedSessionFactory, is_so: Callable[[JsonObject], bool]) -> JsonObject:
    """The status as soon as it is so."""
    async with asyncio.timeout(10):
        while not is_so(status := await done(factory, SimpleRequest(do="status"))):  # noqa: ASYNC110  (it has to be asked)
            await asyncio.sleep(0.01)
    return status


async def test_status_says_how_everything_is(factory: ScriptedSessionFactory) -> None:
    async with running_service(factory) as service:
        assert service.session is not None
        publish = service.session.runtime.bus.publish
        publish(EngineChanged(engine="llm", state="ready"))
        publish(SoundChanged(device="microphone", is_there=False, detail="unplugged"))
        status = await done(factory, SimpleRequest(do="status"))
        assert (status["state"], status["is_muted"], status["attention"]) == ("listening", False, "awake")
        assert status["engines"]["llm"]["state"] == "ready"
        assert status["devices"]["microphone"] == {"is_there": False, "name": "", "detail": "unplugged"}
        assert (status["last_turn"], status["trouble"]) == (None, None)


async def test_a_restarted_engine_is_counted(factory: ScriptedSessionFactory) -> None:
    async with running_service(factory) as service:
        assert service.session is not None
        states: tuple[EngineState, ...] = ("restarting", "starting", "ready")
        for state in states:
            service.session.runtime.bus.publish(EngineChanged(engine="tts", state=state, detail="died"))
        status = await done(factory, SimpleRequest(do="status"))
    assert (status["engines"]["tts"]["state"], status["engines"]["tts"]["restarts"]) == ("ready", 1)


async def test_ask_is_answered_word_by_word_by_the_model_that_is_loaded(factory: ScriptedSessionFactory) -> None:
    async with running_service(factory):
        async with request(factory.folders.runtime, Ask(text="What is the capital of France?")) as asking:
            notes = [note async for note in asking.notes()]
        status = await done(factory, SimpleRequest(do="status"))
    assert "".join(note["text"] for note in notes[:-1]) == notes[-1]["reply"] == "Paris is the capital."
    assert notes[-1]["finish_reason"] == "stop"
    assert (status["turns"], status["last_turn"]["outcome"]) == (1, "answered")


async def test_an_ask_that_fails_fails_as_it_would_at_home(folders: Folders) -> None:
    factory = ScriptedSessionFactory(folders, [EngineFailed("llm died", hint="it is being restarted"), "Rome."])
    async with running_service(factory):
        with pytest.raises(EngineFailed, match="llm died"):
            await done(factory, Ask(text="Capital of France?"))
        assert (await done(factory, Ask(text="And of Italy?")))["reply"] == "Rome."


async def test_an_ask_with_other_settings_is_refused(factory: ScriptedSessionFactory) -> None:
    async with running_service(factory) as service:
        temperature = service.settings.llm.temperature
        with pytest.raises(OtherSettings, match=r"another llm\.temperature"):
            await done(factory, Ask(text="Hello", overrides={"llm.temperature": temperature + 1}))
        answer = await done(factory, Ask(text="Hello", overrides={"llm.temperature": temperature}))
    assert answer["reply"]


async def test_say_speaks_on_its_loudspeaker(factory: ScriptedSessionFactory) -> None:
    async with running_service(factory):
        await done(factory, Say(text="Dinner is ready. Come down."))
    assert sum(sound.duration_s for sound in factory.room.played) > 0.1


async def test_say_speaks_the_language_of_its_voice(factory: ScriptedSessionFactory) -> None:
    write(factory.folders, '[tts]\nvoice = "sano-de_DE"\n')
    text = "Das kostet 3,50 €."
    german, english = (normalize_text(text, language) for language in ("de", "en"))
    assert german != english
    async with running_service(factory) as service:
        await done(factory, Say(text=text))
        assert service.session is not None
        assert german in cast("ToneSynthesizer", service.session.runtime.engines.tts).spoken


async def test_say_sends_the_sound_where_it_is_wanted(factory: ScriptedSessionFactory) -> None:
    async with (
        running_service(factory),
        request(factory.folders.runtime, Say(text="Dinner is ready.", where="here")) as asking,
    ):
        sounds = [audio_from_note(note) async for note in asking.notes() if note["kind"] == "sound"]
    assert sum(sound.duration_s for sound in sounds) == pytest.approx(0.16, abs=0.05)
    assert not factory.room.played


async def test_mute_lasts_until_unmute(factory: ScriptedSessionFactory) -> None:
    async with running_service(factory):
        await done(factory, SimpleRequest(do="mute"))
        assert factory.room.is_muted
        assert (await done(factory, SimpleRequest(do="status")))["attention"] == "muted"
        await done(factory, SimpleRequest(do="unmute"))
        assert not factory.room.is_muted


async def test_talk_listens_once_although_it_is_muted(factory: ScriptedSessionFactory) -> None:
    async with running_service(factory) as service:
        await done(factory, SimpleRequest(do="mute"))
        assert service.session is not None
        publish = service.session.runtime.bus.publish
        async with request(factory.folders.runtime, SimpleRequest(do="talk")) as talking:
            notes = []
            async for note in talking.notes():
                notes.append(note)
                if note["kind"] == "listening":
                    assert not factory.room.is_muted
                    publish(SpeechStarted())
                    publish(TranscriptReady(turn_id="t", text="hello", language="en"))
                    publish(ReplyDelta(turn_id="t", text="Hi."))
                    publish(TurnEnded(turn_id="t", outcome="answered", reply="Hi."))
        assert [note["kind"] for note in notes] == ["listening", "heard", "delta", "done"]
        assert notes[0]["is_muted"], "whoever talks is told"
        assert factory.room.is_muted


async def test_talk_to_which_nobody_says_anything_ends(
    factory: ScriptedSessionFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("edgevox.app.control.handlers._SPEAKS_WITHIN_S", 0.05)
    async with running_service(factory):
        assert (await done(factory, SimpleRequest(do="talk")))["outcome"] == "dropped"


async def test_stop_says_whether_there_was_anything_to_stop(factory: ScriptedSessionFactory) -> None:
    async with running_service(factory):
        assert (await done(factory, SimpleRequest(do="stop")))["stopped"] is False


# --- settings


def write(folders: Folders, text: str) -> None:
    folders.config.mkdir(parents=True, exist_ok=True)
    folders.config_file.write_text(text, encoding="utf-8")


async def test_reload_without_a_change_changes_nothing(factory: ScriptedSessionFactory) -> None:
    async with running_service(factory) as service:
        session = service.session
        assert (await done(factory, SimpleRequest(do="reload")))["changed"] == []
        assert service.session is session


@pytest.mark.parametrize("name", ["mcp.json", "plugins/eggs.py"])
async def test_reload_takes_up_other_files_that_changed(name: str, factory: ScriptedSessionFactory) -> None:
    async with running_service(factory) as service:
        session = service.session
        path = factory.folders.config / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}" if path.suffix == ".json" else "")
        assert (await done(factory, SimpleRequest(do="reload")))["changed"] == [path.name]
        assert service.session is not session
        assert (await done(factory, SimpleRequest(do="reload")))["changed"] == []


async def test_reload_lives_by_the_new_settings_and_stays_muted(factory: ScriptedSessionFactory) -> None:
    async with running_service(factory) as service:
        await done(factory, SimpleRequest(do="mute"))
        await done(factory, Ask(text="Hello?"))
        write(factory.folders, "[tts]\nspeed = 1.5\n")
        assert (await done(factory, SimpleRequest(do="reload")))["changed"] == ["tts.speed"]
        assert service.settings.tts.speed == 1.5
        status = await done(factory, SimpleRequest(do="status"))
        assert (status["state"], status["attention"]) == ("listening", "muted")
        assert status["last_turn"]["heard"] == "Hello?"
        assert (await done(factory, Ask(text="Still there?")))["reply"]


async def test_settings_that_are_wrong_are_refused_and_the_old_ones_hold(factory: ScriptedSessionFactory) -> None:
    async with running_service(factory) as service:
        session = service.session
        write(factory.folders, "[tts]\nspeed = 99\n")
        with pytest.raises(ConfigError, match=r"tts\.speed"):
            await done(factory, SimpleRequest(do="reload"))
        assert service.session is session


async def test_settings_with_which_it_does_not_start_are_given_up(factory: ScriptedSessionFactory) -> None:
    async with running_service(factory) as service:
        write(factory.folders, "[tts]\nspeed = 1.5\n")
        factory.refusal = EngineFailed("llm does not load", hint="it is too large")
        with pytest.raises(EngineFailed, match="does not load"):
            await done(factory, SimpleRequest(do="reload"))
        async with asyncio.timeout(10):
            while service.session is None:  # noqa: ASYNC110  (nothing tells)
                await asyncio.sleep(0.01)
        assert service.settings.tts.speed == 1.0
        assert (await done(factory, Ask(text="Still there?")))["reply"]


async def test_settings_that_are_reloaded_while_it_starts_are_given_up_likewise(
    factory: ScriptedSessionFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_starting, may_start = asyncio.Event(), asyncio.Event()

    @asynccontextmanager
    async def slowly(_session: ServiceSession) -> AsyncIterator[None]:
        is_starting.set()
        await may_start.wait()
        yield

    monkeypatch.setattr(factory, "session_context", slowly)
    settings = factory.settings()
    service = AssistantService(factory, settings)
    async with asyncio.timeout(BOUND_S), background_task(service.run(factory.runtime(settings))) as life:
        await is_starting.wait()
        write(factory.folders, "[tts]\nspeed = 1.5\n")
        factory.refusal = EngineFailed("llm does not load", hint="it is too large")
        reloading = asyncio.create_task(service.reload())
        await asyncio.sleep(0)
        may_start.set()
        with pytest.raises(EngineFailed, match="does not load"):
            await reloading
        assert not life.done()
        assert service.settings.tts.speed == 1.0


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
def elsewhere(factory: ScriptedSessionFactory, tmp_path: Path) -> ScriptedSessionFactory:
    """The same with a runtime folder that is not inside the state folder."""
    folders = factory.folders
    factory.folders = Folders(folders.config, folders.state, folders.models, tmp_path / "run")
    return factory


def kept(state: Path) -> list[str]:
    """The turns that are in the memory."""
    file = MemoryFile.open_to_read(state)
    assert file is not None
    with closing(file):
        return [turn.id for turn in file.turns()]


async def assert_answers_and_complains(factory: ScriptedSessionFactory) -> None:
    assert (await done(factory, Ask(text="Capital of France?")))["reply"] == "Paris is the capital."
    trouble = (await done(factory, SimpleRequest(do="status")))["trouble"]
    assert "EDGEVOX_STATE_DIR" in trouble["hint"]


async def test_without_a_state_folder_it_answers_and_says_what_is_wrong(elsewhere: ScriptedSessionFactory) -> None:
    elsewhere.folders.state.write_text("a file where the folder should be")
    async with running_service(elsewhere):
        await assert_answers_and_complains(elsewhere)


async def test_a_state_folder_that_is_deleted_is_made_again(elsewhere: ScriptedSessionFactory) -> None:
    async with running_service(elsewhere):
        shutil.rmtree(elsewhere.folders.state)
        assert (await done(elsewhere, Ask(text="Capital of France?")))["reply"]
        assert (await done(elsewhere, SimpleRequest(do="status")))["trouble"] is None
    assert (elsewhere.folders.state / "turns.jsonl").exists()


async def test_a_conversation_whose_folder_is_deleted_is_kept_in_a_new_one(
    elsewhere: ScriptedSessionFactory, caplog: pytest.LogCaptureFixture
) -> None:
    state = elsewhere.folders.state
    async with running_service(elsewhere) as service:
        assert service.session is not None
        conversation = service.session.runtime.conversation()
        turns = [(Message("user", f"question {n}"), Message("assistant", "answer")) for n in range(2)]
        conversation.keep(turns[0], turn_id="0")
        async with asyncio.timeout(10):
            while not kept(state):  # noqa: ASYNC110  (the thread that writes sends no event)
                await asyncio.sleep(0.01)
        shutil.rmtree(state)
        conversation.keep(turns[1], turn_id="1")
        status = await until(elsewhere, lambda status: status["last_trouble"] is not None)
        assert "memory.sqlite was deleted" in status["last_trouble"]["message"]
        await until(elsewhere, lambda status: status["trouble"] is None)
        assert conversation.messages() == (*turns[0], *turns[1])
    assert "memory.sqlite was deleted" in caplog.text
    assert kept(state) == ["1"]


async def test_on_a_full_disk_it_answers_and_says_what_is_wrong(elsewhere: ScriptedSessionFactory) -> None:
    async with running_service(elsewhere):
        with full_disk():
            await assert_answers_and_complains(elsewhere)


async def test_when_there_is_room_again_every_turn_is_recorded(elsewhere: ScriptedSessionFactory) -> None:
    async with running_service(elsewhere) as service:
        with full_disk():
            await assert_answers_and_complains(elsewhere)
            assert service.session is not None
            messages = (Message("user", "question"), Message("assistant", "answer"))
            service.session.runtime.conversation().keep(messages, turn_id="lost")
            await until(elsewhere, lambda status: "memory" in status["last_trouble"]["message"])
        status = await until(elsewhere, lambda status: status["trouble"] is None)
        assert status["last_trouble"] is not None
        await done(elsewhere, Ask(text="And of Italy?"))
    lines = (elsewhere.folders.state / "turns.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["reply"] for line in lines] == ["", "Rome."]
