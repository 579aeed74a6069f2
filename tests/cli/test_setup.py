"""`edgevox setup`: each step with answers from a stream, and the whole conversation in a terminal with sound."""

from __future__ import annotations

import errno
import io
import json
import re
import threading
import tomllib
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

import numpy as np
import pytest
from rich.console import Console

from edgevox.audio.files import read_audio, write_wav
from edgevox.audio.io.devices import Device, Direction
from edgevox.cli.commands.config import PresetChoice, preset_choices
from edgevox.cli.context import Context
from edgevox.cli.main import main
from edgevox.cli.setup.flow import STEPS, run_setup
from edgevox.cli.setup.session import SetupSession
from edgevox.cli.ui.questions import Questions
from edgevox.cli.ui.sound_check import LevelRating, rate_level
from edgevox.config.toml_file import update_config_file
from edgevox.core.errors import DeviceUnavailable, EdgevoxError, ModelDownloadFailed
from edgevox.core.events import EngineName
from edgevox.core.languages import all_phrases
from edgevox.core.types import Audio
from edgevox.home import HomeError
from edgevox.models import DEFAULT_MODELS, ModelEntry, ModelStore
from edgevox.testing import NullSinks
from tests.audio.sounds import find, noise, silence, sweep
from tests.cli.command import environment
from tests.cli.terminal import in_tmux

BOUND_S = 60.0
# CI keeps them: the terminal for asciinema, and what the loudspeaker played.
RECORDINGS = Path(__file__).resolve().parents[2] / "build" / "recordings"
USB = Device(0, "USB Audio", "ALSA", 1, 0, 48_000, is_default_input=False, is_default_output=False)
HDMI = Device(1, "HDMI", "ALSA", 0, 2, 48_000, is_default_input=False, is_default_output=False)
PULSE = Device(2, "pulse", "ALSA", 32, 32, 44_100, is_default_input=True, is_default_output=True)
VOICE = Audio(sweep(1.0, level=0.3), 16_000)
ENGLISH = all_phrases()["en"]
GERMAN_VOICE = "sano-de_DE"


@dataclass
class FakeMachine:
    """A machine on which everything works, unless a test says otherwise; `done` has what was done to it."""

    found: Sequence[Device] = (USB, HDMI, PULSE)
    recordings: list[Audio] = field(default_factory=lambda: [VOICE] * 9)
    broken: dict[str, EdgevoxError] = field(default_factory=dict)
    missing: Sequence[ModelEntry] = ()
    is_installed: bool = False
    done: list[str] = field(default_factory=list)

    def _do(self, what: str) -> None:
        self.done.append(what)
        if error := self.broken.get(what.partition(" ")[0]):
            raise error

    def devices(self) -> Sequence[Device]:
        if error := self.broken.get("devices"):
            raise error
        return self.found

    def record(self, context: Context, device: Device) -> Audio:
        self._do(f"record {device.name}")
        return self.recordings.pop(0)

    def play(self, context: Context, device: Device, sounds: Sequence[Audio]) -> None:
        self._do(f"play {device.name}")

    def speech(self, context: Context, text: str, language: str) -> Sequence[Audio]:
        self._do(f"speak {language} {text}")
        return [VOICE]

    def missing_models(self, context: Context, engines: Collection[EngineName]) -> Sequence[ModelEntry]:
        return self.missing

    def download(self, context: Context, engines: Collection[EngineName]) -> None:
        self._do("download")

    def presets(self, context: Context) -> Sequence[PresetChoice]:
        return preset_choices(context)

    def connect_home_assistant(self, context: Context) -> None:
        self._do("home_assistant")
        update_config_file(context.folders.config_file, "home", {"kind": "home_assistant", "url": "http://ha:8123"})

    def connect_mqtt(self, context: Context, address: str, username: str | None, *, tls: bool) -> None:
        self._do(f"mqtt {address} {username} {tls}")
        update_config_file(context.folders.config_file, "home", {"kind": "mqtt"})

    def has_service(self) -> bool:
        return self.is_installed

    def install_service(self, context: Context) -> None:
        self._do("install")

    def remove_service(self) -> None:
        self._do("remove")

    def start_service(self) -> None:
        self._do("start")

    def starts_at_boot(self) -> bool | None:
        return False

    def start_at_boot(self) -> None:
        self._do("boot")

    def reload(self, context: Context) -> bool:
        self._do("reload")
        return False


