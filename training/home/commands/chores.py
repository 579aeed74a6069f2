"""Vacuums and mowers, weather, time and date, announcements, and cancelling a request."""

from __future__ import annotations

import re
from collections.abc import Callable

from training.home.houses import spoken_name
from training.home.lexicon import vocabulary
from training.home.lexicon.devices import MOWER, NAMES, VACUUM
from training.home.lexicon.vocabulary import CITIES, MESSAGES, PEOPLE, ROBOT_PEOPLE, in_area, on_floor, with_article
from training.home.speaker import Phrase, Request, Speaker, make_request
from training.home.templates import Grammar, home_call, wordings

_CLEAN = Grammar(
    """
5! (start|run|launch|activate|begin) {t}
! (fire up|send out) {t}
2! let {t} (clean|clean up|vacuum|run|go|start|work)
2! have {t} (clean|clean up|vacuum|do its round)
2! (tell|ask|get|send) {t} to (clean|start|start cleaning|vacuum|clean up)
! start cleaning with {t}
. {t} (start|start cleaning|clean|go)
. {t} should (start|clean|run)
. it's time for {t} to (clean|run)
"""
)
_CLEAN_PLAIN = Grammar(
    """
3! (start|begin) (vacuuming|cleaning|hoovering)
2! (vacuum|hoover|clean) (the house|the floors|everywhere|the whole house|the place|the apartment|the flat)
2! vacuum
! do the (vacuuming|hoovering|floors)
. (the floors need|the house needs|the floor needs) (cleaning|vacuuming|a clean|hoovering)
. start a cleaning run
. time to vacuum
. it's (dusty|dirty) in here, start (vacuuming|cleaning)
"""
)
_CLEAN_AT = Grammar(
    """
3! (start|run) {t} {p}
"""
)
_DOCK = Grammar(
    """
4! (send|return|bring) {t} (home|back|to its base|to its dock|back to its base|back to the dock|to the \
    dock|to base|back home)
3! (send|return) {t} to (its|the) (charging station|charger|station|base station|docking station)
3! (dock|park) {t}
2! (tell|ask) {t} to (go home|return home|go back to its dock|return to base)
2! let {t} (go home|return to base|go back|return home|go charge)
2! make {t} (go home|return home|go back to its base)
. {t} (go home|back to base|return to base|return home|go back|dock)
. {t} (can|should) (go home|return to base|go back to its base)
! get {t} (back to its dock|back to base|back home)
3! (send|put) {t} (to bed|home|back home|to its bed|to sleep|off home|to charge|to recharge|back to base|away)
2! (call|order|get|take|fetch|tell) {t} (home|back|back home|in)
. {t} (home|to bed|back home|to the dock|to its dock|to base|to its charger|time to go home|off to bed)
. {t} (is done|has done enough|needs charging|needs a charge), send it (home|back)
. that's enough {t}, go home
! (stop|end) {t} and send it (home|back|to its dock)
! put {t} back [in its dock|on its dock|to its base|on its charger]
"""
)
_CLEAN_ROOM = Grammar(
    """
6! (vacuum|hoover|clean) {a}
3! (vacuum|clean|hoover) up {a}
2! (clean|vacuum) the floor {p}
2! (start|do some|begin) (vacuuming|cleaning|hoovering) {p}
2! do {a} with the vacuum
2! (let the vacuum clean|have the vacuum clean|send the vacuum to clean|tell the vacuum to clean|have the \
    robot vacuum|send the vacuum to) {a}
. {a} needs (cleaning|vacuuming|a clean|to be vacuumed|hoovering|to be cleaned)
. it's (dirty|dusty|a mess) {p}, (vacuum|clean) it
. the floor {p} is (dirty|dusty)
. {a} is (dirty|dusty)
? (can|could) {a} be (vacuumed|cleaned|hoovered)
3! (have|get) {a} (vacuumed|hoovered|cleaned|swept)
2. I (want|need|would like) {a} (vacuumed|hoovered|cleaned)
. I'd like (to have|) {a} (vacuumed|hoovered|cleaned)
? (can|could) (I|we) have {a} (vacuumed|hoovered|cleaned)
! (see that|make sure|see to it that) {a} gets (vacuumed|hoovered|cleaned|a vacuum)
"""
)
_CLEAN_FLOOR = Grammar("""
5! (vacuum|hoover|clean|do|sweep) {f}
2! (vacuum|hoover|clean) [all of|the whole of] {f}
2! (vacuum|hoover|clean) the (floors|rooms|carpets) {o}
2! (start|do some|begin|do the) (vacuuming|cleaning|hoovering) {o}
. {f} needs (vacuuming|hoovering|a vacuum|a clean|cleaning)
. it's (dusty|filthy) {o}, (vacuum|clean) it
? (can|could) {f} be (vacuumed|hoovered)
""")
_CLEAN_ROOM_NAMED = Grammar("""
3! (vacuum|clean|hoover) {a} (with|using) {t}
3! (have|let) {t} (clean|vacuum|do) {a}
3! (tell|ask|get|send) {t} to (clean|vacuum) {a}
2! send {t} (to|into) {a}
. {t} should (clean|vacuum) {a}
. {t} clean {a}
! use {t} to (clean|vacuum) {a}
""")
_MOW = Grammar("""
5! (start|run|launch|activate) {t}
2! let {t} (mow|cut the grass|start|out|run|mow the lawn)
2! have {t} (mow the lawn|cut the grass|mow)
2! (tell|ask|get|send) {t} to (mow|mow the lawn|start mowing|cut the grass|start)
! send out {t}
. {t} (start|mow|start mowing|go)
""")
_MOW_PLAIN = Grammar(
    """
5! (mow|cut|trim) the (lawn|grass)
3! mow
3! mow the (garden|yard|back garden|front garden|backyard|front yard|front lawn|back lawn|meadow|orchard)
2! (mow|cut) the (grass|lawn) (outside|out front|out back|in the garden|in the yard|in the back garden)
2! (start|begin|get on with|go) mowing
3! (start|begin) mowing [the lawn|the grass|the garden|the yard]
! (start|begin) (cutting|trimming) the (grass|lawn)
! (get|have) the (lawn|grass|garden) (mowed|mown|cut|trimmed)
. (mowing time|time to mow|time to mow the lawn|time to cut the grass)
. I (want|need) the (lawn|grass|yard|garden) (mowed|mown|cut)
. (lawn|grass|garden) (mowing|cutting) please
2! start mowing
. the (grass|lawn) is (too long|getting long|too high|getting high)[, cut it]
. the (grass|lawn) needs (cutting|mowing|a trim|to be cut|to be mowed)
! do the (lawn|mowing)
! give the lawn a (trim|cut)
"""
)
_MOWER_HOME = _DOCK
_MOW_STOP = Grammar(
    """
3! stop mowing [the lawn|the grass]
2! stop (cutting|mowing) the (grass|lawn)
. enough mowing
3! (stop|quit|finish|end) mowing and (go home|go back|dock|return to base|go back to the dock|head home)
2! stop mowing the (garden|yard|lawn) [and go home]
! (stop|end|finish) the mowing [and go home|for today|for now]
. (enough|that's enough|no more|done with the) mowing [for today|for now], (go home|go back to the dock|dock)
. (go home and stop mowing|mowing is done, go home|the lawn is done, go back to base)
"""
)
_CLEAN_STOP = Grammar(
    """
3! (stop|quit|finish|end) (vacuuming|cleaning|hoovering) and (go home|go back|dock|return to base|go charge)
. (enough|that's enough|no more) (vacuuming|hoovering) [for today|for now], (go home|go back to the dock|dock)
. (go home and stop vacuuming|the floors are done, go back to base|vacuuming is done, go home)
"""
)
# There is no pause: a robot that is to stop goes home.
STOP = Grammar(
    """
6! (stop|halt) {t}
2! stop {t} (right there|right away|in its tracks|from running about|before it wakes the baby)
3! (make|have) {t} (stop|stop it|be quiet|quit it|leave off|knock it off)
3! (tell|ask|get) {t} to (stop|quit|leave off|halt|be quiet|pack it in|knock it off|give it a rest|shut up)
2. {t} (stop|stop now|stop right there|be quiet|that's enough|quit)
2. (enough of|that's enough from|that'll do for|no more of) {t} [for now|for today|tonight]
2. {t} (needs to|has to|should|must|can) (stop|be quiet|leave off|knock it off) [now|for today]
2. I (want|need) {t} (stopped|to stop|to be quiet|to leave off)
. {t} is (too loud|making a racket|driving me mad|getting on my nerves|in the way), (stop it|make it stop)
. (I'm on a call|the baby's asleep|I can't hear the telly|we've got guests|I'm trying to sleep), stop {t}
. don't let {t} (carry on|keep going|go on|run any longer)
. we don't (need|want) {t} (running|going|working) (any more|right now|at this hour)
? (can|could) {t} (stop|be stopped|be quiet|give it a rest|leave off) [now|for now|for a while]
? why is {t} still (running|going), stop it
"""
)
_STOP_WORK = {
    "vacuum": Grammar("""
4! (stop|quit) (vacuuming|hoovering|cleaning the floors|cleaning) {p}
2! (stop|end|call off|abort) the (vacuuming|hoovering|cleaning run|floor cleaning) {p}
2. (enough|that's enough|no more) (vacuuming|hoovering) {p} [for now|for today|please]
2. the (vacuuming|hoovering) (can|should|has to|needs to|must) stop {p}
. I (want|need) the (vacuuming|hoovering) (stopped|to stop) {p}
. don't (vacuum|hoover|clean the floor) any (more|longer) {p}
. (leave off|pack in|knock off) the (hoovering|vacuuming) {p}
. (I can't hear a thing|the baby's asleep|I'm on the phone), stop (vacuuming|hoovering) {p}
? (can|could) (we|you) (leave off|stop|quit) the (hoovering|vacuuming) {p}
? (can|could) the (vacuuming|hoovering|floor cleaning) (stop|be stopped) {p}
"""),
    "lawn_mower": Grammar("""
3! (stop|quit) (mowing|cutting the grass|mowing the lawn|trimming the lawn) {p}
2! (stop|end|call off|abort) the (mowing|grass cutting|lawn mowing) {p}
2. (enough|that's enough|no more) (mowing|grass cutting) {p} [for now|for today|please]
2. the (mowing|grass cutting) (can|should|has to|needs to|must) stop {p}
. I (want|need) the mowing (stopped|to stop) {p}
. don't (mow|cut the grass|mow the lawn) any (more|longer) {p}
. (leave off|pack in|knock off) the mowing {p}
. (it's raining|it's pouring|the kids are on the lawn|the neighbours are complaining), stop mowing {p}
. the (grass|lawn) is short enough, stop (mowing|cutting)
? (can|could) (we|you) (leave off|stop|quit) the mowing {p}
? (can|could) the (mowing|grass cutting) (stop|be stopped) {p}
"""),
}
# {t} is a robot by what it is; which one, the home knows.
_BACK = Grammar(
    """
5! (return|send|bring|get|take) {t} [back] to (its|the) (base|dock|charger|station|charging station)
4! (send|return|bring|call|order) {t} (back|home|back home|back to base|to base|in)
3! (dock|park|recall|charge|recharge) {t}
2! (have|make|let) {t} (return to base|dock|go home|go back to its dock|charge)
2! tell {t} to (go back to (its|the) (base|dock|charger)|return to (its|the) (dock|base|charger)|dock itself)
2. {t} [back] to (its|the) (base|dock|charger|station)
. {t} (should|can|needs to|has to) (go back to its base|return to its charger|dock|go and charge)
! put {t} (back on its charger|on the charger|on charge|back in its dock|away)
. back to (the|its) (dock|base|charger) with {t}
? (can|could) {t} (go back to its base|return to its dock|go home) [now]
"""
)
# No robot is said: where the home has robots of one kind only, it is meant.
_BACK_UNSAID = Grammar(
    """
3! (go home|go back to base|return to base|go back to (your|the) (dock|charger|station)|dock)
2! return to (the|your) (dock|charger|charging station|base)
. (back to base|back to the dock|back to your charger|home now|off to the charger) [please]
"""
)
_WEATHER = Grammar(
    """
6? (what's the weather like|what is the weather like|how's the weather|how is the weather|what's the \
    weather|what is the weather|how's the weather looking) [today|right now|outside|tomorrow|tonight] {p}
3? what (will the weather be|is the weather going to be) [like] {p}
2? (what's|what is) the forecast {p}
2! (tell|give|show) me the (weather|forecast|weather forecast|weather report) {p}
2? how does the weather look {p}
2. weather {p}
. (weather|weather forecast|weather report|forecast) {p} please
2? (what's|what is) it like (outside|out there|outdoors)
2? is it (raining|snowing|sunny|cloudy|windy|foggy|nice out|warm out|cold out) {p}
2? (will it rain|is it going to rain|will it snow|is it going to snow|will it be sunny|will it be cold|is \
    rain expected) [today] {p}
2? do I need (an umbrella|a jacket|a coat|a raincoat|sunglasses|rain boots)
? should I (take|bring) (an umbrella|a jacket|a coat)
2? how (warm|cold|hot) is it outside
3? (what's|how's|what is|how is) the (sky|weather) (doing|looking|like|up to) [today|tonight|out there|now]
2? (any|is there any|will we get any|do we expect any) (rain|snow|sun|storms|wind|fog|sunshine) \
    [today|tomorrow|tonight|on the way]
2? (do I|will I|should I) need (my|an|the|a) (umbrella|coat|raincoat|wellies|sunglasses|hat|sun \
    cream|scarf|gloves) [today|tomorrow]
2? (should|shall) I (wear|put on|take|grab|bring) (a coat|a scarf|a hat|my raincoat|a jumper|shorts|sun \
    cream) [today]
2? (will|is) the sun (come out|out|shining|going to shine|shine) [today|tomorrow]
2? is (a storm|rain|snow|sun|frost|fog|a thunderstorm|hail) (coming|on the way|expected|likely|forecast) \
    [today|tonight|tomorrow]
2? (what are we looking at|what can we expect|what's it like|how is it looking|how are we doing) weather \
    wise [today]
2. weather wise, what (can we expect|are we looking at|is it like) [today]
2? (is it|will it be|is it going to be) \
    (umbrella|coat|t-shirt|barbecue|beach|shorts|good|nice|decent|horrible) weather [today]
2? (will|can) (the washing|the laundry) (dry|stay out) outside [today]
2? will it (stay dry|clear up|get warmer|get colder|freeze|brighten up|be nice|storm|hail|drizzle|pour) \
    [today|tonight|tomorrow]
2? (is it|is it still) (pouring|drizzling|freezing|dry|bright|grey|stormy|icy|muggy|humid) (outside|out|out \
    there)
2? what whether (is it|like|will it be) [today|outside]
2? (what's|how's|what is) the whether [like] [today|outside|tomorrow]
2? (whether like|whether today|whether outside|whether please|weather like|weather outside|weather now)
? (is|will) today (a good day for a walk|be sunny|be wet|going to be hot)
? (can|could) we eat outside or will it rain
! (tell me|let me know) (if it will rain|if I need an umbrella|what the weather is doing|how the weather \
    looks)
! (give me|I need|read me) (a weather update|the weather|the outlook|today's weather|tomorrow's weather)
. I wonder (what the weather is like|if it will rain|whether I need a coat)
. (today's|tomorrow's|tonight's|this week's) (weather|forecast|outlook)
2? (what's|what is) the temperature outside
? how windy is it {p}
? is it (nice|wet|cold|warm|hot|windy) outside
? what should I wear today
! check the weather {p}
? do you know (the weather|what the weather is like) {p}
"""
)
_TIME = Grammar(
    """
5? what time is it [now|right now]
4? (what's|what is) the time [now|right now|please]
3! tell me (the time|what time it is|the current time)
2? (can|could) you tell me (the time|what time it is)
2? (do you know what time it is|do you have the time|do you know the time)
2? how late is it
2? what's the current time
2. [the] time please
. current time
? what does the clock say
! give me the [current] time
! check the (time|clock)
. (I'd|I would) like to know (the time|what time it is)
? what hour is it
? got the time
"""
)
_DATE = Grammar(
    """
5? (what's|what is) (the date|today's date|the date today|the current date)
4? what day is (it|today|it today)
3? (what|which) day of the (week|month) is it [today]
3! tell me (the date|today's date|what day it is|which day it is)
2? which day is (it|today)
2? (what's|what is) today
2? do you know (what day it is|today's date|the date)
2? what date is (it|it today|today)
2. [today's] date please
. current date
2? is today a (monday|tuesday|wednesday|thursday|friday|saturday|sunday)
? what month is it
? what year is it
! give me (the date|today's date)
"""
)
_BROADCAST = Grammar(
    """
5: (broadcast|announce) [that] {m}
3: (tell (everyone|everybody|the kids|the family|the house|the whole house)|let (everyone|everybody|the \
    kids|the family) know) [that] {m}
3: make an announcement [that|saying|and say] {m}
2: (broadcast|announce) to (everyone|everybody|the house|the whole house|the family) [that] {m}
2: say (everywhere|in every room|to everyone|on all speakers|in the whole house|to the whole house) [that] {m}
2: (announce|broadcast|say) on all speakers [that] {m}
2! (say|announce|broadcast) {m} (to everyone|in the whole house|on all speakers|everywhere|in every room)
2: send (a message|the message) to (everyone|all rooms|the whole house) [saying|that] {m}
2: (send|make) a broadcast [saying|that] {m}
: (shout|call out) to everyone [that] {m}
: broadcast the message {m}
: spread the word [that] {m}
. everyone should know [that] {m}
"""
)
_FORGET = Grammar("""
6. (never mind|nevermind|never mind)
4. forget (it|about it|that|about that|I said that|I asked|what I said)
2. (oh|ah|no|actually|okay|uh|well) (never mind|forget it|nevermind|leave it)
2. (leave it|scratch that|drop it|skip it|cancel that|cancel)
2. (ignore that|ignore me|ignore what I said|disregard that|disregard)
. (never mind|forget it) (then|thanks|thank you|that's fine|I'll do it myself|it's fine|it's okay|it's \
    not important)
. it's (nothing|not important|fine, never mind|okay, forget it)
. (don't worry|don't bother|don't bother with it|no worries, never mind)
. I changed my mind
. (on second thought|on second thoughts), (never mind|forget it|leave it|don't)
. (oh wait|wait), (never mind|forget it|no)
. no need [any more|anymore|thanks]
. stop, (forget it|never mind)
. (just|please) (forget it|ignore that|forget I asked)
. I didn't mean (you|that|to say that|anything)
. (I wasn't|I was not) talking to you
. that was not (for|meant for) you
. let it (be|go)
. nothing, (never mind|forget it|sorry)
. oh it's nothing
. (abort|abort that|abort mission)
""")
_TAKEN_BACK = (
    ", never mind", ", actually never mind", ", oh forget it", ", no forget it", ", nevermind",
    ", wait, never mind",
    ", hmm no, never mind", ", actually forget it", ", oh never mind", ", no wait, forget it",
    ", scratch that", ", oh leave it",
)  # fmt: skip


