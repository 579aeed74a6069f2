"""Checks, lists read back, corrections without a mark, and commands with remarks beside them."""

from __future__ import annotations

from collections.abc import Callable

from training.home import state_questions
from training.home.commands import alarms, chores, lists, media, timers
from training.home.commands.several import is_plain_order
from training.home.device_questions import on_or_off
from training.home.lexicon import vocabulary
from training.home.lexicon.devices import COVERS
from training.home.lexicon.values import duration, hour, moment
from training.home.lexicon.vocabulary import GROCERIES, PEOPLE, QUERIES, errand, in_area
from training.home.speaker import Request, Speaker, make_request
from training.home.templates import Grammar, home_call

# --- looking, not doing

_VERIFY = Grammar("""
4! (confirm|verify|check|double check|check for me) [that|if|whether] {t} {is} {w}
3! (can you|could you|please) (confirm|verify|check) (that|if|whether) {t} {is} {w}
2! (find out|let me know|tell me|see) (if|whether) {t} {is} {w}
2! (have|take) a (quick |)look (if|whether) {t} {is} {w}
. I (want|need|would like) to know (if|whether) {t} {is} {w}
. I'm not sure (if|whether) {t} {is} {w}
? {t} {is} {w}, (right|isn't it|correct|yes)
""")
_LOOK = Grammar("""
3! (have|take) a (quick |)look at {t}
3! check [on|up on] {t}
2? what's (up|going on|happening) with {t}
2? how (about|is) {t} doing
2! (inspect|look at|look after|report on) {t}
. status of {t} please
""")
_OWN = {
    "lock": (("locked", "locked"), ("unlocked", "unlocked")),
    "cover": (("open", "open"), ("closed", "closed"), ("shut", "closed")),
    "vacuum": (("cleaning", "cleaning"), ("done", "docked"), ("still going", "cleaning"), ("docked", "docked")),
}


def verified(speaker: Speaker) -> Request:
    """ "Confirm that the gate is locked": a question, however dangerous the verb."""
    speaker.slips = False
    domain = speaker.pick(("lock", "lock", "cover", "vacuum", "light", "switch", "fan"))
    target = speaker.named(domain, apart=0.1)
    if target.entity is None:
        return state_questions.own_state_named(speaker)
    if speaker.chance(0.25):
        return make_request(speaker, _LOOK, (home_call("get_state", **target.slots),), t=target.text)
    words, state = speaker.pick(_OWN[domain]) if domain in _OWN else on_or_off(speaker, speaker.chance(0.6))
    calls = (home_call("get_state", **target.slots, state=state),)
    verb = "are" if target.is_plural else "is"
    return make_request(speaker, _VERIFY, calls, t=target.text, w=words, **{"is": verb})


_READ = Grammar("""
3! (check|go through|look through|go over|repeat|recite|run through|read back|say) {l} [again|for me|to me]
3! (let me|I want to|I'd like to|can I|could I) (hear|see|go through) {l} [again|please]
2! (read|tell|give|show) me (what's on|what is on|everything on|the items on|all of) {l}
2? what (have I got|have we got|do I still have|is left|did I put|else is) on {l}
2? is there anything (on|left on|still on) {l}
? how (long|full) is {l}
. {l} please
""")
_TO_BUY = Grammar("""
3? what (do I|do we|should I|must I) (need to |have to |)(buy|get|fetch|pick up) [at the shop|at the store|at \
    the market|today]
2? what (am I|are we) (supposed to|meant to|going to) (buy|get|shop for)
2? what (groceries|things|food) (do we need|do I need|should I get|are we missing)
2? (which|what) items (do we|do I) need from the (shop|store|supermarket)
? what are we (out of|low on|running out of)
? what's missing (in the house|for the shopping|from the kitchen)
""")


def read_back(speaker: Speaker) -> Request:
    """A list is read, not added to."""
    if speaker.chance(0.35):
        return make_request(speaker, _TO_BUY, (home_call("get_state", domain="todo"),))
    name = speaker.pick(("shopping list", "shopping list", "grocery list", "to do list", "chores list", "task list"))
    text = f"{speaker.pick(('my', 'the', 'our'))} {name}"
    return make_request(speaker, _READ, (home_call("get_state", name=name, domain="todo"),), l=text)


