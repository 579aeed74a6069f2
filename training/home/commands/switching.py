"""Turning things on and off, opening, locking, running scenes: the tools turn_on and turn_off."""

from __future__ import annotations

import re
from collections.abc import Callable

from training.home.commands import alarms, whole_home
from training.home.commands.ambiguous_names import named_nook
from training.home.houses import class_of, spoken_name
from training.home.lexicon.devices import (
    CLIMATE,
    COVER,
    COVERS,
    FAN,
    HUMIDIFIER,
    LIGHT,
    LOCK,
    ODD_COVERS,
    OUTLET,
    PLAYER,
    SIREN,
    SWITCH,
    TELEVISION,
    VALVE,
    Kind,
)
from training.home.lexicon.vocabulary import OUTDOOR, in_area, with_article
from training.home.speaker import Phrase, Request, Speaker, make_request
from training.home.templates import Grammar, home_call

_ON = Grammar("""
4! (turn|switch|turn|switch|put|flip|click) on {t}
4! (turn|switch|turn|switch|put|flip|get) {t} [back] on
! (activate|enable|start|power on|power up|fire up|run|start up) {t}
2! (hit|flick on|fire up|pop on|stick on|whack on|get on|bring on|throw on|boot up|plug in|wake up) {t}
2! (flick|pop|stick|whack|knock|fire|throw|pull|snap|bang|chuck|bring|power|boot) {t} on
! let's (get|have) {t} (on|going|running)
. {t} (on|going|running) (please|now|again)
. {t} (back on|on again|live|active|running)
! have {t} (on|turned on|switched on)
! get {t} (going|running|started|on)
! make sure {t} {is} on
2. {t} on
. {t} (turned|switched) on
. I (want|need|would like) {t} on
. I'd like {t} (on|turned on|switched on)
. I (want|need) to have {t} on
. {t} (should|must|{needs}) be on
. let {t} be on
. let's have {t} on
. on with {t}
. we need {t} on
2. (can|could|may) (I|we) have {t} on
2. (can|could) {t} be (turned|switched) on
. how about {t} on
""")
_OFF = Grammar("""
4! (turn|switch|turn|switch|put|shut|flip|click) off {t}
4! (turn|switch|turn|switch|put|shut) {t} (off|off|back off)
! (deactivate|disable|power off|power down|shut down|kill|cut|stop) {t}
2! (kill|flick off|knock off|pop off|snap off|click off|cut off|put out|switch out|unplug) {t}
2! (flick|pop|knock|snap|bang|power|cut|take|pull|click|hit) {t} off
! let's (get|have) {t} off
. {t} (off|out) (please|now|again)
. {t} (back off|off again|out|dead|inactive)
! (give {t} a rest|let {t} rest|let {t} go out)
! have {t} (off|turned off|switched off)
! get {t} off
! make sure {t} {is} off
2. {t} off
. {t} (turned|switched) off
. I (want|need|would like) {t} off
. I'd like {t} (off|turned off|switched off)
. I don't need {t} (any more|anymore|on any more)
. {t} (should|must|{needs}) be off
. {t} can go off
. no more {t}
. off with {t}
2. (can|could|may) (I|we) have {t} off
2. (can|could) {t} be (turned|switched) off
""")
_LIGHT_ON = Grammar("""
2! (light up|illuminate|brighten up) {p}
2! (hit|flick on|fire up|get) the lights {p}
! give me [some] light {p}
! (put|turn|switch) (some|a) (light|lights) on {p}
! make it (bright|light) {p}
. (some light|light|lights on|lights) {p} please
. let there be light {p}
. it's (too|so|very|really|pretty|getting|a bit) dark {p}
. it's dark {p}
. it is (too|so|very|pretty) dark {p}
. I can't see (anything|a thing|much) {p}
. I need [some|more] light {p}
. we need [some|more] light {p}
. it's (pitch|pitch-) black {p}
? can (we|I) (get|have) some light {p}
? could (we|I) (get|have) some light {p}
? why is it so dark {p}
""")
_LIGHT_OFF = Grammar("""
3. lights out {p}
! (kill|hit|flick off|knock off|shut off|switch out) the lights {p}
! (kill|cut|douse|put out) the (lights|light) {p}
! make it dark {p}
. no (light|lights) {p} please
. it's too bright {p}, (lights off|turn off the lights)
. we don't need (any light|the lights) {p}
""")
_OPEN = Grammar("""
6! open {t}
3! open up {t}
2! (uncover|unfold|unroll|free|wind open|crank open|swing open|push open|pop open|throw open|fling open) {t}
2! (wind|crank|swing|push|pop|throw|roll|get|crack|ease) {t} open
! (let|have|get|bring|wind|crank|roll|pull|hoist|run) {t} up
! (wind up|crank up|hoist|run up|bring up|let up|send up) {t}
. {t} (all the way up|all the way open|wide open|fully open|right up|up again|back up)
! (raise|lift|roll up|pull up|draw up) {t}
! (pull|draw|slide) {t} open
! put {t} up
! get {t} open
! have {t} (open|opened)
! make sure {t} {is} open
2. {t} open
. {t} up
. I (want|need|would like) {t} open
. I'd like {t} (open|opened)
. {t} (should|{needs}) be open
. let some (light|air|sun) in, open {t}
2. (can|could) {t} be opened
. (can|could|may) (I|we) have {t} open
""")
_CLOSE = Grammar("""
6! close {t}
3! shut {t}
2! close up {t}
2! (wind shut|crank shut|swing shut|push shut|slam|cover|fold|seal|wind down|crank down|bring down|send \
    down) {t}
2! (wind|crank|swing|push|slam|get|roll|ease|bang) {t} (shut|closed)
! (let|have|get|bring|wind|crank|roll|pull|run|drop) {t} down
! (let down|run down|pull to) {t}
. {t} (all the way down|all the way shut|fully closed|right down|down again|back down)
! (lower|roll down|pull down|let down|drop) {t}
! (pull|draw|slide|push) {t} (closed|shut)
! put {t} down
! have {t} (closed|shut)
! make sure {t} {is} (closed|shut)
2. {t} closed
. {t} (shut|down)
. I (want|need|would like) {t} (closed|shut)
. I'd like {t} (closed|shut)
. {t} (should|{needs}) be (closed|shut)
. the sun is blinding me, close {t}
2. (can|could) {t} be closed
. (can|could|may) (I|we) have {t} (closed|shut)
""")
# What is done to some classes of covers alone. Drawn curtains are closed ones.
_OPEN_CLASS = {
    "curtain": Grammar("""
3! (draw|pull|slide|throw|fling|sweep) {t} (open|back|apart|aside|wide)
2! (draw back|pull back|part|throw back|pull open|draw open|pull aside) {t}
. {t} (apart|back|drawn back)
"""),
    "awning": Grammar("""
3! (wind out|roll out|extend|put out|crank out|let out|unroll|wind down|bring out|run out|spread) {t}
2! (wind|roll|crank|put|let|bring|run|pull|move) {t} out
. {t} (out|all the way out)
"""),
    "blind": Grammar("""
3! (pull up|roll up|wind up|draw up|crank up|let up|raise|lift|hoist|retract|uncover) {t}
2! (pull|roll|wind|draw|crank|let|put|bring) {t} up
. {t} (up|all the way up)
"""),
}
_CLOSE_CLASS = {
    "curtain": Grammar("""
5! draw {t}
3! (pull|draw|slide|sweep) {t} (over|together|across|shut|to|closed)
2! (draw together|pull across|pull over|pull together|draw shut) {t}
. {t} (drawn|together)
"""),
    "awning": Grammar("""
3! (wind in|roll in|retract|pull in|crank in|bring in|take in|wind back|roll up|reel in|fold in) {t}
2! (wind|roll|crank|pull|bring|take|reel|fold) {t} (in|back|back in)
. {t} (in|back in|all the way in)
"""),
    "blind": Grammar("""
3! (pull down|roll down|wind down|let down|crank down|drop|lower|draw|extend|bring down) {t}
2! (pull|roll|wind|let|crank|put|bring|drop) {t} down
. {t} (down|all the way down)
"""),
}
_MOVED_ALIKE = {"shutter": "blind", "shade": "blind"}