def any_robot(speaker: Speaker, domain: str) -> Phrase:
    """A robot by its name, or by what it is."""
    kind = VACUUM if domain == "vacuum" else MOWER
    if speaker.chance(0.5):
        phrase = speaker.named(domain, apart=0.0)
        name = str(phrase.slots["name"])
        if phrase.entity is not None or name not in (*kind.singular, "cleaner", "lawnmower"):
            proper = (
                name.lower() in PROPER_ROBOTS
                or name in ROBOT_PEOPLE
                or (name not in NAMES[domain] and speaker.chance(0.6))
            )
            return Phrase(name if proper else with_article(name), phrase.slots, False, phrase.entity)
    noun = speaker.pick((*kind.singular, "robot") if domain == "vacuum" else (*kind.singular, "robot mower"))
    if noun == "robot" and _only_kind(speaker) == "lawn_mower":
        noun = "vacuum"
    slots = {"name": noun} if speaker.is_listed(noun) else {}
    return Phrase(f"{speaker.pick(('the', 'the', 'the', 'my', 'our'))} {noun}", slots)


PROPER_ROBOTS = frozenset(
    [
        "mr. fluffy",
        "rosie",
        "dusty",
        "robby",
        "dobby",
        "bob the vacuum",
        "sir sucks a lot",
        "wall-e",
        "r2d2",
        "mr. clean",
        "jeeves",
        "alfred",
        "hubert",
        "speedy",
        "cinderella",
        "shaun the sheep",
        "mowy",
        "husky",
        "edward cutterhands",
        "robo",
    ]
)


