"""What is typed beside a conversation: answers, and words that act at once."""

from __future__ import annotations

import asyncio
import json
import os
import pty
import subprocess
import sys
import time
from pathlib import Path

import pytest

from edgevox.agents import LLMAgent
from edgevox.agents.tool_loop import Agreement
from edgevox.cli.ui.keyboard import Keyboard, keyboard
from edgevox.core.events import BuiltinCommandRun, Event, ModelStarted
from edgevox.core.turn import Turn
from edgevox.core.types import ToolCall
from edgevox.dialogue import AlarmState, BuiltinCommands, ConfirmationDialog, Pipeline
from edgevox.home import DueAlarm
from edgevox.tools.calls import resolve_call
from edgevox.tools.policy import LOCAL, USER_SAID_NO, PendingConfirmation
from tests.cli.command import BOUND_S, environment
from tests.dialogue.stage import Ponderer


class Desk:
    """A conversation with a keyboard beside it."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self.events: list[Event] = []
        self.has_begun = asyncio.Event()
        self.confirmation = ConfirmationDialog(self.note, channels=frozenset({"keyboard"}))
        agent = LLMAgent("test", model=Ponderer(), confirm=self.confirmation, publish=self.note)
        self.pipeline = Pipeline(
            agent,
            preset="p",
            publish=self.note,
            confirmation=self.confirmation,
            words=BuiltinCommands(),
            alarm_state=AlarmState(snooze_minutes=9),
        )
        self.keyboard = Keyboard(self.pipeline, self.told.append)

    def note(self, event: Event) -> None:
        self.events.append(event)
        if isinstance(event, ModelStarted):
            self.has_begun.set()

    async def answered(self, *lines: str) -> Agreement:
        """What comes of a question when these lines are typed, then the end of the input."""
        pending = PendingConfirmation(
            token="token",
            resolved=resolve_call(ToolCall("1", "unlock", "{}"), None),
            question="Unlock?",
            level="screen",
            origin=LOCAL,
            turn_id="turn",
            expires_s=time.monotonic() + BOUND_S,
        )
        confirmation = asyncio.create_task(self._ask(pending))
        await asyncio.sleep(0)
        for line in lines:
            assert self.keyboard.handle(line)
        self.keyboard.end()
        async with asyncio.timeout(BOUND_S):
            return await confirmation

    async def _ask(self, pending: PendingConfirmation) -> Agreement:
        return await self.confirmation(pending, Turn())


@pytest.mark.parametrize("line", ["y", "Y", "yes", "Yes, please"])
async def test_a_typed_yes_is_one_even_where_a_spoken_one_is_not(line: str) -> None:
    agreement = await Desk().answered(line)
    assert (agreement.granted, agreement.channel) == (True, "keyboard")


@pytest.mark.parametrize("line", ["n", "no", "stop"])
async def test_a_typed_no_is_no(line: str) -> None:
    agreement = await Desk().answered(line)
    assert (agreement.granted, agreement.why) == (False, USER_SAID_NO)


async def test_what_is_neither_is_asked_for_again() -> None:
    desk = Desk()
    agreement = await desk.answered("what?", "y")
    assert desk.told == ["yes or no?"]
    assert agreement.granted


async def test_an_okay_for_what_rings_is_no_answer() -> None:
    desk = Desk()
    assert desk.pipeline.alarm_state is not None
    desk.pipeline.alarm_state.ring([DueAlarm("1", "timer", "", 0.0)])
    agreement = await desk.answered("okay", "n")
    assert not agreement.granted
    assert not desk.pipeline.alarm_state.is_ringing


async def test_the_end_of_the_input_is_no() -> None:
    agreement = await Desk().answered()
    assert (agreement.granted, agreement.why) == (False, "the input ended")


async def test_stop_ends_the_turn_that_is_under_way_and_other_lines_wait() -> None:
    desk = Desk()
    assert not desk.keyboard.handle("stop"), "there is nothing to stop: it is a turn of its own"
    answering = asyncio.create_task(desk.pipeline.answer("tell me a story", Turn()))
    async with asyncio.timeout(BOUND_S):
        await desk.has_begun.wait()
        assert not desk.keyboard.handle("and then?")
        assert not desk.keyboard.handle("help"), "it waits for its turn: it cannot be said over the answer"
        assert desk.keyboard.handle("stop")
        result = await answering
    assert result.finish_reason == "cancelled"
    assert [event.word for event in desk.events if isinstance(event, BuiltinCommandRun)] == ["stop"]


async def test_enter_alone_is_a_key_and_no_line(monkeypatch: pytest.MonkeyPatch) -> None:
    person, terminal = pty.openpty()
    lines: asyncio.Queue[str | None] = asyncio.Queue()
    entered: list[bool] = []
    desk = Desk()
    with os.fdopen(terminal) as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        async with (
            asyncio.timeout(BOUND_S),
            keyboard(desk.pipeline, desk.told.append, lines.put_nowait, on_enter=lambda: entered.append(True)),
        ):
            os.write(person, b"\n  \nhello\n\x04")
            assert [await lines.get(), await lines.get()] == ["hello", None]
    os.close(person)
    assert len(entered) == 2


@pytest.mark.engine
def test_a_typed_stop_ends_a_long_answer(tmp_path: Path, smollm2_path: Path) -> None:
    person, terminal = pty.openpty()
    env = environment(tmp_path, EDGEVOX_LLM__MAX_TOKENS="2000")
    with subprocess.Popen(
        [sys.executable, "-m", "edgevox", "run", "--text", "--no-speech"],
        stdin=terminal,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=env,
    ) as process:
        assert process.stdout is not None
        os.write(person, b"Write a very long story about a fox, with many chapters.\n")
        assert process.stdout.read(1), "the answer has begun"
        os.write(person, b"stop\n")
        os.write(person, b"help\n")
        os.write(person, b"\x04")
        process.communicate(timeout=BOUND_S)
    os.close(person)
    os.close(terminal)
    records = [json.loads(line) for line in (tmp_path / "state" / "turns.jsonl").read_text().splitlines()]
    assert [(record["outcome"], record["instant_word"]) for record in records] == [
        ("cancelled", "stop"),
        ("answered", "help"),
    ]
