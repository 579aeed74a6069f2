"""`edgevox serve` has no sound device: its timers end for its clients, and its delayed commands run."""

from __future__ import annotations

import asyncio
import io
import json
import re
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from types import SimpleNamespace
from typing import Any

import aiohttp
import pytest
from rich.console import Console
from wyoming.asr import Transcript
from wyoming.client import AsyncTcpClient
from wyoming.handle import Handled

from edgevox.app.http_server import run_server_only
from edgevox.app.runtime import AssistantRuntime
from edgevox.config import load_settings
from edgevox.core.events import Event, RingEnded, RingStarted, TurnEnded
from edgevox.core.files import Folders
from edgevox.home import DemoHome, Timers
from edgevox.home.alarms.timers import TIMERS_FILE
from edgevox.models import ModelStore, load_manifest
from edgevox.server.http.tokens import page_token, token_file
from tests.app.harness import BOUND_S, Model

COFFEE_ON = '[turn_on(name="coffee machine")]'
COFFEE_OFF = '[turn_off(name="coffee machine")]'
MORNING_S = datetime(2026, 3, 2, 8, 0).timestamp()  # noqa: DTZ001 - local time, as "noon" is
UNLOCK = '[turn_off(name="front door", domain="lock")]'


@dataclass
class Server:
    """A served runtime with a scripted model, and a client of it."""

    runtime: AssistantRuntime
    http: aiohttp.ClientSession
    events: list[Event]
    news: asyncio.Event
    console: Console

    async def say_over_wyoming(self, text: str) -> str:
        """One sentence of a conversation in Home Assistant, on a connection of its own."""
        assert isinstance(self.console.file, io.StringIO)
        (port,) = re.findall(r"Wyoming at tcp://127.0.0.1:(\d+)", self.console.file.getvalue())
        async with AsyncTcpClient("127.0.0.1", int(port)) as client:
            await client.write_event(Transcript(text, context={"conversation_id": "one"}).event())
            while (event := await client.read_event()) is not None:
                if Handled.is_type(event.type):
                    return Handled.from_event(event).text or ""
        return ""

    async def call(self, tool: str, **arguments: Any) -> str:
        async with self.http.post("/v1/tools/call", json={"name": tool, "arguments": arguments}) as answer:
            return str((await answer.json())["speech"])

    async def say(self, text: str) -> str:
        body = {"model": "default", "messages": [{"role": "user", "content": text}]}
        async with self.http.post("/v1/chat/completions", json=body) as answer:
            return str((await answer.json())["choices"][0]["message"]["content"])

    async def state(self, entity_id: str) -> str:
        async with self.http.get("/v1/home") as answer:
            things = (await answer.json())["things"]
        return next(str(thing["state"]) for thing in things if thing["id"] == entity_id)

    async def until(self, kind: type[Event]) -> Any:
        """The first event of this kind."""
        while not (found := [event for event in self.events if isinstance(event, kind)]):
            self.news.clear()
            await self.news.wait()
        return found[0]


@asynccontextmanager
async def serving(folders: Folders, lines: Sequence[str] = (), **flags: object) -> AsyncIterator[Server]:
    server_flags = {f"server.{name}": value for name, value in flags.items()}
    settings = load_settings(folders, flags={"server.port": 0, **server_flags}, environ={})
    runtime = AssistantRuntime(settings, folders, ModelStore(folders.models, load_manifest()), ["llm"])
    vars(runtime.engines).update(llm=Model(lines))
    seen: list[Event] = []
    news = asyncio.Event()

    def note(event: Event) -> None:
        seen.append(event)
        news.set()

    async with asyncio.timeout(BOUND_S), runtime:
        with runtime.bus.listening(note):
            console = Console(file=io.StringIO())
            async with run_server_only(runtime, console) as url:
                headers = {"Authorization": f"Bearer {page_token(token_file(folders))}"}
                async with aiohttp.ClientSession(url, headers=headers) as http:
                    yield Server(runtime, http, seen, news, console)


async def test_a_delayed_command_runs_at_its_time(folders: Folders) -> None:
    async with serving(folders, [COFFEE_OFF]) as server:
        await server.call("turn_on", name="coffee machine")
        assert await server.state("switch.coffee_machine") == "on"
        await server.call("start_timer", seconds=1, conversation_command="turn off the coffee machine")
        assert (await server.until(TurnEnded)).reply == "The coffee machine is off."
        assert await server.state("switch.coffee_machine") == "off"


async def test_clients_get_the_end_of_a_timer_and_can_stop_it(folders: Folders) -> None:
    async with serving(folders) as server, server.http.ws_connect("/v1/voice") as socket:
        token = page_token(token_file(folders))
        await socket.send_json({"type": "hello", "version": 1, "token": token, "play_rate_hz": 24_000})
        await server.call("start_timer", seconds=1, name="pasta")
        frame: dict[str, Any] = {}
        while frame.get("type") != "ring":
            frame = await socket.receive_json()
        assert (frame["text"], frame["is_ringing"]) == ("The pasta timer is done.", True)
        await socket.send_json({"type": "text", "text": "stop"})
        assert (await server.until(RingEnded)).how == "stopped"