def _only_kind(speaker: Speaker) -> str | None:
    """The kind of the home's robots, where all are of one kind."""
    kinds = [kind for kind in ("vacuum", "lawn_mower") if speaker.known.by_domain.get(kind)]
    return kinds[0] if len(kinds) == 1 else None


_HOMES = {"vacuum": "vacuum_return_to_base", "lawn_mower": "lawn_mower_dock"}
_SAID = {
    "vacuum": ("vacuum", "vacuum", "vacuum cleaner", "robot vacuum", "hoover", "vacuum robot", "vac",
               "robovac", "robot cleaner"),
    "lawn_mower": ("mower", "mower", "lawn mower", "lawnmower", "robot mower", "mowing robot",
                   "robotic mower"),
}  # fmt: skip


def robots_unnamed(speaker: Speaker) -> Request:
    """What a robot is to do, without its name: "mow the garden", "return the vacuum to its charger"."""
    speaker.slips = False
    way = speaker.rng.random()
    if way < 0.34:
        return make_request(speaker, _MOW_PLAIN, (home_call("lawn_mower_start_mowing"),))
    if way < 0.46:
        return make_request(speaker, _MOW_STOP, (home_call("lawn_mower_dock"),))
    if way < 0.53:
        return make_request(speaker, _CLEAN_STOP, (home_call("vacuum_return_to_base"),))
    only = _only_kind(speaker)
    if way < 0.63 and only is not None:
        return make_request(speaker, _BACK_UNSAID, (home_call(_HOMES[only]),))
    kind = only if only is not None and speaker.chance(0.3) else speaker.pick(tuple(_HOMES))
    noun = speaker.pick(_SAID[kind])
    if speaker.chance(0.2):
        # A robot vacuums, unless the home has nothing but mowers.
        noun, kind = "robot", only or "vacuum"
    slots = {"name": noun} if speaker.is_listed(noun) else {}
    text = f"{speaker.pick(('the', 'the', 'the', 'the', 'my', 'our'))} {noun}"
    return make_request(speaker, _BACK, (home_call(_HOMES[kind], **slots),), t=text)


