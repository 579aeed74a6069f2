from __future__ import annotations

import ctypes
import io
import os
import sys
from contextlib import closing
from pathlib import Path

import pytest
from rich.console import Console

from edgevox.app.service_unit import LOG_FILE_NAME, LogFile
from edgevox.cli.assistant import ready_lines
from edgevox.cli.ui.native_messages import native_messages_to
from edgevox.cli.ui.voice_view import LiveView, PlainView
from edgevox.config import Settings
from edgevox.core.events import (
    AnswerHeard,
    AttentionChanged,
    BuiltinCommandRun,
    ConfirmationDecided,
    ConfirmationRequired,
    Event,
    PlaybackFinished,
    PlaybackStarted,
    RingEnded,
    RingStarted,
    RingTrouble,
    SpeechDropped,
    TranscriptReady,
    TurnEnded,
    TurnStarted,
)

QUESTION = ConfirmationRequired(turn_id="t", token="x", name="unlock", question="Unlock it?", level="voice")
RING = RingStarted(ring_id="a", kind="alarm", text="It is half past six.")


class Screen:
    """What a person reads of some events: answers left, remarks right."""

    def __init__(self) -> None:
        self.out, self.err = io.StringIO(), io.StringIO()
        self.consoles = Console(file=self.out, width=100), Console(file=self.err, width=100)

    def shows(self, *events: Event) -> tuple[list[str], list[str]]:
        view = PlainView(*self.consoles, lambda: None)
        for event in events:
            view(event)
        return self.out.getvalue().splitlines(), self.err.getvalue().splitlines()


def test_a_question_and_its_answer_are_shown() -> None:
    lines, remarks = Screen().shows(
        TranscriptReady(turn_id="t", text="unlock it", language="en"),
        QUESTION,
        AnswerHeard(turn_id="t", token="x", text="Well.", answer="unclear"),
        ConfirmationDecided(turn_id="t", token="x", granted=False, why="the answer was not a clear yes"),
        TurnEnded(turn_id="t", outcome="answered", reply="It stays locked."),
    )
    assert lines == ["you › unlock it", "edgevox › Unlock it? (yes or no)", "you › Well.", "edgevox › It stays locked."]
    assert remarks == ["(not done: the answer was not a clear yes)"]


def test_a_stop_is_shown_once_whether_it_is_a_turn_or_ends_one() -> None:
    stop = BuiltinCommandRun(turn_id="t", word="stop", text="Stop.")
    ended = TurnEnded(turn_id="t", outcome="cancelled")
    story = TranscriptReady(turn_id="t", text="tell me a story", language="en")
    assert Screen().shows(story, stop, ended) == (["you › tell me a story", "you › Stop."], ["(stopped)"])
    alone = TranscriptReady(turn_id="t", text="Stop.", language="en")
    let_go = TurnEnded(turn_id="t", outcome="dropped", error="there was nothing to stop")
    assert Screen().shows(alone, stop, let_go) == (["you › Stop."], ["(dropped: there was nothing to stop)"])


@pytest.mark.parametrize(
    ("events", "state"),
    [
        ([QUESTION], "yes or no?"),
        ([QUESTION, PlaybackStarted(turn_id="t")], "speaking"),
        ([QUESTION, PlaybackStarted(turn_id="t"), PlaybackFinished(turn_id="t")], "yes or no?"),
        ([QUESTION, ConfirmationDecided(turn_id="t", token="x", granted=True, why="")], "working"),
        ([PlaybackStarted(turn_id="t"), PlaybackFinished(turn_id="t")], "speaking"),
        ([RING, TurnEnded(turn_id="t", outcome="answered", reply="It is noon.")], "ringing"),
        ([RING, RingEnded(ring_id="a", kind="alarm", how="stopped")], "listening"),
        ([AttentionChanged(attention="asleep")], "asleep"),
        ([AttentionChanged(attention="asleep"), SpeechDropped(reason="not spoken to me")], "asleep"),
        ([AttentionChanged(attention="asleep"), AttentionChanged(attention="awake")], "listening"),
        ([PlaybackStarted(turn_id="t"), AttentionChanged(attention="muted")], "speaking"),
    ],
)
def test_the_live_line_says_what_is_going_on(events: list[Event], state: str) -> None:
    screen = Screen()
    view = LiveView(*screen.consoles, lambda: None, lambda: -40.0)
    for event in events:
        view(event)
    screen.consoles[1].print(view._status())
    assert state in screen.err.getvalue().splitlines()[-1]


