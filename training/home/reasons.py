"""Why somebody asks, said before or behind the order: it names people, things and rooms that are not meant.

A model that has only heard bare orders takes the last noun it hears for a device. Nothing here asks for
anything, and nothing here is a length of time: that would belong to a timer.
"""

from __future__ import annotations

import random

from training.home import rare
from training.home.patterns import Grammar, every_wording
from training.home.places import PEOPLE

_WHO = every_wording(
    "(my (sister|brother|mother|father|mother-in-law|daughter|son|boss|flatmate|cousin|aunt|wife|"
    "husband|niece)|(the|our) (neighbour|landlord|electrician|babysitter|nurse|cleaner|plumber|postman|"
    "delivery man|baby|dog|cat|puppy|hamster|parrot|rabbit|goldfish|vicar|teacher|doctor)|grandpa|"
    "grandma|granny|uncle Joe|a friend of mine|somebody|everybody|the whole family|little {n}|{n}|{n}|"
    "{n}|{n} from next door|old {n}|auntie {n})"
)
_DOING = every_wording(
    "(is (at the door|on the way|about to arrive|asleep already|fast asleep|reading|on the phone|in "
    "the shower|waiting downstairs|hungry|scared of the dark|working from home|having a meeting|doing "
    "homework|knocking|complaining|sitting on the sofa|staying over|coming for dinner|practising the "
    "violin|in the garden|ill|sulking|stuck in traffic|at the shops|taking a nap|teething|visiting|"
    "coming up the drive|hiding under the table|chewing the cable|watching the football|doing a jigsaw|"
    "painting the fence|at the airport)|has (a fever|a headache|gone to bed|an exam tomorrow|fallen "
    "asleep|locked himself out|left the building)|wants to (sleep|read|dance|go out|take a bath|see "
    "it)|can't (sleep|see a thing|hear the film|stand it)|hates (the noise|the dark|the heat|that song|"
    "draughts)|just (left|came in|rang|woke up|fell over|got home)|forgot (the keys|the umbrella|my "
    "birthday)|keeps (barking|crying|falling over|scratching|moaning))"
)
_MINE = every_wording(
    "((I'm|I am|I'm just|I'm still) (chopping vegetables|up a ladder|doing yoga|hunting for my keys|on "
    "a call|in the bath|under the desk|lying on the couch|stuck under the baby|painting the wall|"
    "reading in bed|folding the laundry|feeding the fish|not feeling well|about to eat|off to work|off "
    "to the shops|going for a run|heading out|expecting a visitor|trying to (read|sleep|concentrate|"
    "work|relax|cook)|washing my hair|baking a cake|hosting a party|a bit deaf today|nearly asleep|"
    "freezing|sweating|too lazy to get up|wearing gloves|carrying the groceries|on my way to bed|elbow "
    "deep in dough|looking for my glasses|changing the baby|watching a film|in a video call|making "
    "breakfast|wrapping presents|cleaning the oven|getting the ironing done|doing my nails|on the "
    "toilet|up to my eyes in work|mending the toaster|stuck behind the sofa)|I (need the toilet|need a "
    "nap|need a drink|can't see a thing|can't hear myself think|can hardly see the table|can't find my "
    "glasses|can't sleep|can't reach it|left my phone in the car|left the oven on yesterday|spilled "
    "coffee on the carpet|burnt my finger|dropped the remote|bumped into the wardrobe|stubbed my toe|"
    "promised {w} a quiet evening|have a headache|have my hands full|have to leave|have been up all "
    "night|have flour on my hands|just got home|just sat down|just cleaned the windows|hate sitting in "
    "the dark|think I heard something in the {r}|thought the {t} was broken|keep tripping over the "
    "cable)|I've (got my hands full|had enough|had a long day|got a migraine|got the dog on my lap|"
    "lost my slippers|burnt the toast|just put the kids to bed|been cooking all day|got guests coming)|"
    "my (feet are cold|eyes hurt|tea is getting cold|back hurts|arms are full|hands are wet|battery is "
    "dying|phone is ringing|parents are coming over|nose is running|head is spinning|glasses are "
    "broken))"
)
_WORLD = every_wording(
    "(it's (pitch dark|far too bright|way too hot|chilly|stuffy|so quiet|terribly loud|raining|pouring|"
    "snowing|windy out there|getting dark|a lovely morning|past midnight|Sunday|my birthday|been a "
    "long day|getting late|about to pour|boiling in here|like an oven in here|a bit gloomy|bedtime|"
    "nearly dinner time|still dark outside|Friday night|the weekend|freezing out there|movie night|our "
    "anniversary)|there's (a spider in the bathtub|a draught|nobody in there|a party next door|"
    "something on the stairs|a wasp in the {r}|a parcel at the door|a storm coming|a funny smell in "
    "the {r}|a cat on the roof|glare on the {t}|a mouse behind the fridge|no milk left in the house|"
    "such a racket in the {r})|the (sun is in my eyes|sun is up|film is about to start|match is on|"
    "meeting begins soon|food is ready|soup is boiling over|phone is ringing|phone keeps ringing|bell "
    "just rang|neighbours are sleeping|cat is on the table|plants look thirsty|floor is cold|show is "
    "over|guests are here|kids are in bed|pizza is here|doorbell rang|kettle is boiling|washing is out|"
    "bins are full|taxi is waiting|dog needs a walk|concert is over|{t} is making a funny noise|{t} is "
    "broken again|{r} is a mess|{r} smells of paint|window cleaner is here|moon is out|wind is picking "
    "up|battery in my hearing aid died|carpet is wet|game has started|news is depressing)|we're (all "
    "here|off on holiday|eating outside tonight|having people over|out of biscuits|about to leave|late "
    "already|going to bed|playing cards|nearly there|in the {r})|we've (run out of time|got company|"
    "just finished dinner|had the builders in|been at the beach all day)|nobody (is home|is using it|"
    "needs it|likes it|is in there)|everyone (is asleep|has gone home|is starving)|somebody left it "
    "like that|that's enough for today|that was a great song|this is too much|you know I hate that|you "
    "won't believe what happened|guess who is here|I don't know who did that)"
)
_CRIES = every_wording(
    "(good grief|oh dear|what a day|morning everyone|evening all|wakey wakey|time for bed|let's have "
    "some fun|bedtime for everyone|lovely|finally|brilliant|goodness me|right then|now then|home sweet "
    "home|off we go|work time|quiet everyone|all hands on deck|lunch break|chill time|sweet dreams|oh "
    "my god|oh for heaven's sake|for goodness sake|not again|ouch|phew|whoops|ooh|brrr|ugh|blimey|"
    "crikey|wow|yay|my goodness|right|okay then|long day|busy day|big day today|dinner time|rise and "
    "shine|quick|quick quick|one more thing|last thing|before I forget|by the way|first things first|"
    "oh and before I forget|listen up|I tell you what|you know what|thanks for that|that's better|"
    "perfect|almost done|nearly forgot|silly me|sorry to bother you)"
)
_CALLS = every_wording(
    "(love|mate|darling|sweetheart|dear|my dear|my love|honey|buddy|pal|friend|old friend|sunshine|"
    "boss|chief|robot|sir|babe|my friend|you clever thing|lovely|pet|duck|dude|man|girl|boy|petal|"
    "champ)"
)
_SHORT = every_wording(
    "(quick|quickly|pronto|will you|would you|won't you|could you|if you can|if you would|if you don't "
    "mind|if that's okay|if you please|when you can|would be great|that would be lovely|there's a good "
    "machine|there's a dear|I beg you|for goodness sake|for heaven's sake|for crying out loud|it's "
    "urgent|hurry|chop chop|ta|cheers|thanks|thanks a lot|thank you so much|thank you very much|you're "
    "a star|you're the best|as always|as usual|like yesterday|like every evening|like you did "
    "yesterday|as I said|already|finally|at last|{c}|{c}|{c}|please {c}|thanks {c}|would you {c}|will "
    "you {c}|quick {c}|{n}|just do it|okay|alright)"
)
_BECAUSE = every_wording(
    "(because|since|as|cause|now that|seeing as|given that|you see|the thing is|,|,|,|,|.|.|||||- )"
)
_AIMS = Grammar("""
. so (I|we) can (see what (I'm|we're) doing|sleep|read|finish this|eat in peace|find my keys|hear the \
    film|leave)
. so [that] {w} can (sleep|read|see|work|eat|get in|find the way|hear it)
. so (I|we) don't (trip over the cable|wake the baby|burn dinner|freeze|forget|miss it|bump into things)
. before (the guests arrive|{w} wakes up|it starts raining|I forget|we leave|the film starts|{w} gets home)
. while (I'm cooking|we eat|I'm in the bath|{w} is asleep|I look for my glasses|I'm on the phone|{w} is away)
. now that (everybody is gone|it's dark|we're home|the sun is up|{w} is asleep|the kids are in bed|it's \
    winter)
. (or|otherwise) (I'll fall asleep|{w} will complain|we'll freeze|the cat gets out|I'll go mad|we'll be late)
. unless you want (me to fall over|{w} to complain|us to freeze)
. for {w}
""")
_SO = (
    ", ",
    ", ",
    ". ",
    " so ",
    ", so ",
    " and ",
    ", now ",
    " - ",
    " ",
    " so please ",
    ", please ",
    " so just ",
)
_SO_ORDER = (
    " so do me a favour and ", ", do me a favor and ", " so please ", " so could you ", ", could you ",
    " so can you please ", ", would you ", ", be a dear and ", " so be an angel and ", " so why don't you ",
    " so I need you to ", " so I want you to ", ", just ", " so go ahead and ", " so you'd better ",
    ", maybe ", " so I think you should ", " and I'd like you to ", ", can you ",
    " so be a good sport and ", ", go on and ", " so I was thinking you could ", " so quickly ", ", then ",
    " and that's why you should ", " so it would be nice if you could ", ", what I need is for you to ",
    " so help me out and ", ", listen, ", ", anyway ", " so anyway could you ",
)  # fmt: skip
_AND = (
    " and ",
    ", ",
    " and now ",
    " but ",
    " and besides ",
    ", and then ",
    " and on top of that ",
    " because ",
)
_THINGS = (
    "toaster", "printer", "phone", "radio", "lamp", "kettle", "fridge", "tv", "old clock", "washing machine",
    "doorbell", "laptop", "microwave", "blind", "screen", "boiler", "vacuum", "car", "pram", "piano",
)  # fmt: skip
_ROOMS = (
    "kitchen", "attic", "hall", "garage", "bathroom", "garden", "cellar", "living room", "bedroom", "shed",
    "office", "street", "car", "nursery", "pub", "supermarket", "stairwell", "loft", "library", "yard",
)  # fmt: skip