_OPEN_PLAIN = Grammar("""
6! open {t}
2! open up {t}
! get {t} open
! make sure {t} is open
. {t} open
. I (want|need|would like) {t} open
. I'd like {t} (open|opened)
""")
_CLOSE_PLAIN = Grammar("""
6! close {t}
3! shut {t}
! shut off {t}
! make sure {t} is (closed|shut)
. {t} closed
. I (want|need|would like) {t} (closed|shut)
. I'd like {t} (closed|shut)
""")
_LOCK = Grammar("""
6! lock {t}
2! lock up {t}
! (secure|bolt) {t}
! put the lock on {t}
! make sure {t} {is} locked
! get {t} locked
. {t} locked
. I (want|need|would like) {t} locked
. I'd like {t} locked
. {t} (should|{needs}) be locked
2. (can|could) {t} be locked
""")
_UNLOCK = Grammar("""
6! unlock {t}
2! (unbolt|unlatch) {t}
! make sure {t} {is} unlocked
! get {t} unlocked
. {t} unlocked
. I (want|need|would like) {t} unlocked
. I'd like {t} unlocked
. {t} (should|{needs}) be unlocked
2. (can|could) {t} be unlocked
""")
_SCENE = Grammar("""
2. {n} {m}
2. {n} (please|now)
2! (activate|start|run|launch|set|enable|do|put on|turn on|switch on|bring on|play|load|begin) \
    [the|my|our] {n} {m}
! (switch|change|go|move|flip) (to|into|over to) [the] {n} {m}
! put (the house|us|everything) (in|into) {n} {m}
! (activate|start|run|launch|do|give me|give us|let's do|let's have|bring up) {n}
. (let's go to|time for|we want|I want|I'd like) [the] {n} {m}
. {n} {m} (on|please|now)
3! activate [the] {n} [scene]
2! (start|run|launch|trigger|enable) [the] {n} [scene]
3! (turn on|switch on|put on) [the] {n} [scene]
2! (set|apply|use|load|select|call|play) the {n} scene
! (turn|switch) the {n} scene on
! (switch|change|go) to [the] {n} scene
! set the scene to {n}
! (set up|bring up|do) the {n} scene
. {n} scene
. {n} (scene|scene on) please
. [the] {n} scene on
. I (want|would like|need) the {n} scene
. it's time for the {n} scene
? can (we|I) have the {n} scene
""")
_SCRIPT = Grammar("""
2. {n} {m}
2! (activate|start|run|launch|do|begin|trigger|kick off|play|execute|fire) [the|my|our] {n} {m}
! (run|start|do|trigger|fire off|call) {n}
. {n} (please|now)
. (time for|let's do) [the] {n} {m}
3! run [the] {n} [script]
2! (start|execute|launch|trigger|activate) [the] {n} [script|routine]
! (start|run|do|begin) the {n} routine
! run the script {n}
! (turn|switch) on the {n} script
! kick off [the] {n} [script]
. {n} script
""")
_AUTOMATION_ON = Grammar("""
2! (enable|activate|start) the {n} automation
2! (turn|switch) on the {n} automation
! (turn|switch) the {n} automation [back] on
! (trigger|run) the {n} automation
. {n} automation on
""")
_AUTOMATION_OFF = Grammar("""
2! (disable|deactivate|stop) the {n} automation
2! (turn|switch) off the {n} automation
! (turn|switch) the {n} automation off
. {n} automation off
""")
_ALL_OFF = Grammar("""
2! (turn|switch|shut) (everything|it all) off {p}
2! (turn|switch|shut) off everything {p}
! (shut|power) everything down {p}
2. everything off {p}
! kill everything {p}
""")
_AREA_OFF = Grammar("""
2! (turn|switch|shut) off the [whole|entire] {a}
! (turn|switch|shut) the (whole|entire) {a} off
! (turn|switch|shut|power) (everything in the {a} off|off everything in the {a}|down the [whole] {a})
. (the whole|the entire) {a} off
! (turn|switch|shut) the {a} off
. {a} off
""")
_AREA_ON = Grammar("""
2! (turn|switch) on the [whole|entire] {a}
! (turn|switch) the (whole|entire) {a} on
! (turn|switch) the {a} on
. {a} on
""")
_UP_LOCKS = Grammar("""
2! lock up [the house|the place|everything|for the night]
! lock (the house|the whole house|everything)
. lock up please, we're leaving
""")
_BY_NAME = (
    ("light", 10), ("switch", 8), ("fan", 5), ("media_player", 5), ("climate", 4), ("humidifier", 2),
    ("siren", 1.5),
    ("input_boolean", 2.5),
)  # fmt: skip
_NAMED_DOMAINS = [domain for domain, _ in _BY_NAME]
_NAMED_WEIGHTS = [weight for _, weight in _BY_NAME]
_KINDS: tuple[tuple[Kind, float], ...] = (
    (LIGHT, 12), (FAN, 4), (SWITCH, 2.5), (OUTLET, 2.5), (CLIMATE, 2.5), (PLAYER, 2), (TELEVISION, 1.5),
    (HUMIDIFIER, 1.2), (SIREN, 0.8),
)  # fmt: skip
_KIND_LIST = [kind for kind, _ in _KINDS]
_KIND_WEIGHTS = [weight for _, weight in _KINDS]
_COVER_KINDS = [
    *(COVERS[name] for name in ("blind", "curtain", "shutter", "shade", "blind", "curtain", "shutter", "garage")),
    *(COVERS[name] for name in ("awning", "gate", "garage", "window", "window", "door", "garage", "damper")),
    COVER,
]