def vacuum_start(speaker: Speaker) -> Request:
    way = speaker.rng.random()
    if way < 0.25:
        return make_request(speaker, _CLEAN_PLAIN, (home_call("vacuum_start"),))
    robot = any_robot(speaker, "vacuum")
    if way < 0.42:
        place = speaker.where(nowhere=0.0, floors=0.5)
        return make_request(
            speaker, _CLEAN_AT, (home_call("vacuum_start", **robot.slots, **place.slots),), t=robot.text, p=place.text
        )
    return make_request(speaker, _CLEAN, (home_call("vacuum_start", **robot.slots),), t=robot.text)


def vacuum_floor(speaker: Speaker) -> Request:
    """A whole floor: vacuum_clean_area knows rooms alone."""
    floor = speaker.floor()
    the = with_article(floor)
    calls = (home_call("vacuum_start", floor=floor),)
    return make_request(speaker, _CLEAN_FLOOR, calls, f=the, o=on_floor(floor))


def vacuum_home(speaker: Speaker) -> Request:
    robot = any_robot(speaker, "vacuum")
    if speaker.chance(0.12):
        area = speaker.area()
        text = f"{robot.text} {in_area(area)}"
        return make_request(speaker, _DOCK, (home_call("vacuum_return_to_base", **robot.slots, area=area),), t=text)
    return make_request(speaker, _DOCK, (home_call("vacuum_return_to_base", **robot.slots),), t=robot.text)


