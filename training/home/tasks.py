"""What people want to remember: errands from two words to whole clauses, with names that are rarely heard."""

from __future__ import annotations

import random

from training.home import rare
from training.home.contents import ERRANDS, GROCERIES
from training.home.places import FAMILY, PEOPLE

# {w} is a person, {r} a rare word, {i} and {j} groceries.
_DOINGS = (
    "call mum", "call {w}", "ring {w}", "text {w}", "email {w}", "write to {w}", "phone {w} back",
    "pick up {w}", "meet {w}", "pick {w} up from the station", "congratulate {w}", "visit {w}",
    "check the oven", "take my pills", "take the medicine", "take out the rubbish", "put the bins out",
    "turn the roast", "take the cake out", "feed the cat", "feed the {r}", "walk the dog",
    "hang up the washing", "empty the dishwasher", "move the car", "charge the car", "lock the shed",
    "close the windows", "turn off the sprinkler", "switch off the oven", "water the {r}",
    "check the mail", "pay the gas bill", "book the hotel", "renew my passport", "buy {i}",
    "buy {i} and {j}", "get {i}", "pick up {i}", "order {i}", "bring the {r}", "clean the {r}",
    "return the {r} to {w}", "ring the dentist", "see the doctor", "go to the bank", "leave for the airport",
    "leave for work", "go to bed", "stretch", "drink some water", "stand up", "do my exercises",
    "practise the {r}", "send {w} the {r}", "ask {w} about the {r}", "tell {w} that the {r} is broken",
    "sign the permission slip", "change the filter", "check on the baby", "start the dishwasher",
    "thank {w} for the {r}", "vote", "cancel the subscription", "turn the compost", "defrost the chicken",
)  # fmt: skip
_CLAUSES = (
    "ask {w} whether the {r} still works", "call the man about the broken {r}",
    "find out when the {r} is delivered", "tell {w} we are not coming",
    "see if the shop by the station sells {i}", "look for the {r} that {w} lost",
    "check that the back gate is shut before the dog goes out", "get {w} something for the party",
    "take the {r} back to the shop with the receipt", "write down what {w} said about the {r}",
    "make room in the freezer for {i}", "fix the drawer that sticks", "measure the window for the new blind",
    "put the winter coats in the attic", "see whether the {r} fits behind the sofa",
    "replace the bulb over the stove", "ask the neighbours to water the plants while we are away",
    "swap the {r} for the one in the garage", "bring {w} the keys to the {r}",
    "turn the mattress in the guest room", "compare prices for a new {r}", "find a home for the old {r}",
    "teach {w} how to use the {r}", "clean behind the washing machine", "get the {r} out of the shed",
    "find a plumber who works at weekends", "collect the parcel from {w} next door",
)  # fmt: skip


def errand(rng: random.Random) -> str:
    """Something to do, beginning with its verb."""
    way = rng.random()
    if way < 0.28:
        return rng.choice(ERRANDS)
    text = rng.choice(_DOINGS if way < 0.8 else _CLAUSES)
    if "{" not in text:
        return text
    who = rare.person(rng) if rng.random() < 0.4 else rng.choice((*PEOPLE, *FAMILY))
    text = text.replace("{w}", who).replace("{r}", rare.word(rng))
    return text.replace("{i}", rng.choice(GROCERIES)).replace("{j}", rng.choice(GROCERIES))
