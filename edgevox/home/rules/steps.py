"""Reads relative changes of all kinds: by a step, an amount, a factor or to the end.

The words for amount and direction are taken out of a clause; what is left must be the name of something in the home, or
nothing. So a sentence that says anything else is not taken for a change.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from edgevox.core.types import ToolCall
from edgevox.core.words import NUMBER_WORDS, number_value
from edgevox.home.entities import Entities, Entity, House
from edgevox.home.grammar import NUMBER, Calls, found, pattern, tool_call, without_article
from edgevox.home.intents.quantities import (
    BRIGHTNESS,
    LOWEST_BRIGHTNESS,
    POSITION,
    QUANTITIES,
    SPEED,
    STEP,
    TEMPERATURE,
    VOLUME,
    Quantity,
)
from edgevox.home.phrasing import sentence, the
from edgevox.home.resolve.labels import find_place

# Words that name a quantity and a direction: more and less.
_WORDS: dict[Quantity, tuple[str, str]] = {
    BRIGHTNESS: (
        r"brighter|brighten|undim|lighten|more lights?|more bright|too dark|(?:a bit|a little|so|very|pretty) dark",
        r"dimmer|darker|dim|darken|less lights?|less bright|less harsh|too bright|so bright|too harsh"
        r"|not (?:so|as|that|too) bright|blinding me|blinding",
    ),
    TEMPERATURE: (
        r"warmer|hotter|warm (?:it )?up|heat (?:it )?up|more heat(?:ing)?|too (?:cold|cool|chilly)|not so (?:cold"
        r"|cool)",
        r"cooler|colder|cool (?:it )?down|less heat(?:ing)?|too (?:warm|hot)|not (?:so|as|that) (?:warm|hot)",
    ),
    SPEED: (r"faster", r"slower|slow"),
    VOLUME: (
        r"louder|more volume|more sound|too quiet|(?:can )?(?:barely|hardly) hear"
        r"|can(?:'t|not| not) hear",
        r"quieter|softer|less volume|less loud|less noise|too loud|too noisy|not (?:so|as|that) loud",
    ),
}  # fmt: skip
_PART = {
    BRIGHTNESS: r"brightness", TEMPERATURE: r"temperature", SPEED: r"speed", VOLUME: r"volume|sound level|sound",
}  # fmt: skip
_VERBS_UP = r"raise|increase|lift|boost|bump|nudge|crank|pump|up"
_VERBS_DOWN = r"lower|decrease|reduce|drop|knock|soften|down|halve"
_UP = pattern(rf"\b(?:(?:{_VERBS_UP})(?: up)?|higher|up)\b")
_DOWN = pattern(rf"\b(?:(?:{_VERBS_DOWN})(?: down)?|lower|down)\b")
_OPEN, _CLOSE = pattern(r"\b(?:open|wider)\b"), pattern(r"\b(?:close|closed|shut|draw)\b")
_MORE, _LESS = pattern(r"\b(?:more|further)\b"), pattern(r"\bless\b|(?<=percent) off\b")

_NUMBER = rf"(?P<number>{NUMBER}|a couple of|a few|an?)"
_UNIT = r"(?:%|percent|per cent|percentage points?|degrees?(?: celsius| fahrenheit)?)"
_END = pattern(
    r"\b(?:all the way|to the (?:max(?:imum)?|full|top|lowest|minimum|min|end|limit)|to (?:max(?:imum)?|min"
    r"(?:imum)?)|at full (?:blast|power|speed|volume)|"
    r"(?:to|at) full|right(?= (?:up|down))|completely|fully|the rest of the way|as (?P<adjective>\w+) as (?:it"
    r" goes|it gets|possible|it can(?: be)?|they go))\b"
)
_FACTOR = (
    (
        pattern(
            r"\b(?:half as (?P<adjective>\w+)(?: as(?: now| it is| before)?)?|halve|by half|(?:to )?half of what"
            r" it is(?: now)?|"
            r"half(?= the (?:\w+ )?(?:speed|brightness|volume)))\b"
        ),
        0.5,
    ),
    (pattern(r"\b(?:twice as (?P<adjective>\w+)|double)\b"), 2.0),
    (pattern(r"\b(?:three times as (?P<adjective>\w+)|triple)\b"), 3.0),
)
_SHARE = pattern(r"(?<!and )\b(?:by )?a (?P<share>quarter|third|half|fifth|tenth)\b(?: of (?:a )?degrees?)?")
_SHARES = {"half": 0.5, "third": 1 / 3, "quarter": 0.25, "fifth": 0.2, "tenth": 0.1}
_HALF_A_DEGREE = pattern(r"\b(?:by )?half a degree\b")
_COUNT = pattern(
    rf"\b(?:by )?(?:another |about )?{_NUMBER}(?P<half> and a half)? ?{_UNIT}(?: or so)?(?= |$)|"
    rf"\b(?:by )(?:another |about )?{_NUMBER.replace('number', 'bare')}(?= |$)|(?:(?<=up )|(?<=down"
    rf" )){_NUMBER.replace('number', 'last')}$|"
    rf"\banother {_NUMBER.replace('number', 'another')}$"
)
_SMALL = pattern(
    r"\b(?:just |only )?(?:an? (?:tiny |little |wee |small )?(?:bit|little|touch|tad|notch|smidge|smidgen|hair"
    r"|shade|fraction)\b(?: bit)?|slightly|somewhat|some(?= more\b))"
)
_LARGE = pattern(r"\b(?:much|a lot|way|far|loads|a good bit|a good deal|considerably)\b")

_FILLERS = pattern(
    r"\b(?:please|can|could|would|will|you|we|i|want|need|like|make|making|turn|get|set|have|put|bring|take|pull"
    r"|let|give me|give|it|it's|its|is|are|be|to be|being|"
    r"this|that|here|there|in here|than (?:it|they) (?:is|are)|as now|now|again|by|the way|mind|should|must"
    r"|wants?|needs?|do with|so|too|from|of|with|on|in|at|for me|for|me|(?:the|this|my) room|my|our|the|a|an|and|"
    r"up|down|just|bit|could i|dear|love|then|also|everything|somewhat|light intensity)\b"
)
_NO_CHANGE = pattern(
    r"\b(?:on|off)$|^(?:turn|switch) (?:on|off)\b|^light up\b|\btoo \d|\b(?:timer|alarm|remind|reminder|list|when"
    r"|if|unless|except|wake|song|track|why|"
    r"yesterday|tomorrow|play|percent of|colou?r|tone|hue|white|red|blue|green)\b|\bto (?:about )?(?:\d|"
    + ""
    r"|".join(NUMBER_WORDS[1:])
    + r"\b|half\b(?! of what))"
)
_QUESTION = pattern(r"^(?:is|are|was|were|what|which|who|why|how|did|does|do|has|have|when|where|should)\b")
_OTHER_COMMAND = pattern(
    r"^(?:but|not|except|and|then|or)\b|^(?:please )?(?:turn|switch|open|close|lock|unlock|start|stop|set|play"
    r"|add|remind|call|tell|wake|mow|vacuum|announce|pause|resume|mute|unmute|skip|dim|brighten|lower|raise|make"
    r"|put|run|"
    r"shut|cancel|show|read|leave|keep|clean)\b(?! it (?:up|down)$)"
)
_ADJECTIVES = {"bright": BRIGHTNESS, "loud": VOLUME, "fast": SPEED, "quick": SPEED, "open": POSITION}
_LEAST = ("lowest", "minimum", "min")
_THAT_ARE_ON = pattern(r"\b(?:every|all|all the|the) lights? (?:that|which)(?: is| are|'s) on\b")
_TAKE_OFF = pattern(r"^(?:take|knock|shave) (.+?(?:percent|degrees?)) off\b")
# "Dim the lamp ten percent" is a misheard "to".
_IS_LEVEL = pattern(
    r"^(?:dim|brighten|darken|lower|raise|increase|decrease|reduce|lighten)\b(?!.*\b(?:by|another|down"
    rf"|up)\b).*{_NUMBER} percent$"
)
_PREDICATE = pattern(r"\b(?:is|are|'s|feels|seems|too|so|much)\b.*")
_NOT_THE_END = pattern(
    r"^(?:but )?(?:not|don't turn (?:it|them)) (?:off|all the way|completely|too much|too \w+)$|"
    r"^not (?:so|as|that) (?:warm|hot|cold|bright|dark|loud|quiet|fast)$"
)
_WISH = pattern(
    r"^(?:it would|it'd|would) be (?:\w+ )?(?:nice|lovely|great|good|better|nicer) if (?P<what>.+?) "
    r"(?:were|was|could be|would be) "
)
_COMPARATIVES = {
    "quiet": "quieter", "loud": "louder", "bright": "brighter", "dark": "darker", "warm": "warmer", "cold": "colder",
    "hot": "hotter", "cool": "cooler", "slow": "slower", "fast": "faster", "dim": "dimmer",
}  # fmt: skip
_MORE_OF = pattern(rf"\bmore ({'|'.join(_COMPARATIVES)})\b")
# "My eyes hurt, the lamp is so bright" without its mark.
_COMPLAINT_ENDS = pattern(
    r"^(?P<before>(?!.*\b(?:says?|said|think|thinks|thought|told|asked|whether|if|that)\b).*\w) "
    r"(?P<complaint>(?:the|my|our) (?:(?!the\b|my\b|our\b)[\w']+ ){1,4}?(?:is|are|sounds?|feels?|looks?) "
    r"(?:way |far |much )?(?:too|so) (?:bright|dark|loud|quiet|warm|hot|cold))$"
)
_ACTS = pattern(
    r"\b(?:turn|switch|open|close|shut|lock|unlock|start|stop|set|play|add|remind|mute|pause|make|put|dim|is|are|was)\b"
)
_MAX_CLAUSES = 3
_LARGE_STEP = 2


@dataclass(frozen=True, slots=True)
class Change:
    """How a value changes: to an end, by a factor, or by a step; `size` is a step in the quantity's own unit."""

    is_more: bool
    is_end: bool = False
    factor: float | None = None
    count: float | None = None
    size: int = 1

    def applied(self, quantity: Quantity, entity: Entity) -> float | None:
        """The new value of an entity; None where its value is not known."""
        before = entity.attributes.get(quantity.slot)
        low, high = _limits(quantity, entity)
        if self.is_end:
            return high if self.is_more else low
        if not isinstance(before, int | float):
            return None
        if self.factor is not None:
            after = before * self.factor
        else:
            step = self.count if self.count is not None else quantity.steps[self.size]
            after = before + (step if self.is_more else -step)
        bounded = min(high, max(low, after))
        return bounded if quantity is TEMPERATURE else round(bounded)