def _target(speaker: Speaker) -> Phrase:
    """Something that is on or off."""
    if speaker.chance(0.5):
        domain = speaker.rng.choices(_NAMED_DOMAINS, _NAMED_WEIGHTS)[0]
        return speaker.named(domain)
    kind = speaker.rng.choices(_KIND_LIST, _KIND_WEIGHTS)[0]
    if kind is TELEVISION:
        return speaker.kind(kind, single=0.0)
    return speaker.kind(kind, single=0.0 if kind in (SWITCH, OUTLET, PLAYER) else 0.25)


def _about(speaker: Speaker, grammar: Grammar, tool: str, target: Phrase) -> Request:
    verbs = ("are", "need to") if target.is_plural else ("is", "needs to")
    fill = {"t": target.text, "is": verbs[0], "needs": verbs[1]}
    return make_request(speaker, grammar, (home_call(tool, **target.slots),), **fill)


def turn_on(speaker: Speaker) -> Request:
    return _about(speaker, _ON, "turn_on", _target(speaker))


def turn_off(speaker: Speaker) -> Request:
    return _about(speaker, _OFF, "turn_off", _target(speaker))


_KIND_STATE = Grammar("""
4. {n} {w} {p}
! (turn|switch|put) {w} [the] {n} {p}
! (turn|switch|put) [the] {n} {w} {p}
2: {p} (turn|switch) [the] {n} {w}
2: {p} (turn|switch) {w} [the] {n}
. {p} {n} {w}
""")


