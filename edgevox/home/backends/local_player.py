"""A player on this machine, as an entity of the home: music files and internet radio, played by mpv."""

from __future__ import annotations

import asyncio
import os
import random
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from edgevox.config.sections import MediaSettings
from edgevox.core.events import (
    AttentionChanged,
    Event,
    RingEnded,
    RingStarted,
    SpeechDropped,
    SpeechStarted,
    TurnEnded,
    TurnStarted,
)
from edgevox.core.words import normalized_words, word_set
from edgevox.home.backends.mpv import CommandRefused, Mpv
from edgevox.home.backends.wrapped import WrappedHome
from edgevox.home.entities import Action, ConnectedHome, Entity, HomeError, House
from edgevox.home.phrasing import brief, sentence
from edgevox.home.resolve.fuzzy import find_by_words

PLAYER_ID = "media_player.edgevox"

_SUFFIXES = (".mp3", ".flac", ".ogg", ".oga", ".opus", ".m4a", ".aac", ".wav", ".wma", ".aif", ".aiff")
_MOST_FILES = 50_000
_MOST_QUEUED = 500
_OPENS_WITHIN_S = 12.0
_FIRST_VOLUME = 60
# The share of the volume while the assistant listens or speaks: about 18 dB less, since mpv's scale is cubic.
_DUCKED = 0.5
# What is said for any music, and words that say what kind of thing is meant.
_ANYTHING = word_set("music something anything songs song tunes some any a my random whatever favourites")
_KINDS = word_set("the by from on of album artist song track station radio channel playlist some music songs")
_TRACK_NUMBER = re.compile(r"^\d{1,3}[ ._-]+(?=\S)")
_STATION = word_set("radio station channel")


class Library:
    """The stations and the music files of the settings. Files are found by the names of files and folders."""

    def __init__(self, settings: MediaSettings) -> None:
        self._stations = settings.stations
        self._folder = settings.music_folder

    def find(self, query: str) -> tuple[str, ...]:
        """What to play for a query, in order. Raises HomeError if there is nothing."""
        words = normalized_words(query)
        wanted = tuple(word for word in words if word not in _KINDS) or words
        is_anything = set(words) <= _ANYTHING
        names = tuple(self._stations)
        if not is_anything and (found := find_by_words(wanted, names, normalized_words)):
            return (self._stations[found[0]],)
        if names and set(words) <= _STATION | {"the", "a", "some", "play"}:
            return (self._stations[names[0]],)
        files = self._files()
        if is_anything and files:
            return tuple(map(str, random.sample(files, min(len(files), _MOST_QUEUED))))
        if is_anything and names:
            return (self._stations[names[0]],)
        if found_files := self._named(wanted, files):
            return tuple(map(str, found_files[:_MOST_QUEUED]))
        raise HomeError(self._nothing(query, files))

    def _named(self, wanted: tuple[str, ...], files: list[Path]) -> list[Path]:
        """The files in folders of that name, else those of that name, else those whose whole path has the words."""
        assert self._folder is not None or not files
        paths = {file: file.relative_to(self._folder) for file in files} if self._folder else {}
        folders = tuple({part for path in paths.values() for part in path.parent.parts})
        if meant := set(find_by_words(wanted, folders, normalized_words)):
            return [file for file, path in paths.items() if meant & set(path.parent.parts)]
        if named := find_by_words(wanted, tuple(files), lambda file: normalized_words(file.stem)):
            return list(named)
        return [file for file, path in paths.items() if set(wanted) <= set(normalized_words(" ".join(path.parts)))]

    def _files(self) -> list[Path]:
        if self._folder is None:
            return []
        found: list[Path] = []
        for folder, _, names in os.walk(self._folder):
            found.extend(Path(folder, name) for name in names if name.casefold().endswith(_SUFFIXES))
            if len(found) > _MOST_FILES:
                break
        return sorted(found)

    def _nothing(self, query: str, files: list[Path]) -> str:
        if self._folder is not None and not files:
            return f"The music folder {self._folder} has no music: check the setting media.music_folder."
        places = "the music folder or the stations" if self._folder and self._stations else "the music folder"
        return sentence(f"I find no {brief(query)} in {places if self._folder else 'the stations'}")


