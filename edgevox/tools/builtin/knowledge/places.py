"""Finds the time zone of a city, a state, a country or a zone's own name.

The names come from GeoNames (places.tsv, written by script/places). The file is searched, not kept in memory: such
questions are rare, and one search takes 3 ms.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

from edgevox.core.files import packaged_toml

MAX_PLACE_CHARS = 60
_WITH_ARTICLE = (
    "United ",
    "Netherlands",
    "Philippines",
    "Bahamas",
    "Maldives",
    "Gambia",
    "Czech ",
    "Dominican ",
    "Cayman ",
)


@dataclass(frozen=True, slots=True)
class Place:
    """A place to speak of, with its time zone and region: "US-TX" or a country's code."""

    name: str
    zone: str
    region: str = ""


@lru_cache(maxsize=64)
def find_place(said: str) -> Place | None:
    """The place that is meant; of several cities with that name the largest. None if there is none."""
    if len(said) > MAX_PLACE_CHARS:
        return None
    name = _plain(said)
    if not name:
        return None
    aliases = packaged_toml("tools/builtin/knowledge/places.toml")
    zone_name = re.sub(r" time(?: zone)?$|^time zone ", "", name)
    if zone_name in aliases["zones"]:
        zone, label = aliases["zones"][zone_name]
        return Place(label, zone)
    name = _plain(aliases["names"].get(zone_name, zone_name))
    found = _named(name)
    if found:
        return _best(found)
    words = name.split(" ")
    for count in range(1, min(4, len(words))):
        region = find_place(" ".join(words[-count:]))
        city = " ".join(words[:-count])
        named = (*_named(city), *_named(_plain(aliases["names"].get(city, city)))) if region else ()
        of_region = [place for kind, place, _ in named if region and kind == "city" and _is_in(place, region)]
        if of_region:
            return of_region[0]
    return None


def _is_in(place: Place, region: Place) -> bool:
    return bool(region.region) and (place.region == region.region or place.region.startswith(f"{region.region}-"))


def _best(found: list[tuple[str, Place, bool]]) -> Place:
    """Countries before states before cities, and of cities the largest."""
    order = ("country", "state", "city")
    _, place, _ = min(found, key=lambda each: (order.index(each[0]), each[2]))
    if {"country", "state"} <= {kind for kind, _, _ in found} and "," not in place.name:
        return Place(f"the country {place.name}", place.zone, place.region)
    return place


def _named(name: str) -> list[tuple[str, Place, bool]]:
    """All places with that name: their kind, and whether a larger one has the same name."""
    return [found for line in _lines(name) for found in _matches(line, name)]


def _matches(line: str, name: str) -> Iterator[tuple[str, Place, bool]]:
    kind, region, zone, names = line.split("\t")
    all_names = names.split("|")
    if kind == "country":
        if _plain(all_names[0]) == name:
            article = "the " if all_names[0].startswith(_WITH_ARTICLE) else ""
            yield kind, Place(", ".join((*all_names[1:], f"{article}{all_names[0]}")), zone, region), False
        return
    for each in all_names:
        if _plain(each) == name:
            yield kind, Place(each.removeprefix("~"), zone, region), each.startswith("~")


def _lines(name: str) -> Iterator[str]:
    first = name.split(" ")[-1]
    text = (files(__package__) / "places.tsv").read_text(encoding="utf-8")
    return (line for line in text.splitlines() if first in line.casefold())


def _plain(name: str) -> str:
    """Lower case without accents, punctuation and article."""
    name = unicodedata.normalize("NFKD", name.casefold().replace("ß", "ss"))
    name = "".join(letter for letter in name if not unicodedata.combining(letter))
    name = " ".join(re.sub(r"[^\w ]+", " ", name.replace("'", "")).split())
    return name.removeprefix("the ").removeprefix("city of ")
