"""Two to four whole commands of different kinds in one breath; those that share words are in shared_words.py.

The parts are requests of the other families. Where a time could belong to the next command as well ("wake me at seven
and turn on the lamp"), only a join that begins anew follows it: "oh and", "also", a full stop.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from training.home import state_questions
from training.home.commands import alarms, chores, lists, media, set_values, switching, timers
from training.home.commands.loose_amounts import loose_duration
from training.home.lexicon.values import Moment, article, duration, hour, moment
from training.home.lexicon.vocabulary import GROCERIES, TIMER_NAMES, errand
from training.home.phrasing import is_plain_order, reason
from training.home.speaker import Request, Speaker
from training.home.templates import Form, Grammar, home_call, wordings

Builder = Callable[[Speaker], Request]

# --- commands of different kinds

_DEVICES: tuple[Builder, ...] = (
    switching.turn_on, switching.turn_off, switching.light_on, switching.light_off, switching.light_off,
    switching.open_cover, switching.close_cover, switching.close_cover, switching.lock, switching.lock,
    switching.unlock, switching.scene, set_values.brightness, set_values.brightness, set_values.warmth,
    set_values.warmth, set_values.colour, set_values.position, media.pause, media.volume, media.volume_step,
    media.next_track, media.mute, media.music_off, chores.vacuum_start, chores.vacuum_room, chores.vacuum_home,
    chores.mow, timers.cancel_all,
)  # fmt: skip
_QUESTIONS: tuple[Builder, ...] = (
    chores.weather, chores.weather, chores.time, chores.date, timers.status, alarms.status,
    state_questions.own_state_named, state_questions.own_state_named, state_questions.warmth,
)  # fmt: skip
_JOINS = (
    " and ", " and ", " and ", " and ", ", ", ", ", " ", " ", " ", " then ", " and then ", " also ", " and also ",
    ", and ", ", then ", " plus ", " and um ", " and uh ", " and like ", " and please ", " and after that ",
    " and when you're done ", " and while you're at it ",
)  # fmt: skip
# What follows has nothing to do with the time before it.
_FRESH_JOINS = (
    " oh and ", ", oh and ", " also ", ", also ", ". ", ". also ", ", and also ", " oh yeah and ",
    " and another thing ", " and one more thing ", " oh and also ", ", and separately ", " and besides that ",
)  # fmt: skip
_BEFORE_QUESTION = (
    " and ",
    " and ",
    ", ",
    " oh and ",
    " and also ",
    " also ",
    ". ",
    " and tell me ",
    " and by the way ",
)
_AFTER_QUESTION = (" and ", " and ", " and also ", " oh and ", ", and ", ". ", " and could you ", " and please ")
_TIMED = frozenset({"start_timer", "set_alarm", "set_reminder"})
_MOST_WORDS = 9
_TRIES = 30

_TIMER = Grammar("""
4! (set|start|make|put on) a timer for {d}
3! (set|start) {a} {dt} timer
2! (set|start) {an} {n} timer for {d}
2. timer [for] {d}
2. {dt} timer
""")
_ALARM = Grammar("""
4! set an alarm for {v}
3! wake me [up] {at}
2! set (the|my) alarm for {v}
2. alarm for {v}
! get me up {at}
""")
_REMIND = wordings(
    "(remind me to {k} {at}|remind me to {k} {at}|remind me {at} to {k}|set a reminder to {k} {at}|"
    "don't let me forget to {k} {at})"
)
_BUY = Grammar("""
3! add {i} to {l}
3! put {i} on {l}
2! (stick|pop|throw|chuck|write|note|get) {i} on {l}
2. {i} on {l}
2. we need [some|more] {i}
2. we're [nearly|all] out of {i}
""")


# Nobody is out of two litres of milk.
_COUNTS = frozenset({"a", "an", "some", "two", "three", "four", "six", "ten", "half"})
_GOODS = tuple(
    item for item in GROCERIES
    if " and " not in item and not item[0].isdigit() and item.split()[0] not in _COUNTS
)  # fmt: skip


def _timer(speaker: Speaker) -> Request:
    loose = loose_duration(speaker) if speaker.chance(0.25) else None
    words, slots, adjective = loose or duration(speaker.rng, speaker.numbers)
    name = speaker.pick(TIMER_NAMES)
    pattern = _TIMER.draw(speaker.rng)
    while not adjective and "dt" in pattern.places:
        pattern = _TIMER.draw(speaker.rng)
    named = {"name": name} if "n" in pattern.places else {}
    fill = {"d": words, "dt": adjective, "a": article(adjective), "an": article(name), "n": name}
    return Request(pattern.form, pattern.say(speaker.rng, fill), (home_call("start_timer", **slots, **named),))


def _alarm(speaker: Speaker) -> Request:
    when = Moment(hour(speaker.rng), "at") if speaker.chance(0.6) else moment(speaker.rng)
    text = (pattern := _ALARM.draw(speaker.rng)).say(speaker.rng, {"v": when.text, "at": when.placed})
    return Request(pattern.form, text, (home_call("set_alarm", time=when.text),))


def _reminder(speaker: Speaker) -> Request:
    when = moment(speaker.rng, needs_hour=False)
    while " and " in (task := errand(speaker.rng)) or "," in task:
        pass
    text = _REMIND.say(speaker.rng, {"k": task, "at": when.placed})
    return Request(":", text, (home_call("set_reminder", task=task, time=when.text),))


def _purchase(speaker: Speaker) -> Request:
    items = speaker.rng.sample(_GOODS, speaker.pick((1, 1, 1, 2, 2, 3)))
    shown = items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"
    pattern = _BUY.draw(speaker.rng)
    text = pattern.say(speaker.rng, {"i": shown, "l": speaker.pick(("the list", lists.shopping_words(speaker)))})
    if text.endswith("the list"):
        text = f"{text.removesuffix('the list')}the shopping list"
    return Request(pattern.form, text, tuple(home_call("shopping_list_add_item", item=item) for item in items))


_SORTS: tuple[tuple[float, Sequence[Builder]], ...] = (
    (10, _DEVICES), (2, (_timer,)), (1.6, (_alarm,)), (1.3, (_reminder,)), (2, (_purchase,)),
)  # fmt: skip


def _fits(order: Request) -> bool:
    """True for a short order that ends where its words end."""
    words = order.text.split()
    return (
        "conversation_command" not in order.calls[0].arguments
        and order.calls[0].tool not in ("respond", "nevermind")
        and not set(words) & {"it", "them", "that", "again", "and"}
        and (is_plain_order(order) and len(words) <= _MOST_WORDS and words[0] not in ("have", "let", "get", "make"))
    )


def _order(speaker: Speaker) -> Request:
    """An order that begins with its verb, or one of the own kinds of this module."""
    (group,) = speaker.rng.choices([group for _, group in _SORTS], [weight for weight, _ in _SORTS])
    for _ in range(_TRIES):
        order = speaker.pick(group)(speaker)
        if group is not _DEVICES or _fits(order):
            return order
    return Request("!", "pause the music", (home_call("media_pause"),))


def _question(speaker: Speaker) -> Request:
    for _ in range(_TRIES):
        asked = speaker.pick(_QUESTIONS)(speaker)
        if asked.form == "?" and "," not in asked.text and len(asked.text.split()) <= _MOST_WORDS + 1:
            return asked
    return Request("?", "what time is it", (home_call("get_current_time"),))


def _about(request: Request) -> tuple[object, ...]:
    call = request.calls[0]
    return (call.tool.removeprefix("turn_").replace("off", "on"), *map(str, call.arguments.values()))


def _begins_anew(order: Request) -> bool:
    return order.text.split(" ", 1)[0] in _VERBS_OF_OWN or is_plain_order(order)


_VERBS_OF_OWN = frozenset({"set", "start", "wake", "remind", "don't", "add", "put", "stick", "pop", "throw", "chuck",
                           "write", "note", "get", "make", "we", "we're"})  # fmt: skip


def _join(speaker: Speaker, before: Request, after: Request) -> str:
    """What stands between two requests; words that cannot be taken for a part of either."""
    if after.form == "?":
        return speaker.pick(_BEFORE_QUESTION)
    if before.form == "?":
        return speaker.pick(_AFTER_QUESTION)
    # "Timer for ten minutes and turn off the fan" is two commands; behind an alarm the second may wait for it.
    if before.calls[0].tool in ("set_alarm", "set_reminder") and after.calls[0].tool not in _TIMED:
        return speaker.pick(_FRESH_JOINS)
    link = speaker.pick(_JOINS)
    if before.calls[0].tool == "start_timer" and ("then" in link or "done" in link or "after" in link):
        link = " and "
    if not _begins_anew(after):
        # "Timer five minutes" behind nothing could belong to the words before it.
        an = {"timer": " and a ", "alarm": " and an "}.get(after.text.split(" ", 1)[0], " and ")
        link = speaker.pick((", ", " and ", an))
    if after.text.startswith(("we ", "we're ")):
        link = speaker.pick((" and ", ", ", " oh and ", " also ", ". "))
    return link


def in_one_breath(speaker: Speaker) -> Request:
    """ "Turn off the lights lock the door and set an alarm for seven"."""
    speaker.slips = False
    count = speaker.pick((2, 2, 2, 2, 3, 3, 3, 4))
    parts: list[Request] = []
    for _ in range(_TRIES):
        part = _order(speaker)
        if all(_about(part) != _about(other) and part.calls != other.calls for other in parts):
            parts.append(part)
        if len(parts) == count:
            break
    # What ends in a time, or in free words, stands last where it can.
    if speaker.chance(0.6):
        parts.sort(key=lambda part: (part.calls[0].tool in _TIMED) + (part.form == ":"))
    if speaker.chance(0.16):
        at = 0 if speaker.chance(0.3) else len(parts) - 1
        parts[at] = _question(speaker)
    return _joined(speaker, parts)


def _joined(speaker: Speaker, parts: Sequence[Request]) -> Request:
    text, before = parts[0].text, parts[0]
    for part in parts[1:]:
        text += _join(speaker, before, part) + part.text
        before = part
    calls = tuple(call for part in parts for call in part.calls)
    form: Form = parts[-1].form
    if form != ":":  # behind free words nothing may follow
        opened = _opened(speaker, text, is_order=is_plain_order(parts[0]))
        form = "." if opened != text or form == "?" or parts[0].form in "?." else form
        text = opened
    return Request(form, text, calls)


_OPENINGS = (
    "okay so ", "right ", "alright ", "okay ", "so ", "um ", "uh ", "hey so ", "two things ", "a few things ",
    "couple of things, ", "listen ", "hi there, ", "quick one, ", "before I go, ", "right then, ", "okay first ",
    "hello, ", "dear, ", "hey buddy, ", "I need a few things done, ",
)  # fmt: skip
_ORDER_OPENINGS = (
    "can you please ", "could you ", "could you please ", "please ", "would you ", "I need you to ", "I want you to ",
    "would you be so kind as to ", "do me a favour and ", "be a dear and ", "I'd like you to ", "go ahead and ",
    "can you just ", "hey can you ", "um could you ", "please please ", "kindly ", "if you could ", "you please ",
    "if it's not too much trouble could you ", "when you have a moment please ", "I was wondering if you could ",
)  # fmt: skip
_ENDS = (" please", " please", " thanks", " thank you", " thank you dear", " and that's it", " that's all", " okay",
         " cheers", " if you can", " will you", " thanks so much")  # fmt: skip


def _opened(speaker: Speaker, text: str, *, is_order: bool) -> str:
    """Words before the first command: a reason, a greeting, politeness."""
    way = speaker.rng.random()
    if way < 0.12:
        link = speaker.pick((" so ", ", ", ", so ", " ", ". "))
        polite = speaker.pick(_ORDER_OPENINGS) if is_order and speaker.chance(0.4) else ""
        return f"{reason(speaker.rng)}{link}{polite}{text}"
    if way < 0.3 and is_order:
        return speaker.pick(_ORDER_OPENINGS) + text
    return speaker.pick(_OPENINGS) + text if way < 0.42 else text


# --- one of them is nothing that a home can do

_IMPOSSIBLE = wordings(
    "(order (a pizza|some sushi|a taxi|a new phone|flowers for {w})|call (my mum|{w}|the dentist|a cab|the plumber)|"
    "book (a table for two|a flight|a haircut|a hotel)|send {w} (an email|a text|a message on whatsapp)|text {w} that "
    "I'm late|make (me a sandwich|the bed)|(do|wash) the dishes|walk the dog|feed the cat|fold the "
    "laundry|iron my shirt|cook (dinner|some pasta)|buy (stocks|me a lottery ticket)|transfer fifty dollars to {w}|"
    "pay (the rent|my phone bill)|post it on facebook|fly to the moon|do my homework|empty the bins|water my "
    "neighbour's plants by hand|print the report|tell me a secret about {w}|check my email|renew my "
    "passport|scan this letter)"
)


def with_impossible(speaker: Speaker) -> Request:
    """ "Turn off the lights and order a pizza": what can be done is done."""
    speaker.slips = False
    other = _IMPOSSIBLE.say(speaker.rng, {"w": speaker.somebody(rare_share=0.3)})
    for _ in range(_TRIES):
        order = speaker.pick(_DEVICES)(speaker)
        if _fits(order):
            break
    link = speaker.pick((" and ", " and ", ", ", " and then ", " then ", " and also ", " oh and ", " plus ", " "))
    text = (
        f"{order.text}{link}{other}"
        if speaker.chance(0.65)
        else f"{other}{link.replace(' oh and ', ' and ')}{order.text}"
    )
    return Request(".", _opened(speaker, text, is_order=True), order.calls)


BUILDERS: tuple[tuple[float, Builder], ...] = ((11, in_one_breath),)
# Another tool may serve what the home's cannot.
ALONE_BUILDERS: tuple[tuple[float, Builder], ...] = ((1.6, with_impossible),)