class LocalPlayer:
    """mpv as an entity. Its methods raise HomeError."""

    def __init__(self, settings: MediaSettings, library: Library | None = None) -> None:
        self._mpv = Mpv(settings.mpv_options)
        self._name = settings.player_name
        self._library = library or Library(settings)
        self._volume = _FIRST_VOLUME
        self._is_ducked = False
        self._background: set[asyncio.Task[None]] = set()

    def entity(self, area: str | None = None) -> Entity:
        """The player in its present state."""
        known = self._mpv.properties
        is_idle = not self._mpv.is_running or known.get("idle-active", True)
        state = "idle" if is_idle else "paused" if known.get("pause") else "playing"
        attributes: dict[str, Any] = {"volume_level": self._volume, "is_volume_muted": bool(known.get("mute"))}
        if not is_idle:
            attributes |= _titles(known)
        return Entity(PLAYER_ID, self._name, "media_player", state, area=area, attributes=attributes)

    async def apply(self, action: Action) -> None:
        state = self.entity().state
        match action.verb:
            case "play":
                await self._play(str(action.values["search_query"]))
            case "turn_on" if state == "idle":
                await self._play("music")
            case "turn_on" | "unpause" if state != "idle":
                await self._set("pause", False)
            case "turn_off" if state == "idle":
                pass
            case "turn_off":
                await self._mpv.command("stop")
                self._mpv.properties["idle-active"] = True
            case "set_volume":
                self._volume = int(action.values["volume_level"])
                await self._apply_volume()
            case "mute" | "unmute" if self._mpv.is_running:
                await self._set("mute", action.verb == "mute")
            case "pause" if state == "playing":
                await self._set("pause", True)
            case "next" | "previous" if state != "idle":
                await self._skip(action.verb)
            case "unpause":
                raise HomeError("Nothing is paused.")
            case "pause" | "next" | "previous" | "mute" | "unmute":
                raise HomeError("Nothing is playing.")
            case _:
                raise HomeError(sentence(f"the {self._name.casefold()} cannot do that"))

    def duck(self, is_ducked: bool) -> None:
        """Lower the volume while the assistant listens or speaks."""
        if is_ducked == self._is_ducked:
            return
        self._is_ducked = is_ducked
        if self._mpv.is_running:
            task = asyncio.get_running_loop().create_task(self._duck())
            self._background.add(task)
            task.add_done_callback(self._background.discard)

    async def close(self) -> None:
        await self._mpv.close()

    async def _duck(self) -> None:
        try:
            await self._apply_volume()
        except HomeError:
            return  # mpv has ended

    async def _apply_volume(self) -> None:
        if self._mpv.is_running:
            await self._mpv.command("set_property", "volume", self._volume * (_DUCKED if self._is_ducked else 1))

    async def _set(self, name: str, value: bool) -> None:
        await self._mpv.command("set_property", name, value)
        self._mpv.properties[name] = value

    async def _play(self, query: str) -> None:
        first, *others = await asyncio.to_thread(self._library.find, query)
        await self._mpv.command("set_property", "volume", self._volume * (_DUCKED if self._is_ducked else 1))
        await self._set("pause", False)
        await self._opened("loadfile", first, "replace", problem=f"I cannot play {brief(query)} right now.")
        for other in others:
            await self._mpv.command("loadfile", other, "append")

    async def _skip(self, verb: str) -> None:
        try:
            command = "playlist-next" if verb == "next" else "playlist-prev"
            await self._opened(command, problem="That track cannot be played.")
        except CommandRefused:
            raise HomeError(f"There is no {verb} track.") from None
        await self._set("pause", False)

    async def _opened(self, *command: object, problem: str) -> None:
        """Run a command that opens something, and wait until it plays."""
        self._mpv.properties.pop("media-title", None)
        try:
            is_open = await self._mpv.opened_by(*command, within_s=_OPENS_WITHIN_S)
        except TimeoutError:
            is_open = False
        if not is_open:
            raise HomeError(problem)
        self._mpv.properties["idle-active"] = False


def _titles(known: Mapping[str, Any]) -> dict[str, str]:
    """The title and the artist; radio stations send both as `icy-title`."""
    metadata = known.get("metadata")
    tags = {str(key).casefold(): str(value) for key, value in metadata.items()} if isinstance(metadata, dict) else {}
    name = str(known.get("media-title") or "")
    if name.casefold().endswith(_SUFFIXES):
        name = _TRACK_NUMBER.sub("", Path(name).stem)
    title = tags.get("icy-title") or tags.get("title") or tags.get("icy-name") or name
    found = {"media_title": title, "media_artist": tags.get("artist", "")}
    return {name: " ".join(text.split()) for name, text in found.items() if text}


class HomeWithLocalPlayer(WrappedHome):
    """Adds a player on this machine to a home; `room` is the name of the room in which it is."""

    def __init__(self, home: ConnectedHome, player: LocalPlayer, room: str | None = None) -> None:
        super().__init__(home)
        self.player = player
        self._room = normalized_words(room or "")

    async def close(self) -> None:
        await self.player.close()
        await super().close()

    def house(self) -> House:
        house = self._home.house()
        return replace(house, entities=(*house.entities, self._entity(house)))

    async def apply(self, action: Action) -> tuple[Entity, ...]:
        others = tuple(target for target in action.targets if target.id != PLAYER_ID)
        if len(others) == len(action.targets):
            return await self._home.apply(action)
        changed = await self._home.apply(replace(action, targets=others)) if others else ()
        done = {entity.id: entity for entity in changed}
        try:
            await self.player.apply(action)
            done[PLAYER_ID] = self._entity(self._home.house())
        except HomeError:
            if not done:
                raise
        return tuple(done[target.id] for target in action.targets if target.id in done)

    def _entity(self, house: House) -> Entity:
        areas = (area.id for area in house.areas if self._room and normalized_words(area.name) == self._room)
        return self.player.entity(next(areas, None))


class Ducking:
    """A listener on the bus: music is quieter from the wake word to the end of the reply, and while an alarm rings.

    With `hears_only_commands` any speech counts: a satellite is silent until its wake word.
    """

    def __init__(self, duck: Callable[[bool], None], *, hears_only_commands: bool = False) -> None:
        self._duck = duck
        self._hears_only_commands = hears_only_commands
        self._reasons: set[str] = set()
        # Without a wake word the assistant is always awake.
        self._has_slept = False

    def __call__(self, event: Event) -> None:
        match event:
            case AttentionChanged(attention="awake"):
                if self._has_slept:
                    self._reasons.add("awake")
            case AttentionChanged():
                self._has_slept = self._has_slept or event.attention == "asleep"
                self._reasons.discard("awake")
            case SpeechStarted() if self._hears_only_commands:
                self._reasons.add("speech")
            case SpeechDropped():
                self._reasons.discard("speech")
            case TurnStarted(source="voice" | "timer"):
                self._reasons.add(event.turn_id)
            case TurnEnded():
                self._reasons -= {event.turn_id, "speech"}
            case RingStarted():
                self._reasons.add(event.ring_id)
            case RingEnded():
                self._reasons.discard(event.ring_id)
            case _:
                return
        self._duck(bool(self._reasons))
