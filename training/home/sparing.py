"""What is said of things that shall stay as they are, and of why: it gets no call and fills no slot."""

from __future__ import annotations

from collections.abc import Callable

from training.calls import Call
from training.home.contents import GROCERIES
from training.home.ordering import home_call
from training.home.patterns import Grammar, wordings
from training.home.places import PEOPLE, in_area, with_article
from training.home.speaker import Phrase, Said, Speaker, said
from training.home.things import COVERS, FAN, LIGHT, Kind

# {x} is meant, {y} is not; {w} is what is to be done, {on} how the other is now.
_SPARED = Grammar("""
5. {x} {w}, {y} can stay [{on}|as it is|like that|]
3. {x} {w}, {y} (stays|stays {on}|is fine|is okay as it is)
4. (turn|switch) {w} {x} but (leave|keep) {y} {on}
3. (turn|switch) {x} {w} but (leave|keep) {y} [{on}|alone|as it is|running]
2. (turn|switch) {x} {w} but not {y}
2. (turn|switch) {w} {x}, not {y}
2. (turn|switch) {w} {x} and (leave|keep) {y} {on}
3. (leave|keep) {y} {on} but (turn|switch) {x} {w}
2. (leave|keep) {y} {on}, just (turn|switch) {w} {x}
2. (don't touch|leave alone|don't bother with) {y}, (just|only) (turn|switch) {w} {x}
2. {y} (is fine|can stay|can stay {on}|is okay like that), [but] (turn|switch) {x} {w}
2. {y} stays {on}, {x} {w}
. I only (want|need) {x} {w}, {y} (stays|can stay) {on}
. not {y}, (turn|switch) {w} {x}
. only {x} {w}, (leave|keep) {y} {on}
. {x} {w} please, {y} (I still need|is still needed|we still need)
. I still need {y}, but {x} can go {w}
""")
_SPARED_COVER = Grammar("""
4. {w} {x}, {y} can stay [{on}|as it is|like that|]
4. {w} {x} but (leave|keep) {y} {on}
2. {w} {x} but (leave|keep) {y} [alone|as it is]
2. {w} {x} but not {y}
3. (leave|keep) {y} {on} but {w} {x}
2. {y} can stay {on}, (just|only) {w} {x}
. not {y}, {w} {x}
. don't touch {y}, just {w} {x}
""")


def _other(speaker: Speaker, domain: str, kinds: tuple[Kind, ...], meant: Phrase) -> Phrase:
    for _ in range(8):
        other = _thing(speaker, domain, kinds)
        if other.slots.get("name") != meant.slots.get("name") and other.slots != meant.slots:
            return other
    return Phrase("the big lamp", {"name": "big lamp"})


def _thing(speaker: Speaker, domain: str, kinds: tuple[Kind, ...]) -> Phrase:
    if kinds and speaker.chance(0.3):
        return speaker.kind(speaker.pick(kinds), nowhere=0.1, single=0.3)
    return speaker.named(domain, apart=0.04)


def spared(speaker: Speaker) -> Said:
    """ "The lamp off, the fan can stay"."""
    speaker.slips = False
    if speaker.chance(0.25):
        kinds = (COVERS["blind"], COVERS["curtain"], COVERS["shutter"])
        meant = _thing(speaker, "cover", kinds)
        other = _other(speaker, "cover", kinds, meant)
        word, tool, still = speaker.pick((("open", "turn_on", "closed"), ("close", "turn_off", "open")))
        calls = (home_call(tool, **meant.slots),)
        return said(speaker, _SPARED_COVER, calls, x=meant.text, y=other.text, w=word, on=still)
    domain = speaker.pick(("light", "light", "light", "switch", "fan", "media_player"))
    beside = speaker.pick(("light", "light", "switch", "fan", "media_player"))
    meant = _thing(speaker, domain, (LIGHT,) if domain == "light" else ())
    other = _other(speaker, beside, (LIGHT, FAN) if beside == "light" else (), meant)
    word, still = speaker.pick((("off", "on"), ("off", "on"), ("off", "on"), ("on", "off")))
    calls = (home_call(f"turn_{word}", **meant.slots),)
    made = said(speaker, _SPARED, calls, x=meant.text, y=other.text, w=word, on=still)
    if other.is_plural:
        text = made.text.replace(f"{other.text} is ", f"{other.text} are ")
        made = Said(made.form, text.replace(f"{other.text} stays", f"{other.text} stay"), made.calls)
    return made


