"""The assistant as an MCP server, used by the SDK's own client; the user in the room follows a script."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.session import ClientRequestContext
from mcp.types import ElicitRequestParams, ElicitResult, TextContent, TextResourceContents

from edgevox import tool
from edgevox.agents.tool_loop import Agreement, deny_confirmation
from edgevox.app.toolbox import Toolbox
from edgevox.audio.files import WavMicrophone
from edgevox.config import AudioSettings, Settings
from edgevox.core.errors import EngineFailed
from edgevox.core.files import Folders
from edgevox.core.types import Audio
from edgevox.dialogue import ConfirmationDialog, Synthesizer, Transcriber
from edgevox.dialogue.confirm import Intercom
from edgevox.home.entities import HomeError
from edgevox.server.mcp import PROGRAM, ServedTools, ask_tool, create_mcp_server, file_tool, room_tools
from edgevox.testing import MemorySpeaker, ToneSynthesizer
from edgevox.tools import ToolExecutor, ToolRegistry
from tests.cli.command import environment
from tests.dialogue.sounds import silent, voiced
from tests.dialogue.test_loop import ScriptedTranscriber
from tests.server.harness import Lamp

SPOKEN = np.concatenate([silent(0.3), voiced(1.0), silent(1.5)])


@dataclass
class House:
    """A client of the assistant, and what became of it."""

    client: Client
    lamp: Lamp
    synthesizer: ToneSynthesizer
    done: list[str]

    async def call(self, name: str, **arguments: Any) -> tuple[str, bool]:
        result = await self.client.call_tool(name, arguments)
        [block] = result.content
        assert isinstance(block, TextContent)
        return block.text, result.is_error


@asynccontextmanager
async def housed(
    answers: Sequence[str] = (), *, sound: np.ndarray = SPOKEN, has_audio: bool = True, folder: Path | None = None
) -> AsyncIterator[House]:
    lamp, done = Lamp(), list[str]()

    @tool(side_effects=True, confirm="voice")
    def unlock_door() -> str:
        """Unlock the door."""
        done.append("door")
        return "unlocked"

    @tool(side_effects=True, confirm="screen")
    def wipe_memory() -> str:
        """Forget everything."""
        done.append("wiped")
        return "wiped"

    registry = ToolRegistry([*lamp.tools(), unlock_door, wipe_memory])

    @tool
    def of_another_server() -> str:
        """Not ours."""
        done.append("another")
        return "done"

    registry.add(of_another_server, owner="mcp files")

    async def ask(question: str) -> str:
        if question == "fail":
            raise EngineFailed("the model is gone", hint="wait")
        return f"You asked: {question}"

    async def transcribe(path: Path) -> str:
        return f"words of {path.name}"

    synthesizer, confirmation = ToneSynthesizer(), ConfirmationDialog()
    own = [ask_tool(ask)]
    async with AsyncExitStack() as running_:
        if has_audio:
            intercom = Intercom(
                Synthesizer(synthesizer),
                MemorySpeaker(),
                Transcriber(ScriptedTranscriber(list(answers))),
                lambda: WavMicrophone(Audio(sound, 16_000)),
                AudioSettings(),
            )
            await running_.enter_async_context(intercom.answering(confirmation))
            own += [*room_tools(intercom), file_tool(transcribe, (folder,) if folder else ())]
        server = create_mcp_server(ServedTools(ToolExecutor(registry), own, confirmation))
        client = await running_.enter_async_context(Client(server))
        yield House(client, lamp, synthesizer, done)


async def test_a_client_is_told_of_our_tools_with_hints_and_not_of_other_servers() -> None:
    async with housed() as house:
        listed = {one.name: one for one in (await house.client.list_tools()).tools}
    assert set(listed) == {
        *("ask", "say", "listen", "transcribe"),
        *("switch_lamp", "get_time", "unlock_door", "wipe_memory"),
    }
    reads = {name: one.annotations.read_only_hint for name, one in listed.items() if one.annotations}
    assert (reads["get_time"], reads["switch_lamp"], reads["say"]) == (True, False, False)
    assert listed["wipe_memory"].annotations is not None
    assert listed["wipe_memory"].annotations.destructive_hint is True
    assert listed["switch_lamp"].input_schema["required"] == ["on"]


async def test_home_tools_that_can_unlock_or_delete_are_destructive_and_talk_is_not_offered(folders: Folders) -> None:
    async with Toolbox(Settings(), folders, sources=[]) as toolbox:
        served = ServedTools(toolbox.executor, (), ConfirmationDialog())
        listed = {one.name: one.annotations for one in served.listed()}
        refused = [await served.call(name, {}) for name in ("respond", "nevermind")]
    destructive = {name for name, hints in listed.items() if hints and hints.destructive_hint}
    assert {"turn_off", "turn_on", "set_position", "list_remove_item", "cancel_alarm"} <= destructive
    assert destructive.isdisjoint({"get_state", "light_set", "list_add_item", "start_timer", "media_pause"})
    assert listed.keys().isdisjoint({"respond", "nevermind"})
    assert [result.code for result in refused] == ["bad_request", "bad_request"]


async def test_home_tools_run_and_mistakes_are_told() -> None:
    async with housed() as house:
        assert await house.call("switch_lamp", on=True) == ('"done"', False)
        assert (await house.call("switch_lamp", on="perhaps"))[1]
        text, is_error = await house.call("of_another_server")
        assert is_error
        assert "there is no tool" in text
    assert (house.lamp.log, house.done) == (["lamp on"], [])


@pytest.mark.parametrize(
    ("answers", "outcome"),
    [(["yes"], "unlocked"), (["no"], "the user said no"), (["the weather is fine", "yes"], "unlocked")],
)
async def test_what_needs_a_yes_is_asked_in_the_room(answers: list[str], outcome: str) -> None:
    async with housed(answers) as house:
        text, is_error = await house.call("unlock_door")
    assert outcome in text
    assert is_error == (outcome != "unlocked")
    assert house.done == (["door"] if outcome == "unlocked" else [])
    assert house.synthesizer.spoken[0] == "Shall I unlock door?"


async def test_silence_in_the_room_is_a_no() -> None:
    async with housed([], sound=silent(9.0)) as house:
        text, is_error = await house.call("unlock_door")
    assert (is_error, house.done) == (True, [])
    assert "no answer" in text


async def test_a_voice_is_not_enough_for_what_needs_a_screen() -> None:
    async with housed(["yes"]) as house:
        _text, is_error = await house.call("wipe_memory")
    assert (is_error, house.done) == (True, [])


async def test_without_a_room_nothing_that_needs_a_yes_is_done() -> None:
    async with housed(has_audio=False) as house:
        names = [one.name for one in (await house.client.list_tools()).tools]
        text, is_error = await house.call("unlock_door")
    assert (is_error, house.done) == (True, [])
    assert "nobody could be asked" in text
    assert not {"say", "listen", "transcribe"} & set(names)


async def test_a_program_speaks_and_listens_and_says_so_first() -> None:
    async with housed(["tea, please"]) as house:
        assert await house.call("say", text="Dinner is ready. Come down!") == ('"said"', False)
        assert await house.call("listen", prompt="Tea or coffee?") == ('"tea, please"', False)
    spoken = " ".join(house.synthesizer.spoken)
    assert spoken.startswith("Dinner is ready. Come down!")
    assert spoken.endswith("Tea or coffee?")


async def test_a_program_asks_and_a_failure_is_a_result() -> None:
    async with housed() as house:
        assert await house.call("ask", question="Is it raining?") == ('"You asked: Is it raining?"', False)
        assert await house.call("ask", question="fail") == ("the model is gone", True)
        assert (await house.call("ask", question=""))[1]


async def test_sound_files_come_from_allowed_folders_only(tmp_path: Path) -> None:
    folder = tmp_path / "memos"
    folder.mkdir()
    (folder / "memo.wav").write_bytes(b"")
    (tmp_path / "secret.wav").write_bytes(b"")
    async with housed(folder=folder) as house:
        assert await house.call("transcribe", file="memo.wav") == ('"words of memo.wav"', False)
        assert (await house.call("transcribe", file="../secret.wav"))[1]
    async with housed() as house:
        assert (await house.call("transcribe", file="memo.wav"))[1]


async def test_an_answer_counts_for_the_callers_own_call_with_the_same_arguments() -> None:
    @tool(side_effects=True, confirm="voice")
    def unlock_door(door: str) -> str:
        """Unlock a door."""
        return f"{door} unlocked"

    served = ServedTools(ToolExecutor(ToolRegistry([unlock_door])), (), ConfirmationDialog())
    asked = await served.dispatch("unlock_door", {"door": "front"}, PROGRAM)
    assert asked.confirmation is not None
    token = asked.confirmation.token
    assert served.pending(token, "unlock_door", {"door": "back"}, PROGRAM) is None
    assert served.pending(token, "unlock_door", {"door": "front"}, replace(PROGRAM, name="another")) is None
    pending = served.pending(token, "unlock_door", {"door": "front"}, PROGRAM)
    assert pending is not None
    yes = Agreement(granted=True, by=PROGRAM, channel="keyboard")
    assert [(await served.answered(pending, yes)).is_error for _once_and_again in range(2)] == [False, True]


async def test_a_home_that_cannot_be_reached_is_told_in_its_words(caplog: pytest.LogCaptureFixture) -> None:
    def house() -> NoReturn:
        raise HomeError("Home Assistant cannot be reached.")

    server = create_mcp_server(ServedTools(None, (), deny_confirmation), house=house)
    async with Client(server) as client:
        with pytest.raises(MCPError, match="cannot be reached"):
            await client.list_resources()
        with pytest.raises(MCPError, match="cannot be reached"):
            await client.read_resource("edgevox://home")
    assert not any(record.exc_info for record in caplog.records)


@pytest.mark.engine
async def test_the_real_command_over_stdio_asks_the_user_of_its_client(tmp_path: Path) -> None:
    names = ("EDGEVOX_CONFIG_DIR", "EDGEVOX_STATE_DIR", "EDGEVOX_MODELS_DIR")
    env = {name: value for name, value in environment(tmp_path).items() if name in names}
    words = ["-m", "edgevox", "mcp", "serve", "--no-audio", "--preset", "home"]
    asked: list[str] = []

    async def yes(context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
        asked.append(params.message)
        return ElicitResult(action="accept", content={"confirm": True})

    # The real command imports everything first.
    async with (
        asyncio.timeout(60),
        Client(StdioServerParameters(command=sys.executable, args=words, env=env), elicitation_callback=yes) as client,
    ):
        listed = {one.name for one in (await client.list_tools()).tools}
        assert {"ask", "light_set", "get_current_time"} <= listed
        unlocked = await client.call_tool("turn_off", {"name": "front door"})
        assert not unlocked.is_error, unlocked.content
        [home] = (await client.read_resource("edgevox://home")).contents
    assert asked == ["Unlock the front door?"]
    assert isinstance(home, TextResourceContents)
    things = [one for room in json.loads(home.text)["rooms"] for one in room["things"]]
    assert {one["id"]: one["state"] for one in things}["lock.front_door"] == "unlocked"