@dataclass
class Setup:
    """One run: its exit code, what was shown, and the machine."""

    exit_code: int
    shown: str
    machine: FakeMachine


def set_up(
    *answers: str,
    steps: Sequence[str] = (),
    machine: FakeMachine | None = None,
    unattended: bool = False,
    proposed: dict[Direction, str] | None = None,
) -> Setup:
    """Answers each question with one line; at the end of the answers the input ends, like Ctrl-D."""
    screen = io.StringIO()
    console = Console(file=screen, width=100, highlight=False)
    context = Context(console, console)
    stream = io.StringIO("".join(f"{answer}\n" for answer in answers))
    machine = machine or FakeMachine()
    questions = Questions(context.err, is_unattended=unattended, stream=stream)
    session = SetupSession(context, questions, machine, proposed)
    exit_code = run_setup(session, steps)
    assert not stream.read(), "more answers than questions"
    return Setup(exit_code, screen.getvalue(), machine)


@pytest.fixture
def config_file(tmp_path: Path) -> Path:
    return tmp_path / "config" / "config.toml"


ANSWERS = {
    "language": ("german",),
    "microphone": ("usb", ""),
    "loudspeaker": ("1", "", "n"),
    "voice": ("", "1.2"),
    "wake": ("hey_mycroft",),
    "home": ("mqtt", "broker:1884", "anna", "n"),
    "model": ("qwen3-0.6b",),
    "download": (),
    "service": ("y", "y"),
}


def test_answers_are_saved_and_a_sentence_is_spoken_before_the_service_starts(config_file: Path) -> None:
    config_file.parent.mkdir()
    config_file.write_text("# mine\n[audio]\nlead_in_ms = 50  # short\n")
    setup = set_up(*(line for lines in ANSWERS.values() for line in lines))
    assert setup.exit_code == 0, setup.shown
    written = config_file.read_text()
    assert "# mine" in written
    assert "lead_in_ms = 50  # short" in written
    assert tomllib.loads(written) == {
        "preset": "qwen3-0.6b",
        "audio": {"lead_in_ms": 50, "microphone": "USB Audio", "speaker": "HDMI"},
        "stt": {"language": "de"},
        "tts": {"speed": 1.2, "voices": {"de": GERMAN_VOICE}},
        "wake": {"mode": "word", "word": "hey_mycroft"},
        "home": {"kind": "mqtt"},
    }
    ready = f"speak de {all_phrases()['de'].ready}"
    assert "mqtt broker:1884 anna False" in setup.machine.done
    assert setup.machine.done[-6:] == ["install", "boot", "reload", ready, "play HDMI", "start"]


def test_a_second_run_proposes_the_present_values_and_changes_nothing(config_file: Path) -> None:
    assert set_up(*(line for lines in ANSWERS.values() for line in lines)).exit_code == 0
    before = config_file.read_text()
    again = set_up(*[""] * 14, machine=FakeMachine(is_installed=True))
    assert again.exit_code == 0, again.shown
    for present in ("de", "USB Audio", "HDMI", GERMAN_VOICE, "1.2", "hey_mycroft", "mqtt", "qwen3-0.6b"):
        assert f"({present}): " in again.shown
    assert "nichts wurde geändert" in again.shown
    assert config_file.read_text() == before
    assert {"install", "remove", "reload"}.isdisjoint(again.machine.done)


def test_every_step_can_be_skipped(config_file: Path) -> None:
    setup = set_up(*["s"] * (len(STEPS) - 1))  # nothing is left to download
    assert (setup.exit_code, setup.shown.count("  skipped")) == (0, len(STEPS) - 1)
    assert not config_file.exists()
    assert setup.machine.done == [f"speak en {ENGLISH.ready}", "play pulse"]


