"""Phrases a request: politeness, hesitation, the assistant's name, reasons before or after an order.

Reasons name people, devices and rooms that are not meant, so that the model does not take the last noun for
a device. They ask for nothing and contain no duration, which would belong to a timer.
"""

from __future__ import annotations

import itertools
import random
import re

from training.home.lexicon import vocabulary
from training.home.lexicon.vocabulary import PEOPLE
from training.home.speaker import Request
from training.home.templates import Grammar, every_wording

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
_SO = (", ", ", ", ". ", " so ", ", so ", " and ", ", now ", " - ", " ", " so please ", ", please ", " so just ")
_SO_ORDER = (
    " so do me a favour and ", ", do me a favor and ", " so please ", " so could you ", ", could you ",
    " so can you please ", ", would you ", ", be a dear and ", " so be an angel and ", " so why don't you ",
    " so I need you to ", " so I want you to ", ", just ", " so go ahead and ", " so you'd better ",
    ", maybe ", " so I think you should ", " and I'd like you to ", ", can you ",
    " so be a good sport and ", ", go on and ", " so I was thinking you could ", " so quickly ", ", then ",
    " and that's why you should ", " so it would be nice if you could ", ", what I need is for you to ",
    " so help me out and ", ", listen, ", ", anyway ", " so anyway could you ",
)  # fmt: skip
_AND = (" and ", ", ", " and now ", " but ", " and besides ", ", and then ", " and on top of that ", " because ")
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
    return rng.choice(PEOPLE) if rng.random() < 0.4 else rng.choice(vocabulary.RARE_PEOPLE)


def _ramble(rng: random.Random) -> str:
    """One clause, or two or three that lead nowhere."""
    text = reason(rng)
    while rng.random() < 0.42 and len(text) < 110:
        text += rng.choice(_AND) + reason(rng)
    return text


def with_reason_before(order: str, rng: random.Random, *, is_bare_order: bool = False) -> str:
    """The order with a clause, or a cry, before it; `is_bare_order` where it begins with its verb."""
    way = rng.random()
    if way < 0.15:
        return f"{rng.choice(_CRIES)}{rng.choice((', ', ' ', '! '))}{order}"
    if way < 0.2:
        return f"{rng.choice(_CALLS)}{rng.choice((', ', ' '))}{order}"
    link = rng.choice(_SO_ORDER if is_bare_order and rng.random() < 0.5 else _SO)
    cry = f"{rng.choice(_CRIES)} " if way > 0.93 else ""
    return f"{cry}{_ramble(rng)}{link}{order}"


def with_reason_after(order: str, rng: random.Random) -> str:
    """The order with a clause behind it."""
    way = rng.random()
    if way < 0.3:
        tail = rng.choice(_SHORT).replace("{c}", rng.choice(_CALLS)).replace("{n}", _name(rng))
        return f"{order}{rng.choice((' ', ' ', ', '))}{tail}"
    if way < 0.45:
        return f"{order} {_AIMS.draw(rng).say(rng, {'w': _who(rng)})}"
    link = rng.choice(_BECAUSE)
    return f"{order}{link if link[:1] in ('', ',', '.') else f' {link}'} {_ramble(rng)}"