def kind_state(speaker: Speaker) -> Request:
    """ "Lights on in the kitchen"; "upstairs, turn the fans off"."""
    kind = speaker.pick((LIGHT, LIGHT, LIGHT, LIGHT, FAN, SWITCH, OUTLET))
    word = speaker.pick(("on", "off"))
    place = speaker.where(nowhere=0.1)
    noun = speaker.pick(kind.plural) if speaker.chance(0.75) or kind is OUTLET else kind.singular[0]
    if noun == kind.singular[0] and (kind is SWITCH or speaker.is_listed(noun)):
        noun = kind.plural[0]
    calls = (home_call(f"turn_{word}", **place.slots, **kind.slots),)
    return make_request(speaker, _KIND_STATE, calls, n=noun, w=word, p=place.text)


def _dark_place(speaker: Speaker) -> Phrase:
    place = speaker.where(nowhere=0.4)
    return place if place.text else Phrase(speaker.here(), {})


def light_on(speaker: Speaker) -> Request:
    place = _dark_place(speaker)
    return make_request(speaker, _LIGHT_ON, (home_call("turn_on", **place.slots, domain="light"),), p=place.text)


def light_off(speaker: Speaker) -> Request:
    place = _dark_place(speaker)
    return make_request(speaker, _LIGHT_OFF, (home_call("turn_off", **place.slots, domain="light"),), p=place.text)


