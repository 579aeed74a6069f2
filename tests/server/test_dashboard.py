"""What a page shows: the home, the tools, the turns of a day, how it is, and settings that it may change."""

from __future__ import annotations

import asyncio
import datetime as dt
import tomllib
from typing import Any

import aiohttp
import pytest

from edgevox.audio.files import decode_audio
from edgevox.config import Settings, load_settings
from edgevox.core.files import Folders
from tests.server.web.conftest import SMALL_VOICE
from tests.server.websocket.harness import LIGHT_ON, OWNER, TALKER, connected, voice_server


async def asked(
    url: str, path: str, *, method: str = "GET", token: str = OWNER, **more: Any
) -> tuple[int, dict[str, Any]]:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with (
        aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(20)) as session,
        session.request(method, url + path, headers=headers, **more) as response,
    ):
        return response.status, await response.json()


async def test_the_home_is_shown_as_it_is_now(folders: Folders) -> None:
    async with voice_server(folders, [LIGHT_ON]) as behind, connected(behind.url) as client:
        await client.send("text", text="turn on the kitchen light")
        await client.until("done")
        status, home = await asked(behind.url, "/v1/home")
        _status, german = await asked(behind.url, "/v1/home?language=de")
        _status, unknown = await asked(behind.url, "/v1/home?language=tlh")
    assert status == 200
    assert unknown == home
    phrases = {thing["id"]: thing["phrase"] for thing in german["things"]}
    seen = ("light.kitchen", "media_player.tv", "lock.front_door", "weather.home", "sensor.outdoor_temperature")
    words = ("an", "spielt · the news", "abgeschlossen", "Teilweise bewölkt", "14,5 °C")
    assert tuple(phrases[one] for one in seen) == words
    light = next(thing for thing in home["things"] if thing["id"] == "light.kitchen")
    assert (light["state"], light["phrase"], light["domain"]) == ("on", "on", "light")
    assert light["area"] in {area["id"] for area in home["areas"]}
    assert (home["kind"], home["problem"]) == ("demo", "")


async def test_tools_are_counted_and_those_not_offered_have_a_reason(folders: Folders) -> None:
    async with voice_server(folders, [LIGHT_ON]) as behind, connected(behind.url) as client:
        await client.send("text", text="turn on the kitchen light")
        await client.until("done")
        _status, stats = await asked(behind.url, "/v1/tools/stats")
    by_name = {tool["name"]: tool for tool in stats["data"]}
    assert (by_name["turn_on"]["chosen"], by_name["turn_off"]["chosen"]) == (1, 0)
    assert "tools.documents" in stats["not_offered"]["search_corpus"]


async def test_the_turns_of_today_have_their_waterfalls_and_a_trend(folders: Folders) -> None:
    async with voice_server(folders, ["Hello."]) as behind, connected(behind.url) as client:
        await client.send("text", text="hello")
        done = await client.until("done")
        _status, turns = await asked(behind.url, "/v1/turns")
        bad = [await asked(behind.url, f"/v1/turns?day={day}") for day in ("x", "0001-01-01", "9999-12-31")]
    assert turns["data"][0]["turn_id"] == done["turn_id"]
    assert turns["data"][0]["stages"] == done["waterfall"]["stages"]
    assert [(hour["turns"], hour["failed"]) for hour in turns["trend"]] == [(1, 0)]
    assert turns["trend"][0]["median_ms"]["total"] == done["waterfall"]["total_ms"]
    assert turns["day"] == dt.datetime.now().astimezone().date().isoformat()
    assert [status for status, _body in bad] == [400, 400, 400]


async def test_turns_of_a_room_are_told_apart_from_those_elsewhere(folders: Folders) -> None:
    async with voice_server(folders, ["Hello.", "Hello."]) as behind:
        for room in ("Kitchen", ""):
            async with connected(behind.url, room=room) as client:
                await client.send("text", text="hello")
                await client.until("done")
        _status, turns = await asked(behind.url, "/v1/turns")
        _status, kitchen = await asked(behind.url, "/v1/turns?room=Kitchen")
        _status, found = await asked(behind.url, "/v1/turns/search?words=hello&room=Kitchen")
        _status, none = await asked(behind.url, "/v1/turns/search?words=hello&room=Garage")
    assert turns["rooms"] == ["Kitchen"]
    assert [turn["room"] for turn in turns["data"]] == ["Kitchen", ""]
    assert kitchen["data"] == found["data"] == turns["data"][:1]
    assert none["data"] == []


async def test_status_tells_of_engines_and_clients(folders: Folders) -> None:
    async with voice_server(folders) as behind, connected(behind.url):
        _status, told = await asked(behind.url, "/v1/status", token="")
    assert told["engines"]["llm"]["state"] == "ready"
    assert told["voice"] == {"clients": 1, "max_clients": 4}
    assert told["trouble"] is None


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/v1/turns"),
        ("GET", "/v1/settings"),
        ("PATCH", "/v1/settings"),
        ("POST", "/v1/downloads/whisper-base"),
        ("GET", "/v1/events"),
        ("POST", "/v1/voice"),
    ],
)
async def test_what_was_said_and_what_is_set_needs_its_own_scope(folders: Folders, method: str, path: str) -> None:
    async with voice_server(folders) as behind:
        status, body = await asked(behind.url, path, method=method, token="")
        assert (status, body["error"]["code"]) == (401, "missing_api_key")
        status, body = await asked(behind.url, path, method=method, token=TALKER)
        assert (status, body["error"]["code"]) == (403, "token_scope_insufficient")


