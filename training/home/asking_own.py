"""Questions to sensors that people have added by themselves: when the bins go, how full the feeder is.

The rule is that of all sensors: the name alone where nothing but the name is asked for ("what's the birch
pollen"), and the domain too where a word asks for the value (when, how many, where).
"""

from __future__ import annotations

import re

from training.home.houses import spoken
from training.home.ordering import home_call
from training.home.own_sensors import Family, family_of, is_own, own_name
from training.home.patterns import Grammar
from training.home.places import with_article
from training.home.speaker import Said, Speaker, said

_BARE = Grammar("""
6? (what's|what is) {t}
2? (what's|what is) {t} (right now|at the moment|now|currently)
3! (tell|give|show|read) me {t}
2! (check|get|report|look up|read out) {t}
2. {t} [please]
2? what does {t} (say|show|read)
? (can|could) you (tell me|give me|look up|check) {t}
? do you (know|have) {t}
. (I want|I need|I'd like) to know {t}
? (what's|what is) the (value|state|reading) of {t}
""")
_BARE_COUNT = Grammar("""
3? what are the {n}
3! (tell|give|show) me the {n}
2. {n} [please]
2! (check|report|look up) the {n}
? (can|could) you (tell me|check) the {n}
""")
# "The petrol price today at the moment": a name that says when needs no other time.
_TIMED = re.compile(r"\b(today|tomorrow|yesterday|now|hour|week|month|year|midnight|so far)\b")
_TWICE = re.compile(
    r"\b(today|tomorrow|yesterday|now|hour|week|month|year|midnight|so far) "
    r"(right now|now|today|tonight|currently|at the moment|by now|this week|this morning|so far|for today)\b"
)
_BARE_SHARE = 0.22
_LISTED_SHARE = 0.9


def own_sensor(speaker: Speaker) -> Said:
    """One of the home's own sensors, or what any home may have."""
    listed = [
        spoken(thing.name)
        for thing in speaker.known.by_domain.get("sensor", ())
        if is_own(thing.name, thing.device_class)
    ]
    if listed and speaker.chance(_LISTED_SHARE):
        name = speaker.pick(listed)
    else:
        name, _ = own_name(speaker.rng, is_listed=False)
        while speaker.is_listed(name):
            name, _ = own_name(speaker.rng, is_listed=False)
    family = family_of(name)
    assert family is not None
    return _asked(speaker, name, family)


def _asked(speaker: Speaker, name: str, family: Family) -> Said:
    text = _determined(speaker, name)
    if speaker.chance(_BARE_SHARE):
        grammar = _BARE_COUNT if family.is_count else _BARE
        calls = (home_call("get_state", name=name),)
    else:
        grammar = family.asked
        calls = (home_call("get_state", name=name, domain="sensor"),)
    made = said(speaker, grammar, calls, t=text, n=name)
    # What the name says twice by itself, "so far this week", stays.
    while _TIMED.search(name) and _TWICE.search(made.text.replace(name, _TIMED.findall(name)[-1])):
        made = said(speaker, grammar, calls, t=text, n=name)
    return made


def _determined(speaker: Speaker, name: str) -> str:
    full = with_article(name)
    if full == name:
        return name
    way = speaker.rng.random()
    return full if way < 0.72 else name if way < 0.86 else f"{speaker.pick(('my', 'our'))} {name}"