_TIME = Grammar("""
3. (clock|time) please
3. (the|current|exact|local) time [please|right now|now]
3! (let me|I'd like to|I want to|I need to) (know|hear|have) the (time|current time|exact time)
2! (give|get) me the (time|current time|hour)
2? (got|have you got|do you have|you got) the time
. what does the clock say
. time (check|now|right now)
. I (lost track of time|have no idea what time it is), (tell me|what is it|help)
""")
_WEATHER = Grammar("""
3? (what are|what's) the (chances|chance|odds|likelihood) of (rain|snow|a storm|a shower|sun|hail|showers) \
    [today|tomorrow|tonight]
3? how likely is (rain|snow|a storm|a shower|sunshine|thunder) [today|tomorrow]
3? (will|do|should|would) I (need|want|take|bring|pack) (shades|sunglasses|an umbrella|boots|gloves|a warm coat|\
sunscreen) [today|tomorrow]
2! (show|read|give|tell) me (this week's|today's|tomorrow's|the weekend|the week's) (forecast|weather|outlook)
2. (this week's|the week's|today's|tomorrow's|the next days') (forecast|weather)
2? can I (hang out the washing|leave the car windows down|go for a run|have a barbecue|wear shorts) [today]
2? (how|what) (hot|cold|warm|windy|wet) (will it get|is it going to be|will it be) [today|tomorrow|tonight]
? is it (jacket|umbrella|t-shirt|sandal|swimming) weather
""")


def asked_shortly(speaker: Speaker) -> Request:
    """The time in telegrams, the weather by what it does."""
    if speaker.chance(0.4):
        return make_request(speaker, _TIME, (home_call("get_current_time"),))
    return make_request(speaker, _WEATHER, (home_call("get_weather"),))


# --- said in other words

_HEAR = Grammar("""
3. (can|could) (I|we) (hear|listen to|have|get) {q} [please|now]
2. I (need|want|would love|would like|feel like|fancy) (to hear|hearing|listening to) {q} [now|right now]
2: (let me|let us|let's) (hear|listen to) {q}
. (some|a bit of) {q} would be (nice|great|good)
. how about (some|a bit of) {q}
""")
_NOT_ON = Grammar("""
3. I (don't|do not) (want|need) {t} (on|to be on|running) [any more|now|any longer]
2. {t} (shouldn't be|doesn't need to be|needn't be|mustn't be) on [now|any more]
2. (there's|there is) no need for {t} [to be on|any more]
. we can do without {t} (now|for today)
. nobody needs {t} [any more|now]
""")
_WAKE = Grammar("""
3! make me (get up|rise|get out of bed|wake up) {at}
3! (see|see to it|make certain|take care|ensure) that I'm (awake|up|out of bed) (by|before|at) {v}
2. I (have to|need to|want to|must) be (awake|up|on my feet) (by|before|around) {v}
2. I'd (rather|like to) (get up|rise|be woken) {at}
. (get up|getting up) time is {v}
. up {at} please
""")
_DARK = Grammar("""
3. (it's|it is|) (pitch black|pitch dark|black as night|dark as a cave|so dark|too dark|really dark) {p}(, | \
    )(lights please|light please|lights|help|do something|turn something on)
2. I (can't|cannot|can hardly|can barely) see (anything|a thing|my hand|where I'm going|the floor) {p}
2. (who turned the lights off|why is it so dark|where is the light) {p}
. we're sitting in the dark {p}
""")
_GLARE = Grammar("""
3. the sun (is blinding me|is in my eyes|is glaring|shines right in my face|is too bright) {p}
2. (too much sun|so much glare|the neighbours can see|everybody can look) (in|into|) {p}
. (I can't see the screen|I can't read|I can't sleep) because of the sun {p}
""")