# Around an order. {x} is the order, {g} the order with its verb in -ing.
_AROUND = (
    "please {x}", "please {x}", "please {x}", "please {x}", "can you {x}", "can you {x}", "can you {x}",
    "could you {x}", "could you {x}", "would you {x}", "will you {x}", "can you please {x}",
    "could you please {x}",
    "would you please {x}", "can you {x} please", "could you {x} please", "{x} please", "{x} please",
    "{x} please",
    "I want you to {x}", "I'd like you to {x}", "I would like you to {x}", "I need you to {x}",
    "I want to {x}",
    "I'd like to {x}", "I would like to {x}", "I need to {x}", "would you mind {g}", "do you mind {g}",
    "let's {x}",
    "go ahead and {x}", "go and {x}", "just {x}", "now {x}", "quickly {x}", "you can {x} now",
    "we should {x}",
    "you should {x}", "we need to {x}", "please could you {x}", "can we {x}", "could we {x}",
    "it's time to {x}",
    "I was wondering if you could {x}", "it would be great if you could {x}", "would it be possible to {x}",
    "is it possible to {x}", "be so kind and {x}", "be a dear and {x}", "do me a favor and {x}",
    "do me a favour and {x}",
    "if you could {x} that would be great", "kindly {x}", "may I ask you to {x}", "help me {x}",
    "I'm asking you to {x}",
    "you have to {x}", "could you maybe {x}", "can you quickly {x}", "don't forget to {x}",
    "make sure to {x}",
    "time to {x}", "why don't you {x}", "how about {g}", "hurry up and {x}",
    "I'd appreciate it if you could {x}",
    "would you be so kind as to {x}", "okay now {x}", "{x}, will you", "{x}, would you", "{x}, can you",
    "{x} thanks",
    "{x}, thank you", "{x} for me", "{x} for me please", "{x} now", "{x} right now", "{x} again",
    "{x} immediately",
    "please {x} for me", "please {x} now", "can you {x} for me", "could you {x} for me", "{x} now please",
    "I think you should {x}", "I think we should {x}", "maybe {x}", "then {x}", "also {x}", "first {x}",
)  # fmt: skip
# Behind somebody's own words nothing may follow that could belong to them.
_OPEN_ENDED = tuple(
    around
    for around in _AROUND
    if around.endswith(("{x}", "{g}", "{x} please")) or around == "if you could {x} that would be great"
)[:-3]
_CALLED = (
    "hey", "hey", "ok", "okay", "hello", "um", "uh", "so", "well", "right", "alright", "oh", "hi",
    "hmm", "er", "yo",
    "excuse me", "hey there", "hey computer", "computer", "house", "hey house", "assistant",
    "hey assistant", "listen",
    "okay so", "um hey", "yes", "yeah", "ah", "oh and", "and", "sorry", "good morning", "good evening",
)  # fmt: skip
_QUESTION_BEFORE = (
    "tell me", "hey tell me", "quick question", "say", "just wondering", "I wonder", "one question",
    "please tell me",
)  # fmt: skip
_QUESTION_BEHIND = (
    "please", "please", "right now", "at the moment", "by any chance", "now", "currently",
)  # fmt: skip
_ENDS_TIMED = (
    "now", "moment", "today", "currently", "time", "again", "please", "right", "not", "yet", "many",
    "outside", "tomorrow",
)  # fmt: skip
# Orders to tell somebody something cannot be one's own wish: "I want to tell me the time".
_OWN_WISH = (
    "I want to",
    "I'd like to",
    "I would like to",
    "I need to",
    "let's",
    "we ",
    "can we",
    "could we",
    "help me",
)
_ASKING = frozenset(
    [
        "can",
        "could",
        "would",
        "will",
        "may",
        "do",
        "does",
        "did",
        "is",
        "are",
        "was",
        "were",
        "has",
        "have",
        "what",
        "what's",
        "which",
        "who",
        "who's",
        "where",
        "where's",
        "when",
        "how",
        "how's",
        "why",
        "should",
        "shall",
        "am",
        "in",
    ]
) - {"in"}

# "Upstairs, turn the lights off": the place goes first where nothing but a place stands last.
_PLACE_LAST = re.compile(
    r"((?:turn|switch|close|open|set|pause|mute|dim) [^,0-9]+?) (in the [a-z' ]{3,18}|upstairs|downstairs)"
)
_PLACE_FIRST_SHARE = 0.08
_PLAIN_SHARE = 0.5
_CALLED_SHARE = 0.12
_REASON_SHARES = {"!": 0.22, ":": 0.18, ".": 0.2, "?": 0.09}

_FILLERS = frozenset(word for called in _CALLED for word in called.split()) | {
    "please",
    "tell",
    "me",
    "quick",
    "question",
    "say",
}
_DOUBLED = frozenset(
    [
        "set",
        "put",
        "shut",
        "dim",
        "stop",
        "skip",
        "get",
        "cut",
        "run",
        "let",
        "flip",
        "drop",
        "trim",
        "begin",
        "hit",
        "pop",
        "snap",
        "unplug",
        "hop",
        "prop",
        "tug",
    ]
)
_VERBS = frozenset(
    [
        "turn",
        "switch",
        "put",
        "flip",
        "click",
        "activate",
        "enable",
        "start",
        "power",
        "fire",
        "light",
        "have",
        "get",
        "make",
        "deactivate",
        "disable",
        "shut",
        "kill",
        "cut",
        "stop",
        "open",
        "raise",
        "lift",
        "roll",
        "pull",
        "draw",
        "slide",
        "close",
        "lower",
        "push",
        "drop",
        "lock",
        "secure",
        "bolt",
        "unlock",
        "set",
        "change",
        "adjust",
        "bring",
        "dim",
        "brighten",
        "fade",
        "reduce",
        "increase",
        "give",
        "color",
        "let",
        "move",
        "leave",
        "keep",
        "heat",
        "warm",
        "cool",
        "crank",
        "hold",
        "run",
        "slow",
        "speed",
        "pause",
        "unpause",
        "resume",
        "continue",
        "skip",
        "go",
        "jump",
        "play",
        "mute",
        "silence",
        "unmute",
        "take",
        "add",
        "extend",
        "cancel",
        "delete",
        "remove",
        "end",
        "clear",
        "freeze",
        "vacuum",
        "hoover",
        "clean",
        "send",
        "return",
        "dock",
        "mow",
        "trim",
        "check",
        "tick",
        "cross",
        "mark",
        "complete",
        "finish",
        "erase",
        "announce",
        "broadcast",
        "tell",
        "write",
        "note",
        "place",
        "include",
        "find",
        "arm",
        "disarm",
        "launch",
        "trigger",
        "execute",
        "count",
        "time",
        "begin",
        "restart",
        "carry",
        "subtract",
        "shorten",
        "use",
        "show",
        "read",
        "hit",
        "flick",
        "pop",
        "stick",
        "whack",
        "throw",
        "boot",
        "wake",
        "knock",
        "snap",
        "unplug",
        "uncover",
        "unroll",
        "wind",
        "swing",
        "slam",
        "hoist",
        "part",
        "retract",
        "reel",
        "fold",
        "sweep",
        "max",
        "heat",
        "nudge",
        "remind",
        "create",
        "schedule",
        "ring",
        "book",
        "hop",
        "rewind",
        "repeat",
        "replay",
        "ditch",
        "press",
        "strike",
        "scratch",
        "furl",
        "unfurl",
        "tuck",
        "spread",
        "stretch",
        "haul",
        "heave",
        "prop",
        "tug",
        "whisk",
        "fling",
        "cover",
        "stow",
        "peel",
    ]
)