@dataclass(slots=True)
class _Clause:
    """A clause while its words are taken out."""

    text: str
    adjective: str = ""

    def takes(self, words: re.Pattern[str]) -> re.Match[str] | None:
        if said := words.search(self.text):
            self.text = " ".join(f"{self.text[: said.start()]} {self.text[said.end() :]}".split())
        return said


def parse(text: str, house: House) -> Calls | str:
    """The calls of a relative change, a sentence where nothing can change, or no calls."""
    plain = (
        text.casefold().replace("per cent", "percent").replace("%", " percent").replace("too degrees", "two degrees")
    )
    plain = _MORE_OF.sub(lambda said: _COMPARATIVES[said[1]], _WISH.sub(r"\g<what> ", plain))
    if (ends := _COMPLAINT_ENDS.match(plain)) and not _ACTS.search(ends["before"]):
        plain = ends["complaint"]
    plain = _TAKE_OFF.sub(r"lower by \1", _THAT_ARE_ON.sub("the lights", " ".join(plain.split())))
    if _QUESTION.match(plain):
        return ()
    clauses = [part.strip() for part in re.split(r"[,;.]| - ", plain) if part.strip()][: _MAX_CLAUSES + 1]
    if len(clauses) > _MAX_CLAUSES:
        return ()
    # "Not so warm, two degrees less" changes by two.
    for number, clause in sorted(enumerate(clauses), key=lambda each: _COUNT.search(each[1]) is None):
        others = [other for place, other in enumerate(clauses) if place != number]
        if any(_OTHER_COMMAND.match(other) and not _NOT_THE_END.match(other) for other in others):
            continue
        if result := _parse_clause(clause, others, house):
            return result
    return ()


