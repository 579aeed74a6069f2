"""Fixtures that every test may use: folders of the test's own, and the real default models."""

from __future__ import annotations

import functools
import importlib.util
import itertools
import os
import re
from collections.abc import Callable
from fnmatch import fnmatch
from pathlib import Path

import pytest

from edgevox.audio.files import write_wav
from edgevox.core.files import Folders, user_folders
from edgevox.core.turn import CancelFlag
from edgevox.core.types import SynthesisRequest
from edgevox.models import ModelStore, load_manifest, read_manifest
from edgevox.models.optimise import optimise_on_first_use
from edgevox.tts.piper import PiperEngine

# A machine that does something else as well is no reason to fail. The frameworks' environments do without it.
if importlib.util.find_spec("hypothesis"):
    from hypothesis import settings

    settings.register_profile("edgevox", deadline=None)
    settings.load_profile("edgevox")


_test_number = itertools.count()

# What `script/test` divides the tests by.
_PARTS = ("audio_device", "engine", "long")
_MARK = re.compile(r"pytest\.mark\.(\w+)")
_DECORATOR = re.compile(r"^@pytest\.mark\.(\w+)", re.MULTILINE)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out files from which `-m` takes nothing: to import all 330 of them takes half a minute."""
    terms = config.getoption("markexpr").split(" and ")
    is_understood = {term.removeprefix("not ") for term in terms}.issubset(_PARTS)
    if not is_understood or not fnmatch(collection_path.name, "test_*.py"):
        return None
    wanted = {term for term in terms if not term.startswith("not ")}
    unwanted = {term.removeprefix("not ") for term in terms} - wanted
    tests = _marks_by_test(collection_path).values()
    return None if any(may >= wanted and not has & unwanted for may, has in tests) else True


@functools.cache
def _marks_by_test(path: Path) -> dict[str, tuple[set[str], set[str]]]:
    """The marks that each test of a file may have, and those that it has, read from its text.

    Two blank lines are between definitions, and decorators begin a line.
    """
    text = path.read_text(encoding="utf-8")
    of_file = {*_MARK.findall(" ".join(re.findall(r"^pytestmark = .*", text, re.MULTILINE)))}
    return {
        test: (of_file.union(_MARK.findall(block)), of_file.union(_DECORATOR.findall(block)))
        for block in text.split("\n\n\n")
        for test in re.findall(r"def (test_\w+)", block)
    }


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files with engines go first: what is left at the end is short, and no core waits for the other."""
    for item in items:
        may, has = _marks_by_test(item.path).get(item.name.split("[")[0], (set(), set()))
        marks = {mark.name for mark in item.iter_markers()}
        if marks.intersection(_PARTS) - may or has.intersection(_PARTS) - marks:
            raise pytest.UsageError(f"{item.nodeid}: write `@pytest.mark.…` in the line above the function")
    with_engines = {item.path for item in items if item.get_closest_marker("engine")}
    items.sort(key=lambda item: item.path not in with_engines)
    if stolen_cpu_s() > 0:
        for item in items:
            if item.get_closest_marker("audio_device"):
                item.add_marker(pytest.mark.flaky(reruns=2))


def stolen_cpu_s() -> float:
    """The time for which a hypervisor let this machine stand still; 0 on real hardware.

    Sound that is due in such a moment is lost, whatever the program does, so what plays in real time gets a
    second chance there, and only there. pytest's summary counts each.
    """
    fields = Path("/proc/stat").read_text(encoding="ascii").splitlines()[0].split()
    return int(fields[8]) / os.sysconf("SC_CLK_TCK")


@pytest.fixture(scope="session")
def store() -> ModelStore:
    """The user's model store, or the one in EDGEVOX_MODELS_DIR: real models are downloaded once."""
    return ModelStore(user_folders().models, load_manifest())


@pytest.fixture(scope="session")
def whisper_base_dir(store: ModelStore) -> Path:
    return store.pull("whisper-base")


@pytest.fixture(scope="session")
def whisper_tiny_dir(store: ModelStore) -> Path:
    return store.pull("whisper-tiny.en")


@pytest.fixture(scope="session")
def piper_voice_path(store: ModelStore) -> Path:
    return store.pull("piper-en_US-joe-medium")


@pytest.fixture(scope="session")
def write_speech(piper_voice_path: Path) -> Callable[[str, Path], None]:
    """Writes a sentence in Piper's voice to a WAV file, with an engine that is loaded once."""
    engine = PiperEngine(piper_voice_path)
    engine.load()

    def write(sentence: str, wav: Path) -> None:
        write_wav(wav, list(engine.run(SynthesisRequest(sentence), CancelFlag())))

    return write


@pytest.fixture(scope="session")
def smollm2_path(store: ModelStore) -> Path:
    """The default model as it is downloaded; the faster copy that its first use makes is there as well."""
    path = store.pull("smollm2-135m-instruct")
    optimise_on_first_use(store, "smollm2-135m-instruct", lambda _text: None)
    return path


@pytest.fixture(scope="session")
def smollm2_copy_path(store: ModelStore, smollm2_path: Path) -> Path:
    """The default model as it is used: the copy in the type that is fastest on this machine, if any is."""
    copy = store.optimised("smollm2-135m-instruct")
    return smollm2_path if copy is None else copy.path


@pytest.fixture(scope="session")
def coder_path(store: ModelStore) -> Path:
    """A model that calls tools without having been trained here; no user is offered it."""
    manifest = read_manifest(Path(__file__).with_name("models.toml"))
    return ModelStore(store.folder, manifest).pull("qwen2.5-coder-0.5b")


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    """Folders of the test's own, all of them empty."""
    return Folders(tmp_path / "config", tmp_path / "state", tmp_path / "models")


@pytest.fixture(autouse=True)
def _own_settings(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No test reads or writes the settings and the state of the person who runs it.

    They are in its own folder where it has one: to make one for each of thousands of tests takes a minute.
    """
    own: Path
    if "tmp_path" in request.fixturenames:
        own = request.getfixturevalue("tmp_path")
    else:
        own = tmp_path_factory.getbasetemp() / "settings" / str(next(_test_number))
    for name in [name for name in os.environ if name.startswith("EDGEVOX_") and "__" in name]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("EDGEVOX_CONFIG_DIR", str(own / "config"))
    monkeypatch.setenv("EDGEVOX_STATE_DIR", str(own / "state"))
