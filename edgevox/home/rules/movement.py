"""Reads requests to stop covers and valves, and to pause and resume vacuum cleaners and lawn mowers."""

from __future__ import annotations

from edgevox.home.entities import House
from edgevox.home.rules.reading import Calls, call, found, pattern, without_article

_WHERE = (
    r"(?: (?:there|right there|right here|here|where (?:it is|they are)|half ?way|moving|going|right away|at once))*"
)
_STOP = pattern(
    rf"^(?:stop|halt|freeze)(?: (?:moving|opening|closing|raising|lowering|rolling))? (?P<target>.+?){_WHERE}$"
)
_PAUSE = pattern(rf"^(?:pause|stop|halt|hold|interrupt|suspend) (?P<target>.+?){_WHERE}$")
_RESUME = pattern(r"^(?:resume|unpause|continue|restart) (?:with )?(?P<target>.+?)$")
_DOING = {
    "vacuum": pattern(r"(?:the )?(?:vacuuming|vacuum|hoovering|cleaning)"),
    "lawn_mower": pattern(r"(?:the )?mowing(?: the (?:lawn|grass))?"),
}
_PAUSES = {"vacuum": "vacuum_pause", "lawn_mower": "lawn_mower_pause"}
_STARTS = {"vacuum": "vacuum_start", "lawn_mower": "lawn_mower_start_mowing"}


def parse(text: str, house: House) -> Calls:
    """The calls of a request, or none."""
    if (said := _PAUSE.match(text)) and (calls := _robot(said["target"], house, _PAUSES)):
        return calls
    if (said := _RESUME.match(text)) and (calls := _robot(said["target"], house, _STARTS)):
        return calls
    if said := _STOP.match(text):
        target = without_article(said["target"])
        if found("stop_moving", house, name=target):
            return (call("stop_moving", name=target),)
    return ()


def _robot(said: str, house: House, tools: dict[str, str]) -> Calls:
    for domain, tool in tools.items():
        if not any(entity.domain == domain for entity in house.entities):
            continue
        if _DOING[domain].fullmatch(said) and found(tool, house):
            return (call(tool),)
        if len(said.split()) <= 5 and found(tool, house, name=without_article(said)):
            return (call(tool, name=without_article(said)),)
    return ()
