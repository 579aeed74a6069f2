"""The table of the settings that says when the assistant listens: always, or once it is called."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from edgevox.settings.section import Section, Text, UserPath

WakeMode: TypeAlias = Literal["off", "word", "phrase"]
WakeWordName: TypeAlias = Literal["okay_nabu", "hey_jarvis", "hey_mycroft", "alexa"]
ThresholdName: TypeAlias = Literal["strict", "normal", "eager"]
Threshold: TypeAlias = ThresholdName | Annotated[float, Field(gt=0, le=1)]


class WakeSettings(Section):
    """What to say before the assistant listens."""

    mode: WakeMode = Field(
        default="off",
        description="off: it always listens; word: once a trained word was said; phrase: any phrase first",
    )
    word: WakeWordName = Field(default="okay_nabu", description="the trained word")
    model: UserPath | None = Field(
        default=None,
        description="a microWakeWord model of your own (its .json file), instead of the trained word",
        examples=["~/models/hey_house.json"],
    )
    phrase: Text = Field(default="computer", description="the phrase: an utterance counts if it begins so")
    threshold: Threshold = Field(
        default="normal",
        description="how sure it must be: strict hears wrongly least, eager misses least; or a number",
    )
    follow_up_s: float = Field(
        default=5.0, ge=0, le=60, description="after a reply it listens for this long without being called"
    )