def test_a_line_of_the_conversation_does_not_run_into_the_live_line() -> None:
    terminal = io.StringIO()
    out, err = (Console(file=terminal, force_terminal=True, width=80, color_system=None) for _ in range(2))
    view = LiveView(out, err, lambda: None, lambda: -40.0)
    with view.showing():
        for text in ("Hello.", "What time is it?"):
            view(TranscriptReady(turn_id="t", text=text, language="en"))
    before, _, _ = terminal.getvalue().partition("you › What time is it?")
    assert "Ctrl-C" in before
    assert before.endswith("\r\x1b[2K")  # the live line is erased first


def test_messages_of_alsa_go_to_the_log_and_not_to_the_screen(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    underrun = b"ALSA lib pcm.c:8570:(snd_pcm_recover) underrun occurred"
    monkeypatch.setattr(sys, "stderr", sys.__stderr__)
    with closing(LogFile(tmp_path)) as log, native_messages_to(log):
        ctypes.CDLL(None).perror(underrun)  # a library of C writes to descriptor 2
        print("○ listening", file=sys.stderr)
    os.write(2, b"the end")
    assert capfd.readouterr().err == "○ listening\nthe end"
    assert underrun.decode() in (tmp_path / LOG_FILE_NAME).read_text()


def test_what_rings_is_one_line_and_its_end_another() -> None:
    lines, remarks = Screen().shows(
        RingStarted(ring_id="a", kind="timer", text="The [pasta] timer is done."),
        RingEnded(ring_id="a", kind="timer", how="snoozed", snoozed_minutes=9),
        RingStarted(ring_id="b", kind="alarm", text="It is half past six."),
        RingEnded(ring_id="b", kind="alarm", how="given_up", error="unplugged"),
        RingTrouble(error="the disk is gone", hint="put it back"),
    )
    assert lines == ["timer › The [pasta] timer is done.", "alarm › It is half past six."]
    assert remarks == [
        "(the timer rings again in 9 min)",
        "(the alarm ended unacknowledged without sound: unplugged)",
        "edgevox: the disk is gone",
        "  → put it back",
    ]


def test_what_a_timer_does_is_not_shown_as_said_by_somebody() -> None:
    lines, _ = Screen().shows(
        TurnStarted(turn_id="t", source="timer", preset="p"),
        TranscriptReady(turn_id="t", text="turn off the lamp", language=""),
        TurnEnded(turn_id="t", outcome="answered", reply="The lamp is off."),
    )
    assert lines == ["timer › turn off the lamp", "edgevox › The lamp is off."]


def test_a_word_that_stops_a_ring_has_no_answer_to_show() -> None:
    lines, _ = Screen().shows(
        TranscriptReady(turn_id="t", text="Stop.", language="en"),
        BuiltinCommandRun(turn_id="t", word="stop", text="Stop."),
        TurnEnded(turn_id="t", outcome="answered", reply=""),
    )
    assert lines == ["you › Stop."]


def test_of_an_interrupted_reply_what_was_heard_is_shown() -> None:
    lines, remarks = Screen().shows(
        TranscriptReady(turn_id="t", text="Tell me a story.", language="en"),
        TurnEnded(turn_id="t", outcome="interrupted", reply="Once upon a…"),
        TranscriptReady(turn_id="u", text="A shorter one.", language="en"),
        TurnEnded(turn_id="u", outcome="interrupted", reply=""),
    )
    assert lines == ["you › Tell me a story.", "edgevox › Once upon a…", "you › A shorter one."]
    assert remarks == []


@pytest.mark.parametrize(
    ("wake", "opening"),
    [
        ({"mode": "off"}, "say "),
        ({"mode": "word"}, 'say "okay nabu", then '),
        ({"mode": "phrase", "phrase": "house"}, 'say "house", then '),
    ],
)
def test_the_start_names_model_microphone_and_what_to_say(wake: dict[str, str], opening: str) -> None:
    listening, example = ready_lines(Settings.model_validate({"wake": wake}), "home", "Desk microphone")
    assert listening == "listening with home on Desk microphone"
    assert example.strip().lower() == f'{opening}"turn on the kitchen light."'
