"""Why somebody asks, said before or behind the order: it names people, things and rooms that are not meant.

A model that has only heard bare orders takes the last noun it hears for a device. Nothing here asks for
anything, and nothing here is a length of time: that would belong to a timer.
"""

from __future__ import annotations

import random

_PEOPLE = (
    "my sister", "my brother", "my mother-in-law", "grandpa", "the neighbour", "our landlord",
    "the postwoman", "the electrician", "the babysitter", "my boss", "a friend of mine", "the children",
    "the twins", "the baby", "my daughter", "my son", "uncle Joe", "Maria", "Tom", "everybody", "somebody",
    "the delivery man", "the nurse", "my flatmate", "the whole family", "the cleaner", "the dog", "the cat",
    "the puppy", "the hamster",
)  # fmt: skip
_DOING = (
    "is at the door", "is on the way", "is about to arrive", "is asleep already", "wants to sleep",
    "is reading", "is on the phone", "is in the shower", "is waiting downstairs", "is hungry",
    "is scared of the dark", "has a fever", "is working from home", "is having a meeting",
    "is doing homework", "just left", "just came in", "is knocking", "can't sleep", "is complaining",
    "is sitting on the sofa", "hates the noise", "is staying over", "is coming for dinner",
    "is practising the violin", "forgot the keys", "is in the garden",
)  # fmt: skip
_MY_DOING = (
    "I'm chopping vegetables", "I'm up a ladder", "I'm doing yoga", "I'm hunting for my keys",
    "I'm on a call", "I'm in the bath", "I'm under the desk", "I'm lying on the couch",
    "I'm stuck under the baby", "I'm painting", "I'm reading in bed", "I'm folding the laundry",
    "I'm feeding the fish", "I'm sick today", "I'm about to eat", "I'm off to work", "I'm off to the shops",
    "I'm going for a run", "I'm heading out", "I'm expecting a visitor", "I'm trying to read",
    "I'm trying to sleep", "I'm trying to concentrate", "I'm washing my hair", "I'm baking a cake",
    "I'm hosting a party", "I'm a bit deaf today", "I'm nearly asleep", "I'm freezing", "I'm sweating",
    "I'm too lazy to get up", "I'm wearing gloves", "I'm carrying the groceries",
)  # fmt: skip
_STATES = (
    "it's pitch dark", "it's far too bright", "it's way too hot", "it's chilly", "it's stuffy",
    "it's so quiet", "it's terribly loud", "it smells burnt", "it's raining", "it's snowing",
    "it's windy out there", "it's getting dark", "it's a lovely morning", "it's past midnight",
    "it's Sunday", "it's my birthday", "it's been a long day", "I can't see a thing",
    "I can't hear myself think", "I can hardly see the table", "I can't find my glasses",
    "I've got flour on my hands", "I've had enough", "I've burnt my finger", "I left my phone in the car",
    "my feet are cold", "my eyes hurt", "my tea is getting cold", "there's a spider in the bathtub",
    "there's a draught", "there's nobody in there", "there's a party next door",
    "there's something on the stairs", "the sun is in my eyes", "the sun is up",
    "the film is about to start", "the match is on", "the meeting begins soon", "the food is ready",
    "the soup is boiling over", "the phone keeps ringing", "the bell just rang",
    "the neighbours are sleeping", "the cat is on the table", "the plants look thirsty",
    "the floor is cold", "the show is over", "the guests are here", "we're all here",
    "we're off on holiday", "we're eating outside tonight", "we've run out of time",
    "we don't need it any more", "nobody is using it", "nobody is home", "somebody left it like that",
    "that's enough for today", "that was a great song", "this is too much", "you know I hate that",
)  # fmt: skip
_CRIES = (
    "good grief", "oh dear", "what a day", "morning everyone", "evening all", "wakey wakey", "time for bed",
    "let's have some fun", "party time", "bedtime for everyone", "lovely", "finally", "brilliant",
    "goodness me", "right then", "now then", "home sweet home", "off we go", "work time", "story time",
    "quiet everyone", "all hands on deck", "lunch break", "date night", "game night", "chill time",
    "sweet dreams",
)  # fmt: skip
_SO = (", ", ", ", ". ", " so ", ", so ", " and ", ", now ", " - ", " ")
_BECAUSE = (", ", ", ", ". ", " because ", " since ", " ", ", you see ", " - ", " as ")


def reason(rng: random.Random) -> str:
    """A clause that explains an order."""
    match rng.randrange(10):
        case 0 | 1 | 2:
            return f"{rng.choice(_PEOPLE)} {rng.choice(_DOING)}"
        case 3 | 4 | 5:
            return rng.choice(_MY_DOING)
        case _:
            return rng.choice(_STATES)


def behind_reason(order: str, rng: random.Random) -> str:
    """The order with a clause, or a cry, before it."""
    if rng.random() < 0.2:
        return f"{rng.choice(_CRIES)}{rng.choice((', ', ' ', '! '))}{order}"
    return f"{reason(rng)}{rng.choice(_SO)}{order}"


def before_reason(order: str, rng: random.Random) -> str:
    """The order with a clause behind it."""
    return f"{order}{rng.choice(_BECAUSE)}{reason(rng)}"
