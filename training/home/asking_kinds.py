"""Questions about things by their kind: the kitchen lights, all blinds, the vacuum cleaner."""

from __future__ import annotations

from training.home.ordering import home_call
from training.home.patterns import Grammar, wordings
from training.home.questions import (
    CLOSED,
    DONE_TO,
    OF_ONE,
    OFF,
    ON,
    ON_IN_PLACE,
    OPEN,
    STATE_OF,
    on_or_off,
    said_of,
    said_of_many,
)
from training.home.speaker import Said, Slots, Speaker, said
from training.home.things import (
    CLIMATE,
    COVERS,
    FAN,
    HUMIDIFIER,
    LIGHT,
    LOCK,
    MOWER,
    OUTLET,
    PLAYER,
    SWITCH,
    TELEVISION,
    VACUUM,
    VALVE,
    Kind,
)  # fmt: skip


def state_of_kind(speaker: Speaker) -> Said:
    """What is the state of the kitchen lights."""
    kind = speaker.pick(
        (LIGHT, LIGHT, FAN, LOCK, CLIMATE, COVERS["blind"], COVERS["curtain"], COVERS["shutter"], VALVE)
    )
    target = speaker.kind(kind, single=0.0)
    calls = (home_call("get_state", **target.slots),)
    return said_of(speaker, STATE_OF, calls, target)


def single_of_kind(speaker: Speaker) -> Said:
    """The kitchen light: a name where the home has a thing so called, else a kind and a place."""
    kind = speaker.pick(_SINGLES)
    target = speaker.kind(kind, nowhere=0.0, floors=0.1, single=1.0)
    slots = dict(target.slots)
    domain, device_class = kind.domain, kind.device_class
    if "name" in slots:
        entity = next(entity for group in speaker.known.by_domain.values() for entity in group
                      if entity.name.casefold() == str(slots["name"]).casefold()
                      or str(slots["name"]).casefold() in map(str.casefold, entity.aliases))  # fmt: skip
        domain, device_class = entity.domain, entity.device_class
        if domain == "binary_sensor":
            slots |= {"domain": domain, "device_class": device_class}
    first = speaker.chance(0.6)
    if kind is not LOCK and (domain == "cover" or device_class in ("window", "door")):
        words = (
            (OPEN if first else CLOSED)
            if domain == "cover" and kind.domain == "cover"
            else (_WIDE if first else _SHUT)
        )
        state = ("open" if first else "closed") if domain == "cover" else ("on" if first else "off")
    elif kind is LOCK and domain == "lock":
        state = "locked" if first else "unlocked"
        words = wordings(state)
    elif kind is not LOCK and domain in ("light", "fan", "switch", "climate"):
        words, state = (ON, "on") if first else (OFF, "off")
    else:
        return single_of_kind(speaker)
    calls = (home_call("get_state", **slots, state=state),)
    return said(speaker, OF_ONE, calls, t=target.text, w=words.say(speaker.rng, {}), **{"is": "is"})


_WINDOW = Kind("binary_sensor", ("window",), ("windows",), "window")


_DOOR = Kind("binary_sensor", ("door",), ("doors",), "door")


_SINGLES = (
    LIGHT, LIGHT, LIGHT, FAN, _WINDOW, _WINDOW, _DOOR, CLIMATE, LOCK,
    *(COVERS[name] for name in ("blind", "curtain", "shutter", "shade")),
)  # fmt: skip


_WIDE = wordings("(open|open|opened)")


_SHUT = wordings("(closed|closed|shut)")


def lights_many(speaker: Speaker) -> Said:
    kind = speaker.pick(
        (LIGHT, LIGHT, LIGHT, LIGHT, LIGHT, FAN, SWITCH, OUTLET, TELEVISION, PLAYER, CLIMATE, HUMIDIFIER, FAN)
    )
    words, state = on_or_off(speaker, speaker.chance(0.65))
    slots: Slots = {"domain": kind.domain, "state": state}
    if state == "on" and kind in (LIGHT, FAN) and speaker.chance(0.25):
        place = speaker.where(nowhere=0.3)
        fill = {"s": kind.singular[0], "n": kind.plural[0], "w": words, "p": place.text or speaker.here()}
        if not place.slots and speaker.is_listed(fill["s"]):
            return lights_many(speaker)
        return said(speaker, ON_IN_PLACE, (home_call("get_state", **place.slots, **slots),), **fill)
    return said_of_many(
        speaker, kind.singular[0], speaker.pick(kind.plural), words, slots, can_lead=kind is not CLIMATE
    )


