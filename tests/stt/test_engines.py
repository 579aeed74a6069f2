"""STT engines: which one the settings choose, and engines from outside the package."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from edgevox.app.runtime import AssistantRuntime
from edgevox.config import SttSettings, load_settings
from edgevox.core.errors import ConfigError, ModelMissing
from edgevox.core.files import Folders
from edgevox.core.turn import CancelFlag
from edgevox.core.types import SAMPLE_RATE_HZ, Audio, TranscribeRequest, Transcript
from edgevox.models import Manifest, ModelStore, load_manifest
from edgevox.stt.engines import SttChoice, SttContext, choose_stt, register_stt_engine
from tests.engines.packages import install_engine
from tests.guide import file_of

BOUND_S = 60
TWO_SECONDS = Audio(np.zeros(2 * SAMPLE_RATE_HZ, np.float32), SAMPLE_RATE_HZ)


def runtime_with(folders: Folders, **flags: object) -> AssistantRuntime:
    named = {name.replace("__", "."): value for name, value in flags.items()}
    settings = load_settings(folders, flags=named, environ={})
    return AssistantRuntime(settings, folders, ModelStore(folders.models, load_manifest()), ["stt"])


@pytest.fixture
def manifest() -> Manifest:
    """The models, with one that names its engine."""
    manifest = load_manifest()
    own = manifest.entry("whisper-base").model_copy(update={"id": "echo-small", "engine": "echo"})
    return manifest.joined_with(Manifest(models=(own,)))


async def test_an_installed_package_adds_an_engine_that_runs_in_a_child_process(
    folders: Folders, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = file_of("engines.md", "stopwatch.py")
    install_engine(tmp_path, monkeypatch, "edgevox.stt", "stopwatch", "stopwatch", code)
    runtime = runtime_with(folders, stt__engine="stopwatch")
    assert runtime.models.needed() == ()
    async with asyncio.timeout(BOUND_S), runtime:
        assert runtime.engines.pid("stt") is not None
        transcript = await runtime.transcriber().transcribe(TWO_SECONDS, CancelFlag())
    assert transcript.text == "you spoke for 2 seconds"


class Echo:
    """Hears the name of its model."""

    def __init__(self, context: SttContext) -> None:
        self.model = context.settings.model

    def load(self) -> None:
        pass

    def run(self, request: TranscribeRequest, cancel: CancelFlag) -> Iterator[Transcript]:
        yield Transcript(self.model, "en", request.audio.duration_s)


async def test_a_program_registers_an_engine_with_models_of_its_own(folders: Folders) -> None:
    register_stt_engine("echo", Echo)
    runtime = runtime_with(folders, stt__engine="echo", stt__model="nightingale", engines__in_process=True)
    assert (runtime.models.needed(), runtime.models.stt_choice.model_name) == ((), "nightingale")
    async with asyncio.timeout(BOUND_S), runtime:
        assert (await runtime.transcriber().transcribe(TWO_SECONDS, CancelFlag())).text == "nightingale"


def test_the_manifest_names_the_engine_of_a_model(manifest: Manifest) -> None:
    register_stt_engine("echo", Echo)
    assert choose_stt(SttSettings(model="echo-small"), manifest) == SttChoice("echo", "echo-small", "echo-small")


def test_whisper_is_the_default_and_a_remote_server_comes_first(manifest: Manifest) -> None:
    remote = "tcp://localhost:10300"
    assert choose_stt(SttSettings(), manifest) == SttChoice("whisper", "whisper-base", "whisper-base")
    assert choose_stt(SttSettings(remote=remote), manifest) == SttChoice("wyoming", "remote-ear")
    assert choose_stt(SttSettings(remote=remote, engine="whisper"), manifest).engine == "whisper"


def test_an_unknown_engine_is_refused_with_the_known_ones(folders: Folders) -> None:
    with pytest.raises(ConfigError, match=r"stt\.engine: there is no engine wisper") as caught:
        runtime_with(folders, stt__engine="wisper").models.needed()
    assert "whisper, wyoming" in caught.value.hint


async def test_a_package_that_cannot_be_imported_is_named(
    folders: Folders, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_engine(tmp_path, monkeypatch, "edgevox.stt", "broken", "broken_engine", "import no_such_library\n")
    with pytest.raises(ConfigError, match=r"the engine broken \(broken_engine:create\) .*no_such_library"):
        async with runtime_with(folders, stt__engine="broken"):
            pass


async def test_an_engine_without_what_it_needs_says_which_setting(folders: Folders) -> None:
    with pytest.raises(ConfigError, match="no server is set") as caught:
        async with runtime_with(folders, stt__engine="wyoming"):
            pass
    assert caught.value.hint == "set stt.remote"
    with pytest.raises(ModelMissing, match="there is no Whisper model nightingale"):
        async with runtime_with(folders, stt__engine="whisper", stt__model="nightingale"):
            pass