def vacuum_room(speaker: Speaker) -> Request:
    area = speaker.area()
    text = with_article(area)
    if speaker.chance(0.3):
        robot = any_robot(speaker, "vacuum")
        return make_request(
            speaker,
            _CLEAN_ROOM_NAMED,
            (home_call("vacuum_clean_area", area=area, **robot.slots),),
            a=text,
            t=robot.text,
        )
    wrong = with_article(speaker.area())
    calls = (home_call("vacuum_clean_area", area=area),)
    made = make_request(speaker, _CLEAN_ROOM, calls, a=speaker.slip(wrong, text), p=in_area(area))
    for noun in ("vacuum", "robot"):
        if f"the {noun} " in f"{made.text} " and speaker.is_listed(noun):
            return Request(made.form, made.text, (home_call("vacuum_clean_area", area=area, name=noun),))
    return made


def mow(speaker: Speaker) -> Request:
    if speaker.chance(0.45):
        return make_request(speaker, _MOW_PLAIN, (home_call("lawn_mower_start_mowing"),))
    robot = any_robot(speaker, "lawn_mower")
    return make_request(speaker, _MOW, (home_call("lawn_mower_start_mowing", **robot.slots),), t=robot.text)


def mower_home(speaker: Speaker) -> Request:
    if speaker.chance(0.12):
        return make_request(speaker, _MOW_STOP, (home_call("lawn_mower_dock"),))
    robot = any_robot(speaker, "lawn_mower")
    return make_request(speaker, _MOWER_HOME, (home_call("lawn_mower_dock", **robot.slots),), t=robot.text)


