"""Steps of the setup that are only typed: language, wake word, home, model, download and service."""

from __future__ import annotations

import os
import re
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
from edgevox.core.languages import ENGLISH, OWN_NAMES, language_named, own_name
from edgevox.core.platform import total_memory_bytes
from edgevox.models import size_text

# Proposed where the default model does not speak the language.
_MANY_LANGUAGES_PRESET = "qwen3-1.7b"


# Read by people who may know none of the others.
_LANGUAGE_QUESTION = (
    "Which language do you speak? Welche Sprache sprichst du? Quelle langue parlez-vous ? ¿Qué idioma hablas? "
    "Che lingua parli? Welke taal spreek je? Que língua fala?"
)


def set_language(session: SetupSession) -> None:
    """Ask for the language, or for several: "de, en" detects which of them is spoken. Raises ConfigError."""
    stt = session.settings.stt
    session.note(
        "  " + ", ".join(f"{code} {own_name(code)}" for code in OWN_NAMES), f"  de, en: Deutsch + English; {AUTO}: *"
    )
    answer = session.questions.ask(_LANGUAGE_QUESTION, _proposed_language(session), _spoken_languages)
    language = answer[0] if len(answer) == 1 else AUTO
    answers: dict[str, Value | None] = {"stt.language": language}
    if len(answer) > 1 or stt.languages:
        answers["stt.languages"] = list(answer) if len(answer) > 1 else None
    if answer not in ((ENGLISH,), (AUTO,)) and stt.model.endswith(".en"):
        answers["stt.model"] = SttSettings().model  # the others know English only
    session.save(answers)
    understood = session.text(" and ").join(map(own_name, answer))
    session.note(
        session.text(
            "  it understands {languages}", languages=session.text("any language") if answer == (AUTO,) else understood
        )
    )


def _spoken_languages(text: str) -> tuple[str, ...]:
    """The codes of "Deutsch", "de" or "de, en". Raises ValueError."""
    if text.casefold() == AUTO:
        return (AUTO,)
    return tuple(dict.fromkeys(map(language_named, filter(None, re.split(r"[,;+]\s*", text))))) or (ENGLISH,)


def _proposed_language(session: SetupSession) -> str:
    """The present one; before the first choice that of the system, if it has a voice of its own."""
    stt = session.settings.stt
    if session.settings.sources["stt.language"].layer != "default":
        return ", ".join(stt.languages) if stt.language == AUTO and stt.languages else stt.language
    system = next(filter(None, (os.environ.get(name) for name in ("LC_ALL", "LC_MESSAGES", "LANG"))), "")[:2]
    return system if system in OWN_NAMES else stt.language


def set_wake_word(session: SetupSession) -> None:
    wake = session.settings.wake
    options = {"off": session.text("no wake word: it answers all speech in the room")}
    options |= {name: f'"{word.phrase}"' for name, word in wake_words().items()}
    if wake.model is not None:
        options["model"] = session.text("your own, {path}", path=wake.model)
    options["phrase"] = session.text("a phrase of your own, which takes more of the processor")
    word = "model" if wake.model is not None else wake.word
    present = word if wake.mode == "word" else wake.mode
    answer = session.questions.choose(session.text("Which word wakes it?"), options, present)
    match answer:
        case "off":
            session.save({"wake.mode": "off"})
        case "phrase":
            phrase = session.questions.ask(
                session.text("The phrase"), wake.phrase, catalogue()["wake.phrase"].from_text
            )
            session.save({"wake.mode": "phrase", "wake.phrase": str(phrase)})
        case "model":
            session.save({"wake.mode": "word"})
        case _:
            session.save({"wake.mode": "word", "wake.word": answer, "wake.model": None})
    session.note(ready_lines(session.settings, "", "")[1])


