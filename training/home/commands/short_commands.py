"""Commands with hardly a verb, remarks before a command, and one wish in two wordings.

"Piano lamp to 20" is a brightness, "party speaker to 20" a volume, "gas fire to 20" a temperature: the
listed domain of the device decides the tool. Nothing in a remark is a name or a place of the command.
"""

from __future__ import annotations

from collections.abc import Callable

from training.home.commands import switching
from training.home.lexicon import vocabulary
from training.home.lexicon.devices import COVERS, FAN, LIGHT
from training.home.lexicon.values import article, duration, hour, say_temperature, temperature
from training.home.lexicon.vocabulary import PEOPLE, in_area, with_article
from training.home.speaker import Phrase, Request, Slots, Speaker, make_request
from training.home.templates import Grammar, home_call, wordings

_TO = Grammar("""
8. {t} (to|to|at|on|) {v}
2. {t} (up|down) to {v}
4! (set|put|turn|get|bring|take|make|move|change|adjust|push|shift|have) {t} to {v}
4! (turn|bring|take|put|push|crank|knock|drop|nudge) {t} (up|down) to {v}
2! (turn|bring|take|crank|push) (up|down) {t} to {v}
2! (put|set|leave|keep|have) {t} (at|on) {v}
! (turn|switch) {t} on (at|to) {v}
! (turn|switch) on {t} (at|to) {v}
! (lower|raise|reduce|increase|drop|lift) {t} to {v}
! give {t} {v}
. {v} (on|for) {t}
. I (want|need|would like) {t} (at|on|to be at) {v}
. I'd like {t} (at|on) {v}
. let's have {t} at {v}
. {t} should be (at|on) {v}
? (can|could) (I|we) have {t} (at|on) {v}
? (can|could) {t} go (up|down) to {v}
""")
_DOMAINS = ("light", "light", "media_player", "media_player", "cover", "cover", "fan", "fan", "climate", "climate")
_SET = {
    "light": ("light_set", "brightness"),
    "media_player": ("set_volume", "volume_level"),
    "cover": ("set_position", "position"),
    "fan": ("fan_set_speed", "percentage"),
    "climate": ("climate_set_temperature", "temperature"),
}
FRACTIONS = {
    "a third": 33, "one third": 33, "a fifth": 20, "one fifth": 20, "a quarter": 25, "one quarter": 25,
    "three quarters": 75, "half": 50, "a half": 50, "a tenth": 10, "one tenth": 10, "two fifths": 40,
    "three fifths": 60, "four fifths": 80, "the maximum": 100, "max": 100, "full": 100,
}  # fmt: skip


def level(speaker: Speaker) -> Request:
    """A listed thing and its level; without a home, one whose name tells what it is."""
    domain = speaker.pick(_DOMAINS)
    tool, slot = _SET[domain]
    target = _target(speaker, domain)
    if domain == "climate":
        degrees = temperature(speaker.rng)
        calls = (home_call(tool, **target.slots, **{slot: degrees}),)
        return make_request(
            speaker, _TO, calls, t=target.text, v=say_temperature(degrees, speaker.numbers, speaker.rng)
        )
    text, value = speaker.numbers.share(FRACTIONS)
    calls = (home_call(tool, **target.slots, **{slot: value}),)
    return make_request(speaker, _TO, calls, t=target.text, v=text)


def _target(speaker: Speaker, domain: str) -> Phrase:
    target = speaker.named(domain, apart=0.0)
    # A name that two kinds of things share, or that the list gives to another kind, decides nothing.
    for _ in range(6):
        name = str(target.slots["name"]).casefold()
        domains = {
            kind
            for kind, things in speaker.known.by_domain.items()
            for thing in things
            if name in (thing.name.casefold(), *map(str.casefold, thing.aliases))
        }
        if domains <= {domain}:
            break
        target = speaker.named(domain, apart=0.0)
    return target


_THERE = Grammar("""
3. {t}
3. {t} please
. {t} now
. {t} please and thank you
. {t}, (thanks|please)
. (just|only) {t} please
. {t} (would be nice|would be great|would be lovely)
""")