def _cover(speaker: Speaker) -> Phrase:
    if speaker.chance(0.42):
        return speaker.named("cover")
    kind = speaker.pick(_COVER_KINDS)
    if kind.device_class == "garage":
        return speaker.kind(kind, nowhere=1.0, single=0.7)
    return speaker.kind(kind, single=0.0 if kind is COVER else 0.22)


# Sheets: spread out, they are closed, as an awning is open.
_SHEETS = frozenset({"pool cover", "tarp"})


def open_cover(speaker: Speaker) -> Request:
    target = _cover(speaker)
    if target.slots.get("name") in _SHEETS:
        return _about(speaker, _OPEN_PLAIN, "turn_on", target)
    return _about(speaker, _of_class(speaker, target, _OPEN, _OPEN_CLASS), "turn_on", target)


def close_cover(speaker: Speaker) -> Request:
    target = _cover(speaker)
    if target.slots.get("name") in _SHEETS:
        return _about(speaker, _CLOSE_PLAIN, "turn_off", target)
    return _about(speaker, _of_class(speaker, target, _CLOSE, _CLOSE_CLASS), "turn_off", target)


def _of_class(speaker: Speaker, target: Phrase, plain: Grammar, by_class: dict[str, Grammar]) -> Grammar:
    name = str(target.slots.get("name", ""))
    device_class = target.slots.get("device_class") or ODD_COVERS.get(name) or class_of("cover", name)
    own = by_class.get(_MOVED_ALIKE.get(str(device_class), str(device_class)))
    return own if own is not None and speaker.chance(0.4) else plain


def _valve(speaker: Speaker) -> Phrase:
    return speaker.named("valve") if speaker.chance(0.65) else speaker.kind(VALVE, single=0.1)


def open_valve(speaker: Speaker) -> Request:
    return _about(speaker, _OPEN_PLAIN, "turn_on", _valve(speaker))


def close_valve(speaker: Speaker) -> Request:
    return _about(speaker, _CLOSE_PLAIN, "turn_off", _valve(speaker))


_WATER_ON = Grammar("""
4! water {a}
3! (turn|switch|put) the water on {p}
3! (turn|switch) on the water {p}
2! (start|begin) watering {a}
2! give {a} (some water|a soak|a good soak|a drink|a watering|a good watering)
2! (run|start) the water {p}
! (get|have) {a} watered
! get the water (going|running|on) {p}
! water the (plants|flowers|beds|pots) {p}
2. water on {p}
. {a} needs (water|watering|a drink|some water|a soak)
. {a} could do with (some water|a drink|a good soak|watering)
. {a} is (bone dry|parched|too dry|drying out), (water it|give it some water)
. it hasn't rained (for days|all week|in ages), water {a}
. (I'd like|I want|I need) (the water on {p}|{a} watered)
. the (plants|flowers) {p} are (thirsty|wilting|drooping), (water them|give them some water)
? (can|could) {a} (be watered|get some water|have a drink)
? (can|could) (we|I) have the water on {p}
""")
_WATER_OFF = Grammar("""
4! (turn|switch|shut) off the water {p}
4! (turn|switch|shut) the water off {p}
3! (stop|quit) watering {a}
2! (cut|cut off|stop|kill) the water {p}
2! (stop|end) the watering {p}
2. water off {p}
. {a} has had enough [water|to drink]
. {a} is (wet enough|soaked|drenched|waterlogged|swimming), (stop watering|turn the water off)
. (that's enough|enough|no more) (water|watering) {p} [for today|for now]
. (I'd like|I want|I need) the water off {p}
. the water {p} (can|should|has to) (stop|go off|be off)
. (no need to|don't) water {a} any (more|longer)
. it's (raining|pouring|starting to rain) [anyway], stop watering {a}
. we left the water on {p}, (shut|turn) it off
? (can|could) the water {p} be (turned|shut|switched) off
? (can|could) (we|I) have the water off {p}
""")
_WATERED = ("garden", "garden", "garden", "back garden", "front garden", "yard", "backyard", "front yard",
            "greenhouse", "patio", "terrace", "balcony", "courtyard", "vegetable garden", "herb garden",
            "orchard", "vegetable patch", "roof terrace")  # fmt: skip
_WATERING = re.compile(r"irrigation|water|sprinkler")