_ROBOT_NOUN = re.compile(r"vac|hoover|cleaner|mow|robot|lawn")
_OUTDOORS = ("in the garden", "outside", "in the yard", "out back", "out front")


def stopped(speaker: Speaker) -> Request:
    """ "Stop the hoover", "no more mowing": whoever stops a robot sends it home."""
    only = _only_kind(speaker)
    kind = only if only is not None and speaker.chance(0.6) else speaker.pick(("vacuum", "vacuum", "lawn_mower"))
    tool, is_vacuum = _HOMES[kind], kind == "vacuum"
    if speaker.chance(0.3):
        outdoors = Phrase(speaker.pick(_OUTDOORS) if speaker.chance(0.25) else "", {})
        place = speaker.where(nowhere=0.7, floors=0.0) if is_vacuum else outdoors
        return make_request(speaker, _STOP_WORK[kind], (home_call(tool, **place.slots),), p=place.text)
    robot = any_robot(speaker, kind)
    while robot.entity is None and not _ROBOT_NOUN.search(robot.text):
        # Nobody could tell what is to stop.
        robot = any_robot(speaker, kind)
    if is_vacuum and speaker.chance(0.12):
        area = speaker.area()
        robot = Phrase(f"{robot.text} {in_area(area)}", {**robot.slots, "area": area})
    return make_request(speaker, STOP, (home_call(tool, **robot.slots),), t=robot.text)


