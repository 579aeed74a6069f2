"""First audio through a browser, beside that of the room, in the air: `python -m benchmarks.browser_audio`.

One `edgevox run` that serves the page, and a Chromium that has it open, each with a microphone and a
loudspeaker of its own (PulseAudio's null sinks). Both are asked the same, one after the other. What goes into
the microphone and what comes out of the loudspeaker is recorded, so that sound devices, the browser's
processing, its buffers and the socket are all in the figure: from the last audible sample of what is said to
the first audible sample of the answer. The browser computes on the same cores, which slows down both: the
room is also asked before it comes.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.audio_onset import AUDIBLE
from benchmarks.command_turns import COMMANDS
from benchmarks.first_audio import BREATH_S, QUESTIONS, QUIET_BEFORE_S, WARM_UP, arguments, show
from benchmarks.hardware import describe
from benchmarks.speech_test_set import trimmed
from edgevox.audio.files import write_wav
from edgevox.core.files import user_folders
from edgevox.core.types import SAMPLE_RATE_HZ, Audio
from edgevox.engines import SupervisedEngine
from edgevox.eval.synthetic_speech import AssistantVoice
from edgevox.models import open_store
from edgevox.testing import NullSinks
from edgevox.tts.piper import PiperEngine
from tests.server.web.browser import TOKEN, ServedAssistant, open_browser

BAR_S = 0.15
_ANSWERED_WITHIN_S = 30.0
_SILENT_FOR_S = 1.0
_LOOK_EVERY_S = 0.05
_SETTINGS = {
    "EDGEVOX_SERVER__ENABLED": "true",
    # The tone that confirms an utterance is no answer.
    "EDGEVOX_SOUNDS__CHIMES": "false",
    "EDGEVOX_SOUNDS__ACKNOWLEDGE_AFTER_S": "0",
}


class Ear:
    """Hears all that a sink plays, and knows when."""

    def __init__(self, room: NullSinks, sink: str) -> None:
        command = ["parec", f"--device={sink}.monitor", "--raw", "--latency-msec=10"]
        command += ["--format=s16le", "--channels=1", f"--rate={SAMPLE_RATE_HZ}"]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, env=os.environ | room.environment, bufsize=0)
        self._heard = bytearray()
        self._began_s = float("inf")
        """When the first sample sounded: whatever comes late was delayed on its way here."""
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._process.terminate()
        self._process.wait()
        self._thread.join()

    def audible_s(self, since_s: float) -> tuple[float, float] | None:
        """The first and the last audible moment since another."""
        skipped = max(0, round((since_s - self._began_s) * SAMPLE_RATE_HZ))
        loud = np.flatnonzero(np.abs(self._samples_behind(skipped)) > AUDIBLE)
        if not len(loud):
            return None
        first, last = (self._began_s + (skipped + at) / SAMPLE_RATE_HZ for at in (loud[0], loud[-1]))
        return float(first), float(last)

    def _samples_behind(self, skipped: int) -> NDArray[np.float32]:
        # No more than that: it is looked at while an answer is being made, on the same cores.
        heard = bytes(self._heard[2 * skipped : len(self._heard) // 2 * 2])
        return np.frombuffer(heard, "<i2").astype(np.float32) / np.float32(32_768)

    def _listen(self) -> None:
        assert self._process.stdout is not None
        while chunk := self._process.stdout.read(2 * SAMPLE_RATE_HZ // 100):
            self._heard += chunk
            self._began_s = min(self._began_s, time.monotonic() - len(self._heard) / 2 / SAMPLE_RATE_HZ)


@dataclass(frozen=True, slots=True)
class Place:
    """Where somebody speaks and is answered."""

    name: str
    room: NullSinks
    microphone_sink: str
    microphone: Ear
    loudspeaker: Ear

    def ask(self, said: str, wav: Path) -> float | None:
        """The seconds until the answer was heard; None where none was."""
        began_s = time.monotonic()
        self.room.speak(wav, sink=self.microphone_sink)
        asked = self.microphone.audible_s(began_s)
        assert asked is not None, "what was said was not heard"
        answered_s = self._answer_s(began_s)
        took_s = None if answered_s is None or answered_s < asked[1] else answered_s - asked[1]
        print(f"{said!r} {self.name}: {'no answer' if took_s is None else f'{took_s:.2f} s'}", flush=True)
        time.sleep(BREATH_S)
        return took_s

    def _answer_s(self, since_s: float) -> float | None:
        """When the answer began; returns when it is over."""
        give_up_s = time.monotonic() + _ANSWERED_WITHIN_S
        while time.monotonic() < give_up_s:
            time.sleep(_LOOK_EVERY_S)
            audible = self.loudspeaker.audible_s(since_s)
            if audible is not None and time.monotonic() - audible[1] > _SILENT_FOR_S:
                return audible[0]
        return None


def measure(folder: Path, texts: Sequence[str]) -> dict[str, object]:
    warm_up, *asked = zip((WARM_UP, *texts), asyncio.run(_spoken(folder, (WARM_UP, *texts))), strict=True)
    with NullSinks() as room, ExitStack() as stack:
        room.add_devices("browser")
        household = ServedAssistant(folder / "household", ("run", "--plain"), room.environment | _SETTINGS)
        stack.callback(household.end)
        household.start()
        here = stack.enter_context(_place("in the room", room, "micsink", "spk"))
        here.ask(*warm_up)
        alone_s = [here.ask(*each) for each in asked]
        devices = room.environment | {"PULSE_SINK": "browser_spk", "PULSE_SOURCE": "browser_mic"}
        visitor = stack.enter_context(open_browser(None, folder / "profile", devices))
        visitor.open(f"{household.url}/#token={TOKEN}")
        visitor.until_connected()
        visitor.one("#microphone").click()
        there = stack.enter_context(_place("in the browser", room, "browser_micsink", "browser_spk"))
        there.ask(*warm_up)
        rows = [(here.ask(*each), there.ask(*each)) for each in asked]
    here_s, browser_s = zip(*rows, strict=True)
    medians_s = {
        "here, no browser on this machine": _median_s(alone_s),
        "here": _median_s(here_s),
        "browser": _median_s(browser_s),
    }
    return {
        "hardware": describe(),
        "asked": len(rows),
        "not_answered": sum(each is None for each in (*alone_s, *here_s, *browser_s)),
        "medians_s": medians_s,
        "difference_of_medians_s": round(medians_s["browser"] - medians_s["here"], 3),
    }


def _median_s(times_s: Sequence[float | None]) -> float:
    return round(statistics.median(each for each in times_s if each is not None), 3)


@contextmanager
def _place(name: str, room: NullSinks, microphone_sink: str, speaker_sink: str) -> Iterator[Place]:
    microphone, loudspeaker = Ear(room, microphone_sink), Ear(room, speaker_sink)
    try:
        yield Place(name, room, microphone_sink, microphone, loudspeaker)
    finally:
        microphone.close()
        loudspeaker.close()


async def _spoken(folder: Path, texts: Sequence[str]) -> list[Path]:
    store = open_store(user_folders())
    engine = SupervisedEngine("tts", PiperEngine(store.path("piper-en_US-joe-medium")))
    await engine.start()
    paths = []
    try:
        voice = AssistantVoice(engine)
        for number, text in enumerate(texts):
            quiet = np.zeros(round(QUIET_BEFORE_S * SAMPLE_RATE_HZ), np.float32)
            samples = np.concatenate((quiet, trimmed(await voice.synthesize(text, 1.0))))
            paths.append(folder / f"{number}.wav")
            write_wav(paths[-1], [Audio(samples, SAMPLE_RATE_HZ)])
    finally:
        await engine.close()
    return paths


def main() -> None:
    args = arguments("First audio in the room and through a browser.", questions=8, commands=8).parse_args()
    texts = (*QUESTIONS[: args.questions], *COMMANDS[: args.commands])
    with tempfile.TemporaryDirectory() as scratch:
        result = measure(Path(scratch), texts)
    show(result, f"bar for the difference of the medians: {BAR_S} s", args.json)


if __name__ == "__main__":
    main()
