"""How long a pause has to be to end what is being said, by what is known of the words before it."""

from __future__ import annotations

from typing import assert_never

from edgevox.types import Transcript
from edgevox.voice.completeness import LANGUAGE, Completeness, how_finished

# In hangovers: `audio.hangover_ms`, 500 ms if nobody changed it. People who think in the middle of a sentence
# mostly go on within 700 ms, and one in fifteen of their pauses is behind words that are whole
# (docs/adr/0025-endpointing.md): only behind a word that ends everything a shorter one is the end.
AFTER_CERTAIN = 0.6
AFTER_WHOLE = 1.3
AFTER_UNCLEAR = 1.6
AFTER_UNFINISHED = 2.4


def completeness(heard: Transcript | None) -> Completeness | None:
    """Whether what was heard is whole; None where its words say nothing, or there are none yet."""
    if heard is None or not heard.text or heard.language != LANGUAGE:
        return None
    return how_finished(heard.text)


def hangovers(finished: Completeness | None, *, is_transcribing: bool, is_ready: bool) -> float:
    """How many hangovers the pause has to be long; `is_ready` when something could be said or done at once.

    Where nothing could, for want of the words or of the reply, to wait for the person costs nothing.
    """
    if is_transcribing:
        return AFTER_UNFINISHED
    match finished:
        case "certain":
            return AFTER_CERTAIN
        case "whole" | None:
            return AFTER_WHOLE if is_ready else AFTER_UNCLEAR
        case "unclear":
            return AFTER_UNCLEAR
        case "unfinished":
            return AFTER_UNFINISHED
        case _:
            assert_never(finished)
