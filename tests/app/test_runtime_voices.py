"""The voices of the settings: which have to be there, which language replies are in, and that they speak."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from edgevox.app.runtime import AssistantRuntime
from edgevox.config import load_settings
from edgevox.core.errors import ModelMissing
from edgevox.core.events import EngineName
from edgevox.core.files import Folders
from edgevox.core.turn import Turn
from edgevox.models import ModelStore, load_manifest

BOUND_S = 120
# Built-in commands need none.
NO_MODEL: dict[str, object] = {"llm__remote_url": "http://localhost:1/v1", "llm__remote_model": "none"}
ENGLISH = "hibari-en_US-heart"
GERMAN = "piper-de_DE-thorsten-medium"


def daemon_with(folders: Folders, *engines: EngineName, **flags: object) -> AssistantRuntime:
    named = {name.replace("__", "."): value for name, value in flags.items()}
    settings = load_settings(folders, flags=named, environ={})
    return AssistantRuntime(settings, folders, ModelStore(folders.models, load_manifest()), engines)


def test_every_voice_that_is_named_has_to_be_there(folders: Folders) -> None:
    runtime = daemon_with(folders, "tts", tts__voices={"de": GERMAN})
    assert runtime.models.needed() == (ENGLISH, GERMAN)
    assert daemon_with(folders, "stt", tts__voices={"de": GERMAN}).models.needed() == (
        "whisper-base",
        "edgevox-hearing-base",
    )


def test_a_home_of_two_languages_detects_those_and_adapts_to_english(folders: Folders) -> None:
    def chosen(**flags: object) -> tuple[tuple[str, ...], bool]:
        models = daemon_with(folders, "stt", **flags).models
        return models.home_languages, "edgevox-hearing-base" in models.needed()

    assert chosen(stt__language="auto", tts__voices={"de": GERMAN}) == (("en", "de"), True)
    assert chosen(stt__language="auto", stt__languages=["de", "fr"]) == (("de", "fr"), False)
    assert chosen(stt__language="auto", tts__voices={"de": GERMAN}, stt__model="whisper-tiny.en") == ((), False)
    assert chosen(stt__language="de") == ((), False)
    assert chosen() == ((), True)


async def test_a_voice_that_is_not_there_is_named_with_the_way_to_get_it(folders: Folders) -> None:
    runtime = daemon_with(folders, "tts", tts__voice=GERMAN)
    with pytest.raises(ModelMissing, match=GERMAN) as caught:
        async with runtime:
            pass
    assert caught.value.hint == f"edgevox models pull {GERMAN}"


@pytest.mark.parametrize(
    ("preset", "spoken", "reply"),
    [("home", "de", "de"), ("home", "en", "en"), ("home", "fr", "en"), ("home", "pl", "en"), ("qwen3", "de", "de")],
)
def test_the_preset_and_the_voices_say_which_language_a_reply_is_in(
    folders: Folders, preset: str, spoken: str, reply: str
) -> None:
    flags = {"preset": preset, "stt__language": "auto", "tts__voices": {"de": GERMAN}}
    assert daemon_with(folders, "llm", "tts", **flags).engines.languages.reply_to(spoken) == reply


def test_the_voice_for_the_language_that_is_always_spoken_is_the_usual_one(folders: Folders) -> None:
    flags: dict[str, object] = {"preset": "qwen3", "stt__language": "de", "tts__voices": {"de": GERMAN}}
    runtime = daemon_with(folders, "llm", "tts", **flags)
    assert runtime.engines.voice_languages == ("en", "de")
    assert runtime.engines.languages.reply_to("") == "de"


@pytest.fixture
def two_voices(folders: Folders, store: ModelStore, piper_voice_path: Path) -> None:
    """Voices of two engines: the second has the sounds of Piper's joe, and reads by the rules of German."""
    config = json.loads(Path(f"{piper_voice_path}.json").read_text())
    paths = {voice: folders.models / voice / load_manifest().entry(voice).files[0].name for voice in (ENGLISH, GERMAN)}
    for path, original in zip(paths.values(), (store.pull(ENGLISH), piper_voice_path), strict=True):
        path.parent.mkdir(parents=True)
        path.symlink_to(original)
    Path(f"{paths[GERMAN]}.json").write_text(json.dumps({**config, "espeak": {"voice": "de"}}))


@pytest.mark.engine
@pytest.mark.usefixtures("two_voices")
async def test_both_voices_speak_in_one_process(folders: Folders) -> None:
    runtime = daemon_with(folders, "tts", tts__voices={"de": GERMAN})
    async with asyncio.timeout(BOUND_S), runtime:
        pid = runtime.engines.pid("tts")
        for language, rate_hz in (("en", 24_000), ("de", 22_050), ("en", 24_000)):
            sound = await runtime.voice().sound_of("777", language)
            assert (sound.rate_hz, sound.duration_s > 1) == (rate_hz, True)
        assert runtime.engines.pid("tts") == pid


async def test_speed_and_volume_that_were_changed_by_voice_hold_after_a_restart(folders: Folders) -> None:
    runtime = daemon_with(folders, **NO_MODEL)
    async with asyncio.timeout(BOUND_S), runtime:
        pipeline = runtime.pipeline(conversation=runtime.conversation())
        for said in ("Speak slower.", "Speak slower.", "Louder.", "Speak faster."):
            await pipeline.answer(said, Turn())
    kept = load_settings(folders, environ={}).tts
    assert (kept.speed, kept.volume_db) == (0.87, 5.0)


async def test_a_speed_that_the_environment_sets_stays(folders: Folders, caplog: pytest.LogCaptureFixture) -> None:
    flags = {name.replace("__", "."): value for name, value in NO_MODEL.items()}
    settings = load_settings(folders, flags=flags, environ={"EDGEVOX_TTS__SPEED": "1.5"})
    runtime = AssistantRuntime(settings, folders, ModelStore(folders.models, load_manifest()), [])
    async with asyncio.timeout(BOUND_S), runtime:
        result = await runtime.pipeline(conversation=runtime.conversation()).answer("Speak slower.", Turn())
    assert result.reply == "Slower."
    assert not folders.config_file.exists()
    assert "holds until the next start" in caplog.text
