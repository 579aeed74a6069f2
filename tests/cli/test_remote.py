"""Engines on other machines, as processes: one EdgeVox is the model, the ear and the voice of another."""

from __future__ import annotations

import asyncio
import difflib
import json
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from wyoming.asr import Transcribe, Transcript
from wyoming.audio import AudioChunk, AudioStart, AudioStop
from wyoming.client import AsyncTcpClient
from wyoming.event import Event
from wyoming.handle import Handled
from wyoming.info import Describe, Info
from wyoming.tts import Synthesize

from edgevox.testing.serve import edgevox_serve
from tests.cli.command import edgevox, environment

pytestmark = [pytest.mark.engine, pytest.mark.timeout(900)]

ANSWER_S = 240.0

COMMAND = "Turn on the kitchen light."
STATE = "Is the kitchen light on?"
SENTENCE = "Please turn on the light in the kitchen."


def home(folder: Path, **extra: str) -> dict[str, str]:
    """A user with the default model, which runs the home, or the one that the settings name."""
    slowly = {"EDGEVOX_ENGINES__FIRST_TOKEN_TIMEOUT_S": "240"}
    return environment(folder, EDGEVOX_PRESET="", **slowly, **extra)


def ask(url: str, folder: Path, *messages: dict[str, Any]) -> str:
    token = (folder / "config" / "server_tokens.toml").read_text().split('token = "')[1].split('"')[0]
    request = urllib.request.Request(
        f"{url}/chat/completions",
        json.dumps({"model": "default", "messages": messages}).encode(),
        {"Content-Type": "application/json", "Authorization": f"Bearer {token}"},
    )
    with urllib.request.urlopen(request, timeout=ANSWER_S) as response:
        return str(json.load(response)["choices"][0]["message"]["content"])


def kitchen_light(env: Mapping[str, str]) -> str:
    listed = json.loads(edgevox("home", "list", "--json", env=env).stdout)
    (state,) = [one["state"] for one in listed["entities"] if one["name"].casefold() == "kitchen light"]
    return str(state)


@pytest.mark.long
def test_a_second_edgevox_is_the_model_of_the_first(tmp_path: Path, smollm2_path: Path) -> None:
    assert smollm2_path.exists()
    second = home(tmp_path / "second")
    with edgevox_serve(second, "--no-audio") as other:
        url = f"{other.address}/v1"
        first = home(tmp_path / "first", EDGEVOX_LLM__REMOTE_URL=url)
        before = kitchen_light(first)
        # A whole conversation: a command, and a question that needs to know what came of it.
        with edgevox_serve(first, "--no-audio") as server:
            own = f"{server.address}/v1"
            user = {"role": "user", "content": COMMAND}
            done = ask(own, tmp_path / "first", user)
            assert done
            told = ask(
                own,
                tmp_path / "first",
                user,
                {"role": "assistant", "content": done},
                {"role": "user", "content": STATE},
            )
            assert told
        # It was the first one's home that changed, by its own tools: the second one only wrote the calls.
        assert (before, kitchen_light(first), kitchen_light(second)) == ("off", "on", "off")
        for kind, address in (("openai", url), ("anthropic", url.removesuffix("/v1"))):
            env = first | {"EDGEVOX_LLM__REMOTE_KIND": kind, "EDGEVOX_LLM__REMOTE_URL": address}
            result = edgevox("ask", "--json", "Turn off the kitchen light.", env=env, bound_s=ANSWER_S)
            answer = json.loads(result.stdout)
            assert answer["error"] is None, result.stderr
            assert [one["name"] for one in answer["tool_calls"]] == ["turn_off"]
        lines = edgevox("run", "--text", "--no-speech", env=first, stdin=f"{COMMAND}\n", bound_s=ANSWER_S)
        assert (lines.returncode, bool(lines.stdout.strip())) == (0, True)
        checked = edgevox("doctor", "--quick", env=first)
        assert f"remote llm  {url} answered" in checked.stdout
    gone = edgevox("ask", "--json", COMMAND, env=first)
    assert (gone.returncode, json.loads(gone.stdout)["error"]["code"]) == (5, "engine_failed")
    assert "is it running" in gone.stderr
    checked = edgevox("doctor", "--quick", env=first)
    assert (checked.returncode, "does not answer" in checked.stdout) == (1, True)


async def events(chat: AsyncTcpClient, until: str) -> list[Event]:
    heard: list[Event] = []
    while not heard or heard[-1].type != until:
        event = await chat.read_event()
        assert event is not None
        heard.append(event)
    return heard


async def wyoming_conversation(address: str) -> tuple[str, str]:
    """A sentence is spoken, written down and acted on, by the Wyoming package's own client."""
    async with asyncio.timeout(ANSWER_S), AsyncTcpClient.from_uri(address) as chat:
        await chat.write_event(Describe().event())
        info = Info.from_event((await events(chat, "info"))[-1])
        assert (len(info.asr), len(info.tts), len(info.handle)) == (1, 1, 1)
        await chat.write_event(Synthesize(SENTENCE).event())
        sound = await events(chat, "audio-stop")
        await chat.write_event(Transcribe(language="en").event())
        await chat.write_event(AudioStart.from_event(sound[0]).event())
        for event in sound[1:-1]:
            await chat.write_event(AudioChunk.from_event(event).event())
        await chat.write_event(AudioStop().event())
        heard = Transcript.from_event((await events(chat, "transcript"))[-1])
        await chat.write_event(heard.event())
        handled = next(Handled.from_event(one) for one in await events(chat, "handled-stop") if one.type == "handled")
    return heard.text, handled.text or ""


def likeness(one: str, other: str) -> float:
    return difflib.SequenceMatcher(None, one.casefold(), other.casefold()).ratio()


@pytest.mark.long
def test_wyomings_own_client_holds_a_conversation_and_so_do_ours(
    tmp_path: Path, smollm2_path: Path, whisper_base_dir: Path, piper_voice_path: Path
) -> None:
    assert smollm2_path.exists()
    env = home(tmp_path / "second", EDGEVOX_SERVER__WYOMING_SCOPES="read,act", EDGEVOX_SERVER__WYOMING_PORT="0")
    with edgevox_serve(env, "--wyoming", address=r"tcp://[\d.]+:\d+") as server:
        address = server.address
        heard, answer = asyncio.run(wyoming_conversation(address))
        assert likeness(heard, SENTENCE) > 0.6
        assert answer
        first = home(tmp_path / "first", EDGEVOX_STT__REMOTE=address, EDGEVOX_TTS__REMOTE=address)
        sound = tmp_path / "sound.wav"
        said = edgevox("say", SENTENCE, "-o", sound, env=first)
        assert (said.returncode, sound.stat().st_size > 20_000) == (0, True), said.stderr
        result = json.loads(edgevox("transcribe", "--json", sound, env=first).stdout)
        assert likeness(result["text"], SENTENCE) > 0.6
        checked = edgevox("doctor", "--quick", env=first)
        assert f"remote tts  {address} answered" in checked.stdout
        assert f"remote stt  {address} answered" in checked.stdout
