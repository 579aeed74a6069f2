"""Speech that is not for the assistant: half sentences, people and television talking, talk from public corpora.

All of it is answered in words, without a tool call. `training/talk/overheard.grammar` has a pattern on each line, with
{x} for a thing, {in} "in the kitchen", {who} a person and {city} a city. Files in `training/talk/public/*.txt`, one
utterance a line, are read if they are there; they are not kept in this repository (training/README.md says which).
"""

from __future__ import annotations

import functools
import re

from training.home.commands.everyday import addressed
from training.home.lexicon.devices import COVERS, FAN, LIGHT
from training.home.lexicon.vocabulary import CITIES, PEOPLE, with_article
from training.home.phrasing import sounds_like_a_question
from training.home.speaker import Request, Speaker
from training.home.templates import Grammar
from training.no_call import TALK_FOLDER, refusal

# A request that ends with one of these words goes on; "all" and "every" want a noun.
_OPEN_ENDS = frozenset(
    {
        "the", "a", "an", "my", "our", "your", "this", "these", "in", "into", "to", "from", "of", "at", "by",
        "for", "with", "and", "or", "but", "is", "are", "was", "were", "does", "do", "did", "will", "would",
        "could", "can", "all", "every", "each", "some", "set", "put", "add", "make", "dim", "play", "turn",
        "switch", "change", "raise", "lower", "move", "what", "what's", "which", "how", "how's", "who", "where",
        "when", "whether", "if", "that's", "it's", "i'm", "i", "you", "we", "please", "about", "than", "until",
        "between", "another", "remind", "tell", "remove", "delete", "start", "create", "because", "so", "then",
        "not", "don't", "isn't", "i'd", "let",
    }
)  # fmt: skip
_OPEN_PAIRS = frozenset(
    {
        "turn on", "turn off", "switch on", "switch off", "turn up", "turn down", "set up", "put on", "how many",
        "how long", "how warm", "shut off", "more than", "less than", "as soon", "right after", "the living",
        "the dining", "the front",
    }
)  # fmt: skip
_DICTATION = frozenset(
    {"broadcast", "list_add_item", "list_complete_item", "list_remove_item", "media_search_and_play", "set_reminder",
     "shopping_list_add_item", "shopping_list_complete_item", "start_timer"}
)  # fmt: skip
# The last word of no reminder, item or title; "in" and "up" may be one.
_NEVER_LAST = frozenset({"the", "a", "an", "my", "our", "your", "of", "to", "by", "with", "and", "or", "from", "at"})
_WHAT_WITH_IT = ("What should I do with it?", "On or off?", "What do you mean?", "What should I change?")
_GO_ON = (
    "Yes?", "Go on, please.", "I'm listening.", "Sorry, I didn't catch the rest.", "What should I do?",
    "Please say the whole sentence.", "I only got half of that.", "And then?", "Could you finish that sentence?",
)  # fmt: skip
_LEADS = (
    "can you", "could you", "would you", "could you please", "can you please", "hey can you", "I want you to",
    "I'd like to",
    "please", "so could you", "um can you", "uh", "okay so", "and then", "so um", "I was wondering if you",
    "do me a favour and",
    "let's", "let me", "what about", "and the", "maybe", "how about we", "I think we should", "what if",
    "wait", "hold on",
    "before you do that", "one more thing", "also", "oh and", "the thing is", "what was the", "remind me",
    "tell me about the",
)  # fmt: skip


def half_sentence(speaker: Speaker, made: Request) -> tuple[str, str] | None:
    """The beginning or the end of a request that cannot stand alone, and the answer; None where it has none."""
    words = made.text.split()
    way = speaker.rng.random()
    if way < 0.1:
        return speaker.pick(_LEADS), speaker.pick(_GO_ON)
    if way < 0.18:
        return _tail(speaker, words)
    if way < 0.4:
        return _undecided(speaker)
    is_dictation = made.calls[0].tool in _DICTATION
    ends = [
        end
        for end in range(1, len(words))
        if _is_open(words[:end]) and not (is_dictation and end > 4 and words[end - 1] not in _NEVER_LAST)
    ]
    if not ends:
        return None
    kept = words[: speaker.pick(ends)]
    if speaker.chance(0.06):
        kept.append(kept[-1])  # "for for"
    lead = f"{speaker.pick(_LEADS)} " if speaker.chance(0.12) else ""
    text = lead + " ".join(kept).rstrip(",")
    return addressed(speaker, text) if speaker.chance(0.12) else text, speaker.pick(_GO_ON)


