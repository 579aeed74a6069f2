"""Several rooms on one assistant: where timers ring, announcements, histories, and which satellite answers."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack
from types import SimpleNamespace
from typing import cast

import pytest

from edgevox.core.events import DueAlarm
from edgevox.core.files import Folders
from edgevox.core.turn import CancelFlag, background_task
from edgevox.core.types import ChatDelta, ChatDone, ChatReply, ChatRequest
from edgevox.dialogue import AlarmPlayer, AlarmState
from edgevox.satellites.connection import ServerClock
from edgevox.satellites.hub import SatelliteHub, SatelliteLink, SatelliteRings, Wake
from tests.satellites.harness import satellite
from tests.server.websocket.harness import RestingModel, until, voice_server


def link(name: str) -> SatelliteLink:
    loop = SimpleNamespace(pipeline=SimpleNamespace(speech_output=None), wake_state=None, is_in_speech=False)
    return SatelliteLink(name, name, "edgevox", cast("object", loop))  # type: ignore[arg-type]


async def wakes(hub: SatelliteHub, *heard: tuple[SatelliteLink, Wake, float]) -> list[bool]:
    """Who answers; each satellite hears the word after a delay in seconds."""

    async def hear(one: SatelliteLink, wake: Wake, after_s: float) -> bool:
        await asyncio.sleep(after_s)
        return await hub.wins(one, wake)

    return list(await asyncio.gather(*(hear(*one) for one in heard)))


async def test_the_satellite_that_hears_best_answers_and_the_other_stays_silent() -> None:
    hub, near, far = SatelliteHub(window_s=0.1), link("near"), link("far")
    with hub.connected(near), hub.connected(far), hub.connected(link("third")):
        assert await wakes(hub, (far, Wake(0.95, 12.0), 0.0), (near, Wake(0.99, 30.0), 0.0)) == [False, True]


async def test_a_report_that_comes_late_does_not_answer_too() -> None:
    hub, near, far = SatelliteHub(window_s=0.0), link("near"), link("far")
    with hub.connected(near), hub.connected(far):
        assert await wakes(hub, (near, Wake(0.9, 20.0), 0.0), (far, Wake(0.9, 30.0), 0.05)) == [True, False]


async def test_two_people_who_call_in_two_rooms_are_both_answered() -> None:
    """The times at which the words were heard tell them from one word whose second report came late."""
    hub, kitchen, bedroom, hall = SatelliteHub(window_s=0.0), link("kitchen"), link("bedroom"), link("hall")
    now_s = time.monotonic()
    first, other = Wake(0.9, 20.0, now_s - 0.7), Wake(0.9, 30.0, now_s)
    same = Wake(0.9, 40.0, now_s - 0.6)
    with hub.connected(kitchen), hub.connected(bedroom), hub.connected(hall):
        assert await wakes(hub, (kitchen, first, 0.0), (bedroom, other, 0.02), (hall, same, 0.05)) == [
            True,
            True,
            False,
        ]


async def test_a_word_is_compared_with_the_last_one_where_no_times_were_told() -> None:
    hub, near, far = SatelliteHub(window_s=60.0), link("near"), link("far")
    now_s = time.monotonic()
    with hub.connected(near), hub.connected(far):
        assert await wakes(hub, (near, Wake(0.9, 20.0), 0.0), (far, Wake(0.9, 10.0), 0.0)) == [True, False]
        async with asyncio.timeout(5.0):
            again = await wakes(hub, (near, Wake(0.9, 20.0, now_s), 0.0), (far, Wake(0.9, 30.0, now_s), 0.01))
    assert again == [False, True]


async def test_a_single_satellite_answers_without_waiting() -> None:
    hub, only, muted = SatelliteHub(window_s=60.0), link("only"), link("muted")
    with hub.connected(only):
        hub.mute("muted", is_muted=True)
        async with asyncio.timeout(5.0):
            assert await hub.wins(only, Wake(0.9, 1.0))
    assert muted.name not in [one.name for one in hub.links]


async def test_two_satellites_hear_the_same_command_and_one_turn_runs(folders: Folders) -> None:
    async with (
        voice_server(folders, ["Yes.", "No."], has_tools=False) as server,
        satellite(server.url, "first") as first,
        satellite(server.url, "second") as second,
    ):
        await first.connected()
        await second.connected()
        reported: list[Wake] = []
        decide = server.hub.wins

        async def wins(link: SatelliteLink, wake: Wake) -> bool:
            reported.append(wake)
            return await decide(link, wake)

        server.hub.wins = wins  # type: ignore[method-assign]
        for number in (1, 2):
            first.command()
            second.command()
            await until(lambda: len(server.records) == number)  # noqa: B023  (waited for in the same round)
            await until(lambda: {first.doing, second.doing} == {"asleep"})
            await asyncio.sleep(0.5)  # what comes sooner was said over the reply
            assert len(server.records) == number
        # By then the satellites know the server's clock; a busy machine's first answer may come too late to count.
        now_s = time.monotonic()
        reported_s = [one.heard_s for one in reported if one.heard_s is not None]
        assert reported_s
        assert all(now_s - 60 < heard_s < now_s for heard_s in reported_s)


def test_a_satellite_takes_the_quickest_answer_for_the_servers_clock_and_a_late_one_not_at_all() -> None:
    own_s = [100.0]
    clock = ServerClock(lambda: own_s[0])

    def answered(after_s: float, server_s: float) -> None:
        number = clock.ping()["id"]
        own_s[0] += after_s
        clock.note_pong(number, server_s)

    answered(1.0, 500.9)
    assert clock.at(own_s[0]) is None
    answered(0.2, 501.15)
    assert clock.at(own_s[0]) == pytest.approx(501.25)
    answered(0.02, 501.21)
    assert clock.at(own_s[0]) == pytest.approx(501.22)


async def test_the_players_of_a_room_are_lowered_from_the_command_to_the_end_of_the_reply(folders: Folders) -> None:
    rooms = set[str]()
    changes = list[set[str]]()

    def duck(_reason: object, room: str, is_ducked: bool) -> None:
        (rooms.add if is_ducked else rooms.discard)(room)
        if not changes or changes[-1] != rooms:
            changes.append(set(rooms))

    async with (
        voice_server(folders, ["Yes."], has_tools=False) as server,
        satellite(server.url, "other", room="Kitchen") as other,
    ):
        server.lines.duck_players = duck
        await other.connected()
        async with satellite(server.url, "shelf", room="Bedroom") as shelf:
            await shelf.connected()
            shelf.command()
            await until(lambda: [one.outcome for one in server.records] == ["answered"])
            await until(lambda: not rooms)
    assert [one for one in changes if one] == [{"Bedroom"}]


class PreparingModel(RestingModel):
    """Answers one request at a time, as an engine does; preparing a prompt takes until it is cancelled."""

    def __init__(self, lines: Sequence[str]) -> None:
        super().__init__(lines)
        self._one_at_a_time = asyncio.Lock()

    async def stream(self, request: ChatRequest, cancel: CancelFlag) -> AsyncGenerator[ChatReply, None]:
        async with self._one_at_a_time:
            if request.prompt_only:
                stopped = asyncio.Event()
                cancel.add_listener(stopped.set)
                await stopped.wait()
            async for reply in super().stream(request, cancel):
                yield reply


async def test_a_turn_does_not_wait_for_what_is_prepared_for_other_rooms(folders: Folders) -> None:
    async with (
        voice_server(folders, model=PreparingModel(["Yes."]), has_tools=False, heard=["good morning"]) as server,
        satellite(server.url, "shelf", room="Bedroom") as shelf,
        satellite(server.url, "desk", room="Kitchen") as desk,
    ):
        await shelf.connected()
        await desk.connected()
        desk.command()
        await until(lambda: [one.outcome for one in server.records] == ["answered"])


class StoryModel(RestingModel):
    """Writes a reply to the first client until `is_enough`; answers yes to the others."""

    is_enough = False
    words = 0

    async def stream(self, request: ChatRequest, cancel: CancelFlag) -> AsyncGenerator[ChatReply, None]:
        if request.prompt_only or (self.requests and not request.reply_prefix):
            async for reply in super().stream(request, cancel):
                yield reply
            return
        self.requests.append(request)
        while not self.is_enough:
            if cancel.is_set():
                return
            self.words += 1
            yield ChatDelta("and then ")
            await asyncio.sleep(0.1)
        yield ChatDone("stop", 0, 0, 0)


async def test_a_long_reply_in_one_room_gives_way_to_another_and_goes_on(folders: Folders) -> None:
    model = StoryModel(["Yes."])
    async with (
        voice_server(folders, model=model, has_tools=False, heard=["good morning"]) as server,
        satellite(server.url, "shelf", room="Bedroom") as shelf,
        satellite(server.url, "desk", room="Kitchen") as desk,
    ):
        await shelf.connected()
        await desk.connected()
        shelf.command()
        await until(lambda: model.words > 15)  # its call is another one by then
        desk.command()
        await until(lambda: len(server.records) == 1)
        assert [(one.room, one.outcome) for one in server.records] == [("Kitchen", "answered")]
        await until(lambda: len(model.requests) == 3)
        assert model.requests[-1].reply_prefix.startswith("and then ")
        model.is_enough = True
        await until(lambda: [(one.room, one.outcome) for one in server.records[1:]] == [("Bedroom", "answered")])


async def test_a_timer_rings_where_it_was_set_and_its_command_runs_there(folders: Folders) -> None:
    set_timer = '<tool_call>\n{"name": "start_timer", "arguments": {"minutes": 10}}\n</tool_call>'
    async with AsyncExitStack() as running:
        server = await running.enter_async_context(
            voice_server(folders, [set_timer, "Done."], heard=["set a timer for ten minutes"])
        )
        shelf = await running.enter_async_context(satellite(server.url, "shelf", room="Bedroom"))
        desk = await running.enter_async_context(satellite(server.url, "desk", room="Kitchen"))
        await shelf.connected()
        await desk.connected()
        shelf.command()
        await until(lambda: len(server.records) == 1)
        assert server.toolbox is not None
        timer = server.toolbox.timers.all()[0]
        assert timer.satellite == "shelf"
        local = server.lines.pipeline(server.bus.publish, None, None, None)
        rings = SatelliteRings(server.hub, local)
        due = DueAlarm(timer.id, "timer", "", time.time(), satellite="shelf")
        assert list(rings.outputs(due)) == ["shelf"]
        # A satellite that is gone: a server without a loudspeaker rings in all rooms.
        assert set(rings.outputs(DueAlarm("x", "timer", "", 0.0, satellite="gone"))) == {"shelf", "desk"}
        await until(lambda: {shelf.doing, desk.doing} <= {"asleep", "listening"})
        before, silent = len(shelf.sound.played_s), len(desk.sound.played_s)
        server.toolbox.timers.extend(timer, -600)
        state = AlarmState(snooze_minutes=5)
        player = AlarmPlayer(server.toolbox.agenda, local, state, server.bus.publish, for_s=60.0, places=rings)
        async with player.running():
            await until(lambda: len(shelf.sound.played_s) > before)
        assert len(desk.sound.played_s) == silent


def test_how_long_a_satellite_is_connected_does_not_depend_on_the_clock_on_the_wall(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hub = SatelliteHub()
    with hub.connected(link("shelf")):
        monkeypatch.setattr(time, "time", lambda: 4e9)  # as a machine without a clock does once it asks the network
        assert [one["connected_s"] for one in hub.report()] == [0]


async def test_tell_everyone_sounds_everywhere_but_where_it_was_asked(folders: Folders) -> None:
    broadcast = '<tool_call>\n{"name": "broadcast", "arguments": {"message": "Dinner is ready"}}\n</tool_call>'
    heard = ["tell everyone dinner is ready", "yes"]
    async with (
        voice_server(folders, [broadcast, "Done."], heard=heard) as server,
        satellite(server.url, "shelf") as shelf,
        satellite(server.url, "desk") as desk,
    ):
        await shelf.connected()
        await desk.connected()
        shelf.command()
        await until(lambda: shelf.doing == "busy")

        async def answer() -> None:
            while True:
                await asyncio.sleep(0.2)
                if any(dialog.listening for dialog in server.lines.confirmation()):
                    shelf.command(after_call=False)

        async with background_task(answer()):
            await until(lambda: len(server.records) == 1)
        assert server.records[0].calls
        await until(lambda: len(desk.sound.played_s) == 1)


async def test_the_satellites_of_a_room_share_its_history(folders: Folders) -> None:
    async with voice_server(folders, ["Yes."] * 3, has_tools=False, heard=["good morning"]) as server:
        for number, (name, room) in enumerate((("shelf", "Bedroom"), ("desk", "Kitchen"), ("lamp", "Bedroom")), 1):
            async with satellite(server.url, name, room=room) as device:
                await device.connected()
                device.command()
                await until(lambda: len(server.records) == number)  # noqa: B023  (waited for in the same round)
        asked = server.model.requests
        said = [[message.content for message in one.messages if message.role == "assistant"] for one in asked]
        assert said == [[], [], ["Yes."]]
