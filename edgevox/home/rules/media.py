"""Reads requests about what plays: what it is, the next one, and any music."""

from __future__ import annotations

import json

from edgevox.core.types import ToolCall
from edgevox.core.words import number_value, word_set
from edgevox.home.entities import House
from edgevox.home.grammar import NUMBER, Calls, found, pattern, tool_call, without_article

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
    pattern(r"^what the (?:name|title) of (?:this|that|the) (?:song|track|tune|music) is$"),
    pattern(r"^(?:identify|name) (?:this|that|the) (?:song|track|tune|music)(?: for me| playing)?$"),
    pattern(
        r"^(?:who|what)(?:'s| is) the (?:artist|singer|band|name|title|information|info) (?:of|on|about|behind|for) "
        r"(?:this|that|the(?: current)?) (?:song|track|tune|music)(?: (?:that(?:'s| is) )?playing| (?:that )?we're"
        r" (?:listening to|hearing)| i'm (?:listening to|hearing))?(?: right now| now)?$"
    ),
)
_TELL = pattern(
    r"^(?:tell me|say|do you know|find out|i want to know|i'd like to know)(?: please)?,? (?=what|who|which)"
)
_NEXT = pattern(
    r"^(?:next|next (?:one|song|track|title)|skip|skip (?:this|it|that|this one|this song|this track|song|track"
    r"|ahead))$"
)
_PREVIOUS = pattern(r"^(?:previous|previous (?:one|song|track|title)|last song|last track|go back a (?:song|track))$")
_SEVERAL = pattern(
    rf"^(?:skip|jump|go) (?:(?P<back>back)|over|ahead|forward)?(?: ?by)?(?: ?the)?(?: ?(?:next|last))? ?"
    rf"(?P<count>{NUMBER}) (?:songs|tracks|titles|tunes|pieces|episodes)$"
)
_MOST_SKIPPED = 20
_TITLED = pattern(
    r"^(?:play|put on|start)(?: me| us)? (?:the |a )?(?:song|track|tune|album)(?: called| named| titled)? "
    r"(?!(?:again|once|from|that|i|you|on|in|next|over|now|at|for|about|with|after|before|by)\b)(?P<what>.+?)"
    r"(?: (?:in|on) (?:the |my )(?P<place>[\w' -]+))?$"
)
_ANYTHING = pattern(
    r"^(?:play|put on|start(?: playing)?) (?:me )?(?:something|anything|(?:some |any )?music|some tunes|some"
    r" songs|a song|some background music)"
    r"(?P<rest>(?: (?:in|on) (?:the |my )?(?P<place>[\w' -]+)))?$"
)


_ORDER = pattern(r"\b(?:shuffle|shuffling|on (?:repeat|loop|shuffle)|loop (?:this|it|the)|repeat (?:this|the) \w+)\b")
NO_ORDER = "I cannot shuffle or repeat what plays, sorry."


def asks_for_order(text: str) -> bool:
    """Whether a text asks for another order of what plays, for which there is no tool."""
    return _ORDER.search(text) is not None


def parse(text: str, house: House) -> Calls:
    """The calls of a request, or none."""
    players = [entity for entity in house.entities if entity.domain == "media_player"]
    if not players:
        return ()
    question = _TELL.sub("", text)
    for form in _PLAYING:
        if said := form.match(question):
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
        if said := _SEVERAL.match(text):
            count = number_value(said["count"])
            tool = "media_previous" if said["back"] else "media_next"
            return (tool_call(tool),) * int(count) if count and 2 <= count <= _MOST_SKIPPED else ()
    if said := _TITLED.match(text):
        slots = _place(said["place"], house)
        return () if slots is None else (tool_call("media_search_and_play", search_query=said["what"], **slots),)
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


_PLAY = pattern(
    r"^play (?:(?:me|us|some|the song|the track|the album|a song called|music by|songs by|something by) )?(?P<what>.+?)"
    r"(?:,? (?:please|now|next|for me|right now))*$"
)
_LEFT_OUT = word_set(
    "me us some the a an my any song songs music track tracks tune album artist band by called named from of "
    "playlist podcast "
    "radio station something please now in on at"
)


def with_whole_title(text: str, call: ToolCall) -> ToolCall | None:
    """The call with the words of a title that the model left out: it is said to the letter after "play"."""
    said = _PLAY.match(text)
    arguments = json.loads(call.arguments)
    query = str(arguments.get("search_query") or "")
    if said is None or not query or arguments.keys() != {"search_query"}:
        return None
    heard, written = said["what"].casefold().split(), query.casefold().split()
    starts = [at for at in range(len(heard)) if heard[at : at + len(written)] == written]
    if len(starts) != 1:
        return None
    before, after = heard[: starts[0]], heard[starts[0] + len(written) :]
    if _LEFT_OUT.issuperset(before) and (not after or not _LEFT_OUT.isdisjoint(after)):
        return None
    return call.with_arguments({**arguments, "search_query": said["what"]})