async def test_home_assistant_has_one_conversation_over_wyoming_and_its_timers_are_announced(folders: Folders) -> None:
    offer = {"wyoming": True, "wyoming_port": 0, "wyoming_scopes": ("read", "act", "confirm", "home.locks")}
    async with serving(folders, [COFFEE_ON, UNLOCK, "[start_timer(seconds=1)]"], **offer) as server:
        assert await server.say_over_wyoming("turn on the coffee machine") == "The coffee machine is on."
        assert await server.say_over_wyoming("turn it off again") == "The coffee machine is off."
        assert await server.say_over_wyoming("unlock the front door") == "Unlock the front door?"
        assert await server.state("lock.front_door") == "locked"
        assert await server.say_over_wyoming("yes") == "The front door is unlocked."
        await server.say_over_wyoming("set a timer for one second")
        await server.until(RingStarted)
        toolbox = server.runtime.home_context.toolbox
        assert toolbox is not None
        assert isinstance(toolbox.home, DemoHome)
        for _ in range(10):  # the announcement follows the event
            await asyncio.sleep(0)
        assert toolbox.home.announcements == ["The 1 second timer is done."]


async def test_a_timer_over_wyoming_that_cannot_ring_says_so(folders: Folders, monkeypatch: pytest.MonkeyPatch) -> None:
    async def problem(_home: DemoHome) -> str:
        return "This home is silent."

    monkeypatch.setattr(DemoHome, "announce_problem", problem)
    offer = {"wyoming": True, "wyoming_port": 0, "wyoming_scopes": ("read", "act")}
    async with serving(folders, ["[start_timer(minutes=5)]", COFFEE_ON], **offer) as server:
        said = await server.say_over_wyoming("set a timer for five minutes")
        assert said.endswith(" But it cannot ring: This home is silent.")
        assert await server.say_over_wyoming("turn on the coffee machine") == "The coffee machine is on."


async def test_a_delayed_command_that_needs_a_yes_is_refused_without_a_client_to_ask(folders: Folders) -> None:
    async with serving(folders, [UNLOCK]) as server:
        await server.call("start_timer", seconds=1, conversation_command="unlock the front door")
        assert "nobody could be asked" in (await server.until(TurnEnded)).reply
        assert await server.state("lock.front_door") == "locked"


async def test_a_page_that_reads_the_events_is_asked_about_a_delayed_command(folders: Folders) -> None:
    async with serving(folders, [UNLOCK]) as server, server.http.get("/v1/events") as events:
        await server.call("start_timer", seconds=1, conversation_command="unlock the front door")
        frame: dict[str, Any] = {}
        while frame.get("type") != "confirmation_required":
            line = (await events.content.readline()).decode()
            frame = json.loads(line.removeprefix("data: ")) if line.startswith("data: ") else {}
        async with server.http.post(f"/v1/confirmations/{frame['token']}", json={"granted": True}) as answer:
            assert answer.status == 200
        await server.until(TurnEnded)
        assert await server.state("lock.front_door") == "unlocked"


async def test_a_command_that_was_missed_while_the_server_was_off_is_reported_and_not_run(folders: Folders) -> None:
    an_hour_ago = Timers(lambda: time.time() - 3600, folders.state / TIMERS_FILE)
    an_hour_ago.start(60, command="unlock the front door")
    async with serving(folders) as server:
        assert (await server.until(RingEnded)).how == "given_up"
        assert not [event for event in server.events if isinstance(event, TurnEnded)]
        assert Timers(time.time, folders.state / TIMERS_FILE).all() == ()


async def test_what_is_set_is_listed_and_cancelled_over_http(folders: Folders, monkeypatch: pytest.MonkeyPatch) -> None:
    # A clock that stands still in the morning: nothing comes due, and ten minutes stay ten.
    monkeypatch.setattr("edgevox.app.toolbox.time", SimpleNamespace(time=lambda: MORNING_S))
    async with serving(folders) as server:
        await server.call("start_timer", minutes=10, conversation_command="turn off the tv")
        await server.call("set_reminder", task="close the blinds", time="every day at noon", runs=True)
        async with server.http.get("/v1/schedule") as answer:
            entries = (await answer.json())["data"]
        shown = {(entry["kind"], entry["text"]): entry for entry in entries}
        assert set(shown) == {("timer", "turn off the tv"), ("schedule", "close the blinds")}
        path = f"/v1/schedule/{shown['schedule', 'close the blinds']['id']}"
        for expected in (200, 404):
            async with server.http.delete(path) as answer:
                assert answer.status == expected
        assert await server.call("alarm_status", name="schedules") == "I will turn off the tv in 10 minutes."


async def test_a_watch_runs_its_command_when_the_home_changes(folders: Folders) -> None:
    async with serving(folders, [COFFEE_ON, COFFEE_OFF, COFFEE_OFF]) as server:
        await server.say("turn on the coffee machine")
        await server.say("turn off the coffee machine when the garage light turns on")
        assert await server.state("switch.coffee_machine") == "on"
        server.events.clear()
        await server.call("turn_on", name="garage light")
        assert (await server.until(TurnEnded)).reply == "The coffee machine is off."
