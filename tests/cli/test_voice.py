"""The whole assistant on a real audio device: spoken to through PulseAudio, and listened to."""

from __future__ import annotations

import json
import os
import queue
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from difflib import SequenceMatcher
from pathlib import Path
from typing import IO

import pytest

from edgevox.testing import NullSinks
from tests.cli.command import BOUND_S, edgevox, environment

pytestmark = [pytest.mark.engine, pytest.mark.audio_device]

QUESTIONS = ("What is the capital of France?", "How many days are there in a week?", "What do bees make?")


@pytest.fixture(autouse=True)
def _models(smollm2_path: Path, piper_voice_path: Path, whisper_base_dir: Path) -> None:
    """The default models are there."""


class Lines:
    """The lines of a running process, each waited for with a bound."""

    def __init__(self, stream: IO[str]) -> None:
        self._lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        threading.Thread(target=self._read, args=(stream,), daemon=True).start()

    def _read(self, stream: IO[str]) -> None:
        for line in stream:
            self._lines.put(line.rstrip("\n"))

    def until(self, beginning: str, *, within_s: float = BOUND_S) -> str:
        """The rest of the next line with this beginning. Raises queue.Empty when none comes in time."""
        while not (line := self._lines.get(timeout=within_s)).startswith(beginning):
            pass
        return line.removeprefix(beginning).strip()


@contextmanager
def assistant(env: dict[str, str]) -> Iterator[tuple[Lines, Lines]]:
    with subprocess.Popen(
        [sys.executable, "-m", "edgevox", "run", "--plain"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=env,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        try:
            yield Lines(process.stdout), Lines(process.stderr)
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(BOUND_S)


def words(text: str) -> set[str]:
    return set(re.findall(r"[a-z]{3,}", text.lower()))


def letters(text: str) -> str:
    return re.sub(r"[^a-z]", "", text.lower())


def test_spoken_questions_get_spoken_answers(tmp_path: Path, write_speech: Callable[[str, Path], None]) -> None:
    with NullSinks() as room:
        env = environment(tmp_path, EDGEVOX_LLM__MAX_TOKENS="40", EDGEVOX_LLM__TEMPERATURE="0") | room.environment
        recordings: list[tuple[str, str, Path]] = []
        for number, question in enumerate(QUESTIONS):
            write_speech(question, tmp_path / f"question{number}.wav")
        with assistant(env) as (out, err):
            err.until("listening")
            for number in range(len(QUESTIONS)):
                answer_wav = tmp_path / f"answer{number}.wav"
                with room.record(answer_wav):
                    room.speak(tmp_path / f"question{number}.wav")
                    heard = out.until("you ›")
                    reply = out.until("edgevox ›")
                recordings.append((heard, reply, answer_wav))
    said, understood = "", ""
    for question, (heard, reply, answer_wav) in zip(QUESTIONS, recordings, strict=True):
        assert len(words(heard) & words(question)) >= len(words(question)) - 1
        transcript = json.loads(edgevox("transcribe", "--json", answer_wav, env=env).stdout)["text"]
        said += letters(reply)
        understood += letters(transcript)
    # The voice and the recogniser disagree on a word of a short answer now and then, so letters are compared:
    # a recording that misses the end of its answers, or holds others, shares fewer than half of them.
    assert SequenceMatcher(None, said, understood, autojunk=False).ratio() > 0.6, (said, understood)
    records = [json.loads(line) for line in (tmp_path / "state" / "turns.jsonl").read_text().splitlines()]
    answered = [record for record in records if record["outcome"] == "answered"]
    assert len(answered) == len(QUESTIONS)
    assert all(record["dropped_samples"] == 0 for record in answered)


def test_the_same_loop_runs_on_files(tmp_path: Path, write_speech: Callable[[str, Path], None]) -> None:
    env = environment(tmp_path, EDGEVOX_LLM__MAX_TOKENS="40")
    question, answer = tmp_path / "question.wav", tmp_path / "answer.wav"
    write_speech(QUESTIONS[0], question)
    result = edgevox("run", "--input", question, "--output", answer, env=env)
    assert result.returncode == 0
    assert "you ›" in result.stdout
    assert answer.stat().st_size > 20_000


def test_demo_shows_the_whole_loop(tmp_path: Path) -> None:
    result = edgevox("demo", env=environment(tmp_path))
    assert result.returncode == 0
    for part in ("heard", "answered", "endpoint", "transcribe", "first token", "first audio", "total"):
        assert part in result.stdout


def test_a_microphone_that_is_not_there_is_named(tmp_path: Path) -> None:
    with Path(os.devnull).open() as nothing:
        result = subprocess.run(
            [sys.executable, "-m", "edgevox", "run", "--no-speech", "--mic", "No Such Microphone"],
            stdin=nothing,
            capture_output=True,
            text=True,
            env=environment(tmp_path),
            timeout=BOUND_S,
            check=False,
        )
    assert result.returncode == 4
    assert "microphone" in result.stderr
    assert "→" in result.stderr
    assert "Traceback" not in result.stderr
