"""Answers and speech from the assistant that runs already, instead of a second model."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from edgevox.cli.context import Context
from edgevox.cli.keyboard import print_question
from edgevox.cli.lines import stdin_lines
from edgevox.control.client import Conversation, request
from edgevox.control.protocol import Ask, Say
from edgevox.control.sound import sound_of
from edgevox.errors import NotRunning, OtherSettings
from edgevox.tools.answers import decide_yes_no
from edgevox.types import Audio, JsonObject

# What makes a difference to an answer, and to a voice.
_FOR_ASK = ("preset", "llm.", "tools.", "home.", "mqtt.", "plugins.", "mcp.", "memory.", "records.")
_FOR_SAY = ("tts.",)
_SHORT = {"y": "yes", "n": "no"}


async def ask_running(context: Context, text: str) -> JsonObject | None:
    """Its answer; None where none runs, or not with the settings that are given here. Raises EdgevoxError."""
    overrides = _overrides(context, _FOR_ASK)
    wanted = Ask(text=text, overrides=overrides, can_answer=sys.stdin.isatty())
    try:
        async with request(context.folders.runtime, wanted) as asking, _typing(asking, context) as is_asked:
            async for note in asking.notes():
                if note["kind"] == "question":
                    print_question(context, note["text"])
                    is_asked.set()
                elif note["kind"] == "done":
                    return note
    except (NotRunning, OtherSettings):
        pass
    return None


async def say_running(context: Context, text: str, *, is_wanted_here: bool) -> list[Audio] | None:
    """Have it speak, or send the sound; None where none runs. Raises EdgevoxError."""
    overrides = _overrides(context, _FOR_SAY)
    wanted = Say(text=text, overrides=overrides, where="here" if is_wanted_here else "loudspeaker")
    try:
        async with request(context.folders.runtime, wanted) as asking:
            return [sound_of(note) async for note in asking.notes() if note["kind"] == "sound"]
    except (NotRunning, OtherSettings):
        return None


def _overrides(context: Context, which: Sequence[str]) -> dict[str, object]:
    """The settings that are meant for this command alone, as far as they matter to it."""
    settings = context.settings
    values = settings.model_dump(mode="json")
    found: dict[str, object] = {}
    for name, source in settings.sources.items():
        if source.layer in ("flag", "environment") and name.startswith(tuple(which)):
            section, _, key = name.partition(".")
            found[name] = values[section][key] if key else values[section]
    return found


@asynccontextmanager
async def _typing(asking: Conversation, context: Context) -> AsyncIterator[asyncio.Event]:
    """Send yes or no on once the event is set: what is typed before there is a question is for the shell."""
    is_asked = asyncio.Event()

    async def read() -> None:
        await is_asked.wait()
        async for line in stdin_lines(lambda: None):
            answer = decide_yes_no(_SHORT.get(line.casefold(), line))
            if answer == "unclear":
                context.err.print("yes or no?", end=" ")
            else:
                asking.answer(granted=answer == "yes")

    reading = asyncio.create_task(read())
    try:
        yield is_asked
    finally:
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)