def noun(speaker: Speaker) -> Request:
    """A thing that can be on, and nothing else said of it: it is to be turned on."""
    speaker.slips = False
    if speaker.chance(0.45):
        target = speaker.named(speaker.pick(("light", "light", "light", "fan", "switch")), apart=0.2)
        text = target.text.removeprefix("my ").removeprefix("our ")
        return make_request(speaker, _THERE, (home_call("turn_on", **target.slots),), t=_without_the(speaker, text))
    kind = speaker.pick((LIGHT, LIGHT, LIGHT, LIGHT, FAN))
    place = speaker.where(nowhere=0.0)
    leads = "area" in place.slots and speaker.chance(0.4)
    # Without a list of things, nobody can tell whether "kitchen light" is a name.
    one = speaker.chance(0.5) and not (leads and speaker.known.house is None)
    thing = kind.singular[0] if one else kind.plural[0]
    named = f"{next(iter(place.slots.values()))} {thing}"
    if leads and "'" not in named:
        slots = {"name": named} if one and speaker.is_listed(named) else {**place.slots, **kind.slots}
        return make_request(speaker, _THERE, (home_call("turn_on", **slots),), t=named)
    slots = {"name": thing, **place.slots} if one and speaker.is_listed(thing) else {**place.slots, **kind.slots}
    return make_request(speaker, _THERE, (home_call("turn_on", **slots),), t=f"{thing} {place.text}")


def _without_the(speaker: Speaker, text: str) -> str:
    return text.removeprefix("the ") if speaker.chance(0.6) else text


_LOUDER = Grammar("""
4! (turn|crank|bring|push|put|pump) {t} (up|up) [by|by|] {v}
2! (turn|crank|bring|push) up {t} by {v}
! (raise|increase|boost) {t} by {v}
. {t} up [by] {v}
. {t} {v} (up|louder)
! make {t} {v} louder
""")
_QUIETER = Grammar("""
4! (turn|bring|take|put|knock) {t} down [by|by|] {v}
2! (turn|bring|take) down {t} by {v}
! (lower|reduce|decrease|drop) {t} by {v}
. {t} down [by] {v}
. {t} {v} (down|quieter)
! make {t} {v} quieter
""")


def step(speaker: Speaker) -> Request:
    """A player, or a room, louder or quieter by some percent."""
    if speaker.chance(0.55):
        target = _target(speaker, "media_player")
        text, slots = target.text, target.slots
    else:
        area = speaker.area()
        text, slots = speaker.pick((f"the {area}", f"the {area}", area)), Slots(area=area)
        if "'" in area:
            text = area
    value = speaker.pick((5, 10, 10, 15, 20, 20, 25, 30, 40, 50)) if speaker.chance(0.8) else speaker.rng.randint(1, 60)
    up = speaker.chance(0.5)
    shown = speaker.numbers.say_percent(value)
    if shown[-1].isalnum() and "cent" not in shown:
        shown += " percent"
    calls = (home_call("set_volume_relative", **slots, volume_step=value if up else -value),)
    return make_request(speaker, _LOUDER if up else _QUIETER, calls, t=text, v=shown)


BUILDERS: tuple[tuple[float, Callable[[Speaker], Request]], ...] = ((8, level), (1.2, step), (2.2, noun))


