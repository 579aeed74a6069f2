"""Several orders in one breath, each with its own verb: "close this, open that and stop the other"."""

from __future__ import annotations

from training.calls import Call
from training.home.ordering import home_call
from training.home.speaker import Phrase, Said, Speaker
from training.home.things import ALARM, COVERS, FAN, LIGHT, LOCK

# What turns on and what turns off, by domain; {t} is the thing.
_ORDERS: dict[str, tuple[str, str]] = {
    "light": ("turn on {t}|{t} on|switch {t} on", "turn off {t}|{t} off|switch {t} off|kill {t}"),
    "switch": ("start {t}|{t} on|turn on {t}", "stop {t}|{t} off|turn off {t}"),
    "fan": ("start {t}|{t} on", "stop {t}|{t} off"),
    "cover": ("open {t}|open {t}|{t} open|raise {t}", "close {t}|shut {t}|{t} closed|{t} shut|lower {t}"),
    "lock": ("lock {t}|lock {t}|{t} locked", "unlock {t}"),
    "alarm_control_panel": ("arm {t}|{t} armed", "disarm {t}"),
    "valve": ("open {t}", "close {t}|shut {t}"),
}
_WORDINGS = {domain: (tuple(on.split("|")), tuple(off.split("|"))) for domain, (on, off) in _ORDERS.items()}
_DOMAINS = ("light", "light", "light", "cover", "cover", "cover", "switch", "switch", "fan", "lock", "valve",
            "alarm_control_panel", "media")  # fmt: skip
_KINDS = {"light": LIGHT, "fan": FAN, "lock": LOCK}
_PLAYED: tuple[tuple[str, Call], ...] = (
    ("pause the music", home_call("media_pause")), ("stop the music", home_call("media_pause")),
    ("next song", home_call("media_next")), ("mute it", home_call("media_player_mute")),
    ("volume down", home_call("set_volume_relative", volume_step="down")),
    ("resume the music", home_call("media_unpause")),
)  # fmt: skip


def opposed(speaker: Speaker) -> Said:
    """Two to four orders; neighbours mostly want opposite things."""
    speaker.slips = False
    count = speaker.pick((2, 2, 3, 3, 3, 4))
    is_terse = speaker.chance(0.5)
    parts: list[tuple[str, Call]] = []
    for _ in range(40):
        text, call = _part(speaker, is_terse=is_terse)
        repeats = bool(parts) and call.tool == parts[-1][1].tool and speaker.chance(0.75)
        if not repeats and all(dict(call.arguments) != dict(other.arguments) for _, other in parts):
            parts.append((text, call))
        if len(parts) == count:
            break
    link = speaker.pick((" ", " ", ", ") if is_terse else (", ", ", ", " and ", " then "))
    last = speaker.pick((link, " and ", " and ", " and ", " and then "))
    text = link.join(text for text, _ in parts[:-1]) + last + parts[-1][0]
    return Said(".", text, tuple(call for _, call in parts))


def _part(speaker: Speaker, *, is_terse: bool) -> tuple[str, Call]:
    domain = speaker.pick(_DOMAINS)
    if domain == "media":
        return speaker.pick(_PLAYED)
    thing = _thing(speaker, domain)
    on, off = _WORDINGS[domain]
    words, tool = (speaker.pick(on), "turn_on") if speaker.chance(0.5) else (speaker.pick(off), "turn_off")
    if domain == "alarm_control_panel" and "name" in thing.slots and speaker.chance(0.5):
        words = f"{{t}} {tool.removeprefix('turn_')}"
    if domain == "light" and "domain" in thing.slots and "area" in thing.slots and speaker.chance(0.3):
        # "Lights off kitchen"
        word = speaker.pick(("on", "off"))
        return f"lights {word} {thing.slots['area']}", home_call(f"turn_{word}", **thing.slots)
    text = thing.text
    if is_terse and speaker.chance(0.7):
        text = text.removeprefix("the ").removeprefix("my ").removeprefix("our ").removeprefix("all ")
        text = text.removeprefix("the ")
    return words.replace("{t}", text), home_call(tool, **thing.slots)


def _thing(speaker: Speaker, domain: str) -> Phrase:
    if domain == "alarm_control_panel" and not speaker.known.by_domain.get(domain):
        noun = speaker.pick(ALARM.singular)
        return Phrase(f"the {noun}", {"name": noun} if speaker.is_listed(noun) else dict(ALARM.slots))
    if domain == "cover" and speaker.chance(0.35):
        kind = COVERS[speaker.pick(("blind", "curtain", "shutter", "window"))]
        return speaker.kind(kind, nowhere=0.3, single=0.0)
    if domain in _KINDS and speaker.chance(0.35):
        return speaker.kind(_KINDS[domain], nowhere=0.15, single=0.0)
    while " and " in (phrase := speaker.named(domain, apart=0.03)).text:
        pass
    return phrase