_UNDECIDED = Grammar("""
4! (turn|switch|make|set|put|change|adjust) {t}
2! (can you|could you|please|would you) (turn|switch|make|set|put|change) {t}
. {t} to
. (set|change|turn|adjust) {t} (to|at|up to|down to|by)
. how about {t} (in|on|with)
""")


def _undecided(speaker: Speaker) -> tuple[str, str]:
    """A verb and a thing, without what is to become of it: "make the kitchen lights"."""
    if speaker.chance(0.5):
        target = speaker.named(speaker.pick(("light", "light", "cover", "fan", "switch", "climate", "media_player")))
    else:
        target = speaker.kind(speaker.pick((LIGHT, LIGHT, FAN, COVERS["blind"])))
    text = target.text if speaker.chance(0.8) else with_article(speaker.area())
    text = _UNDECIDED.draw(speaker.rng).say(speaker.rng, {"t": text})
    return addressed(speaker, text) if speaker.chance(0.1) else text, speaker.pick((*_WHAT_WITH_IT, *_GO_ON))


def _is_open(words: list[str]) -> bool:
    plain = [word.strip(",.?!").casefold() for word in words[-2:]]
    return plain[-1] in _OPEN_ENDS or " ".join(plain) in _OPEN_PAIRS


def _tail(speaker: Speaker, words: list[str]) -> tuple[str, str] | None:
    """ "to twenty percent", "in the kitchen": what is to be done was not heard."""
    starts = [at for at in range(2, len(words) - 1) if words[at].casefold() in ("to", "in", "for", "from", "at", "by")]
    if not starts:
        return None
    return " ".join(words[speaker.pick(starts) :]), speaker.pick(_GO_ON)


_REMARKS = ("I see.", "Okay.", "All right.", "I understand.", "Good to know.", "Oh, okay.", "Hm, I see.")
_UNKNOWN = ("I don't know, sorry.", "I couldn't say.", "That I don't know.", "I have no answer to that, sorry.")
_THINGS = (
    "kitchen light", "desk lamp", "ceiling fan", "vacuum", "tv", "thermostat", "garage door", "coffee machine",
    "radio",
    "lights", "light", "front door", "mower", "speaker", "heating", "doorbell", "curtains", "blinds", "alarm", "oven",
    "washing machine", "lamp", "gate", "windows", "music", "fan", "heater", "bathroom light", "back door", "timer",
)  # fmt: skip


@functools.cache
def _patterns() -> Grammar:
    return Grammar((TALK_FOLDER / "overheard.grammar").read_text(encoding="utf-8"))


def overheard(speaker: Speaker) -> tuple[str, str]:
    """Something that people or a television say to others, often about things of this home, and the answer."""
    listed = [entity for entities in speaker.known.by_domain.values() for entity in entities]
    thing = speaker.pick(listed).name.lower() if listed and speaker.chance(0.5) else speaker.pick(_THINGS)
    fill = {
        "x": thing.removeprefix("the "),
        "in": speaker.in_area().text,
        "room": with_article(speaker.area()),
        "who": speaker.pick(PEOPLE),
        "city": speaker.pick(CITIES),
    }
    text = _patterns().draw(speaker.rng).say(speaker.rng, fill)
    if speaker.chance(0.3):
        text = _rambled(speaker, text)
    if speaker.chance(0.12):  # two utterances that were taken for one
        text = f"{text} {_patterns().draw(speaker.rng).say(speaker.rng, fill)}"
    words = text.split()
    if len(words) > 5 and speaker.chance(0.12):  # cut by the endpointer
        text = " ".join(words[: speaker.rng.randint(3, len(words) - 1)])
    return text, speaker.pick(_UNKNOWN if sounds_like_a_question(text) else _REMARKS)


