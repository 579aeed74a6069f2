"""Tools that are not the home's: read from `training/tools/*.txt`, and drawn anew for every scene.

A file holds blocks with a blank line between them; `#` starts a comment line. A block is one tool:

    tool book_table | reserve_table                 names, one is drawn
    about Book a table | Reserve a place to eat     descriptions, one is drawn
    slot restaurant | place text: Luigi's | Sakura  names of the slot, its type, what people say for it
    slot people int 1..12
    slot time? text (when to come): at noon | seven tonight
    slot seating? enum: inside | terrace = outside  the argument, and (any type) how it is said
    ask get us a table for {people} at {restaurant}
    ask {restaurant}, {people} of us, in the sun => seating="terrace"
    gives {"booked": true} -> Your table is booked.
    same find_table                                 tools of other files that do the same
    topic restaurants | eating out                  nouns that it is about
    brief new booking / table: {restaurant} | {people} people | {time}
    miss wash the tablecloths -> I can't wash, I can only book.
    tell we ate at {restaurant} last night -> I hope it was good.
    wonder how do chefs get their stars
    takes tell | wonder                             asides beside other tools that it may serve after all

A `brief` has titles, then parts that are said in any order. `miss`, `tell` and `wonder` (`asides.py`) ask for
nothing that the tool could do; without an answer they get one that fits all of their kind.

Types are text, int, number, bool, enum and list (of text). A `values NAME: a | b` line outside of a block is
a list that slots of the same file can use as `@NAME`.
"""

from __future__ import annotations

import json
import random
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from training.sampled_tools import MENTION, Aside, Ask, Brief, Choice, SampledTool, Slot, ToolTemplate, Value
from training.spoken_values import neat_number

__all__ = ["SampledTool", "ToolDataError", "ToolTemplate", "load_tools", "read_tools"]

TOOLS_FOLDER = Path(__file__).parent / "tools"

_ENOUGH_ASKS = 8
_ASIDES = ("miss", "tell", "wonder")
_ONCE = ("topic", "brief", "takes")

_SLOT = re.compile(
    r"(?P<names>\w+(?:\s*\|\s*\w+)*)(?P<optional>\??)\s+(?P<kind>text|int|number|bool|enum|list)"
    r"(?:\s+(?P<low>-?\d+(?:\.\d+)?)\.\.(?P<high>-?\d+(?:\.\d+)?))?"
    r"(?:\s+\((?P<about>[^)]*)\))?\s*(?::\s*(?P<values>.+))?"
)
# One rule for every tool: the argument for "at eight" is "eight", for "on Friday" it is "Friday".
_AT_OR_ON = re.compile(
    r"^(?:at|on) (?=\d|(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|noon|midnight|half"
    r"|quarter|(?:mon|tues|wednes|thurs|fri|satur|sun)day|christmas|easter|new year)\b)",
    re.IGNORECASE,
)


class ToolDataError(ValueError):
    """A data file that cannot be used: the message names file and line, and what to do."""


def load_tools(folder: Path = TOOLS_FOLDER) -> list[ToolTemplate]:
    """Every tool of the folder's files, in a stable order; raises ToolDataError."""
    files = sorted(folder.glob("*.txt"))
    if not files:
        raise ToolDataError(f"{folder}: no data files: name a folder with *.txt")
    return [tool for file in files for tool in read_tools(file)]


# --- reading


@dataclass(frozen=True, slots=True)
class _Line:
    where: str
    text: str

    def error(self, what: str, to_do: str) -> ToolDataError:
        return ToolDataError(f"{self.where}: {what}: {to_do}")

    def parts(self) -> tuple[str, ...]:
        parts = tuple(part.strip() for part in self.text.split("|"))
        if not all(parts):
            raise self.error("an empty choice", "write something on both sides of |")
        return parts


def read_tools(file: Path) -> Iterator[ToolTemplate]:
    """The tools of one file; raises ToolDataError."""
    shared: dict[str, str] = {}
    for block in _blocks(file):
        first = block[0]
        if first.text.startswith("values "):
            for line in block:
                name, colon, values = line.text.removeprefix("values ").partition(":")
                if not line.text.startswith("values ") or not colon:
                    raise line.error("not a list of values", "write `values NAME: a | b`, a blank line behind")
                shared[name.strip()] = values.strip()
        else:
            yield _tool(block, shared)


def _blocks(file: Path) -> Iterator[list[_Line]]:
    block: list[_Line] = []
    for number, text in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
        if text.strip() and not text.lstrip().startswith("#"):
            block.append(_Line(f"{file}:{number}", text.strip()))
        elif block and not text.strip():
            yield block
            block = []
    if block:
        yield block


