"""A phrasebook: what people say in their own words, as data; `*.txt` beside this module, one utterance a line.

    = turn_off(light)                                the calls of the lines below, `;` between several
    nobody is using {light}                          a wish, a remark or a telegram: only fillers fit around it
    ! put {light} out                                an order: "can you" and "please" fit
    = start_timer(dur, conversation_command=later)
    give it {dur} then <switch off {light}>          the words in angle brackets are `later`
    = remark                                         no call: answers in words, see `_ANSWERS`
    I bought a new lamp for {area}

`{x}` is a slot of `_SLOTS` with its article, `{x-}` the same without, `{x2}` another one of its kind. `{in}` is "in the
kitchen" for `{area}`, `{on}` "on the first floor" for `{floor}`. `{is}`, `{has}`, `{it}` and `{s}` agree with the thing
before them. In a call, `x` gives all slots of x and `name=x` its value. Alternatives are written as in `templates.py`.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from training.home.commands.phrasebook.slots import SLOTS, Filled, base_name
from training.home.lexicon.vocabulary import OUTDOOR, in_area, on_floor
from training.home.phrasing import sounds_like_a_question
from training.home.speaker import Request, Speaker
from training.home.templates import SLOT_ORDER, Form, Pattern, home_call, pattern
from training.types import Call

__all__ = ["Entry", "load_phrasebook", "phrase", "remark", "say"]

_FOLDER = Path(__file__).parent
_ANSWERS = {
    "remark": ("I see.", "Okay.", "All right.", "I understand.", "Good to know.", "Oh, okay.", "Hm, I see."),
    "unknown": ("I don't know, sorry.", "I couldn't say.", "That I don't know.", "I have no answer to that, sorry."),
    "half": (
        "Yes?", "Go on, please.", "I'm listening.", "Sorry, I didn't catch the rest.", "What should I do?",
        "Please say the whole sentence.", "I only got half of that.", "Could you finish that sentence?",
    ),
    "leave": ("All right, I leave it.", "Okay, I'll leave it as it is.", "Fine, I won't touch it."),
    "cold": ("To what temperature should I set the heating?", "What temperature would you like?",
             "How warm should it be?"),
    "hot": ("To what temperature should I set it?", "What temperature would you like?", "How warm should it be?"),
    "cannot": ("I can't do that, sorry.", "I'm afraid I can't help with that.",
               "Sorry, that's not something I can do."),
}  # fmt: skip
_SERVED_BY_OTHERS = frozenset({"unknown", "cannot"})
_ASKED_BACK = frozenset({"cold", "hot"})
# How often a line counts; plain orders are few among many wordings, and most of what is said.
_TIMES = {"several.txt": 2, "corrections.txt": 2}
_ORDER_TIMES = 4
_CALL = re.compile(r"(\w+)\(([^)]*)\)")
_PLACE = re.compile(r"\{(\w+)(-?)\}")
_LATER = re.compile(r"<(.+?)>")
_AGREEING = {
    "is": ("is", "are"), "has": ("has", "have"), "it": ("it", "them"), "s": ("s", ""), "was": ("was", "were"),
    "does": ("does", "do"), "that": ("that", "those"),
}  # fmt: skip
_PLACES = {"in": "area", "on": "floor"}
_FREE = frozenset(
    {"item", "thing", "task", "query", "message", "list", "movie", "song", "podcast", "playlist", "album"}
)
_NEEDS = {"vacuum": "vacuum", "lawn_mower": "lawn_mower"}  # by what a tool's name begins with
_TRIES = 30
_LOOSE_ENDS = re.compile(r" {2,}")
_ANOTHER = re.compile(r"\banother an? ")


@dataclass(frozen=True, slots=True)
class CallPattern:
    """One call: `spread` are slots that give all they mean, `values` arguments with a slot's name or a literal."""

    tool: str
    spread: tuple[str, ...]
    values: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Entry:
    """One line: its wordings, and its calls or, without any, the kind of its answer."""

    source: str
    pattern: Pattern
    calls: tuple[CallPattern, ...]
    answer: str = ""


@functools.cache
def load_phrasebook(folder: Path = _FOLDER) -> tuple[Entry, ...]:
    """Every line of every file, in the order of their names. Raises ValueError for a line without calls."""
    return tuple(entry for path in sorted(folder.glob("*.txt")) for entry in _entries(path))


def _entries(path: Path) -> Iterator[Entry]:
    calls: tuple[CallPattern, ...] = ()
    answer = ""
    for number, raw in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        line = raw.strip()
        if line.startswith("= "):
            answer = line[2:] if line[2:] in _ANSWERS else ""
            calls = () if answer else tuple(_call_pattern(*found.groups()) for found in _CALL.finditer(line))
        elif line and not line.startswith("#"):
            if not calls and not answer:
                raise ValueError(f"{path.name}:{number}: no calls before {line!r}")
            form: Form = "!" if line.startswith("! ") else "."
            text = line.removeprefix("! ")
            last = _PLACE.search(text.rpartition(" ")[2])
            # Behind free words nothing may follow; before a task as the subject, no "can you" may stand.
            if last and base_name(last[1]) in _FREE and not text.startswith(("{thing}", "{task}")):
                form = ":"
            elif form == "." and sounds_like_a_question(text):
                form = "?"
            yield Entry(f"{path.name}:{number}", pattern(form, text), calls, answer)