@pytest.mark.parametrize(
    ("step", "answers", "complaint"),
    [
        ("language", ("klingon", "en"), "is not a language code"),
        ("language", ("Germn", "en"), "did you mean de (German)?"),
        ("microphone", ("Yeti", "1", "s"), "there is no microphone 'Yeti'"),
        ("loudspeaker", ("0", "s"), "there is no loudspeaker '0'"),
        ("voice", ("", "fast", "1"), "tts.speed must be a number"),
        ("voice", ("", "9", "1"), "tts.speed must be a number"),
        ("wake", ("99", "off"), "type a number from 1 to"),
        ("wake", ("hey", "off"), "type a number from 1 to"),
        ("home", ("castle", "demo"), "type a number from 1 to 3"),
        ("service", ("maybe", "n"), "please type y or n"),
    ],
)
def test_a_wrong_answer_is_asked_again_and_not_saved(
    step: str, answers: tuple[str, ...], complaint: str, config_file: Path
) -> None:
    setup = set_up(*answers, steps=[step])
    assert setup.exit_code == 0, setup.shown
    assert complaint in setup.shown
    assert "nothing was changed" in setup.shown
    assert not config_file.exists()


def test_the_end_of_the_input_and_ctrl_c_keep_the_answers_so_far(config_file: Path) -> None:
    ended = set_up("de")
    assert (ended.exit_code, "Einrichtung beendet; stt.language gespeichert" in ended.shown) == (130, True)

    class Impatient(FakeMachine):
        def record(self, context: Context, device: Device) -> NoReturn:
            raise KeyboardInterrupt

    stopped = set_up("fr", "usb", "", machine=Impatient())
    assert (stopped.exit_code, "setup ended; saved stt.language" in stopped.shown) == (130, True)
    assert tomllib.loads(config_file.read_text()) == {"stt": {"language": "fr"}}


@pytest.mark.parametrize(
    "machine",
    [
        FakeMachine(found=()),
        FakeMachine(broken={"devices": DeviceUnavailable("PortAudio is not installed", hint="install it")}),
    ],
)
def test_without_devices_or_a_sound_library_the_other_steps_go_on(machine: FakeMachine, config_file: Path) -> None:
    setup = set_up("de", "s", "off", "demo", "s", "n", machine=machine)
    assert setup.exit_code == DeviceUnavailable.exit_code
    assert "es gab Probleme, siehe oben" in setup.shown
    assert tomllib.loads(config_file.read_text()) == {"stt": {"language": "de"}}


def test_a_microphone_that_hears_nothing_is_not_taken_unless_the_person_insists(config_file: Path) -> None:
    machine = FakeMachine(recordings=[Audio(silence(1.0), 16_000), Audio(noise(1.0, 0.001), 16_000), VOICE])
    setup = set_up("usb", "", "n", "pulse", "", "n", "usb", "", steps=["microphone"], machine=machine)
    assert setup.machine.done == ["record USB Audio", "record pulse", "record USB Audio", "reload"]
    assert "records silence" in setup.shown
    assert "is too quiet" in setup.shown
    assert "microphone 'USB Audio' works" in setup.shown
    machine = FakeMachine(recordings=[Audio(silence(1.0), 16_000)])
    set_up("pulse", "", "y", steps=["microphone"], machine=machine)
    assert tomllib.loads(config_file.read_text()) == {"audio": {"microphone": "pulse"}}


def test_the_default_device_of_the_system_can_be_chosen_again(config_file: Path) -> None:
    set_up("usb", "", steps=["microphone"])
    assert tomllib.loads(config_file.read_text()) == {"audio": {"microphone": "USB Audio"}}
    set_up("default", "", steps=["microphone"])
    assert tomllib.loads(config_file.read_text()) == {"audio": {}}


def test_a_loudspeaker_that_was_not_heard_is_not_saved(config_file: Path) -> None:
    setup = set_up("hdmi", "n", "y", "", "n", "n", steps=["loudspeaker"])
    assert (setup.exit_code, setup.machine.done.count("play HDMI")) == (1, 2)
    assert not config_file.exists()


