"""Utterances answered without a tool call: small talk, remarks about tools, out-of-scope requests.

Small talk is read from `training/talk/*.txt`. A line is `question | variant => answer | other answer`:
every answer fits every question of its line. A line `@ theme theme` names the files of `training/tools`
with tools that may serve the questions below it. A `#` opens a comment, the file's name is the category.

Remarks about a tool are of three kinds: a `miss` wants something that no tool does, a `tell` only tells
something, a `wonder` asks how or why. Some are written in the tools' files; the rest is composed from the
topics of a tool.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from training.home.lexicon.values import hour
from training.home.lexicon.vocabulary import CITIES, PEOPLE, with_article
from training.home.speaker import Speaker
from training.home.templates import Grammar
from training.sampled_tools import Ask, SampledTool, ToolTemplate

TALK_FOLDER = Path(__file__).parent / "talk"


@dataclass(frozen=True, slots=True)
class SmallTalk:
    """Ways to ask one thing, and answers for each of them unless a tool of a `served_by` theme is offered."""

    category: str
    questions: tuple[str, ...]
    answers: tuple[str, ...]
    served_by: tuple[str, ...] = ()


def load_small_talk(folder: Path = TALK_FOLDER) -> list[SmallTalk]:
    """Every pair of every file, in the order of their names. Raises ValueError for a line that is no pair."""
    return [pair for path in sorted(folder.glob("*.txt")) for pair in _pairs(path)]


def _pairs(path: Path) -> Iterator[SmallTalk]:
    themes: tuple[str, ...] = ()
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if line.startswith("@"):
            themes = tuple(line[1:].split())
        elif line.strip() and not line.startswith("#"):
            sides = [_choices(side) for side in line.split("=>")]
            if len(sides) != 2 or not all(all(side) for side in sides):
                raise ValueError(f"{path.name}:{number}: a line is 'question | variant => answer | other answer'")
            questions, answers = sides
            yield SmallTalk(path.stem, questions, answers, themes)


def _choices(side: str) -> tuple[str, ...]:
    return tuple(choice.strip() for choice in side.split("|"))


_WRITTEN_SHARE = 0.6

# fmt: off
_CANNOT = (
    "I can't do that, sorry.", "That is beyond me, I'm afraid.", "Sorry, that's not something I can do.",
    "I have no way to do that.", "I'm afraid I can't help with that.", "Sorry, I have no tool for that.",
    "That's not possible with what I have.", "I can't, I'm afraid.", "Sorry, that I cannot do.",
    "I'm not able to do that.", "None of my tools does that, sorry.",
)
_REMARKS = (
    "I see.", "Good to know.", "That's interesting.", "Thanks for telling me.", "I hear you.",
    "Is that so?", "I understand.", "Thanks for sharing that.", "Oh, really?", "Ah, I see.",
)
_UNKNOWN = (
    "I don't know, sorry.", "I don't know much about that.", "That's more than I know.",
    "I wish I knew.", "I can't tell you that, I'm afraid.", "I have no answer to that.",
    "I don't know how that is done.", "Sorry, I can't explain that.", "That I don't know, I'm afraid.",
)
_NO_OPINION = (
    "I have no opinion on that.", "I leave that to people.", "Hard to say for a voice assistant.",
    "I have no feelings about it.", "I couldn't say.", "That's for you to judge.",
)
_ANSWERS = {"miss": _CANNOT, "tell": _REMARKS, "wonder": _UNKNOWN}

# What may stand before the words. A `miss` is an order.
_BEFORE = {
    "miss": (
        "can you ", "can you ", "could you ", "could you please ", "please ", "I want you to ", "would you ",
        "I'd like you to ", "why don't you ", "go and ", "now ", "hey, ", "you should ", "let's see you ",
    ),
    "tell": (
        "by the way, ", "you know, ", "guess what, ", "oh, ", "well, ", "I tell you, ", "so, ",
        "did you know that ",
    ),
    "wonder": ("by the way, ", "tell me, ", "hey, ", "say, ", "one question, ", "so "),
}
_BEFORE_SHARE = {"miss": 0.4, "tell": 0.15, "wonder": 0.15}

# With what a tool is about: {t} is a noun of any number.
_ON_TOPICS: tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...] = (
    ("tell", _REMARKS, (
        "I've been reading a lot about {t} lately", "my neighbour can talk about {t} for hours",
        "I had a funny dream about {t} last night", "we were talking about {t} at dinner",
        "there was a documentary about {t} yesterday", "my grandfather knew everything about {t}",
        "my daughter is writing a school essay about {t}", "I never got what people see in {t}",
        "thinking of {t} always takes me back to my childhood", "my uncle spends all his money on {t}",
        "my colleague won't stop going on about {t}", "I used to know nothing about {t}",
        "in the old days nobody cared about {t}", "I'm not really interested in {t}",
        "a friend of mine works with {t}", "honestly, I'm a bit fed up with {t}",
        "nobody in my family cares about {t}", "a man on the bus told me all about {t}",
        "I once won a quiz with a question about {t}", "there is so much to learn about {t}",
        "my sister wrote her thesis on {t}", "they have a whole museum about {t} in Oslo",
        "I bought a thick book about {t}", "I met somebody who makes a living from {t}",
        "my wife says I think too much about {t}", "I was never any good with {t}",
        "at my old job everything was about {t}", "the kids learned about {t} at school today",
        "I can't believe how much people pay for {t}", "my best friend is mad about {t}",
        "it's funny how {t} can bring people together", "I had an argument about {t} this morning",
        "our neighbours are really proud when it comes to {t}", "you and me and {t}, what a life",
        "{t}, that's what my whole family lives for", "lately it's all about {t} in our house",
    )),
    ("wonder", _UNKNOWN, (
        "who invented {t}", "why do people care so much about {t}", "what's the history of {t}",
        "how did people manage without {t} in the past", "do you know anything about {t}",
        "how would you explain {t} to a child", "how does one become an expert on {t}",
        "who was the first person to think of {t}", "what makes {t} so complicated",
        "how does the whole business with {t} actually work", "which country is most famous for {t}",
        "what did the Romans know about {t}", "why did nobody teach us about {t} at school",
        "how do I learn more about {t}", "how do professionals deal with {t}",
        "what's the science behind {t}", "why is there so much fuss about {t}",
        "what are the most common mistakes people make with {t}", "is there a law about {t}",
        "what do beginners get wrong about {t}", "what jobs have to do with {t}",
    )),
    ("wonder", _NO_OPINION, (
        "what do you think of {t}", "do you like {t}", "could you ever live without {t}",
        "what's so special about {t}", "are you an expert on {t}", "don't you find {t} boring",
        "would you say {t} can make people happy", "what would the world be without {t}",
        "are people getting too excited about {t}", "are you tired of {t} as well",
    )),
    ("miss", _CANNOT, (
        "write me an essay about {t}", "sing me a song about {t}", "sign me up for a course on {t}",
        "draw me a picture of {t}", "make a short film about {t}", "give a talk about {t} for me",
        "take over everything that has to do with {t} from now on", "design a poster about {t}",
        "teach my son everything about {t}", "put together a slideshow about {t}",
    )),
)
# With what a tool does: {v} is its description, which begins with a verb.
_ON_DEEDS: tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...] = (
    ("tell", _REMARKS, (
        "I once tried to {v}", "my brother had to {v} last year", "years ago I wanted to {v} and failed",
        "in my first job I had to {v} every single day", "my grandmother never learned to {v}",
        "I saw a film where somebody had to {v}", "people say it's hard to {v}",
        "my neighbour is always the one to {v}", "nobody ever asked my aunt to {v}",
        "at school we had to {v} for an exam", "some people pay a lot to have someone {v}",
        "I laughed so much when my dad tried to {v}", "I read about a robot that can {v}",
        "I had a dream in which I had to {v}",
    )),
    ("wonder", _UNKNOWN, (
        "how do people {v} without any help", "is it difficult to {v}", "how does one learn to {v}",
        "why would anybody {v}", "how did people {v} a hundred years ago",
        "what do I have to learn before I can {v} on my own", "can you explain how people {v}",
        "how do the professionals {v}", "who had the idea to {v} by voice",
        "how long does it take a beginner to learn to {v}", "what could go wrong when people {v}",
    )),
)
_VERBS = frozenset(
    {
        "abort", "accept", "add", "adjust", "aim", "answer", "arm", "assign", "bake", "block", "book",
        "borrow", "branch", "breathe", "bring", "buy", "calculate", "call", "cancel", "change",
        "charge", "check", "choose", "clean", "close", "compare", "connect", "convert", "cook", "count",
        "cut", "delete", "deploy", "dial", "donate", "draw", "drive", "drop", "empty", "end", "feed",
        "fill", "find", "fire", "fly", "follow", "forward", "get", "give", "hand", "have", "heat",
        "invite", "keep", "lay", "leave", "lend", "let", "level", "listen", "lock", "look",
        "lower", "make", "mark", "measure", "merge", "mix", "move", "mute", "note", "offer", "open",
        "order", "park", "pause", "pay", "pick", "plan", "play", "point", "practise", "print", "pull",
        "pump", "push", "put", "raise", "rate", "read", "record", "redeem", "release", "remember",
        "remove", "rent", "repeat", "report", "request", "reserve", "restart", "resume", "return",
        "ring", "roll", "rotate", "run", "save", "scan", "schedule", "search", "send", "set", "share",
        "shift", "show", "silence", "sing", "skip", "snooze", "speak", "spell", "spin", "split",
        "spray", "stamp", "start", "steer", "stop", "submit", "subscribe", "suggest", "suspend",
        "switch", "take", "tell", "throw", "toss", "track", "translate", "tune", "turn", "unlock",
        "update", "use", "wake", "warm", "warn", "weigh", "whisper", "work", "write",
    }
)
# fmt: on
# Who is spoken to, marks that end the clause, and nouns that look like verbs ("Level of", "Note for").
_NO_DEED = re.compile(r"\b(?:I|me|my|you|your|user|us)\b|[|:;,.(]|^\w+ of\b|^Note for\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Remark:
    """What a person says, and the sentence that answers it."""

    text: str
    answer: str


def make_remark(tools: Sequence[ToolTemplate], offered: Sequence[SampledTool], rng: random.Random) -> Remark | None:
    """Something said beside one of the tools that are offered; None where one of them may serve it.

    `offered[i]` is `tools[i]` as the scene has drawn it.
    """
    if not tools:
        return None
    at = rng.randrange(len(tools))
    tool, drawn = tools[at], offered[at]
    if tool.asides and rng.random() < _WRITTEN_SHARE:
        return _written(tool, tools, rng)
    if tool.topics and rng.random() < 0.6:
        kind, answers, texts = rng.choice(_ON_TOPICS)
        subject = {"{t}": rng.choice(tool.topics)}
    elif deed := _deed(drawn):
        kind, answers, texts = rng.choice(_ON_DEEDS)
        subject = {"{v}": deed}
    else:
        return None
    if any(kind in other.takes for other in tools):
        return None
    text = rng.choice(texts)
    for mark, words in subject.items():
        text = text.replace(mark, words)
    return Remark(_begun(kind, text, rng), rng.choice(answers))


def _written(tool: ToolTemplate, tools: Sequence[ToolTemplate], rng: random.Random) -> Remark | None:
    chosen = rng.choice(tool.asides)
    if any(chosen.kind in other.takes for other in tools if other is not tool):
        return None
    text, _ = Ask(chosen.text, ()).fill(tool.slots, rng)
    answer = rng.choice(chosen.answers or _ANSWERS[chosen.kind])
    return Remark(_begun(chosen.kind, text, rng), answer)


def _begun(kind: str, text: str, rng: random.Random) -> str:
    return rng.choice(_BEFORE[kind]) + text if rng.random() < _BEFORE_SHARE[kind] else text


def _deed(drawn: SampledTool) -> str | None:
    about = str(drawn.schema["function"]["description"])
    first, _, rest = about.partition(" ")
    if first.lower() not in _VERBS or not rest or _NO_DEED.search(about):
        return None
    return f"{first.lower()} {rest}"


# Needs hands: no tool of any kind will ever serve it.
_BODILY = Grammar("""
! (make|cook|fry) me (a sandwich|some pancakes|an omelette|a bowl of soup|breakfast|dinner|scrambled eggs)
! (iron|fold|wash) my (shirts|clothes|trousers|jeans|socks)
! (walk|brush|wash|bathe) the (dog|cat)
! change the (baby's nappy|baby's diaper|bed sheets|light bulb|tyre)
! (carry|bring) the (shopping|groceries|boxes|suitcase) (inside|upstairs)
! (empty|load|unload) the (dishwasher|washing machine|bin)
! (tie|polish) my (shoes|laces)
! (give|bring) me a (hug|glass of water|cup of tea|massage|beer|blanket)
! (fix|repair|mend) the (sink|roof|fence|broken chair|toilet|bike)
! (paint|tile|plaster) the (wall|fence|bathroom|ceiling|shed)
! (peel|chop|slice) the (potatoes|onions|carrots)
! (pick up|collect) the kids from school
! (feed|burp) the baby
! (do|wash) the dishes
! make my bed
! (take out|bring out) the (trash|bins|rubbish)
! (scratch|rub) my back
! (hold|catch) this [for me]
! (dig|plant|weed) the (flower bed|vegetable garden|tomatoes)
! (hang|take down) the (laundry|picture|curtain rod)
! (wrap|carry|unpack) the presents
! (drive|take) me to (the airport|work|the station|{city})
! fly to the moon
! (teleport|beam) me to {city}
! (make|let) it (rain|snow) outside
! turn back time
! (clean|scrub) the (toilet|bathtub|oven) by hand
! (sew|knit) me a (sweater|scarf|button)
""")
# Needs another service: right to refuse where nothing else is offered.
_WORLDLY = Grammar("""
! (book|reserve) (a flight|a hotel|a train|a table) (to|in|for) {city}
! order [me] (a pizza|some sushi|a taxi|flowers|groceries online|a burger)
! (call|ring|phone) {who}
! (text|message|email) {who} that (I'm late|I love them|dinner is off|I'll be there at six)
! send (an email|a text|a message) to {who}
! (buy|sell) (some shares|a lottery ticket|bitcoin|concert tickets)
? who (won|is winning) the (match|game|election|race|world cup)
? (what's|what is) the (share price|stock price) of (Apple|Tesla|Google)
? (what's|what is) the traffic like [to {city}]
? when is the next (train|bus|flight) to {city}
? how do I (get|drive) to {city}
! (read|check) my (emails|messages|mail)
? do I have (any new emails|any messages|any meetings today|an appointment tomorrow)
! (schedule|book|plan) a meeting with {who} [tomorrow|on monday|next week]
! (take|shoot) a (photo|picture|selfie)
! (write|compose) (a poem|a song|an essay|a letter) about (love|the sea|winter|my cat)
! (find|search for) (a recipe|restaurants nearby|a good dentist|cheap flights)
? what should I cook (tonight|for dinner|for eight people)
! (pay|transfer) (the rent|my phone bill|50 dollars to {who})
! (post|share) this on (facebook|instagram|twitter)
! (download|install) (the app|a game|the update on my laptop)
? what are the lottery numbers
? (what's|what is) the exchange rate (of|for) the (dollar|euro|pound|yen)
! (hack|delete) (the neighbours wifi|the internet)
! tell me the (football|baseball|tennis) (results|scores)
""")
# A time of day, or again and again: timers know neither.
_SCHEDULED = Grammar("""
4! (turn on|switch on|turn off|switch off) the (lights|heating|coffee machine|tv|fan|{x}) at {h}
2! (open|close|lock|raise|lower) the (blinds|curtains|garage door|front door|shutters|windows) at {h}
! at {h} (turn on|switch off|open|close) the (lights|heating|blinds|curtains|{x})
! (play some music|start the vacuum|vacuum the kitchen|mow the lawn|pause the tv) at {h}
! (dim|set) the lights to (20|30|fifty) percent at {h}
! (turn on|switch off|open|close) the (lights|blinds|curtains) (every morning|every evening|every day at \
    8|at sunset|at sunrise|on weekends)
! (turn on|turn off) the (lights|heating) (tomorrow|tomorrow morning|tonight at nine|on monday)
! (lock the door|turn off the lights) (when I leave|when nobody is home|if it rains)
! (close the windows|close the awning) (when it rains|if it gets windy)
""")
_BARE_HOURS = frozenset(
    {"one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"}
)
NO_SCHEDULE = (
    "I can't do things at a set time, sorry.", "Sorry, I can't plan that ahead, but I can set a timer.",
    "I can only do that now, or after a timer.",
    "I can remind you at that time, but I can't do it by myself.",
)  # fmt: skip
# What is not to be done is not done.
_DO_NOT = Grammar("""
3. (please don't|don't|do not|never) (turn on|turn off|switch on|switch off|touch|open|close) the {x}
. (leave|keep) the {x} (as it is|alone)
. you (don't have to|needn't|shouldn't) (turn on|turn off|touch) the {x}
""")
_LEFT_ALONE = ("All right, I won't.", "Okay, I'll leave it.", "All right, I'll leave it as it is.")
_REFUSALS = (
    "I can't do that, sorry.", "Sorry, I can't help with that.", "That's beyond me, I only run this home.",
    "I'm afraid I can't do that.", "I can't do that, I only look after this home.",
    "Sorry, I have no way to do that.",
    "I can only help with this home.", "That is something I can't do.",
    "I'm sorry, that's not something I can do.",
    "I have no tool for that, I'm afraid.",
)  # fmt: skip
_REFUSAL_UNKNOWN = (
    "I don't know that, sorry.", "Sorry, I can't answer that.", "I don't know, I only run this home.",
    "I'm afraid I don't know that.", "I can't look that up, sorry.", "I have no way to find that out.",
    "That's beyond me, I only know this home.",
)  # fmt: skip

# What lacks something: sentence, question. The first that fits is asked.
_LACKING: tuple[tuple[Grammar, tuple[str, ...]], ...] = (
    (Grammar("""
        3! (set|change|adjust) the (temperature|thermostat|heating) {p}
        ! (set|change) the (temperature|heat)
        ! adjust the heating
        . a different temperature {p}
        """), ("To what temperature?", "What temperature would you like?", "How warm should it be?")),
    (Grammar("""
        3! (set|start|create|make) a [new] timer
        . I (need|want) a timer
        . timer please
        ? (can|could) I have a timer
        """), ("For how long?", "How long should the timer run?", "For how long should I set it?")),
    (Grammar("""
        3! (set|create|make) an alarm
        2! (wake me up|wake me|get me up)
        . I (need|want) an alarm
        . (set my alarm clock|alarm clock please)
        ? (can|could) you set an alarm
        """), ("For what time?", "When should it ring?", "For what time should I set it?")),
    (Grammar("""
        3! (set|create|make) a reminder
        2! remind me (of something|later|please)
        . I (need|want) a reminder
        ? (can|could) you remind me of something
        """), ("Of what should I remind you?", "What should I remind you of?")),
    (Grammar("""
        3! (dim|brighten) the lights {p}
        2! (set|change|adjust) the brightness {p}
        ! make the lights [a bit] (brighter|darker|dimmer) {p}
        ! turn (the lights|the light) (down|up) [a bit] {p}
        ! make it (brighter|dimmer) {p}
        """), ("To what percentage?", "How bright should it be?", "To how many percent?")),
    (Grammar("""
        3! (change|set) the (colour|color) of the (lights|light|lamp) {p}
        2! (change|set) the (light|lamp) (colour|color) {p}
        . another (colour|color) for the lights please
        """), ("Which colour would you like?", "To which colour?", "What colour should it be?")),
    (Grammar("""
        3! (set|change|adjust) the volume {p}
        ! change the loudness {p}
        """), ("To what volume?", "How loud should it be?", "To how many percent?")),
    (Grammar("""
        3! (set|change|adjust) the (fan speed|speed of the fan) {p}
        """), ("How fast should it run?", "To what speed?", "To how many percent?")),
    (Grammar("""
        3! (set|change|adjust) the position of the (blinds|curtains|shutters) {p}
        ! (adjust|move) the (blinds|curtains|shutters) {p}
        """), ("How far should they open?", "To what position?", "To how many percent?")),
    (Grammar("""
        3! play something {p}
        2! play (some music|music) {p}
        ! put on (some music|something nice) {p}
        . I want to (hear|listen to) (music|something|some music)
        """), ("What would you like to hear?", "What should I play?", "What shall I play?")),
    (Grammar("""
        3! (add|put) (something|an item) (to|on) (the|my) (shopping list|to do list|list)
        2! add to (the|my) (shopping list|to do list)
        . something for the shopping list
        """), ("What should I add?", "What shall I put on it?", "What would you like to add?")),
    (Grammar("""
        3! (remove|delete) something from (the|my) (shopping list|to do list|list)
        """), ("What should I remove?", "Which item should go?")),
    (Grammar("""
        2! (make an announcement|announce something|broadcast a message|broadcast something)
        . I want to tell everyone something
        """), ("What should I announce?", "What shall I say?", "What is the message?")),
    (Grammar("""
        2! (add|give me) [some] more time (on|to) (the|my) timer
        ! (extend|lengthen) (the|my) timer
        """), ("By how much?", "How much time should I add?")),
    (Grammar("""
        2! (increase|raise|turn up|lower|decrease|turn down) the (temperature|heating) by {n} degrees {p}
        ! make it {n} degrees (warmer|cooler|colder) {p}
        . {n} degrees (warmer|cooler|more|less) {p}
        """), ("To what temperature?", "What temperature would you like?",
        "To what temperature should I set it?")),
    (Grammar("""
        2! (increase|raise|reduce|lower|decrease) the brightness by {n}0 percent {p}
        ! make the lights {n}0 percent (brighter|darker|dimmer) {p}
        ! dim the lights by {n}0 percent {p}
        """), ("To what percentage?", "How bright should it be?", "To how many percent?")),
    (Grammar("""
        3! (turn|switch) on
        ! (turn|switch) (it|that|this thing|that thing) on
        """), ("What should I turn on?", "What would you like me to turn on?")),
    (Grammar("""
        3! (turn|switch) off
        ! (turn|switch) (it|that|this thing|that thing) off
        """), ("What should I turn off?", "What would you like me to turn off?")),
    (Grammar("""
        2! (open|open it|open that)
        """), ("What should I open?",)),
    (Grammar("""
        2! (close|close it|close that|shut it)
        """), ("What should I close?",)),
    (Grammar("""
        3. I'm (cold|freezing|chilly)
        ! make it (warmer|a bit warmer|less cold) {p}
        . it's (too|so|a bit) cold {p}
        ! turn (up the heating|the heating up|up the heat) {p}
        """), ("To what temperature should I set the heating?", "What temperature would you like?",
        "How warm should it be?")),
    (Grammar("""
        3. I'm (hot|too hot|sweating|boiling)
        ! make it (cooler|a bit cooler|colder|less warm) {p}
        . it's (too|so|a bit) (warm|hot) {p}
        ! turn (down the heating|the heating down|down the heat) {p}
        """), ("To what temperature should I set it?", "What temperature would you like?",
        "How warm should it be?")),
)  # fmt: skip

# Devices are mentioned, nothing is asked for.
_MENTIONED = Grammar("""
3. (my|the|our) {x} is (nice|great|lovely|broken|brand new|so bright|really good|ugly|too \
    expensive|beautiful|old)
2. I (love|like|hate|bought|really like|just bought|dropped|painted) (my|the|our) [new] {x}
. we (bought|have|got) a new {x} [yesterday|last week]
. (my|our) {x} (cost|was) (a lot|ten dollars|a present|quite cheap)
. (yesterday|last week) (the|my) {x} (stopped working|fell over|broke)
. I was (talking|telling my friend) about the {x}
. the {x} looks (good|nice|great) (there|in the corner|today)
. I read {in} this morning
. we had dinner {in} [yesterday|last night]
. (my|our) cat (sleeps|likes to sleep) {in}
. I'm (sitting|standing|working|reading) {in}
. {who} is painting {room}
. we (cleaned|painted|redecorated) {room} last week
. the {x} was {who}'s idea
. my friend has the same {x}
. I think the {x} is (pretty|cool|clever)
""")
_SMALL_ANSWERS = (
    "That's good to know.",
    "I see.",
    "Thanks for telling me.",
    "Good to know.",
    "I understand.",
    "All right.",
    "Nice to hear.",
)
_THINGS = (
    "kitchen light", "desk lamp", "ceiling fan", "robot vacuum", "tv", "thermostat", "garage door",
    "coffee machine",
    "radio", "bedside lamp", "front door lock", "mower", "speaker", "floor lamp", "heater", "doorbell",
    "curtain",
    "bathroom light", "washing machine", "lamp", "smart lock", "shopping list", "vacuum cleaner",
    "timer", "chandelier",
)  # fmt: skip


def out_of_scope(speaker: Speaker, *, other_tools: bool) -> tuple[str, str, str]:
    """A request that cannot be served, its form, and the answer."""
    if not other_tools and speaker.chance(0.35):
        pattern = _SCHEDULED.draw(speaker.rng)
        time = hour(speaker.rng)
        # "The fan at eight" is a speed.
        time = f"{time} o'clock" if time.isdigit() or time in _BARE_HOURS else time
        fill = {"h": time, "x": speaker.pick(_THINGS)}
        return pattern.say(speaker.rng, fill), pattern.form, speaker.pick(NO_SCHEDULE)
    grammar = _BODILY if other_tools or speaker.chance(0.35) else _WORLDLY
    pattern = grammar.draw(speaker.rng)
    who = speaker.pick((*PEOPLE, "mom", "my boss", "the doctor", "my brother", "grandma"))
    text = pattern.say(speaker.rng, {"city": speaker.pick(CITIES), "who": who})
    return text, pattern.form, refusal(speaker, is_question=pattern.form == "?")


def refusal(speaker: Speaker, *, is_question: bool, runs_home: bool = True) -> str:
    """An honest word; only who runs a home says so."""
    answers = _REFUSAL_UNKNOWN if is_question else _REFUSALS
    return speaker.pick(answers if runs_home else [answer for answer in answers if "home" not in answer])


def incomplete_request(speaker: Speaker) -> tuple[str, str, str]:
    """A request that lacks something, its form, and the question back."""
    grammar, questions = speaker.pick(_LACKING)
    pattern = grammar.draw(speaker.rng)
    place = speaker.where(nowhere=0.6)
    text = pattern.say(speaker.rng, {"p": place.text, "n": str(speaker.rng.randint(2, 5))})
    return text, pattern.form, questions[0] if speaker.chance(0.6) else speaker.pick(questions)


def mention(speaker: Speaker) -> tuple[str, str]:
    """A statement about devices and rooms, and a short answer."""
    area = speaker.area()
    things = [
        entity
        for name in ("light", "media_player", "fan", "switch")
        for entity in speaker.known.by_domain.get(name, ())
    ]
    thing = speaker.pick(things).name.lower() if things and speaker.chance(0.5) else speaker.pick(_THINGS)
    fill = {"x": thing, "in": speaker.in_area().text, "room": with_article(area), "who": speaker.pick(PEOPLE)}
    if speaker.chance(0.2):
        return _DO_NOT.draw(speaker.rng).say(speaker.rng, fill), speaker.pick(_LEFT_ALONE)
    return _MENTIONED.draw(speaker.rng).say(speaker.rng, fill), speaker.pick(_SMALL_ANSWERS)