def _call_pattern(tool: str, inside: str) -> CallPattern:
    parts = [part.strip() for part in inside.split(",") if part.strip()]
    pairs = tuple((name, value) for name, equals, value in (part.partition("=") for part in parts) if equals)
    return CallPattern(tool, tuple(part for part in parts if "=" not in part), pairs)


def phrase(new_speaker: Callable[[], Speaker], offered: Collection[str]) -> Request | None:
    """Something of the phrasebook that the offered tools serve, or None where none came to mind."""
    entries = _with_calls()
    for _ in range(_TRIES):
        speaker = new_speaker()
        entry = speaker.pick(entries)
        if all(call.tool in offered for call in entry.calls) and (made := say(speaker, entry)) is not None:
            return made
    return None


def remark(speaker: Speaker, *, has_others: bool, offers_all: bool) -> tuple[str, str]:
    """Something of the same flavour that asks for nothing, and the answer.

    With `has_others`, tools of other kinds may serve what the home's cannot; only with all of the home's tools is it
    asked back how warm it should be.
    """
    entries = _without_calls(has_others=has_others, offers_all=offers_all)
    while (made := say(speaker, entry := speaker.pick(entries))) is None:
        pass
    return made.text, speaker.pick(_ANSWERS[entry.answer])


@functools.cache
def _with_calls() -> tuple[Entry, ...]:
    return tuple(
        entry
        for entry in load_phrasebook()
        if entry.calls
        for _ in range(_ORDER_TIMES if entry.pattern.form == "!" else _TIMES.get(entry.source.partition(":")[0], 1))
    )


@functools.cache
def _without_calls(*, has_others: bool, offers_all: bool) -> tuple[Entry, ...]:
    left_out = (_SERVED_BY_OTHERS if has_others else frozenset()) | (frozenset() if offers_all else _ASKED_BACK)
    return tuple(entry for entry in load_phrasebook() if not entry.calls and entry.answer not in left_out)


def say(speaker: Speaker, entry: Entry) -> Request | None:
    """The line in one of its wordings and its calls; None where this home has nothing that it fits."""
    speaker.slips = False
    if not _fits(speaker, entry):
        return None
    text = entry.pattern.say(speaker.rng, _KeptPlaces())
    filled = _fill(speaker, entry, text)
    if filled is None:
        return None
    text = _with_places(text, filled)
    if later := _LATER.search(text):
        filled["later"] = Filled(later[1], value=later[1])
        text = text.replace(later[0], later[1])
    calls = tuple(_call(call, filled) for call in entry.calls)
    return Request(entry.pattern.form, _ANOTHER.sub("another ", _LOOSE_ENDS.sub(" ", text)), calls)


class _KeptPlaces(dict[str, str]):
    """Leaves the places of a pattern as they are: they are filled together, behind the choice of its words."""

    def __missing__(self, name: str) -> str:
        return f"{{{name}}}"


def _fits(speaker: Speaker, entry: Entry) -> bool:
    """A robot is asked for where there is one."""
    known = speaker.known
    needed = {domain for start, domain in _NEEDS.items() for call in entry.calls if call.tool.startswith(start)}
    return known.house is None or all(known.by_domain.get(domain) for domain in needed)


def _fill(speaker: Speaker, entry: Entry, text: str) -> dict[str, Filled] | None:
    filled: dict[str, Filled] = {}
    indoors = any(call.tool == "vacuum_clean_area" for call in entry.calls)
    names = [_place_slot(found[1]) for found in _PLACE.finditer(text) if base_name(found[1]) not in _AGREEING]
    for name in dict.fromkeys(names):
        for _ in range(_TRIES):
            one = SLOTS[base_name(name)](speaker)
            taken = [other for key, other in filled.items() if base_name(key) == base_name(name)]
            clashes = any(_is_alike(one, other) for other in taken)
            if not clashes and not (indoors and base_name(name) == "area" and OUTDOOR.search(one.bare)):
                filled[name] = one
                break
        else:
            return None
    return filled


def _is_alike(one: Filled, other: Filled) -> bool:
    """True where the two could be taken for each other."""
    return one.bare in other.bare or other.bare in one.bare or (bool(one.slots) and one.slots == other.slots)


def _place_slot(name: str) -> str:
    """ "area2" for "in2"; any other slot is its own."""
    base = base_name(name)
    return _PLACES.get(base, base) + name.removeprefix(base)


def _with_places(text: str, filled: dict[str, Filled]) -> str:
    is_plural = next((one.is_plural for one in filled.values() if one.agrees), False)

    def words(found: re.Match[str]) -> str:
        nonlocal is_plural
        name = base_name(found[1])
        if name in _AGREEING:
            return _AGREEING[name][is_plural]
        if name in _PLACES:
            where = filled[_place_slot(found[1])].bare
            return in_area(where) if name == "in" else on_floor(where)
        one = filled[found[1]]
        is_plural = one.is_plural if one.agrees else is_plural
        return one.bare if found[2] else one.text

    return _PLACE.sub(words, text)


def _call(call: CallPattern, filled: dict[str, Filled]) -> Call:
    slots: dict[str, Any] = {}
    for name in call.spread:
        # Some tools know what they act on: lights are set without a domain.
        known = {slot: value for slot, value in filled[name].slots.items() if slot in SLOT_ORDER[call.tool]}
        assert filled[name].slots.keys() - known.keys() <= {"domain", "device_class"}, (call, name)
        slots |= known
    for slot, value in call.values:
        slots[slot] = _literal(value) if value not in filled else filled[value].value
    return home_call(call.tool, **slots)


def _literal(value: str) -> str | int:
    return value.strip('"') if value.startswith('"') else int(value)
