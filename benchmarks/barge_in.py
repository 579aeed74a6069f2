"""Barge-in at random moments of a reply: `python -m benchmarks.barge_in`.

On PulseAudio's null sinks, in real time, with the echo as loud as the reply is played. The real echo
canceller, recogniser and voice, and a scripted model that tells a story. Measured are missed barge-ins, the
time to silence, and whether the history holds what was spoken and no more. Each story follows a short
undisturbed exchange, in which the canceller adapts to the room.

With `--backchannels` a listener says "mhm" or "right" instead, and what is counted are the stories that stop.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import re
import statistics
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from difflib import SequenceMatcher
from pathlib import Path

import numpy as np

from benchmarks.hardware import describe
from benchmarks.speech_test_set import SpeechCache, Utterance, recorded, spoken_by_espeak, trimmed
from edgevox.audio.files import write_wav
from edgevox.core.events import PlaybackStarted, SpeechStarted, TranscriptReady, TurnEnded
from edgevox.core.files import user_folders
from edgevox.core.turn import CancelFlag, Turn
from edgevox.core.types import Audio, SttService, SynthesisRequest, TtsService
from edgevox.engines import SupervisedEngine
from edgevox.models import open_store
from edgevox.stt.whisper import WhisperEngine
from edgevox.testing import NullSinks
from edgevox.tts.kokoro import KokoroEngine
from edgevox.tts.piper import PiperEngine
from tests.dialogue.echo_conversation import EchoConversation, echo_conversation, echo_sinks

STORY = (
    "Once upon a time there was a miller who had three sons and a cat. He was old and tired, and so he gave "
    "the mill to the eldest, the donkey to the second, and the cat to the youngest. The youngest was sad "
    "about it, for what can anybody do with a cat? But the cat said that it wanted a pair of boots, and then "
    "all would be well. So he spent his last coins on a pair of fine red boots, and the cat put them on and "
    "walked out into the world."
)
_BACKCHANNELS = ("Mm-hmm.", "Uh-huh.", "Right.", "Okay.", "Yeah.", "I see.", "Wow.", "Oh, nice.")
_LISTENER_PITCHES_SEMITONES = (-6.0, -3.0, 0.0, 2.0)
_GREETING = "Good morning. It is half past seven, and the sun is shining."
_REPLY = "All right."
_LATEST_S = 5.0
_GIVE_UP_S = 20.0
_GOES_ON_S = 6.0
_PERSON_DBFS = -23.0
_SILENT_WITHIN_S = 0.15
_LEAST_LIKENESS = 0.6


@dataclass(frozen=True, slots=True)
class BargeIn:
    """What became of one interruption."""

    said: str
    voice: str
    moment_s: float
    """How long it had been speaking."""
    noticed_s: float | None
    """From the person's first audible sample to the event that tells of it, with the time that it takes to
    play a file; None where that came only after the reply had ended."""
    silent_s: float | None
    """From that event to the last sample of the reply that is not silence, in the air; before it is negative."""
    quiet_s: float | None
    """From the person's first audible sample to the same."""
    outcome: str
    heard: str
    is_history_true: bool

    @property
    def is_noticed(self) -> bool:
        # Not by the outcome: what nobody noticed is interrupted by the benchmark in the end.
        return self.noticed_s is not None

    @property
    def is_heard(self) -> bool:
        return bool(self.heard)

    @property
    def likeness(self) -> float:
        return SequenceMatcher(None, _letters(self.said), _letters(self.heard), autojunk=False).ratio()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--speech", type=Path, help="folder with home-commands/*.wav")
    parser.add_argument("--backchannels", action="store_true", help="somebody listens, and says so")
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    people = _listeners() if args.backchannels else _people(args.speech)
    give_up_s = _GOES_ON_S if args.backchannels else _GIVE_UP_S
    rows = asyncio.run(_interrupt(args.times, random.Random(args.seed), people, give_up_s))
    report = summary(rows)
    print(json.dumps(report, indent=1))
    if args.json:
        args.json.write_text(
            json.dumps({"hardware": describe(), **report, "rows": [asdict(row) for row in rows]}, indent=1) + "\n"
        )


def summary(rows: Sequence[BargeIn]) -> dict[str, object]:
    noticed = sorted(row.noticed_s for row in rows if row.noticed_s is not None)
    silent = sorted(row.silent_s for row in rows if row.silent_s is not None)
    return {
        "interruptions": len(rows),
        "not noticed": sum(not row.is_noticed for row in rows),
        "noticed, nothing understood": sum(row.is_noticed and not row.is_heard for row in rows),
        "understood (letters alike by 0.6)": sum(row.likeness >= _LEAST_LIKENESS for row in rows),
        "history wrong": sum(not row.is_history_true for row in rows),
        "not silent within 150 ms": sum(each > _SILENT_WITHIN_S for each in silent),
        "silent after, ms": _spread_ms(silent),
        "silent after the first sound, ms": _spread_ms(sorted(row.quiet_s for row in rows if row.quiet_s is not None)),
        "noticed after, ms": _spread_ms(noticed),
    }


def _spread_ms(seconds: Sequence[float]) -> dict[str, float]:
    if not seconds:
        return {}
    last = len(seconds) - 1
    return {
        "median": round(1000 * statistics.median(seconds)),
        "p95": round(1000 * seconds[round(0.95 * last)]),
        "max": round(1000 * seconds[-1]),
    }


async def _interrupt(times: int, chance: random.Random, people: Sequence[Utterance], give_up_s: float) -> list[BargeIn]:
    store = open_store(user_folders())
    recogniser = WhisperEngine(store.path("whisper-base"), language="en", adapter=store.path("edgevox-hearing-base"))
    whisper = SupervisedEngine("stt", recogniser)
    piper = SupervisedEngine("tts", PiperEngine(store.path("piper-en_US-joe-medium")))
    rows = []
    await asyncio.gather(whisper.start(), piper.start())
    try:
        with echo_sinks() as room, tempfile.TemporaryDirectory() as folder:
            for number in range(times):
                person, moment_s = chance.choice(people), chance.uniform(0.0, _LATEST_S)
                row = await barge_in(room, whisper, piper, person, moment_s, Path(folder) / "person.wav", give_up_s)
                rows.append(row)
                print(f"{number + 1:3} {row}", flush=True)
    finally:
        await asyncio.gather(whisper.close(), piper.close())
    return rows


def _people(speech: Path | None) -> list[Utterance]:
    spoken = [each for each in spoken_by_espeak(SpeechCache()) if each.text and len(each.text.split()) > 2]
    real = [each for each in recorded(speech) if each.text] if speech else []
    # As many real people as made ones.
    return spoken + real * (len(spoken) // len(real) if real else 0)


def _listeners() -> list[Utterance]:
    """The default voice, lower and higher."""
    path = open_store(user_folders()).path("hibari-en_US-heart")
    listeners = []
    for semitones in _LISTENER_PITCHES_SEMITONES:
        engine = KokoroEngine(path, pitch_semitones=semitones)
        engine.load()
        for said in _BACKCHANNELS:
            sound = Audio.joined(list(engine.run(SynthesisRequest(said), CancelFlag())))
            listeners.append(Utterance(f"hibari {semitones:+.0f}", said, sound))
    return listeners


async def barge_in(
    room: NullSinks,
    stt: SttService,
    synthesizer: TtsService,
    person: Utterance,
    moment_s: float,
    wav: Path,
    give_up_s: float = _GIVE_UP_S,
) -> BargeIn:
    """Let a person speak over the story."""
    sound = trimmed(person.audio)
    sound = sound * np.float32(10 ** (_PERSON_DBFS / 20) / np.sqrt(np.mean(sound**2)))
    write_wav(wav, [Audio(sound, person.audio.rate_hz)])
    async with echo_conversation(stt, synthesizer, [_GREETING, STORY, _REPLY]) as talk:
        await talk.pipeline.answer("Good morning.", Turn())
        talk.events.clear()
        telling = asyncio.create_task(talk.pipeline.answer("Tell me a story.", Turn()))
        await talk.until(PlaybackStarted)
        await asyncio.sleep(moment_s)
        spoke_s = time.monotonic()
        speaking = asyncio.create_task(asyncio.to_thread(room.speak, wav))
        silent_s = noticed_s = quiet_s = None
        try:
            async with asyncio.timeout(give_up_s):
                await talk.until(TurnEnded)
                if talk.of(SpeechStarted):
                    stopped_s = talk.of(SpeechStarted)[0].at_s
                    noticed_s, silent_s = stopped_s - spoke_s, talk.audible_until_s - stopped_s
                    quiet_s = talk.audible_until_s - spoke_s
                await talk.until(TurnEnded, 2)
        except TimeoutError:
            pass
        await speaking
        talk.pipeline.interrupt()
        await asyncio.gather(telling, return_exceptions=True)
        return _told(talk, person, moment_s, noticed_s, silent_s, quiet_s)


def _told(
    talk: EchoConversation,
    person: Utterance,
    moment_s: float,
    noticed_s: float | None,
    silent_s: float | None,
    quiet_s: float | None,
) -> BargeIn:
    ends = [event for event in talk.events if isinstance(event, TurnEnded)]
    heard = [event.text for event in talk.events if isinstance(event, TranscriptReady)][1:]
    kept = [message.content for message in talk.conversation.messages() if message.role == "assistant"]
    told = kept[1].rstrip("… ") if len(kept) > 1 else ""
    return BargeIn(
        said=person.text or "",
        voice=person.source,
        moment_s=round(moment_s, 2),
        noticed_s=noticed_s,
        silent_s=silent_s,
        quiet_s=quiet_s,
        outcome=ends[0].outcome if ends else "",
        heard=heard[0] if heard else "",
        is_history_true=STORY.startswith(told) and len(told) < len(STORY),
    )


def _letters(text: str) -> str:
    return re.sub(r"[^a-z]", "", text.lower())


if __name__ == "__main__":
    main()