# {x} is a thing that is missing, {w} somebody, {s} a spot that no home lists.
_REMARKS = wordings(
    "((I can't|can't|I still can't|nobody can) find (my|the) {x}|where (did I put|did I leave|are|have I "
    "put|on earth is) (my|the) {x}|I('ve| have) (lost|mislaid|misplaced|dropped) (my|the|another) {x}|(my|"
    "the) {x} (must be|has to be|should be|fell|rolled|got stuck|is somewhere) {s}|(I'm|we're|{w} is) "
    "(looking|searching|hunting|groping|fumbling|digging) for (my|the|a) {x}|who (took|moved|hid) (my|the) "
    "{x}|somebody (moved|took|sat on) my {x}|(I|we) (can't|can hardly|can barely) (see|read|make out) (a "
    "thing|the label|the recipe|my own hand|what I'm doing|the keyhole|where I'm going|the steps)|it's "
    "(pitch black|as dark as a cellar|darker than I thought|a bit gloomy|murky|getting dark early|dark as "
    "anything)|(I|{w}) (just|nearly|almost) (tripped|fell|stumbled) over the (cat|dog|toys|shoes|rug|cable|"
    "laundry basket)|(I|{w}) bumped into the (table|wardrobe|piano)|I stepped (on a brick|in something wet|"
    "on the cat's tail|on a marble)|(the|our) (cat|dog|rabbit|hamster|puppy|tortoise|parrot) (has escaped|"
    "is hiding|brought in a mouse|is scared|was sick on the rug|won't settle|is under the bed|got out|is "
    "scratching at the door|needs feeding)|(my|{w}'s) (hands|fingers|toes|feet) are (frozen|freezing|like "
    "ice|full|covered in dough|wet|sticky|numb|all oily)|I('ve| have) got (my arms full|shopping in both "
    "hands|paint on my fingers|the baby on my arm|a splinter|something in my eye|cold feet)|(the|our) "
    "(guests|neighbours|in-laws|visitors|kids|carol singers) (are here|are early|just rang|are at the door|"
    "have arrived|are on the stairs|are coming up the path)|{w} (is here|is at the door|is coming round|"
    "dropped a glass|wants to read|is doing a jigsaw|is scared|is threading a needle|had a nightmare|"
    "spilled the juice)|(there's|I heard) (a noise|something moving|somebody|a thump|a funny noise) (down "
    "there|out there|in the bushes|behind the shed|under the sink)|(the sun has gone|the sun went down|"
    "night is falling|the clouds are rolling in|the bulb in my torch is dead|my torch is flat|the fuse "
    "went earlier)|(time to|I'm going to|I want to|let me) (read|sew|paint|do the crossword|sort the socks|"
    "mend this zip|look at that wound|write a letter|wrap the presents)|(good grief|goodness|oh dear|"
    "blimey|ugh|brr|ouch|phew|oof), (that's dark|what a mess|not again|my poor toe|that was close|I nearly "
    "fell|what a night))"
)
_MISSING = (
    "glasses", "keys", "slippers", "other shoe", "phone", "remote", "earring", "contact lens", "needle",
    "book", "purse", "screwdriver", "tape measure", "hearing aid", "wedding ring", "wallet", "other sock",
    "torch", "pen", "knitting", "jigsaw piece", "passport", "watch", "charger", "cufflink", "dice", "pills",
    "corkscrew", "umbrella",
)  # fmt: skip
_SPOTS = wordings(
    "(under (the sofa|the bed|the wardrobe|the cushions|this mess)|behind (the cupboard|the bookcase|the "
    "fridge|the boxes)|(down|in) (the back of the chair|the coat pocket|the toy box|the drawer|this pile|"
    "the laundry basket)|among the (boots|papers|boxes|tools))"
)
_LINKS = (", ", ", ", ", ", " ", " ", ". ", ". ", ", so ", " - ", ", um, ", " so ")
_TERSE_ON = Grammar("""
4. {t} please
4. {t} on
3. {t} on please
2. {t}
. {t} (quick|now|thanks|if you would|on quick|on thanks|right now)
. (just|only) {t} please
. {t} (would help|would be good|would be nice|might help|for a moment please)
""")
_TERSE_OFF = Grammar("""
4. {t} off
3. {t} off please
. {t} (off quick|off now|off thanks|off again)
""")
_LIGHT_HERE = Grammar("""
4. (some|a bit of|a little|more|a bit more) light {p} please
3. (some|a bit of|a little|more) light {p}
2. lights {p} please
2. (lights|light) on {p}
. light {p} (now|quick|please|thanks)
""")
_HERE = ("", "here", "over here", "in here", "round here", "over here", "on this side")


def _remark(speaker: Speaker) -> str:
    who = speaker.somebody(PEOPLE, rare_share=0.3)
    missing = speaker.pick(_MISSING) if speaker.chance(0.8) else vocabulary.rare_word(speaker.rng)
    fill = {"x": missing, "w": who, "s": _SPOTS.say(speaker.rng, {})}
    return _REMARKS.say(speaker.rng, fill)


