"""Mixed use of the whole program: speech, text over every interface, timers, lists, settings, and fuzz."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import aiohttp
import aiomqtt

from edgevox.app.control.client import request
from edgevox.app.control.protocol import SOCKET_NAME, Ask, Request, Say, SimpleRequest
from edgevox.core.types import JsonObject
from fuzz import voice_socket
from fuzz.boundaries import BOUNDARIES, changed
from tests.home.backends.mqtt.mosquitto import PASSWORD, USER
from tests.server.websocket.harness import connected
from tests.soak.journal import MUTE, RELOAD, Journal
from tests.soak.program import SENTENCES, Program, samples_of

ANSWERED_WITHIN_S = 90.0
_FUZZ_WITHIN_S = 5.0
_KEPT_ITEMS = 10
_TALK = ("Hello.", "Tell me something about the moon.", "How do I boil an egg?", "Good night.")
_PAGES = ("status", "home", "schedule", "tools", "tools/stats", "turns", "settings", "models")
_WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The weather in a place.",
        "parameters": {"type": "object", "properties": {"place": {"type": "string"}}, "required": ["place"]},
    },
}
_BODIES = {
    "/v1/chat/completions": b'{"model": "default", "max_tokens": 8, "messages": [{"role": "user", "content": "hi"}]}',
    "/v1/messages": b'{"model": "default", "max_tokens": 8, "messages": [{"role": "user", "content": "hi"}]}',
    "/v1/tools/call": b'{"name": "get_state", "arguments": {"name": "kitchen lamp"}}',
    "/v1/audio/speech": b'{"model": "default", "input": "hi", "voice": "default", "response_format": "pcm"}',
}


class UnexpectedAnswer(Exception):
    """An answer that no client should get."""


class Load:
    """Clients of one program. `items` and `timers` are those that it has acknowledged and not given up."""

    def __init__(self, program: Program, journal: Journal, chance: random.Random) -> None:
        self.items: list[str] = []
        self.timers: set[str] = set()
        self._program = program
        self._journal = journal
        self._chance = chance
        self._number = 0
        self._speaking = asyncio.Lock()
        # What is done, and the mean pause behind it in seconds.
        self._kinds: dict[str, tuple[Callable[[], Awaitable[str]], float]] = {
            "speech": (self._speak, 45.0),
            "control ask": (self._ask, 60.0),
            "control": (self._control, 45.0),
            "chat": (self._chat, 50.0),
            "messages": (self._messages, 90.0),
            "audio": (self._audio, 90.0),
            "tool call": (self._tool, 15.0),
            "web page": (self._page, 15.0),
            "voice socket": (self._voice_socket, 80.0),
            "settings": (self._settings, 240.0),
            "fuzz voice socket": (self._fuzz_voice_socket, 30.0),
            "fuzz control": (self._fuzz_control, 5.0),
            "fuzz http": (self._fuzz_http, 6.0),
            "fuzz mqtt": (self._fuzz_mqtt, 8.0),
            "fuzz wyoming": (self._fuzz_wyoming, 8.0),
        }

    async def run(self) -> None:
        """Until cancelled."""
        timeout = aiohttp.ClientTimeout(ANSWERED_WITHIN_S)
        async with aiohttp.ClientSession(timeout=timeout) as self._http, asyncio.TaskGroup() as group:
            for name, (once, pause_s) in self._kinds.items():
                group.create_task(self._repeat(name, once, pause_s))

    async def _repeat(self, name: str, once: Callable[[], Awaitable[str]], pause_s: float) -> None:
        while True:
            await asyncio.sleep(min(3 * pause_s, self._chance.expovariate(1 / pause_s)))
            begun_s = self._journal.now_s
            try:
                async with asyncio.timeout(ANSWERED_WITHIN_S):
                    outcome = await once()
            except TimeoutError:
                self._journal.error(name, begun_s, "no answer in time", is_timeout=True)
            except Exception as error:  # noqa: BLE001  (whatever it is, the run goes on, and it is in the result)
                self._journal.error(name, begun_s, f"{type(error).__name__}: {error}")
            else:
                self._journal.outcomes[f"{name}: {outcome}"] += 1

    # --- people

    async def _speak(self) -> str:
        async with self._speaking:
            before = self._journal.answered_speech
            text = self._chance.choice(SENTENCES)
            await asyncio.to_thread(self._program.room.speak, self._program.speech[text])
            async with asyncio.timeout(60):
                while self._journal.answered_speech == before:
                    await self._journal.ledger.changed()
            return "answered"

    async def _voice_socket(self) -> str:
        text = self._chance.choice(SENTENCES[:12])
        samples, rate_hz = samples_of(self._program.speech[text])
        hello: dict[str, Any] = {"token": self._program.token, "rate_hz": rate_hz, "speak": self._chance.random() < 0.5}
        async with connected(self._program.url, **hello) as client:
            if self._chance.random() < 0.5:
                await client.send("text", text=text)
            else:
                for start in range(0, len(samples), rate_hz // 10):
                    await client.sound(samples[start : start + rate_hz // 10], rate_hz)
                    await asyncio.sleep(0.1)
                await client.send("audio_end")
            if self._chance.random() < 0.2:  # it goes away in the middle
                await asyncio.sleep(self._chance.uniform(0, 2))
                return "left"
            done = await client.until("done", within_s=60)
            return str(done["outcome"])

    # --- programs on this machine

    async def _ask(self) -> str:
        return str((await self._do(Ask(text=self._text())))["finish_reason"])

    async def _control(self) -> str:
        match self._chance.randrange(5):
            case 0:
                await self._do(Say(text="The washing machine is done.", where="here"))
                return "say"
            case 1:
                async with self._speaking:  # muted, nothing is heard
                    with self._journal.fault(MUTE):
                        await self._do(SimpleRequest(do="mute"))
                        await asyncio.sleep(self._chance.random())
                        await self._do(SimpleRequest(do="unmute"))
                return "mute"
            case 2:
                await self._do(SimpleRequest(do="stop"))
                return "stop"
            case _:
                await self._do(SimpleRequest(do="status"))
                return "status"

    async def _do(self, wanted: Request) -> JsonObject:
        async with request(self._program.folders.runtime, wanted) as asking:
            return await asking.done()

    # --- programs over HTTP

    async def _chat(self) -> str:
        body: dict[str, Any] = {"model": "default", "max_tokens": 32, "stream": self._chance.random() < 0.5}
        match self._chance.randrange(3):
            case 0:
                body |= {"messages": [_user("What is the weather in Rome?")], "tools": [_WEATHER]}
            case 1:
                body |= {"messages": [_user(self._chance.choice(_TALK))], "tool_choice": "none"}
            case _:
                body |= {"messages": [_user(self._text())]}
        return await self._post("/v1/chat/completions", body)

    async def _messages(self) -> str:
        return await self._post(
            "/v1/messages", {"model": "default", "max_tokens": 32, "messages": [_user(self._text())]}
        )

    async def _audio(self) -> str:
        if self._chance.random() < 0.5:
            body = {"model": "default", "input": self._text(), "voice": "default"}
            return await self._post("/v1/audio/speech", body | {"response_format": self._chance.choice(("wav", "mp3"))})
        form = aiohttp.FormData()
        content = self._program.speech[self._chance.choice(SENTENCES)].read_bytes()
        form.add_field("file", content, filename="a.wav", content_type="audio/wav")
        form.add_field("model", "default")
        async with self._http.post(self._url("/v1/audio/transcriptions"), data=form, headers=self._headers) as answer:
            return await self._status(answer)

    async def _tool(self) -> str:
        self._number += 1
        match self._chance.randrange(4):
            case 0:
                name = f"soak {self._number}"
                seconds = self._chance.randint(5, 60)
                if await self._call("start_timer", seconds=seconds, name=name):
                    self.timers.add(name)
                return "timer"
            case 1:
                item = f"soap {self._number}"
                if await self._call("shopping_list_add_item", item=item):
                    self.items.append(item)
                if len(self.items) > _KEPT_ITEMS:
                    await self._call("shopping_list_complete_item", item=self.items.pop(0))
                return "list"
            case 2:
                await self._call("greet", name="Ada")
                return "MCP"
            case _:
                await self._call("get_state", name="kitchen lamp")
                return "state"

    async def _call(self, tool: str, **arguments: object) -> bool:
        """Whether it was done. Raises UnexpectedAnswer for an error, which a fault may explain."""
        body = {"name": tool, "arguments": arguments}
        async with self._http.post(self._url("/v1/tools/call"), json=body, headers=self._headers) as answer:
            await self._status(answer)
            result = await answer.json()
            if result["is_error"]:
                raise UnexpectedAnswer(f"{tool}: {result['content']}")
            return True

    async def _page(self) -> str:
        page = self._chance.choice(_PAGES)
        async with self._http.get(self._url(f"/v1/{page}"), headers=self._headers) as answer:
            return await self._status(answer)

    async def _settings(self) -> str:
        change = self._chance.choice(({"tts.speed": self._chance.choice((0.9, 1.0, 1.1))}, {"wake.follow_up_s": 4.0}))
        with self._journal.fault(RELOAD):
            async with self._http.patch(self._url("/v1/settings"), json=change, headers=self._headers) as answer:
                return await self._status(answer)

    async def _post(self, path: str, body: dict[str, Any]) -> str:
        async with self._http.post(self._url(path), json=body, headers=self._headers) as answer:
            return await self._status(answer)

    async def _status(self, answer: aiohttp.ClientResponse) -> str:
        content = await answer.read()
        if answer.status not in (200, 429):  # 429: too many wait, which a client expects
            raise UnexpectedAnswer(f"{answer.status} {content[:200]!r}")
        return str(answer.status)

    # --- fuzz

    async def _fuzz_voice_socket(self) -> str:
        await voice_socket.connection(self._program.url, self._own_chance(), self._program.token)
        return "sent"

    async def _fuzz_control(self) -> str:
        line = self._changed("control socket").replace(b"\n", b" ") + b"\n"
        path = str(self._program.folders.runtime / SOCKET_NAME)
        reader, writer = await asyncio.open_unix_connection(path)
        return await _exchange(reader, writer, line)

    async def _fuzz_wyoming(self) -> str:
        reader, writer = await asyncio.open_connection("127.0.0.1", self._program.wyoming_port)
        return await _exchange(reader, writer, self._changed("Wyoming"))

    async def _fuzz_http(self) -> str:
        path = self._chance.choice(tuple(_BODIES))
        body = changed(self._own_chance(), _BODIES[path])
        headers = self._headers | {"Content-Type": "application/json"}
        with suppress(TimeoutError):
            async with (
                asyncio.timeout(_FUZZ_WITHIN_S),
                self._http.post(self._url(path), data=body, headers=headers) as answer,
            ):
                content = await answer.read()
                if answer.status >= 500:
                    raise UnexpectedAnswer(f"{path} {answer.status} {content[:100]!r} for {body[:200]!r}")
                return str(answer.status)
        return "left"

    async def _fuzz_mqtt(self) -> str:
        """A broken announcement of a device, which is then withdrawn."""
        topic = f"homeassistant/{self._chance.choice(('light', 'sensor', 'climate', 'device'))}/fuzz/config"
        port = self._program.broker.port
        async with aiomqtt.Client("127.0.0.1", port, username=USER, password=PASSWORD, timeout=10) as client:
            for payload in (self._changed("MQTT"), b""):
                await client.publish(topic, payload[:200_000], qos=1)
        return "sent"

    def _changed(self, boundary: str) -> bytes:
        chance = self._own_chance()
        return changed(chance, chance.choice(BOUNDARIES[boundary].samples))

    def _own_chance(self) -> random.Random:
        """For parts that use a random number of numbers: the rest of the run stays the same."""
        return random.Random(self._chance.getrandbits(32))

    def _text(self) -> str:
        return self._chance.choice(SENTENCES[:-1])

    def _url(self, path: str) -> str:
        return f"{self._program.url}{path}"

    @property
    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._program.token}"}


async def _exchange(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, content: bytes) -> str:
    """Send it and read for a moment; a connection that is closed is an answer."""
    with suppress(TimeoutError, ConnectionError):
        async with asyncio.timeout(1):
            writer.write(content)
            await writer.drain()
            await reader.read(1 << 16)
    writer.close()
    return "sent"


def _user(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}
