"""TTS engines: which one the settings choose, and engines from outside the package."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from edgevox.app.runtime import AssistantRuntime
from edgevox.config import TtsSettings, load_settings
from edgevox.core.errors import ConfigError
from edgevox.core.files import Folders
from edgevox.core.turn import CancelFlag
from edgevox.core.types import Audio, SynthesisRequest
from edgevox.engines import EngineLimits
from edgevox.models import Manifest, ModelStore, load_manifest
from edgevox.tts.engines import TtsContext, choose_tts, create_tts, register_tts_engine
from edgevox.tts.mixed import MixedEngine
from tests.engines.packages import install_engine
from tests.guide import file_of

BOUND_S = 60
ENGLISH, GERMAN = "piper-en_US-joe-medium", "piper-de_DE-thorsten-medium"


def runtime_with(folders: Folders, **flags: object) -> AssistantRuntime:
    named = {name.replace("__", "."): value for name, value in flags.items()}
    settings = load_settings(folders, flags=named, environ={})
    return AssistantRuntime(settings, folders, ModelStore(folders.models, load_manifest()), ["tts"])


@pytest.fixture
def manifest() -> Manifest:
    """The models, with a voice that names its engine."""
    manifest = load_manifest()
    own = manifest.entry(GERMAN).model_copy(update={"id": "hum-de", "engine": "hum"})
    return manifest.joined_with(Manifest(models=(own,)))


async def test_an_installed_package_adds_an_engine_that_runs_in_a_child_process(
    folders: Folders, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = file_of("engines.md", "beeps.py")
    install_engine(tmp_path, monkeypatch, "edgevox.tts", "beeps", "beeps", code)
    runtime = runtime_with(folders, tts__engine="beeps", tts__voice="high")
    assert (runtime.models.needed(), runtime.models.voices) == ((), {"en": "high"})
    async with asyncio.timeout(BOUND_S), runtime:
        assert runtime.engines.pid("tts") is not None
        sound = await runtime.voice().sound_of("The lamp is on.")
    assert sound.duration_s == pytest.approx(0.4)
    assert np.abs(sound.samples).max() == pytest.approx(0.2, abs=0.01)


class Hum:
    """A quarter of a second for each language that it has a voice for, in each piece."""

    def __init__(self, context: TtsContext, pieces: int = 1) -> None:
        self.voices = dict(context.voices)
        self.pieces = pieces

    def load(self) -> None:
        pass

    def run(self, request: SynthesisRequest, cancel: CancelFlag) -> Iterator[Audio]:
        for _ in range(self.pieces):
            yield Audio(np.full(4_000 * len(self.voices), 0.1, np.float32), 16_000)


async def test_a_program_registers_an_engine_with_voices_of_its_own(folders: Folders) -> None:
    register_tts_engine("hum", Hum)
    runtime = runtime_with(
        folders, tts__engine="hum", tts__voices={"de": "anna", "fr": "lea"}, engines__in_process=True
    )
    assert runtime.models.needed() == ()
    assert runtime.engines.voice_languages == ("de", "fr")
    async with asyncio.timeout(BOUND_S), runtime:
        assert (await runtime.voice().sound_of("Guten Tag.", "de")).duration_s == 0.5


def test_an_engine_without_voices_in_the_settings_speaks_english(manifest: Manifest) -> None:
    register_tts_engine("hum", Hum)
    assert choose_tts(TtsSettings(engine="hum"), manifest).voices == {"en": "hum"}


def test_the_manifest_names_the_engine_of_a_voice(manifest: Manifest) -> None:
    register_tts_engine("hum", Hum)
    for engine in ("auto", "hum"):
        choice = choose_tts(TtsSettings(engine=engine, voice="hum-de"), manifest)
        assert (choice.engine, choice.voices, choice.model_ids) == ("hum", {"de": "hum-de"}, {"de": "hum-de"})


@pytest.mark.parametrize("engine", ["piper", "hum"])
def test_an_engine_that_is_named_has_all_voices(manifest: Manifest, engine: str) -> None:
    register_tts_engine("hum", Hum)
    voice, other = ("hum-de", ENGLISH) if engine == "hum" else (ENGLISH, "hum-de")
    language = "en" if engine == "hum" else "de"
    with pytest.raises(ConfigError, match=rf"tts\.voices\.{language}: {other} is a voice of"):
        choose_tts(TtsSettings(engine=engine, voice=voice, voices={language: other}), manifest)


async def test_voices_of_several_engines_speak_in_one_process(folders: Folders, manifest: Manifest) -> None:
    register_tts_engine("hum", Hum)
    register_tts_engine("buzz", lambda _context: Hum(_context, pieces=2))
    own = manifest.entry("hum-de").model_copy(update={"id": "buzz-fr", "engine": "buzz", "language": "fr"})
    both = manifest.joined_with(Manifest(models=(own,)))
    choice = choose_tts(TtsSettings(voice="hum-de", voices={"fr": "buzz-fr"}), both)
    assert (choice.engine, choice.engines) == ("hum", {"de": "hum", "fr": "buzz"})
    context = TtsContext(TtsSettings(), 1, EngineLimits(), choice.voices, {}, language="fr")
    engine = create_tts(choice, context)
    assert isinstance(engine, MixedEngine)
    engine.load()
    said = {
        language: len(list(engine.run(SynthesisRequest("Ja.", language=language), CancelFlag())))
        for language in ("de", "fr", "en")
    }
    assert said == {"de": 1, "fr": 2, "en": 2}, "a language without a voice is spoken by that of most replies"


def test_the_default_voice_names_its_engine_and_a_remote_server_comes_first(manifest: Manifest) -> None:
    remote = "tcp://localhost:10200"
    assert choose_tts(TtsSettings(), manifest).engine == "hibari"
    elsewhere = choose_tts(TtsSettings(remote=remote), manifest)
    assert (elsewhere.engine, elsewhere.voices, elsewhere.model_ids) == ("wyoming", {"en": "remote-voice"}, {})


@pytest.mark.parametrize(("engine", "voice"), [("piper", ENGLISH), ("hibari", "hibari-en_US-heart")])
def test_an_engine_that_is_named_alone_has_its_first_voice(manifest: Manifest, engine: str, voice: str) -> None:
    assert choose_tts(TtsSettings(engine=engine), manifest).model_ids == {"en": voice}


def test_an_unknown_engine_is_refused_with_the_known_ones(folders: Folders) -> None:
    with pytest.raises(ConfigError, match=r"tts\.engine: there is no engine pipe") as caught:
        runtime_with(folders, tts__engine="pipe").models.needed()
    assert "piper, sano, wyoming" in caught.value.hint


async def test_wyoming_needs_a_server(folders: Folders) -> None:
    with pytest.raises(ConfigError, match="no server is set") as caught:
        async with runtime_with(folders, tts__engine="wyoming"):
            pass
    assert caught.value.hint == "set tts.remote"