def weather(speaker: Speaker) -> Request:
    if speaker.chance(0.3):
        city = speaker.pick(CITIES)
        text = speaker.pick((f"in {city}", f"in {city}", f"for {city}", f"in {city} today"))
        pattern = _WEATHER.draw(speaker.rng)
        while "p" not in pattern.places:
            pattern = _WEATHER.draw(speaker.rng)
        made = pattern.say(speaker.rng, {"p": text})
        if (" today" in made and made.count("today") > 1) or "outside in" in made:
            return weather(speaker)
        return Request(pattern.form, made, (home_call("get_weather", name=city),))
    return make_request(speaker, _WEATHER, (home_call("get_weather"),), p="")


_STATION = Grammar("""
4? how does [the] {n} look [today|right now|tomorrow|]
4? (what's|what is|how's|how is) [the] {n} [like|looking|doing|today|right now|]
2? what (does|do) [the] {n} say
2! (tell|give|show|read) me [the] {n}
2! (check|get|read out) [the] {n}
. {n} [please|today|now|]
? (what's|what is) the (forecast|weather) (from|at|for) [the] {n}
? will it rain according to [the] {n}
""")


def station(speaker: Speaker) -> Request:
    """A weather station that the home lists by name."""
    things = speaker.known.by_domain.get("weather")
    if not things or speaker.chance(0.1):
        word = vocabulary.rare_word(speaker.rng)
        name = f"{word} {speaker.pick(('weather', 'weather station', 'cabin weather'))}"
    else:
        name = spoken_name(speaker.pick(things).name)
    if name in ("weather", "forecast"):
        return weather(speaker)
    return make_request(speaker, _STATION, (home_call("get_weather", name=name),), n=name)