def _parse_clause(text: str, others: list[str], house: House) -> Calls | str:
    if _NO_CHANGE.search(text):
        return ()
    clause = _Clause(text)
    amount = _amount(clause)
    named = _named_quantity(clause)
    quantity, is_more = named or (None, _generic_direction(clause))
    if _IS_LEVEL.search(text):
        return ()
    if amount is None or (quantity is None and is_more is None and amount.factor is None and not amount.is_end):
        return ()
    if named:
        clause.takes(_MORE)
    part = _part(clause) or _ADJECTIVES.get(clause.adjective)
    quantity = quantity or part or (TEMPERATURE if "degree" in text else None)
    rest = without_article(" ".join(_FILLERS.sub(" ", clause.text).split()))
    targets = _targets(rest, others, quantity, house)
    entities, quantity = targets.entities, targets.quantity
    if quantity is VOLUME and not (entities or rest or amount.is_end or amount.factor) and _has(house, "media_player"):
        # The resolver asks which player, or says that none is playing.
        return _volume_step(Change(bool(is_more), count=amount.count, size=amount.size), {})
    if quantity is None or not entities:
        return ()
    if amount.is_end and is_more is None:
        is_more = amount.is_more
    change = Change(
        is_more if is_more is not None else amount.factor is None or amount.factor > 1,
        amount.is_end, amount.factor, amount.count, amount.size,
    )  # fmt: skip
    if amount.factor is not None and amount.count == -1:  # a share: "a third dimmer"
        change = Change(change.is_more, factor=1 + amount.factor if change.is_more else 1 - amount.factor)
    if quantity is POSITION and not (change.is_end or _is_partial(text)):
        return ()  # "raise the blinds" opens them
    return _calls(change, quantity, targets, house)


