"""Reads requests to open or close a cover a part of the way: "a third", "just a crack", "not all the way"."""

from __future__ import annotations

from edgevox.home.entities import House
from edgevox.home.rules.reading import Calls, call, found, pattern, without_article

# The share of the way in percent. A half is left to the model: it is the same from both ends.
_SHARES = (
    (pattern(r"a (?:tiny |small |little )?(?:crack|gap|slit)|an inch(?: or (?:two|so))?"), 10),
    (pattern(r"(?:a|one) quarter(?: of the way)?"), 25),
    (pattern(r"(?:a|one) third(?: of the way)?"), 33),
    (pattern(r"two[ -]thirds(?: of the way)?"), 67),
    (pattern(r"three[ -]quarters(?: of the way)?"), 75),
    (pattern(r"(?:not (?:all the way|completely|fully|entirely|quite)|most of the way)"), 80),
    (pattern(r"leave a (?:tiny |small |little )?(?:crack|gap|slit)"), 90),
)
_SHARE = "|".join(share.pattern for share, _percent in _SHARES)
_REQUEST = pattern(
    r"^(?:(?P<verb>open|close|shut|lower|raise|pull|roll|bring|put|draw|let) )?(?P<target>.+?)"
    r"(?: (?P<direction>up|down|open|closed|shut|to))?,?(?: but| and)?(?: (?:only|just|by only))? "
    rf"(?P<share>{_SHARE})(?: (?P<last>up|down|open|closed|shut))?(?: though| please)?$"
)
_OPENS = frozenset({"open", "raise", "up"})
_CLOSES = frozenset({"close", "closed", "shut", "lower", "down", "to"})


def parse(text: str, house: House) -> Calls:
    """The call of a request, or none."""
    said = _REQUEST.match(text)
    if said is None:
        return ()
    target = without_article(said["target"])
    direction = (said["last"] or said["direction"] or said["verb"] or "").casefold()
    if direction not in _OPENS | _CLOSES or not found("set_position", house, name=target):
        return ()
    percent = next(percent for share, percent in _SHARES if share.fullmatch(said["share"]))
    return (call("set_position", name=target, position=percent if direction in _OPENS else 100 - percent),)