# {p} is a place: that something plays is a state of its own, and not "on".
_ANY_PLAYING = Grammar("""
5? is (anything|something|any music|music|some music|the music|a song) [still|currently|] playing {p}
3? is there (anything|something|any music|music|a song) playing {p}
2? is (music|something|anything) being played {p}
2? (do we have|have we got) (music|anything|something) playing {p}
2? is (anybody|anyone|somebody|someone) playing (music|anything|something|a song) {p}
2? did (I|we|someone|anybody) leave (music|the music|something|anything) playing {p}
! (tell me|check|see|find out) (if|whether) (anything|music|any music|something) is playing {p}
? (can|could) you (check|tell me|see) (if|whether) (anything|music|something) is [still|] playing {p}
. (anything|any music|something) playing {p}
? (which|what) (player|speaker) is playing {p}
""")
_ANY_PAUSED = Grammar("""
4? is (anything|something|the music|any music|the film|the movie|music) [still|currently|] \
    (paused|on pause) {p}
2? is there (anything|something) (paused|on pause) {p}
! (tell me|check) (if|whether) (anything|something|the music) is paused {p}
? did (I|we|someone) leave (something|anything|the music) (paused|on pause) {p}
? (which|what) (player|speaker) is (paused|on pause) {p}
""")
_PLAYERS = (
    ("speaker", "speakers"), ("speaker", "speakers"), ("player", "players"),
    ("media player", "media players"),
    ("player", "players"), ("radio", "radios"), ("sound system", "sound systems"),
    ("music player", "music players"), ("stereo", "stereos"), ("media device", "media devices"),
    ("soundbar", "soundbars"), ("audio player", "audio players"),
)  # fmt: skip
_PLAYS = wordings("(playing|playing|playing|playing|playing music|playing something|playing anything)")
_PAUSED = wordings("(paused|paused|paused|on pause)")
_NOT_SAID = (
    "", "", "", "", "right now", "at the moment", "in here", "here", "anywhere", "in the house", "at home",
)  # fmt: skip


def players(speaker: Speaker) -> Said:
    """ "Is music playing in the kitchen", "which speakers are paused"."""
    plays = speaker.chance(0.72)
    slots: Slots = {"domain": "media_player", "state": "playing" if plays else "paused"}
    if speaker.chance(0.55):
        place = speaker.where(nowhere=0.35)
        text = place.text or speaker.pick(_NOT_SAID)
        calls = (home_call("get_state", **place.slots, **slots),)
        return said(speaker, _ANY_PLAYING if plays else _ANY_PAUSED, calls, p=text)
    one, many = speaker.pick(_PLAYERS)
    if speaker.is_listed(one) or speaker.is_listed(many):
        one, many = "media player", "media players"
    words = (_PLAYS if plays else _PAUSED).say(speaker.rng, {})
    return said_of_many(speaker, one, many, words, slots, can_lead=True)


def covers_many(speaker: Speaker) -> Said:
    names: tuple[str, ...] = (
        "blind",
        "curtain",
        "shutter",
        "shade",
        "awning",
        "gate",
        "blind",
        "curtain",
        "shutter",
    )
    for name, device_class in (("garage", "garage_door"), ("window", "window"), ("door", "door")):
        if ("cover", name) in speaker.known.classes and (
            "binary_sensor",
            device_class,
        ) not in speaker.known.classes:
            names += (name, name)
    kind = COVERS[speaker.pick(names)]
    is_open = speaker.chance(0.5)
    words = (OPEN if is_open else CLOSED).say(speaker.rng, {})
    slots: Slots = {**kind.slots, "state": "open" if is_open else "closed"}
    return said_of_many(speaker, kind.singular[0], speaker.pick(kind.plural), words, slots, can_lead=True)


def locks_many(speaker: Speaker) -> Said:
    kind: Kind = speaker.pick((LOCK, LOCK, LOCK, VALVE))
    if kind is VALVE:
        words, state = speaker.pick((("open", "open"), ("closed", "closed"), ("shut", "closed")))
    else:
        words, state = speaker.pick((("locked", "locked"), ("locked", "locked"), ("unlocked", "unlocked")))
    many = speaker.pick(kind.plural)
    if kind is LOCK and speaker.chance(0.15):
        place = speaker.where(nowhere=0.6)
        things = f"{speaker.pick(('all the', 'the', 'all'))} doors {place.text}".strip()
        calls = (home_call("get_state", **place.slots, **kind.slots, state=state),)
        return said(speaker, DONE_TO[state], calls, t=things)
    return said_of_many(
        speaker, many.removesuffix("s"), many, words, {**kind.slots, "state": state}, can_lead=False
    )


def robots(speaker: Speaker) -> Said:
    """The vacuum, the mower and the heating without a name."""
    kind, words, state = speaker.pick(
        (
            (VACUUM, "(cleaning|vacuuming|cleaning|at work)", "cleaning"),
            (VACUUM, "(docked|in its dock|at its base)", "docked"),
            (MOWER, "(mowing|mowing|cutting the grass)", "mowing"),
            (MOWER, "(docked|in its dock)", "docked"),
            (CLIMATE, "(on|on|running)", "on"),
            (CLIMATE, "off", "off"),
        )
    )
    place = 0.5 if kind is CLIMATE else 1.0
    target = speaker.kind(kind, nowhere=place, floors=0.1, single=1.0)
    calls = (home_call("get_state", **target.slots, state=state),)
    return said(speaker, OF_ONE, calls, t=target.text, w=wordings(words).say(speaker.rng, {}), **{"is": "is"})