_WRONG_WITH = wordings(
    "(there's (a smell|a funny smell|smoke|a strange noise|a burning smell|a hum|an odd noise|water) "
    "(from|coming from|out of|by) {that}|{that} (smells|is smoking|is making a noise|is driving me mad|is "
    "too hot|sounds awful|is buzzing|keeps flickering|woke the baby|is getting hot|is acting up)|I don't "
    "like the (smell|sound|look) of {that}|I can (smell|hear) {that} from here|{w} forgot {that}|nobody is "
    "using {that})"
)
_SO_OFF = Grammar("""
4. {why}(,| so|, so|. So| and so) (turn|switch|shut) {it} off
3. {why}(,| so|, so) (turn|switch|shut) off {t}
2. {why}(,| so|, so) (turn|switch) {t} off
2. {why}(,| so|, so) (please|could you|can you) (turn|switch) {it} off
. (turn|switch) {t} off, {why}
. (turn|switch) off {t}. {why}
""")


def complained(speaker: Speaker) -> Said:
    """ "There's a smell from that heater so turn it off": one call for the one thing."""
    speaker.slips = False
    name = str(
        speaker.named(speaker.pick(("switch", "switch", "climate", "fan", "light")), apart=0.0).slots["name"]
    )
    that = f"{speaker.pick(('that', 'that', 'the', 'the', 'this'))} {name}"
    if "'" in name:
        that = name
    why = _WRONG_WITH.say(speaker.rng, {"that": that, "w": speaker.pick(PEOPLE)})
    calls = (home_call("turn_off", name=name),)
    return said(speaker, _SO_OFF, calls, why=why, t=with_article(name), it="it")


# Where somebody goes, is or was: no place of what is asked for.
_WHEREABOUTS = Grammar("""
2. I need (the bathroom|the loo|the toilet|to go to the bathroom|a drink|a break)
2. I'm (going|off|heading|popping|nipping) (to|into|over to) {r}
2. I'm (on my way to|in|still in|just in|leaving) {r}
. I've got to go to {r}
. I left my (phone|glasses|keys|book|tea) {i}
. I'll be {i}
. {w} is (calling me|waiting for me|asleep|working|on the phone|having a bath) {i}
. {w} needs me {i}
. there's (someone|somebody|a noise|a spider|a parcel|no light) {i}
. the (cat|dog|baby|kettle|phone) is {i}
. we were {i} all day
. I have to fetch {g} from {r}
. somebody is at the door
. the doorbell rang
""")
_ORDERS: tuple[tuple[str, Call], ...] = (
    *(
        (words, home_call("media_pause"))
        for words in (
            "pause it",
            "pause the film",
            "pause the music",
            "pause this",
            "hit pause",
            "pause the movie",
        )
    ),
    *((words, home_call("media_next")) for words in ("skip this", "next song", "skip it", "next one please")),
    *((words, home_call("media_player_mute")) for words in ("mute it", "mute the sound", "mute this")),
    *((words, home_call("media_unpause")) for words in ("resume the film", "unpause it", "carry on playing")),
    *(
        (words, home_call("set_volume_relative", volume_step="down"))
        for words in ("turn it down", "make it quieter", "volume down", "turn the music down")
    ),
    ("turn it up", home_call("set_volume_relative", volume_step="up")),
    ("pause the timer", home_call("pause_timer")),
    ("start the vacuum", home_call("vacuum_start")),
    ("what time is it", home_call("get_current_time")),
)
_LINKS = (", ", ", ", " so ", ", so ", ". ", " ", " and so ", ", can you ", ", please ", " so please ")
_BEHIND = (", ", " because ", ", ", ". ", " since ", " as ")