def watered(speaker: Speaker) -> Request:
    """ "Water the garden", "water off on the patio": the valve there, unless a thing is called so."""
    areas: list[str] | tuple[str, ...] = _WATERED
    if speaker.known.house is not None:
        valves = map(speaker.known.area_of, speaker.known.by_domain.get("valve", ()))
        areas = [area for area in valves if area and OUTDOOR.search(area)]
    on = speaker.chance(0.5)
    if not areas or any(map(_WATERING.search, speaker.known.names)):
        return open_valve(speaker) if on else close_valve(speaker)
    area = speaker.pick(areas)
    calls = (home_call("turn_on" if on else "turn_off", area=area, domain="valve"),)
    grammar = _WATER_ON if on else _WATER_OFF
    return make_request(speaker, grammar, calls, a=with_article(area), p=in_area(area))


def _lock(speaker: Speaker) -> Phrase:
    return speaker.named("lock") if speaker.chance(0.65) else speaker.kind(LOCK, single=0.3)


def lock(speaker: Speaker) -> Request:
    if speaker.chance(0.06):
        return make_request(speaker, _UP_LOCKS, (home_call("turn_on", domain="lock"),))
    return _about(speaker, _LOCK, "turn_on", _lock(speaker))


def unlock(speaker: Speaker) -> Request:
    return _about(speaker, _UNLOCK, "turn_off", _lock(speaker))


def _bare_name(speaker: Speaker, domain: str) -> str:
    phrase = speaker.named(domain, apart=0.0)
    name = str(phrase.slots["name"])
    if (thing := phrase.entity) is not None and name not in map(spoken_name, (thing.name, *thing.aliases)):
        # Before a scene's name, an area is an area: see placed_scene.
        return spoken_name(thing.name).removeprefix("the ")
    return name


def scene(speaker: Speaker) -> Request:
    name = _bare_name(speaker, "scene")
    kind = speaker.pick(("scene", "scene", "mode", "mode", "mood", "setting", "routine", "preset"))
    return make_request(speaker, _SCENE, (home_call("turn_on", name=name),), n=name, m=_unless_said(kind, name))


def _unless_said(kind: str, name: str) -> str:
    """The word for what a thing is, where its name does not end in one already."""
    return "" if name.rpartition(" ")[2] in (kind, "mode", "routine", "scene", "script") else kind


def script(speaker: Speaker) -> Request:
    name = _bare_name(speaker, "script")
    if name.endswith(" routine"):
        return make_request(speaker, _ROUTINE, (home_call("turn_on", name=name),), n=name)
    kind = _unless_said(speaker.pick(("script", "routine", "script", "routine", "sequence", "program")), name)
    return make_request(speaker, _SCRIPT, (home_call("turn_on", name=name),), n=name, m=kind)


# {n} is a scene's own name, {k} what it is, {i} "in the lounge", {r} the area with its article, {a} without.
_PLACED_SCENE = Grammar("""
4! (start|activate|run|launch|put on|turn on|switch on|set|do|enable|begin|trigger) [the|] {n} [{k}|] {i}
2! (start|activate|set up|bring up|load|apply|use) the {n} {k} {i}
2! (switch|change|set) {r} to [the|] {n} [{k}|]
2. {n} [{k}|] {i} [please|now|]
2. (time for|let's have|I want|I'd like|we want|I need) [the|] {n} [{k}|] {i}
. {i}, (start|activate|run|put on) [the|] {n} [{k}|]
? (can|could) (we|I) have [the|] {n} [{k}|] {i}
""")
_LED_SCENE = Grammar("""
3. {a} {n} {k} [on|please|now|]
2. {a} {n} [on|please|now|]
4! (start|activate|run|launch|put on|turn on|switch on|set|enable) the {a} {n} [{k}|]
2! (start|activate|run|turn on|play) {a} {n} [{k}|]
! (turn|switch) the {a} {n} {k} on
. (time for|I want|I'd like) the {a} {n} [{k}|]
""")