def in_other_words(speaker: Speaker) -> Request:
    """Wishes that name the result and not the deed."""
    speaker.slips = False
    way = speaker.rng.random()
    if way < 0.28:
        query = speaker.pick(QUERIES) if speaker.chance(0.4) else _title(speaker)
        query = query.removeprefix("some ")
        calls = (home_call("media_search_and_play", search_query=media._without_article(query)),)
        return make_request(speaker, _HEAR, calls, q=query)
    if way < 0.5:
        target = speaker.named(speaker.pick(("light", "light", "switch", "fan", "climate", "media_player")))
        return make_request(speaker, _NOT_ON, (home_call("turn_off", **target.slots),), t=target.text)
    if way < 0.7:
        when = moment(speaker.rng)
        plain = hour(speaker.rng)
        pattern = _WAKE.draw(speaker.rng)
        time = plain if "v" in pattern.places else when.text
        text = pattern.say(speaker.rng, {"v": plain, "at": when.placed})
        return Request(pattern.form, text, (home_call("set_alarm", time=time),))
    area = speaker.area()
    if way < 0.86:
        calls = (home_call("turn_on", area=area, domain="light"),)
        return make_request(speaker, _DARK, calls, p=in_area(area))
    blinds = [one for one in speaker.known.by_domain.get("cover", ()) if one.device_class in COVERS and one.area]
    kinds = {one.device_class for one in blinds} & {"blind", "curtain", "shutter", "shade"}
    if len(kinds) != 1:
        return chores.weather(speaker)
    area = speaker.known.area_of(speaker.pick([one for one in blinds if one.device_class in kinds])) or area
    calls = (home_call("turn_off", area=area, domain="cover", device_class=kinds.pop()),)
    return make_request(speaker, _GLARE, calls, p=in_area(area))


def _title(speaker: Speaker) -> str:
    title = vocabulary.rare_title(speaker.rng)
    return f"{title} by {vocabulary.rare_artist(speaker.rng)}" if speaker.chance(0.4) else title


# --- corrected and taken back

_BETWEEN = (
    " no ",
    " no wait ",
    " I mean ",
    ", no, ",
    " make that ",
    " sorry ",
    " no make it ",
    " or rather ",
    " no sorry ",
)


def corrected(speaker: Speaker) -> Request:
    """ "Wake me at six no seven", "add rice no pasta to the list": the last word counts, in every slot."""
    speaker.slips = False
    rng, between = speaker.rng, speaker.pick(_BETWEEN)
    way = rng.random()
    if way < 0.4:
        first, last = hour(rng, may_say_part=False), hour(rng)
        lead = speaker.pick(("wake me at", "alarm for", "set an alarm for", "get me up at", "up at", "alarm at"))
        return Request(".", f"{lead} {first}{between}{last}", (home_call("set_alarm", time=last),))
    if way < 0.6:
        (first, task), when = (errand(rng), errand(rng)), moment(rng, needs_hour=False)
        to = "to " if speaker.chance(0.7) else ""
        text = f"remind me to {first}{between}{to}{task} {when.placed}"
        return Request(":", text, (home_call("set_reminder", task=task, time=when.text),))
    if way < 0.85:
        wrong, item = rng.sample(GROCERIES, 2)
        listed = lists.shopping_words(speaker)
        lead = speaker.pick(("add", "put"))
        text = f"{lead} {wrong}{between}{item} {'to' if lead == 'add' else 'on'} {listed}"
        return Request(".", text, (home_call("shopping_list_add_item", item=item),))
    wrong, _, _ = duration(rng, speaker.numbers)
    words, length, _ = duration(rng, speaker.numbers)
    return Request(".", f"set a timer for {wrong}{between}{words}", (home_call("start_timer", **length),))


_BACK = (
    " no don't", " no leave it", " oh no don't", ", no, don't", " actually don't", " no wait don't", " no leave that",
    " wait no leave it", ", actually no", " no I changed my mind", ", or no, leave it", " no stop forget it",
    " no nothing",
)  # fmt: skip


def taken_back(speaker: Speaker) -> Request:
    """ "Start the vacuum no don't"."""
    speaker.slips = False
    builders = (chores.vacuum_start, chores.mow, media.pause, timers.start, state_questions.on_list)
    order = speaker.pick(builders)(speaker)
    if speaker.chance(0.6):
        target = speaker.named(speaker.pick(("light", "switch", "cover", "lock", "fan")))
        verb = speaker.pick(("turn on", "switch on", "turn off", "open", "close", "lock", "unlock"))
        order = Request("!", f"{verb} {target.text}", ())
    return Request(".", order.text + speaker.pick(_BACK), (home_call("nevermind"),))


# --- several at once, with remarks

