"""Somebody's own words and a command in one breath: a message or a title ends where the command begins.

Beside them, sentences in which the "and" belongs to the words.
"""

from __future__ import annotations

from collections.abc import Callable

from training.calls import Call
from training.home import rare, setting, switching
from training.home.clock import moment
from training.home.contents import GROCERIES, MESSAGES, QUERIES, TASKS
from training.home.listing import list_words, shopping_words
from training.home.manner import is_plain_order
from training.home.ordering import home_call
from training.home.patterns import Grammar, wordings
from training.home.places import PEOPLE
from training.home.speaker import Said, Speaker, said
from training.home.tasks import errand

# {m} is a message, {k} a task, {at} its time, {i} an item, {l} its list, {q} a title.
_BROADCAST = wordings(
    "(announce|broadcast|announce that|broadcast that|tell everyone|tell everybody|tell the kids|tell the "
    "family|tell everyone that|let everyone know|let everybody know that|let the family know|tell the "
    "whole house|make an announcement that|make an announcement saying|say everywhere that|say on all "
    "speakers|broadcast to everyone|announce to the house that|send a message to everyone that|spread the "
    "word that|call out to everyone that) {m}"
)
_REMIND = wordings(
    "(remind me to {k}|remind me to {k}|don't let me forget to {k}|set a reminder to {k}|make sure I "
    "remember to {k}|add a reminder to {k}|help me remember to {k})"
)
_REMIND_AT = wordings(
    "(remind me to {k} {at}|remind me to {k} {at}|remind me {at} to {k}|{at} remind me to {k}|set a "
    "reminder to {k} {at}|set a reminder {at} to {k}|don't let me forget to {k} {at}|nudge me {at} to {k})"
)
_BUY = wordings(
    "(add {i} to {l}|add {i} to {l}|put {i} on {l}|write {i} on {l}|stick {i} on {l}|we need {i}|we're out "
    "of {i}|remind me to buy {i}|we've run out of {i}|{i} on {l})"
)
_ADD = wordings(
    "(add {i} to {l}|add {i} to {l}|put {i} on {l}|write {i} on {l}|note {i} on {l}|stick {i} on {l})"
)
_PLAY = wordings(
    "(play {q}|play {q}|play {q}|put on {q}|start playing {q}|let me hear {q}|find and play {q})"
)
_LINKS = (
    " and ", " and ", " and ", " and ", " and then ", " then ", ", then ", ", and ", " and also ",
    ", and then ", ", also ", " and please ", " and after that ", ", plus ", " and could you ",
    " and can you ",
)  # fmt: skip
_COMMANDS: tuple[Callable[[Speaker], Said], ...] = (
    switching.turn_on, switching.turn_on, switching.turn_off, switching.turn_off, switching.open_cover,
    switching.close_cover, switching.lock, switching.unlock, setting.brightness, setting.warmth,
    setting.colour,
)  # fmt: skip
_NEWS = (
    "the soup is on the table", "{w} is at the door", "the bus comes in ten minutes",
    "we're off to the beach", "{w} found the {r}", "I'm in the bath", "the cake is cut",
    "supper's getting cold", "nobody goes out barefoot", "{w} has the car keys", "the match has begun",
    "school is cancelled", "it's {w}'s birthday", "the vet called", "visitors are on their way",
    "my meeting is over", "I'm on a call", "the puppy is loose", "pancakes are ready",
    "the film begins at eight", "{w} needs a lift", "the {r} is fixed", "there's cake left",
    "I'm going for a run", "the floor is still wet", "it's tooth brushing time", "the washing is dry",
    "we have to leave by noon",
)  # fmt: skip
# Words of commands in somebody's own words: where these end, nobody could tell.
_DEVICES = ("turn", "switch", "lock", "close", "open", "shut", "dim", "start", "stop", "play", "lights")


def _is_clear(words: str) -> bool:
    return " and " not in words and "," not in words and not any(word in words.split() for word in _DEVICES)


def _command(speaker: Speaker) -> Said:
    order = speaker.pick(_COMMANDS)(speaker)
    while not is_plain_order(order) or order.text.startswith(("have ", "let ", "make ", "get ")):
        order = speaker.pick(_COMMANDS)(speaker)
    return order


def _task(speaker: Speaker) -> str:
    while not _is_clear(task := errand(speaker.rng)) or task.startswith(("buy ", "get ", "pick up ")):
        pass
    return task


def _own_words(speaker: Speaker) -> tuple[str, Call]:
    """A clause that ends in words of somebody's own, mostly."""
    way = speaker.rng.random()
    rng = speaker.rng
    if way < 0.32:
        while not _is_clear(message := _message(speaker)):
            pass
        return _BROADCAST.say(rng, {"m": message}), home_call("broadcast", message=message)
    if way < 0.62:
        task = _task(speaker)
        if speaker.chance(0.4):
            return _REMIND.say(rng, {"k": task}), home_call("set_reminder", task=task)
        when = moment(rng, needs_hour=False)
        call = home_call("set_reminder", task=task, time=when.text)
        return _REMIND_AT.say(rng, {"k": task, "at": when.placed}), call
    if way < 0.78:
        item = speaker.pick(GROCERIES)
        call = home_call("shopping_list_add_item", item=item)
        return _BUY.say(rng, {"i": item, "l": shopping_words(speaker)}), call
    if way < 0.86:
        while not _is_clear(item := speaker.pick(TASKS)):
            pass
        shown, name = list_words(speaker)
        return _ADD.say(rng, {"i": item, "l": shown}), home_call("list_add_item", item=item, name=name)
    query = speaker.pick(QUERIES) if speaker.chance(0.6) else rare.title(rng)
    while not _is_clear(query := query.removeprefix("some ")):
        query = speaker.pick(QUERIES)
    call = home_call("media_search_and_play", search_query=query.removeprefix("the ").removeprefix("The "))
    return _PLAY.say(rng, {"q": query}), call