def test_without_a_voice_three_notes_are_played(store: ModelStore, config_file: Path) -> None:
    missing = [store.manifest.entry(GERMAN_VOICE)]
    declined = set_up("hdmi", "n", "y", steps=["loudspeaker"], machine=FakeMachine(missing=missing))
    assert declined.machine.done == ["play HDMI", "reload"]
    offline = FakeMachine(missing=missing, broken={"speak": ModelDownloadFailed("no network", hint="connect")})
    setup = set_up("", "y", "y", steps=["loudspeaker"], machine=offline)
    assert setup.machine.done[-1] == "play HDMI"
    assert setup.exit_code == ModelDownloadFailed.exit_code


def test_a_full_disk_is_reported_and_the_file_stays(config_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config_file.parent.mkdir()
    config_file.write_text("# mine\n")

    def write(_path: Path, _text: str) -> NoReturn:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("edgevox.config.toml_file.write_atomic", write)
    setup = set_up("de", "alexa", steps=["language", "wake"])
    assert setup.exit_code == 2
    assert setup.shown.count("No space left on device") == 2
    assert "nothing was changed" in setup.shown
    assert config_file.read_text() == "# mine\n"


def test_a_failed_download_does_not_end_the_setup(store: ModelStore) -> None:
    machine = FakeMachine(
        missing=[store.manifest.entry("qwen3-4b")], broken={"download": ModelDownloadFailed("the disk is full")}
    )
    setup = set_up("y", "n", steps=["download", "service"], machine=machine)
    assert "Download 2.5 GB now? (qwen3-4b)" in setup.shown
    assert "the disk is full" in setup.shown
    assert setup.exit_code == ModelDownloadFailed.exit_code


def test_a_home_that_cannot_be_reached_is_asked_for_again(config_file: Path) -> None:
    broken = FakeMachine(broken={"home_assistant": HomeError("no answer", hint="check the URL")})
    setup = set_up("home_assistant", "y", "n", steps=["home"], machine=broken)
    assert setup.machine.done == ["home_assistant", "home_assistant"]
    assert setup.exit_code == HomeError.exit_code
    assert not config_file.exists()
    assert set_up("2", steps=["home"]).exit_code == 0
    assert set_up("demo", steps=["home"]).exit_code == 0
    assert tomllib.loads(config_file.read_text())["home"]["kind"] == "demo"


def test_a_model_that_does_not_speak_the_language_gets_another_proposal(config_file: Path) -> None:
    setup = set_up("polish", "", steps=["language", "model"])
    assert "home does not speak Polish" in setup.shown
    assert tomllib.loads(config_file.read_text())["preset"] == "qwen3-1.7b"
    assert "smollm2" not in setup.shown


def test_a_recogniser_for_english_makes_way_for_another_language(config_file: Path) -> None:
    config_file.parent.mkdir()
    config_file.write_text('[stt]\nmodel = "whisper-tiny.en"\n')
    assert set_up("de", steps=["language"]).exit_code == 0
    assert tomllib.loads(config_file.read_text())["stt"] == {"language": "de", "model": "whisper-base"}


def test_the_language_is_asked_for_in_each_and_what_follows_is_german(config_file: Path) -> None:
    setup = set_up("Deutsch", "usb", "j", "1", "ja", "nein", "", "1", steps=[*STEPS][:4])
    assert setup.exit_code == 0, setup.shown
    for said in ("Welche Sprache sprichst du?", "de Deutsch", "Mikrofon (2 von 4)", "Hast du es gehört? j/n (j)"):
        assert said in setup.shown
    assert "'USB Audio' funktioniert" in setup.shown
    assert "Welche Stimme für Deutsch?" in setup.shown
    after = setup.shown.partition("Mikrofon (2 von 4)")[2]
    assert not [word for word in ("Which", "Record", "Did you", "works", "saved") if word in after]


def test_two_languages_are_detected_and_each_gets_a_voice(config_file: Path) -> None:
    setup = set_up("de, English", "", "", "", steps=["language", "voice"])
    assert setup.exit_code == 0, setup.shown
    assert tomllib.loads(config_file.read_text()) == {
        "stt": {"language": "auto", "languages": ["de", "en"]},
        "tts": {"voices": {"de": GERMAN_VOICE}},
    }
    assert set_up("fr", steps=["language"]).exit_code == 0
    assert tomllib.loads(config_file.read_text())["stt"] == {"language": "fr"}


@pytest.mark.parametrize(("system", "proposed"), [("de_DE.UTF-8", "de"), ("C.UTF-8", "en"), ("pl_PL.UTF-8", "en")])
def test_the_language_of_the_system_is_proposed_at_first(
    system: str, proposed: str, monkeypatch: pytest.MonkeyPatch, config_file: Path
) -> None:
    for name in ("LC_ALL", "LC_MESSAGES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANG", system)
    assert f"({proposed}): " in set_up("fr", steps=["language"]).shown
    assert "(fr): " in set_up("", steps=["language"]).shown, "the present one, from then on"


def test_every_sentence_of_the_catalogue_is_one_of_the_setup_and_keeps_its_values() -> None:
    folder = Path(__file__).parents[2] / "edgevox" / "cli"
    sources = "".join(
        path.read_text(encoding="utf-8") for name in ("setup", "ui") for path in (folder / name).glob("*.py")
    )
    for language, sentences in tomllib.loads((folder / "ui" / "messages.toml").read_text(encoding="utf-8")).items():
        for text, translated in sentences.items():
            assert repr(text)[1:-1] in sources or text in sources, f"{language}: {text} is not asked any more"
            assert sorted(re.findall(r"{.*?}", text)) == sorted(re.findall(r"{.*?}", translated)), text


def test_what_the_environment_sets_is_not_written(monkeypatch: pytest.MonkeyPatch, config_file: Path) -> None:
    monkeypatch.setenv("EDGEVOX_STT__LANGUAGE", "fr")
    setup = set_up("de", steps=["language"])
    assert "EDGEVOX_STT__LANGUAGE, which overrides the settings file" in setup.shown
    assert not config_file.exists()


def test_a_service_is_removed_when_it_is_no_longer_wanted() -> None:
    assert set_up("n", steps=["service"], machine=FakeMachine(is_installed=True)).machine.done == ["remove"]


# --- without a person


def test_unattended_every_default_is_taken_and_both_devices_are_tested(config_file: Path) -> None:
    machine = FakeMachine(recordings=[Audio(noise(1.0, 0.001), 16_000)])  # nobody speaks
    setup = set_up(unattended=True, machine=machine, proposed={"input": "usb"})
    assert setup.exit_code == 0, setup.shown
    assert tomllib.loads(config_file.read_text()) == {"audio": {"microphone": "usb"}}
    spoken = [f"speak en {ENGLISH.sound_check}", "play pulse"]
    assert setup.machine.done == ["record USB Audio", *spoken, "reload", f"speak en {ENGLISH.ready}", "play pulse"]


def test_unattended_a_dead_microphone_is_not_saved_and_a_missing_one_does_not_stop_the_rest(config_file: Path) -> None:
    dead = FakeMachine(recordings=[Audio(silence(1.0), 16_000)])
    assert set_up(unattended=True, machine=dead, proposed={"input": "usb"}).exit_code == 1
    assert not config_file.exists()
    missing = set_up(unattended=True, proposed={"input": "Yeti", "output": "hdmi"})
    assert missing.exit_code == DeviceUnavailable.exit_code
    assert "there is no microphone 'Yeti'" in missing.shown
    assert tomllib.loads(config_file.read_text()) == {"audio": {"speaker": "hdmi"}}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["setup"], "edgevox setup asks questions: run it in a terminal"),
        (["setup"], "edgevox config set NAME VALUE"),
        (["setup", "kitchen", "--yes"], "the steps are language, microphone"),
    ],
)
def test_without_a_terminal_or_with_an_unknown_step_it_is_refused(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str], config_file: Path
) -> None:
    assert main(words) == 2
    assert message in capsys.readouterr().err
    assert not config_file.exists()


