"""The canceller between a real loudspeaker and a real microphone that hears it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing

import numpy as np
import pytest

from edgevox.audio.aec.canceller import EchoLevel
from edgevox.audio.io.duplex import cancel_echo
from edgevox.audio.io.microphone import Microphone, Opener
from edgevox.audio.io.recorder import open_recorder
from edgevox.audio.io.speaker import Speaker
from edgevox.audio.io.streams import open_stream
from edgevox.core.turn import CancelFlag
from edgevox.core.types import Audio
from edgevox.testing import NullSinks
from tests.audio.echo_room import talking

pytestmark = pytest.mark.audio_device

BOUND_S = 30.0
REPLY_S = 5.0


@pytest.fixture
def echo_sinks(room: NullSinks) -> Iterator[NullSinks]:
    """A room in which the microphone hears the loudspeaker, as loud as it is."""
    with room.echo():
        yield room


async def reply() -> AsyncIterator[Audio]:
    for piece in np.array_split(talking(REPLY_S, seed=1, rate_hz=22_050), 4):
        yield Audio(piece, 22_050)


async def levels_of_a_reply(microphone: Microphone, speaker: Speaker) -> list[EchoLevel]:
    """What the canceller says of every block in which the reply could be heard."""
    assert microphone.canceller is not None
    levels = []
    async with asyncio.timeout(BOUND_S), aclosing(microphone.frames()) as frames:
        playing = asyncio.create_task(speaker.play(reply(), CancelFlag()))
        async for _ in frames:
            if level := microphone.canceller.level:
                levels.append(level)
            elif playing.done():
                break
        await playing
    return levels


@pytest.mark.parametrize("opened_by", [open_stream, open_recorder], ids=["here", "in a process of its own"])
async def test_the_assistant_does_not_hear_itself(echo_sinks: NullSinks, opened_by: Opener) -> None:
    speaker, microphone = Speaker(lead_in_ms=200), Microphone(opened_by=opened_by)
    cancel_echo("on", microphone, speaker)
    async with microphone:
        levels = await levels_of_a_reply(microphone, speaker)
    # Not all at every moment: a device of a busy machine loses sound now and then, and it is learnt anew.
    later = [level for level in levels[2 * 50 :] if level.heard_dbfs > -50]
    assert np.median([level.heard_dbfs for level in later]) > -40
    assert np.median([level.heard_dbfs - level.residual_dbfs for level in later]) > 20
    assert np.mean([level.has_near_end_sound for level in later]) < 0.05