async def test_a_setting_is_changed_in_the_file(folders: Folders) -> None:
    reloads: list[None] = []
    async with voice_server(folders, reload=lambda: reloads.append(None)) as behind:
        status, told = await asked(
            behind.url, "/v1/settings", method="PATCH", json={"tts.speed": 1.25, "sounds.chimes": False}
        )
    assert (status, told) == (200, {"saved": ["sounds.chimes", "tts.speed"], "in_force": "soon"})
    assert reloads == [None]
    written = tomllib.loads(folders.config_file.read_text())
    assert written == {"tts": {"speed": 1.25}, "sounds": {"chimes": False}}
    assert load_settings(folders, environ={}).tts.speed == 1.25


@pytest.mark.parametrize(
    "changes",
    [
        {"tts.speed": 99.0},
        {"tts.speed": "fast"},
        {"server.host": "0.0.0.0"},
        {"tools.confirm_otherwise": "never"},
        {"tts.speed": 1.1, "nothing": 1},
        {"home.room": "Cellar"},
        {"tts.voice": "piper-not-downloaded"},
        {"tts.speed": None},
        {},
        [],
    ],
)
async def test_a_change_that_is_wrong_changes_nothing(folders: Folders, changes: object) -> None:
    async with voice_server(folders) as behind:
        status, body = await asked(behind.url, "/v1/settings", method="PATCH", json=changes)
    assert (status, body["error"]["code"]) == (400, "invalid_value")
    assert not folders.config_file.exists()


async def test_a_change_that_would_make_the_file_invalid_changes_nothing(folders: Folders) -> None:
    english = '[stt]\nmodel = "whisper-tiny.en"\n'
    folders.config_file.parent.mkdir(parents=True, exist_ok=True)
    folders.config_file.write_text(english, encoding="utf-8")
    async with voice_server(folders) as behind:
        status, body = await asked(behind.url, "/v1/settings", method="PATCH", json={"stt.language": "de"})
    assert (status, "knows English only" in body["error"]["message"]) == (400, True)
    assert folders.config_file.read_text(encoding="utf-8") == english


async def test_settings_say_what_they_are_and_whether_they_can_be_changed(folders: Folders) -> None:
    settings: Settings = load_settings(folders, environ={"EDGEVOX_TTS__SPEED": "1.5"})
    async with voice_server(folders, settings=settings) as behind:
        _status, told = await asked(behind.url, "/v1/settings")
        refused = await asked(behind.url, "/v1/settings", method="PATCH", json={"tts.speed": 1.0})
    by_name = {setting["name"]: setting for setting in told["data"]}
    assert (by_name["tts.speed"]["value"], by_name["tts.speed"]["is_changeable"]) == (1.5, False)
    assert "EDGEVOX_TTS__SPEED" in by_name["tts.speed"]["why_not"]
    assert by_name["sounds.chimes"]["is_changeable"] is True
    assert "Kitchen" in by_name["home.room"]["choices"]
    assert by_name["audio.hangover_ms"]["schema"]["minimum"] == 100
    assert refused[0] == 400


async def test_a_voice_is_chosen_from_the_list(folders: Folders) -> None:
    reloads: list[None] = []
    async with voice_server(folders, reload=lambda: reloads.append(None)) as behind:
        _status, told = await asked(behind.url, "/v1/voices")
        async with (
            aiohttp.ClientSession(headers={"Authorization": f"Bearer {OWNER}"}) as session,
            session.get(f"{behind.url}/v1/voices/small-voice/sample") as sample,
        ):
            assert (sample.status, sample.content_type) == (200, "audio/wav")
            assert decode_audio(await sample.read(), max_s=60).duration_s == pytest.approx(0.11, abs=0.01)
        refused = [
            await asked(behind.url, f"/v1/voices/{voice}/use", method="POST") for voice in ("nobody", "whisper-base")
        ]
        status, saved = await asked(behind.url, "/v1/voices/piper-en_US-joe-medium/use", method="POST")
    voices = {voice["id"]: voice for voice in told["data"]}
    assert voices["piper-de_DE-thorsten-medium"]["language_name"] == "German"
    assert [voice["is_used"] for voice in voices.values()].count(True) == 1
    assert [code for code, _body in refused] == [404, 400]
    assert (status, saved, reloads) == (200, {"saved": ["tts.voice"], "in_force": "soon"}, [None])
    assert load_settings(folders, environ={}).tts.voice == "piper-en_US-joe-medium"


async def test_a_model_is_downloaded_and_its_progress_is_told(folders: Folders) -> None:
    folders.config.mkdir(parents=True)
    (folders.config / "models.toml").write_text(SMALL_VOICE)
    async with voice_server(folders, has_tools=False) as behind:

        async def told() -> dict[str, Any]:
            _status, body = await asked(behind.url, "/v1/downloads")
            return next(model for model in body["data"] if model["id"] == "small-voice")

        assert not (await told())["is_installed"]
        unknown, _body = await asked(behind.url, "/v1/downloads/nothing", method="POST")
        assert unknown == 404
        await asked(behind.url, "/v1/downloads/small-voice", method="POST")
        async with asyncio.timeout(20):
            while (model := await told())["is_running"]:
                pass
    assert (model["is_installed"], model["error"]) == (True, "")