def _thing(speaker: Speaker) -> Phrase:
    way = speaker.rng.random()
    if way < 0.6:
        target = speaker.named(speaker.pick(("light", "light", "light", "switch", "fan")), apart=0.25)
        return Phrase(target.text.removeprefix("my ").removeprefix("our "), target.slots, target.is_plural)
    return speaker.kind(speaker.pick((LIGHT, LIGHT, LIGHT, FAN)), nowhere=0.1, single=0.3)


def remarked(speaker: Speaker) -> Request:
    """ "I've lost an earring, light in the hall please"."""
    speaker.slips = False
    way = speaker.rng.random()
    if way < 0.24:
        order = noun(speaker)
    elif way < 0.4:
        place = speaker.where(nowhere=0.4)
        where = place.text or speaker.pick(_HERE)
        order = make_request(speaker, _LIGHT_HERE, (home_call("turn_on", **place.slots, domain="light"),), p=where)
    elif way < 0.45:
        order = switching.kind_state(speaker)
    else:
        target = _thing(speaker)
        text = target.text.removeprefix("the ") if speaker.chance(0.35) else target.text
        on = speaker.chance(0.9)
        calls = (home_call("turn_on" if on else "turn_off", **target.slots),)
        order = make_request(speaker, _TERSE_ON if on else _TERSE_OFF, calls, t=text)
    return Request(".", f"{_remark(speaker)}{speaker.pick(_LINKS)}{order.text}", order.calls)


# {t} is the thing, {it} a word for it, {p} a place.
_TWICE_ON = Grammar("""
3. I (want|need|would like|would love) {t} on(,|.) (turn|switch|put) {again} on
3. {t} should be on(,| so|.) (turn|switch|put) {again} on
2. it would be (nice|good|lovely|great) to have {t} on(,| so|.) (turn|switch) {again} on
2. I (could use|could do with|wouldn't mind having) {t} on(,| so|.) (switch|turn) {again} on
2. let's have {t} on(,|.) (go on|please|yes), (turn|switch) {again} on
. {t}(,| please,|, I mean) (turn|switch) {again} on
. (switch|turn) on {t}(,|.) I (want|need) {again} on
. why is {t} still off(,| ?|,) (turn|switch) {again} on
""")
_TWICE_OFF = Grammar("""
3. I (want|need|would like) {t} off(,|.) (turn|switch) {again} off
3. (I|we) don't need {t} (now|any more|any longer)(,| so|.) (turn|switch|shut) {again} off
2. {t} should be off(,| so|.) (turn|switch) {again} off
2. it would be (nice|good|better) to have {t} off(,| so|.) (switch|turn) {again} off
. enough of {t}(,| ,|.) (switch|turn) {again} off
. {t}(,| please,) (turn|switch) {again} off
. why is {t} still on(,|,) (turn|switch) {again} off
""")
_TWICE_OPEN = Grammar("""
3. I (want|need|would like) {t} open(,| so|.) open {again}
2. {t} should be open(,| so|.) open {again} [please]
. it would be (nice|good) to have {t} open(,| so|.) open {again}
. let some (air|light|sun) in through {t}(,|.) open {again}
""")
_TWICE_CLOSED = Grammar("""
3. I (want|need|would like) {t} (closed|shut)(,| so|.) (close|shut) {again}
2. {t} should be (closed|shut)(,| so|.) (close|shut) {again} [please]
. it would be (nice|good|better) to have {t} (closed|shut)(,| so|.) close {again}
. we don't need {t} open(,| so|.) (close|shut) {again}
""")
_TWICE_LIGHT = Grammar("""
3. I (want|need|would like) (some|more|a bit of) light {p}(,| so|.) (turn|switch) (on the lights|the lights \
    on) [{again}]
3. it's (too|so|very|awfully|terribly) dark {p}(,| so|.) (turn|switch) (on the lights|the lights on) \
    [{again}]
2. I can't see (anything|a thing) {p}(,| so|.) (put|turn|switch) the lights on [{again}]
. make it bright {p}(,|.) (lights on|turn the lights on) [{again}]
. we need (to see something|light) {p}(,| so|.) (lights on|put the lights on) [{again}]
""")
_TWICE_PLAYED: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("I want quiet for a moment|let's stop the film for a bit|I need a break from the film|hold on a second",
     ("pause it", "pause the film", "hit pause", "put it on pause"), "media_pause"),
    ("I want to hear the rest|let's get on with the film|we can go on now|I'm ready for the rest",
     ("resume", "press play", "unpause it", "carry on playing"), "media_unpause"),
    ("I don't want this song|I want the next song|let's hear another one|this one has to go",
     ("skip this song", "skip to the next one", "next song please", "next track"), "media_next"),
    ("I want the last song again|I liked the one before|let's hear that one again|I missed the last one",
     ("go back one song", "play the previous song", "previous track please", "back to the last one"),
     "media_previous"),
    ("I don't want to hear it|no more sound please|quiet please, I'm on the phone",
     ("mute it", "mute the sound", "put it on mute"), "media_player_mute"),
)  # fmt: skip
_TWICE_TIMED = Grammar("""
3. I need {d} for the {n}(,|.) (set|start) {an} {n} timer for {d}
2. the {n} (needs|takes|wants) {d}(,| so|.) (set|start) {an} {n} timer for {d}
2. time the {n} for me(,|.) (set|start) {an} {n} timer for {d}
""")
_TWICE_WOKEN = Grammar("""
3. I (have to|need to|want to|must) (get up|be up|be awake) at {h}(,| so|.) (set an alarm for|wake me at) \
    {h}
2. don't let me oversleep(,|.) (set an alarm for|wake me up at) {h}
2. wake me at {h}(,|.) (set an alarm for|make that an alarm for) {h}
""")