def _has(house: House, domain: str) -> bool:
    return any(entity.domain == domain for entity in house.entities)


def _amount(clause: _Clause) -> Change | None:
    """How much is said; the direction is not known yet."""
    if clause.takes(_HALF_A_DEGREE):
        return Change(True, count=0.5)
    for words, factor in _FACTOR:
        if said := clause.takes(words):
            clause.adjective = said.groupdict().get("adjective") or ""
            return Change(factor > 1, factor=factor)
    if said := clause.takes(_END):
        clause.adjective = said["adjective"] or ""
        is_least = said[0].endswith(_LEAST)
        while said := clause.takes(_END):
            is_least = is_least or said[0].endswith(_LEAST)
        return Change(not is_least, is_end=True)
    if said := clause.takes(_SHARE):
        return Change(True, factor=_SHARES[said["share"]], count=-1)
    if said := clause.takes(_COUNT):
        word = next(filter(None, (said[name] for name in ("number", "bare", "last", "another"))))
        return Change(True, count=_number(word) + (0.5 if said["half"] else 0))
    if clause.takes(_SMALL):
        return Change(True, size=0)
    return Change(True, size=_LARGE_STEP if clause.takes(_LARGE) else 1)


def _number(word: str) -> float:
    return {"a": 1, "an": 1, "a couple of": 2, "a few": 3}.get(word) or number_value(word) or 0


def _named_quantity(clause: _Clause) -> tuple[Quantity, bool] | None:
    for quantity, (more, less) in _WORDS.items():
        for words, is_more in ((less, False), (more, True)):
            if clause.takes(pattern(rf"\b(?:{words})\b")):
                return quantity, is_more
    return None


def _part(clause: _Clause) -> Quantity | None:
    """The quantity whose name is said: "the brightness of"."""
    for quantity, words in _PART.items():
        if clause.takes(pattern(rf"\b(?:{words})\b")):
            return quantity
    return None


def _generic_direction(clause: _Clause) -> bool | None:
    """True for "up", False for "down"; None if neither is said."""
    for words, is_more in ((_OPEN, True), (_CLOSE, False), (_DOWN, False), (_UP, True)):
        if clause.takes(words):
            clause.takes(_MORE)
            clause.adjective = "open" if words in (_OPEN, _CLOSE) else clause.adjective
            return is_more
    for words, is_more in ((_LESS, False), (_MORE, True)):
        if clause.takes(words):
            return is_more
    return None


def _is_partial(text: str) -> bool:
    """Whether a cover is to move by some amount, not simply to open or close."""
    return any(words.search(text) for words in (_SMALL, _SHARE, _COUNT, _MORE, _LESS, *(words for words, _ in _FACTOR)))


@dataclass(frozen=True, slots=True)
class _Targets:
    """The entities that change, the quantity that their kind has, and the slots that name them."""

    entities: Entities = ()
    quantity: Quantity | None = None
    said: dict[str, str] = field(default_factory=dict)


