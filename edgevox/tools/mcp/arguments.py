"""Corrects the arguments of a server's tool by what its schema says about them, without a model."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from functools import cache
from typing import Any
from zoneinfo import available_timezones

_ASKS_FOR_ZONE = re.compile(r"\b(?:iana|time ?zones?)\b|time_?zone", re.IGNORECASE)


# What servers write about arguments: the model may then try again, with the parameters explained.
_ABOUT_ARGUMENTS = re.compile(
    r"\b(?:invalid(?! (?:answer|result|response|reply)\b)|missing|required|"
    r"requires|must|expected|unknown|unrecogni[sz]ed|not (?:a )?valid|no such|not found|"
    r"does not exist|doesn't exist|validation|arguments?|parameters?|allowed|supported|ENOENT)\b",
    re.IGNORECASE,
)


def is_about_arguments(error: str) -> bool:
    """Whether a server's error says that an argument was wrong, so that other arguments may work."""
    return bool(_ABOUT_ARGUMENTS.search(error))


def correct_arguments(schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments, with cities replaced by the time zones that the schema asks for."""
    slots = schema.get("properties")
    known = slots if isinstance(slots, Mapping) else {}
    return {name: _corrected(name, value, known.get(name)) for name, value in arguments.items()}


_QUOTED_OPTION = re.compile(r"[\"'`‘“]([^\"'`’”\n]{1,80})[\"'`’”]")
_LISTED = re.compile(
    r"(?:one of|available|allowed|valid|expected|options|choices|did you mean)\b[^:\n]{0,40}:? (.+)", re.IGNORECASE
)


def corrected_by_error(arguments: Mapping[str, Any], error: str, *, only_reads: bool) -> dict[str, Any] | None:
    """The arguments with one value replaced by the one that a server's error offers instead; None if it offers none.

    "Unknown vault 'Garden'. Available vaults: garden, work" offers garden. A tool that changes something gets only
    another spelling of the same words: a similar name is not what the user has said yes to.
    """
    listed = [part for found in _LISTED.findall(error) for part in re.split(r"[,|;]| or ", found)]
    offered = [option.strip(" \"'`‘’“”[](){}.") for option in (*_QUOTED_OPTION.findall(error), *listed)]
    for name, value in arguments.items():
        others = [option for option in offered if option and option != value]
        if not isinstance(value, str) or not value or not others:
            continue
        same = [option for option in others if _key(option) == _key(value)]
        begun = [option for option in others if _key(option).startswith(_key(value)) and " " not in option]
        near = difflib.get_close_matches(value, others, n=1, cutoff=0.8)
        if found := (*same, *begun, *near) if only_reads else same:
            return {**arguments, name: found[0]}
    return None


def asks_for_zone(about: str) -> bool:
    """Whether the name or the description of a parameter asks for a time zone."""
    return bool(_ASKS_FOR_ZONE.search(about))


def zone_of(city: str) -> str | None:
    """The time zone of a city, or None."""
    zone = _zone(city)
    return zone if zone in available_timezones() and "/" in zone else None


def _corrected(name: str, value: object, slot: object) -> object:
    if not isinstance(value, str) or not isinstance(slot, Mapping):
        return value
    if asks_for_zone(f"{name} {slot.get('description', '')}"):
        return _zone(value)
    return value


def _zone(value: str) -> str:
    """The time zone of a city: "Asia/Tokyo" for Tokyo."""
    return value if value in available_timezones() else _zones_by_city().get(_key(value), value)


@cache
def _zones_by_city() -> dict[str, str]:
    zones: dict[str, str] = {}
    for zone in sorted(available_timezones()):
        region, _, city = zone.partition("/")
        # Others are abbreviations and old names.
        if city and region not in ("Etc", "SystemV", "US", "posix", "right"):
            zones.setdefault(_key(city.rpartition("/")[2]), zone)
    return zones


def _key(text: str) -> str:
    return re.sub(r"[\W_]+", "", text.casefold())
