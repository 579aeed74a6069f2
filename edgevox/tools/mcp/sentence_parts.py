"""Finds what a sentence holds for a program: paths, addresses, queries, expressions, times, zones and numbers."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from edgevox.tools.mcp.arguments import zone_of

_URL = re.compile(r"https?://[^\s<>\"']*[^\s<>\"'.,;:!?)]", re.IGNORECASE)
_PATH = re.compile(r"(?<![\w/:])(?:~|\.{1,2})?/[^\s,;\"'?]*[^\s,;\"'?.!]|(?<![\w/:])[A-Za-z]:\\[^\s,;\"']+")
FILE = re.compile(r"(?<![\w/.])[\w-]+\.[A-Za-z]\w{0,4}(?![\w./])")
_SQL = re.compile(
    r"\b(?:select\b(?:(?!\bselect\b).)+?\bfrom\b|insert into\b|update\b.+?\bset\b|delete from\b|create table\b).+",
    re.IGNORECASE,
)
_SUM = re.compile(r"(?<![\w.])[-(]*\d[\d.,\s()*/+^%-]*[*/+^-][\d.\s()*/+^%-]*[\d)]")
_CLOCK = re.compile(r"\b(?:[01]?\d|2[0-3]):[0-5]\d\b")
QUOTED = re.compile(r"[\"“‘]([^\"”’]+)[\"”’]|(?<!\w)'([^']+)'(?!\w)")
NUMBER = re.compile(r"(?<![\w.:/-])-?\d+(?:\.\d+)?(?![\w:/]|\.\d)")
_ZONE = re.compile(r"\b[A-Z][a-z]+(?:/[A-Z][A-Za-z_]+)+\b")
_CAPITALS = re.compile(r"\b[A-Z][\w'-]*(?: [A-Z][\w'-]*)*")


@dataclass
class Held:
    """A sentence and what it holds; what an argument has taken is gone."""

    text: str
    urls: list[str] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    sql: str = ""
    sum: str = ""
    clocks: list[str] = field(default_factory=list)
    zones: list[str] = field(default_factory=list)
    rest: str = ""
    """the sentence without addresses and paths"""

    @property
    def is_hard(self) -> bool:
        """Whether there is something that no request for the home has."""
        return bool(self.urls or self.paths or self.sql)


def held_in(text: str) -> Held:
    """What is in a sentence."""
    plain = " ".join(text.split())
    held = Held(plain)
    held.urls = _URL.findall(plain)
    rest = _URL.sub(" ", plain)
    if found := _SQL.search(rest):
        held.sql = found[0]
    held.zones = [zone for zone in _ZONE.findall(rest) if zone_of(zone) == zone]
    without_zones = _ZONE.sub(lambda found: " " if found[0] in held.zones else found[0], rest)
    held.paths = _PATH.findall(without_zones)
    rest = " ".join(_PATH.sub(" ", without_zones).split())
    if found := _SUM.search(rest):
        held.sum = found[0].strip()
    held.clocks = _CLOCK.findall(rest)
    held.rest = rest.strip(" .?!")
    for words in _CAPITALS.findall(held.rest):
        if (zone := zone_of(words)) and zone not in held.zones:
            held.zones.append(zone)
    return held