def told(speaker: Speaker) -> Said:
    """ "I need the bathroom, pause it"."""
    area = speaker.area()
    fill = {
        "r": with_article(area),
        "i": in_area(area),
        "w": speaker.pick(PEOPLE),
        "g": speaker.pick(GROCERIES),
    }
    story = _WHEREABOUTS.draw(speaker.rng).say(speaker.rng, fill)
    order, call = speaker.pick(_ORDERS)
    if call.tool == "vacuum_start" and speaker.is_listed("vacuum"):
        call = home_call("vacuum_start", name="vacuum")
    if speaker.chance(0.3):
        target = speaker.named(speaker.pick(("light", "switch", "media_player")), apart=0.0)
        word = speaker.pick(("on", "off"))
        order, call = f"turn {word} {target.text}", home_call(f"turn_{word}", **target.slots)
    if speaker.chance(0.7):
        return Said(".", f"{story}{speaker.pick(_LINKS)}{order}", (call,))
    return Said(".", f"{order}{speaker.pick(_BEHIND)}{story}", (call,))


# {r} is "the greenhouse", {b} the same without its article, {i} "in the greenhouse": why, and not what.
_WHY_THERE = wordings(
    "({b} (is|is way|is a bit|is getting|gets) too (hot|cold|stuffy|bright|dark|warm|damp)|{b} too "
    "(hot|cold|bright|dark|stuffy|warm|chilly)|it's (boiling|freezing|stuffy|too bright|baking|steaming|so "
    "gloomy|far too warm) {i}|{r} (smells|smells of paint|is full of smoke|is like an oven|needs some air|is "
    "flooded with sun|is damp again)|the sun is right (in|on) {r}|(movie|film|story|nap|bath) time {i}|"
    "{w} is (asleep|working|reading|sweating|cooking) {i}|we're (eating|sitting|having tea) {i}|the plants "
    "{i} are (wilting|too cold|burning)|we all freeze {i}|guests are coming to {r})"
)
_THERE = wordings("({i}|{i}|{i}|in there)")


def placed(speaker: Speaker) -> Said:
    """ "Greenhouse too hot, all windows in the greenhouse to eighty percent": one place, one call."""
    speaker.slips = False
    area = speaker.area()
    fill = {"r": with_article(area), "b": area, "i": in_area(area), "w": speaker.pick(PEOPLE)}
    why = _WHY_THERE.say(speaker.rng, fill)
    kind = COVERS[speaker.pick(("window", "blind", "curtain", "shutter", "shade", "window"))]
    place = _THERE.say(speaker.rng, fill)
    if "'" not in area and speaker.chance(0.25):
        shown = f"{speaker.pick(('all the', 'the', 'all'))} {area} {{n}}"
    else:
        shown = f"{speaker.pick(('all', 'all the', 'the', 'every one of the'))} {{n}} {place}".strip()
    slots = {"area": area}
    level = speaker.numbers.percent()
    way = speaker.rng.random()
    if way < 0.4:
        things, words = shown.replace("{n}", kind.plural[0]), speaker.numbers.say_percent(level)
        order = speaker.pick(
            (f"{things} to {words}", f"set {things} to {words}", f"open {things} to {words}")
        )
        call = home_call("set_position", **slots, **kind.slots, position=level)
    elif way < 0.7:
        verb, tool = speaker.pick((("open", "turn_on"), ("close", "turn_off"), ("shut", "turn_off")))
        order = f"{verb} {shown.replace('{n}', kind.plural[0])}"
        call = home_call(tool, **slots, **kind.slots)
    else:
        one = speaker.pick((LIGHT, LIGHT, FAN))
        word = speaker.pick(("on", "off"))
        things = shown.replace("{n}", one.plural[0])
        order = speaker.pick((f"turn {word} {things}", f"{things} {word}", f"turn {things} {word}"))
        call = home_call(f"turn_{word}", **slots, **one.slots)
    is_verb_first = order.startswith(("set ", "open ", "close ", "shut ", "turn "))
    link = speaker.pick(_LINKS if is_verb_first else _LINKS[:7])
    return Said(".", f"{why}{link}{order}", (call,))


BUILDERS: tuple[tuple[float, Callable[[Speaker], Said]], ...] = (
    (3, spared),
    (1.4, complained),
    (2, told),
    (2, placed),
)
