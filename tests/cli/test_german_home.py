"""A person who knows only German: the setup in German, then a spoken command changes the demo home."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from edgevox.audio.files import write_wav
from edgevox.core.languages import all_phrases
from edgevox.core.turn import CancelFlag
from edgevox.core.types import SynthesisRequest
from edgevox.models import DEFAULT_MODELS, ModelStore
from edgevox.testing import NullSinks
from edgevox.tts.sano import SanoEngine
from tests.cli.command import home_environment
from tests.cli.terminal import on_a_terminal
from tests.cli.test_home_by_voice import command, listed, spoken
from tests.cli.test_voice import assistant

pytestmark = [pytest.mark.engine, pytest.mark.audio_device, pytest.mark.long]

VOICE = "sano-de_DE"
COMMAND = "Mach alle Lichter aus."
GERMAN_WORDS = frozenset(["alle", "licht", "lichter", "sind", "ist", "aus", "ausgeschaltet", "habe", "die", "das"])


def test_after_a_setup_in_german_a_german_command_is_done_and_answered_in_german(
    tmp_path: Path, store: ModelStore
) -> None:
    store.ensure([*DEFAULT_MODELS, VOICE])
    speaker = SanoEngine(store.path(VOICE), "de")
    speaker.load()
    write_wav(tmp_path / "0.wav", list(speaker.run(SynthesisRequest(COMMAND, 0.9, "de"), CancelFlag())))
    with NullSinks() as room:
        env = home_environment(tmp_path, XDG_CONFIG_HOME=str(tmp_path / "xdg")) | room.environment
        set_up_in_german(env)
        assert tomllib.loads((tmp_path / "config" / "config.toml").read_text(encoding="utf-8")) == {
            "audio": {"microphone": "pulse", "speaker": "pulse"},
            "stt": {"language": "de"},
            "tts": {"voices": {"de": VOICE}},
        }
        assert lights_on(tmp_path), "there is something to turn off"
        with assistant(env) as (out, err):
            err.until("listening")
            heard, reply = command(room, out, tmp_path, 0)
        assert not lights_on(tmp_path), (heard, reply)
        assert set(re.findall(r"\w+", reply.lower())) & GERMAN_WORDS, reply
        aloud = spoken(tmp_path / "answer0.wav", env)
        assert aloud & GERMAN_WORDS, aloud


def set_up_in_german(env: dict[str, str]) -> None:
    """Answer every question of `edgevox setup` as it is asked in German; the last sentence is spoken."""
    exchanges = (
        ("Welche Sprache sprichst du?", "Deutsch"),
        ("Welches Mikrofon?", "pulse"),
        ("Jetzt 3 s aufnehmen?", "n"),
        ("Welcher Lautsprecher?", "pulse"),
        ("Hast du es gehört?", "ja"),
        ("Welche Stimme für Deutsch?", ""),
        ("Wie schnell?", ""),
        ("Welches Wort weckt ihn?", "off"),
        ("Welches Zuhause?", "demo"),
        ("Welches Modell?", ""),
        ("Im Hintergrund laufen lassen", "n"),
    )
    with on_a_terminal(env, "setup") as terminal:
        for question, typed in exchanges:
            terminal.until(question)
            terminal.shown = ""
            terminal.type(f"{typed}\n")
        assert terminal.end() == 0, terminal.shown
        said = " ".join(terminal.shown.split())
        assert all_phrases()["de"].ready in said


def lights_on(home: Path) -> list[str]:
    return [each for each, entity in listed(home).items() if each.startswith("light.") and entity["state"] == "on"]