def reason(rng: random.Random) -> str:
    """A clause that explains an order."""
    way = rng.random()
    if way < 0.3:
        return f"{_who(rng)} {rng.choice(_DOING)}"
    clause = rng.choice(_MINE if way < 0.62 else _WORLD)
    if "{" not in clause:
        return clause
    clause = clause.replace("{r}", rng.choice(_ROOMS)).replace("{t}", rng.choice(_THINGS))
    return clause.replace("{w}", _who(rng))


def _who(rng: random.Random) -> str:
    return rng.choice(_WHO).replace("{n}", _name(rng))


def _name(rng: random.Random) -> str:
    return rng.choice(PEOPLE) if rng.random() < 0.4 else rng.choice(rare.PEOPLE)


def _ramble(rng: random.Random) -> str:
    """One clause, or two or three that lead nowhere."""
    text = reason(rng)
    while rng.random() < 0.42 and len(text) < 110:
        text += rng.choice(_AND) + reason(rng)
    return text


def behind_reason(order: str, rng: random.Random, *, is_bare_order: bool = False) -> str:
    """The order with a clause, or a cry, before it; `is_bare_order` where it begins with its verb."""
    way = rng.random()
    if way < 0.15:
        return f"{rng.choice(_CRIES)}{rng.choice((', ', ' ', '! '))}{order}"
    if way < 0.2:
        return f"{rng.choice(_CALLS)}{rng.choice((', ', ' '))}{order}"
    link = rng.choice(_SO_ORDER if is_bare_order and rng.random() < 0.5 else _SO)
    cry = f"{rng.choice(_CRIES)} " if way > 0.93 else ""
    return f"{cry}{_ramble(rng)}{link}{order}"


def before_reason(order: str, rng: random.Random) -> str:
    """The order with a clause behind it."""
    way = rng.random()
    if way < 0.3:
        tail = rng.choice(_SHORT).replace("{c}", rng.choice(_CALLS)).replace("{n}", _name(rng))
        return f"{order}{rng.choice((' ', ' ', ', '))}{tail}"
    if way < 0.45:
        return f"{order} {_AIMS.draw(rng).say(rng, {'w': _who(rng)})}"
    link = rng.choice(_BECAUSE)
    return f"{order}{link if link[:1] in ('', ',', '.') else f' {link}'} {_ramble(rng)}"
