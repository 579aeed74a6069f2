"""A conversation over the socket: spoken and typed, with calls, questions, interruptions and failures."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from edgevox.config import Settings
from edgevox.config.settings import SttSettings
from edgevox.core.errors import EngineFailed
from edgevox.core.events import EngineChanged
from edgevox.core.files import Folders
from tests.dialogue.sounds import silent, voiced
from tests.server.websocket.harness import GUEST, LIGHT_ON, UNLOCK, connected, voice_server

LONG = "One two three four five six seven eight nine ten. " * 12


async def test_a_spoken_command_changes_the_home_and_is_answered_aloud(folders: Folders) -> None:
    async with voice_server(folders, [LIGHT_ON]) as behind, connected(behind.url) as client:
        before = behind.state("light.kitchen")
        await client.say()
        done = await client.until("done")
        await client.until("state", state="listening")
        assert (before, behind.state("light.kitchen")) == ("off", "on")
    assert done["outcome"] == "answered"
    assert done["heard"] == "turn on the kitchen light"
    assert client.samples[1] > 0
    kinds = client.kinds()
    in_order = (
        "turn_begin",
        "transcript",
        "tool_call_delta",
        "tool_call",
        "tool_result",
        "token",
        "audio_begin",
        "audio_end",
        "done",
    )
    places = [kinds.index(kind) for kind in in_order]
    # The partial transcript comes before the turn, and the final one in it.
    places[1] = next(at for at, frame in enumerate(client.frames) if frame.get("final"))
    assert places == sorted(places)
    states = [frame["state"] for frame in client.frames if frame["type"] == "state"]
    assert [state for state, _ in itertools.groupby(states)] == states, "a state is told when it changes"
    assert states[0] == states[-1] == "listening"
    assert {"hearing", "understanding", "thinking", "acting", "speaking"} <= set(states)


async def test_frames_have_the_fields_of_the_contract(folders: Folders) -> None:
    async with voice_server(folders, [LIGHT_ON]) as behind, connected(behind.url) as client:
        await client.say()
        done = await client.until("done")
        await client.send("ping", id="x")
        assert (await client.until("pong"))["id"] == "x"
    by_kind = {frame["type"]: frame for frame in client.frames}
    assert by_kind["tool_call"]["arguments"] == {"name": "kitchen light"}
    assert by_kind["tool_call"]["call_id"] == by_kind["tool_call_delta"]["call_id"]
    result = by_kind["tool_result"]
    assert (result["name"], result["is_error"], result["code"]) == ("turn_on", False, None)
    assert "light" in result["content"].casefold()
    stages = [stage["name"] for stage in done["waterfall"]["stages"]]
    assert stages == ["endpoint", "transcribe", "first_token", "generate", "first_audio", "speak"] or stages == [
        "endpoint",
        "transcribe",
        "first_audio",
        "speak",
    ]
    assert done["waterfall"]["total_ms"] > 0
    written = "".join(frame["arguments_delta"] for frame in client.frames if frame["type"] == "tool_call_delta")
    assert written == '{"name": "kitchen light"}'


async def test_what_is_understood_at_a_pause_is_told_before_the_turn(folders: Folders) -> None:
    heard = ("turn on the", "turn on the kitchen light")
    async with voice_server(folders, [LIGHT_ON], heard=heard) as behind, connected(behind.url) as client:
        await client.sound(np.concatenate((voiced(0.6), silent(0.4))))
        partial = await client.until("transcript")
        assert (partial["text"], partial["final"], partial["turn_id"]) == ("turn on the", False, None)
        await client.say(0.6)
        final = await client.until("transcript", final=True)
        assert final["text"] == "turn on the kitchen light"
        assert final["turn_id"]


async def test_a_typed_turn_is_answered_as_a_spoken_one_is(folders: Folders) -> None:
    async with voice_server(folders, ["Hello to you."]) as behind, connected(behind.url) as client:
        await client.send("text", text="hello")
        done = await client.until("done")
        assert (done["heard"], done["reply"], done["outcome"]) == ("hello", "Hello to you.", "answered")
    assert "".join(f["text"] for f in client.frames if f["type"] == "token") == "Hello to you."
    assert client.samples[1] > 0
    assert [record.reply for record in behind.records] == ["Hello to you."]


async def test_sound_is_sent_at_the_rate_that_the_client_wants(folders: Folders) -> None:
    async with voice_server(folders, ["Hello to you."]) as behind, connected(behind.url, play_rate_hz=48_000) as client:
        await client.send("text", text="hello")
        await client.until("done")
    begun = next(frame for frame in client.frames if frame["type"] == "audio_begin")
    assert begun["rate_hz"] == 48_000
    assert client.samples[1] == pytest.approx(48_000 * len("Hello to you.") / 100, rel=0.15)


async def test_sound_may_come_at_the_rate_of_the_browser(folders: Folders) -> None:
    async with voice_server(folders, [LIGHT_ON]) as behind, connected(behind.url, rate_hz=48_000) as client:
        await client.say(rate_hz=48_000)
        assert (await client.until("done"))["outcome"] == "answered"


async def test_a_microphone_that_is_switched_off_ends_the_sentence(folders: Folders) -> None:
    async with voice_server(folders, [LIGHT_ON]) as behind, connected(behind.url) as client:
        await client.say(0.8, silence_s=0.0)
        await client.send("audio_end")
        assert (await client.until("done"))["outcome"] == "answered"


async def test_a_client_that_wants_no_sound_gets_none(folders: Folders) -> None:
    async with voice_server(folders, ["Hello."]) as behind, connected(behind.url, speak=False) as client:
        assert client.frames[0]["speaks"] is False
        await client.send("text", text="hello")
        assert (await client.until("done"))["reply"] == "Hello."
    assert client.samples == {}


# --- interruptions


async def test_barge_in_stops_the_sound_and_keeps_the_words_that_were_played(folders: Folders) -> None:
    async with (
        voice_server(folders, [LONG, "Yes?"], heard=["no wait"]) as behind,
        connected(behind.url, plays=False) as client,
    ):
        await client.send("text", text="count")
        begun = await client.until("audio_begin")
        while client.samples[1] < begun["rate_hz"]:
            await client.send("ping")
            await client.until("pong")
        await client.sound(voiced(1.5))
        stop = await client.until("audio_stop")
        assert stop["passage"] == begun["passage"]
        # A character is a hundredth of a second of sound here: this is one sentence and a word.
        await client.send("played", passage=stop["passage"], samples=begun["rate_hz"] * 54 // 100)
        done = await client.until("done")
        assert done["outcome"] == "interrupted"
        assert done["reply"].startswith("One two three four five six seven eight nine ten.")
        assert len(done["reply"]) < 65
        assert "audio_end" not in client.kinds()


async def test_lights_without_a_place_are_those_of_the_clients_room(folders: Folders) -> None:
    lights_on = '<tool_call>\n{"name": "turn_on", "arguments": {"domain": "light"}}\n</tool_call>'
    async with voice_server(folders, [lights_on]) as behind, connected(behind.url, room="bedroom") as client:
        await client.send("text", text="turn on the lights")
        done = await client.until("done")
    assert done["reply"] == "The bedroom light and the bedside lamp are on."


async def test_a_client_that_hears_itself_is_not_interrupted_by_it(folders: Folders) -> None:
    async with (
        voice_server(folders, [LONG], heard=["no wait"]) as behind,
        connected(behind.url, plays=False, hears_itself=True) as client,
    ):
        await client.send("text", text="count")
        await client.until("audio_begin")
        await client.sound(voiced(1.5))
        await client.send("ping", id="heard")
        await client.until("pong", id="heard")
        assert not {"audio_stop", "audio_duck"} & set(client.kinds())
        await client.send("stop")
        assert (await client.until("done"))["outcome"] == "cancelled"


async def test_a_client_can_stop_it_without_a_word(folders: Folders) -> None:
    async with voice_server(folders, [LONG]) as behind, connected(behind.url, plays=False) as client:
        await client.send("text", text="count")
        await client.until("audio_begin")
        await client.send("stop")
        await client.until("audio_stop")
        assert (await client.until("done"))["outcome"] == "cancelled"


async def test_no_more_is_sent_than_a_ring_holds(folders: Folders) -> None:
    async with voice_server(folders, [LONG]) as behind, connected(behind.url, plays=False) as client:
        await client.send("text", text="count")
        begun = await client.until("audio_begin")
        await client.send("ping", id=1)
        await client.until("state", state="speaking")
        for number in range(2, 12):  # all that it sends by itself is there by then
            await client.send("ping", id=number)
            await client.until("pong", id=number)
        ahead_s = client.samples[1] / begun["rate_hz"]
        assert 0 < ahead_s <= client.frames[0]["limits"]["ahead_s"] + 0.1
        await client.send("played", passage=1, samples=client.samples[1])
        await client.send("stop")
        await client.until("done")


# --- questions


async def test_a_yes_by_click_lets_it_happen(folders: Folders) -> None:
    async with voice_server(folders, [UNLOCK]) as behind, connected(behind.url) as client:
        await client.send("text", text="unlock the front door")
        asked = await client.until("confirmation_required")
        assert asked["may_answer"] is True
        assert behind.state("lock.front_door") == "locked"
        await client.send("confirm", token=asked["token"], granted=True)
        assert (await client.until("confirmation_decided"))["granted"] is True
        assert (await client.until("tool_result"))["code"] is None
        await client.until("done")
        assert behind.state("lock.front_door") == "unlocked"


async def test_a_no_by_click_leaves_it_alone(folders: Folders) -> None:
    async with voice_server(folders, [UNLOCK]) as behind, connected(behind.url) as client:
        await client.send("text", text="unlock the front door")
        asked = await client.until("confirmation_required")
        await client.send("confirm", token=asked["token"], granted=False)
        assert (await client.until("confirmation_decided"))["granted"] is False
        assert (await client.until("tool_result"))["code"] == "tool_denied"
        await client.until("done")
        assert behind.state("lock.front_door") == "locked"


async def test_an_answer_to_nothing_is_told_so(folders: Folders) -> None:
    async with voice_server(folders) as behind, connected(behind.url) as client:
        await client.send("confirm", token="other", granted=True)
        assert (await client.until("error"))["code"] == "confirmation_not_found"


async def test_who_may_not_confirm_cannot_say_yes_in_any_way(folders: Folders) -> None:
    async with (
        voice_server(folders, [UNLOCK], heard=["unlock the front door", "yes"]) as behind,
        connected(behind.url, token=GUEST) as client,
    ):
        assert client.frames[0]["may_confirm"] is False
        await client.say()
        asked = await client.until("confirmation_required")
        assert asked["may_answer"] is False
        await client.send("confirm", token=asked["token"], granted=True)
        assert (await client.until("error"))["code"] == "token_scope_insufficient"
        await client.say(silence_s=1.0)
        await client.send("stop")
        assert (await client.until("confirmation_decided"))["granted"] is False
        assert behind.state("lock.front_door") == "locked"


# --- what goes wrong


async def test_a_turn_that_fails_says_so_and_the_next_one_works(folders: Folders) -> None:
    failure = EngineFailed("the model died", hint="wait")
    async with voice_server(folders, [failure, "Hello."]) as behind, connected(behind.url) as client:
        await client.send("text", text="hello")
        done = await client.until("done")
        assert (done["outcome"], done["error_code"], done["hint"]) == ("failed", "engine_failed", "wait")
        await client.send("text", text="hello")
        assert (await client.until("done"))["outcome"] == "answered"


async def test_engines_that_fail_are_told_to_all(folders: Folders) -> None:
    async with voice_server(folders) as behind, connected(behind.url) as one, connected(behind.url) as other:
        behind.bus.publish(EngineChanged(engine="llm", state="restarting", detail="it died"))
        for client in (one, other):
            assert (await client.until("engine"))["detail"] == "it died"


async def test_clients_have_conversations_of_their_own(folders: Folders) -> None:
    async with (
        voice_server(folders, ["One.", "Two."]) as behind,
        connected(behind.url) as one,
        connected(behind.url, token=GUEST) as other,
    ):
        await one.send("text", text="my name is Ada")
        await one.until("done")
        await other.send("text", text="what is my name")
        await other.until("done")
        assert {frame["type"] for frame in other.frames}.isdisjoint({"ring"})
        assert all(frame.get("text") != "One." for frame in other.frames)
        assert "Ada" not in str(behind.model.requests[-1].messages)


async def test_without_a_recogniser_only_typed_turns_are_taken(folders: Folders) -> None:
    async with voice_server(folders, ["Hello."], engines=frozenset({"tts"})) as behind, connected(behind.url) as client:
        assert client.frames[0]["listens"] is False
        await client.send("text", text="hello")
        await client.until("done")
        await client.say()
        assert await client.closed() == 4400


async def test_only_so_many_typed_turns_wait(folders: Folders) -> None:
    async with (
        voice_server(folders, [LONG, "a", "b", "c", "d"]) as behind,
        connected(behind.url, plays=False) as client,
    ):
        await client.send("text", text="count")
        await client.until("audio_begin")
        for number in range(9):
            await client.send("text", text=f"and {number}")
        assert (await client.until("error"))["code"] == "busy"


async def test_a_call_chosen_on_a_screen_is_a_silent_turn_of_exactly_that_entity(folders: Folders) -> None:
    async with voice_server(folders) as behind, connected(behind.url) as client:
        await client.send("call", name="light_set", arguments={"entity_ids": ["light.desk_lamp"], "color": "#3366ff"})
        assert (await client.until("turn_begin"))["source"] == "screen"
        done = await client.until("done", outcome="answered")
        assert done["heard"] == "Set desk lamp to #3366ff"
        assert behind.state("light.desk_lamp") == "on"
        assert "audio_begin" not in client.kinds()
        assert behind.model.requests == []


async def test_a_call_chosen_on_a_screen_is_answered_in_the_language_of_the_household(folders: Folders) -> None:
    german = Settings(stt=SttSettings(language="de"))
    async with voice_server(folders, settings=german) as behind, connected(behind.url) as client:
        assert next(frame for frame in client.frames if frame["type"] == "hello")["language"] == "de"
        await client.send("call", name="turn_on", arguments={"entity_ids": ["light.desk_lamp"]})
        done = await client.until("done", outcome="answered")
        assert (done["heard"], done["reply"]) == ("Schreibtischlampe · einschalten", "Schreibtischlampe eingeschaltet.")
        assert behind.state("light.desk_lamp") == "on"


async def test_a_call_asks_like_a_spoken_command_but_not_for_what_is_so_already(folders: Folders) -> None:
    unlock = {"name": "turn_off", "arguments": {"entity_ids": ["lock.front_door"]}}
    async with voice_server(folders) as behind, connected(behind.url) as client:
        await client.send("call", **unlock)
        asked = await client.until("confirmation_required", may_answer=True)
        assert 0 < asked["expires_in_s"] <= 30
        assert behind.state("lock.front_door") == "locked"
        await client.send("confirm", token=asked["token"], granted=True)
        await client.until("done")
        assert behind.state("lock.front_door") == "unlocked"
        await client.send("call", **unlock)
        await client.until("done")
        assert client.kinds().count("confirmation_required") == 1


async def test_snoozing_what_does_not_ring_is_said_to_have_no_effect(folders: Folders) -> None:
    async with voice_server(folders, has_tools=False) as behind, connected(behind.url) as client:
        await client.send("snooze")
        assert (await client.until("error"))["code"] == "not_ringing"
