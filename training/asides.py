"""What people say beside a tool that is no request it could serve: answered in words, nothing is called.

Three kinds: a `miss` wants what no tool does, a `tell` only tells something, a `wonder` asks how or why.
Some are written in the tools' files; the rest is made of what a tool is about.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass

from training.drawn_tool import Ask, DrawnTool, OtherTool

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
class Spoken:
    """What a person says, and the sentence that answers it."""

    text: str
    answer: str


def aside(tools: Sequence[OtherTool], offered: Sequence[DrawnTool], rng: random.Random) -> Spoken | None:
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
    return Spoken(_begun(kind, text, rng), rng.choice(answers))


def _written(tool: OtherTool, tools: Sequence[OtherTool], rng: random.Random) -> Spoken | None:
    chosen = rng.choice(tool.asides)
    if any(chosen.kind in other.takes for other in tools if other is not tool):
        return None
    text, _ = Ask(chosen.text, ()).fill(tool.slots, rng)
    answer = rng.choice(chosen.answers or _ANSWERS[chosen.kind])
    return Spoken(_begun(chosen.kind, text, rng), answer)


def _begun(kind: str, text: str, rng: random.Random) -> str:
    return rng.choice(_BEFORE[kind]) + text if rng.random() < _BEFORE_SHARE[kind] else text


def _deed(drawn: DrawnTool) -> str | None:
    about = str(drawn.schema["function"]["description"])
    first, _, rest = about.partition(" ")
    if first.lower() not in _VERBS or not rest or _NO_DEED.search(about):
        return None
    return f"{first.lower()} {rest}"