_RAMBLING = (
    "and", "but", "so", "well", "I mean", "you know", "because", "yeah", "and um", "so uh", "no but", "oh",
    "like", "anyway",
    "right so", "look", "honestly", "and then", "actually", "ah", "mm", "yes and", "I think", "she said",
    "he was like",
)  # fmt: skip


def _rambled(speaker: Speaker, text: str) -> str:
    """As people talk: a word that links it to the last sentence, and one that is said twice or a uh."""
    words = text.split()
    at = speaker.rng.randrange(len(words))
    words.insert(at, speaker.pick((words[at], words[at], "uh", "um", "like", "you know")))
    return f"{speaker.pick(_RAMBLING)} {' '.join(words)}"


# Lines of a corpus that a home could be asked, or that are answers to it: what they mean is not known here.
_MAY_BE_FOR_IT = re.compile(
    r"\b(turn|switch|open|close|shut|lock|unlock|lights?|lamps?|tv|television|music|play|song|radio|volume|louder|quieter|"
    r"timers?|alarms?|remind|reminder|lists?|temperature|degrees|thermostat|heating|weather|rain|umbrella|time is it|"
    r"what time|what day|date|vacuum|clean|mow|fan|blinds?|curtains?|door|garage|window|percent|brighter|dark|dim|warm|"
    r"cold|hot|cooler|freezing|tell everyone|announce|broadcast|wake|never mind|nevermind|forget it|cancel|stop|pause|"
    r"skip|next|mute|thank|thanks|hello|hi|hey|good (?:morning|night|evening|bye)|goodbye|bye|who are you|your name|"
    r"can you|could you|would you|do you|are you|help|buy|shopping|milk|add|set|start|leaving|home)\b",
    re.IGNORECASE,
)


@functools.cache
def public_talk() -> tuple[str, ...]:
    """The utterances of the public corpora that are here and cannot be meant for a home; () without them.

    Lines of `NAME.mentions.txt` name things of a home, and were chosen because they ask for nothing.
    """
    lines = (
        (" ".join(line.split()), path.name.endswith(".mentions.txt"))
        for path in sorted((TALK_FOLDER / "public").glob("*.txt"))
        if _REQUESTS not in path.name
        for line in path.read_text(encoding="utf-8").splitlines()
    )
    return tuple(
        dict.fromkeys(
            line
            for line, is_chosen in lines
            if 2 <= len(line.split()) <= 25 and (is_chosen or not _MAY_BE_FOR_IT.search(line))
        )
    )


_REQUESTS = "requests"


@functools.cache
def public_requests() -> tuple[str, ...]:
    """What people ask of other assistants than a home's, from the files with "requests" in their names."""
    paths = sorted((TALK_FOLDER / "public").glob(f"*{_REQUESTS}*.txt"))
    lines = (line for path in paths for line in path.read_text(encoding="utf-8").splitlines())
    return tuple(dict.fromkeys(line for line in lines if line and not _MAY_BE_FOR_IT.search(line)))


def talk_of_others(speaker: Speaker, *, other_tools: bool) -> tuple[str, str] | None:
    """An utterance of a public corpus, and the answer; None without a corpus."""
    if public_requests() and not other_tools and speaker.chance(0.3):
        text = speaker.pick(public_requests())
        return text, refusal(speaker, is_question=sounds_like_a_question(text))
    if not public_talk():
        return None
    text = speaker.pick(public_talk())
    if speaker.chance(0.15):
        text = _garbled(speaker, text)
    return text, speaker.pick(_UNKNOWN if sounds_like_a_question(text) else _REMARKS)


def _garbled(speaker: Speaker, text: str) -> str:
    """What a recogniser makes of noise: halves of two sentences, or a word of the home in any sentence."""
    words = text.split()
    at = speaker.rng.randrange(len(words))
    if speaker.chance(0.5):
        other = speaker.pick(public_talk()).split()
        return " ".join((*words[: at + 1], *other[speaker.rng.randrange(len(other)) :]))
    words[at] = speaker.pick(_THINGS)
    return " ".join(words)