def _tool(block: list[_Line], shared: dict[str, str]) -> ToolTemplate:
    words = ("tool", "about", "slot", "ask", "gives", "same", *_ONCE, *_ASIDES)
    by_word: dict[str, list[_Line]] = {word: [] for word in words}
    for line in block:
        word, _, rest = line.text.partition(" ")
        if word not in by_word or not rest.strip():
            raise line.error(f"a line of {word!r}", f"begin it with one of {', '.join(by_word)}")
        by_word[word].append(replace(line, text=rest.strip()))
    for word in ("tool", "about", "ask"):
        if not by_word[word] or (word != "ask" and len(by_word[word]) > 1):
            raise block[0].error(
                f"{len(by_word[word])} lines of {word!r}",
                "give one tool, one about, and some asks; is a blank line missing?",
            )
    for word in _ONCE:
        if len(by_word[word]) > 1:
            raise by_word[word][1].error(f"a second line of {word!r}", "join them")
    for name in by_word["tool"][0].parts():
        if not name.isidentifier():
            raise block[0].error(f"{name!r} cannot be called", "use letters, digits and _ in a tool's name")
    slots = tuple(_slot(line, shared) for line in by_word["slot"])
    names = [name for slot in slots for name in slot.names]
    if len(set(names)) < len(names):
        raise block[0].error("two slots of one name", "rename one")
    asks = tuple(_ask(line, slots) for line in by_word["ask"])
    if len({ask.text for ask in asks}) < len(asks):
        raise block[0].error("the same ask twice", "delete one")
    return ToolTemplate(
        Path(block[0].where).stem,
        block[0].where,
        by_word["tool"][0].parts(),
        by_word["about"][0].parts(),
        slots,
        asks,
        tuple(_result(line) for line in by_word["gives"]),
        frozenset(name for line in by_word["same"] for name in line.parts()),
        topics=tuple(name for line in by_word["topic"] for name in line.parts()),
        brief=_brief(by_word["brief"][0], slots) if by_word["brief"] else None,
        asides=tuple(_aside(kind, line, slots) for kind in _ASIDES for line in by_word[kind]),
        takes=frozenset(_taken(by_word["takes"][0]) if by_word["takes"] else ()),
    )


def _slot(line: _Line, shared: dict[str, str]) -> Slot:
    found = _SLOT.fullmatch(line.text)
    if found is None:
        raise line.error("not a slot", "write `slot NAME[?] TYPE [LOW..HIGH] [(description)][: value | value]`")
    kind = found["kind"]
    values = found["values"] or ""
    if values.startswith("@"):
        if values[1:] not in shared:
            raise line.error(f"no list {values}", f"write `values {values[1:]}: a | b` above")
        values = shared[values[1:]]
    parts = replace(line, text=values).parts() if values else ()
    choices = tuple(_choice(replace(line, text=part), kind) for part in parts)
    is_number = kind in {"int", "number"}
    if found["low"] and not is_number:
        raise line.error(f"a range on {kind}", "leave it out, or use int or number")
    if not choices and kind != "bool" and not found["low"]:
        raise line.error(
            "nothing to draw from", "give a range LOW..HIGH" if is_number else "give values behind a colon"
        )
    low, high = (neat_number(float(found[end])) if found[end] else None for end in ("low", "high"))
    slot = Slot(
        names=tuple(name.strip() for name in found["names"].split("|")),
        kind=kind,
        required=not found["optional"],
        low=low,
        high=high,
        about=found["about"] or "",
        choices=choices,
    )
    outside = [choice.value for choice in choices if is_number and not slot.fits(choice.value)]
    if outside:
        raise line.error(f"{outside} out of range", "widen the range, or change the values")
    return slot


def _choice(line: _Line, kind: str) -> Choice:
    written, equals, said = (part.strip() for part in line.text.partition(" = "))
    if kind in {"text", "list"}:
        return Choice(written if equals else _AT_OR_ON.sub("", written), said or written)
    if kind == "enum":
        return Choice(written, said or written.replace("_", " "))
    try:
        value = json.loads(written)
    except ValueError:
        raise line.error(f"{written!r} is no {kind}", "write a JSON value, and ` = ` before how it is said") from None
    if kind == "bool" and not equals:
        raise line.error("a bool that cannot be said", "write `true = how it is said`")
    return Choice(value, said or None)