# --- the level of a recording


@pytest.mark.parametrize(
    ("level", "verdict"), [(0.0, "nothing"), (0.001, "too quiet"), (0.1, "fine"), (2.0, "clipping")]
)
def test_what_the_level_says(level: float, verdict: LevelRating) -> None:
    voice = np.concatenate((silence(1.0), sweep(0.5, level=level), silence(0.5)))
    assert rate_level(np.clip(voice, -1, 1)) == verdict


def test_the_hiss_of_a_room_is_not_taken_for_a_voice() -> None:
    assert rate_level(noise(2.0, 0.001)) == "too quiet"


# --- the whole conversation, in a terminal and with sound


@contextmanager
def speech_playing(room: NullSinks, folder: Path) -> Iterator[None]:
    """Sound into the microphone for as long as the block runs."""
    path, done = folder / "voice.wav", threading.Event()
    write_wav(path, [VOICE])

    def speak() -> None:
        while not done.is_set():
            room.speak(path)

    speaker = threading.Thread(target=speak)
    speaker.start()
    try:
        yield
    finally:
        done.set()
        speaker.join(BOUND_S)


def audible_s(path: Path) -> float:
    """How long anything is heard in a recording."""
    recording = read_audio(path)
    frame = recording.rate_hz // 50
    frames = recording.samples[: len(recording.samples) // frame * frame].reshape(-1, frame)
    return float(np.sum(np.abs(frames).max(axis=1) > 0.01)) / 50


@pytest.mark.audio_device
@pytest.mark.engine
def test_the_whole_setup_in_tmux_is_saved_and_heard(tmp_path: Path, store: ModelStore) -> None:
    store.ensure(DEFAULT_MODELS)
    RECORDINGS.mkdir(parents=True, exist_ok=True)
    cast = RECORDINGS / "setup.cast"
    config_file = tmp_path / "config" / "config.toml"
    with NullSinks() as room:
        env = environment(tmp_path, XDG_CONFIG_HOME=str(tmp_path / "xdg"), COLUMNS="80") | room.environment
        del env["EDGEVOX_PRESET"]
        with in_tmux(tmp_path, env, "setup", recording=cast) as terminal, room.record(RECORDINGS / "setup-tests.wav"):

            def answer(*exchanges: tuple[str, str]) -> None:
                for question, typed in exchanges:
                    terminal.until(question)
                    terminal.shown = ""
                    terminal.type(f"{typed}\n")

            answer(("Which language", "klingon"), ("is not a language", "English"))
            answer(("Which microphone", "Yeti"), ("there is no microphone 'Yeti'", "pulse"))
            with speech_playing(room, tmp_path):
                answer(("Record 3 s now?", ""))
                terminal.until("microphone 'pulse' works")
            assert "▮" in terminal.shown, "a level meter"
            answer(("Which loudspeaker", "pulse"), ("Did you hear it?", "y"), ("Hear your recording", "y"))
            answer(("Which English voice", ""), ("How fast?", "1.1"))
            answer(("Which word wakes it?", "hey_mycroft"), ("Which home?", ""), ("Which model?", ""))
            terminal.until("all models are downloaded")
            terminal.until("Run it in the background")
            with room.record(RECORDINGS / "setup-end.wav"):
                terminal.type("n\n")
                assert terminal.end() == 0, terminal.shown
    assert ENGLISH.ready in terminal.shown
    assert ENGLISH.ready in cast.with_suffix(".txt").read_text(encoding="utf-8"), "the last screen of tmux"
    assert tomllib.loads(config_file.read_text()) == {
        "audio": {"microphone": "pulse", "speaker": "pulse"},
        "tts": {"speed": 1.1},
        "wake": {"mode": "word", "word": "hey_mycroft"},
    }
    recording = read_audio(RECORDINGS / "setup-tests.wav", VOICE.rate_hz)
    assert find(VOICE.samples, recording.samples).likeness > 0.8, "the person's own recording is played"
    assert audible_s(RECORDINGS / "setup-end.wav") > 1.0, "the last sentence is spoken"
    outputs = [json.loads(line)[2] for line in cast.read_text(encoding="utf-8").splitlines()[1:]]
    assert ENGLISH.ready in "".join(outputs), "the recording goes to the end"
