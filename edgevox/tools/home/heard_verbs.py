"""Verbs of commands that a recogniser misheard, put right for the model: "plus the blinds" closes them.

Only where nothing else can stand: at the beginning of a command, before an article and something that the
house has. A word that people say is taken for what was said, and where there is any doubt the text stays.
"""

from __future__ import annotations

import re
from functools import lru_cache

from edgevox.tools.home.common_words import COLOURS, EVERYDAY, SPOKEN
from edgevox.tools.home.heard_names import as_named
from edgevox.tools.home.kinds import every_kind_word
from edgevox.tools.home.names import HOUSE_WORDS, word_set, words
from edgevox.tools.home.sounds import begin_alike, distance, sound

_VERBS = tuple(
    (verb, sound(verb))
    for verb in sorted(
        word_set(
            """
            activate brighten broadcast cancel close dim extend lower mute open pause play put raise resume
            set shorten show shut start stop switch turn unlock unmute vacuum
            """
        )
    )
)
# Words that people say, but hardly ever so: "plus the blinds".
_NEVER_FIRST = {"plus": "close", "clothes": "close", "foot": "put"}
# What else people do to things, and what sounds like one of the verbs above.
_OTHER_DOINGS = word_set(
    """
    blow conceal cross expand lure mate matter pat plow pray pretend sharpen shoot spark stab strap stuff tan
    trim tune undock unlatch unlink unload unmount worry
    """
)
_KNOWN = SPOKEN | COLOURS | EVERYDAY | HOUSE_WORDS | every_kind_word() | _OTHER_DOINGS
# What every house has, whatever it is called there.
_THINGS = every_kind_word() | word_set("alarm heating list music reminder temperature timer volume")

_DETERMINERS = word_set("the my our all every both")
_PARTICLES = word_set("on off up down")
# A command begins behind these as well.
_LINKS = word_set("and then please you also")
_WORDS_OF_A_NAME = 4
# Where one of these follows the thing, the sentence has a verb already: "plus the weather is awful".
_OTHER_VERBS = frozenset({"is", "are", "was", "were", "isn't", "aren't", "has", "had", "will", "won't"})

_FAR = 0.2
# A door is not opened on a guess.
_FAR_FROM_UNLOCK = 0.1
# Another verb that is nearly as near makes it unclear which is meant.
_MARGIN = 0.1
_FEWEST_SOUNDS = 3

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_WITHIN = re.compile(r"[\s-]+")


def as_said(text: str, names: tuple[str, ...]) -> str:
    """The text with misheard names of the house and misheard verbs put right. What is in doubt is left."""
    return _with_verbs(as_named(text, names), names)


def _with_verbs(text: str, names: tuple[str, ...]) -> str:
    found = list(_WORD.finditer(text))
    heard = [match[0].casefold() for match in found]
    house = _house_words(names)
    for at in reversed(range(len(found))):
        begins = at == 0 or not _WITHIN.fullmatch(text[found[at - 1].end() : found[at].start()])
        if not begins and heard[at - 1] not in _LINKS:
            continue
        verb = _meant(heard[at], house)
        if verb is not None and _is_before_a_thing(heard[at + 1 :], house):
            spelt = verb.capitalize() if found[at][0][0].isupper() else verb
            text = text[: found[at].start()] + spelt + text[found[at].end() :]
    return text


@lru_cache(maxsize=8)
def _house_words(names: tuple[str, ...]) -> frozenset[str]:
    return _THINGS.union(*map(words, names))


def _is_before_a_thing(behind: list[str], house: frozenset[str]) -> bool:
    """True before "the barn door" and before "off the light", where the house has such a thing."""
    if behind and behind[0] in _PARTICLES:
        behind = behind[1:]
    if not behind or behind[0] not in _DETERMINERS:
        return False
    named = behind[1 : 1 + _WORDS_OF_A_NAME]
    return not house.isdisjoint(words(" ".join(named))) and _OTHER_VERBS.isdisjoint(named)


def _meant(word: str, house: frozenset[str]) -> str | None:
    """The verb that a word was heard for; None when it may be what was said."""
    if word in house:
        return None
    if word in _NEVER_FIRST:
        return _NEVER_FIRST[word]
    if not word.isascii() or not word.isalpha() or not _KNOWN.isdisjoint({word, *words(word)}):
        return None
    if any(_is_form(word, verb) for verb, _ in _VERBS):
        return None
    return _nearest(sound(word))


@lru_cache(maxsize=1024)
def _nearest(heard: str) -> str | None:
    if len(heard) < _FEWEST_SOUNDS:
        return None
    near = sorted((distance(heard, said), verb) for verb, said in _VERBS if begin_alike(heard, said))
    if not near:
        return None
    far, verb = near[0]
    is_clear = len(near) == 1 or near[1][0] > far + _MARGIN
    return verb if is_clear and far <= (_FAR_FROM_UNLOCK if verb == "unlock" else _FAR) else None


def _is_form(word: str, verb: str) -> bool:
    """True for "closing", "mutes" and "played": said, and not a mishearing."""
    return word.startswith(verb.removesuffix("e")) and len(word) > len(verb)
