"""Steps of the setup that are heard: microphone, loudspeaker and voice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from edgevox.audio.dsp import dbfs
from edgevox.audio.io.devices import Device, Direction, choose_device
from edgevox.cli.setup.session import SetupSession
from edgevox.cli.ui.sound_check import LEVEL_ADVICE, RECORD_S, chime, devices_table, rate_level
from edgevox.config.schema import catalogue
from edgevox.core.errors import DeviceUnavailable
from edgevox.core.languages import own_name
from edgevox.models import Manifest, open_store, size_text
from edgevox.tts.engines import choose_tts

_QUESTIONS: Mapping[Direction, str] = {
    "input": 'Which microphone? By number or name; "default" is that of the system',
    "output": 'Which loudspeaker? By number or name; "default" is that of the system',
}
_DEFAULT_DEVICE = "default"
_FAILED = 1


def set_microphone(session: SetupSession) -> None:
    """Choose a microphone and rate a test recording. Raises DeviceUnavailable and ConfigError."""
    questions, devices = session.questions, session.machine.devices()
    proposed = session.proposed.get("input") or session.settings.audio.microphone
    while True:
        proposed, device = _choose_device(session, devices, "input", proposed)
        question = session.text(
            'Record {seconds} s now? After Enter, say "turn on the kitchen light"', seconds=f"{RECORD_S:.0f}"
        )
        if not questions.confirm(question, default=True) or _sounds_fine(session, device):
            break
        if questions.is_unattended:
            session.note(session.text("  not saved: the test failed"), style="yellow")
            session.fail(_FAILED)
            return
        if questions.confirm(session.text("Use it anyway?"), default=False):
            break
    session.save({"audio.microphone": proposed})


def set_loudspeaker(session: SetupSession) -> None:
    """Choose a loudspeaker and play a sentence on it. Raises DeviceUnavailable and ConfigError."""
    questions, devices = session.questions, session.machine.devices()
    proposed = session.proposed.get("output") or session.settings.audio.speaker
    while True:
        proposed, device = _choose_device(session, devices, "output", proposed)
        # Without a voice, three notes.
        session.machine.play(session.context, device, session.sentence("sound_check") or [chime()])
        if questions.confirm(session.text("Did you hear it?"), default=True):
            break
        session.note(session.text("  is it muted or turned down, or is another loudspeaker meant?"))
        if not questions.confirm(session.text("Try again, or another one?"), default=True):
            unheard = session.text("loudspeaker {name!r} was not heard: not saved", name=device.name)
            session.print_result(unheard, is_good=False)
            session.fail(_FAILED)
            return
    session.print_result(session.text("loudspeaker {name!r} works", name=device.name), is_good=True)
    session.save({"audio.speaker": proposed})
    if session.recording and questions.confirm(session.text("Hear your recording as well?"), default=False):
        session.machine.play(session.context, device, [session.recording])


def set_voice(session: SetupSession) -> None:
    """Choose a voice for each language and its speed, and hear it where either is new. Raises EdgevoxError."""
    tts, manifest = session.settings.tts, open_store(session.context.folders).manifest
    choice, before = choose_tts(tts, manifest), len(session.changed)
    if not choice.model_ids:
        session.note(session.text("  kept: {what}", what=f"{choice.engine} (tts.engine, tts.remote)"))
        return
    for language in session.languages:
        _choose_voice(session, manifest, language)
    speed = session.questions.ask(
        session.text("How fast? 1 is normal, more is faster"), f"{tts.speed:g}", catalogue()["tts.speed"].from_text
    )
    assert isinstance(speed, float)
    session.save({"tts.speed": speed})
    if len(session.changed) > before and (sounds := session.sentence("sound_check")):
        session.play(sounds)


def _choose_voice(session: SetupSession, manifest: Manifest, language: str) -> None:
    voices = [entry for entry in manifest.models if entry.kind == "tts" and entry.spoken_language == language]
    if not voices:
        session.note(
            session.text(
                "  there is no voice for {language}: replies are spoken in English", language=own_name(language)
            ),
            session.text("  → docs/guide/languages.md shows how to add one"),
        )
        return
    present = choose_tts(session.settings.tts, manifest).voices.get(language)
    voice = session.questions.choose(
        session.text("Which {language} voice?", language=own_name(language)),
        {entry.id: f"{size_text(entry.size_bytes)}, {entry.licence}" for entry in voices},
        present or voices[0].id,
    )
    if voice != present:
        session.save_voice(manifest.entry(voice))


def _choose_device(
    session: SetupSession, devices: Sequence[Device], direction: Direction, proposed: str | None
) -> tuple[str | None, Device]:
    """Return the name to save, None for the system's default, and the device. Raises DeviceUnavailable."""
    if session.questions.is_unattended:
        return proposed, choose_device(devices, proposed, direction)
    choose_device(devices, None, direction)  # raises where there is none at all
    session.context.err.print(devices_table([one for one in devices if one.channels(direction)], None, None))

    def check(answer: str) -> tuple[str | None, Device]:
        wanted = None if answer.casefold() == _DEFAULT_DEVICE else answer
        try:
            device = choose_device(devices, wanted, direction)
        except DeviceUnavailable as error:
            raise ValueError(error.message) from error
        return _stable_name(device, devices, direction) if wanted else None, device

    return session.questions.ask(session.text(_QUESTIONS[direction]), proposed or _DEFAULT_DEVICE, check)


def _stable_name(device: Device, devices: Sequence[Device], direction: Direction) -> str:
    """Return the device's name, which is stable across restarts, or its number if the name is ambiguous."""
    same = [other for other in devices if other.channels(direction) and other.name == device.name]
    return device.name if len(same) == 1 else str(device.index)


def _sounds_fine(session: SetupSession, device: Device) -> bool:
    """Record, and print whether the level is right."""
    recording = session.machine.record(session.context, device)
    rating = rate_level(recording.samples)
    text = session.text(
        "microphone {name!r} {advice} ({level:.0f} dBFS)",
        name=device.name,
        advice=session.text(LEVEL_ADVICE[rating]),
        level=dbfs(recording.samples),
    )
    session.print_result(text, is_good=rating == "fine")
    if rating != "nothing":
        session.recording = recording
    # An unattended setup may have no speaker.
    return rating == "fine" or (rating == "too quiet" and session.questions.is_unattended)
