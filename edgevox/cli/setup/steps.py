"""Steps of the setup that are only typed: language, wake word, home, model, download and service."""

from __future__ import annotations

import sys

from edgevox.app.local_sessions import voice_engines
from edgevox.cli.assistant import ready_lines
from edgevox.cli.commands.config import PresetChoice
from edgevox.cli.setup.session import SetupSession
from edgevox.config import SttSettings
from edgevox.config.schema import catalogue
from edgevox.config.sections import AUTO, wake_words
from edgevox.config.toml_file import Value
from edgevox.core.errors import EdgevoxError
from edgevox.core.languages import ENGLISH, LANGUAGES, language_named
from edgevox.core.platform import total_memory_bytes
from edgevox.models import size_text

# Proposed where the default model does not speak the language.
_MANY_LANGUAGES_PRESET = "qwen3-1.7b"


def set_language(session: SetupSession) -> None:
    stt = session.settings.stt
    answer = session.questions.ask(
        'Which language do you speak? A code or a name, or "auto" to detect it',
        stt.language,
        lambda text: AUTO if text.casefold() == AUTO else language_named(text),
    )
    answers: dict[str, Value | None] = {"stt.language": answer}
    if answer not in (ENGLISH, AUTO) and stt.model.endswith(".en"):
        answers["stt.model"] = SttSettings().model  # the others know English only
    session.save(answers)
    session.note(f"  it understands {'any language' if answer == AUTO else LANGUAGES[answer]}")


def set_wake_word(session: SetupSession) -> None:
    wake = session.settings.wake
    options = {"off": "no wake word: it answers all speech in the room"}
    options |= {name: f'"{word.phrase}"' for name, word in wake_words().items()}
    if wake.model is not None:
        options["model"] = f"your own, {wake.model}"
    options["phrase"] = "a phrase of your own, which takes more of the processor"
    word = "model" if wake.model is not None else wake.word
    answer = session.questions.choose("Which word wakes it?", options, word if wake.mode == "word" else wake.mode)
    match answer:
        case "off":
            session.save({"wake.mode": "off"})
        case "phrase":
            phrase = session.questions.ask("The phrase", wake.phrase, catalogue()["wake.phrase"].from_text)
            session.save({"wake.mode": "phrase", "wake.phrase": str(phrase)})
        case "model":
            session.save({"wake.mode": "word"})
        case _:
            session.save({"wake.mode": "word", "wake.word": answer, "wake.model": None})
    session.note(ready_lines(session.settings, "", "")[1])


def set_home(session: SetupSession) -> None:
    questions, present = session.questions, session.settings.home.kind
    options = {
        "demo": "no real devices, to try commands with",
        "home_assistant": "Home Assistant, found on the network or by its URL",
        "mqtt": "the devices of an MQTT broker, without Home Assistant",
    }
    answer = questions.choose("Which home?", options, present)
    if answer == "demo":
        session.save({"home.kind": "demo"})
        return
    if answer == present and not questions.confirm("Connect it anew?", default=False):
        return
    while True:
        try:
            _connect_home(session, answer)
        except EdgevoxError as error:
            session.context.report_error(error)
            if not questions.confirm("Try again?", default=True):
                session.fail(error.exit_code)
                return
        else:
            session.changed.append("home")
            session.reload_settings()
            return


def _connect_home(session: SetupSession, kind: str) -> None:
    """Ask how it is reached; saves the answers if it is. Raises EdgevoxError."""
    if kind == "home_assistant":
        session.machine.connect_home_assistant(session.context)
        return
    questions, mqtt = session.questions, session.settings.mqtt
    known = f"{mqtt.host}:{mqtt.port}" if mqtt.port else mqtt.host
    address = questions.ask("Broker, as HOST or HOST:PORT", known, str)
    username = questions.ask("User name, empty for none", mqtt.username or "", str)
    tls = questions.confirm("Over TLS?", default=mqtt.tls)
    session.machine.connect_mqtt(session.context, address, username or None, tls=tls)


def set_model(session: SetupSession) -> None:
    llm = session.settings.llm
    if own := llm.remote_url or llm.model:
        session.note(f"  kept: {own} (llm.remote_url, llm.model)")
        return
    choices = session.machine.presets(session.context)
    named = session.settings.preset
    used = next((one for one in choices if named in (one.preset.name, *one.preset.aliases)), None)
    present = used.preset.name if used else named
    fitting = {one.preset.name: one for one in choices if _is_fitting(one, session.language)}
    if not fitting:
        session.note(f"  no preset fits into the memory of this machine: {present} is kept", style="yellow")
        return
    default = present
    if present not in fitting:
        default = _MANY_LANGUAGES_PRESET if _MANY_LANGUAGES_PRESET in fitting else next(iter(fitting))
        if used and used.fits is False:
            session.note(f"  {present} needs more memory than this machine has")
        else:
            session.note(f"  {present} does not speak {LANGUAGES[session.language]}")
    session.note(f"  these fit into the {size_text(total_memory_bytes())} of memory of this machine:")
    ordered = sorted(fitting.values(), key=lambda one: (one.preset.name != present, one.download_bytes or 0))
    options = {one.preset.name: _described(one) for one in ordered}
    answer = session.questions.choose("Which model?", options, default)
    if answer != present:
        session.save({"preset": answer})


def _is_fitting(choice: PresetChoice, language: str) -> bool:
    languages = choice.preset.languages
    return bool(choice.fits) and (languages is None or language in languages)


def _described(choice: PresetChoice) -> str:
    size = "here" if choice.is_downloaded else size_text(choice.download_bytes or 0)
    return f"{size:>6}  {choice.preset.summary}"


def download_models(session: SetupSession) -> None:
    engines = voice_engines(session.settings)
    missing = session.machine.missing_models(session.context, engines)
    if not missing:
        session.note("  all models are downloaded")
    elif session.may_download(missing):
        session.machine.download(session.context, engines)


def set_service(session: SetupSession) -> None:
    questions, machine = session.questions, session.machine
    is_mac = sys.platform == "darwin"
    if is_mac:
        session.note("  → edgevox service install writes a launchd agent (not tested on macOS yet)")
        return
    is_installed = machine.has_service()
    if not questions.confirm("Run it in the background, from every login on?", default=is_installed):
        if is_installed:
            machine.remove_service()
            session.note("  the service is removed")
        return
    if not is_installed:
        machine.install_service(session.context)
        session.is_service_new = True
    if session.settings.sources["wake.mode"].layer == "default":
        session.note(f'  the service waits for "{wake_words()[session.settings.wake.word].phrase}"')
    at_boot = "Start it with the machine, before anybody logs in? (loginctl enable-linger)"
    if machine.starts_at_boot() is False and questions.confirm(at_boot, default=False):
        machine.start_at_boot()