def placed_scene(speaker: Speaker) -> Request:
    """ "Start movie night in the lounge": the scene's own name, and the place beside it."""
    by_domain = speaker.known.by_domain
    things = [thing for domain in ("scene", "script") for thing in by_domain.get(domain, ())]
    if not things:
        return scene(speaker)
    thing = speaker.pick(things)
    name = spoken_name(thing.name)
    area = speaker.known.area_of(thing) if speaker.chance(0.8) else None
    area = area or (speaker.pick(speaker.known.areas) if speaker.known.areas else speaker.area())
    if area in name or "'" in area or speaker.is_listed(f"{area} {name}") or area in speaker.known.floors:
        return scene(speaker)
    is_scene = thing.domain == "scene"
    kinds = ("scene", "scene", "scene", "mode", "mood", "setting") if is_scene else ("script", "routine")
    fill = {"n": name, "k": _unless_said(speaker.pick(kinds), name)}
    calls = (home_call("turn_on", name=name, area=area),)
    if speaker.chance(0.35) and area not in ("upstairs", "downstairs", "outside"):
        return make_request(speaker, _LED_SCENE, calls, a=area, **fill)
    return make_request(speaker, _PLACED_SCENE, calls, i=in_area(area), r=with_article(area), **fill)


_ROUTINE = Grammar("""
3! (start|run|begin|launch|activate) [the|my] {n}
! kick off the {n}
. {n} please
. it's time for the {n}
""")


def automation(speaker: Speaker) -> Request:
    name = _bare_name(speaker, "automation")
    if speaker.chance(0.5):
        return make_request(speaker, _AUTOMATION_ON, (home_call("turn_on", name=name),), n=name)
    return make_request(speaker, _AUTOMATION_OFF, (home_call("turn_off", name=name),), n=name)


_INSTEAD = (
    ", no, turn {it} {w}", ", no wait, turn {it} {w}", ", actually turn {it} {w}",
    ", sorry, turn {it} {w}", ", I mean turn {it} {w}",
    ", no, I mean {w}", ", sorry, {w}", ", no, {w}", ", no sorry, {w}", ", I meant {w}",
    ", oh no, turn {it} {w} instead",
)  # fmt: skip


def corrected(speaker: Speaker) -> Request:
    """On, no: off. The last word counts."""
    target = _target(speaker)
    wrong, right = speaker.pick((("on", "off"), ("off", "on")))
    verb = speaker.pick(("turn", "switch", "turn"))
    order = f"{verb} {target.text} {wrong}" if speaker.chance(0.5) else f"{verb} {wrong} {target.text}"
    instead = speaker.pick(_INSTEAD).replace("{it}", "them" if target.is_plural else "it").replace("{w}", right)
    return Request(".", order + instead, (home_call(f"turn_{right}", **target.slots),))


def whole_place(speaker: Speaker) -> Request:
    """A room or floor as a whole; "everything" without a place is said by that word."""
    if speaker.chance(0.4):
        if speaker.chance(0.3):
            floor = speaker.floor()
            tool, grammar = speaker.pick((("turn_off", _AREA_OFF), ("turn_off", _AREA_OFF), ("turn_on", _AREA_ON)))
            return make_request(speaker, grammar, (home_call(tool, floor=floor),), a=floor)
        area = speaker.area()
        slots = {"area": area}
        the = in_area(area).partition(" ")[2].removeprefix("the ")
        if speaker.chance(0.7):
            return make_request(speaker, _AREA_OFF, (home_call("turn_off", **slots),), a=the)
        return make_request(speaker, _AREA_ON, (home_call("turn_on", **slots),), a=the)
    place = speaker.where(nowhere=0.3)
    found = place.slots or {"name": "everything"}
    made = make_request(speaker, _ALL_OFF, (home_call("turn_off", **found),), p=place.text)
    return made if place.slots or "everything" in made.text else whole_place(speaker)


BUILDERS: tuple[tuple[float, Callable[[Speaker], Request]], ...] = (
    (9, turn_on),
    (9, turn_off),
    (2.2, kind_state),
    (1.2, light_on),
    (0.6, light_off),
    (4, open_cover),
    (4, close_cover),
    (0.7, open_valve),
    (0.7, close_valve),
    (0.7, watered),
    (1.8, lock),
    (1.8, unlock),
    (2.2, scene),
    (1.1, script),
    (1.6, placed_scene),
    (2.4, named_nook),
    (4.2, whole_home.ordered),
    (0.9, automation),
    (0.5, alarms.arm),
    (0.5, alarms.disarm),
    (0.6, whole_place),
    (0.35, corrected),
)
