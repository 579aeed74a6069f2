"""Music and radio through a real mpv without sound, asked for with the media tools of the home."""

from __future__ import annotations

import asyncio
import functools
import shutil
import threading
import wave
from collections.abc import AsyncIterator, Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import cast

import pytest
from pydantic import ValidationError

from edgevox.config.sections import MediaSettings
from edgevox.core.events import AttentionChanged, TurnEnded, TurnStarted
from edgevox.home import Area, DemoHome, Entity, House
from edgevox.home.backends.local_player import PLAYER_ID, Ducking, HomeWithLocalPlayer, Library, LocalPlayer
from edgevox.home.backends.mpv import Mpv
from edgevox.home.entities import HomeError
from tests.home.conftest import Bench

MUSIC = (
    "Miles Davis/Kind of Blue/01 So What.wav",
    "Miles Davis/Kind of Blue/02 Freddie Freeloader.wav",
    "Queen/Bohemian Rhapsody.wav",
)
SILENT = ("--ao=null",)
WITHIN_S = 10.0


class QuietRequests(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Logs nothing."""


class BareHome(DemoHome):
    """A home with a lamp and no player."""

    def house(self) -> House:
        lamp = Entity("light.lamp", "Lamp", "light", "on", area="den", attributes={"brightness": 40})
        return House((lamp,), (Area("den", "Den"),))


@pytest.fixture(scope="module")
def music(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("mpv") is None:
        pytest.fail("there is no mpv to test with: run script/setup --dev")
    folder = tmp_path_factory.mktemp("music")
    for name in MUSIC:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with wave.open(str(path), "wb") as file:
            file.setparams((1, 2, 8000, 0, "NONE", ""))
            file.writeframes(bytes(2 * 8000 * 60))
    return folder


@pytest.fixture(scope="module")
def station(music: Path) -> Iterator[str]:
    """The URL of a stream."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(QuietRequests, directory=music))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/Queen/Bohemian%20Rhapsody.wav?quality=high"
    server.shutdown()
    thread.join(WITHIN_S)
    server.server_close()


@pytest.fixture
async def home(music: Path, station: str) -> AsyncIterator[HomeWithLocalPlayer]:
    stations = {"Jazz FM": station, "Gone": "http://127.0.0.1:9/"}
    player = LocalPlayer(MediaSettings(music_folder=music, stations=stations, mpv_options=SILENT))
    home = HomeWithLocalPlayer(BareHome(), player, "den")
    yield home
    await home.close()


@pytest.fixture
def bench(home: HomeWithLocalPlayer) -> Bench:
    return Bench(cast("DemoHome", home))


def player(bench: Bench) -> Entity:
    return bench.entity(PLAYER_ID)


async def test_an_artist_is_played_paused_and_skipped(bench: Bench) -> None:
    assert (player(bench).state, player(bench).area) == ("idle", "den")
    assert await bench.say("media_search_and_play", search_query="Miles Davis") == (
        "Playing Miles Davis on the music player."
    )
    assert await bench.say("media_get_playing") == "The music player is playing So What."
    await bench.say("media_next")
    assert player(bench).attributes["media_title"] == "Freddie Freeloader"
    assert await bench.say("media_next") == "There is no next track."
    await bench.say("media_previous")
    assert await bench.say("media_pause") == "The music player is paused."
    assert player(bench).state == "paused"
    await bench.say("media_unpause")
    assert player(bench).state == "playing"
    await bench.say("turn_off", name="music player")
    assert player(bench).state == "idle"
    assert await bench.say("media_pause") == "Nothing is playing."


async def test_a_station_is_found_by_its_name(bench: Bench) -> None:
    await bench.say("media_search_and_play", search_query="jazz radio")
    assert player(bench).state == "playing"


async def test_what_cannot_be_played_is_said(bench: Bench) -> None:
    assert await bench.say("media_search_and_play", search_query="gone radio") == "I cannot play gone radio right now."
    assert await bench.say("media_search_and_play", search_query="abba") == (
        "I find no abba in the music folder or the stations."
    )
    async with asyncio.timeout(10):  # mpv tells its end on its own
        while player(bench).state != "idle":  # noqa: ASYNC110
            await asyncio.sleep(0.02)


async def test_the_volume_is_kept_while_it_is_ducked(home: HomeWithLocalPlayer, bench: Bench) -> None:
    await bench.say("media_search_and_play", search_query="queen")
    await bench.say("set_volume", volume_level=40)
    await bench.say("set_volume_relative", volume_step="up")
    assert player(bench).attributes["volume_level"] == 50
    home.player.duck(True)
    await volume(home, 25)
    assert player(bench).attributes["volume_level"] == 50
    home.player.duck(False)
    await volume(home, 50)


async def volume(home: HomeWithLocalPlayer, expected: float) -> None:
    await asyncio.sleep(0)  # the change is sent first
    assert await home.player._mpv.command("get_property", "volume") == expected


async def test_an_mpv_that_ended_is_started_again(home: HomeWithLocalPlayer, bench: Bench) -> None:
    await bench.say("media_search_and_play", search_query="queen")
    process = home.player._mpv._process
    assert process is not None
    process.kill()
    await bench.say("media_search_and_play", search_query="queen")
    assert player(bench).state == "playing"


async def test_other_things_of_the_home_are_left_to_it(bench: Bench) -> None:
    assert [entity.id for entity in bench.home.house().entities] == ["light.lamp", PLAYER_ID]


async def test_without_mpv_the_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(HomeError, match="apt install mpv"):
        await Mpv().command("stop")


async def test_without_a_player_the_settings_are_named() -> None:
    bench = Bench(BareHome())
    assert "media.music_folder" in await bench.say("media_search_and_play", search_query="jazz")


def test_any_music_is_shuffled_and_albums_and_titles_are_found(music: Path) -> None:
    library = Library(MediaSettings(music_folder=music))
    assert sorted(library.find("some music")) == sorted(str(music / name) for name in MUSIC)
    assert library.find("the album Kind of Blue") == tuple(str(music / name) for name in MUSIC[:2])
    assert library.find("freddie freeloader by miles davis") == (str(music / MUSIC[1]),)


def test_a_query_is_never_a_path_or_an_option(music: Path) -> None:
    library = Library(MediaSettings(music_folder=music))
    for query in ("/etc/passwd", "../../x.wav", "--script=evil.lua", "http://evil.example/x"):
        with pytest.raises(HomeError, match="I find no"):
            library.find(query)


def test_an_empty_music_folder_is_reported_with_its_setting(tmp_path: Path) -> None:
    with pytest.raises(HomeError, match=r"media\.music_folder"):
        Library(MediaSettings(music_folder=tmp_path)).find("music")


def test_a_station_is_a_web_address() -> None:
    with pytest.raises(ValidationError, match="not the URL of a stream"):
        MediaSettings(stations={"x": "file:///etc/passwd"})


def test_music_is_quieter_from_the_wake_word_to_the_end_of_the_reply() -> None:
    ducked: list[bool] = []
    listener = Ducking(ducked.append)
    listener(AttentionChanged(attention="awake"))  # there may be no wake word
    listener(AttentionChanged(attention="asleep"))
    assert ducked == [False, False]
    listener(AttentionChanged(attention="awake"))
    listener(TurnStarted(turn_id="1", source="voice", preset="home"))
    listener(AttentionChanged(attention="asleep"))
    assert ducked[2:] == [True, True, True]
    listener(TurnEnded(turn_id="1", outcome="answered"))
    assert ducked[-1] is False