def is_plain_order(order: Request) -> bool:
    """True for an order in the imperative that can be put into another sentence."""
    return order.form == "!" and order.text.split(" ", 1)[0] in _VERBS and "," not in order.text


def phrase_request(rng: random.Random, plain: Request) -> str:
    """The sentence with what people put around it."""
    text = plain.text
    # The place of the last of several commands would become that of all.
    may_lead = plain.form == "!" and len(plain.calls) == 1 and rng.random() < _PLACE_FIRST_SHARE
    if may_lead and (found := _PLACE_LAST.fullmatch(text)):
        return f"{found[2]}{rng.choice((', ', ' '))}{found[1]}"
    if plain.form in "!:" and rng.random() > _PLAIN_SHARE:
        text = _around(rng, plain)
    elif plain.form == "?":
        text = _question(rng, text)
    elif plain.form == "." and rng.random() < 0.12 and not text.endswith("please"):
        text = f"{text} please" if rng.random() < 0.8 else f"{text} thanks"
    if rng.random() < _REASON_SHARES[plain.form]:
        # Behind somebody's own words a clause could belong to them.
        goes_behind = plain.form in "!.?" and rng.random() < (0.3 if plain.form == "?" else 0.5)
        is_bare_order = plain.form in "!:" and text.split(" ", 1)[0] in _VERBS
        text = (
            with_reason_after(text, rng) if goes_behind else with_reason_before(text, rng, is_bare_order=is_bare_order)
        )
    if rng.random() < _CALLED_SHARE:
        comma = ", " if rng.random() < 0.6 else " "
        text = f"{rng.choice(_CALLED)}{comma}{text}"
    return text


def sounds_like_a_question(text: str) -> bool:
    """True where a recogniser would write a question mark: "can you turn on the light"."""
    words = text.lower().replace(",", "").split()
    words = [*itertools.dropwhile(_FILLERS.__contains__, words), "", ""]
    if words[0] in ("do", "have"):
        return words[1] in ("i", "we", "you")
    return words[0] in _ASKING


def _around(rng: random.Random, plain: Request) -> str:
    around = rng.choice(_AROUND if plain.form == "!" else _OPEN_ENDED)
    verb, _, rest = plain.text.partition(" ")
    if "{g}" in around:
        if verb not in _VERBS:
            return plain.text
        return around.replace("{g}", f"{_in_ing(verb)} {rest}")
    if verb not in _VERBS and around not in ("{x} please", "please {x}"):
        return plain.text
    if " me " in plain.text and around.startswith(_OWN_WISH):
        return plain.text
    if plain.text.endswith(_ENDS_TIMED) and not around.endswith("{x}"):
        return plain.text
    return around.replace("{x}", plain.text)


def _question(rng: random.Random, text: str) -> str:
    way = rng.random()
    if way < 0.06:
        return f"{rng.choice(_QUESTION_BEFORE)}, {text}"
    if way < 0.14 and not text.endswith(_ENDS_TIMED):
        return f"{text} {rng.choice(_QUESTION_BEHIND)}"
    return text


def _in_ing(verb: str) -> str:
    if verb in _DOUBLED:
        return f"{verb}{verb[-1]}ing"
    return f"{verb.removesuffix('e')}ing" if verb.endswith("e") and not verb.endswith("ee") else f"{verb}ing"