def _targets(rest: str, others: list[str], quantity: Quantity | None, house: House) -> _Targets:
    """The targets of a change; none where a word is left over."""
    if rest:
        for candidate in (quantity,) if quantity else QUANTITIES:
            place = find_place(house, rest)
            slots = {"area": rest} if place else {"name": rest}
            if entities := _fitting(candidate, found(candidate.tool, house, **slots), has_name=not place):
                return _Targets(entities, candidate, slots)
        return _Targets()
    if quantity is None:
        return _Targets()
    for other in others:  # "the fan is too noisy, slower"
        mentioned = " ".join(_PREDICATE.sub("", other).split())
        slots = {"name": without_article(mentioned)}
        if mentioned and (entities := _fitting(quantity, found(quantity.tool, house, **slots))):
            return _Targets(entities, quantity, slots)
    if quantity is SPEED:
        return _Targets()
    everything = tuple(entity for entity in house.entities if entity.domain == quantity.domain)
    return _Targets(_fitting(quantity, everything, has_name=False), quantity)


def _fitting(quantity: Quantity, entities: Entities, *, has_name: bool = True) -> Entities:
    """The entities with this quantity; of unnamed or several lights those that are on, of players the active one."""
    fitting = tuple(entity for entity in entities if entity.domain == quantity.domain)
    if quantity is BRIGHTNESS and (not has_name or len(fitting) > 1):
        return tuple(light for light in fitting if light.state == "on")
    if quantity is VOLUME and len(fitting) > 1:
        fitting = tuple(player for player in fitting if player.state in ("playing", "buffering"))
    if quantity in (VOLUME, TEMPERATURE) and len(fitting) > 1:
        return ()
    return fitting


def _limits(quantity: Quantity, entity: Entity) -> tuple[float, float]:
    if quantity is TEMPERATURE:
        return entity.attributes.get("min_temp") or 7, entity.attributes.get("max_temp") or 35
    return (LOWEST_BRIGHTNESS if quantity is BRIGHTNESS else 0), 100


def _calls(change: Change, quantity: Quantity, targets: _Targets, house: House) -> Calls | str:
    entities, said = targets.entities, targets.said
    off = [entity for entity in entities if entity.state in ("off", "standby")]
    if quantity is not TEMPERATURE and len(off) == len(entities) and (not change.is_more or quantity is VOLUME):
        return sentence(f"{the(entities[0])} is off") if len(entities) == 1 else "They are off."
    if len(entities) > 1 and not change.is_end and change.factor is None:
        return _stepped_together(change, quantity, entities)
    if quantity is VOLUME and change.factor is None and not change.is_end:
        return _volume_step(change, said)
    is_named = "name" in said and found(quantity.tool, house, **said) == entities
    if len(entities) == 1 and is_named and (value := change.applied(quantity, entities[0])) is not None:
        return (tool_call(quantity.tool, **said, **{quantity.slot: value}),)
    return tuple(_call(change, quantity, entity, house) for entity in entities)


def _volume_step(change: Change, said: dict[str, str]) -> Calls:
    """A step as the model writes it; only an amount or "much louder" is a number."""
    step: object = "up" if change.is_more else "down"
    if change.count is not None or change.size == _LARGE_STEP:
        size = round(change.count if change.count is not None else VOLUME.steps[change.size])
        step = size if change.is_more else -size
    return (tool_call("set_volume_relative", **said, volume_step=step),)


def _stepped_together(change: Change, quantity: Quantity, entities: Entities) -> Calls:
    """One call for several entities, each of which changes from its own value."""
    step = change.count if change.count is not None else quantity.steps[change.size]
    value = change.applied(quantity, entities[0])
    names = {"name": "all lights"} if quantity is BRIGHTNESS else {"domain": quantity.domain}
    areas = {entity.area for entity in entities}
    area = {"area": entities[0].area} if len(areas) == 1 and entities[0].area else {}
    values = {quantity.slot: 0 if value is None else value, STEP: step if change.is_more else -step}
    return (tool_call(quantity.tool, **names, **area, **values),)


def _call(change: Change, quantity: Quantity, entity: Entity, house: House) -> ToolCall:
    slots: dict[str, object] = {"name": entity.name}
    same = [other for other in house.entities if other.name == entity.name and other.domain == entity.domain]
    if len(same) > 1 and (area := house.area(entity.area)):
        slots["area"] = area.name
    value = change.applied(quantity, entity)
    if value is None:  # the handler says that the value is not known
        step = change.count if change.count is not None else quantity.steps[change.size]
        return tool_call(quantity.tool, **slots, **{quantity.slot: 0, STEP: step if change.is_more else -step})
    return tool_call(quantity.tool, **slots, **{quantity.slot: value})