def _ask(line: _Line, slots: tuple[Slot, ...]) -> Ask:
    text, _, added = line.text.partition(" => ")
    by_key = {slot.key: slot for slot in slots}
    mentioned = MENTION.findall(text)
    for key in mentioned:
        if key not in by_key:
            raise line.error(f"no slot {key!r}", f"the slots are {', '.join(by_key) or 'none'} (first names only)")
        if by_key[key].kind == "bool" and not by_key[key].choices:
            raise line.error(f"{{{key}}} cannot be said", f"add ` => {key}=true` behind words that imply it")
    ask = Ask(text.strip(), tuple(_implied(replace(line, text=added), by_key)))
    given = [*mentioned, *(key for key, _ in ask.implied)]
    if len(set(given)) < len(given):
        raise line.error("a slot given twice", "mention or imply each slot once")
    missing = [slot.key for slot in slots if slot.required and slot.key not in given]
    if missing:
        raise line.error(f"{', '.join(missing)} not said", "mention the required slots, or imply them behind =>")
    return ask


def _brief(line: _Line, slots: tuple[Slot, ...]) -> Brief:
    written, _, rest = line.text.partition(":")
    titles = tuple(title.strip() for title in written.split("/"))
    texts = replace(line, text=rest).parts() if rest.strip() else ()
    parts = [(MENTION.findall(text), text) for text in texts]
    if not all(titles) or not all(len(keys) == 1 for keys, _ in parts):
        raise line.error("not a brief", "write `brief title / title: {slot} | {slot} words`, one slot a part")
    _ask(replace(line, text=" ".join(texts)), slots)
    return Brief(titles, tuple((keys[0], text) for keys, text in parts))


def _aside(kind: str, line: _Line, slots: tuple[Slot, ...]) -> Aside:
    text, arrow, answers = (part.strip() for part in line.text.partition(" -> "))
    unknown = set(MENTION.findall(text)) - {slot.key for slot in slots}
    if unknown:
        raise line.error(f"no slot {', '.join(unknown)}", "mention slots by their first names")
    if text.endswith("->"):
        raise line.error("no answer", "write one behind the arrow, or leave the arrow out")
    return Aside(kind, text, replace(line, text=answers).parts() if arrow else ())


def _taken(line: _Line) -> tuple[str, ...]:
    kinds = line.parts()
    if not set(kinds) <= set(_ASIDES):
        raise line.error(f"{line.text!r} are no asides", f"write some of {', '.join(_ASIDES)}")
    return kinds


def _implied(line: _Line, by_key: dict[str, Slot]) -> Iterator[tuple[str, Value]]:
    rest = line.text.strip()
    while rest:
        key, _, behind = (part.strip() for part in rest.partition("="))
        try:
            value, end = json.JSONDecoder().raw_decode(behind)
        except ValueError:
            raise line.error(f"cannot read {rest!r}", 'write ` => slot="text", other=3`, values in JSON') from None
        if key not in by_key or not by_key[key].fits(value):
            raise line.error(f"{key}={value!r} fits no slot", "name a slot, with a value of its type")
        yield key, value
        rest = behind[end:].lstrip(" ,")


def _result(line: _Line) -> tuple[str, str]:
    result, arrow, sentence = (part.strip() for part in line.text.rpartition(" -> "))
    if not arrow or not result or not sentence:
        raise line.error("no sentence", "write `gives RESULT -> SENTENCE`")
    if result[0] in '{["':
        try:
            json.loads(result)
        except ValueError as err:
            raise line.error(f"{result} is not JSON ({err})", "mend it") from None
    return result, sentence


# --- checking


def check(folder: Path = TOOLS_FOLDER, *, samples: int = 12) -> int:
    """Print what is wrong with the folder's files, or counts and samples; the exit code."""
    problems = 0
    tools: list[ToolTemplate] = []
    for file in sorted(folder.glob("*.txt")):
        try:
            tools += (read := list(read_tools(file)))
        except ToolDataError as err:
            problems += 1
            print(err)
            continue
        print(f"{file.stem:24} {len(read):4} tools {sum(len(tool.asks) for tool in read):5} asks")
    for tool in tools:
        if len(tool.asks) < _ENOUGH_ASKS:
            problems += 1
            print(f"{tool.where}: {len(tool.asks)} asks: write at least {_ENOUGH_ASKS}")
    print(f"{'all':24} {len(tools):4} tools {sum(len(tool.asks) for tool in tools):5} asks")
    rng = random.Random()  # noqa: S311 - samples to read, not secrets
    for tool in rng.sample(tools, min(samples, len(tools))):
        drawn = tool.draw(rng)
        text, arguments = drawn.request(rng)
        print(f"\n{text}\n  {drawn.name}({json.dumps(arguments, ensure_ascii=False)})")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(check())