_REMARKS = (
    "the guests come in twenty minutes", "I'm late for work", "my train leaves at eight", "the bell just rang",
    "it's been a long day",
    "dinner is in half an hour", "the kids are asleep", "mum is coming at five",
    "I have a call in ten minutes", "I'm off to bed soon",
    "we leave at quarter past nine", "the baby sleeps until three", "visitors any minute",
    "I've got my hands full", "the dog wants out",
    "I only slept four hours", "the match starts at eight", "there's flour everywhere", "I spilled something",
    "I just got home",
)  # fmt: skip
_LINKS = (
    " oh and ", " oh and also ", ", oh, and ", " also ", " and another thing ", " plus ", " and while you're at it ",
    " ", " ", " ", ". ", ", ", " and um ", " and uh ", " and also could you ", " and then can you ",
    " and don't forget to ",
)  # fmt: skip
_NEEDS = Grammar("""
3. (we're|we are|I'm) (out of|short of|low on|running out of) {i}
2. (there's|there is) no (more |){i} (left|in the house)
2. (no more|hardly any) {i} left
2. we (need|could do with) [more|some more] {i}
. the {i} is (gone|finished|empty|all gone)
""")


def _need(speaker: Speaker) -> Request:
    items = speaker.rng.sample(GROCERIES, 1 if speaker.chance(0.55) else 2)
    made = _NEEDS.draw(speaker.rng).say(speaker.rng, {"i": speaker.pick((" and ", " or ", " and ")).join(items)})
    return Request(".", made, tuple(home_call("shopping_list_add_item", item=item) for item in items))


def _order(speaker: Speaker, builders: tuple[Callable[[Speaker], Request], ...]) -> Request:
    for _ in range(20):
        order = speaker.pick(builders)(speaker)
        if is_plain_order(order) and "conversation_command" not in order.calls[0].arguments and len(order.calls) == 1:
            break
    return order


def in_one_breath(speaker: Speaker, orders: tuple[Callable[[Speaker], Request], ...]) -> Request:
    """Two or three requests with hardly a word between them, or with a remark that is none."""
    speaker.slips = False
    parts = [_order(speaker, orders) for _ in range(2 if speaker.chance(0.8) else 3)]
    if speaker.chance(0.25):
        parts[0] = _need(speaker)
    if parts[0].calls == parts[1].calls:
        parts.pop(0)
    text = parts[0].text
    for part in parts[1:]:
        link = f" {speaker.pick(_REMARKS)} " if speaker.chance(0.1) else speaker.pick(_LINKS)
        text += link + part.text
    if speaker.chance(0.12):
        text = f"{speaker.pick(_REMARKS)}{speaker.pick((', ', ' so ', ' ', ', so '))}{text}"
    return Request(".", text, tuple(call for part in parts for call in part.calls))


def beside_a_remark(speaker: Speaker, orders: tuple[Callable[[Speaker], Request], ...]) -> Request:
    """ "Guests in a quarter of an hour, get the vacuum going": a time that is not the command's."""
    speaker.slips = False
    order = _order(speaker, orders)
    remark, link = speaker.pick(_REMARKS), speaker.pick((", ", " so ", " ", ", so ", ". "))
    text = f"{remark}{link}{order.text}" if speaker.chance(0.7) else f"{order.text}, {remark}"
    return Request(".", text, order.calls)


def two_alarms(speaker: Speaker) -> Request:
    """ "Alarms for both five and eight"."""
    first, second = hour(speaker.rng, may_say_part=False), hour(speaker.rng, may_say_part=False)
    text = speaker.pick(
        ("alarms for both {a} and {b}", "set two alarms one for {a} and one for {b}", "wake me at {a} and again at {b}",
         "set alarms for {a} and {b}", "I need alarms at {a} and at {b}", "alarm at {a} and another one at {b}")
    )  # fmt: skip
    calls = tuple(home_call("set_alarm", time=time) for time in dict.fromkeys((first, second)))
    return Request(".", text.replace("{a}", first).replace("{b}", second), calls)


def _with_orders(build: Callable[..., Request]) -> Callable[[Speaker], Request]:
    return lambda speaker: build(speaker, _ORDERS)


