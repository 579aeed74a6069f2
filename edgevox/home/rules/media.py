"""Reads requests about what plays: what it is, the next one, and any music."""

from __future__ import annotations

from edgevox.home.entities import House
from edgevox.home.grammar import Calls, found, pattern, tool_call, without_article

_WHERE = r"(?: (?:in|on|from) (?P<place>(?:the |my )?[\w' -]+))?"
_PLAYING = (
    pattern(
        r"^what(?:'s| is) (?:currently |now )?(?:playing|being played|on (?:the )?(?P<player>tv|television|radio"
        rf"|stereo|speakers?))(?: at the moment| currently)?{_WHERE}$"
    ),
    pattern(
        r"^(?:what|which)(?: \w+)? (?:song|track|music|tune|artist|band|album|piece) (?:is|was) (?:this|that|it"
        r"|on|playing|being played)(?: at the moment| currently)?$"
    ),
    pattern(
        r"^(?:what|who)(?:'s| is) (?:this|that|the) (?:(?:current )?(?:song|track|music|tune|artist|band|singer))"
        r"(?: called| playing| i'm hearing)?$"
    ),
    pattern(
        r"^what(?:'s| is) the (?:name|title) of (?:this|that|the(?: current)?) (?:song|track|tune|music)(?: playing)?$"
    ),
    pattern(r"^who (?:sings|is singing|plays|is playing|made|wrote) (?:this|that|it)(?: song| track| tune)?$"),
    pattern(r"^what (?:am i|are we) (?:listening to|hearing|watching)$"),
    pattern(r"^(?:tell me )?what (?:song|track|music|tune) (?:this|that) is$"),
    pattern(r"^(?:identify|name) (?:this|that|the) (?:song|track|tune|music)(?: for me| playing)?$"),
    pattern(
        r"^(?:who|what)(?:'s| is) the (?:artist|singer|band|name|title|information|info) (?:of|on|about|behind|for) "
        r"(?:this|that|the(?: current)?) (?:song|track|tune|music)(?: (?:that(?:'s| is) )?playing| (?:that )?we're"
        r" (?:listening to|hearing)| i'm (?:listening to|hearing))?(?: right now| now)?$"
    ),
)
_NEXT = pattern(
    r"^(?:next|next (?:one|song|track|title)|skip|skip (?:this|it|that|this one|this song|this track|song|track"
    r"|ahead))$"
)
_PREVIOUS = pattern(r"^(?:previous|previous (?:one|song|track|title)|last song|last track|go back a (?:song|track))$")
_ANYTHING = pattern(
    r"^(?:play|put on|start(?: playing)?) (?:me )?(?:something|anything|(?:some |any )?music|some tunes|some"
    r" songs|a song|some background music)"
    r"(?P<rest>(?: (?:in|on) (?:the |my )?(?P<place>[\w' -]+)))?$"
)


def parse(text: str, house: House) -> Calls:
    """The calls of a request, or none."""
    players = [entity for entity in house.entities if entity.domain == "media_player"]
    if not players:
        return ()
    for form in _PLAYING:
        if said := form.match(text):
            parts = said.groupdict()
            slots = _place(parts.get("player") or parts.get("place"), house)
            if slots is None or "name" in slots:
                return ()  # the model asks for the state of a named player
            return (tool_call("media_get_playing", **slots),)
    active = [player for player in players if player.state in ("playing", "buffering", "paused")]
    if len(active) == 1:
        if _NEXT.match(text):
            return (tool_call("media_next"),)
        if _PREVIOUS.match(text):
            return (tool_call("media_previous"),)
    if said := _ANYTHING.match(text):
        slots = _place(said["place"], house)
        if slots is None:
            return ()
        here = found("media_get_playing", house, **slots)
        paused = [player for player in here if player.state == "paused"]
        if len(paused) == 1:
            return (tool_call("media_unpause", name=paused[0].name),)
        if not slots and not any(player.state in ("playing", "paused", "on", "idle") for player in here):
            return ()
        return (tool_call("media_search_and_play", search_query="music", **slots),)
    return ()


def _place(said: str | None, house: House) -> dict[str, str] | None:
    """The slots for a player or a room; None for one that the home does not have."""
    if not said:
        return {}
    name = without_article(said)
    for slot in ("name", "area"):
        if found("media_get_playing", house, **{slot: name}):
            return {slot: name}
    return None