def _again(speaker: Speaker, target: Phrase) -> str:
    """The thing once more: by a word for it, or as it was said."""
    pronoun = "them" if target.is_plural else "it"
    return target.text if speaker.chance(0.45) else pronoun


def twice(speaker: Speaker) -> Request:
    """ "I'd like the desk fan on, switch it on": the wish and the command are one call."""
    speaker.slips = False
    way = speaker.rng.random()
    if way < 0.5:
        target = _thing(speaker)
        on = speaker.chance(0.55)
        grammar = _TWICE_ON if on else _TWICE_OFF
        calls = (home_call("turn_on" if on else "turn_off", **target.slots),)
        made = make_request(speaker, grammar, calls, t=target.text, again=_again(speaker, target))
        verb = "are" if target.is_plural else "is"
        return Request(made.form, made.text.replace("why is ", f"why {verb} "), made.calls)
    if way < 0.66:
        target = (
            speaker.named("cover")
            if speaker.chance(0.5)
            else speaker.kind(COVERS[speaker.pick(("blind", "curtain", "window", "shutter"))], single=0.0)
        )
        on = speaker.chance(0.5)
        calls = (home_call("turn_on" if on else "turn_off", **target.slots),)
        again = _again(speaker, target)
        return make_request(speaker, _TWICE_OPEN if on else _TWICE_CLOSED, calls, t=target.text, again=again)
    if way < 0.78:
        area = speaker.area()
        shown = in_area(area) if speaker.chance(0.7) else f"in {with_article(area)}"
        calls = (home_call("turn_on", area=area, domain="light"),)
        return make_request(speaker, _TWICE_LIGHT, calls, p=shown, again=speaker.pick((shown, "in there", "there", "")))
    if way < 0.9:
        wishes, orders, tool = speaker.pick(_TWICE_PLAYED)
        link = speaker.pick((", ", ", ", ". ", " so ", " "))
        return Request(".", f"{speaker.pick(wishes.split('|'))}{link}{speaker.pick(orders)}", (home_call(tool),))
    if way < 0.96:
        words, length, _ = duration(speaker.rng, speaker.numbers)
        name = speaker.pick(("egg", "pasta", "rice", "tea", "pizza", "bread", "roast", "cake"))
        calls = (home_call("start_timer", **length, name=name),)
        return make_request(speaker, _TWICE_TIMED, calls, d=words, n=name, an=article(name))
    time = hour(speaker.rng)
    return make_request(speaker, _TWICE_WOKEN, (home_call("set_alarm", time=time),), h=time)


REMARK_BUILDERS: tuple[tuple[float, Callable[[Speaker], Request]], ...] = ((2.2, remarked), (1, twice))