def _lamp(speaker: Speaker) -> Request:
    target = speaker.named(speaker.pick(("light", "light", "switch", "fan")))
    tool, word = speaker.pick((("turn_on", "on"), ("turn_off", "off")))
    text = (
        f"{speaker.pick(('turn', 'switch'))} {word} {target.text}"
        if speaker.chance(0.6)
        else f"turn {target.text} {word}"
    )
    return Request("!", text, (home_call(tool, **target.slots),))


_ORDERS: tuple[Callable[[Speaker], Request], ...] = (
    _lamp, _lamp, _lamp, timers.start, chores.vacuum_start, media.pause, media.next_track, media.volume_step,
    alarms.set_alarm, lists.add, chores.vacuum_home,
)  # fmt: skip
BUILDERS: tuple[tuple[float, Callable[[Speaker], Request]], ...] = (
    (3, verified),
    (2.5, read_back),
    (2, asked_shortly),
    (4, in_other_words),
    (3, corrected),
    (2.4, taken_back),
    (1.6, _with_orders(beside_a_remark)),
    (0.5, two_alarms),
)
SEVERAL_BUILDERS = ((6.0, _with_orders(in_one_breath)),)

_ELSEWHERE = Grammar("""
4? what time is it in {c} [now|right now]
3? what's the time (in|over in) {c} [now|right now]
2. (time in|the time in|current time in|local time in) {c} [please|now]
2. {c} time [please|now]
2? (what's|what does) the clock (saying|say) in {c}
2? if it's (noon|midnight|six) here what time is it in {c}
2? how late is it in {c}
2! (tell|give) me the (time|current time) (in|for) {c}
? (is it|would it be) (morning|night|late|early) in {c} [now]
? how many hours (ahead|behind) is {c}
? what time zone is {c} in
""")
_WEATHER_ELSEWHERE = Grammar("""
3? (what's|how's|what is) the weather [like] in {c} [today|tomorrow]
2? how (hot|cold|warm) is it in {c} [now|today]
2. (forecast|weather|weather report) (for|in) {c}
2? is it (raining|snowing|sunny|windy) in {c}
? will it rain in {c} [today|tomorrow|this weekend]
""")
_PLACES = (
    "Oslo", "Brazil", "Cairo", "New South Wales", "Ohio", "eastern time", "pacific time", "GMT",
    "central Europe", "Lagos", "Peru",
    "Vietnam", "Reykjavik", "Auckland", "Hawaii", "Nairobi", "Argentina", "Seoul", "Delhi", "Alaska", "Lisbon",
    "Nova Scotia", "Fiji",
    "the UK", "the states", "California", "Manila", "Kyoto", "Cape Town", "Warsaw", "Quebec", "Jakarta",
    "Kansas", "Tehran", "Malta",
)  # fmt: skip
_ONLY_HERE = (
    "I only know that for here, sorry.",
    "I can only tell you that for this home.",
    "I don't know that for other places, sorry.",
)


def elsewhere(speaker: Speaker) -> tuple[str, str, str]:
    """The time or the weather of another place, its form, and the answer."""
    pattern = (_ELSEWHERE if speaker.chance(0.6) else _WEATHER_ELSEWHERE).draw(speaker.rng)
    way = speaker.rng.random()
    place = (
        speaker.pick(_PLACES)
        if way < 0.4
        else speaker.pick(vocabulary.CITIES)
        if way < 0.8
        else vocabulary.rare_word(speaker.rng).title()
    )
    if speaker.chance(0.1):
        place = f"{place}, {speaker.pick(_PLACES)}"
    return pattern.say(speaker.rng, {"c": place}), pattern.form, speaker.pick(_ONLY_HERE)


NAMES = (
    "computer", "jarvis", "house", "Nora", "Max", "Luna", "Sam", "Friday", "home", "Oscar", "Ziggy", "Ruby",
    "Hal", "assistant", "butler",
    "Echo", "Zoe", "Cortana", "robot", "Mycroft", "Nabu", "Ava", "Milo", "dear", "my friend", "buddy", *PEOPLE[:8],
)  # fmt: skip


def addressed(speaker: Speaker, text: str) -> str:
    """The words with the assistant's name before them."""
    name = speaker.pick(NAMES)
    return f"{speaker.pick(('', 'hey ', 'okay ', 'hi ', 'yo ', 'hello '))}{name}{speaker.pick((' ', ', ', ' '))}{text}"
