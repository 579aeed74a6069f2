"""What the slots of the phrasebook are filled with: things, places and values that a speaker comes up with."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from training.home.commands import chores, lists, media
from training.home.houses import spoken_name
from training.home.lexicon import vocabulary
from training.home.lexicon.devices import CLIMATE, COVERS, FAN, LIGHT, LOCK, NAMES, Kind
from training.home.lexicon.values import COLOURS, duration, hour, moment, say_temperature, temperature
from training.home.lexicon.vocabulary import CLASSES, GROCERIES, MESSAGES, QUERIES, TIMER_NAMES, errand, with_article
from training.home.speaker import Phrase, Speaker

_ARTICLE = re.compile(r"^(?:the|my|our) ")
_NUMBER = re.compile(r"\d+$")


@dataclass(frozen=True, slots=True)
class Filled:
    """The words of one slot, the arguments that they mean, and the value where one argument takes it."""

    text: str
    slots: Mapping[str, Any] = field(default_factory=dict)
    value: Any = None
    is_plural: bool = False
    agrees: bool = False
    plain: str = ""

    @property
    def bare(self) -> str:
        """The words without their article or preposition."""
        return self.plain or _ARTICLE.sub("", self.text)


def base_name(name: str) -> str:
    """ "light" for the slots "light" and "light2"."""
    return _NUMBER.sub("", name)


def _thing(target: Phrase) -> Filled:
    return Filled(target.text, target.slots, target.slots.get("name"), target.is_plural, agrees=True)


def _with_determiner(target: Phrase) -> Filled:
    """With its article: in a phrasebook, lines say themselves where it is left out."""
    found = _thing(target)
    if target.text == target.slots.get("name"):
        return Filled(with_article(target.text), target.slots, target.text, target.is_plural, agrees=True)
    return found


def _light(speaker: Speaker) -> Filled:
    if speaker.chance(0.55):
        return _with_determiner(speaker.named("light", apart=0.04))
    return _thing(speaker.kind(LIGHT, nowhere=0.08, floors=0.1, single=0.35))


def _lights(speaker: Speaker) -> Filled:
    return _thing(speaker.kind(LIGHT, nowhere=0.2, floors=0.15, single=0.0))


def _cover(speaker: Speaker) -> Filled:
    if speaker.chance(0.45):
        return _with_determiner(speaker.named("cover", apart=0.04))
    return _covers(speaker.pick(("blind", "blind", "curtain", "curtain", "shutter", "shade")))(speaker)


def _covers(kind: str) -> Callable[[Speaker], Filled]:
    def fill(speaker: Speaker) -> Filled:
        if kind == "garage":
            return _thing(speaker.kind(COVERS[kind], nowhere=1.0, single=0.8))
        return _thing(speaker.kind(COVERS[kind], nowhere=0.2, floors=0.1, single=0.15))

    return fill


def _of_kind(domain: str, kind: Kind, named: float) -> Callable[[Speaker], Filled]:
    def fill(speaker: Speaker) -> Filled:
        if speaker.chance(named):
            return _with_determiner(speaker.named(domain, apart=0.04))
        return _thing(speaker.kind(kind, nowhere=0.25, floors=0.08, single=0.75))

    return fill


def _switch(speaker: Speaker) -> Filled:
    return _with_determiner(speaker.named("switch", apart=0.04))


def _player(speaker: Speaker) -> Filled:
    target = media.player(speaker, apart=0.05)
    if "name" not in target.slots:  # by its place: what is switched there is said with its domain
        return Filled(target.text, {**target.slots, "domain": "media_player"}, None, target.is_plural, agrees=True)
    return _with_determiner(target)


def _robot(domain: str) -> Callable[[Speaker], Filled]:
    return lambda speaker: _thing(chores.any_robot(speaker, domain))


def _heating(speaker: Speaker) -> Filled:
    word = speaker.pick(("heating", "heating", "heat", "thermostat", "temperature"))
    return Filled(f"the {word}", {"name": word} if speaker.is_listed(word) else {}, agrees=True)


def _scene(speaker: Speaker) -> Filled:
    things = speaker.known.by_domain.get("scene")
    name = spoken_name(speaker.pick(things).name) if things and speaker.chance(0.85) else speaker.pick(NAMES["scene"])
    name = name.removeprefix("the ")
    return Filled(name, {"name": name}, name)


def _area(speaker: Speaker) -> Filled:
    area = speaker.area()
    return Filled(with_article(area), {"area": area}, area, plain=area)


def _floor(speaker: Speaker) -> Filled:
    floor = speaker.floor()
    return Filled(with_article(floor), {"floor": floor}, floor, plain=floor)


def _percent(speaker: Speaker) -> Filled:
    value = speaker.numbers.percent()
    said = speaker.numbers.say_percent(value)
    return Filled(said if "cent" in said or "%" in said else f"{said} percent", value=value)


def _number(speaker: Speaker) -> Filled:
    value = speaker.numbers.percent()
    return Filled(speaker.numbers.say(value), value=value)


def _temperature(speaker: Speaker) -> Filled:
    value = temperature(speaker.rng)
    return Filled(say_temperature(value, speaker.numbers, speaker.rng), value=value)


def _degrees(speaker: Speaker) -> Filled:
    value = temperature(speaker.rng)
    return Filled(f"{speaker.numbers.say(value)} degrees", value=value)


def _duration(speaker: Speaker) -> Filled:
    words, slots, _ = duration(speaker.rng, speaker.numbers)
    return Filled(words, slots)


def _before_timer(speaker: Speaker) -> Filled:
    while not (found := duration(speaker.rng, speaker.numbers))[2]:
        pass
    return Filled(found[2], found[1])


def _moment(*, needs_hour: bool) -> Callable[[Speaker], Filled]:
    def fill(speaker: Speaker) -> Filled:
        when = moment(speaker.rng, needs_hour=needs_hour)
        return Filled(when.placed, value=when.text, plain=when.text)

    return fill


def _text(draw: Callable[[Speaker], str]) -> Callable[[Speaker], Filled]:
    def fill(speaker: Speaker) -> Filled:
        words = draw(speaker)
        return Filled(words, value=words, plain=words)

    return fill


def _item(speaker: Speaker) -> str:
    """Something to buy without its amount: "some milk" and "the milk" can be said of it."""
    while (item := speaker.pick(GROCERIES)).split()[0] in _AMOUNTS or item[0].isdigit():
        pass
    return item


_AMOUNTS = frozenset({"a", "an", "some", "half", "two", "three", "six", "ten", "four", "five", "twelve"})


def _task(speaker: Speaker) -> str:
    while (task := errand(speaker.rng)).startswith(("buy ", "get ", "pick up ")) or " and " in task or "," in task:
        pass
    return task


def _to_do(speaker: Speaker) -> str:
    while "turn off" in (task := _task(speaker)) or "switch off" in task:
        pass
    return task


def _message(speaker: Speaker) -> str:
    while "," in (message := speaker.pick(MESSAGES)):
        pass
    return message


def _list(speaker: Speaker) -> Filled:
    shown, name = lists.list_words(speaker)
    return Filled(shown, value=name, plain=shown)


def _query(speaker: Speaker) -> Filled:
    found = speaker.pick(QUERIES) if speaker.chance(0.7) else vocabulary.rare_title(speaker.rng)
    found = found.removeprefix("some ")
    return Filled(found, value=found.removeprefix("the ").removeprefix("The "), plain=found)


def _title(media_class: str) -> Callable[[Speaker], Filled]:
    def fill(speaker: Speaker) -> Filled:
        title = speaker.pick(CLASSES[media_class][1])
        return Filled(title, value=title.removeprefix("the ").removeprefix("The "), plain=title)

    return fill


SLOTS: dict[str, Callable[[Speaker], Filled]] = {
    "light": _light,
    "lights": _lights,
    "switch": _switch,
    "fan": _of_kind("fan", FAN, 0.5),
    "lock": _of_kind("lock", LOCK, 0.8),
    "climate": _of_kind("climate", CLIMATE, 0.6),
    "cover": _cover,
    **{kind: _covers(kind) for kind in ("blind", "curtain", "shutter", "garage", "window", "awning", "gate")},
    "player": _player,
    "vacuum": _robot("vacuum"),
    "mower": _robot("lawn_mower"),
    "heating": _heating,
    "scene": _scene,
    "area": _area,
    "floor": _floor,
    "percent": _percent,
    "n": _number,
    "temp": _temperature,
    "degrees": _degrees,
    "dur": _duration,
    "long": _before_timer,
    "time": _text(lambda speaker: hour(speaker.rng)),
    "at": _moment(needs_hour=False),
    "wake": _moment(needs_hour=True),
    "item": _text(_item),
    "thing": _text(_to_do),
    "task": _text(_task),
    "message": _text(_message),
    "list": _list,
    "shop": _text(lists.shopping_words),
    "query": _query,
    "movie": _title("movie"),
    "song": _title("track"),
    "album": _title("album"),
    "podcast": _title("podcast"),
    "playlist": _title("playlist"),
    "color": _text(lambda speaker: speaker.pick(COLOURS)),
    "timer": _text(lambda speaker: speaker.pick(TIMER_NAMES)),
    "who": _text(lambda speaker: speaker.somebody(rare_share=0.2)),
}
