"""Finds what a sentence holds for a program: paths, addresses, queries, expressions, times, zones and numbers."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from edgevox.tools.builtin.knowledge.places import find_place
from edgevox.tools.mcp.arguments import zone_of

_URL = re.compile(r"https?://[^\s<>\"']*[^\s<>\"'.,;:!?)]", re.IGNORECASE)
_PATH = re.compile(r"(?<![\w/:])(?:~|\.{1,2})?/[^\s,;\"'?]*[^\s,;\"'?.!]|(?<![\w/:])[A-Za-z]:\\[^\s,;\"']+")
# One without a slash at its beginning: with "_" or ".", with two slashes, or beside the word for it.
_RELATIVE = re.compile(
    r"(?<![\w/:.])(?:(?=\S*[_.])[A-Za-z_][\w.-]*(?:/[\w.-]*\w)+/?|[A-Za-z_][\w.-]*(?:/[\w.-]*\w){2,}/?|"
    r"[A-Za-z_][\w.-]*(?:/[\w.-]*\w)+/?(?= (?:folder|directory|file)\b))"
)
FILE = re.compile(r"(?<![\w/.])[\w-]+\.[A-Za-z]\w{0,4}(?![\w./])")
_SQL = re.compile(
    r"\b(?:select\b(?:(?!\bselect\b).)+?\bfrom\b|insert into\b|update\b.+?\bset\b|delete from\b|create table\b).+",
    re.IGNORECASE,
)
_SUM = re.compile(r"(?<![\w.])[-(]*\d[\d.,\s()*/+^%-]*[*/+^-][\d.\s()*/+^%-]*[\d)]")
_CLOCK = re.compile(r"\b(?:[01]?\d|2[0-3]):[0-5]\d\b")
QUOTED = re.compile(r"[\"“‘]([^\"”’]+)[\"”’]|(?<!\w)'([^']+)'(?!\w)")
NUMBER = re.compile(r"(?<![\w.:/-])-?\d+(?:\.\d+)?(?![\w:/]|\.\d)")
_HALF_DAY = re.compile(r"\b(1[0-2]|0?[1-9])(?::([0-5]\d))? ?([ap])\.?m\b\.?", re.IGNORECASE)
_REVISION = re.compile(r"\bHEAD(?:[~^]\d*)*(?!\w)|\b(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,40}\b")
_PLACE = re.compile(r"\b(?:in|to|from|for|at|of) (?P<name>[A-Z][\w'-]*(?: [A-Z][\w'-]*)*)")
_IS_ABOUT_TIME = re.compile(r"\btime\b|\bclock\b|\bhow late\b|\bhour\b|\d:\d\d", re.IGNORECASE)
_ZONE = re.compile(r"\b[A-Z][a-z]+(?:/[A-Z][A-Za-z_]+)+\b")
_CAPITALS = re.compile(r"\b[A-Z][\w'-]*(?: [A-Z][\w'-]*)*")


@dataclass
class Held:
    """A sentence and what it holds; what an argument has taken is gone."""

    text: str
    raw: str = ""
    """the sentence with its lines"""
    urls: list[str] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    sql: str = ""
    sum: str = ""
    clocks: list[str] = field(default_factory=list)
    zones: list[str] = field(default_factory=list)
    revision: str = ""
    """a commit: HEAD~1, 3f2a91c"""
    rest: str = ""
    """the sentence without addresses and paths"""

    @property
    def folder(self) -> str:
        """The only path, if it is that of a folder; else ""."""
        return self.paths[0] if len(self.paths) == 1 and "." not in self.paths[0].rpartition("/")[2] else ""

    @property
    def files(self) -> list[str]:
        """The names of files, in their folder where it is said: README.md, located in ./docs."""
        folder = f"{self.folder.rstrip('/')}/" if self.folder else ""
        return [f"{folder}{name}" for name in FILE.findall(self.rest)]

    @property
    def is_hard(self) -> bool:
        """Whether there is something that no request for the home has."""
        return bool(self.urls or self.paths or self.sql)


def held_in(text: str) -> Held:
    """What is in a sentence."""
    plain = " ".join(text.split())
    held = Held(plain, text)
    held.urls = _URL.findall(plain)
    rest = _URL.sub(" ", plain)
    if found := _SQL.search(rest):
        held.sql = found[0]
    held.zones = [zone for zone in _ZONE.findall(rest) if zone_of(zone) == zone]
    without_zones = _ZONE.sub(lambda found: " " if found[0] in held.zones else found[0], rest)
    if not held.sql:
        held.revision = found[0] if (found := _REVISION.search(rest)) else ""
    path = _PATH if _PATH.search(without_zones) or held.sql else _RELATIVE
    held.paths = path.findall(without_zones)
    rest = " ".join(path.sub(" ", without_zones).split())
    if found := _SUM.search(rest):
        held.sum = found[0].strip()
    rest = _HALF_DAY.sub(_of_24_hours, rest)
    held.clocks = _CLOCK.findall(rest)
    held.rest = rest.strip(" .?!")
    places = {found.start(): zone for found in _CAPITALS.finditer(held.rest) if (zone := zone_of(found[0]))}
    if _IS_ABOUT_TIME.search(held.rest):  # cities that no zone has its name from
        for found in _PLACE.finditer(held.rest):
            if found.start("name") not in places and (place := find_place(found["name"])):
                places[found.start("name")] = place.zone
    held.zones += [zone for _, zone in sorted(places.items()) if zone not in held.zones]
    return held


def _of_24_hours(said: re.Match[str]) -> str:
    hour = int(said[1]) % 12 + (12 if said[3] in "pP" else 0)
    return f"{hour:02}:{said[2] or '00'}"