def set_home(session: SetupSession) -> None:
    questions, present = session.questions, session.settings.home.kind
    options = {
        "demo": session.text("no real devices, to try commands with"),
        "home_assistant": session.text("Home Assistant, found on the network or by its URL"),
        "mqtt": session.text("the devices of an MQTT broker, without Home Assistant"),
    }
    answer = questions.choose(session.text("Which home?"), options, present)
    if answer == "demo":
        session.save({"home.kind": "demo"})
        return
    if answer == present and not questions.confirm(session.text("Connect it anew?"), default=False):
        return
    while True:
        try:
            _connect_home(session, answer)
        except EdgevoxError as error:
            session.context.report_error(error)
            if not questions.confirm(session.text("Try again?"), default=True):
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
    address = questions.ask(session.text("Broker, as HOST or HOST:PORT"), known, str)
    username = questions.ask(session.text("User name, empty for none"), mqtt.username or "", str)
    tls = questions.confirm(session.text("Over TLS?"), default=mqtt.tls)
    session.machine.connect_mqtt(session.context, address, username or None, tls=tls)


def set_model(session: SetupSession) -> None:
    llm = session.settings.llm
    if own := llm.remote_url or llm.model:
        session.note(session.text("  kept: {what}", what=f"{own} (llm.remote_url, llm.model)"))
        return
    choices = session.machine.presets(session.context)
    named = session.settings.preset
    used = next((one for one in choices if named in (one.preset.name, *one.preset.aliases)), None)
    present = used.preset.name if used else named
    fitting = {one.preset.name: one for one in choices if _is_fitting(one, session.language)}
    if not fitting:
        kept = session.text("  no preset fits into the memory of this machine: {name} is kept", name=present)
        session.note(kept, style="yellow")
        return
    default = present
    if present not in fitting:
        default = _MANY_LANGUAGES_PRESET if _MANY_LANGUAGES_PRESET in fitting else next(iter(fitting))
        if used and used.fits is False:
            session.note(session.text("  {name} needs more memory than this machine has", name=present))
        else:
            language = own_name(session.language)
            session.note(session.text("  {name} does not speak {language}", name=present, language=language))
    memory = size_text(total_memory_bytes())
    session.note(session.text("  these fit into the {size} of memory of this machine:", size=memory))
    ordered = sorted(fitting.values(), key=lambda one: (one.preset.name != present, one.download_bytes or 0))
    options = {one.preset.name: _described(one) for one in ordered}
    answer = session.questions.choose(session.text("Which model?"), options, default)
    if answer != present:
        session.save({"preset": answer})


def _is_fitting(choice: PresetChoice, language: str) -> bool:
    preset = choice.preset
    is_home_run = preset.home_only and language in OWN_NAMES  # by templates, without the model
    return bool(choice.fits) and (is_home_run or preset.languages is None or language in preset.languages)


def _described(choice: PresetChoice) -> str:
    size = "here" if choice.is_downloaded else size_text(choice.download_bytes or 0)
    return f"{size:>6}  {choice.preset.summary}"


def download_models(session: SetupSession) -> None:
    engines = voice_engines(session.settings)
    missing = session.machine.missing_models(session.context, engines)
    if not missing:
        session.note(session.text("  all models are downloaded"))
    elif session.may_download(missing):
        session.machine.download(session.context, engines)


def set_service(session: SetupSession) -> None:
    questions, machine = session.questions, session.machine
    is_mac = sys.platform == "darwin"
    if is_mac:
        session.note("  → edgevox service install writes a launchd agent (not tested on macOS yet)")
        return
    is_installed = machine.has_service()
    wanted = session.text("Run it in the background, from every login on?")
    if not questions.confirm(wanted, default=is_installed):
        if is_installed:
            machine.remove_service()
            session.note(session.text("  the service is removed"))
        return
    if not is_installed:
        machine.install_service(session.context)
        session.is_service_new = True
    if session.settings.sources["wake.mode"].layer == "default":
        phrase = wake_words()[session.settings.wake.word].phrase
        session.note(session.text('  the service waits for "{phrase}"', phrase=phrase))
    at_boot = session.text("Start it with the machine, before anybody logs in? (loginctl enable-linger)")
    if machine.starts_at_boot() is False and questions.confirm(at_boot, default=False):
        machine.start_at_boot()
