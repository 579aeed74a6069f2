from __future__ import annotations

import subprocess
import sys

import pytest

from edgevox.dialogue.alarm_state import AlarmCommand, parse_alarm_command
from edgevox.dialogue.builtin_commands import BuiltinCommand, BuiltinCommands, parse_builtin_command

SAID: dict[BuiltinCommand, tuple[str, ...]] = {
    "stop": ("Stop.", "stop it", "Stop, please!", "Be quiet.", "Shut up!", "that's enough", "Stop! Stop!"),
    "cancel": ("Cancel.", "cancel that", "Please cancel it.", "Cancel. Cancel. Cancel."),
    "louder": ("Louder", "Speak louder, please.", "Volume up.", "Turn your volume up.", "I can’t hear you."),
    "quieter": ("quieter", "A bit quieter please", "Turn your volume down.", "Not so loud!"),
    "faster": ("Speak faster.", "Could you talk faster, please?", "You talk too slowly."),
    "slower": ("Speak slower, please.", "Speak more slowly.", "Slow down!", "You're too fast."),
    "repeat": ("Repeat that.", "Say that again.", "What did you say?", "Could you repeat that, please?"),
    "help": ("Help!", "What can you do?", "help me please"),
}
FOR_THE_HOME = (
    *("stop the vacuum", "Stop the music.", "stop the timer", "cancel the timer", "Cancel all timers."),
    *("louder in the kitchen", "Turn up the radio.", "turn the volume up", "Turn down the volume of the TV."),
    *("make the music louder", "be quiet in the office and turn off the light", "quieter in here"),
    *("repeat the song", "say that again in French", "help me with my homework", "what can you do about it"),
    *("slow down the fan", "faster", "make the fan slower", "turn the fan to a slower speed"),
    *("what did you say about the weather", "don't stop", "stop at nine", "unlock the door", "", "..."),
)
MEANT_WHILE_BUSY = ("Never mind.", "Forget it.", "forget about it", "Leave it, please.")


@pytest.mark.parametrize(("word", "text"), [(word, text) for word, texts in SAID.items() for text in texts])
def test_the_words_are_known_as_people_say_them(word: BuiltinCommand, text: str) -> None:
    assert parse_builtin_command(text) == word
    assert parse_builtin_command(text, is_busy=True) == word


@pytest.mark.parametrize(
    "text",
    [
        *("Stopp!", "Halt.", "Hör auf, bitte!", "Sei still.", "Arrête !", "Tais-toi.", "Ça suffit."),
        *("¡Para!", "¡Basta ya!", "Cállate.", "Fermati!", "Smettila.", "Hou op!", "Genoeg."),
    ],
)
def test_stop_is_known_in_other_languages(text: str) -> None:
    assert parse_builtin_command(text) == "stop"
    assert parse_alarm_command(text, ("alarm",)) == AlarmCommand("stop")


@pytest.mark.parametrize("text", ["Halt das Licht an.", "Para la música.", "Ferma il timer.", "Stil leven"])
def test_what_only_begins_like_stop_is_left_to_the_agent_in_other_languages_too(text: str) -> None:
    assert parse_builtin_command(text, is_busy=True) is None
    assert parse_alarm_command(text, ("alarm",)) is None


@pytest.mark.parametrize("text", FOR_THE_HOME)
def test_what_is_meant_for_the_home_is_left_to_the_agent(text: str) -> None:
    assert parse_builtin_command(text) is None
    assert parse_builtin_command(text, is_busy=True) is None


@pytest.mark.parametrize("text", MEANT_WHILE_BUSY)
def test_never_mind_is_a_word_only_while_there_is_something_to_stop(text: str) -> None:
    assert parse_builtin_command(text) is None
    assert parse_builtin_command(text, is_busy=True) == "cancel"


@pytest.mark.parametrize("text", ["Thank you.", "Thanks.", "Okay.", "Yes.", "you"])
def test_what_a_recogniser_invents_for_noise_stops_nothing(text: str) -> None:
    assert parse_builtin_command(text, is_busy=True) is None


def test_faster_and_slower_change_the_speed_and_each_change_is_kept() -> None:
    kept: list[tuple[str, float]] = []
    words = BuiltinCommands(volume_db=-5.0, keep=lambda name, value: kept.append((name, value)))
    assert (words.act("slower"), words.act("faster"), words.act("louder")) == ("Slower.", "Faster.", "Louder.")
    assert kept == [("tts.speed", 0.87), ("tts.speed", 1.0), ("tts.volume_db", 0.0)]
    for _ in range(10):
        said = words.act("slower")
    assert said == "That is as slowly as I can speak."
    assert kept[-1] == ("tts.speed", 0.5)
    already_fast = BuiltinCommands(speed=3.0)
    assert already_fast.act("faster") == "That is as fast as I can speak."
    assert already_fast.rate.speed == 3.0


def test_a_voice_with_a_pitch_becomes_lower_and_higher_and_another_says_that_it_cannot() -> None:
    kept: list[tuple[str, float]] = []
    words = BuiltinCommands(
        keep=lambda name, value: kept.append((name, value)), pitch_semitones=-2.0, with_pitch=("en",)
    )
    assert [parse_builtin_command(text) for text in ("a lower voice", "Sprich bitte höher.")] == ["lower", "higher"]
    assert [words.act(word) for word in ("lower", "lower", "lower", "higher")] == [
        "Lower.", "Lower.", "That is as low as I can speak.", "Higher."
    ]  # fmt: skip
    assert words.act("higher", "de") == "Diese Stimme hat nur eine Tonhöhe."
    assert kept == [("tts.pitch_semitones", semitones) for semitones in (-3.0, -4.0, -3.0)]


def test_louder_and_quieter_change_the_volume_and_say_so() -> None:
    words = BuiltinCommands()
    assert words.act("louder") == "Louder."
    assert words.volume.gain_db > 0
    assert words.act("quieter") == "Quieter."
    assert words.volume.gain_db == 0
    for _ in range(10):
        said = words.act("louder")
    assert said == "That is as loud as I can speak."


def test_repeat_says_the_last_reply_again() -> None:
    words = BuiltinCommands()
    assert words.act("repeat") == "I have not said anything yet."
    words.last_reply = "It is noon."
    assert words.act("repeat") == "It is noon."


def test_help_is_two_sentences_with_examples_of_this_home() -> None:
    said = BuiltinCommands(["light on in the hall", "how warm is it?", "lock up", "a fourth"]).act("help")
    assert "light on in the hall, how warm is it, or lock up." in said
    assert "fourth" not in said
    assert "stop" in said
    assert said.count(".") == 2
    assert BuiltinCommands().act("help").count(".") == 2


def test_no_data_file_is_read_at_import() -> None:
    modules = ("edgevox.dialogue", "edgevox.stt.rescoring", "edgevox.tts.sentences", "edgevox.config.sections")
    script = f"import tomllib; tomllib.loads = tomllib.load = None; import {', '.join(modules)}"
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)
