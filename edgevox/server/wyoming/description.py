"""What a Wyoming client is told that there is here."""

from __future__ import annotations

from wyoming.info import (
    AsrModel,
    AsrProgram,
    Attribution,
    HandleModel,
    HandleProgram,
    Info,
    TtsProgram,
    TtsVoice,
)

from edgevox import __version__
from edgevox.languages import ENGLISH, LANGUAGES
from edgevox.server.assistant import Assistant

_NAME = "edgevox"
_US = Attribution("The EdgeVox developers", "")
_ACT = "act"


def describe(assistant: Assistant, scopes: tuple[str, ...]) -> Info:
    """Its ear and its voice, as far as it has them; its tools, where `scopes` let them do something."""
    return Info(
        asr=[_ear(assistant)] if assistant.hearing else [],
        tts=[_voice(assistant)] if assistant.voice else [],
        handle=[_tools(assistant, scopes)] if assistant.make_agent and scopes else [],
    )


def _ear(assistant: Assistant) -> AsrProgram:
    name = assistant.hearing_name
    languages = [ENGLISH] if name.endswith(".en") else list(LANGUAGES)
    model = AsrModel(name, _US, True, "recognises speech", None, languages)
    return AsrProgram(_NAME, _US, True, "EdgeVox's ear", __version__, [model])


def _voice(assistant: Assistant) -> TtsProgram:
    voice = TtsVoice(assistant.voice_name, _US, True, "speaks", None, [assistant.voice_language])
    return TtsProgram(
        _NAME, _US, True, "EdgeVox's voice", __version__, [voice], supports_synthesize_streaming=True
    )


def _tools(assistant: Assistant, scopes: tuple[str, ...]) -> HandleProgram:
    model = HandleModel(assistant.name, _US, True, "answers with its tools", None, list(LANGUAGES))
    return HandleProgram(
        _NAME,
        _US,
        True,
        "EdgeVox and its tools",
        __version__,
        [model],
        supports_handled_streaming=True,
        supports_home_control=_ACT in scopes or "*" in scopes,
    )