def time(speaker: Speaker) -> Request:
    return make_request(speaker, _TIME, (home_call("get_current_time"),))


def date(speaker: Speaker) -> Request:
    return make_request(speaker, _DATE, (home_call("get_current_date"),))


_NEWS = (
    "{w} is on the phone", "{w} has found the {r}", "{w} needs help with the {r}", "the {r} is ready",
    "nobody touches the {r} until {w} is back", "{w} and {v} are here", "the {r} goes to {w} tonight",
    "we leave as soon as {w} has fed the {r}", "whoever took the {r} please bring it back",
    "{w} is looking for the {r}", "it's {w}'s turn to wash up", "the {r} has arrived",
    "I'm with {w} in the garden",
)  # fmt: skip


def _news(speaker: Speaker) -> str:
    """An announcement with names that nobody expects."""
    text = speaker.pick(_NEWS).replace("{r}", vocabulary.rare_word(speaker.rng))
    return text.replace("{w}", vocabulary.rare_person(speaker.rng)).replace("{v}", vocabulary.rare_person(speaker.rng))


def _long_news(speaker: Speaker) -> str:
    """An announcement with a place, a time or a second clause: all of it is the message."""
    message = speaker.pick(MESSAGES) if speaker.chance(0.7) else _news(speaker)
    way = speaker.rng.random()
    if way < 0.4:
        return f"{message} {_WHEN_WHERE.say(speaker.rng, {'i': in_area(speaker.area())})}"
    if way < 0.7:
        return f"{message}{speaker.pick(_AND_SO)}{speaker.pick(MESSAGES)}"
    fill = {"i": in_area(speaker.area()), "w": speaker.pick(PEOPLE), "m": message}
    return _CLAUSES.say(speaker.rng, fill)


_WHEN_WHERE = wordings(
    "({i}|{i}|{i}|at the door|in five minutes|by the back door|with the neighbours|on the "
    "terrace|after the film|before the guests arrive|for the school run|at half past eight|in front "
    "of the house|under the big tree|without me|until tomorrow|from now on|in the car|next to the piano)"
)
_CLAUSES = wordings(
    "(we're meeting {i} in ten minutes|I want everybody {i} at six|{m} so come {i}|{m} and {w} is waiting "
    "{i}|{w} left the keys {i}|there is cake {i} for whoever helps|if you need me I'm {i}|{m} because {w} "
    "has to leave early|{w} is home and wants to play cards|the one who finds the cat gets the last biscuit|"
    "{m} but take your time|{w} and I are off to the shop, back by noon|nobody goes {i} until the floor is "
    "dry|when you hear this come {i}|bring your plates {i} and turn off your screens|{m}, wash your hands)"
)
_AND_SO = (" and ", " so ", ", ", " but ", " and then ", " because ")


def broadcast(speaker: Speaker) -> Request:
    way = speaker.rng.random()
    message = speaker.pick(MESSAGES) if way < 0.5 else _news(speaker) if way < 0.68 else _long_news(speaker)
    return make_request(speaker, _BROADCAST, (home_call("broadcast", message=message),), m=message)


def forget(speaker: Speaker) -> Request:
    return make_request(speaker, _FORGET, (home_call("nevermind"),))


def taken_back(speaker: Speaker, order: Request) -> Request:
    """A request that is taken back in the same breath."""
    text = order.text
    if speaker.chance(0.5):
        words = text.split()
        text = " ".join(words[: max(2, int(len(words) * speaker.rng.uniform(0.4, 1)))])
    return Request(".", text.rstrip(",") + speaker.pick(_TAKEN_BACK), (home_call("nevermind"),))


BUILDERS: tuple[tuple[float, Callable[[Speaker], Request]], ...] = (
    (2.2, vacuum_start),
    (0.9, vacuum_floor),
    (2, vacuum_home),
    (2.6, vacuum_room),
    (1.5, mow),
    (1.5, mower_home),
    (3, robots_unnamed),
    (0.9, stopped),
    (3.6, weather),
    (1, station),
    (1.3, time),
    (1.3, date),
    (2.2, broadcast),
    (1.6, forget),
)