def _message(speaker: Speaker) -> str:
    if speaker.chance(0.45):
        return speaker.pick(MESSAGES)
    who = speaker.somebody(PEOPLE)
    return speaker.pick(_NEWS).replace("{w}", who).replace("{r}", rare.word(speaker.rng))


def then_command(speaker: Speaker) -> Said:
    """ "Tell everyone the soup is on the table and dim the porch light": two calls, in either order."""
    speaker.slips = False
    text, call = _own_words(speaker)
    order = _command(speaker)
    if speaker.chance(0.74):
        return Said(":", f"{text}{speaker.pick(_LINKS)}{order.text}", (call, *order.calls))
    if text.split(" ", 1)[0] in ("we", "we're", "we've"):
        return then_command(speaker)
    return Said(":", f"{order.text}{speaker.pick(_LINKS[:-2])}{text}", (*order.calls, call))


# One call: what follows the "and" is no command to a home.
_JOINED_TASKS = (
    "feed the cat and brush it", "call {w} and apologise", "take out the bins and sweep the porch",
    "wash and dry the {r}", "ring {w} and ask about the {r}", "water the beds and weed the path",
    "pack the {r} and the swimming things", "print and sign the form", "bake a cake and hide it",
    "sit down and write to {w}", "measure the shelf and order brackets", "go and see {w}",
    "stretch and drink some water", "fold the towels and put them away", "find the tickets and print them",
    "take my pills and the eye drops", "thank {w} and {v}", "walk the dog and post the letter",
)  # fmt: skip
_JOINED_NEWS = (
    "dinner is ready and {w} is waiting", "the taxi is here and it won't wait",
    "I'm home and I brought pizza", "wash your hands and come to the table", "{w} and {v} are here",
    "we're leaving now and nobody is dressed yet", "grab your coats and your boots",
    "it's snowing and the sledge is out", "the cake is ready and there is tea too",
    "school starts early and the bus is on time", "be quiet and let {w} sleep",
    "come down and say hello to {w}", "the {r} is broken and nobody is to touch it",
    "tidy up and then we can go", "tea and toast are on the table",
    "pick up your toys and put them in the box", "the water is off and the plumber is late",
)  # fmt: skip
_JOINED_TITLES = (
    "the {r} and the {s}", "{r} and {s}", "{r} and sons", "my {r} and me", "night and {r}", "bread and {r}",
    "{w} and the {r}s", "{w} and {v}", "rise and {r}", "the {r} and then the rain", "rock and roll",
    "drum and bass", "rhythm and blues",
)  # fmt: skip
_ONE_ITEM = (
    "salt and vinegar crisps", "mac and cheese", "fish and chips", "peanut butter and jelly bars",
    "half and half", "sweet and sour sauce", "cookies and cream ice cream", "a dustpan and brush",
    "black and white film", "sage and onion stuffing", "a bucket and spade", "oil and vinegar dressing",
    "nuts and bolts", "a hook and eye", "rhubarb and custard sweets",
)  # fmt: skip
_SOLE = Grammar(": {x}")


def one_command(speaker: Speaker) -> Said:
    """ "Announce be quiet and let Anna sleep": the "and" belongs to the words."""
    speaker.slips = False
    rng = speaker.rng
    fill = {
        "{r}": rare.word(rng),
        "{s}": rare.word(rng),
        "{w}": speaker.pick(PEOPLE),
        "{v}": rare.person(rng),
    }

    def filled(words: str) -> str:
        for mark, value in fill.items():
            words = words.replace(mark, value)
        return words

    way = rng.random()
    if way < 0.34:
        message = filled(speaker.pick(_JOINED_NEWS))
        call, text = home_call("broadcast", message=message), _BROADCAST.say(rng, {"m": message})
    elif way < 0.68:
        task = filled(speaker.pick(_JOINED_TASKS))
        if speaker.chance(0.4):
            call, text = home_call("set_reminder", task=task), _REMIND.say(rng, {"k": task})
        else:
            when = moment(rng, needs_hour=False)
            call = home_call("set_reminder", task=task, time=when.text)
            text = _REMIND_AT.say(rng, {"k": task, "at": when.placed})
    elif way < 0.84:
        title = filled(speaker.pick(_JOINED_TITLES))
        if speaker.chance(0.5):
            title = " ".join(word if word in ("and", "the", "then", "me") else word.capitalize()
                             for word in title.split())  # fmt: skip
        call = home_call("media_search_and_play", search_query=title.removeprefix("the "))
        text = _PLAY.say(rng, {"q": title})
    else:
        item = speaker.pick(_ONE_ITEM)
        call = home_call("shopping_list_add_item", item=item)
        text = _BUY.say(rng, {"i": item, "l": shopping_words(speaker)})
    return said(speaker, _SOLE, (call,), x=text)


# What makes several calls is drawn by `combining`.
BUILDERS: tuple[tuple[float, Callable[[Speaker], Said]], ...] = ((1, one_command),)
